//! Computes the effect of a batch of changes on the stored documents, without access to the
//! database.

use crate::backend::{Change, ChangeOutcome};
use crate::error::IndexError;
use std::collections::{BTreeSet, HashMap};

/// The effect of a batch.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct WritePlan {
    /// The effect of every change.
    pub(crate) outcomes: Vec<ChangeOutcome>,
    /// The number of the document of every change, even if a later change of the batch replaces it;
    /// `None` for a removal.
    pub(crate) numbers: Vec<Option<i64>>,
    /// The number of the stored document that each change replaces or removes. Also `None` for a
    /// later change of the same id.
    pub(crate) replaced: Vec<Option<i64>>,
    /// Numbers of stored documents to delete.
    pub(crate) removed: Vec<i64>,
    /// Numbers of stored documents that are replaced by a document with the same id and the same
    /// shingles, each with the number of the new document.
    pub(crate) moved: Vec<(i64, i64)>,
    /// Positions of changes whose document is stored, each with the number of the document, by
    /// ascending number.
    pub(crate) kept: Vec<(usize, i64)>,
    /// The greatest number ever assigned.
    pub(crate) last: i64,
}

/// The state of an id in the middle of a batch.
#[derive(Clone, Copy)]
enum IdState {
    Stored(i64),
    /// The change, the number, and the stored document whose shingles the new document still has.
    New(usize, i64, Option<i64>),
    Absent,
}

/// The distinct ids of a batch.
pub(crate) fn ids<'a>(changes: &[Change<'a>]) -> Vec<&'a str> {
    let mut ids: Vec<&str> = changes.iter().map(Change::id).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Facts about a stored document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredDocument {
    pub(crate) number: i64,
    pub(crate) expires: Option<i64>,
    /// `None` if it is damaged.
    pub(crate) fingerprint: Option<u128>,
}

/// Plans a batch. `stored` contains the stored documents with ids of the batch. `duplicates`
/// contains the ids of the batch that are recorded as duplicates. `last` is the greatest number
/// assigned so far, and `most` the greatest number that can be assigned.
///
/// # Errors
/// [`IndexError::IdTaken`], and [`IndexError::Full`] if no number is left.
pub(crate) fn plan(
    changes: &[Change<'_>],
    stored: &HashMap<String, StoredDocument>,
    mut duplicates: BTreeSet<String>,
    mut last: i64,
    most: i64,
) -> Result<WritePlan, IndexError> {
    let mut known: HashMap<&str, IdState> =
        stored.iter().map(|(id, one)| (&id[..], IdState::Stored(one.number))).collect();
    let mut outcomes = Vec::with_capacity(changes.len());
    let mut replaced = Vec::with_capacity(changes.len());
    let mut numbers = Vec::with_capacity(changes.len());
    for (at, change) in changes.iter().enumerate() {
        let id = change.id();
        let before = known.get(id).copied().unwrap_or(IdState::Absent);
        let (expires, fingerprint, same) = match before {
            IdState::Stored(number) => {
                let known = stored.get(id);
                let fingerprint = known.and_then(|one| one.fingerprint);
                (known.and_then(|one| one.expires), fingerprint, Some(number))
            }
            IdState::New(at, _, same) => {
                let entry = changes[at].entry();
                let expires = entry.and_then(|entry| entry.expires);
                (expires, entry.map(|entry| entry.fingerprint), same)
            }
            IdState::Absent => (None, None, None),
        };
        let added = change.entry().map_or(i64::MIN, |entry| entry.added);
        let is_expired = expires.is_some_and(|expires| expires <= added);
        let is_stored = !matches!(before, IdState::Absent) && !is_expired;
        if is_stored && matches!(change, Change::Add(_)) {
            return Err(IndexError::IdTaken { id: id.to_owned() });
        }
        replaced.push(match before {
            IdState::Stored(number) => Some(number),
            IdState::New(..) | IdState::Absent => None,
        });
        let was_duplicate = duplicates.remove(id);
        let (outcome, after) = match change {
            Change::Remove(_) if was_duplicate || !matches!(before, IdState::Absent) => {
                (ChangeOutcome::Removed, IdState::Absent)
            }
            Change::Remove(_) => (ChangeOutcome::Absent, IdState::Absent),
            Change::Add(_) | Change::Put(_) => {
                if last >= most {
                    return Err(IndexError::Full { most: most.cast_unsigned() });
                }
                last += 1;
                let outcome =
                    if is_stored { ChangeOutcome::Replaced } else { ChangeOutcome::Added };
                let is_same = is_stored && fingerprint == change.entry().map(|one| one.fingerprint);
                (outcome, IdState::New(at, last, same.filter(|_| is_same)))
            }
        };
        outcomes.push(outcome);
        numbers.push(match after {
            IdState::New(_, number, _) => Some(number),
            IdState::Stored(_) | IdState::Absent => None,
        });
        known.insert(id, after);
    }
    let mut kept = Vec::new();
    let mut moved = Vec::new();
    for (at, change) in changes.iter().enumerate() {
        if let Some(IdState::New(last_change, number, same)) = known.get(change.id()).copied()
            && last_change == at
        {
            kept.push((at, number));
            moved.extend(same.map(|same| (same, number)));
        }
    }
    let removed = replaced.iter().copied().flatten().collect();
    Ok(WritePlan { outcomes, numbers, replaced, removed, moved, kept, last })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{IndexEntry, Metadata};

    #[test]
    fn write_plan_keeps_final_states() {
        let metadata = Metadata::new();
        let entry = |id| IndexEntry {
            id,
            fingerprint: 0,
            bytes: 0,
            signature: &[],
            set: &[],
            text: None,
            original: None,
            metadata: &metadata,
            added: 0,
            modified: None,
            expires: None,
        };
        let document = |number| StoredDocument { number, expires: None, fingerprint: Some(0) };
        let stored = HashMap::from([("a".to_owned(), document(3)), ("b".to_owned(), document(4))]);
        let changes = [
            Change::Put(entry("a")),
            Change::Put(entry("a")),
            Change::Remove("b"),
            Change::Remove("b"),
            Change::Add(entry("c")),
            Change::Remove("c"),
            Change::Add(entry("b")),
            Change::Remove("d"),
            Change::Remove("d"),
        ];
        let duplicates = BTreeSet::from(["c".to_owned(), "d".to_owned()]);
        let plan_of = plan(&changes, &stored, duplicates, 9, i64::MAX).unwrap();
        let outcomes = [
            ChangeOutcome::Replaced,
            ChangeOutcome::Replaced,
            ChangeOutcome::Removed,
            ChangeOutcome::Absent,
            ChangeOutcome::Added,
            ChangeOutcome::Removed,
            ChangeOutcome::Added,
            ChangeOutcome::Removed,
            ChangeOutcome::Absent,
        ];
        assert_eq!(plan_of.outcomes, outcomes);
        let replaced = [Some(3), None, Some(4), None, None, None, None, None, None];
        assert_eq!(plan_of.replaced, replaced);
        assert_eq!(plan_of.removed, [3, 4]);
        // A document that is removed in between is a different one.
        assert_eq!(plan_of.moved, [(3, 11)]);
        let numbers = [Some(10), Some(11), None, None, Some(12), None, Some(13), None, None];
        assert_eq!(plan_of.numbers, numbers);
        assert_eq!(plan_of.kept, [(1, 11), (6, 13)]);
        assert_eq!(plan_of.last, 13);
        assert_eq!(ids(&changes), ["a", "b", "c", "d"]);
        let refused = plan(&[Change::Add(entry("a"))], &stored, BTreeSet::new(), 9, i64::MAX);
        assert!(matches!(refused, Err(IndexError::IdTaken { .. })));
    }
}
