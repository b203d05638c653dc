//! Writes: valid batches, and batches that an index refuses.

use super::documents::{Document, Maker, settings};
use super::{ALL, Place, assert_clean, candidates, everything, now};
use lookalike_index::IndexError;
use lookalike_index::backend::{Change, ChangeOutcome, Snapshot, bucket_keys};
use lookalike_index::entry::{DocumentNumber, IndexRecord, MAX_ID_BYTES, RecordFields};
use lookalike_index::settings::StoredContent;

/// An id may be any text without NUL.
pub fn ids_of_any_kind<P: Place>(fresh: impl Fn() -> P) {
    let long = "ü".repeat(5120);
    let longest = "x".repeat(MAX_ID_BYTES);
    let ids = [
        "/a/b/../c",
        "a\nb\r\n",
        "'; DROP TABLE docs; --",
        "\"",
        "%_\\",
        " ",
        "  a  ",
        "A",
        "a",
        "é",
        "e\u{301}",
        "日本語",
        "🦊",
        "\u{feff}",
        "\u{202e}x",
        "\t",
        "\u{1}",
        "NULL",
        "0",
        "00",
        "1e3",
        "null",
        &long,
        &longest,
        &longest[1..],
    ];
    let settings = settings(StoredContent::Sets);
    let place = fresh();
    let backend = place.create(&settings);
    let mut maker = Maker::new(&settings, 2);
    let documents: Vec<Document> = ids.iter().map(|id| maker.document("x", 1).named(id)).collect();
    for document in &documents {
        assert_eq!(backend.write(&[document.add()]).unwrap(), [ChangeOutcome::Added]);
    }
    let backend = place.reopen(backend);
    let records = now(&*backend);
    assert_eq!(records.iter().map(|record| &record.id[..]).collect::<Vec<_>>(), ids);
    let mut snapshot = backend.snapshot().unwrap();
    for record in &records {
        assert_eq!(snapshot.number_of(&record.id).unwrap(), Some(record.number));
    }
    for absent in ["b", "E", "", "'", &longest[2..]] {
        assert_eq!(snapshot.number_of(absent).unwrap(), None, "{absent:?}");
    }
    drop(snapshot);
    for id in ids {
        assert_eq!(backend.write(&[Change::Remove(id)]).unwrap(), [ChangeOutcome::Removed]);
    }
    assert!(now(&*backend).is_empty());
    assert_clean(&*backend);
}

/// Documents without shingles are stored and counted, and match nothing.
pub fn documents_without_shingles<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Sets);
    let place = fresh();
    let backend = place.create(&settings);
    let mut maker = Maker::new(&settings, 2);
    let empty = maker.of_set("empty", Vec::new());
    let full = maker.of_set("full", vec![1, 2, 3]);
    backend.write(&[empty.add(), full.add(), empty.clone().named("empty 2").add()]).unwrap();
    assert_eq!(backend.stats().unwrap().without_shingles, 2);
    let mut keys = Vec::new();
    bucket_keys(&settings, &empty.signature, &mut keys);
    assert!(candidates(&mut *backend.snapshot().unwrap(), &keys).is_empty());
    bucket_keys(&settings, &full.signature, &mut keys);
    assert_eq!(candidates(&mut *backend.snapshot().unwrap(), &keys), ["full"]);
    backend.write(&[full.clone().named("empty").put()]).unwrap();
    assert_eq!(candidates(&mut *backend.snapshot().unwrap(), &keys), ["full", "empty"]);
    backend.write(&[Change::Remove("empty 2")]).unwrap();
    assert_eq!(backend.stats().unwrap().without_shingles, 0);
    assert_clean(&*backend);
}

/// The changes of one batch take effect in order.
pub fn one_id_several_times_in_a_batch<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Sets);
    let place = fresh();
    let backend = place.create(&settings);
    let mut maker = Maker::new(&settings, 2);
    let [one, two, three] = [1, 2, 3].map(|n| maker.of_set("a", vec![n, n + 10]));
    let other = maker.of_set("b", vec![5]);
    let steps = [
        Change::Remove("a"),
        one.add(),
        two.put(),
        Change::Remove("a"),
        Change::Remove("a"),
        three.add(),
        other.put(),
        two.put(),
    ];
    let expected = [
        ChangeOutcome::Absent,
        ChangeOutcome::Added,
        ChangeOutcome::Replaced,
        ChangeOutcome::Removed,
        ChangeOutcome::Absent,
        ChangeOutcome::Added,
        ChangeOutcome::Added,
        ChangeOutcome::Replaced,
    ];
    assert_eq!(backend.write(&steps).unwrap(), expected);
    let records = now(&*backend);
    assert_eq!(records.iter().map(|record| &record.id[..]).collect::<Vec<_>>(), ["b", "a"]);
    assert_eq!(records[1].fingerprint, two.fingerprint);
    let outcomes = backend.write(&[one.put(), Change::Remove("a"), one.put(), one.put()]).unwrap();
    assert_eq!(
        outcomes,
        [
            ChangeOutcome::Replaced,
            ChangeOutcome::Removed,
            ChangeOutcome::Added,
            ChangeOutcome::Replaced
        ]
    );
    assert_eq!(now(&*backend).len(), 2);
    let add_again = [Change::Remove("b"), other.add(), other.add()];
    assert!(matches!(backend.write(&add_again), Err(IndexError::IdTaken { .. })));
    assert_eq!(now(&*backend).len(), 2);
    let backend = place.reopen(backend);
    assert!(backend.snapshot().unwrap().number_of("a").unwrap().is_some());
    assert_clean(&*backend);
}

/// A batch with a used id changes nothing.
pub fn a_taken_id_changes_nothing<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Sets);
    let place = fresh();
    let backend = place.create(&settings);
    let mut maker = Maker::new(&settings, 2);
    let documents: Vec<_> = (0..20).map(|i| maker.document(&format!("d{i}"), i)).collect();
    backend.write(&[documents[7].add(), documents[8].add()]).unwrap();
    let before = now(&*backend);
    let mut changes: Vec<Change<'_>> = vec![Change::Remove("d8"), documents[8].put()];
    changes.extend(documents.iter().filter(|d| d.id != "d8").map(Document::add));
    match backend.write(&changes) {
        Err(IndexError::IdTaken { id }) => assert_eq!(id, "d7"),
        other => panic!("{other:?}"),
    }
    assert_eq!(now(&*backend), before);
    let mut snapshot = backend.snapshot().unwrap();
    assert_eq!(snapshot.number_of("d1").unwrap(), None);
    let mut keys = Vec::new();
    for document in &documents {
        bucket_keys(&settings, &document.signature, &mut keys);
        let found = candidates(&mut *snapshot, &keys);
        assert!(found.iter().all(|id| id == "d7" || id == "d8"), "{found:?}");
    }
    drop(snapshot);
    // The index and the ids of the refused batch can be used afterwards.
    let rest = documents.iter().filter(|d| !["d7", "d8"].contains(&&d.id[..]));
    let rest: Vec<Change<'_>> = rest.map(Document::add).collect();
    backend.write(&rest).unwrap();
    let backend = place.reopen(backend);
    assert_eq!(now(&*backend).len(), 20);
    assert_clean(&*backend);
}

/// An invalid document is refused together with its batch.
pub fn what_cannot_be_stored_changes_nothing<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Sets);
    let place = fresh();
    let backend = place.create(&settings);
    let mut maker = Maker::new(&settings, 2);
    let good = maker.of_set("good", vec![1, 2]);
    let mut short = good.clone().named("short");
    short.signature.pop();
    let too_long = "x".repeat(MAX_ID_BYTES + 1);
    let bad = [good.clone().named(""), good.clone().named("a\0b"), good.clone().named(&too_long)];
    for bad in bad.iter().chain([&short]) {
        let result = backend.write(&[good.add(), bad.put()]);
        assert!(matches!(result, Err(IndexError::Document { .. })), "{result:?}");
        assert!(now(&*backend).is_empty());
    }
    assert_eq!(backend.write(&[good.add()]).unwrap(), [ChangeOutcome::Added]);
}

/// A number is never reused for another document.
pub fn numbers_are_never_used_again<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Sets);
    let place = fresh();
    let mut backend = place.create(&settings);
    let document = Maker::new(&settings, 2).document("a", 1);
    let mut last = None;
    for round in 0..6 {
        backend.write(&[document.put()]).unwrap();
        let number = backend.snapshot().unwrap().number_of("a").unwrap();
        assert!(number > last, "{number:?} after {last:?}");
        last = number;
        backend.write(&[Change::Remove("a")]).unwrap();
        match round % 3 {
            0 => backend = place.reopen(backend),
            1 => backend.compact(0).unwrap(),
            _ => backend.repair().unwrap(),
        }
    }
}

/// Only compaction removes expired documents.
pub fn expired_documents_stay_until_compacting<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Texts);
    let place = fresh();
    let backend = place.create(&settings);
    let mut maker = Maker::new(&settings, 2);
    let times = [None, Some(10), Some(11), Some(i64::MIN), Some(i64::MAX)];
    for (i, expires) in times.into_iter().enumerate() {
        let mut document = maker.of_set(&i.to_string(), vec![1, 2, 3]);
        document.expires = expires;
        backend.write(&[document.add()]).unwrap();
    }
    assert_eq!(now(&*backend).len(), 5);
    backend.compact(10).unwrap();
    let left: Vec<String> = now(&*backend).into_iter().map(|record| record.id).collect();
    assert_eq!(left, ["0", "2", "4"]);
    let backend = place.reopen(backend);
    let mut keys = Vec::new();
    bucket_keys(&settings, &maker.of_set("x", vec![1, 2, 3]).signature, &mut keys);
    assert_eq!(candidates(&mut *backend.snapshot().unwrap(), &keys), ["0", "2", "4"]);
    assert_eq!(backend.write(&[Change::Remove("1")]).unwrap(), [ChangeOutcome::Absent]);
    assert_eq!(backend.stats().unwrap().documents, 3);
    assert_clean(&*backend);
}

/// Adding a document removes an expired one with the same id.
pub fn an_expired_id_is_free<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Texts);
    let place = fresh();
    let backend = place.create(&settings);
    let mut maker = Maker::new(&settings, 2);
    let at = |maker: &mut Maker, added, expires| {
        let mut document = maker.of_set("x", vec![added as u64, 2, 3]);
        (document.added, document.expires) = (added, expires);
        document
    };
    let first = at(&mut maker, 5, Some(10));
    assert_eq!(backend.write(&[first.add()]).unwrap(), [ChangeOutcome::Added]);
    let early = at(&mut maker, 9, None);
    let refused = backend.write(&[early.add()]);
    assert!(matches!(refused, Err(IndexError::IdTaken { .. })), "{refused:?}");
    let second = at(&mut maker, 10, Some(20));
    assert_eq!(backend.write(&[second.add()]).unwrap(), [ChangeOutcome::Added]);
    let (third, fourth) = (at(&mut maker, 20, Some(21)), at(&mut maker, 21, None));
    let outcomes = backend.write(&[third.put(), fourth.add(), Change::Remove("x")]);
    assert_eq!(
        outcomes.unwrap(),
        [ChangeOutcome::Added, ChangeOutcome::Added, ChangeOutcome::Removed]
    );
    assert!(now(&*backend).is_empty());
    assert_clean(&*backend);
}

/// Pages of any size give the same documents as one scan. An error of `each` ends the scan.
pub fn scanning_goes_page_by_page<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Texts);
    let place = fresh();
    let backend = place.create(&settings);
    let mut maker = Maker::new(&settings, 2);
    let documents: Vec<_> = (0..50).map(|i| maker.document(&format!("d{i}"), i)).collect();
    let changes: Vec<Change<'_>> = documents.iter().map(Document::add).collect();
    backend.write(&changes).unwrap();
    let odd: Vec<String> = (0..50).step_by(3).map(|i| format!("d{i}")).collect();
    let removals: Vec<Change<'_>> = odd.iter().map(|id| Change::Remove(id)).collect();
    backend.write(&removals).unwrap();
    let mut snapshot = backend.snapshot().unwrap();
    let all = everything(&mut *snapshot);
    for most in [1, 2, 7, 33, 34] {
        let (mut from, mut seen) = (DocumentNumber(0), Vec::<IndexRecord>::new());
        loop {
            let count = snapshot.scan(from, most, ALL, &mut |record| {
                seen.push(record.clone());
                Ok(())
            });
            if count.unwrap() == 0 {
                break;
            }
            from = seen.last().map_or(DocumentNumber(0), |record| record.number.next());
        }
        assert_eq!(seen, all);
    }
    assert_eq!(snapshot.scan(DocumentNumber(0), 0, ALL, &mut |_| Ok(())).unwrap(), 0);
    assert_eq!(snapshot.scan(DocumentNumber(u64::MAX), 5, ALL, &mut |_| Ok(())).unwrap(), 0);
    let mut count = 0;
    let ended = snapshot.scan(DocumentNumber(0), 9, ALL, &mut |_| {
        count += 1;
        Err(IndexError::NoSets { what: "test" })
    });
    assert!(matches!(ended, Err(IndexError::NoSets { .. })));
    assert_eq!(count, 1);
    errors_of_another_kind_end_the_reading(&mut *snapshot);
    assert_eq!(everything(&mut *snapshot), all, "it goes on as before");
}

/// An error type that the index does not define.
#[derive(Debug, PartialEq)]
pub(super) enum Full {
    At(u64),
    Index,
}

impl From<IndexError> for Full {
    fn from(_: IndexError) -> Self {
        Self::Index
    }
}

fn errors_of_another_kind_end_the_reading(snapshot: &mut dyn Snapshot) {
    let mut numbers = Vec::new();
    let mut push = |record: &IndexRecord| {
        numbers.push(record.number);
        Ok::<_, Full>(())
    };
    snapshot.try_scan(DocumentNumber(0), 9, ALL, &mut push).unwrap();
    let mut seen = 0;
    let mut second = |record: &IndexRecord| {
        seen += 1;
        if record.number == numbers[1] { Err(Full::At(record.number.0)) } else { Ok(()) }
    };
    assert_eq!(
        snapshot.try_scan(DocumentNumber(0), 9, ALL, &mut second),
        Err(Full::At(numbers[1].0))
    );
    assert_eq!(snapshot.try_records(&numbers, ALL, &mut second), Err(Full::At(numbers[1].0)));
    assert_eq!(seen, 4);
}

/// Records contain only the requested fields.
pub fn only_what_is_wanted_is_read<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Texts);
    let place = fresh();
    let backend = place.create(&settings);
    let mut document = Maker::new(&settings, 2).of_set("a", vec![1, 2]);
    "what it says".clone_into(&mut document.text);
    backend.write(&[document.add()]).unwrap();
    let mut snapshot = backend.snapshot().unwrap();
    let number = snapshot.number_of("a").unwrap().unwrap();
    for bits in 0..16 {
        let wanted = RecordFields {
            signature: bits & 1 != 0,
            set: bits & 2 != 0,
            metadata: bits & 4 != 0,
            text: bits & 8 != 0,
        };
        let mut records = Vec::new();
        let give = &mut |record: &IndexRecord| {
            records.push(record.clone());
            Ok(())
        };
        snapshot
            .records(&[DocumentNumber(0), number, number.next(), DocumentNumber::MAX], wanted, give)
            .unwrap();
        assert_eq!(snapshot.scan(number, 1, wanted, give).unwrap(), 1);
        assert_eq!(records.len(), 2);
        for record in records {
            assert_eq!((&record.id[..], record.number), ("a", number));
            assert_eq!(record.fingerprint, document.fingerprint);
            assert_eq!(record.signature.is_empty(), !wanted.signature);
            assert_eq!(record.set, wanted.set.then(|| document.code.clone()));
            assert_eq!(record.metadata.is_empty(), !wanted.metadata);
            assert_eq!(record.text, wanted.text.then(|| document.text.clone()));
        }
    }
}

/// One bucket may hold any number of documents.
pub fn many_documents_of_one_bucket<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Signatures);
    let place = fresh();
    let backend = place.create(&settings);
    let same = Maker::new(&settings, 2).of_set("same", vec![4, 5]);
    let documents: Vec<_> = (0..3000).map(|i| same.clone().named(&format!("d{i}"))).collect();
    for part in documents.chunks(700) {
        backend.write(&part.iter().map(Document::add).collect::<Vec<_>>()).unwrap();
    }
    let mut keys = Vec::new();
    bucket_keys(&settings, &same.signature, &mut keys);
    assert_eq!(candidates(&mut *backend.snapshot().unwrap(), &keys).len(), 3000);
    backend.compact(-5000).unwrap();
    let backend = place.reopen(backend);
    assert_eq!(candidates(&mut *backend.snapshot().unwrap(), &keys[2..3]).len(), 3000);
    let removals: Vec<_> = documents.iter().take(2990).map(|d| Change::Remove(&d.id)).collect();
    backend.write(&removals).unwrap();
    assert_eq!(candidates(&mut *backend.snapshot().unwrap(), &keys).len(), 10);
    assert_clean(&*backend);
}

/// An empty index finds nothing.
pub fn an_empty_index_answers<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Sets);
    let place = fresh();
    let backend = place.create(&settings);
    assert!(!backend.name().is_empty());
    backend.compact(0).unwrap();
    backend.repair().unwrap();
    let backend = place.reopen(backend);
    assert_clean(&*backend);
    assert!(now(&*backend).is_empty());
    assert_eq!(backend.stats().unwrap().documents, 0);
    let mut snapshot = backend.snapshot().unwrap();
    assert_eq!(snapshot.number_of("a").unwrap(), None);
    assert!(candidates(&mut *snapshot, &[0, 1, u64::MAX]).is_empty());
}
