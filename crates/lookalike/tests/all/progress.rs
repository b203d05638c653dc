//! Cancelled work ends. Every stage of passages and contamination reports progress up to its total.
#![allow(clippy::unwrap_used, reason = "a test")]

use lookalike::contamination::{BenchmarkField, ContaminationOptions, contamination};
use lookalike::core::params::{Case, TokenRule};
use lookalike::error::Error;
use lookalike::find::FindError;
use lookalike::passages::{PassageOptions, passages_in};
use lookalike::progress::{Interruption, Progress, Stage};
use lookalike::read::{Collection, ReadOptions};
use parking_lot::Mutex;
use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A stage that began, with its progress.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CountedStage {
    stage: Stage,
    total: Option<u64>,
    done: u64,
    has_ended: bool,
}

/// Records the progress of stages, and cancels the work at the n-th check.
pub(crate) struct Until {
    remaining: AtomicU64,
    checks: AtomicU64,
    stages: Mutex<Vec<CountedStage>>,
}

/// Cancels the work after this many checks.
pub(crate) fn until(questions: u64) -> Until {
    let (remaining, checks) = (AtomicU64::new(questions), AtomicU64::new(0));
    Until { remaining, checks, stages: Mutex::new(Vec::new()) }
}

impl Until {
    /// Returns the number of checks.
    pub(crate) fn checks(&self) -> u64 {
        self.checks.load(Ordering::Relaxed)
    }

    /// Returns the stages so far.
    fn stages(&self) -> Vec<CountedStage> {
        self.stages.lock().clone()
    }
}

impl Progress for Until {
    fn begin(&self, stage: Stage, total: Option<u64>) {
        let counted = CountedStage { stage, total, done: 0, has_ended: false };
        self.stages.lock().push(counted);
    }

    fn advance(&self, done: u64) -> Result<(), Interruption> {
        self.checks.fetch_add(1, Ordering::Relaxed);
        if let Some(last) = self.stages.lock().last_mut() {
            last.done += done;
        }
        let less = |count: u64| count.checked_sub(1);
        let remaining = self.remaining.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        remaining.map(drop).map_err(|_| Interruption)
    }

    fn end(&self, stage: Stage, _: Duration) {
        let mut stages = self.stages.lock();
        for counted in stages.iter_mut().rev().filter(|counted| counted.stage == stage).take(1) {
            counted.has_ended = true;
        }
    }
}

/// Cancels the work at the first check, the last one and some between. Returns the stages in which
/// it stopped.
pub(crate) fn stopped_in<E: Into<Error>>(work: impl Fn(&Until) -> Result<(), E>) -> Vec<Stage> {
    let work = |until: &Until| work(until).map_err(E::into);
    let uncancelled = until(u64::MAX);
    work(&uncancelled).unwrap();
    let questions = uncancelled.checks();
    let mut last = Vec::new();
    for after in [0, 1, questions / 4, questions / 2, questions - 1] {
        let until = until(after);
        let stopped = work(&until);
        let is_interrupted = matches!(stopped, Err(Error::Find(FindError::Interrupted)));
        assert!(is_interrupted, "after {after} of {questions}");
        last.extend(until.stages().last().map(|counted| counted.stage));
    }
    last
}

/// Writes documents of several blocks, which have a paragraph in common.
fn corpus(folder: &Path) -> PathBuf {
    let shared = (0..40).map(|at| format!("shared{at}")).collect::<Vec<_>>().join(" ");
    let line = |document: u64| {
        let own = (0..200).map(|at| format!("d{document}w{at} ")).collect::<Vec<_>>().concat();
        serde_json::json!({ "id": format!("d{document}"), "text": own + &shared }).to_string()
    };
    let lines: Vec<String> = (0..3000).map(line).collect();
    let path = folder.join("corpus.jsonl");
    std::fs::write(&path, lines.join("\n")).unwrap();
    path
}

fn open(path: &Path) -> Collection {
    Collection::open(&[path.to_owned()], &ReadOptions::default()).unwrap()
}

/// Checks the progress of a complete run. Returns its stages.
fn counted<E: Into<Error> + Debug>(run: impl Fn(&Until) -> Result<(), E>) -> Vec<CountedStage> {
    let uncancelled = until(u64::MAX);
    run(&uncancelled).unwrap();
    let stages = uncancelled.stages();
    for stage in &stages {
        assert!(stage.has_ended, "{stage:?}");
        assert!(stage.total.is_none_or(|total| total > 0 && stage.done == total), "{stage:?}");
    }
    assert!(uncancelled.checks() > 3);
    stopped_in(run);
    stages
}

#[test]
fn passages_report_stages_and_cancel() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = corpus(folder.path());
    let options = PassageOptions::new(20, TokenRule::Words, Case::Fold).unwrap();
    let options = options.with_threads(NonZeroUsize::new(2).unwrap());
    let stages = counted(|until| passages_in(&open(&corpus), &options, until).map(drop));
    let names: Vec<Stage> = stages.iter().map(|counted| counted.stage).collect();
    assert_eq!(names, [Stage::Prepare, Stage::Select, Stage::Compare]);
    assert!(stages.iter().all(|counted| counted.total.is_some()), "{stages:?}");
}

#[test]
fn contamination_reports_stages_and_cancels() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = corpus(folder.path());
    let items = folder.path().join("items.txt");
    std::fs::write(&items, (10..30).map(|at| format!("shared{at} ")).collect::<Vec<_>>().concat())
        .unwrap();
    let mut options = ContaminationOptions::new().unwrap();
    options.threads = NonZeroUsize::new(2).unwrap();
    let stages = counted(|until| {
        let items = open(&items);
        let fields = [BenchmarkField { name: None, collection: &items }];
        contamination(&open(&corpus), &fields, &options, until).map(drop)
    });
    let names: Vec<Stage> = stages.iter().map(|counted| counted.stage).collect();
    assert_eq!(names, [Stage::ReadBenchmark, Stage::Scan]);
    assert!(stages[1].total.is_some(), "{stages:?}");
}
