//! Derives the outcome of each document from findings: whether it is kept, its group, its keeper
//! and the reason. Survivors, annotations, lists of removed documents, actions on files, additions
//! to an index and the tables of Python use these outcomes.
//!
//! ```text
//! Findings ─ Outcomes::of (sorted by document) ─ cursor ─► Outcome, in reading order
//! ```

use crate::engine::{
    DocumentNumber, DocumentStatus, Duplicate, FindError, FindOptions, Findings, Group, Groups,
    Keeper,
};
use crate::spill::codec::{FieldReader, put_bytes, put_u64};
use crate::spill::{SortedRecords, Sorter, SpillError};
use crate::words::TextSpan;
use lookalike_core::keep::KeepPolicy;
use std::io;
use std::iter::Peekable;

/// Maximum bytes of outcomes in memory, and the divisor of the run's memory limit that can reduce
/// them.
const OUTCOME_BYTES: u64 = 256 << 20;
const OUTCOME_SHARE: u64 = 16;

/// The tags of stored outcomes.
const KEEPER: u64 = 0;
const DUPLICATE: u64 = 1;
const RELATED: u64 = 2;

/// The decision of a run about a document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome<'a> {
    /// The document resembles no other one, and is kept.
    Unique,
    /// The document is in no group and is kept, but it resembles duplicates in groups.
    Related {
        /// The id of the most similar of these duplicates.
        neighbour: &'a str,
        /// Their similarity, with six decimals.
        similarity: &'a str,
    },
    /// The document has no token. It resembles nothing, and is kept.
    Empty,
    /// The document is kept for its group.
    Keeper {
        /// The number of the group, from 1.
        group: u64,
        /// The documents of the group, including this one.
        size: u64,
    },
    /// The document is removed, since its group has a keeper.
    Duplicate {
        /// The number of the group, from 1.
        group: u64,
        /// The id of the keeper.
        keeper: &'a str,
        /// The similarity with the keeper, with six decimals.
        similarity: &'a str,
        /// The name of the [`KeepReason`].
        reason: &'a str,
    },
    /// The document is removed, since a list names it.
    Dropped,
    /// The document is left out of the run, since an earlier one has its id.
    RepeatedId,
    /// The document was searched for repeated passages. It may have none.
    Repeated {
        /// Whether the document is kept.
        kept: bool,
        /// The number of its words in `spans`.
        words: u64,
        /// The removed parts of its text, ascending and disjoint.
        spans: &'a [TextSpan],
    },
}

impl Outcome<'_> {
    /// Whether the document is kept.
    pub fn is_kept(&self) -> bool {
        match self {
            Self::Duplicate { .. } | Self::Dropped | Self::RepeatedId => false,
            Self::Repeated { kept, .. } => *kept,
            Self::Unique | Self::Related { .. } | Self::Empty | Self::Keeper { .. } => true,
        }
    }
}

/// Why a keeper is kept rather than one of its duplicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepReason {
    /// A rule prefers it. The number is the position of the rule in [`KeepPolicy::rules`].
    Rule(usize),
    /// No rule distinguishes the two documents, and its id is first in byte order.
    Id,
    /// It belongs to a reference collection.
    Reference,
    /// A user decided to keep it.
    Decision,
}

impl KeepReason {
    /// Why `keeper` is kept rather than `duplicate`.
    pub fn of(keeper: &Keeper, duplicate: &Duplicate) -> Self {
        match duplicate.decided_by {
            _ if keeper.reference => Self::Reference,
            _ if keeper.by_decision => Self::Decision,
            Some(rule) => Self::Rule(rule as usize),
            None => Self::Id,
        }
    }

    /// The name of the reason in reports: the rule, `id`, `reference` or `decision`.
    pub fn name(self, policy: &KeepPolicy) -> String {
        match self {
            Self::Rule(rule) => policy.rules().get(rule).map(ToString::to_string),
            Self::Id => None,
            Self::Reference => Some("reference".to_owned()),
            Self::Decision => Some("decision".to_owned()),
        }
        .unwrap_or_else(|| "id".to_owned())
    }
}

/// Returns the reasons for which the keepers of `groups` are kept, each with the number of
/// duplicates that it decided. Rules come first, in their order, then ids, references and
/// decisions. Reads all groups.
///
/// # Errors
/// A temporary file cannot be read.
pub fn keep_reasons(groups: &Groups, policy: &KeepPolicy) -> io::Result<Vec<(KeepReason, u64)>> {
    let rules = (0..policy.rules().len()).map(KeepReason::Rule);
    let other_reasons = [KeepReason::Id, KeepReason::Reference, KeepReason::Decision];
    let mut counts: Vec<_> = rules.chain(other_reasons).map(|reason| (reason, 0)).collect();
    for group in groups.iter() {
        let Group { keeper, duplicates } = group?;
        for duplicate in &duplicates {
            let reason = KeepReason::of(&keeper, duplicate);
            if let Some((_, count)) = counts.iter_mut().find(|(other, _)| *other == reason) {
                *count += 1;
            }
        }
    }
    counts.retain(|(_, count)| *count > 0);
    Ok(counts)
}

/// The outcomes that follow from groups and related documents, sorted by document. Outcomes that do
/// not fit in memory are in temporary files.
pub struct Outcomes(SortedRecords);

impl Outcomes {
    /// Sorts the outcomes of all groups, and of documents that resemble duplicates.
    ///
    /// Memory: a sixteenth of the run's limit, at most 256 MiB.
    ///
    /// # Errors
    /// A temporary file cannot be written or read.
    pub fn of(findings: &Findings, options: &FindOptions) -> Result<Self, FindError> {
        let limit = options.memory.limit.map_or(OUTCOME_BYTES, |limit| limit / OUTCOME_SHARE);
        let memory = limit.min(OUTCOME_BYTES) as usize;
        let measure = options.params.measure();
        let mut sorter = Sorter::new(Some(findings.temporary()), memory);
        for (number, group) in (1u64..).zip(findings.groups.iter()) {
            let Group { keeper, duplicates } = group.map_err(FindError::of_io)?;
            let size = 1 + duplicates.len() as u64;
            push(&mut sorter, keeper.document, &Outcome::Keeper { group: number, size })?;
            for duplicate in &duplicates {
                let outcome = Outcome::Duplicate {
                    group: number,
                    keeper: &keeper.id,
                    similarity: &duplicate.overlap.six_decimals_of(measure),
                    reason: &KeepReason::of(&keeper, duplicate).name(&options.keep),
                };
                push(&mut sorter, duplicate.document, &outcome)?;
            }
        }
        for related in findings.related.iter() {
            let related = related.map_err(FindError::of_io)?;
            let similarity = &related.overlap.six_decimals_of(measure);
            let outcome = Outcome::Related { neighbour: &related.neighbour, similarity };
            push(&mut sorter, related.document, &outcome)?;
        }
        Ok(Self(sorter.finish()?))
    }

    /// Reads the outcomes from the first document.
    pub fn cursor(&self) -> OutcomeCursor<'_> {
        let records: OutcomeRecords<'_> = Box::new(self.0.iter());
        OutcomeCursor { records: records.peekable(), payload: Vec::new() }
    }
}

/// Sorted records: the key and the payload of each.
type OutcomeRecords<'a> =
    Box<dyn Iterator<Item = Result<(Vec<u8>, Vec<u8>), SpillError>> + Send + 'a>;

/// Reads outcomes in reading order.
pub struct OutcomeCursor<'a> {
    records: Peekable<OutcomeRecords<'a>>,
    payload: Vec<u8>,
}

impl OutcomeCursor<'_> {
    /// Returns the outcome of a document with this status. Each call must name a higher document
    /// number than the call before.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    pub fn of(
        &mut self,
        document: DocumentNumber,
        status: DocumentStatus,
    ) -> Result<Outcome<'_>, SpillError> {
        let key = document.0.to_be_bytes();
        let is_reached = |record: &Result<(Vec<u8>, Vec<u8>), SpillError>| {
            record.as_ref().map_or(true, |(number, _)| **number <= key[..])
        };
        while let Some(record) = self.records.next_if(is_reached) {
            let (number, payload) = record?;
            if *number == key {
                self.payload = payload;
                return decoded(&self.payload).ok_or_else(|| SpillError::altered("an outcome"));
            }
        }
        Ok(match status {
            DocumentStatus { repeated_id: true, .. } => Outcome::RepeatedId,
            DocumentStatus { dropped: true, .. } => Outcome::Dropped,
            DocumentStatus { empty: true, .. } => Outcome::Empty,
            _ => Outcome::Unique,
        })
    }
}

/// Stores an outcome, unless it follows from the status of the document.
fn push(
    sorter: &mut Sorter,
    document: DocumentNumber,
    outcome: &Outcome<'_>,
) -> Result<(), SpillError> {
    let mut payload = Vec::new();
    match *outcome {
        Outcome::Keeper { group, size } => {
            for number in [KEEPER, group, size] {
                put_u64(&mut payload, number);
            }
        }
        Outcome::Duplicate { group, keeper, similarity, reason } => {
            put_u64(&mut payload, DUPLICATE);
            put_u64(&mut payload, group);
            for text in [keeper, similarity, reason] {
                put_bytes(&mut payload, text.as_bytes());
            }
        }
        Outcome::Related { neighbour, similarity } => {
            put_u64(&mut payload, RELATED);
            put_bytes(&mut payload, neighbour.as_bytes());
            put_bytes(&mut payload, similarity.as_bytes());
        }
        Outcome::Unique
        | Outcome::Empty
        | Outcome::Dropped
        | Outcome::RepeatedId
        | Outcome::Repeated { .. } => return Ok(()),
    }
    sorter.push(&document.0.to_be_bytes(), &payload)
}

fn decoded(payload: &[u8]) -> Option<Outcome<'_>> {
    let mut fields = FieldReader::new(payload);
    let outcome = match fields.u64()? {
        KEEPER => Outcome::Keeper { group: fields.u64()?, size: fields.u64()? },
        DUPLICATE => Outcome::Duplicate {
            group: fields.u64()?,
            keeper: fields.str()?,
            similarity: fields.str()?,
            reason: fields.str()?,
        },
        RELATED => Outcome::Related { neighbour: fields.str()?, similarity: fields.str()? },
        _ => return None,
    };
    fields.is_empty().then_some(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: DocumentStatus =
        DocumentStatus { source: 0, empty: false, repeated_id: false, dropped: false };

    #[test]
    fn outcomes_have_the_order_of_documents() {
        let duplicate =
            Outcome::Duplicate { group: 1, keeper: "käfer", similarity: "0.912345", reason: "id" };
        let related = Outcome::Related { neighbour: "käfer", similarity: "0.812345" };
        let keeper = Outcome::Keeper { group: 1, size: 70_000 };
        let mut sorter = Sorter::new(None, 1 << 20);
        for (document, outcome) in [(9, duplicate), (11, related), (300, keeper)] {
            push(&mut sorter, DocumentNumber(document), &outcome).unwrap();
        }
        let outcomes = Outcomes(sorter.finish().unwrap());
        for _ in 0..2 {
            let mut cursor = outcomes.cursor();
            assert_eq!(cursor.of(DocumentNumber(0), STATUS).unwrap(), Outcome::Unique);
            assert_eq!(cursor.of(DocumentNumber(9), STATUS).unwrap(), duplicate);
            let empty = DocumentStatus { empty: true, ..STATUS };
            assert_eq!(cursor.of(DocumentNumber(10), empty).unwrap(), Outcome::Empty);
            assert_eq!(cursor.of(DocumentNumber(11), STATUS).unwrap(), related);
            assert_eq!(cursor.of(DocumentNumber(300), STATUS).unwrap(), keeper);
            let dropped = DocumentStatus { dropped: true, ..STATUS };
            assert_eq!(cursor.of(DocumentNumber(301), dropped).unwrap(), Outcome::Dropped);
        }
    }

    #[test]
    fn damaged_outcomes_are_errors() {
        for payload in [&[][..], &[0, 0], &[1; 9], &[2, 9], &[7; 30], &[0, 1, 1, 1]] {
            let mut sorter = Sorter::new(None, 1 << 20);
            sorter.push(&3u32.to_be_bytes(), payload).unwrap();
            let outcomes = Outcomes(sorter.finish().unwrap());
            assert!(outcomes.cursor().of(DocumentNumber(3), STATUS).is_err(), "{payload:?}");
        }
    }
}
