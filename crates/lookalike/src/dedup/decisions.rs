//! Decisions as groups give them → by document number, as records are read.

use super::Decision;
use crate::error::Error;
use crate::spill::{SortedRecords, Sorter, TempSpace};
use std::sync::Arc;

const KEEPER: u8 = 0;
const DUPLICATE: u8 = 1;
const EMPTY: u8 = 2;
const RELATED: u8 = 3;

/// Collects decisions in any order. Memory is bounded; what is more is sorted in temporary files.
pub struct DecisionCollector {
    sorter: Sorter,
    reasons: Vec<String>,
}

impl DecisionCollector {
    /// `reasons` are what [`duplicate`](Self::duplicate) names by their place, 255 at most.
    /// The others are as for [`Sorter::new`].
    pub(crate) fn new(temp: Option<Arc<TempSpace>>, memory: usize, reasons: Vec<String>) -> Self {
        Self { sorter: Sorter::new(temp, memory), reasons }
    }

    /// The document with this number stays for its group.
    ///
    /// # Errors
    /// Those of temporary files.
    pub fn keeper(&mut self, document: u32, group: u64, size: u64) -> Result<(), Error> {
        let mut payload = vec![KEEPER];
        payload.extend(group.to_be_bytes());
        payload.extend(size.to_be_bytes());
        self.sorter.push(&document.to_be_bytes(), &payload)
    }

    /// It goes, for the keeper stays: `similarity` is written with six decimals.
    ///
    /// # Errors
    /// Those of temporary files.
    pub fn duplicate(
        &mut self,
        document: u32,
        group: u64,
        keeper: &str,
        similarity: &str,
        reason: u8,
    ) -> Result<(), Error> {
        let mut payload = vec![DUPLICATE];
        payload.extend(group.to_be_bytes());
        payload.push(reason);
        payload.push(u8::try_from(similarity.len()).unwrap_or(u8::MAX));
        payload.extend(similarity.bytes().take(u8::MAX as usize));
        payload.extend(keeper.bytes());
        self.sorter.push(&document.to_be_bytes(), &payload)
    }

    /// It is in no group, stays, and resembles `neighbour`, a duplicate of another document:
    /// `similarity` is written with six decimals.
    ///
    /// # Errors
    /// Those of temporary files.
    pub fn related(
        &mut self,
        document: u32,
        neighbour: &str,
        similarity: &str,
    ) -> Result<(), Error> {
        let mut payload = vec![RELATED, u8::try_from(similarity.len()).unwrap_or(u8::MAX)];
        payload.extend(similarity.bytes().take(u8::MAX as usize));
        payload.extend(neighbour.bytes());
        self.sorter.push(&document.to_be_bytes(), &payload)
    }

    /// It has no token.
    ///
    /// # Errors
    /// Those of temporary files.
    pub fn empty(&mut self, document: u32) -> Result<(), Error> {
        self.sorter.push(&document.to_be_bytes(), &[EMPTY])
    }

    /// Sorts them.
    ///
    /// # Errors
    /// Those of temporary files.
    pub fn finish(self) -> Result<SortedDecisions, Error> {
        Ok(SortedDecisions { sorted: self.sorter.finish()?, reasons: self.reasons })
    }
}

/// Decisions in the order of the documents.
pub struct SortedDecisions {
    sorted: SortedRecords,
    reasons: Vec<String>,
}

impl SortedDecisions {
    /// Goes through them from the first document.
    pub fn cursor(&self) -> DecisionCursor<'_> {
        DecisionCursor {
            records: Box::new(self.sorted.iter()),
            reasons: &self.reasons,
            next: None,
            ended: false,
        }
    }
}

/// Sorted records, key and payload.
type DecisionRecords<'a> = Box<dyn Iterator<Item = Result<(Vec<u8>, Vec<u8>), Error>> + Send + 'a>;

/// A way through the decisions, from lower to higher document numbers.
pub struct DecisionCursor<'a> {
    records: DecisionRecords<'a>,
    reasons: &'a [String],
    next: Option<(u32, Vec<u8>)>,
    ended: bool,
}

impl DecisionCursor<'_> {
    /// What is said about a document; each call must name a higher number than the one before.
    ///
    /// # Errors
    /// Those of temporary files.
    pub fn of(&mut self, document: u32) -> Result<Decision<'_>, Error> {
        while !self.ended && self.next.as_ref().is_none_or(|(number, _)| *number < document) {
            match self.records.next().transpose()? {
                None => self.ended = true,
                Some((key, payload)) => {
                    let number = key.try_into().map_or(u32::MAX, u32::from_be_bytes);
                    self.next = Some((number, payload));
                }
            }
        }
        let found = self.next.as_ref().filter(|(number, _)| *number == document);
        let decision = found.and_then(|(_, payload)| decoded(payload, self.reasons));
        Ok(decision.unwrap_or(Decision::Unique))
    }
}

fn decoded<'a>(payload: &'a [u8], reasons: &'a [String]) -> Option<Decision<'a>> {
    let (&kind, rest) = payload.split_first()?;
    if kind == EMPTY {
        return Some(Decision::Empty);
    }
    if kind == RELATED {
        let (&length, rest) = rest.split_first()?;
        let (similarity, neighbour) = rest.split_at_checked(length as usize)?;
        let (similarity, neighbour) =
            (std::str::from_utf8(similarity).ok()?, std::str::from_utf8(neighbour).ok()?);
        return Some(Decision::Related { neighbour, similarity });
    }
    let (group, rest) = rest.split_first_chunk()?;
    let group = u64::from_be_bytes(*group);
    if kind == KEEPER {
        let (size, _) = rest.split_first_chunk()?;
        return Some(Decision::Keeper { group, size: u64::from_be_bytes(*size) });
    }
    let (&[reason, length], rest) = rest.split_first_chunk()?;
    let (similarity, keeper) = rest.split_at_checked(length as usize)?;
    Some(Decision::Duplicate {
        group,
        keeper: std::str::from_utf8(keeper).ok()?,
        similarity: std::str::from_utf8(similarity).ok()?,
        reason: reasons.get(reason as usize).map_or("", String::as_str),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_come_in_the_order_of_documents() {
        let mut decisions =
            DecisionCollector::new(None, 1 << 20, vec!["longest".into(), "id".into()]);
        decisions.duplicate(9, 1, "käfer", "0.912345", 1).unwrap();
        decisions.empty(4).unwrap();
        decisions.related(11, "käfer", "0.812345").unwrap();
        decisions.keeper(300, 1, 2).unwrap();
        let decided = decisions.finish().unwrap();
        for _ in 0..2 {
            let mut cursor = decided.cursor();
            assert_eq!(cursor.of(0).unwrap(), Decision::Unique);
            assert_eq!(cursor.of(4).unwrap(), Decision::Empty);
            assert_eq!(
                cursor.of(9).unwrap(),
                Decision::Duplicate {
                    group: 1,
                    keeper: "käfer",
                    similarity: "0.912345",
                    reason: "id"
                }
            );
            assert_eq!(cursor.of(10).unwrap(), Decision::Unique);
            let related = Decision::Related { neighbour: "käfer", similarity: "0.812345" };
            assert_eq!(cursor.of(11).unwrap(), related);
            assert_eq!(cursor.of(300).unwrap(), Decision::Keeper { group: 1, size: 2 });
            assert_eq!(cursor.of(301).unwrap(), Decision::Unique);
        }
    }
}
