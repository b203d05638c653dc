//! The log of decisions: what was added is there, in its order.

use super::documents::{Maker, settings};
use super::writing::Full;
use super::{Place, assert_clean};
use lookalike_index::backend::Backend;
use lookalike_index::error::IndexError;
use lookalike_index::settings::StoredContent;

/// The entries that are numbered above `after`.
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

/// The first error of a caller ends the reading and is returned; the snapshot stays usable.
pub fn errors_of_a_caller_end_the_reading_of_decisions<P: Place>(fresh: impl Fn() -> P) {
    let place = fresh();
    let backend = place.create(&settings(StoredContent::Sets));
    backend.add_decisions(&["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"]).unwrap();
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

/// Entries stay, whatever happens to documents; a copy has them.
pub fn decisions_are_kept_in_order<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Sets);
    let place = fresh();
    let backend = place.create(&settings);
    assert_eq!(decisions(&*backend, 0), [""; 0]);
    let mut early = backend.snapshot().unwrap();
    let version = early.version();
    assert_eq!(backend.add_decisions(&["{\"a\":1}", "{\"b\":\"é\\u0000\"}"]).unwrap(), 2);
    early.decisions(0, 9, &mut |_, _| panic!("a later decision")).unwrap();
    drop(early);
    assert!(backend.snapshot().unwrap().version() > version);
    backend.write(&[Maker::new(&settings, 1).document("a", 1).put()]).unwrap();
    assert_eq!(backend.add_decisions(&[]).unwrap(), 2);
    let long = "x".repeat(1_000_000);
    assert_eq!(backend.add_decisions(&[&long]).unwrap(), 3);
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
        assert!(matches!(reader.add_decisions(&["{}"]), Err(IndexError::ReadOnly { .. })));
    }
    assert_clean(&*backend);
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("copy");
    let made = backend.backup(&to).is_ok();
    if let Some(copy) = made.then(|| place.restored(&to)).flatten() {
        assert_eq!(decisions(&*copy, 0), all);
        assert_eq!(copy.add_decisions(&["{}"]).unwrap(), 4);
        assert_clean(&*copy);
    }
}
