//! Decisions as groups give them → by document number, as records are read.

use super::Decision;
use crate::engine::DocumentNumber;
use crate::error::Error;
use crate::spill::{SortedRecords, Sorter, TempSpace};
use std::iter::Peekable;
use std::sync::Arc;

const KEEPER: u8 = 0;
const DUPLICATE: u8 = 1;
const RELATED: u8 = 2;

/// Collects decisions in any order. Memory is bounded; what is more is sorted in temporary files.
pub(super) struct DecisionCollector {
    sorter: Sorter,
}

impl DecisionCollector {
    /// As `Sorter::new`.
    pub(super) fn new(temp: Option<Arc<TempSpace>>, memory: usize) -> Self {
        Self { sorter: Sorter::new(temp, memory) }
    }

    /// Adds the decision about a document; those without a group and a neighbour are not stored.
    ///
    /// # Errors
    /// Those of temporary files.
    pub(super) fn add(
        &mut self,
        document: DocumentNumber,
        decision: &Decision<'_>,
    ) -> Result<(), Error> {
        let mut payload = Vec::new();
        match *decision {
            // What is known of the document itself is not stored.
            Decision::Unique | Decision::Empty | Decision::Dropped | Decision::Repeated { .. } => {
                return Ok(());
            }
            Decision::Keeper { group, size } => {
                payload.push(KEEPER);
                payload.extend(group.to_be_bytes());
                payload.extend(size.to_be_bytes());
            }
            Decision::Duplicate { group, keeper, similarity, reason } => {
                payload.push(DUPLICATE);
                payload.extend(group.to_be_bytes());
                put_text(&mut payload, similarity);
                put_text(&mut payload, reason);
                payload.extend(keeper.bytes());
            }
            Decision::Related { neighbour, similarity } => {
                payload.push(RELATED);
                put_text(&mut payload, similarity);
                payload.extend(neighbour.bytes());
            }
        }
        self.sorter.push(&document.0.to_be_bytes(), &payload)
    }

    /// Sorts them.
    ///
    /// # Errors
    /// Those of temporary files.
    pub(super) fn finish(self) -> Result<SortedRecords, Error> {
        self.sorter.finish()
    }
}

/// Sorted records, key and payload.
type DecisionRecords<'a> = Box<dyn Iterator<Item = Result<(Vec<u8>, Vec<u8>), Error>> + Send + 'a>;

/// A way through the decisions, from lower to higher document numbers.
pub(super) struct DecisionCursor<'a> {
    records: Peekable<DecisionRecords<'a>>,
    payload: Vec<u8>,
}

impl<'a> DecisionCursor<'a> {
    /// Goes through what a [`DecisionCollector`] has sorted, from the first document.
    pub(super) fn new(sorted: &'a SortedRecords) -> Self {
        let records: DecisionRecords<'a> = Box::new(sorted.iter());
        Self { records: records.peekable(), payload: Vec::new() }
    }

    /// What is said about a document; each call must name a higher number than the one before.
    ///
    /// # Errors
    /// Those of temporary files.
    pub(super) fn of(&mut self, document: DocumentNumber) -> Result<Decision<'_>, Error> {
        let key = document.0.to_be_bytes();
        let reached = |record: &Result<(Vec<u8>, Vec<u8>), Error>| {
            record.as_ref().map_or(true, |(found, _)| **found <= key[..])
        };
        while let Some(record) = self.records.next_if(reached) {
            let (found, payload) = record?;
            if *found == key {
                self.payload = payload;
                let damaged = || Error::temporary_file("a decision");
                return decoded(&self.payload).ok_or_else(damaged);
            }
        }
        Ok(Decision::Unique)
    }
}

fn decoded(payload: &[u8]) -> Option<Decision<'_>> {
    let (&kind, mut rest) = payload.split_first()?;
    if kind == RELATED {
        let similarity = take_text(&mut rest)?;
        return Some(Decision::Related { neighbour: std::str::from_utf8(rest).ok()?, similarity });
    }
    let group = u64::from_be_bytes(*rest.split_off(..8)?.first_chunk()?);
    match kind {
        KEEPER => {
            let size = u64::from_be_bytes(rest.try_into().ok()?);
            Some(Decision::Keeper { group, size })
        }
        DUPLICATE => {
            let (similarity, reason) = (take_text(&mut rest)?, take_text(&mut rest)?);
            let keeper = std::str::from_utf8(rest).ok()?;
            Some(Decision::Duplicate { group, keeper, similarity, reason })
        }
        _ => None,
    }
}

/// Adds a text behind its length.
fn put_text(payload: &mut Vec<u8>, text: &str) {
    payload.extend((text.len() as u32).to_be_bytes());
    payload.extend(text.bytes());
}

/// Takes a text off the beginning.
fn take_text<'a>(payload: &mut &'a [u8]) -> Option<&'a str> {
    let length = u32::from_be_bytes(*payload.split_off(..4)?.first_chunk()?);
    std::str::from_utf8(payload.split_off(..length as usize)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_come_in_the_order_of_documents() {
        let duplicate =
            Decision::Duplicate {
                group: 1, keeper: "käfer", similarity: "0.912345", reason: "id"
            };
        let related = Decision::Related { neighbour: "käfer", similarity: "0.812345" };
        let mut decisions = DecisionCollector::new(None, 1 << 20);
        decisions.add(DocumentNumber(9), &duplicate).unwrap();
        decisions.add(DocumentNumber(11), &related).unwrap();
        decisions.add(DocumentNumber(300), &Decision::Keeper { group: 1, size: 70_000 }).unwrap();
        let decided = decisions.finish().unwrap();
        for _ in 0..2 {
            let mut cursor = DecisionCursor::new(&decided);
            assert_eq!(cursor.of(DocumentNumber(0)).unwrap(), Decision::Unique);
            assert_eq!(cursor.of(DocumentNumber(9)).unwrap(), duplicate);
            assert_eq!(cursor.of(DocumentNumber(10)).unwrap(), Decision::Unique);
            assert_eq!(cursor.of(DocumentNumber(11)).unwrap(), related);
            assert_eq!(
                cursor.of(DocumentNumber(300)).unwrap(),
                Decision::Keeper { group: 1, size: 70_000 }
            );
            assert_eq!(cursor.of(DocumentNumber(301)).unwrap(), Decision::Unique);
        }
    }

    #[test]
    fn a_damaged_decision_is_an_error() {
        for payload in [&[][..], &[KEEPER, 0], &[DUPLICATE; 9], &[RELATED, 0, 0, 0, 9], &[7; 30]] {
            let mut sorter = Sorter::new(None, 1 << 20);
            sorter.push(&3u32.to_be_bytes(), payload).unwrap();
            let sorted = sorter.finish().unwrap();
            assert!(DecisionCursor::new(&sorted).of(DocumentNumber(3)).is_err(), "{payload:?}");
        }
    }
}
