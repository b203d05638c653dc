//! A batch of components that are processed together: as many as memory allows, in the order of
//! their first documents.
//!
//! ```text
//! lists of buckets and of equal documents ─ connect → ComponentLinks (disjoint sets)
//!   ─ plan → ranges of roots ─ load → ComponentBatch: documents, rows, classes of equals,
//!   components
//! ```

use crate::engine::decide::loaded_rows::LoadedRows;
use crate::engine::error::FindError;
use crate::engine::ids::{self, BatchIndex, ClassIndex, DocumentNumber, Id, IdVec};
use crate::engine::link::bucket_lists::{BucketLists, DocumentList};
use crate::engine::link::judged_documents::JudgedDocuments;
use crate::engine::memory::Budget;
use crate::engine::prepare::documents::RunDocuments;
use lookalike_core::candidate::{BandBuckets, Candidates};
use lookalike_core::disjoint_sets::DisjointSets;
use std::ops::Range;

/// The unit in which the memory of a batch is counted.
const UNIT_BYTES: usize = 24;
/// Units for a document: its record and its result.
const DOCUMENT_UNITS: u32 = 12;
/// Lists of documents that share a bucket or are equal.
pub(crate) struct Links {
    /// Documents with equal shingles; the first represents all.
    pub(crate) equal: BucketLists,
    /// Documents that share a bucket.
    pub(crate) shared: BucketLists,
    /// Whether buckets are directed. Each list of `shared` then has the inserted documents,
    /// followed by the probing ones among them. If 4, 7 and 9 are inserted and 7 probes, 7 finds 4
    /// and 9, which do not find each other.
    pub(crate) directed: bool,
    pub(crate) judged: JudgedDocuments<DocumentNumber>,
}

impl Links {
    /// Calls `f` with the documents that are inserted into each bucket, and those that probe it.
    fn for_each_shared(
        &self,
        mut f: impl FnMut(DocumentList<'_>, DocumentList<'_>),
    ) -> Result<(), FindError> {
        self.shared.for_each(|list| {
            if !self.directed {
                return f(list, list);
            }
            if let Some((inserted, probing)) = list.split_directed() {
                f(inserted, probing);
            }
        })
    }
}

/// The documents that are connected with others, and the lists that connect them.
pub(crate) struct ComponentLinks {
    forest: DisjointSets,
    involved: Bits,
    /// The number of documents that share a bucket with another one.
    pub(crate) sharing: u64,
}

impl ComponentLinks {
    /// Joins the documents of each list.
    pub(crate) fn new(documents: usize, links: &Links) -> Result<Self, FindError> {
        let mut forest = DisjointSets::new(documents);
        let mut involved = Bits::new(documents);
        let mut join = |list: DocumentList<'_>, involved: &mut Bits| {
            let Some(first) = list.first() else { return };
            for document in list.iter() {
                involved.set(document);
                forest.join(first.0, document.0);
            }
        };
        links.for_each_shared(|inserted, _| join(inserted, &mut involved))?;
        let sharing = involved.count();
        links.equal.for_each(|list| join(list, &mut involved))?;
        Ok(Self { forest, involved, sharing })
    }

    /// The number of documents that are connected with another one.
    pub(crate) fn documents(&self) -> u64 {
        self.involved.count()
    }

    /// Returns ranges of first documents. The components of a range together fit the budget. A
    /// component that exceeds the budget has a range of its own.
    pub(crate) fn plan(
        &mut self,
        links: &Links,
        budget: &Budget,
    ) -> Result<Vec<Range<DocumentNumber>>, FindError> {
        let end = DocumentNumber::new(self.involved.len());
        let memberships = links.equal.memberships() + links.shared.memberships();
        let units = memberships + u64::from(DOCUMENT_UNITS) * self.documents();
        let most = (budget.batch() / UNIT_BYTES) as u64;
        if units <= most {
            return Ok(std::iter::once(DocumentNumber(0)..end).collect());
        }
        let mut weights: IdVec<DocumentNumber, u32> = vec![0; end.index()].into();
        let mut weigh = |list: DocumentList<'_>| {
            let Some(first) = list.first() else { return };
            let weight = &mut weights[DocumentNumber(self.forest.first(first.0))];
            *weight = weight.saturating_add(list.len() as u32);
        };
        links.equal.for_each(&mut weigh)?;
        links.for_each_shared(|inserted, _| weigh(inserted))?;
        for document in self.involved.iter() {
            let weight = &mut weights[DocumentNumber(self.forest.first(document.0))];
            *weight = weight.saturating_add(DOCUMENT_UNITS);
        }
        let largest = weights.as_slice().iter().max().copied().unwrap_or(0);
        budget.component(u64::from(largest) * UNIT_BYTES as u64)?;
        let mut ranges = Vec::new();
        let mut start = DocumentNumber(0);
        let mut sum = 0;
        for (root, weight) in weights.entries() {
            if sum > 0 && sum + u64::from(*weight) > most {
                ranges.push(start..root);
                start = root;
                sum = 0;
            }
            sum += u64::from(*weight);
        }
        ranges.push(start..end);
        Ok(ranges)
    }
}

/// Some components, with their documents and the links between them.
pub(crate) struct ComponentBatch {
    /// The documents, ascending.
    pub(crate) documents: IdVec<BatchIndex, DocumentNumber>,
    pub(crate) rows: LoadedRows,
    /// Documents with equal shingles, each list in the keep order.
    pub(crate) classes: IdVec<ClassIndex, Vec<BatchIndex>>,
    class_of: IdVec<BatchIndex, Option<ClassIndex>>,
    /// All documents in order, each of which can be borrowed as a class of one document.
    singles: Vec<BatchIndex>,
    /// The candidate pairs. Components contain only the first document in reading order of each
    /// class.
    pub(crate) candidates: Candidates,
    pub(crate) directed: bool,
    pub(crate) judged: JudgedDocuments<BatchIndex>,
}

impl ComponentBatch {
    /// Loads the components whose first documents are in `roots`.
    pub(crate) fn load(
        all: &RunDocuments,
        links: &Links,
        connected: &mut ComponentLinks,
        roots: &Range<DocumentNumber>,
    ) -> Result<Self, FindError> {
        let ComponentLinks { forest, involved, .. } = connected;
        let mut chosen = Bits::new(all.len());
        let is_chosen =
            |document: &DocumentNumber| roots.contains(&DocumentNumber(forest.first(document.0)));
        let documents: Vec<DocumentNumber> = involved.iter().filter(is_chosen).collect();
        for document in &documents {
            chosen.set(*document);
        }
        let ranks = BatchIndices::new(chosen);
        let rows = LoadedRows::load(all, &documents)?;
        let mut classes: IdVec<ClassIndex, Vec<BatchIndex>> = IdVec::default();
        let mut class_of = IdVec::from(vec![None; documents.len()]);
        links.equal.for_each(|list| {
            if let Some(mut class) = ranks.of_list(list) {
                class.sort_unstable_by(|a, b| rows.compare(*a, *b));
                let number = ClassIndex::new(classes.len());
                for document in &class {
                    class_of[*document] = Some(number);
                }
                classes.push(class);
            }
        })?;
        let mut inserted = BatchBuckets::default();
        let mut probing = BatchBuckets::default();
        links.for_each_shared(|in_bucket, probing_list| {
            let Some(members) = ranks.of_list(in_bucket) else { return };
            if links.directed {
                let documents = probing_list.iter().filter_map(|document| ranks.of(document));
                probing.push(members[0], documents);
            }
            inserted.push(members[0], members.into_iter());
        })?;
        let mut bands = vec![inserted.finish()];
        if links.directed {
            bands.push(probing.finish());
        }
        Ok(Self {
            candidates: Candidates::gather(documents.len(), &bands),
            singles: ids::first(documents.len()).collect(),
            documents: documents.into(),
            rows,
            classes,
            class_of,
            directed: links.directed,
            judged: links.judged.in_batch(|document| ranks.of(document)),
        })
    }

    /// Indices of the documents, ascending.
    pub(crate) fn indices(&self) -> impl Iterator<Item = BatchIndex> + use<> {
        ids::first(self.documents.len())
    }

    /// Classes without a document in a component.
    pub(crate) fn lone_classes(&self) -> impl Iterator<Item = &[BatchIndex]> {
        let mut is_lone: IdVec<ClassIndex, bool> = vec![true; self.classes.len()].into();
        for i in 0..self.candidates.len() {
            for member in self.candidates.component(i).members {
                if let Some(class) = self.class_of[BatchIndex(*member)] {
                    is_lone[class] = false;
                }
            }
        }
        let lone = self.classes.entries().filter(move |(class, _)| is_lone[*class]);
        lone.map(|(_, documents)| documents.as_slice())
    }

    /// Returns the documents with the same shingles as this one, in keep order, including itself.
    pub(crate) fn class(&self, document: BatchIndex) -> &[BatchIndex] {
        match self.class_of[document] {
            None => std::slice::from_ref(&self.singles[document.index()]),
            Some(class) => &self.classes[class],
        }
    }
}

/// Buckets in the form that the core takes.
#[derive(Default)]
struct BatchBuckets {
    memberships: Vec<(u32, u32)>,
    leaders: Vec<u32>,
}

impl BatchBuckets {
    fn push(&mut self, leader: BatchIndex, documents: impl Iterator<Item = BatchIndex>) {
        let bucket = self.leaders.len() as u32;
        self.leaders.push(leader.0);
        self.memberships.extend(documents.map(|document| (document.0, bucket)));
    }

    fn finish(self) -> BandBuckets {
        BandBuckets::from_memberships(self.memberships, self.leaders)
    }
}

/// One bit per document.
struct Bits {
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    fn new(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)], len }
    }

    fn set(&mut self, document: DocumentNumber) {
        self.words[document.index() / 64] |= 1 << (document.0 % 64);
    }

    fn len(&self) -> usize {
        self.len
    }

    fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    fn iter(&self) -> impl Iterator<Item = DocumentNumber> + '_ {
        (0u32..).zip(&self.words).flat_map(|(i, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(DocumentNumber(64 * i + bit))
            })
        })
    }
}

/// The indices of a batch's documents, whose bits are set.
struct BatchIndices {
    bits: Bits,
    /// For each word, the number of bits set before it.
    before: Vec<u32>,
}

impl BatchIndices {
    fn new(bits: Bits) -> Self {
        let mut sum = 0;
        let before = bits.words.iter().map(|word| {
            let before = sum;
            sum += word.count_ones();
            before
        });
        Self { before: before.collect(), bits }
    }

    fn of(&self, document: DocumentNumber) -> Option<BatchIndex> {
        let word = document.index() / 64;
        let bit = 1u64 << (document.0 % 64);
        let bits = self.bits.words[word];
        (bits & bit != 0).then(|| BatchIndex(self.before[word] + (bits & (bit - 1)).count_ones()))
    }

    /// The indices of a list's documents; `None` if they are not in the batch. A batch contains all
    /// documents of a list or none.
    fn of_list(&self, list: DocumentList<'_>) -> Option<Vec<BatchIndex>> {
        self.of(list.first()?)?;
        Some(list.iter().filter_map(|document| self.of(document)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_count_the_bits_before() {
        let mut bits = Bits::new(200);
        let chosen = [0, 5, 63, 64, 130, 199].map(DocumentNumber);
        for document in chosen {
            bits.set(document);
        }
        assert_eq!(bits.count(), 6);
        assert_eq!(bits.iter().collect::<Vec<_>>(), chosen);
        let indices = BatchIndices::new(bits);
        assert_eq!(chosen.map(|document| indices.of(document).unwrap().0), [0, 1, 2, 3, 4, 5]);
        assert_eq!(indices.of(DocumentNumber(1)), None);
    }
}
