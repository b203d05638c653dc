//! Jobs of upkeep. They run one at a time, on their own thread.

use crate::http::problem::{Code, Problem};
use crate::service_state::ServiceState;
use crate::threads::background_thread::BackgroundThread;
use crate::threads::log::Logger;
use lookalike::decisions;
use lookalike::index::time;
use lookalike::store::Index;
use lookalike::store::backend::IndexProblem;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

/// Jobs that are listed.
const LISTED: usize = 20;
/// Problems of a check that are listed; all are counted.
const PROBLEMS: usize = 1_000;
/// The kind of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum JobKind {
    /// Frees the disk space of removed and expired documents.
    Compact,
    /// Reads everything and lists problems.
    Check,
    /// Repairs damage that can be repaired without loss, then checks.
    Repair,
    /// Copies the index.
    Backup,
    /// Removes decisions that are not in force any more.
    #[serde(rename = "compact-decisions")]
    CompactDecisions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum JobState {
    Running,
    Done,
    Failed,
}

/// A job that runs or has run.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct JobRecord {
    number: u64,
    job: JobKind,
    state: JobState,
    started: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<String>,
    /// The outcome, or why there is none.
    #[serde(flatten)]
    outcome: Value,
}

/// The jobs, and the thread of the last one.
#[derive(Default)]
pub(crate) struct Upkeep {
    jobs: Arc<Mutex<VecDeque<JobRecord>>>,
    thread: BackgroundThread,
}

impl Upkeep {
    /// Starts a job on its own thread. Returns a problem if another job runs.
    pub(crate) fn start(
        &self,
        index: &Arc<Index>,
        state: &Arc<ServiceState>,
        log: &Arc<Logger>,
        kind: JobKind,
        to: Option<PathBuf>,
    ) -> Result<JobRecord, Problem> {
        let mut jobs = self.jobs.lock();
        if let Some(last) = jobs.back().filter(|last| last.state == JobState::Running) {
            let detail = format!(
                "job {} is not done yet: GET /v1/upkeep says when it is; then send this again",
                last.number
            );
            return Err(Problem::new(Code::UPKEEP_RUNNING, detail).with("number", last.number));
        }
        let record = JobRecord {
            number: jobs.back().map_or(1, |last| last.number + 1),
            job: kind,
            state: JobState::Running,
            started: time::format(time::now()),
            ended: None,
            outcome: json!({}),
        };
        let all = Arc::clone(&self.jobs);
        let index = Arc::clone(index);
        let state = Arc::clone(state);
        let log = Arc::clone(log);
        let thread = BackgroundThread::start("upkeep", move || {
            let work = || run(&index, &state, kind, to.as_deref());
            let outcome = catch_unwind(AssertUnwindSafe(work))
                .unwrap_or_else(|_| Err(Problem::internal("the thread of upkeep panicked")));
            finish(&all, &log, outcome);
        });
        let thread = thread.map_err(|error| Problem::internal(error.to_string()))?;
        jobs.push_back(record.clone());
        if jobs.len() > LISTED {
            jobs.pop_front();
        }
        drop(jobs);
        self.thread.replace(thread);
        Ok(record)
    }

    /// The jobs, the newest first.
    pub(crate) fn list(&self) -> Vec<JobRecord> {
        self.jobs.lock().iter().rev().cloned().collect()
    }

    /// Waits for the job that runs, if any.
    pub(crate) fn stop(&self) {
        self.thread.join();
    }
}

/// Records the outcome of the job that runs.
fn finish(jobs: &Mutex<VecDeque<JobRecord>>, log: &Logger, outcome: Result<Value, Problem>) {
    let mut jobs = jobs.lock();
    let Some(job) = jobs.back_mut() else { return };
    job.ended = Some(time::format(time::now()));
    (job.state, job.outcome) = match outcome {
        Ok(outcome) => (JobState::Done, outcome),
        Err(problem) => {
            if let Some(note) = &problem.note {
                log.say(&format!("job {} of upkeep: {note}", job.number));
            }
            let outcome = json!({ "code": problem.code.name, "detail": problem.detail });
            (JobState::Failed, outcome)
        }
    };
}

fn run(
    index: &Index,
    state: &ServiceState,
    kind: JobKind,
    to: Option<&std::path::Path>,
) -> Result<Value, Problem> {
    let outcome = match kind {
        JobKind::Compact => {
            let before = index.stats()?;
            index.compact(time::now())?;
            let after = index.stats()?;
            json!({
                "documents": after.documents,
                "bytes_before": before.catalogue_bytes + before.segment_bytes,
                "bytes_after": after.catalogue_bytes + after.segment_bytes,
            })
        }
        JobKind::CompactDecisions => {
            let compacted = decisions::compact_log(index)?;
            json!({ "removed": compacted.removed, "left": compacted.left })
        }
        JobKind::Check => checked(&problems(index, state)?),
        JobKind::Repair => {
            index.repair()?;
            checked(&problems(index, state)?)
        }
        JobKind::Backup => {
            if let Some(to) = to {
                index.backup(to)?;
            }
            let name = to.and_then(|to| to.file_name()).map(|name| name.to_string_lossy());
            json!({ "name": name })
        }
    };
    Ok(outcome)
}

/// The problems of an index and of the file with the state of its service.
fn problems(index: &Index, state: &ServiceState) -> Result<Vec<IndexProblem>, Problem> {
    let mut all = index.check()?;
    all.extend(state.problems().map_err(|error| Problem::internal(error.to_string()))?);
    Ok(all)
}

fn checked(problems: &[IndexProblem]) -> Value {
    let listed = problems.iter().take(PROBLEMS).map(|problem| {
        let IndexProblem { place, what, repairable } = problem;
        json!({ "place": place, "what": what, "repairable": repairable })
    });
    json!({ "problems": listed.collect::<Vec<_>>(), "problems_total": problems.len() })
}
