//! The decisions that an index keeps: read from its log, and added to it.

use super::decision::ReviewDecision;
use super::file::decision;
use crate::error::{DecisionError, Error};
use crate::read::Content;
use lookalike_index::entry::{IndexRecord, RecordFields};
use lookalike_index::index::Index;
use std::collections::HashSet;

/// What became of decisions that were added to an index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AddedDecisions {
    /// How many were added.
    pub added: u64,
    /// How many of them name a document that is not in the index.
    pub unknown: u64,
    /// The number of the last decision of the index.
    pub last: u64,
}

/// The decisions of an index that are numbered above `after`, by their numbers, which are the lines
/// of the decisions.
///
/// # Errors
/// As [`each_of_index`].
pub fn of_index(index: &Index, after: u64) -> Result<Vec<ReviewDecision>, Error> {
    let mut decisions = Vec::new();
    each_of_index(index, after, &mut |decision| decisions.push(decision))?;
    Ok(decisions)
}

/// Gives the decisions of an index that are numbered above `after` to `each`, one after the other.
///
/// # Errors
/// Read errors of the index, [`Error::Decisions`] for an entry that is no decision; `each` has
/// then had those before it.
pub fn each_of_index(
    index: &Index,
    after: u64,
    each: &mut dyn FnMut(ReviewDecision),
) -> Result<(), Error> {
    let mut wrong = None;
    index.snapshot()?.decisions(after, usize::MAX, &mut |line, json| {
        match decision(json.as_bytes(), line) {
            _ if wrong.is_some() => {}
            Ok(parsed) => parsed.into_iter().for_each(&mut *each),
            Err(problem) => {
                let path = index.name().into();
                wrong = Some(DecisionError::Line { path, line, problem });
            }
        }
        Ok(())
    })?;
    wrong.map_or(Ok(()), |error| Err(error.into()))
}

/// Adds decisions to the log of an index, all or none. A decision without hashes gets those of the
/// texts that the index keeps, and one without a time gets `now`.
///
/// # Errors
/// Read and write errors of the index.
pub fn add_to_index(
    index: &Index,
    decisions: Vec<ReviewDecision>,
    now: &str,
) -> Result<AddedDecisions, Error> {
    let mut documents = StoredDocuments { index, unknown: HashSet::new() };
    let (mut entries, mut unknown) = (Vec::with_capacity(decisions.len()), 0);
    for mut decision in decisions {
        decision.when.get_or_insert_with(|| now.to_owned());
        let contents = documents.contents(&decision.documents)?;
        if decision.contents.is_empty() && contents.iter().any(Option::is_some) {
            decision.contents = contents;
        }
        unknown += u64::from(decision.documents.iter().any(|id| documents.unknown.contains(id)));
        entries.push(decision.to_json());
    }
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    let last = index.add_decisions(&entries)?;
    Ok(AddedDecisions { added: entries.len() as u64, unknown, last })
}

/// The documents of an index that decisions name.
struct StoredDocuments<'i> {
    index: &'i Index,
    unknown: HashSet<String>,
}

impl StoredDocuments<'_> {
    /// The hashes of the texts of some documents, where the index keeps them.
    fn contents(&mut self, ids: &[String]) -> Result<Vec<Option<Content>>, Error> {
        let mut snapshot = self.index.snapshot()?;
        let wanted = RecordFields { text: true, ..RecordFields::default() };
        let mut contents = Vec::with_capacity(ids.len());
        for id in ids {
            let mut content = None;
            if let Some(number) = snapshot.number_of(id)? {
                snapshot.records(&[number], wanted, &mut |record: &IndexRecord| {
                    content = record.text.as_ref().map(|text| Content::of(text.as_bytes()));
                    Ok(())
                })?;
            } else {
                self.unknown.insert(id.clone());
            }
            contents.push(content);
        }
        Ok(contents)
    }
}
