//! Queries.

use super::documents::{Document, Maker, settings};
use super::{Place, candidates};
use lookalike_core::hash::mix64;
use lookalike_index::backend::bucket_keys;
use lookalike_index::entry::RecordFields;
use lookalike_index::filter::MetadataFilter;
use lookalike_index::query::{Match, MatchSimilarity, QueryBuffers, QueryRequest, query};
use lookalike_index::query_by_id::query_stored;
use lookalike_index::settings::StoredContent;

/// Compares documents of a large bucket: 3,000 versions of a page, a third of them copies and a
/// third with shingles of their own. Separate comparisons give the same results. All queries share
/// their buffers.
pub fn large_groups_are_verified<P: Place>(fresh: impl Fn() -> P) {
    let settings = settings(StoredContent::Sets);
    let place = fresh();
    let backend = place.create(&settings);
    let mut maker = Maker::new(&settings, 5);
    let documents: Vec<_> = (0..3000u64)
        .map(|i| {
            let own = if i % 3 == 0 { 0 } else { i % 20 };
            let kind = if i % 3 == 1 { i } else { i % 7 };
            let set = (0..40).map(|j| if j < own { mix64(kind * 100 + j) } else { mix64(j) });
            maker.of_set(&format!("d{i}"), set.collect())
        })
        .collect();
    backend.write(&documents.iter().map(Document::add).collect::<Vec<_>>()).unwrap();
    let (mut snapshot, mut scratch) = (backend.snapshot().unwrap(), QueryBuffers::default());
    let (mut keys, mut all) = (Vec::new(), 0);
    for probe in documents.iter().step_by(499) {
        bucket_keys(&settings, &probe.signature, &mut keys);
        let among = candidates(&mut *snapshot, &keys);
        let except = snapshot.number_of(&probe.id).unwrap();
        let (id, expires) = (&probe.id, probe.expires);
        for filters in [vec![], vec!["n<500".parse::<MetadataFilter>().unwrap()]] {
            let mut expected: Vec<(usize, &str)> = documents
                .iter()
                .filter(|document| among.contains(&document.id) && document.id != probe.id)
                .filter(|document| document.expires.is_none_or(|expires| expires > 30))
                .filter(|document| filters.iter().all(|one| one.matches(&document.metadata)))
                .map(|document| (shared(probe, document), document.id.as_str()))
                .filter(|(shared, _)| *shared as f64 / (80 - shared) as f64 >= 0.7)
                .collect();
            expected.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
            all += expected.len();
            for top in [None, Some(5)] {
                let question = QueryRequest { except, ..question(top, &filters) };
                let probe = probe.query_document();
                let answer = query(&mut *snapshot, &settings, &probe, &question, &mut scratch);
                let answer = answer.unwrap();
                assert_eq!(answer.found, expected.len() as u64);
                let got: Vec<(usize, &str)> = answer.matches.iter().map(of).collect();
                assert_eq!(got, expected[..top.unwrap_or(expected.len()).min(expected.len())]);
                let question = QueryRequest { except: None, ..question };
                let found =
                    query_stored(&mut *snapshot, &settings, id, &question, &mut scratch).unwrap();
                if expires.is_some_and(|expires| expires <= 30) {
                    assert!(found.is_none());
                } else {
                    let (stored, repeated_answer) = found.unwrap();
                    assert_eq!(
                        (stored.shingles(), repeated_answer),
                        (Some(probe.set.len()), answer)
                    );
                }
            }
        }
    }
    assert!(all > 3000, "{all}");
    let question = question(None, &[]);
    let missing = query_stored(&mut *snapshot, &settings, "no such", &question, &mut scratch);
    assert!(missing.unwrap().is_none());
}

fn question(top: Option<usize>, filters: &[MetadataFilter]) -> QueryRequest<'_> {
    QueryRequest {
        threshold: 0.7,
        top,
        nearest: None,
        filters,
        now: 30,
        except: None,
        wanted: RecordFields::default(),
    }
}

/// Returns the number of shared shingles.
fn shared(a: &Document, b: &Document) -> usize {
    a.set.iter().filter(|hash| b.set.contains(hash)).count()
}

fn of(one: &Match) -> (usize, &str) {
    let MatchSimilarity::Exact(overlap) = one.similarity else { panic!("{one:?}") };
    (overlap.intersection as usize, &one.record.id)
}
