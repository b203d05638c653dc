//! The sources that documents are counted under: numbered by the threads as they meet them, and
//! sorted into reading order when all are read.

use crate::engine::error::FindError;
use crate::engine::ids::{Id, IdVec, SourceIndex, SourceNumber};
use crate::engine::memory::Budget;
use crate::read::BlockNumber;
use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// Documents and bytes of one source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceCounts {
    /// A file of records, a folder directly below a folder of texts, or the value of the field
    /// that tells the source.
    pub name: String,
    /// Its documents, empty ones included.
    pub documents: u64,
    /// The bytes of their texts.
    pub bytes: u64,
    /// How many of its documents are duplicates.
    pub duplicates: u64,
    /// The bytes of their texts.
    pub duplicate_bytes: u64,
    /// Whether it belongs to a reference collection, whose documents are always kept.
    pub reference: bool,
}

/// The most values of a field that documents are counted under: a longer table is not readable.
pub const MAX_SOURCES: usize = 100_000;

/// Bytes of memory for a source in addition to its name, which is held twice.
const SOURCE_BYTES: u64 = 200;

/// A stored source: its name, and whether it belongs to a reference collection.
pub(crate) type SourceName = (String, bool);

/// The documents of one source in a block, or in several.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct SourceTally {
    pub(crate) source: SourceNumber,
    /// The first block that has it, and which it is of those that the block has.
    pub(crate) first: (BlockNumber, u32),
    pub(crate) documents: u64,
    pub(crate) bytes: u64,
}

/// Tallies of several blocks, by the source's number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tallies(Vec<Option<SourceTally>>);

impl Tallies {
    pub(crate) fn add(&mut self, more: &[SourceTally]) {
        for tally in more {
            let at = tally.source.index();
            self.0.resize(self.0.len().max(at + 1), None);
            match &mut self.0[at] {
                Some(sum) => {
                    sum.first = sum.first.min(tally.first);
                    sum.documents += tally.documents;
                    sum.bytes += tally.bytes;
                }
                none => *none = Some(*tally),
            }
        }
    }

    /// Those there are, in the order of their numbers.
    pub(crate) fn take(&mut self) -> Vec<SourceTally> {
        std::mem::take(&mut self.0).into_iter().flatten().collect()
    }
}

/// All sources met so far; for all threads.
pub(crate) struct Sources {
    /// The field whose values they are, if they are.
    field: Option<String>,
    budget: Budget,
    known: Mutex<SourceNumbers>,
}

#[derive(Default)]
struct SourceNumbers {
    /// Sources of the input, and sources of reference collections.
    numbers: [HashMap<Arc<str>, SourceNumber>; 2],
    names: IdVec<SourceNumber, (Arc<str>, bool)>,
    tallies: Tallies,
    held: u64,
}

impl SourceNumbers {
    fn add(&mut self, name: &str, reference: bool) -> SourceNumber {
        self.held += held(name);
        let name: Arc<str> = name.into();
        let number = self.names.push((Arc::clone(&name), reference));
        self.numbers[usize::from(reference)].insert(name, number);
        number
    }
}

/// Bytes of memory that a source takes.
pub(crate) fn held(name: &str) -> u64 {
    SOURCE_BYTES + 2 * name.len() as u64
}

impl Sources {
    pub(crate) fn new(field: Option<&String>, budget: &Budget) -> Self {
        Self { field: field.cloned(), budget: *budget, known: Mutex::default() }
    }

    /// Goes on from what an earlier run has met.
    pub(crate) fn resume(&self, names: &[SourceName], tallies: &Tallies) {
        let mut known = self.known();
        for (name, reference) in names {
            known.add(name, *reference);
        }
        known.tallies.clone_from(tallies);
    }

    fn known(&self) -> MutexGuard<'_, SourceNumbers> {
        self.known.lock()
    }

    /// The number of a source. More values of a field than a run counts, and more names than
    /// memory holds, are refused when they are met.
    pub(crate) fn number(&self, name: &str, reference: bool) -> Result<SourceNumber, FindError> {
        let mut known = self.known();
        if let Some(number) = known.numbers[usize::from(reference)].get(name) {
            return Ok(*number);
        }
        match &self.field {
            Some(field) if known.names.len() >= MAX_SOURCES => {
                let field = field.clone();
                let most = MAX_SOURCES;
                return Err(FindError::TooManySources { field, got: most + 1, most });
            }
            _ => self.budget.with_held(known.held + held(name))?,
        };
        Ok(known.add(name, reference))
    }

    /// Counts the documents of a block.
    pub(crate) fn count(&self, tallies: &[SourceTally]) {
        self.known().tallies.add(tallies);
    }

    /// The sources that were met after the first `known`.
    pub(crate) fn names_from(&self, known: usize) -> Vec<SourceName> {
        let all = self.known();
        let names = all.names.as_slice().get(known..).unwrap_or_default().iter();
        names.map(|(name, reference)| (name.as_ref().to_owned(), *reference)).collect()
    }

    /// Bytes of memory they take.
    pub(crate) fn held(&self) -> u64 {
        self.known().held
    }

    /// The sources in reading order, and the index in them of each numbered source.
    pub(crate) fn in_order(&self) -> (Vec<SourceCounts>, IdVec<SourceNumber, SourceIndex>) {
        let mut known = self.known();
        let mut tallies = known.tallies.take();
        tallies.sort_unstable_by_key(|tally| tally.first);
        let mut indices = IdVec::from(vec![SourceIndex(0); known.names.len()]);
        let mut sources = Vec::with_capacity(tallies.len());
        for SourceTally { source, documents, bytes, .. } in tallies {
            let Some((name, reference)) = known.names.get(source) else { continue };
            indices[source] = SourceIndex::new(sources.len());
            sources.push(SourceCounts {
                name: name.as_ref().to_owned(),
                documents,
                bytes,
                duplicates: 0,
                duplicate_bytes: 0,
                reference: *reference,
            });
        }
        (sources, indices)
    }
}
