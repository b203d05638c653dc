//! The sources for the counts of documents. Threads number them in the order of their first
//! occurrence, and they are sorted into reading order at the end.

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
    /// A file of records, a folder directly below a folder of texts, or the value of the field that
    /// names the source.
    pub name: String,
    /// Its documents, including empty ones.
    pub documents: u64,
    /// The bytes of their texts.
    pub bytes: u64,
    /// Its documents that are duplicates.
    pub duplicates: u64,
    /// The bytes of their texts.
    pub duplicate_bytes: u64,
    /// Whether it belongs to a reference collection, whose documents are always kept.
    pub reference: bool,
}

/// The most values of a source field. A longer table is not readable.
pub const MAX_SOURCES: usize = 100_000;

/// Bytes of memory for a source in addition to its name, which is held twice.
const SOURCE_BYTES: u64 = 200;

/// A stored source: its name, and whether it belongs to a reference collection.
pub(crate) type SourceName = (String, bool);

/// The documents of one source in a block, or in several.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct SourceTally {
    pub(crate) source: SourceNumber,
    /// The first block that has the source, and the source's position in the block.
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
                slot => *slot = Some(*tally),
            }
        }
    }

    /// Removes and returns the tallies, by source number.
    pub(crate) fn take(&mut self) -> Vec<SourceTally> {
        std::mem::take(&mut self.0).into_iter().flatten().collect()
    }
}

/// All sources so far, for all threads.
pub(crate) struct Sources {
    /// The field whose values are the sources, if they come from a field.
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
    bytes: u64,
}

impl SourceNumbers {
    fn add(&mut self, name: &str, reference: bool) -> SourceNumber {
        self.bytes += source_bytes(name);
        let name: Arc<str> = name.into();
        let number = self.names.push((Arc::clone(&name), reference));
        self.numbers[usize::from(reference)].insert(name, number);
        number
    }
}

/// The bytes of memory of a source.
pub(crate) fn source_bytes(name: &str) -> u64 {
    SOURCE_BYTES + 2 * name.len() as u64
}

impl Sources {
    pub(crate) fn new(field: Option<&String>, budget: &Budget) -> Self {
        Self { field: field.cloned(), budget: *budget, known: Mutex::default() }
    }

    /// Continues with the sources of an earlier run.
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

    /// Returns the number of a source. Returns an error if the field has too many values, or if the
    /// names exceed the memory.
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
            _ => self.budget.with_held(known.bytes + source_bytes(name))?,
        };
        Ok(known.add(name, reference))
    }

    /// Counts the documents of a block.
    pub(crate) fn count(&self, tallies: &[SourceTally]) {
        self.known().tallies.add(tallies);
    }

    /// Returns the sources after the first `known`.
    pub(crate) fn names_from(&self, known: usize) -> Vec<SourceName> {
        let all = self.known();
        let names = all.names.as_slice().get(known..).unwrap_or_default().iter();
        names.map(|(name, reference)| (name.as_ref().to_owned(), *reference)).collect()
    }

    /// The bytes of memory of all sources.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.known().bytes
    }

    /// Returns the sources in reading order, and the index of each numbered source in them.
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
