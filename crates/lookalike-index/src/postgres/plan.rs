//! The effect of a batch of changes on the stored documents, without the database.

use crate::backend::{Change, ChangeOutcome};
use crate::error::IndexError;
use std::collections::BTreeMap;

/// The effect of a batch.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct WritePlan {
    /// The effect of every change.
    pub(super) done: Vec<ChangeOutcome>,
    /// The number that the document of every change has, or has until a later change of the batch;
    /// `None` for a removal.
    pub(super) numbers: Vec<Option<i64>>,
    /// Numbers of stored documents to delete.
    pub(super) gone: Vec<i64>,
    /// Positions of changes whose document is stored, with its number, by ascending number.
    pub(super) kept: Vec<(usize, i64)>,
    /// The greatest number ever assigned.
    pub(super) last: i64,
}

/// The state of an id in the middle of a batch.
#[derive(Clone, Copy)]
enum IdState {
    Stored(i64),
    New(usize, i64),
    Absent,
}

/// The distinct ids of a batch, without those with NUL characters, which the server rejects.
pub(super) fn ids<'a>(changes: &[Change<'a>]) -> Vec<&'a str> {
    let mut ids: Vec<&str> =
        changes.iter().map(Change::id).filter(|id| !id.contains('\0')).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// The number of a stored document, and when it expires.
pub(super) type StoredNumber = (i64, Option<i64>);

/// Plans a batch. `stored` has the stored documents among its ids, `last` is the greatest number
/// assigned so far.
///
/// # Errors
/// [`IndexError::IdTaken`], and [`IndexError::Full`] if no number is left.
pub(super) fn plan(
    changes: &[Change<'_>],
    stored: &BTreeMap<String, StoredNumber>,
    mut last: i64,
) -> Result<WritePlan, IndexError> {
    let mut known: BTreeMap<&str, IdState> =
        stored.iter().map(|(id, (number, _))| (&id[..], IdState::Stored(*number))).collect();
    let (mut done, mut gone) = (Vec::with_capacity(changes.len()), Vec::new());
    let mut numbers = Vec::with_capacity(changes.len());
    for (at, change) in changes.iter().enumerate() {
        let id = change.id();
        let before = known.get(id).copied().unwrap_or(IdState::Absent);
        let expires = match before {
            IdState::Stored(_) => stored.get(id).and_then(|(_, expires)| *expires),
            IdState::New(at, _) => changes[at].entry().and_then(|entry| entry.expires),
            IdState::Absent => None,
        };
        let added = change.entry().map_or(i64::MIN, |entry| entry.added);
        let is_expired = expires.is_some_and(|expires| expires <= added);
        let is_there = !matches!(before, IdState::Absent) && !is_expired;
        if is_there && matches!(change, Change::Add(_)) {
            return Err(IndexError::IdTaken { id: id.to_owned() });
        }
        if let IdState::Stored(number) = before {
            gone.push(number);
        }
        let (what, after) = match change {
            Change::Remove(_) if !matches!(before, IdState::Absent) => {
                (ChangeOutcome::Removed, IdState::Absent)
            }
            Change::Remove(_) => (ChangeOutcome::Absent, IdState::Absent),
            Change::Add(_) | Change::Put(_) => {
                let most = i64::MAX;
                let full = IndexError::Full { most: most.cast_unsigned() };
                last = last.checked_add(1).ok_or(full)?;
                let what = if is_there { ChangeOutcome::Replaced } else { ChangeOutcome::Added };
                (what, IdState::New(at, last))
            }
        };
        done.push(what);
        numbers.push(match after {
            IdState::New(_, number) => Some(number),
            IdState::Stored(_) | IdState::Absent => None,
        });
        known.insert(id, after);
    }
    let mut kept: Vec<(usize, i64)> = Vec::new();
    for now in known.values() {
        if let IdState::New(at, number) = now {
            kept.push((*at, *number));
        }
    }
    kept.sort_unstable();
    Ok(WritePlan { done, numbers, gone, kept, last })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{IndexEntry, Metadata};

    #[test]
    fn only_the_last_state_of_an_id_is_stored() {
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
        let stored = BTreeMap::from([("a".to_owned(), (3, None)), ("b".to_owned(), (4, None))]);
        let changes = [
            Change::Put(entry("a")),
            Change::Put(entry("a")),
            Change::Remove("b"),
            Change::Remove("b"),
            Change::Add(entry("c")),
            Change::Remove("c"),
            Change::Add(entry("b")),
        ];
        let plan_of = plan(&changes, &stored, 9).unwrap();
        let done = [
            ChangeOutcome::Replaced,
            ChangeOutcome::Replaced,
            ChangeOutcome::Removed,
            ChangeOutcome::Absent,
            ChangeOutcome::Added,
            ChangeOutcome::Removed,
            ChangeOutcome::Added,
        ];
        assert_eq!(plan_of.done, done);
        assert_eq!(plan_of.gone, [3, 4]);
        let numbers = [Some(10), Some(11), None, None, Some(12), None, Some(13)];
        assert_eq!(plan_of.numbers, numbers);
        assert_eq!(plan_of.kept, [(1, 11), (6, 13)]);
        assert_eq!(plan_of.last, 13);
        assert_eq!(ids(&changes), ["a", "b", "c"]);
        let taken = plan(&[Change::Add(entry("a"))], &stored, 9);
        assert!(matches!(taken, Err(IndexError::IdTaken { .. })));
    }
}
