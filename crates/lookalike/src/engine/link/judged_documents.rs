//! Applies user decisions to documents: finds the kept documents, the pairs that are not
//! duplicates, and the pairs that are.
//!
//! A judged document is a separate member, even if another document has equal shingles.

use crate::decisions::{AppliedDecisions, Contradiction, Decisions, JudgedPair};
use crate::engine::error::FindError;
use crate::engine::ids::{self, BatchIndex, DocumentNumber};
use crate::engine::link::bucket_lists::{BucketLists, DocumentLists};
use crate::engine::prepare::columns::ID_COLUMN;
use crate::engine::prepare::documents::{DocumentState, RunDocuments};
use crate::read::{Content, ReadBuffers};
use lookalike_core::hash;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;

/// The reason why a decision in force has no effect on a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoEffect {
    /// The document is not in the collection.
    Unknown,
    /// The text has changed since the decision.
    Changed,
    /// The document has no token, so it is in no group.
    Empty,
}

impl NoEffect {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Changed => "changed",
            Self::Empty => "empty",
        }
    }
}

/// A decision without an effect on some documents. If it keeps several documents, it may still
/// affect the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnappliedDecision {
    /// The line of the decision.
    pub line: u64,
    /// The documents on which it has no effect.
    pub documents: Vec<String>,
    /// The reason.
    pub reason: NoEffect,
}

/// Counts of decisions and of their effect on a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DecisionCounts {
    /// The number of decisions read.
    pub read: u64,
    /// The number of decisions in force. Among several decisions about one pair or document, only
    /// the last is in force.
    pub in_force: u64,
    /// The number of decisions in force that affected the run.
    pub applied: u64,
    /// The decisions in force that the run did not apply, by line, then by reason.
    pub unapplied: Vec<UnappliedDecision>,
    /// The decisions with an effect that contradict each other, by line.
    pub contradictions: Vec<Contradiction>,
}

impl DecisionCounts {
    /// The number of decisions that were not applied for this reason.
    pub fn count(&self, reason: NoEffect) -> u64 {
        self.unapplied.iter().filter(|unapplied| unapplied.reason == reason).count() as u64
    }
}

/// User judgments about documents of a run or of a batch.
#[derive(Debug)]
pub(crate) struct JudgedDocuments<K> {
    kept: HashSet<K>,
    /// For each document, the documents that are not duplicates of it.
    separated: HashMap<K, Vec<K>>,
    /// For each document, the documents that are duplicates of it.
    joined: HashMap<K, Vec<K>>,
}

impl<K> Default for JudgedDocuments<K> {
    fn default() -> Self {
        Self { kept: HashSet::new(), separated: HashMap::new(), joined: HashMap::new() }
    }
}

impl JudgedDocuments<DocumentNumber> {
    /// Finds the documents of some decisions, and compares their texts with the texts at the time
    /// of the decision.
    ///
    /// # Errors
    /// A document cannot be read again.
    pub(crate) fn new(
        decisions: &Decisions,
        documents: &RunDocuments,
    ) -> Result<(Self, DecisionCounts), FindError> {
        let named = NamedDocuments::new(decisions, documents)?;
        let mut judged = Self::default();
        let mut applied = AppliedDecisions::default();
        let mut unapplied: BTreeMap<(u64, NoEffect), Vec<String>> = BTreeMap::new();
        for pair in &decisions.pairs {
            match named.find_pair(pair)? {
                Ok([a, b]) => {
                    judged.judge(a, b, pair.is_duplicate);
                    applied.pairs.push(pair);
                }
                Err(reason) => {
                    unapplied.insert((pair.line, reason), pair.documents.to_vec());
                }
            }
        }
        let of_pairs = applied.pairs.iter().flat_map(|pair| &pair.documents);
        applied.kept.extend(of_pairs.filter(|id| named.is_reference(id)).map(|id| (&**id, None)));
        let mut lines: HashSet<u64> = applied.pairs.iter().map(|pair| pair.line).collect();
        for kept in &decisions.kept {
            match named.find(&kept.id, kept.content.as_ref(), TokenNeed::Any)? {
                Ok(document) => {
                    judged.kept.insert(document);
                    applied.kept.insert(&kept.id, Some(kept.line));
                    lines.insert(kept.line);
                }
                Err(reason) => {
                    unapplied.entry((kept.line, reason)).or_default().push(kept.id.clone());
                }
            }
        }
        let contradictions = applied
            .contradictions(decisions, |pair| Ok::<_, FindError>(named.find_pair(pair)?.is_ok()))?;
        let unapplied = unapplied
            .into_iter()
            .map(|((line, reason), documents)| UnappliedDecision { line, documents, reason });
        let counts = DecisionCounts {
            read: decisions.read,
            in_force: decisions.len(),
            applied: lines.len() as u64,
            unapplied: unapplied.collect(),
            contradictions,
        };
        Ok((judged, counts))
    }

    fn judge(&mut self, a: DocumentNumber, b: DocumentNumber, is_duplicate: bool) {
        let pairs = if is_duplicate { &mut self.joined } else { &mut self.separated };
        pairs.entry(a).or_default().push(b);
        pairs.entry(b).or_default().push(a);
    }

    /// Adds a bucket for each pair of duplicates, in which they find each other.
    pub(crate) fn add_buckets(
        &self,
        lists: &mut BucketLists,
        directed: bool,
    ) -> Result<(), FindError> {
        let of_one = |(a, partners): (&DocumentNumber, &Vec<DocumentNumber>)| -> Vec<[_; 2]> {
            partners.iter().filter(|b| a < *b).map(|b| [*a, *b]).collect()
        };
        let mut pairs: Vec<[DocumentNumber; 2]> = self.joined.iter().flat_map(of_one).collect();
        pairs.sort_unstable();
        let mut found = DocumentLists::default();
        for pair in pairs {
            if directed {
                found.push_directed(pair.into_iter(), pair.into_iter());
            } else {
                found.push(pair.into_iter());
            }
        }
        lists.add(found)
    }

    /// Selects the judgments about the documents of a batch. `index_of` returns the index of a
    /// document in the batch.
    pub(crate) fn in_batch(
        &self,
        index_of: impl Fn(DocumentNumber) -> Option<BatchIndex>,
    ) -> JudgedDocuments<BatchIndex> {
        let indices = |partners: &[DocumentNumber]| {
            partners.iter().filter_map(|other| index_of(*other)).collect::<Vec<_>>()
        };
        let in_batch = |pairs: &HashMap<DocumentNumber, Vec<DocumentNumber>>| {
            let found = pairs
                .iter()
                .filter_map(|(document, partners)| Some((index_of(*document)?, indices(partners))));
            found.collect()
        };
        JudgedDocuments {
            kept: self.kept.iter().filter_map(|document| index_of(*document)).collect(),
            separated: in_batch(&self.separated),
            joined: in_batch(&self.joined),
        }
    }
}

impl<K: Copy + Eq + Hash> JudgedDocuments<K> {
    /// Returns true if no document is judged.
    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.separated.is_empty() && self.joined.is_empty()
    }

    /// Returns true if a judgment names the document.
    pub(crate) fn has(&self, document: K) -> bool {
        self.is_kept(document)
            || self.separated.contains_key(&document)
            || self.joined.contains_key(&document)
    }

    /// Returns true if a decision keeps the document.
    pub(crate) fn is_kept(&self, document: K) -> bool {
        self.kept.contains(&document)
    }

    /// Returns the documents that are not duplicates of this one.
    pub(crate) fn separated(&self, document: K) -> &[K] {
        self.separated.get(&document).map_or(&[], Vec::as_slice)
    }

    /// Returns the documents that are duplicates of this one.
    pub(crate) fn joined(&self, document: K) -> &[K] {
        self.joined.get(&document).map_or(&[], Vec::as_slice)
    }
}

/// Whether a document without a token can be judged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenNeed {
    Needed,
    Any,
}

/// The documents that decisions name by their ids.
struct NamedDocuments<'d> {
    documents: &'d RunDocuments,
    /// Whether the document belongs to a reference collection, and its number.
    by_id: HashMap<String, (bool, DocumentNumber)>,
}

impl<'d> NamedDocuments<'d> {
    /// Finds the documents by the hashes of their ids. If an input and a reference collection have
    /// the same id, the id names the document of the input.
    fn new(decisions: &Decisions, documents: &'d RunDocuments) -> Result<Self, FindError> {
        let of_pairs = decisions.judged_pairs().flat_map(|pair| &pair.documents);
        let ids: HashSet<&str> = of_pairs
            .chain(decisions.kept.iter().map(|document| &document.id))
            .map(String::as_str)
            .collect();
        let hashes: HashSet<u64> = ids.iter().map(|id| hash::token_hash(id.as_bytes())).collect();
        let mut found = Vec::new();
        documents.scan([ID_COLUMN], |first, [values]| {
            let named = ids::from(first).zip(values).filter(|(_, hash)| hashes.contains(hash));
            found.extend(named.map(|(document, _)| document));
        })?;
        let mut by_id: HashMap<String, (bool, DocumentNumber)> = HashMap::new();
        for document in found {
            if !documents.state(document).takes_part() {
                continue;
            }
            documents.with_row(document, |block, row| {
                if ids.contains(row.id) {
                    let entry = (block.notes.reference, document);
                    let known = by_id.entry(row.id.to_owned()).or_insert(entry);
                    *known = entry.min(*known);
                }
            })?;
        }
        Ok(Self { documents, by_id })
    }

    /// Whether only a reference collection has a document with this id.
    fn is_reference(&self, id: &str) -> bool {
        self.by_id.get(id).is_some_and(|(reference, _)| *reference)
    }

    /// Returns the documents of a pair, or the reason why its judgment has no effect.
    fn find_pair(
        &self,
        pair: &JudgedPair,
    ) -> Result<Result<[DocumentNumber; 2], NoEffect>, FindError> {
        let [a, b] = &pair.documents;
        let find =
            |id, content: Option<Content>| self.find(id, content.as_ref(), TokenNeed::Needed);
        let a = find(a, pair.contents[0])?;
        let b = find(b, pair.contents[1])?;
        Ok(a.and_then(|a| Ok([a, b?])))
    }

    /// Returns the document with an id, or the reason why no decision applies to it.
    fn find(
        &self,
        id: &str,
        content: Option<&Content>,
        tokens: TokenNeed,
    ) -> Result<Result<DocumentNumber, NoEffect>, FindError> {
        let Some(&(_, document)) = self.by_id.get(id) else { return Ok(Err(NoEffect::Unknown)) };
        if let Some(content) = content
            && self.content(document)?.is_some_and(|now| now != *content)
        {
            return Ok(Err(NoEffect::Changed));
        }
        let is_empty = self.documents.state(document) == DocumentState::EMPTY;
        let has_effect = !is_empty || tokens == TokenNeed::Any;
        Ok(if has_effect { Ok(document) } else { Err(NoEffect::Empty) })
    }

    /// Returns the hash of the text of a document; `None` if texts are not kept.
    fn content(&self, document: DocumentNumber) -> Result<Option<Content>, FindError> {
        self.documents.with_row(document, |block, row| {
            if !block.retained.has_texts() {
                return Ok(None);
            }
            let of = |text: &str| Content::of(text.as_bytes());
            let mut buffers = ReadBuffers::default();
            Ok(Some(block.retained.fetch_written(row.place, row.id, &mut buffers, of)?))
        })?
    }
}
