//! Properties of a run. The findings do not depend on the order, division or compression of the
//! input, the number of threads or the kernel. If bands miss no pair, they equal a comparison of
//! all documents.
#![allow(clippy::unwrap_used, reason = "a test")]

use lookalike::core::group::stars_of_pairs;
use lookalike::core::hash::SplitMix64;
use lookalike::core::keep::{KeepAttributes, KeepPolicy, KeepRule, compare};
use lookalike::core::kernel::Kernel;
use lookalike::core::naive;
use lookalike::core::params::{Measure, Params, ParamsBuilder};
use lookalike::core::shingle::Shingler;
use lookalike::find::{self, DocumentNumber, FindOptions, Findings, Group, Grouping, PairList};
use lookalike::progress::NoProgress;
use lookalike::read::{Collection, ReadOptions};
use lookalike_test_support::gzip;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Returns a collection with copies, edits of all degrees, chains of edits, short and empty
/// documents.
fn documents(count: usize, seed: u64) -> Vec<(String, String)> {
    let mut random = SplitMix64::new(seed);
    let mut texts: Vec<Vec<String>> = Vec::new();
    for _ in 0..count {
        let word = |random: &mut SplitMix64| format!("w{}", random.below(3_000));
        let text = match random.below(10) {
            0..5 => (0..20 + random.below(80)).map(|_| word(&mut random)).collect(),
            5 => Vec::new(),
            6 => (0..random.below(6)).map(|_| format!("s{}", random.below(4))).collect(),
            _ if texts.is_empty() => Vec::new(),
            _ => {
                let mut text = texts[random.below(texts.len() as u64) as usize].clone();
                for _ in 0..random.below(4) {
                    if !text.is_empty() {
                        let at = random.below(text.len() as u64) as usize;
                        text[at] = word(&mut random);
                    }
                }
                text
            }
        };
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

fn options(builder: &ParamsBuilder) -> FindOptions {
    FindOptions { pairs: PairList::Exact, ..FindOptions::new(Params::new(builder).unwrap()) }
}

fn find(inputs: &[PathBuf], options: &FindOptions) -> Findings {
    let collection = Collection::open(inputs, &ReadOptions::default()).unwrap();
    find::in_collection(&collection, options, &NoProgress).unwrap()
}

/// Returns all findings that must not depend on the way of processing.
fn essence(findings: &Findings) -> impl PartialEq + std::fmt::Debug + use<> {
    let pairs = findings.pairs.as_ref().map(|pairs| pairs.iter().map(Result::unwrap));
    let pairs = pairs.map(Iterator::collect::<Vec<_>>);
    let empty: Vec<String> = findings.empty.iter().map(Result::unwrap).collect();
    (groups(findings), pairs, empty, findings.counts, findings.inputs)
}

/// Returns groups without the numbers of documents, which depend on the reading order.
fn groups(findings: &Findings) -> Vec<Group> {
    let numberless = |mut group: Group| {
        group.keeper.document = DocumentNumber(0);
        group.duplicates.iter_mut().for_each(|duplicate| duplicate.document = DocumentNumber(0));
        group
    };
    findings.groups.iter().map(Result::unwrap).map(numberless).collect()
}

fn write(path: &Path, text: &str) -> PathBuf {
    std::fs::write(path, text).unwrap();
    path.to_owned()
}

#[test]
fn findings_ignore_order_threads_and_kernel() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut documents = documents(1_500, 5);
    let whole = write(&path("whole.jsonl"), &lines(&documents));
    let base = options(&ParamsBuilder { threshold: 0.7, ..ParamsBuilder::default() });
    let first = find(std::slice::from_ref(&whole), &base);
    assert!(first.groups.len() > 50 && first.pairs.as_ref().unwrap().len() > 200);
    let expected = essence(&first);
    for threads in [1, 2, 5] {
        let options = FindOptions { threads: NonZeroUsize::new(threads).unwrap(), ..base.clone() };
        assert_eq!(essence(&find(std::slice::from_ref(&whole), &options)), expected);
    }
    for kernel in Kernel::available() {
        let options = FindOptions { kernel, ..base.clone() };
        assert_eq!(essence(&find(std::slice::from_ref(&whole), &options)), expected, "{kernel}");
    }
    documents.reverse();
    let reversed = write(&path("reversed.jsonl"), &lines(&documents));
    assert_eq!(essence(&find(&[reversed], &base)), expected);
    let parts: Vec<PathBuf> = documents
        .chunks(37)
        .enumerate()
        .map(|(i, part)| write(&path(&format!("part{i}.jsonl")), &lines(part)))
        .collect();
    assert_eq!(essence(&find(&parts, &base)), expected);
    let packed = path("packed.jsonl.gz");
    std::fs::write(&packed, gzip(lines(&documents).as_bytes())).unwrap();
    assert_eq!(essence(&find(&[packed], &base)), expected);
}

#[test]
fn omitting_pairs_keeps_the_groups() {
    let folder = tempfile::tempdir().unwrap();
    let input = write(&folder.path().join("in.jsonl"), &lines(&documents(1_200, 6)));
    for grouping in [Grouping::Stars, Grouping::Components] {
        let with = FindOptions { grouping, ..options(&ParamsBuilder::default()) };
        let without = FindOptions { pairs: PairList::Omitted, ..with.clone() };
        let (a, b) = (
            find(std::slice::from_ref(&input), &with),
            find(std::slice::from_ref(&input), &without),
        );
        assert_eq!(groups(&a), groups(&b));
        assert!(b.pairs.is_none());
    }
}

#[test]
fn findings_match_naive_all_pairs() {
    let folder = tempfile::tempdir().unwrap();
    for (seed, threshold, keep) in [
        (1, 0.8, KeepRule::Longest),
        (2, 0.5, KeepRule::First),
        (3, 1.0, KeepRule::Last),
        (4, 0.65, KeepRule::Shortest),
    ] {
        let mut documents = documents(500, seed);
        let input = write(&folder.path().join(format!("{seed}.jsonl")), &lines(&documents));
        // With bands of single values, pairs at these thresholds are almost never missed.
        let builder = ParamsBuilder {
            threshold,
            bands: Some(256),
            rows: Some(1),
            ..ParamsBuilder::default()
        };
        let keep = KeepPolicy::new(vec![keep]);
        let found = find(&[input], &FindOptions { keep: keep.clone(), ..options(&builder) });

        let mut order: Vec<usize> = (0..documents.len()).collect();
        order.sort_by(|a, b| {
            let key = |i: usize| {
                let mut key = Vec::new();
                let (length, position) = (documents[i].1.len() as u64, [0, 0, i as u32]);
                let document = KeepAttributes { length, position, ..Default::default() };
                keep.key(&document, &mut key);
                key
            };
            compare(&key(*a), documents[*a].0.as_bytes(), &key(*b), documents[*b].0.as_bytes())
        });
        documents = order.into_iter().map(|i| documents[i].clone()).collect();
        let mut shingler = Shingler::new(&builder.shingle);
        let sets: Vec<Vec<u64>> = documents
            .iter()
            .map(|(_, text)| {
                let mut set = Vec::new();
                shingler.set(text, &mut set);
                set
            })
            .collect();
        let pairs = naive::all_pairs(&sets, Measure::Jaccard, threshold);
        let mut expected_pairs: Vec<(String, String, String)> = pairs
            .iter()
            .map(|(a, b, overlap)| {
                let (a, b) = (&documents[*a as usize].0, &documents[*b as usize].0);
                (a.min(b).clone(), a.max(b).clone(), overlap.six_decimals())
            })
            .collect();
        expected_pairs.sort();
        let found_pairs: Vec<_> = found
            .pairs
            .unwrap()
            .iter()
            .map(Result::unwrap)
            .map(|p| (p.a, p.b, p.overlap.six_decimals()))
            .collect();
        assert_eq!(found_pairs, expected_pairs, "threshold {threshold}");

        let mut expected: BTreeMap<String, (String, String)> = BTreeMap::new();
        for duplicate in stars_of_pairs(documents.len(), &pairs, &|_| false, Measure::Jaccard) {
            let id = |i: u32| documents[i as usize].0.clone();
            let of = (id(duplicate.keeper), duplicate.overlap.six_decimals());
            expected.insert(id(duplicate.member), of);
        }
        let mut found_groups = BTreeMap::new();
        for group in found.groups.iter().map(Result::unwrap) {
            for duplicate in group.duplicates {
                let of = (group.keeper.id.clone(), duplicate.overlap.six_decimals());
                found_groups.insert(duplicate.id, of);
            }
        }
        assert_eq!(found_groups, expected, "threshold {threshold}");
    }
}

#[test]
fn too_many_pairs_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let equal: Vec<(String, String)> = (0..20_001)
        .map(|i| (format!("d{i}"), "the same few words every time".to_owned()))
        .collect();
    let input = write(&folder.path().join("equal.jsonl"), &lines(&equal));
    let collection = Collection::open(&[input], &ReadOptions::default()).unwrap();
    let with = options(&ParamsBuilder::default());
    let error = find::in_collection(&collection, &with, &NoProgress).map(|_| ()).unwrap_err();
    assert!(
        matches!(error, lookalike::find::FindError::TooManyPairs { got: 200_010_000, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("without pairs"));
}
