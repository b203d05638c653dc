//! Searches for the nearest documents.

use super::Place;
use super::documents::{Document, Maker};
use lookalike_core::hash::mix64;
use lookalike_core::params::{Params, ParamsBuilder};
use lookalike_index::backend::{Backend, Change, Snapshot};
use lookalike_index::compact::CompactSignatures;
use lookalike_index::entry::RecordFields;
use lookalike_index::filter::MetadataFilter;
use lookalike_index::nearest::{CERTAINTY, NearestRequest, compared_at_most};
use lookalike_index::query::{MatchSimilarity, QueryBuffers, QueryRequest, QueryResult, query};
use lookalike_index::query_by_id::query_stored;
use lookalike_index::settings::{IndexSettings, StoredContent};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// Settings for a high threshold, whose bands find nothing of low similarity.
fn settings(store: StoredContent) -> IndexSettings {
    let builder =
        ParamsBuilder { threshold: 0.95, num_hashes: Some(126), ..ParamsBuilder::default() };
    IndexSettings::new(&Params::new(&builder).unwrap(), "", store).unwrap()
}

/// The parameters of queries to one index.
struct Asker<'a> {
    settings: &'a IndexSettings,
    signatures: &'a CompactSignatures,
    filters: &'a [MetadataFilter],
    count: usize,
}

impl Asker<'_> {
    fn question(&self) -> QueryRequest<'_> {
        let count = NonZeroUsize::new(self.count).unwrap();
        QueryRequest {
            threshold: 0.95,
            top: Some(1),
            nearest: Some(NearestRequest { count, signatures: self.signatures }),
            filters: self.filters,
            now: 30,
            except: None,
            wanted: RecordFields::default(),
        }
    }

    fn ask(&self, snapshot: &mut dyn Snapshot, probe: &Document) -> QueryResult {
        let (question, probe) = (self.question(), probe.query_document());
        query(snapshot, self.settings, &probe, &question, &mut QueryBuffers::default()).unwrap()
    }
}

/// The number of shared shingles, the number of shingles of either document, and the id. The two
/// numbers order matches as their similarity does.
type Ranked = (u64, u64, String);

fn ranked(answer: &QueryResult) -> Vec<Ranked> {
    let one = |found: &lookalike_index::query::Match| {
        let MatchSimilarity::Exact(overlap) = found.similarity else { panic!("{found:?}") };
        (overlap.intersection, overlap.union(), found.record.id.clone())
    };
    answer.matches.iter().map(one).collect()
}

/// Ranks all documents by comparing each with the query.
fn by_comparing_all<'a>(
    documents: impl Iterator<Item = &'a Document>,
    probe: &Document,
    filters: &[MetadataFilter],
    count: usize,
) -> Vec<Ranked> {
    let mut all: Vec<Ranked> = documents
        .filter(|document| document.expires.is_none_or(|expires| expires > 30))
        .filter(|document| filters.iter().all(|filter| filter.matches(&document.metadata)))
        .map(|document| {
            let shared = document.set.iter().filter(|hash| probe.set.contains(hash)).count();
            let either = document.set.len() + probe.set.len() - shared;
            (shared as u64, either as u64, document.id.clone())
        })
        .filter(|(shared, ..)| *shared > 0)
        .collect();
    all.sort_by(|a, b| (b.0 * a.1).cmp(&(a.0 * b.1)).then_with(|| a.2.cmp(&b.2)));
    all.truncate(count);
    all
}

/// Creates a document with some of the 40 shingles of a family.
fn member(maker: &mut Maker, id: &str, family: u64) -> Document {
    let (of_family, own) = (maker.below(41), maker.below(1 << 40));
    let set = (0..40).map(|i| mix64(if i < of_family { family * 1000 + i } else { own + i }));
    maker.of_set(id, set.collect())
}

/// After each change, every snapshot of a small index finds the same nearest documents as a
/// comparison of all.
pub fn the_nearest_are_those_of_comparing_all<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Sets);
    let place = fresh();
    let mut backend = place.create(&settings);
    let mut signatures = CompactSignatures::default();
    let mut maker = Maker::new(&settings, 11);
    let mut documents = BTreeMap::new();
    let mut before: Option<(Box<dyn Snapshot>, BTreeMap<String, Document>)> = None;
    for round in 0..6u64 {
        for part in 0..3u64 {
            let ids = (0..25).map(|i| format!("d{}", (round * 40 + part * 20 + i) % 200));
            let changed: Vec<Document> =
                ids.map(|id| member(&mut maker, &id, (round + part) % 4)).collect();
            let mut changes: Vec<Change<'_>> = changed.iter().map(Document::put).collect();
            let removed_id = format!("d{}", maker.below(200));
            changes.push(Change::Remove(&removed_id));
            backend.write(&changes).unwrap();
            documents.extend(changed.iter().map(|one| (one.id.clone(), one.clone())));
            documents.remove(&removed_id);
        }
        if round == 3 {
            backend.compact(0).unwrap();
        }
        if round == 4 {
            drop(before.take());
            backend = place.reopen(backend);
            signatures = CompactSignatures::default();
        }
        let mut snapshot = backend.snapshot().unwrap();
        for (family, count) in [(0, 1), (1, 7), (2, 40), (3, 1000)] {
            let probe = member(&mut maker, "probe", family);
            for filters in [vec![], vec!["n<300".parse::<MetadataFilter>().unwrap()]] {
                let asker = Asker {
                    settings: &settings,
                    signatures: &signatures,
                    filters: &filters,
                    count,
                };
                let answer = asker.ask(&mut *snapshot, &probe);
                let expected = by_comparing_all(documents.values(), &probe, &filters, count);
                assert_eq!(ranked(&answer), expected, "round {round}, family {family}");
                assert_eq!(answer.found, expected.len() as u64);
                assert!(answer.predicted_recall >= CERTAINTY);
                // The snapshot of the previous round still finds its own documents.
                if let Some((snapshot, documents)) = &mut before {
                    let answer = asker.ask(&mut **snapshot, &probe);
                    let expected = by_comparing_all(documents.values(), &probe, &filters, count);
                    assert_eq!(ranked(&answer), expected, "the one before round {round}");
                }
            }
        }
        before = Some((snapshot, documents.clone()));
    }
}

/// A document of the index does not find itself. A document without shingles finds nothing.
pub fn the_nearest_of_a_stored_document<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Sets);
    let place = fresh();
    let backend = place.create(&settings);
    let mut maker = Maker::new(&settings, 12);
    let mut documents: Vec<Document> =
        (0..50).map(|i| member(&mut maker, &format!("d{i}"), 1)).collect();
    documents.push(maker.of_set("empty", Vec::new()));
    for document in &mut documents {
        document.expires = None;
    }
    backend.write(&documents.iter().map(Document::add).collect::<Vec<_>>()).unwrap();
    let (mut snapshot, signatures) = (backend.snapshot().unwrap(), CompactSignatures::default());
    assert_eq!(signatures.bytes(), 0);
    let asker = Asker { settings: &settings, signatures: &signatures, filters: &[], count: 5 };
    let (question, mut scratch) = (asker.question(), QueryBuffers::default());
    for document in &documents {
        let id = &document.id;
        let found = query_stored(&mut *snapshot, &settings, id, &question, &mut scratch).unwrap();
        let others = documents.iter().filter(|other| other.id != *id);
        let expected = by_comparing_all(others, document, &[], 5);
        assert_eq!(ranked(&found.unwrap().1), expected);
    }
    // The 126 values of a signature take 128 bytes, and each number 8.
    assert_eq!(signatures.bytes(), 50 * (128 + 8));
}

/// In an index of signatures, the nearest documents are those with the highest estimates.
pub fn the_nearest_by_estimates<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Signatures);
    let place = fresh();
    let backend = place.create(&settings);
    let mut maker = Maker::new(&settings, 13);
    let documents: Vec<Document> =
        (0..120).map(|i| member(&mut maker, &format!("d{i:03}"), i % 3)).collect();
    backend.write(&documents.iter().map(Document::add).collect::<Vec<_>>()).unwrap();
    let (mut snapshot, signatures) = (backend.snapshot().unwrap(), CompactSignatures::default());
    for count in [1, 10, 200] {
        let asker = Asker { settings: &settings, signatures: &signatures, filters: &[], count };
        let probe = member(&mut maker, "probe", 1);
        let answer = asker.ask(&mut *snapshot, &probe);
        let mut expected: Vec<(usize, &str)> = documents
            .iter()
            .filter(|document| document.expires.is_none_or(|expires| expires > 30))
            .map(|document| {
                let pairs = document.signature.iter().zip(&probe.signature);
                (pairs.filter(|(a, b)| a == b).count(), document.id.as_str())
            })
            .filter(|(equal, _)| *equal > 0)
            .collect();
        expected.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
        expected.truncate(count);
        let got: Vec<(usize, &str)> = answer
            .matches
            .iter()
            .map(|one| ((one.similarity.value() * 126.0).round() as usize, &*one.record.id))
            .collect();
        assert_eq!(got, expected);
        assert!(answer.predicted_recall > CERTAINTY);
    }
}

/// With more documents than are compared, the answer predicts how rarely a nearest document is
/// missed.
pub fn the_nearest_of_many<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Sets);
    let place = fresh();
    let backend = place.create(&settings);
    let mut maker = Maker::new(&settings, 14);
    // 20 families of ten documents with similarities from 0.11, among documents without shared
    // shingles.
    let mut documents = Vec::new();
    for number in 0..9_000u64 {
        let (family, shared) = (number / 10, 8 + 3 * (number % 10));
        let is_member = family < 20;
        let set = (0..40u64).map(|i| {
            let of_family = is_member && i < shared;
            mix64(if of_family { family * 1000 + i } else { 1 << 32 | number << 8 | i })
        });
        documents.push(maker.of_set(&format!("d{number}"), set.collect()));
    }
    for document in &mut documents {
        document.expires = None;
    }
    for chunk in documents.chunks(3_000) {
        backend.write(&chunk.iter().map(Document::add).collect::<Vec<_>>()).unwrap();
    }
    let (mut snapshot, signatures) = (backend.snapshot().unwrap(), CompactSignatures::default());
    let (mut found, mut expected, mut early) = (0, 0, 0);
    for family in 0..20 {
        let set = (0..40).map(|i| mix64(family * 1000 + i)).collect();
        let probe = maker.of_set("probe", set);
        for count in [5, 10, 20] {
            let asker = Asker { settings: &settings, signatures: &signatures, filters: &[], count };
            let answer = asker.ask(&mut *snapshot, &probe);
            let expected_matches = by_comparing_all(documents.iter(), &probe, &[], count);
            assert!(answer.candidates <= compared_at_most(NonZeroUsize::new(count).unwrap()));
            assert_eq!(expected_matches.len(), count.min(10));
            expected += expected_matches.len();
            let got = ranked(&answer);
            found += expected_matches.iter().filter(|one| got.contains(one)).count();
            if count == 5 {
                // The fifth document has a similarity of 0.42. No unrelated document is compared.
                assert!(answer.predicted_recall >= CERTAINTY, "{answer:?}");
                early += usize::from(answer.candidates < 50);
            }
            if count == 20 {
                assert!(answer.predicted_recall < 1.0, "some were not compared");
            }
        }
    }
    assert_eq!(early, 20);
    // At similarity 0.11, 14 of 126 values are equal on average.
    assert!(found * 1000 >= expected * 995, "{found} of {expected}");
}
