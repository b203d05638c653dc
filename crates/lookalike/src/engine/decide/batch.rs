//! Components that are worked on at a time: as many as memory allows, in the order of their first
//! documents.
//!
//! ```text
//! lists of buckets and of equal documents ─ connect → ComponentLinks (disjoint sets)
//!   ─ plan → ranges of roots ─ load → ComponentBatch: documents, rows, classes of equals,
//!   components
//! ```

use crate::engine::decide::loaded_rows::LoadedRows;
use crate::engine::link::bucket_lists::BucketLists;
use crate::engine::link::judged_documents::JudgedDocuments;
use crate::engine::memory::Budget;
use crate::engine::prepare::documents::RunDocuments;
use crate::error::Error;
use lookalike_core::candidate::{BandBuckets, Candidates};
use lookalike_core::disjoint_sets::DisjointSets;
use std::ops::Range;

/// The unit in which the memory of a batch is counted.
const UNIT_BYTES: usize = 24;
/// Units of a document: its record, and what is decided about it.
const DOCUMENT_UNITS: u32 = 12;
/// Represents no place.
const NONE: u32 = u32::MAX;

/// What shares a bucket, and what is equal.
pub(crate) struct Links {
    /// Documents with equal shingles; the first represents all.
    pub(crate) equal: BucketLists,
    /// Documents that share a bucket.
    pub(crate) shared: BucketLists,
    /// Whether buckets are directed: each list of `shared` then begins with the number of documents
    /// that are inserted, then come these, then those of them that probe: in `3, 4, 7, 9, 7`,
    /// document 7 finds 4 and 9, which do not find each other.
    pub(crate) directed: bool,
    /// What people judged about documents.
    pub(crate) judged: JudgedDocuments,
}

impl Links {
    /// Gives every bucket: the documents inserted into it, and those that probe it.
    fn for_each_shared(&self, mut f: impl FnMut(&[u32], &[u32])) -> Result<(), Error> {
        self.shared.for_each(|list| {
            if !self.directed {
                return f(list, list);
            }
            let Some((inserted, list)) = list.split_first() else { return };
            let (inserted, probing) = list.split_at((*inserted as usize).min(list.len()));
            f(inserted, probing);
        })
    }
}

/// Which documents are connected with others, and through which.
pub(crate) struct ComponentLinks {
    forest: DisjointSets,
    involved: Bits,
    /// How many documents share a bucket with another one.
    pub(crate) sharing: u64,
}

impl ComponentLinks {
    /// Joins all that are in one list.
    pub(crate) fn new(documents: usize, links: &Links) -> Result<Self, Error> {
        let mut forest = DisjointSets::new(documents);
        let mut involved = Bits::new(documents);
        let mut join = |list: &[u32], involved: &mut Bits| {
            for &document in list {
                involved.set(document);
                forest.join(list[0], document);
            }
        };
        links.for_each_shared(|inserted, _| join(inserted, &mut involved))?;
        let sharing = involved.count();
        links.equal.for_each(|list| join(list, &mut involved))?;
        Ok(Self { forest, involved, sharing })
    }

    /// How many documents are connected with another one.
    pub(crate) fn documents(&self) -> u64 {
        self.involved.count()
    }

    /// Ranges of first documents whose components fit the budget together; a component that does
    /// not fit is alone.
    pub(crate) fn plan(
        &mut self,
        links: &Links,
        budget: &Budget,
    ) -> Result<Vec<Range<u32>>, Error> {
        let documents = self.involved.len() as u32;
        let memberships = links.equal.memberships() + links.shared.memberships();
        let units = memberships + u64::from(DOCUMENT_UNITS) * self.documents();
        let most = (budget.batch() / UNIT_BYTES) as u64;
        if units <= most {
            return Ok(std::iter::once(0..documents).collect());
        }
        let mut weights = vec![0u32; documents as usize];
        let mut weigh = |list: &[u32]| {
            let Some(first) = list.first() else { return };
            let weight = &mut weights[self.forest.first(*first) as usize];
            *weight = weight.saturating_add(list.len() as u32);
        };
        links.equal.for_each(&mut weigh)?;
        links.for_each_shared(|inserted, _| weigh(inserted))?;
        for document in self.involved.iter() {
            let weight = &mut weights[self.forest.first(document) as usize];
            *weight = weight.saturating_add(DOCUMENT_UNITS);
        }
        let largest = weights.iter().max().copied().unwrap_or(0);
        budget.component(u64::from(largest) * UNIT_BYTES as u64)?;
        let mut ranges = Vec::new();
        let (mut start, mut sum) = (0, 0);
        for (root, weight) in (0u32..).zip(&weights) {
            if sum > 0 && sum + u64::from(*weight) > most {
                ranges.push(start..root);
                (start, sum) = (root, 0);
            }
            sum += u64::from(*weight);
        }
        ranges.push(start..documents);
        Ok(ranges)
    }
}

/// Some components and everything that is needed to decide them. Documents are numbered by their
/// place in `documents`.
pub(crate) struct ComponentBatch {
    /// Ascending.
    pub(crate) documents: Vec<u32>,
    pub(crate) rows: LoadedRows,
    /// Documents with equal shingles, each list in the keep order.
    pub(crate) classes: Vec<Vec<u32>>,
    /// For every document its place in `classes`, or none.
    class_of: Vec<u32>,
    /// Of each class only its first document in reading order is in a component.
    pub(crate) candidates: Candidates,
    pub(crate) directed: bool,
    /// What is judged about documents, by their places.
    pub(crate) judged: JudgedDocuments,
}

impl ComponentBatch {
    /// Loads the components whose first documents are in `roots`.
    pub(crate) fn load(
        all: &RunDocuments,
        links: &Links,
        connected: &mut ComponentLinks,
        roots: &Range<u32>,
    ) -> Result<Self, Error> {
        let ComponentLinks { forest, involved, .. } = connected;
        let mut chosen = Bits::new(all.len());
        let documents: Vec<u32> =
            involved.iter().filter(|document| roots.contains(&forest.first(*document))).collect();
        for document in &documents {
            chosen.set(*document);
        }
        let rank = Rank::new(chosen);
        let rows = LoadedRows::load(all, &documents)?;
        let mut classes = Vec::new();
        let mut class_of = vec![NONE; documents.len()];
        links.equal.for_each(|list| {
            if let Some(places) = rank.places(list) {
                for place in &places {
                    class_of[*place as usize] = classes.len() as u32;
                }
                classes.push(places);
            }
        })?;
        for class in &mut classes {
            class.sort_unstable_by(|a, b| rows.compare(*a, *b));
        }
        let (mut inserted, mut probing) = (BatchBuckets::default(), BatchBuckets::default());
        links.for_each_shared(|in_bucket, of_probes| {
            let Some(members) = rank.places(in_bucket) else { return };
            if links.directed {
                let members_of_probes =
                    of_probes.iter().filter_map(|document| rank.place(*document));
                probing.push(members[0], members_of_probes);
            }
            inserted.push(members[0], members.into_iter());
        })?;
        let mut bands = vec![inserted.finish()];
        if links.directed {
            bands.push(probing.finish());
        }
        let candidates = Candidates::gather(documents.len(), &bands);
        let directed = links.directed;
        let judged = links.judged.at_places(|document| rank.place(document));
        Ok(Self { documents, rows, classes, class_of, candidates, directed, judged })
    }

    /// Classes of which no document is in a component.
    pub(crate) fn lone_classes(&self) -> impl Iterator<Item = &[u32]> {
        let mut lone = vec![true; self.classes.len()];
        for i in 0..self.candidates.len() {
            for member in self.candidates.component(i).members {
                if let Some(lone) = lone.get_mut(self.class_of[*member as usize] as usize) {
                    *lone = false;
                }
            }
        }
        let classes = self.classes.iter().zip(lone);
        classes.filter(|(_, lone)| *lone).map(|(class, _)| class.as_slice())
    }

    /// The documents with the shingles of this one, in the keep order; itself, if there is no
    /// other.
    pub(crate) fn class<'a>(&'a self, document: &'a u32) -> &'a [u32] {
        match self.class_of[*document as usize] {
            NONE => std::slice::from_ref(document),
            class => &self.classes[class as usize],
        }
    }
}

/// Buckets as core wants them.
#[derive(Default)]
struct BatchBuckets {
    memberships: Vec<(u32, u32)>,
    leaders: Vec<u32>,
}

impl BatchBuckets {
    fn push(&mut self, leader: u32, documents: impl Iterator<Item = u32>) {
        let bucket = self.leaders.len() as u32;
        self.leaders.push(leader);
        self.memberships.extend(documents.map(|document| (document, bucket)));
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

    fn set(&mut self, document: u32) {
        self.words[document as usize / 64] |= 1 << (document % 64);
    }

    fn len(&self) -> usize {
        self.len
    }

    fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.words).flat_map(|(i, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(64 * i + bit)
            })
        })
    }
}

/// The place of a document among those whose bit is set.
struct Rank {
    bits: Bits,
    /// Bits set before each word.
    before: Vec<u32>,
}

impl Rank {
    fn new(bits: Bits) -> Self {
        let mut sum = 0;
        let before = bits.words.iter().map(|word| {
            let before = sum;
            sum += word.count_ones();
            before
        });
        Self { before: before.collect(), bits }
    }

    fn place(&self, document: u32) -> Option<u32> {
        let (word, bit) = (document as usize / 64, 1u64 << (document % 64));
        let bits = self.bits.words[word];
        (bits & bit != 0).then(|| self.before[word] + (bits & (bit - 1)).count_ones())
    }

    /// The places of a list, of which either all are chosen or none.
    fn places(&self, list: &[u32]) -> Option<Vec<u32>> {
        self.place(*list.first()?)?;
        Some(list.iter().filter_map(|document| self.place(*document)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_count_the_bits_before() {
        let mut bits = Bits::new(200);
        let chosen = [0, 5, 63, 64, 130, 199];
        for document in chosen {
            bits.set(document);
        }
        assert_eq!((bits.count(), bits.iter().collect::<Vec<_>>()), (6, chosen.to_vec()));
        let rank = Rank::new(bits);
        assert_eq!(rank.places(&chosen), Some(vec![0, 1, 2, 3, 4, 5]));
        assert_eq!((rank.place(1), rank.places(&[1, 5])), (None, None));
    }
}
