//! The log of decisions, which returns the added entries in the order of their addition.

use super::documents::{Maker, settings};
use super::writing::Full;
use super::{Place, assert_clean};
use lookalike_index::backend::Backend;
use lookalike_index::error::IndexError;
use lookalike_index::settings::StoredContent;

/// Returns the entries with numbers above `after`.
pub fn decisions(backend: &dyn Backend, after: u64) -> Vec<String> {
    let (mut entries, mut next) = (Vec::new(), after + 1);
    let mut snapshot = backend.snapshot().unwrap();
    let each = &mut |number: u64, entry: &str| {
        assert_eq!(number, next, "ascending from 1, without gaps");
        next += 1;
        entries.push(entry.to_owned());
        Ok(())
    };
    let count = snapshot.decisions(after, usize::MAX, each).unwrap();
    assert_eq!(count, entries.len());
    entries
}

/// The first error of the callback ends the reading and is returned. The snapshot stays usable.
pub fn errors_of_a_caller_end_the_reading_of_decisions<P: Place>(fresh: impl Fn() -> P) {
    let place = fresh();
    let backend = place.create(&settings(StoredContent::Sets));
    backend.add_decisions(&["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"], None).unwrap();
    let mut snapshot = backend.snapshot().unwrap();
    for last in 1..=3 {
        let mut seen = Vec::new();
        let read = snapshot.try_decisions(0, 9, |number, _| {
            seen.push(number);
            if number == last { Err(Full::At(number)) } else { Ok(()) }
        });
        assert_eq!(read, Err(Full::At(last)));
        assert_eq!(seen, (1..=last).collect::<Vec<_>>());
    }
    let mut entries = Vec::new();
    let read = snapshot.try_decisions(1, 1, |number, entry| {
        entries.push((number, entry.to_owned()));
        Ok::<_, Full>(())
    });
    assert_eq!(read, Ok(1));
    assert_eq!(entries, [(2, "{\"b\":2}".to_owned())]);
}

/// The entries and their order survive a document write, reopening, compaction and a backup.
pub fn decisions_are_kept_in_order<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Sets);
    let place = fresh();
    let backend = place.create(&settings);
    assert_eq!(decisions(&*backend, 0), [""; 0]);
    let mut early = backend.snapshot().unwrap();
    let version = early.version();
    let first = ["{\"a\":1}", "{\"b\":\"é\\u0000\"}"];
    assert_eq!(backend.add_decisions(&first, None).unwrap(), Some(2));
    early.decisions(0, 9, &mut |_, _| panic!("a later decision")).unwrap();
    drop(early);
    assert!(backend.snapshot().unwrap().version() > version);
    backend.write(&[Maker::new(&settings, 1).document("a", 1).put()]).unwrap();
    assert_eq!(backend.add_decisions(&[], None).unwrap(), Some(2));
    let long = "x".repeat(1_000_000);
    assert_eq!(backend.add_decisions(&[&long], Some(2)).unwrap(), Some(3));
    let all = ["{\"a\":1}", "{\"b\":\"é\\u0000\"}", &long];
    let backend = place.reopen(backend);
    backend.compact(0).unwrap();
    assert_eq!(decisions(&*backend, 0), all);
    assert_eq!(decisions(&*backend, 2), all[2..]);
    assert_eq!(decisions(&*backend, u64::MAX - 1), [""; 0]);
    let mut numbers = Vec::new();
    let each = &mut |number: u64, _: &str| {
        numbers.push(number);
        Ok(())
    };
    assert_eq!(backend.snapshot().unwrap().decisions(1, 1, each).unwrap(), 1);
    assert_eq!(numbers, [2]);
    if let Some(reader) = place.reader() {
        assert_eq!(decisions(&*reader, 0), all);
        assert!(matches!(reader.add_decisions(&["{}"], None), Err(IndexError::ReadOnly { .. })));
    }
    assert_clean(&*backend);
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("copy");
    let is_backed_up = backend.backup(&to).is_ok();
    if let Some(copy) = is_backed_up.then(|| place.restored(&to)).flatten() {
        assert_eq!(decisions(&*copy, 0), all);
        assert_eq!(copy.add_decisions(&["{}"], None).unwrap(), Some(4));
        assert_clean(&*copy);
    }
}

/// A writer that has not seen the last entry adds nothing.
pub fn entries_follow_the_last_one_seen<P: Place>(fresh: impl Fn() -> P) {
    let place = fresh();
    let backend = place.create(&settings(StoredContent::Sets));
    assert_eq!(backend.add_decisions(&["{}"], Some(0)).unwrap(), Some(1));
    let version = backend.snapshot().unwrap().version();
    assert_eq!(backend.add_decisions(&["{}", "{}"], Some(0)).unwrap(), None);
    assert_eq!(decisions(&*backend, 0).len(), 1);
    assert_eq!(backend.snapshot().unwrap().version(), version);
    assert_eq!(backend.add_decisions(&["{}", "{}"], Some(1)).unwrap(), Some(3));
}

/// Removed entries are gone, and the others keep their numbers. The last entry is never removed, so
/// that no number is used again.
pub fn removed_entries_leave_their_numbers<P: Place>(fresh: impl Fn() -> P) {
    let place = fresh();
    let backend = place.create(&settings(StoredContent::Sets));
    assert_eq!(backend.remove_decisions(&[1]).unwrap(), 0);
    backend.add_decisions(&["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"], None).unwrap();
    let version = backend.snapshot().unwrap().version();
    assert_eq!(backend.remove_decisions(&[3, 1, 9]).unwrap(), 1);
    assert!(backend.snapshot().unwrap().version() > version);
    let backend = place.reopen(backend);
    let mut left = Vec::new();
    let each = &mut |number: u64, entry: &str| {
        left.push((number, entry.to_owned()));
        Ok(())
    };
    backend.snapshot().unwrap().decisions(0, 9, each).unwrap();
    assert_eq!(left, [(2, "{\"b\":2}".to_owned()), (3, "{\"c\":3}".to_owned())]);
    assert_eq!(backend.add_decisions(&["{}"], Some(3)).unwrap(), Some(4));
    assert_clean(&*backend);
}
