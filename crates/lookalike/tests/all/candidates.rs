//! Runs whose bands miss pairs on purpose. For all keep orders and groupings, the findings follow
//! from the verified pairs that share a bucket. Also tests documents that repeat an id, or change
//! between the two readings.
#![allow(clippy::unwrap_used, reason = "a test")]

use lookalike::core::band::bucket_keys;
use lookalike::core::group::{components_of_pairs, stars_of_pairs};
use lookalike::core::hash::SplitMix64;
use lookalike::core::keep::{KeepAttributes, KeepPolicy, KeepRule, compare};
use lookalike::core::naive;
use lookalike::core::params::{Measure, Params, ParamsBuilder, Scheme, ShingleRule, Unit};
use lookalike::core::shingle::Shingler;
use lookalike::core::signature::Signer;
use lookalike::core::verify::{Overlap, overlap};
use lookalike::find::{self, FindError, FindOptions, Findings, Grouping, PairList};
use lookalike::progress::{Interruption, NoProgress, Progress, Stage};
use lookalike::read::{Collection, ReadOptions};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

const KEEPS: [KeepRule; 4] =
    [KeepRule::Longest, KeepRule::Shortest, KeepRule::First, KeepRule::Last];

/// Returns families of documents that share many words, with copies, some of them repeated within
/// one text.
pub(super) fn documents(count: usize, seed: u64) -> Vec<(String, String)> {
    let mut random = SplitMix64::new(seed);
    let mut texts: Vec<Vec<String>> = Vec::new();
    for _ in 0..count {
        let mut text: Vec<String> = if texts.len() < 12 || random.below(12) == 0 {
            (0..8 + random.below(20)).map(|_| format!("w{}", random.below(500))).collect()
        } else {
            texts[random.below(texts.len() as u64) as usize].clone()
        };
        for _ in 0..random.below(3) {
            let at = random.below(text.len() as u64) as usize;
            text[at] = format!("w{}", random.below(500));
        }
        if random.below(8) == 0 {
            text = [text.clone(), text].concat();
        }
        texts.push(text);
    }
    let id = |i: usize| format!("d{:04}", (i * 7919) % 9973);
    texts.into_iter().enumerate().map(|(i, text)| (id(i), text.join(" "))).collect()
}

fn lines(documents: &[(String, String)]) -> String {
    let line =
        |(id, text): &(String, String)| format!("{{\"id\": \"{id}\", \"text\": \"{text}\"}}\n");
    documents.iter().map(line).collect()
}

pub(super) fn write(path: &Path, documents: &[(String, String)]) -> PathBuf {
    std::fs::write(path, lines(documents)).unwrap();
    path.to_owned()
}

pub(super) fn find(inputs: &[PathBuf], options: &FindOptions) -> Result<Findings, FindError> {
    find::in_collection(&Collection::open(inputs, &ReadOptions::default())?, options, &NoProgress)
}

/// Returns the values that a report contains for a pair. Pairs with equal shingles have no counts.
fn reported(overlap: &Overlap) -> (String, Option<Overlap>) {
    let equal = overlap.left == overlap.intersection && overlap.right == overlap.intersection;
    (overlap.six_decimals(), (!equal).then_some(*overlap))
}

type ReportedOverlap = (String, Option<Overlap>);
type Pairs = BTreeMap<(String, String), ReportedOverlap>;
type Keepers = BTreeMap<String, (String, ReportedOverlap)>;

/// Returns the pairs by ids, and the keeper of each duplicate, from comparing all documents that
/// share a bucket.
fn expected(documents: &[(String, String)], options: &FindOptions) -> (Pairs, Keepers) {
    let mut order: Vec<usize> = (0..documents.len()).collect();
    let key = |i: &usize| {
        let mut key = Vec::new();
        let (length, position) = (documents[*i].1.len() as u64, [0, 0, *i as u32]);
        options
            .keep
            .key(&KeepAttributes { length, position, ..KeepAttributes::default() }, &mut key);
        key
    };
    order.sort_by(|a, b| {
        compare(&key(a), documents[*a].0.as_bytes(), &key(b), documents[*b].0.as_bytes())
    });
    let params = &options.params;
    let mut shingler = Shingler::new(params.shingle());
    let mut signer = Signer::new(params.scheme(), params.num_hashes(), params.seed());
    let (mut sets, mut keys) = (Vec::new(), Vec::new());
    for &i in &order {
        let mut set = Vec::new();
        shingler.set(&documents[i].1, &mut set);
        sets.push(set);
        let mut own = vec![0; params.bands()];
        let signature = signer.sign(shingler.shingle(&documents[i].1).hashes);
        bucket_keys(signature, params.rows(), &mut own);
        keys.push(own);
    }
    let share = |a: u32, b: u32| {
        keys[a as usize].iter().zip(&keys[b as usize]).any(|(left, right)| left == right)
    };
    let mut pairs = naive::all_pairs(&sets, params.measure(), params.threshold());
    pairs.retain(|(a, b, _)| share(*a, *b));
    let id = |i: u32| documents[order[i as usize]].0.clone();
    let by_ids = pairs.iter().map(|(a, b, o)| {
        let (a, b) = (id(*a), id(*b));
        if a < b { ((a, b), reported(o)) } else { ((b, a), reported(&o.swapped())) }
    });
    let far = |a: u32, b: u32| Ok::<_, Infallible>(overlap(&sets[a as usize], &sets[b as usize]));
    let duplicates = match options.grouping {
        Grouping::Stars => stars_of_pairs(order.len(), &pairs, &|_| false, params.measure()),
        Grouping::Components => {
            components_of_pairs(order.len(), &pairs, &|_| false, params.measure(), far).unwrap()
        }
    };
    let keeper = |d: &lookalike::core::group::DuplicateMember| {
        (id(d.member), (id(d.keeper), reported(&d.overlap)))
    };
    (by_ids.collect(), duplicates.iter().map(keeper).collect())
}

/// Returns the keeper of every duplicate.
fn keepers(findings: &Findings) -> Keepers {
    let mut keepers = Keepers::new();
    for group in findings.groups.iter().map(Result::unwrap) {
        for duplicate in group.duplicates {
            keepers.insert(duplicate.id, (group.keeper.id.clone(), reported(&duplicate.overlap)));
        }
    }
    keepers
}

#[test]
fn signatures_rule_out_accidental_candidates() {
    let folder = tempfile::tempdir().unwrap();
    // With bands of one row, documents that share one word in ten often share a bucket.
    let text = |i| (0..9).fold("common".to_owned(), |text, j| format!("{text} w{i}x{j}"));
    let documents: Vec<_> = (0..40).map(|i| (format!("{i}"), text(i))).collect();
    let input = write(&folder.path().join("words.jsonl"), &documents);
    for (scheme, threshold, are_compared) in [
        (Scheme::FastSimilarity, 0.8, false),
        (Scheme::ModPrime, 0.8, false),
        // At this threshold, nearly all pairs have enough equal bits.
        (Scheme::FastSimilarity, 0.1, true),
        // This scheme does not use the bits.
        (Scheme::Xor, 0.8, true),
    ] {
        let shingle = ShingleRule::new(Unit::Words, 1).unwrap();
        let (bands, rows) = (Some(128), Some(1));
        let builder =
            ParamsBuilder { shingle, threshold, scheme, bands, rows, ..ParamsBuilder::default() };
        let options = FindOptions {
            pairs: PairList::Exact,
            ..FindOptions::new(Params::new(&builder).unwrap())
        };
        let counts = find(std::slice::from_ref(&input), &options).unwrap().counts;
        if are_compared {
            assert!(counts.candidates == 40 && counts.verified > 600, "{scheme}: {counts:?}");
        } else {
            assert_eq!((counts.candidates, counts.verified), (0, 0), "{scheme}");
        }
    }
}

#[test]
fn findings_match_the_bucket_definition() {
    let folder = tempfile::tempdir().unwrap();
    for (case, (bands, rows, threshold)) in
        [(1, 2, 0.4), (2, 3, 0.5), (6, 4, 0.6), (20, 3, 0.35)].into_iter().enumerate()
    {
        let documents = documents(300, case as u64 + 20);
        let input = write(&folder.path().join(format!("{case}.jsonl")), &documents);
        let (bands, rows) = (Some(bands), Some(rows));
        let params =
            Params::new(&ParamsBuilder { threshold, bands, rows, ..ParamsBuilder::default() })
                .unwrap();
        for keep in KEEPS {
            for grouping in [Grouping::Stars, Grouping::Components] {
                for pairs in [PairList::Exact, PairList::Omitted] {
                    let base = FindOptions::new(params.clone());
                    let keep = KeepPolicy::new(vec![keep.clone()]);
                    let options = FindOptions { keep: keep.clone(), grouping, pairs, ..base };
                    let found = find(std::slice::from_ref(&input), &options).unwrap();
                    let (expected_pairs, expected_keepers) = expected(&documents, &options);
                    if let Some(pairs) = &found.pairs {
                        let pairs = pairs.iter();
                        let by_ids: BTreeMap<_, _> = pairs
                            .map(Result::unwrap)
                            .map(|p| ((p.a, p.b), reported(&p.overlap)))
                            .collect();
                        assert_eq!(by_ids, expected_pairs, "{case} {keep}");
                        assert!(!by_ids.is_empty());
                    }
                    assert_eq!(
                        keepers(&found),
                        expected_keepers,
                        "{case} {keep} {grouping:?} {pairs:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn copies_meet_only_later_keepers() {
    let folder = tempfile::tempdir().unwrap();
    let (bands, rows) = (Some(2), Some(2));
    // Shingles of single words cause many different similarities.
    let shingle = "bag".parse().unwrap();
    let builder =
        ParamsBuilder { shingle, threshold: 0.3, bands, rows, ..ParamsBuilder::default() };
    for seed in 0..60 {
        let documents = documents(200, seed);
        let input = write(&folder.path().join(format!("{seed}.jsonl")), &documents);
        let params = Params::new(&ParamsBuilder { seed, ..builder.clone() }).unwrap();
        let keep = KeepPolicy::new(vec![KeepRule::First]);
        let options = FindOptions { keep, ..FindOptions::new(params) };
        let found = find(std::slice::from_ref(&input), &options).unwrap();
        assert_eq!(keepers(&found), expected(&documents, &options).1, "{seed}");
    }
}

#[test]
fn reading_order_follows_the_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let documents = documents(600, 7);
    let parts: Vec<PathBuf> = documents
        .chunks(5)
        .enumerate()
        .map(|(i, part)| write(&folder.path().join(format!("{i}.jsonl")), part))
        .collect();
    let params =
        Params::new(&ParamsBuilder { threshold: 0.5, ..ParamsBuilder::default() }).unwrap();
    for rule in [KeepRule::First, KeepRule::Last] {
        let keep = KeepPolicy::new(vec![rule]);
        let base = FindOptions { keep: keep.clone(), ..FindOptions::new(params.clone()) };
        let (_, expected_keepers) = expected(&documents, &base);
        for threads in [1, 2, 3, 8, 8, 8] {
            let threads = NonZeroUsize::new(threads).unwrap();
            let found = find(&parts, &FindOptions { threads, ..base.clone() }).unwrap();
            assert_eq!(keepers(&found), expected_keepers, "{keep} {threads}");
        }
    }
}

#[test]
fn large_components_ignore_thread_count() {
    let folder = tempfile::tempdir().unwrap();
    // Variants of variants, most of which are in one component.
    let documents = documents(5_000, 11);
    let input = write(&folder.path().join("in.jsonl"), &documents);
    for measure in [Measure::Jaccard, Measure::Containment] {
        let shingle = "bag".parse().unwrap();
        let builder = ParamsBuilder { shingle, threshold: 0.6, measure, ..Default::default() };
        let params = Params::new(&ParamsBuilder { exact: true, ..builder }).unwrap();
        let options = FindOptions::new(params);
        let [one, two, five] = [1, 2, 5].map(|threads| {
            let threads = NonZeroUsize::new(threads).unwrap();
            let found =
                find(std::slice::from_ref(&input), &FindOptions { threads, ..options.clone() });
            let found = found.unwrap();
            let counts = found.counts;
            assert!(counts.groups > 100 && counts.duplicates > 1_000, "{counts:?}");
            (keepers(&found), counts.verified, counts.groups)
        });
        assert!(one == two && one == five, "{measure}");
    }
}

#[test]
fn repeated_ids_keep_the_first_document() {
    let folder = tempfile::tempdir().unwrap();
    let own = |id: &str, text: &str| (id.to_owned(), text.to_owned());
    let documents =
        [own("x", "one two"), own("y", "one two"), own("x", ""), own("x", "one two"), own("z", "")];
    let input = write(&folder.path().join("in.jsonl"), &documents);
    let inputs = std::slice::from_ref(&input);
    let options = FindOptions::new(Params::new(&ParamsBuilder::default()).unwrap());
    let Err(FindError::RepeatedId { id, first, second }) = find(inputs, &options) else {
        panic!("a repeated id is an error");
    };
    assert!(id == "x" && first.source().ends_with("in.jsonl"));
    assert_eq!((first.number(), second.number()), (Some(1), Some(3)));

    let options = FindOptions { skip_repeated_ids: true, ..options };
    let found = find(inputs, &options).unwrap();
    assert_eq!((found.counts.documents, found.counts.skipped, found.counts.empty), (3, 2, 1));
    let empty: Vec<String> = found.empty.iter().map(Result::unwrap).collect();
    assert_eq!(empty, ["z"]);
    assert_eq!(found.groups.len(), 1);
    let group = found.groups.iter().next().unwrap().unwrap();
    assert_eq!((&*group.keeper.id, &*group.duplicates[0].id), ("x", "y"));
    for (skipped, line) in found.skipped.iter().map(Result::unwrap).zip([3, 4]) {
        assert_eq!((skipped.line, skipped.id.as_deref()), (Some(line), Some("x")));
        // The reason does not name the document between them, because it is skipped as well.
        assert!(skipped.reason.to_string().ends_with("in.jsonl:1"), "{}", skipped.reason);
    }
}

/// Replaces the bytes of a file before its documents are read again.
struct Rewrite<'a>(&'a Path, &'a str);

impl Progress for Rewrite<'_> {
    fn begin(&self, stage: Stage, _: Option<u64>) {
        if stage == Stage::Decide {
            std::fs::write(self.0, self.1).unwrap();
        }
    }
    fn advance(&self, _: u64) -> Result<(), Interruption> {
        Ok(())
    }
    fn end(&self, _: Stage, _: Duration) {}
}

#[test]
fn texts_changed_between_readings_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let text = "a text long enough to be found among the others of its kind today";
    let near = format!("{text} again");
    let documents = [("a".to_owned(), text.to_owned()), ("b".to_owned(), near)];
    let input = write(&folder.path().join("in.jsonl"), &documents);
    let collection =
        Collection::open(std::slice::from_ref(&input), &ReadOptions::default()).unwrap();
    let options = FindOptions::new(Params::new(&ParamsBuilder::default()).unwrap());
    let changed = lines(&documents).replace("others", "anothr");
    let found = find::in_collection(&collection, &options, &Rewrite(&input, &changed));
    let error = found.map(|_| ()).unwrap_err();
    assert!(matches!(error, FindError::Changed { .. }), "{error}");
}
