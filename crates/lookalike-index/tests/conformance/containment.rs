//! An index for containment.

use super::documents::{Document, Maker};
use super::{Place, assert_clean};
use lookalike_core::hash::mix64;
use lookalike_core::params::{Measure, Params, ParamsBuilder};
use lookalike_index::backend::Change;
use lookalike_index::entry::RecordFields;
use lookalike_index::query::{MatchSimilarity, QueryBuffers, QueryRequest, query};
use lookalike_index::settings::{IndexSettings, StoredContent};

const THRESHOLD: f64 = 0.6;

fn settings() -> IndexSettings {
    let builder = ParamsBuilder {
        measure: Measure::Containment,
        threshold: THRESHOLD,
        ..ParamsBuilder::default()
    };
    IndexSettings::new(&Params::new(&builder).unwrap(), "", StoredContent::Sets).unwrap()
}

/// Creates a part of a source with some changed shingles.
fn excerpt(maker: &mut Maker, id: &str, source: u64, length: u64) -> Document {
    let (from, changed) = (maker.below(300), maker.below(5));
    let own = maker.below(1 << 40);
    let set = (from..from + length)
        .map(|i| mix64(if i % 10 < changed { own << 10 | i } else { source << 32 | i }));
    maker.of_set(id, set.collect())
}

/// Returns true if the containment of the shorter document in the longer one reaches the threshold.
fn reaches(a: &Document, b: &Document) -> bool {
    let shared = a.set.iter().filter(|hash| b.set.contains(hash)).count();
    let shorter = a.set.len().min(b.set.len());
    shorter > 0 && shared as f64 >= THRESHOLD * shorter as f64
}

/// After each change, all matches reach the threshold, and nearly all documents that reach it
/// match.
pub fn containment_is_found<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings();
    let place = fresh();
    let mut backend = place.create(&settings);
    let mut maker = Maker::new(&settings, 21);
    let mut documents: Vec<Document> = Vec::new();
    let (mut found, mut expected) = (0, 0);
    for round in 0..4u64 {
        let mut added: Vec<Document> = (0..40)
            .map(|i| {
                let length = [8, 30, 120, 600][(i % 4) as usize];
                excerpt(&mut maker, &format!("d{}", round * 30 + i), i % 5, length)
            })
            .collect();
        added.push(maker.of_set("empty", Vec::new()));
        for one in &mut added {
            one.expires = None;
        }
        documents.retain(|old| added.iter().all(|new| new.id != old.id));
        documents.extend(added.iter().cloned());
        let removed_id = documents.remove(maker.below(documents.len() as u64) as usize).id;
        let mut changes: Vec<Change<'_>> = added.iter().map(Document::put).collect();
        changes.push(Change::Remove(&removed_id));
        backend.write(&changes).unwrap();
        match round {
            1 => backend.compact(0).unwrap(),
            2 => {
                backend = place.reopen(backend);
                backend.repair().unwrap();
            }
            _ => {}
        }
        assert_clean(&*backend);
        let mut snapshot = backend.snapshot().unwrap();
        for (i, length) in [8, 50, 200, 900].into_iter().cycle().take(24).enumerate() {
            let probe = excerpt(&mut maker, "probe", i as u64 % 5, length);
            let question = QueryRequest {
                threshold: THRESHOLD,
                top: None,
                nearest: None,
                filters: &[],
                now: 0,
                except: None,
                wanted: RecordFields::default(),
            };
            let scratch = &mut QueryBuffers::default();
            let answer =
                query(&mut *snapshot, &settings, &probe.query_document(), &question, scratch);
            let answer = answer.unwrap();
            assert!((answer.predicted_recall - (1.0 - 0.4f64.powi(6))).abs() < 1e-9);
            for one in &answer.matches {
                let MatchSimilarity::Contained(overlap) = one.similarity else { panic!("{one:?}") };
                let of = documents.iter().find(|document| document.id == one.record.id).unwrap();
                let shared = of.set.iter().filter(|hash| probe.set.contains(hash)).count();
                assert_eq!(overlap.intersection, shared as u64);
                assert!(one.similarity.value() >= THRESHOLD);
            }
            let values: Vec<f64> = answer.matches.iter().map(|m| m.similarity.value()).collect();
            assert!(values.is_sorted_by(|a, b| a >= b));
            found += answer.found;
            expected +=
                documents.iter().filter(|document| reaches(document, &probe)).count() as u64;
        }
    }
    assert!(expected > 500 && found <= expected, "{found} of {expected}");
    assert!(
        found as f64 >= settings.predicted_recall(THRESHOLD) * expected as f64,
        "{found} of {expected}"
    );
}
