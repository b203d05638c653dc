//! A run in files. Each task of a stage reads files of the job's folder and writes one file, which
//! appears when it is complete. Tasks can be started by any tool (a shell loop, a batch scheduler)
//! on machines that share a file system.
//!
//! ```text
//! plan        once               → plan.json
//! count       a task per share   → counted-00007.lks    how often shingles occur } of exact runs
//! rarity      once               → rarity.lks           the sums of these          }
//! keys        a task per share   → keys-00007.lks       documents, bucket keys, notes
//! connect     a task per part    → connected-00003.lks  a forest of documents that share buckets
//! merge       √parts tasks       → merged-00002.lks     the joined forests of some parts
//! label       once               → labels.lks           the component of each document
//! components  a task per share   → components-00007.lks its documents in components, by part
//! decide      a task per part    → decided-00003.lks    groups, pairs, counts
//! finish      once               → Findings
//! ```
//!
//! A killed task leaves no file under its name and is run again. Running a task twice yields the
//! same file. Files name their plan and have a checksum for each section.
//! `docs/reference/shard-job.md` specifies them.

mod components;
mod connect;
mod count;
mod decide;
mod error;
mod finish;
mod keys;
mod merge;
mod node_components;
mod plan;
mod section_file;

pub use error::{JobError, JobStage};
pub use plan::{Division, JobPlan};

use crate::spill::SpillError;
use section_file::{SectionFile, SectionWriter};
use std::io;
use std::path::{Path, PathBuf};

/// A job: its folder and its plan.
#[derive(Debug)]
pub struct Job {
    folder: PathBuf,
    plan: JobPlan,
    /// The hash of the plan, which every file contains.
    digest: u64,
}

impl Job {
    /// The plan.
    pub fn plan(&self) -> &JobPlan {
        &self.plan
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the tasks of a stage that have no file.
    ///
    /// # Errors
    /// [`SpillError::Io`] if the folder cannot be read.
    pub fn missing(&self, stage: JobStage) -> Result<Vec<u32>, JobError> {
        let mut missing = Vec::new();
        for task in 0..self.plan.tasks(stage) {
            let path = self.path(stage, task);
            match path.try_exists() {
                Ok(true) => {}
                Ok(false) => missing.push(task),
                Err(source) => return Err(SpillError::Io { path, source }.into()),
            }
        }
        Ok(missing)
    }

    /// Returns the tasks of a stage whose file is empty or truncated, for example by an incomplete
    /// copy. Reads only the ends of files; [`is_done`](Self::is_done) reads a whole file.
    ///
    /// # Errors
    /// [`SpillError::Io`] if a file cannot be read.
    pub fn cut_short(&self, stage: JobStage) -> Result<Vec<u32>, JobError> {
        let mut cut = Vec::new();
        for task in 0..self.plan.tasks(stage) {
            let path = self.path(stage, task);
            match section_file::is_whole(&path) {
                Ok(true) => {}
                Ok(false) => cut.push(task),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => return Err(SpillError::Io { path, source }.into()),
            }
        }
        Ok(cut)
    }

    /// Whether a task has written its file. Reads the file once, so that damage is noticed before
    /// later stages need it.
    ///
    /// # Errors
    /// [`JobError`] if the task does not exist, or if its file is damaged or belongs to another
    /// plan.
    pub fn is_done(&self, stage: JobStage, task: u32) -> Result<bool, JobError> {
        self.check_task(stage, task)?;
        if !self.path(stage, task).exists() {
            return Ok(false);
        }
        self.open_file(stage, task)?.check_all().map(|()| true)
    }

    fn path(&self, stage: JobStage, task: u32) -> PathBuf {
        self.folder.join(stage.file_name(task))
    }

    /// Refuses a task that the plan does not have.
    fn check_task(&self, stage: JobStage, task: u32) -> Result<(), JobError> {
        let tasks = self.plan.tasks(stage);
        if task < tasks { Ok(()) } else { Err(JobError::NoTask { stage, got: task, tasks }) }
    }

    /// Returns an error unless all tasks of a stage are done.
    fn require(&self, stage: JobStage) -> Result<(), JobError> {
        let missing = self.missing(stage)?;
        if missing.is_empty() {
            return Ok(());
        }
        Err(JobError::NotDone { stage, tasks: self.plan.tasks(stage), missing })
    }

    fn open_file(&self, stage: JobStage, task: u32) -> Result<SectionFile, JobError> {
        SectionFile::open(self.path(stage, task), self.digest)
    }

    fn create_file(&self, stage: JobStage, task: u32) -> Result<SectionWriter, JobError> {
        SectionWriter::create(self.path(stage, task), self.digest)
    }
}
