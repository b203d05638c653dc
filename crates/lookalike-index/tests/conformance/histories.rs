//! Random histories give the same result in each backend as in the model.

use super::documents::{Document, Maker, settings};
use super::{Place, assert_clean, candidates, everything, unnumbered};
use lookalike_index::backend::{Backend, Change, bucket_keys};
use lookalike_index::entry::DocumentNumber;
use lookalike_index::entry::RecordFields;
use lookalike_index::memory::MemoryBackend;
use lookalike_index::query::{MatchSimilarity, QueryBuffers, QueryRequest, query};
use lookalike_index::settings::StoredContent;

/// Many short histories with all kinds of changes.
pub fn histories_equal_the_model<P: Place>(fresh: impl Fn() -> P) {
    for seed in 0..12 {
        let store = [StoredContent::Sets, StoredContent::Texts, StoredContent::Signatures]
            [seed as usize % 3];
        history(&fresh(), store, seed, 40, 12);
    }
}

/// A long history, in which stored parts are merged again and again.
pub fn long_histories_equal_the_model<P: Place>(fresh: impl Fn() -> P) {
    history(&fresh(), StoredContent::Sets, 99, 200, 60);
}

/// Each kind of store keeps the documented parts of a document.
pub fn every_store_keeps_what_it_says<P: Place>(fresh: impl Fn() -> P) {
    for store in [StoredContent::Signatures, StoredContent::Sets, StoredContent::Texts] {
        let settings = settings(store);
        let place = fresh();
        let backend = place.create(&settings);
        assert_eq!(*backend.settings(), settings);
        let mut document = Maker::new(&settings, 1).document("a", 1);
        document.text = "x".repeat(100_000) + "é";
        backend.write(&[document.add()]).unwrap();
        let backend = place.reopen(backend);
        assert_eq!(*backend.settings(), settings);
        let record = super::now(&*backend).remove(0);
        assert_eq!(record.signature, document.signature);
        assert_eq!(record.fingerprint, document.fingerprint);
        assert_eq!(record.bytes, document.text.len() as u64);
        assert_eq!(record.metadata, document.metadata);
        let times = (record.added, record.modified, record.expires);
        assert_eq!(times, (document.added, document.modified, document.expires));
        assert_eq!(record.set, (store != StoredContent::Signatures).then_some(document.code));
        assert_eq!(record.text, (store == StoredContent::Texts).then_some(document.text));
    }
}

fn history<P: Place>(place: &P, store: StoredContent, seed: u64, steps: usize, ids: u64) {
    let settings = settings(store);
    let model = MemoryBackend::new(settings.clone());
    let mut backend = place.create(&settings);
    let mut maker = Maker::new(&settings, seed);
    for step in 0..steps {
        match maker.below(12) {
            0 => backend = place.reopen(backend),
            1 => {
                let now = maker.below(60) as i64;
                backend.compact(now).unwrap();
                model.compact(now).unwrap();
            }
            2 => backend.repair().unwrap(),
            _ => change(&*backend, &model, &mut maker, ids),
        }
        if step % 4 == 0 {
            assert_equal(&*backend, &model, &mut maker, ids);
        }
    }
    assert_equal(&*backend, &model, &mut maker, ids);
    assert_clean(&*backend);
    let backend = place.reopen(backend);
    assert_equal(&*backend, &model, &mut maker, ids);
    let (stats, records) = (backend.stats().unwrap(), super::now(&model));
    assert_eq!(stats.documents, records.len() as u64);
    let empty = records.iter().filter(|record| record.signature.is_empty());
    assert_eq!(stats.without_shingles, empty.count() as u64);
}

/// Writes one batch to both.
fn change(backend: &dyn Backend, model: &MemoryBackend, maker: &mut Maker, ids: u64) {
    let count = [1, 1, 3, 10, 30][maker.below(5) as usize];
    let documents: Vec<(u64, Document)> = (0..count)
        .map(|_| {
            let (id, family) = (maker.below(ids), maker.below(6));
            (maker.below(10), maker.document(&format!("d{id}"), family))
        })
        .collect();
    let changes: Vec<Change<'_>> = documents.iter().map(one_change).collect();
    match (backend.write(&changes), model.write(&changes)) {
        (Ok(outcomes), Ok(expected)) => assert_eq!(outcomes, expected),
        (Err(error), Err(expected)) => assert_eq!(error.to_string(), expected.to_string()),
        (got, expected) => panic!("{got:?} where the model has {expected:?}"),
    }
}

/// An `Add` must name an unused id, so batches with a used one are refused.
fn one_change((kind, document): &(u64, Document)) -> Change<'_> {
    match kind {
        0 => document.add(),
        1..=3 => Change::Remove(&document.id),
        _ => document.put(),
    }
}

/// Compares the documents, look-ups by id, candidates and answers of both.
fn assert_equal(backend: &dyn Backend, model: &MemoryBackend, maker: &mut Maker, ids: u64) {
    let (mut got, mut expected) = (backend.snapshot().unwrap(), model.snapshot().unwrap());
    let records = everything(&mut *got);
    for id in 0..ids {
        let id = format!("d{id}");
        let number = records.iter().find(|record| record.id == id).map(|record| record.number);
        assert_eq!(got.number_of(&id).unwrap(), number, "{id}");
    }
    assert_eq!(unnumbered(records), unnumbered(everything(&mut *expected)));
    let mut keys = Vec::new();
    for family in 0..6 {
        let probe = maker.document("probe", family);
        bucket_keys(model.settings(), &probe.signature, &mut keys);
        assert_eq!(candidates(&mut *got, &keys), candidates(&mut *expected, &keys));
        let (one, no_ids) = (keys.first().copied(), Vec::<String>::new());
        assert_eq!(
            candidates(&mut *got, one.as_slice()),
            candidates(&mut *expected, one.as_slice())
        );
        assert_eq!(candidates(&mut *got, &[]), no_ids);
        let question = QueryRequest {
            threshold: 0.5,
            top: Some(5),
            nearest: None,
            filters: &[],
            now: 30,
            except: None,
            wanted: RecordFields { metadata: true, text: true, ..RecordFields::default() },
        };
        let ask = |snapshot: &mut dyn lookalike_index::backend::Snapshot| {
            let probe = probe.query_document();
            let scratch = &mut QueryBuffers::default();
            let mut answer = query(snapshot, model.settings(), &probe, &question, scratch).unwrap();
            for one in &mut answer.matches {
                one.record.number = DocumentNumber(0);
            }
            answer
        };
        let (got, expected) = (ask(&mut *got), ask(&mut *expected));
        assert_eq!(got, expected);
        for one in &got.matches {
            assert!(model.settings().store == StoredContent::Signatures || is_right(&probe, one));
        }
    }
}

/// Checks that a match has the size of the query's set and reaches the threshold.
fn is_right(probe: &Document, one: &lookalike_index::query::Match) -> bool {
    let MatchSimilarity::Exact(overlap) = one.similarity else { return false };
    overlap.left == probe.set.len() as u64 && overlap.jaccard() >= 0.5
}
