//! A memory limit changes only where data are stored.
#![allow(clippy::unwrap_used, reason = "a test")]

use lookalike::core::hash::SplitMix64;
use lookalike::core::params::{Measure, Params, ParamsBuilder};
use lookalike::find::{self, FindError, FindOptions, Findings, Grouping, Memory, PairList};
use lookalike::progress::NoProgress;
use lookalike::read::{Collection, ReadOptions};
use lookalike_test_support::{gzip, is_soak};
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Returns short documents, so many that their columns exceed any share of the least memory. One in
/// five is an edit of an earlier one, one in twenty a copy, and some are empty.
fn corpus(count: usize) -> String {
    let mut random = SplitMix64::new(11);
    let mut texts: Vec<String> = Vec::new();
    let mut lines = String::new();
    for i in 0..count {
        let text = match random.below(20) {
            0 if i > 0 => texts[random.below(i as u64) as usize].clone(),
            1..4 if i > 0 => {
                let text = &texts[random.below(i as u64) as usize];
                format!("{text} and {}", random.below(100))
            }
            4 if random.below(50) == 0 => String::new(),
            _ => {
                let words = (0..25).map(|_| format!("w{}", random.below(5_000)));
                words.collect::<Vec<_>>().join(" ")
            }
        };
        writeln!(lines, "{{\"id\":\"d{:06}\",\"text\":\"{text}\"}}", (i * 7919) % 1_000_003)
            .unwrap();
        texts.push(text);
    }
    lines
}

fn find(input: &Path, options: &FindOptions) -> Result<Findings, FindError> {
    find::in_collection(
        &Collection::open(&[input.to_owned()], &ReadOptions::default())?,
        options,
        &NoProgress,
    )
}

/// Returns all findings of a run except times.
fn essence(found: &Findings) -> impl PartialEq + std::fmt::Debug + use<> {
    let groups: Vec<_> = found.groups.iter().map(Result::unwrap).collect();
    let pairs: Option<Vec<_>> =
        found.pairs.as_ref().map(|pairs| pairs.iter().map(Result::unwrap).collect());
    let empty: Vec<_> = found.empty.iter().map(Result::unwrap).collect();
    (groups, pairs, empty, found.counts, found.sources.clone(), found.inputs)
}

/// Returns the least memory in which a run of this input works, as its errors name it.
fn least(input: &Path, options: &FindOptions) -> u64 {
    let mut limit = 1;
    loop {
        let memory = Memory { limit: Some(limit), ..options.memory.clone() };
        match find(input, &FindOptions { memory, ..options.clone() }) {
            Err(FindError::MemoryTooSmall { got, least }) => {
                assert!(got == limit && least > limit);
                limit = least;
            }
            Err(error) => panic!("{error}"),
            Ok(_) => return limit,
        }
    }
}

fn inputs(folder: &Path) -> [PathBuf; 2] {
    let text = corpus(60_000);
    let (plain, packed) = (folder.join("in.jsonl"), folder.join("in.jsonl.gz"));
    std::fs::write(&plain, &text).unwrap();
    std::fs::write(&packed, gzip(text.as_bytes())).unwrap();
    [plain, packed]
}

#[test]
fn limited_exact_runs_repeat_their_counts() {
    let folder = tempfile::tempdir().unwrap();
    let [input, _] = inputs(folder.path());
    let builder = ParamsBuilder { exact: true, threshold: 0.7, ..ParamsBuilder::default() };
    let mut options = FindOptions::new(Params::new(&builder).unwrap());
    options.threads = NonZeroUsize::new(3).unwrap();
    options.memory.temp_dir = Some(folder.path().to_owned());
    options.memory.limit = Some(least(&input, &options));
    let first = find(&input, &options).unwrap().counts;
    // Which shingles go to a file depends on the timing of the threads.
    for _ in 0..5 {
        assert_eq!(find(&input, &options).unwrap().counts, first);
    }
}

#[test]
fn least_memory_preserves_the_findings() {
    let folder = tempfile::tempdir().unwrap();
    let temp = folder.path().join("temp");
    std::fs::create_dir(&temp).unwrap();
    for input in inputs(folder.path()) {
        let of_signatures = [
            (false, Measure::Jaccard, true, Grouping::Stars),
            (false, Measure::Jaccard, false, Grouping::Components),
        ];
        let exact = [
            (true, Measure::Jaccard, false, Grouping::Stars),
            (true, Measure::Containment, true, Grouping::Stars),
        ];
        let is_compressed = input.extension().is_some_and(|extension| extension == "gz");
        let variants = match is_soak() {
            true => [&of_signatures[..], &exact].concat(),
            false if is_compressed => vec![of_signatures[0], exact[1]],
            false => vec![of_signatures[1], exact[0]],
        };
        for (exact, measure, pairs, grouping) in variants {
            let builder =
                ParamsBuilder { exact, measure, threshold: 0.7, ..ParamsBuilder::default() };
            let mut options = FindOptions::new(Params::new(&builder).unwrap());
            options.pairs = PairList::new(pairs, false).unwrap();
            options.grouping = grouping;
            options.memory.temp_dir = Some(temp.clone());
            let unlimited = essence(&find(&input, &options).unwrap());
            let limit = least(&input, &options);
            options.memory.limit = Some(limit - 1);
            let refused = find(&input, &options).map(|_| ());
            assert!(
                matches!(refused, Err(FindError::MemoryTooSmall { got, least })
                    if (got, least) == (limit - 1, limit)),
                "{refused:?} one byte below {limit}"
            );
            options.memory.limit = Some(limit);
            let limited = find(&input, &options).unwrap();
            assert!(limited.counts.duplicates > 9_000, "{:?}", limited.counts);
            assert_eq!(essence(&limited), unlimited, "{input:?} exact {exact} {measure}");
            drop(limited);
            let left: Vec<_> = std::fs::read_dir(&temp).unwrap().collect();
            assert!(left.is_empty(), "temporary files stay: {left:?}");
            // Columns, buckets and results went through files: without the folder, the run fails.
            options.memory.temp_dir = Some(folder.path().join("missing"));
            let error = find(&input, &options).map(|_| ()).unwrap_err();
            assert!(error.to_string().contains("missing"), "{error}");
        }
    }
}
