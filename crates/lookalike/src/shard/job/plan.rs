//! The plan of a job: the inputs of each task, and the options.

use super::Job;
use super::error::{JobError, JobStage};
use crate::engine::{FindOptions, PairList, describe_run};
use crate::read::{Collection, LaneRange};
use crate::report::OutputError;
use crate::report::part_file::PartFile;
use crate::spill::{SpillError, differences};
use lookalike_core::hash::token_hash;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::{self, Write};
use std::num::NonZeroU32;
use std::path::Path;

/// The version of a job's files.
const FORMAT_VERSION: u32 = 1;
/// The file of the plan.
const PLAN: &str = "plan.json";

impl JobStage {
    /// Returns the name of the file that a task writes.
    pub(super) fn file_name(self, task: u32) -> String {
        match self {
            Self::Count => format!("counted-{task:05}.lks"),
            Self::Rarity => "rarity.lks".to_owned(),
            Self::Keys => format!("keys-{task:05}.lks"),
            Self::Connect => format!("connected-{task:05}.lks"),
            Self::Merge => format!("merged-{task:05}.lks"),
            Self::Label => "labels.lks".to_owned(),
            Self::Components => format!("components-{task:05}.lks"),
            Self::Decide => format!("decided-{task:05}.lks"),
        }
    }
}

/// The numbers of tasks of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Division {
    /// Tasks of each stage with a task per share, such as `keys`.
    pub shares: NonZeroU32,
    /// Tasks of each stage with a task per part: `connect` and `decide`.
    pub parts: NonZeroU32,
}

/// The values that all tasks of a job share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobPlan {
    format_version: u32,
    lookalike: String,
    /// The arguments with which the caller can open the same collection with the same options.
    arguments: Vec<String>,
    ids_by_file: bool,
    /// Whether the job first counts shingles, because its keys are rare shingles.
    counted: bool,
    parts: NonZeroU32,
    shares: Vec<Vec<LaneRange>>,
    /// Inputs and options, compared by every task that reads documents.
    run: Value,
}

impl JobPlan {
    /// The arguments that the caller passed to [`Job::create`].
    pub fn arguments(&self) -> &[String] {
        &self.arguments
    }

    /// Whether ids of records found in folders begin with the name of their file. If so, call
    /// [`Collection::name_ids_by_file`] before reading documents.
    pub fn has_ids_by_file(&self) -> bool {
        self.ids_by_file
    }

    /// The stages of the job, in order.
    pub fn stages(&self) -> impl Iterator<Item = JobStage> {
        JobStage::ALL.into_iter().filter(|stage| self.tasks(*stage) > 0)
    }

    /// The number of tasks of a stage.
    pub fn tasks(&self, stage: JobStage) -> u32 {
        match stage {
            JobStage::Count | JobStage::Rarity if !self.counted => 0,
            JobStage::Count | JobStage::Keys | JobStage::Components => self.shares.len() as u32,
            JobStage::Connect | JobStage::Decide => self.parts.get(),
            // The square root balances the number of tasks and the number of forests that each task
            // joins.
            JobStage::Merge => self.parts.get().isqrt(),
            JobStage::Rarity | JobStage::Label => 1,
        }
    }

    /// The number of parts into which later stages divide documents.
    pub(super) fn parts(&self) -> NonZeroU32 {
        self.parts
    }

    /// The inputs of a task of the stage `count` or `keys`.
    pub(super) fn share(&self, task: u32) -> &[LaneRange] {
        self.shares.get(task as usize).map_or(&[], Vec::as_slice)
    }
}

impl Job {
    /// Divides a collection and writes the plan into `folder`, which is created if necessary. Keeps
    /// an existing plan if it is equal.
    ///
    /// # Errors
    /// [`JobError::OtherPlan`] if another plan exists, the errors of [`open`](Self::open) for an
    /// existing plan, [`JobError::Unsupported`] for estimates and for leaving out repeated ids;
    /// errors of writing, and
    /// [`ReadError::NotAgain`](crate::read::ReadError::NotAgain) for streams.
    pub fn create(
        folder: &Path,
        collection: &Collection,
        options: &FindOptions,
        division: Division,
        arguments: Vec<String>,
    ) -> Result<Self, JobError> {
        refuse(options)?;
        let plan = JobPlan {
            format_version: FORMAT_VERSION,
            lookalike: env!("CARGO_PKG_VERSION").to_owned(),
            arguments,
            ids_by_file: collection.has_ids_by_file(),
            counted: options.params.exact(),
            parts: division.parts,
            shares: collection.divide(division.shares),
            run: describe_run(collection, options)?,
        };
        let path = folder.join(PLAN);
        let failed = |source| OutputError::Write { path: path.clone(), source };
        std::fs::create_dir_all(folder).map_err(failed)?;
        let mut text = serde_json::to_vec_pretty(&plan).map_err(|error| failed(error.into()))?;
        text.push(b'\n');
        let mut file = PartFile::create(&path).map_err(failed)?;
        let written = file.as_file_mut().write_all(&text);
        written.and_then(|()| file.as_file().sync_all()).map_err(failed)?;
        match file.persist_new(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Self::open_same(folder, &plan);
            }
            Err(source) => return Err(failed(source).into()),
        }
        Ok(Self { folder: folder.to_owned(), plan, digest: token_hash(&text) })
    }

    /// Opens the existing job, if its plan equals the new one.
    fn open_same(folder: &Path, plan: &JobPlan) -> Result<Self, JobError> {
        let existing = Self::open(folder)?;
        if existing.plan == *plan {
            return Ok(existing);
        }
        let [stored, requested] = [&existing.plan, plan].map(serde_json::to_value);
        let stored = stored.unwrap_or_default();
        let requested = requested.unwrap_or_default();
        let differences = differences(&stored, &requested);
        Err(JobError::OtherPlan { path: folder.join(PLAN), differences })
    }

    /// Opens the job in a folder.
    ///
    /// # Errors
    /// [`JobError::NoPlan`], [`JobError::Version`], [`JobError::File`], and [`JobError::Find`] if
    /// the plan cannot be read.
    pub fn open(folder: &Path) -> Result<Self, JobError> {
        let path = folder.join(PLAN);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(JobError::NoPlan { path });
            }
            Err(source) => return Err(SpillError::Io { path, source }.into()),
        };
        let damaged = |error: serde_json::Error| JobError::File {
            path: path.clone(),
            problem: format!("not the plan of a job: {error}"),
        };
        let versions: PlanVersions = serde_json::from_slice(&text).map_err(damaged)?;
        let expected = env!("CARGO_PKG_VERSION");
        if versions.format_version != FORMAT_VERSION || versions.lookalike != expected {
            let got = format!("{} (format {})", versions.lookalike, versions.format_version);
            let expected = format!("{expected} (format {FORMAT_VERSION})");
            return Err(JobError::Version { path, got, expected });
        }
        let plan = serde_json::from_slice(&text).map_err(damaged)?;
        Ok(Self { folder: folder.to_owned(), plan, digest: token_hash(&text) })
    }

    /// Refuses inputs and options other than the plan's.
    pub(super) fn check_run(
        &self,
        collection: &Collection,
        options: &FindOptions,
    ) -> Result<(), JobError> {
        let differences = differences(&self.plan.run, &describe_run(collection, options)?);
        if differences.is_empty() { Ok(()) } else { Err(JobError::Inputs { differences }) }
    }
}

/// The versions of a plan. They are read first, because the rest may have another form.
#[derive(Deserialize)]
struct PlanVersions {
    format_version: u32,
    lookalike: String,
}

fn refuse(options: &FindOptions) -> Result<(), JobError> {
    let what = if options.pairs == PairList::WithEstimates {
        "estimates of signatures"
    } else if options.skip_repeated_ids {
        "leaving out repeated ids"
    } else {
        return Ok(());
    };
    Err(JobError::Unsupported { what })
}
