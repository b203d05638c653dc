//! An audit of files measures the same recall as a comparison of all documents with each other.

#![allow(clippy::unwrap_used, clippy::format_collect, reason = "this is a test")]

use lookalike::audit::divided::{AuditSample, draw_share, lot_limit};
use lookalike::audit::{Audit, AuditOptions, JudgedBy, Neighbours, true_neighbours};
use lookalike::core::hash::SplitMix64;
use lookalike::core::params::{Measure, Params, ParamsBuilder};
use lookalike::core::shingle::Shingler;
use lookalike::core::verify::overlap_at_least;
use lookalike::decisions::{self, Decisions};
use lookalike::find::{FindError, FindOptions, Findings, PairList, in_collection};
use lookalike::progress::NoProgress;
use lookalike::read::{Collection, ReadOptions};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Returns clusters of near-copies of random words. Each copy has some words replaced.
fn documents() -> Vec<(String, String)> {
    let mut random = SplitMix64::new(11);
    let mut documents = Vec::new();
    let word = |random: &mut SplitMix64| format!("w{}", random.below(5_000));
    for cluster in 0..240u64 {
        let words: Vec<String> = (0..120).map(|_| word(&mut random)).collect();
        for copy in 0..=cluster % 4 {
            let mut words = words.clone();
            for _ in 0..random.below(4) {
                let place = random.below(words.len() as u64) as usize;
                words[place] = word(&mut random);
            }
            documents.push((format!("c{cluster}-{copy}"), words.join(" ")));
        }
    }
    documents.push(("nothing".to_owned(), "–".to_owned()));
    documents
}

struct Files {
    _folder: tempfile::TempDir,
    paths: Vec<PathBuf>,
}

fn files(documents: &[(String, String)], count: usize) -> Files {
    let folder = tempfile::tempdir().unwrap();
    let paths = documents.chunks(documents.len().div_ceil(count)).enumerate().map(|(i, part)| {
        let path = folder.path().join(format!("{i}.jsonl"));
        let lines =
            part.iter().map(|(id, text)| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n"));
        std::fs::write(&path, lines.collect::<String>()).unwrap();
        path
    });
    let paths = paths.collect();
    Files { _folder: folder, paths }
}

fn open(files: &Files) -> Result<Collection, FindError> {
    Ok(Collection::open(&files.paths, &ReadOptions::default())?)
}

fn params(bands_rows: Option<(usize, usize)>) -> Params {
    let mut builder = ParamsBuilder::default();
    if let Some((bands, rows)) = bands_rows {
        builder.bands = Some(bands);
        builder.rows = Some(rows);
    }
    Params::new(&builder).unwrap()
}

fn run(files: &Files, params: &Params) -> Findings {
    let options = FindOptions { pairs: PairList::Exact, ..FindOptions::new(params.clone()) };
    in_collection(&open(files).unwrap(), &options, &NoProgress).unwrap()
}

fn neighbours(files: &Files, params: &Params, sample: usize, threads: usize) -> Neighbours {
    let options = AuditOptions {
        sample: NonZeroUsize::new(sample).unwrap(),
        threads: NonZeroUsize::new(threads).unwrap(),
        ..AuditOptions::default()
    };
    true_neighbours(|| open(files), params, &options, &NoProgress).unwrap()
}

fn by_pairs(neighbours: &Neighbours, findings: &Findings) -> Audit {
    let pairs = findings.pairs.as_ref().unwrap();
    judged(neighbours, pairs.iter().map(|pair| pair.map(|pair| (pair.a, pair.b)).unwrap()))
}

fn judged(neighbours: &Neighbours, pairs: impl Iterator<Item = (String, String)>) -> Audit {
    let mut judge = neighbours.judge_by(JudgedBy::Pairs);
    pairs.for_each(|(a, b)| judge.pair(&a, &b));
    judge.finish()
}

fn by_groups(neighbours: &Neighbours, findings: &Findings) -> Audit {
    let mut judge = neighbours.judge_by(JudgedBy::Groups);
    for group in findings.groups.iter() {
        group.unwrap().duplicates.iter().for_each(|duplicate| judge.duplicate(&duplicate.id));
    }
    judge.finish()
}

/// Returns the neighbours that a divided audit finds. Each file is a share, and the result of each
/// share passes through JSON.
fn divided(files: &Files, params: &Params, sample: usize) -> Neighbours {
    let sample = NonZeroUsize::new(sample).unwrap();
    let options = AuditOptions { sample, threads: NonZeroUsize::MIN, ..AuditOptions::default() };
    let shares = || {
        files.paths.iter().map(|path| {
            Collection::open(std::slice::from_ref(path), &ReadOptions::default()).unwrap()
        })
    };
    let documents = documents();
    let limit = lot_limit(documents.len() as u64 - 1, sample, 0);
    let drawn = shares()
        .flat_map(|share| draw_share(&share, params, &options, limit, &NoProgress).unwrap());
    let drawn: Vec<_> = drawn.collect();
    assert!(drawn.len() >= sample.get().min(documents.len() - 1));
    let chosen =
        AuditSample::new(params, &options, documents.len() as u64, drawn, &NoProgress).unwrap();
    let mut found = chosen.nothing();
    for share in shares() {
        let json = chosen.search_share(&share, &NoProgress).unwrap().to_json();
        found.merge(chosen.share_of_json(&json).unwrap());
    }
    assert_eq!(found.counts(), (documents.len() as u64, documents.len() as u64 - 1));
    chosen.neighbours(&found).unwrap()
}

#[test]
fn divided_audit_equals_the_whole() {
    let files = files(&documents(), 7);
    let params = params(Some((3, 8)));
    let findings = run(&files, &params);
    for sample in [50, 10_000] {
        let (whole, parts) =
            (neighbours(&files, &params, sample, 2), divided(&files, &params, sample));
        assert_eq!(parts.inputs(), whole.inputs());
        let audit = by_pairs(&whole, &findings);
        assert!(audit.overall.recall.is_some_and(|recall| recall < 1.0), "{audit:?}");
        assert_eq!(by_pairs(&parts, &findings), audit);
        assert_eq!(by_groups(&parts, &findings), by_groups(&whole, &findings));
    }
}

#[test]
fn missing_or_damaged_shares_are_errors() {
    let files = files(&documents(), 2);
    let (params, options) = (params(None), AuditOptions::default());
    let collection = open(&files).unwrap();
    let drawn = draw_share(&collection, &params, &options, u64::MAX, &NoProgress).unwrap();
    let documents = documents().len() as u64;
    let sample =
        AuditSample::new(&params, &options, documents, drawn.clone(), &NoProgress).unwrap();
    let first = Collection::open(&files.paths[..1], &ReadOptions::default()).unwrap();
    let part = sample.search_share(&first, &NoProgress).unwrap();
    let error = sample.neighbours(&part).unwrap_err().to_string();
    assert!(error.contains("of those drawn from the first were not the same"), "{error}");
    for json in ["", "{}", &part.to_json().replacen("\"met\":[", "\"met\":[99999,", 1)] {
        let error = sample.share_of_json(json).err().unwrap().to_string();
        assert!(error.starts_with("a task of the audit returned invalid rows"), "{error}");
    }
    let mut unsorted = drawn;
    unsorted[0].shingles.reverse();
    let error =
        AuditSample::new(&params, &options, documents, unsorted, &NoProgress).err().unwrap();
    assert!(error.to_string().contains("no ascending shingles"), "{error}");
}

/// Returns all true pairs from a comparison of all documents, the lesser id first.
fn truth(documents: &[(String, String)], params: &Params) -> BTreeSet<(String, String)> {
    let mut shingler = Shingler::new(params.shingle());
    let sets: Vec<Vec<u64>> = documents
        .iter()
        .map(|(_, text)| {
            let mut set = Vec::new();
            shingler.set(text, &mut set);
            set
        })
        .collect();
    let mut pairs = BTreeSet::new();
    for (i, (a, _)) in documents.iter().enumerate() {
        for (j, (b, _)) in documents.iter().enumerate().skip(i + 1) {
            if overlap_at_least(&sets[i], &sets[j], params.measure(), params.threshold()).is_some()
            {
                pairs.insert((a.min(b).clone(), a.max(b).clone()));
            }
        }
    }
    pairs
}

/// Returns the mean recall of the documents, from the true pairs and the pairs that `found`
/// accepts.
fn recall(truth: &BTreeSet<(String, String)>, found: impl Fn(&str, &str) -> bool) -> f64 {
    let ids: BTreeSet<&String> = truth.iter().flat_map(|(a, b)| [a, b]).collect();
    let shares = ids.iter().map(|id| {
        let own_pairs = || truth.iter().filter(|(a, b)| a == *id || b == *id);
        own_pairs().filter(|(a, b)| found(a, b)).count() as f64 / own_pairs().count() as f64
    });
    shares.sum::<f64>() / ids.len() as f64
}

#[test]
fn audit_interval_contains_true_recall() {
    let documents = documents();
    let files = files(&documents, 1);
    let params = params(Some((2, 20)));
    let findings = run(&files, &params);
    let truth = truth(&documents, &params);
    let pairs: BTreeSet<(String, String)> = findings
        .pairs
        .as_ref()
        .unwrap()
        .iter()
        .map(|pair| pair.map(|pair| (pair.a, pair.b)).unwrap())
        .collect();
    let removed: BTreeSet<String> = findings
        .groups
        .iter()
        .flat_map(|group| group.unwrap().duplicates.into_iter().map(|duplicate| duplicate.id))
        .collect();
    let of_pairs = recall(&truth, |a, b| pairs.contains(&(a.to_owned(), b.to_owned())));
    let of_groups = recall(&truth, |a, b| removed.contains(a) || removed.contains(b));
    assert!(of_pairs < 0.9, "the run is to be a bad one: {of_pairs}");
    for sample in [150, 10_000] {
        let neighbours = neighbours(&files, &params, sample, 2);
        for (audit, recall) in [
            (by_pairs(&neighbours, &findings), of_pairs),
            (by_groups(&neighbours, &findings), of_groups),
        ] {
            let interval = audit.overall.interval;
            // If all documents are sampled, both ends of the interval equal the recall.
            let (low, high) = (interval.low - 1e-12, interval.high + 1e-12);
            assert!(low <= recall && recall <= high, "{recall}: {audit:?}");
            assert_eq!(sample == 10_000, interval.width() == 0.0, "{audit:?}");
            assert_eq!(sample == 10_000, audit.is_known(&audit.overall));
            assert!(audit.overall.documents > 50 && interval.width() < 0.25, "{audit:?}");
        }
    }
    // If all documents are sampled, each pair counts from both sides, and the shares are exact.
    let all = by_pairs(&neighbours(&files, &params, 10_000, 2), &findings);
    assert_eq!(all.overall.pairs, 2 * truth.len() as u64);
    assert_eq!((all.sampled, all.population), (all.population, documents.len() as u64 - 1));
    let found = truth.intersection(&pairs).count();
    let share = found as f64 / truth.len() as f64;
    assert!((all.overall.pair_recall.unwrap() - share).abs() < 1e-9);
}

#[test]
fn good_runs_have_full_recall() {
    let files = files(&documents(), 1);
    let params = params(Some((40, 2)));
    let findings = run(&files, &params);
    let neighbours = neighbours(&files, &params, 200, 2);
    for audit in [by_pairs(&neighbours, &findings), by_groups(&neighbours, &findings)] {
        assert_eq!(audit.overall.recall, Some(1.0), "{audit:?}");
        assert!(audit.overall.interval.low > 0.95);
    }
}

#[test]
fn threads_and_files_do_not_matter() {
    let mut documents = documents();
    let params = params(Some((2, 20)));
    let one_file = files(&documents, 1);
    let findings = run(&one_file, &params);
    let first = neighbours(&one_file, &params, 100, 1);
    let expected = by_pairs(&first, &findings);
    documents.reverse();
    let many_files = files(&documents, 7);
    for threads in [1, 3] {
        let repeated = neighbours(&many_files, &params, 100, threads);
        assert_eq!(repeated.inputs(), first.inputs());
        assert_eq!(by_pairs(&repeated, &findings), expected);
    }
}

#[test]
fn changed_input_between_passes_is_reported() {
    let documents = documents();
    let (before, after) = (files(&documents, 1), files(&documents[..500], 1));
    let mut edited = documents.clone();
    for (_, text) in &mut edited {
        text.push_str(" something more is here now");
    }
    let edited = files(&edited, 1);
    for other in [&after, &edited] {
        let calls = std::cell::Cell::new(0);
        let open = || {
            calls.set(calls.get() + 1);
            open(if calls.get() == 1 { &before } else { other })
        };
        let failed = true_neighbours(open, &params(None), &AuditOptions::default(), &NoProgress);
        let message = failed.unwrap_err().to_string();
        assert!(message.contains("changed between two readings"), "{message}");
    }
}

/// Only containment finds excerpts of documents.
#[test]
fn containment_is_measured_by_containment() {
    let mut documents = documents();
    for i in 0..60 {
        let words: Vec<&str> = documents[i].1.split(' ').collect();
        documents.push((format!("excerpt{i}"), words[20..60].join(" ")));
    }
    let files = files(&documents, 1);
    let builder = ParamsBuilder { measure: Measure::Containment, ..ParamsBuilder::default() };
    let params = Params::new(&builder).unwrap();
    let truth = truth(&documents, &params);
    let neighbours = neighbours(&files, &params, 10_000, 2);
    assert_eq!(neighbours.pairs(), 2 * truth.len() as u64);
    assert!(truth.iter().filter(|(_, b)| b.starts_with("excerpt")).count() >= 60);
    let pairs = || truth.iter().cloned();
    assert_eq!(judged(&neighbours, pairs()).overall.recall, Some(1.0));
    let without = pairs().filter(|(_, b)| !b.starts_with("excerpt"));
    assert!(judged(&neighbours, without).overall.recall.unwrap() < 0.95);
}

/// Documents of a reference collection are not compared with each other, so the run misses no such
/// pair.
#[test]
fn reference_documents_are_not_neighbours() {
    let documents = documents();
    let (inputs, reference): (Vec<_>, Vec<_>) =
        documents.into_iter().partition(|(id, _)| id.ends_with("-0"));
    let (inputs, reference) = (files(&inputs, 1), files(&reference, 2));
    let open = || {
        let options = ReadOptions::default();
        Collection::open_with_reference(&inputs.paths, &reference.paths, &options)
    };
    let params = params(Some((40, 2)));
    let options = AuditOptions::default();
    let neighbours = true_neighbours(open, &params, &options, &NoProgress).unwrap();
    let findings =
        in_collection(&open().unwrap(), &FindOptions::new(params.clone()), &NoProgress).unwrap();
    assert_eq!(neighbours.inputs(), findings.inputs);
    let audit = by_groups(&neighbours, &findings);
    assert_eq!(audit.overall.recall, Some(1.0), "{audit:?}");
    assert!(audit.overall.documents > 100);
}

/// Compares bags of a few letters with a reference collection and decisions. The neighbours are the
/// pairs that a run may find.
#[test]
fn audit_respects_decisions_and_references() {
    let mut random = SplitMix64::new(17);
    for round in 0..60 {
        let mut bags = |prefix: &str, count: usize| -> Vec<(String, String)> {
            let bag = |number| {
                let letters = random.below(63) + 1;
                let letters = (0..6u8).filter(|bit| letters >> bit & 1 == 1);
                let words = letters.map(|bit| char::from(b'a' + bit).to_string());
                (format!("{prefix}{number:02}"), words.collect::<Vec<_>>().join(" "))
            };
            (0..count).map(bag).collect()
        };
        let (inputs, reference) = (bags("d", 12), bags("r", 8));
        let all: Vec<_> = inputs.iter().chain(&reference).cloned().collect();
        let mut pick = || all[random.below(all.len() as u64) as usize].0.clone();
        let kept: Vec<String> = (0..5).map(|_| pick()).collect();
        let pairs: Vec<(String, String)> = (0..6).map(|_| (pick(), pick())).collect();
        let mut lines: String = kept
            .iter()
            .map(|id| format!("{{\"decision\":\"keep\",\"documents\":[\"{id}\"]}}\n"))
            .collect();
        for (a, b) in pairs.iter().filter(|(a, b)| a != b) {
            let decision = "{\"decision\":\"not_duplicate\",\"documents\":";
            writeln!(lines, "{decision}[\"{a}\",\"{b}\"]}}").unwrap();
        }
        let builder = ParamsBuilder {
            shingle: "bag".parse().unwrap(),
            threshold: 0.5,
            exact: true,
            ..ParamsBuilder::default()
        };
        let params = Params::new(&builder).unwrap();
        let is_kept = |id: &String| id.starts_with('r') || kept.contains(id);
        let mut truth = truth(&all, &params);
        truth.retain(|(a, b)| {
            let is_judged = |(x, y): &(String, String)| (x, y) == (a, b) || (x, y) == (b, a);
            !(is_kept(a) && is_kept(b) || pairs.iter().any(is_judged))
        });
        let (inputs, reference) = (files(&inputs, 1), files(&reference, 1));
        let open = || {
            let options = ReadOptions::default();
            Collection::open_with_reference(&inputs.paths, &reference.paths, &options)
        };
        let read = decisions::read(lines.as_bytes(), Path::new("decisions.jsonl")).unwrap();
        let decisions = Some(Arc::new(Decisions::new(read)));
        let audit = AuditOptions { decisions: decisions.clone(), ..AuditOptions::default() };
        let neighbours = true_neighbours(open, &params, &audit, &NoProgress).unwrap();
        assert_eq!(neighbours.pairs(), 2 * truth.len() as u64, "{round} {all:?} {lines}");
        let options = FindOptions { decisions, ..FindOptions::new(params.clone()) };
        let findings = in_collection(&open().unwrap(), &options, &NoProgress).unwrap();
        let groups = findings.groups.iter().map(Result::unwrap);
        let removed: BTreeSet<String> =
            groups.flat_map(|group| group.duplicates.into_iter().map(|it| it.id)).collect();
        let of_groups = recall(&truth, |a, b| removed.contains(a) || removed.contains(b));
        let measured = by_groups(&neighbours, &findings).overall.recall.unwrap_or(f64::NAN);
        let is_equal = truth.is_empty() || (measured - of_groups).abs() < 1e-9;
        assert!(is_equal, "{round}: {measured} {of_groups}");
    }
}
