//! A snapshot shows one moment, whatever happens afterwards.

use super::documents::{Document, Maker, settings};
use super::{ALL, Place, assert_clean, candidates, everything, now, unnumbered};
use lookalike_index::backend::{Backend, Change, bucket_keys};
use lookalike_index::entry::DocumentNumber;
use lookalike_index::settings::{IndexSettings, StoredContent};
use std::sync::atomic::{AtomicBool, Ordering};

/// Creates the documents `name-from`, `name-from+1`, …
fn batch(maker: &mut Maker, name: &str, from: u64, count: u64) -> Vec<Document> {
    (from..from + count).map(|i| maker.document(&format!("{name}-{i}"), i % 5)).collect()
}

fn put(backend: &dyn Backend, documents: &[Document]) {
    let changes: Vec<Change<'_>> = documents.iter().map(Document::put).collect();
    backend.write(&changes).unwrap();
}

/// Returns the bucket keys of the first document with shingles.
fn keys(settings: &IndexSettings, documents: &[Document]) -> Vec<u64> {
    let mut keys = Vec::new();
    let document = documents.iter().find(|document| !document.signature.is_empty()).unwrap();
    bucket_keys(settings, &document.signature, &mut keys);
    keys
}

/// A snapshot does not show later changes, whichever method reads it.
pub fn a_snapshot_sees_one_moment<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Texts);
    let place = fresh();
    let backend = place.create(&settings);
    let mut maker = Maker::new(&settings, 5);
    let first = batch(&mut maker, "a", 0, 30);
    put(&*backend, &first);
    let keys = keys(&settings, &first);
    let mut snapshot = backend.snapshot().unwrap();
    let expected = candidates(&mut *backend.snapshot().unwrap(), &keys);
    let records = now(&*backend);
    let version = snapshot.version();

    put(&*backend, &batch(&mut maker, "a", 10, 10));
    put(&*backend, &batch(&mut maker, "b", 0, 30));
    backend.write(&[Change::Remove("a-0"), Change::Remove("a-1")]).unwrap();
    assert_eq!(snapshot.version(), version);
    assert_eq!(everything(&mut *snapshot), records);
    assert_eq!(candidates(&mut *snapshot, &keys), expected);
    assert_eq!(snapshot.number_of("a-0").unwrap(), Some(records[0].number));
    assert_eq!(snapshot.number_of("b-0").unwrap(), None);
    let mut later = backend.snapshot().unwrap();
    assert_eq!(later.number_of("a-0").unwrap(), None);
    assert_eq!(later.len(), 58);
}

/// Compaction and repair do not change an open snapshot.
pub fn a_snapshot_outlives_compacting<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Sets);
    let place = fresh();
    let backend = place.create(&settings);
    let mut maker = Maker::new(&settings, 6);
    let mut first = Vec::new();
    for round in 0..6 {
        first = batch(&mut maker, "a", 20 * round, 20);
        put(&*backend, &first);
    }
    let keys = keys(&settings, &first);
    let mut snapshot = backend.snapshot().unwrap();
    let (records, expected) =
        (now(&*backend), candidates(&mut *backend.snapshot().unwrap(), &keys));
    for round in 0..5 {
        backend.write(&[Change::Remove(&format!("a-{round}"))]).unwrap();
        backend.compact(-1).unwrap();
    }
    backend.repair().unwrap();
    assert_eq!(candidates(&mut *snapshot, &keys), expected);
    assert_eq!(everything(&mut *snapshot), records);
    assert_eq!(snapshot.number_of("a-0").unwrap(), Some(records[0].number));
    drop(snapshot);
    assert_eq!(now(&*backend).len(), records.len() - 5);
}

/// The version changes with every change of the documents, and only then.
pub fn versions_tell_changes<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Sets);
    let place = fresh();
    let backend = place.create(&settings);
    let document = Maker::new(&settings, 1).document("a", 1);
    let version = |backend: &dyn Backend| backend.snapshot().unwrap().version();
    let mut seen = vec![version(&*backend)];
    let steps = [document.add(), document.put(), Change::Remove("a"), document.add()];
    for step in steps {
        backend.write(&[step]).unwrap();
        let version = version(&*backend);
        assert!(!seen.contains(&version), "{version} again");
        seen.push(version);
    }
    backend.write(&[]).unwrap();
    backend.write(&[Change::Remove("b")]).unwrap();
    assert!(backend.write(&[document.add()]).is_err());
    assert_eq!(Some(&version(&*backend)), seen.last());
    let backend = place.reopen(backend);
    backend.write(&[document.put()]).unwrap();
    assert!(!seen.contains(&version(&*backend)));
}

/// The next snapshot of another handle shows the new documents.
pub fn other_readers_see_what_was_written<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Sets);
    let place = fresh();
    let backend = place.create(&settings);
    let Some(reader) = place.reader() else { return };
    assert_eq!(*reader.settings(), settings);
    let mut maker = Maker::new(&settings, 8);
    for round in 0..30 {
        let documents = batch(&mut maker, "a", round * 7, 10);
        put(&*backend, &documents);
        if round % 5 == 4 {
            backend.write(&[Change::Remove(&documents[3].id)]).unwrap();
        }
        if round % 11 == 7 {
            backend.compact(10).unwrap();
        }
        let keys = keys(&settings, &documents);
        let (mut snapshot, mut read_snapshot) =
            (backend.snapshot().unwrap(), reader.snapshot().unwrap());
        assert_eq!(snapshot.version(), read_snapshot.version());
        assert_eq!(candidates(&mut *snapshot, &keys), candidates(&mut *read_snapshot, &keys));
        assert_eq!(snapshot.number_of("a-3").unwrap(), read_snapshot.number_of("a-3").unwrap());
        assert_eq!(everything(&mut *snapshot), everything(&mut *read_snapshot));
    }
    assert!(reader.write(&[Change::Remove("a-1")]).is_err());
    assert_clean(&*reader);
    assert_eq!(now(&*backend), now(&*reader));
}

/// Readers of the same handle and of another one see complete batches only.
pub fn readers_go_on_beside_a_writer<P: Place>(fresh: impl Fn() -> P) {
    const EACH: u64 = 7;
    let settings = settings(StoredContent::Sets);
    let place = fresh();
    let backend = place.create(&settings);
    let other = place.reader();
    let done = AtomicBool::new(false);
    let watch = |backend: &dyn Backend| {
        let mut looks = 0;
        while !done.load(Ordering::Acquire) || looks == 0 {
            let mut snapshot = backend.snapshot().unwrap();
            let records = everything(&mut *snapshot);
            assert_eq!(records.len() as u64 % EACH, 0, "half a batch is seen");
            for record in records.iter().rev().take(3) {
                assert_eq!(snapshot.number_of(&record.id).unwrap(), Some(record.number));
                let mut keys = Vec::new();
                bucket_keys(&settings, &record.signature, &mut keys);
                let found = candidates(&mut *snapshot, &keys);
                assert!(keys.is_empty() || found.contains(&record.id));
            }
            looks += 1;
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| watch(&*backend));
        }
        if let Some(other) = &other {
            scope.spawn(|| watch(&**other));
        }
        let mut maker = Maker::new(&settings, 3);
        for round in 0..60 {
            put(&*backend, &batch(&mut maker, "a", round * EACH, EACH));
            if round % 20 == 13 {
                backend.compact(-5000).unwrap();
            }
        }
        done.store(true, Ordering::Release);
    });
    assert_eq!(now(&*backend).len(), 60 * EACH as usize);
    assert_clean(&*backend);
}

/// Several threads may write. Each call is atomic.
pub fn writers_from_several_threads_take_turns<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Sets);
    let place = fresh();
    let backend = place.create(&settings);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (backend, settings) = (&backend, &settings);
            scope.spawn(move || {
                let mut maker = Maker::new(settings, thread);
                for round in 0..10 {
                    put(&**backend, &batch(&mut maker, &format!("t{thread}"), round * 3, 5));
                }
            });
        }
    });
    let backend = place.reopen(backend);
    assert_eq!(now(&*backend).len(), 4 * 32);
    assert_clean(&*backend);
}

/// A backup made during writes is a complete index of one moment.
pub fn a_backup_is_the_index_at_one_moment<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Texts);
    let place = fresh();
    let backend = place.create(&settings);
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("copy");
    let mut maker = Maker::new(&settings, 4);
    put(&*backend, &batch(&mut maker, "a", 0, 200));
    backend.write(&[Change::Remove("a-7")]).unwrap();
    let before = now(&*backend);
    let mut keys = Vec::new();
    bucket_keys(&settings, &before[0].signature, &mut keys);
    let expected = candidates(&mut *backend.snapshot().unwrap(), &keys);
    let result = backend.backup(&to);
    put(&*backend, &batch(&mut maker, "b", 0, 20));
    let Some(copy) = result.is_ok().then(|| place.restored(&to)).flatten() else { return };
    assert!(backend.backup(&to).is_err(), "nothing is overwritten");
    assert_clean(&*copy);
    assert_eq!(unnumbered(now(&*copy)), unnumbered(before));
    assert_eq!(candidates(&mut *copy.snapshot().unwrap(), &keys), expected);
    put(&*copy, &batch(&mut maker, "c", 0, 20));
    assert_eq!(now(&*copy).len(), 219);
    assert_eq!(now(&*backend).len(), 219);

    // Makes backups while another thread writes.
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut maker = Maker::new(&settings, 40);
            let mut round = 0;
            while !done.load(Ordering::Acquire) || round == 0 {
                put(&*backend, &batch(&mut maker, "d", round * 11, 11));
                round += 1;
            }
        });
        for copy in 0..4 {
            let to = folder.path().join(format!("copy-{copy}"));
            backend.backup(&to).unwrap();
            let copy = place.restored(&to).unwrap();
            assert_eq!((now(&*copy).len() - 219) % 11, 0);
            assert_clean(&*copy);
        }
        done.store(true, Ordering::Release);
        writer.join().unwrap();
    });
    let mut snapshot = backend.snapshot().unwrap();
    assert_eq!(snapshot.scan(DocumentNumber(0), 3, ALL, &mut |_| Ok(())).unwrap(), 3);
}
