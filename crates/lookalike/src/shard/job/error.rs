//! The error type of a [job in files](crate::shard::job), and the stages that it names.

use crate::engine::FindError;
use crate::error_macros::{wraps_error, wraps_find_error};
use crate::report::OutputError;
use crate::spill::{Difference, fmt_list};
use lookalike_core::parameter::{NamesParameters, ParameterSpelling};
use std::fmt;
use std::path::PathBuf;

/// The most tasks that a message names.
const NAMED_TASKS: usize = 10;
/// The most differences that a message names.
const NAMED_DIFFERENCES: usize = 5;

/// A stage of a job that writes files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobStage {
    /// Counts shingles, if keys are rare shingles: a task per share of the inputs.
    Count,
    /// Adds up the counts of all shares: one task, if shingles are counted.
    Rarity,
    /// Reads, shingles, signs and bands documents: a task per share of the inputs.
    Keys,
    /// Connects documents that share a bucket: a task per part.
    Connect,
    /// Joins the forests of some parts. The number of tasks is the square root of the number of
    /// parts, rounded down.
    Merge,
    /// Finds the components of all documents: one task.
    Label,
    /// Distributes the documents of components over parts: a task per share of the inputs.
    Components,
    /// Verifies and groups components: a task per part.
    Decide,
}

impl JobStage {
    /// All stages, in order.
    pub const ALL: [Self; 8] = [
        Self::Count,
        Self::Rarity,
        Self::Keys,
        Self::Connect,
        Self::Merge,
        Self::Label,
        Self::Components,
        Self::Decide,
    ];

    /// The name of the command that runs tasks of the stage.
    pub fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Rarity => "rarity",
            Self::Keys => "keys",
            Self::Connect => "connect",
            Self::Merge => "merge",
            Self::Label => "label",
            Self::Components => "components",
            Self::Decide => "decide",
        }
    }
}

impl fmt::Display for JobStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An error of a task of a job.
#[derive(Debug)]
#[non_exhaustive]
pub enum JobError {
    /// The documents or temporary files could not be read or compared.
    Find(FindError),
    /// A file of the job could not be written.
    Output(OutputError),
    /// The folder has no plan.
    NoPlan {
        /// The expected file.
        path: PathBuf,
    },
    /// The folder has another plan.
    OtherPlan {
        /// The existing plan.
        path: PathBuf,
        /// The differences.
        differences: Vec<Difference>,
    },
    /// The plan has another version.
    Version {
        /// The plan.
        path: PathBuf,
        /// Its version.
        got: String,
        /// The version of this program.
        expected: String,
    },
    /// The inputs or options differ from the plan.
    Inputs {
        /// The differences, at least one.
        differences: Vec<Difference>,
    },
    /// The plan does not have the task.
    NoTask {
        /// The stage.
        stage: JobStage,
        /// The task.
        got: u32,
        /// The number of tasks of the stage.
        tasks: u32,
    },
    /// Tasks of an earlier stage are missing.
    NotDone {
        /// The earlier stage.
        stage: JobStage,
        /// The number of its tasks.
        tasks: u32,
        /// The missing tasks, at least one.
        missing: Vec<u32>,
    },
    /// The content of a file differs from the content that the task wrote.
    File {
        /// The file.
        path: PathBuf,
        /// The expected and the found content.
        problem: String,
    },
    /// Options that a divided run does not support.
    Unsupported {
        /// The requested option.
        what: &'static str,
    },
}

wraps_find_error!(JobError, Self::Output(error) => error.source());
wraps_error!(JobError::Output(OutputError: Find));

impl NamesParameters for JobError {
    fn fmt_with(&self, f: &mut fmt::Formatter<'_>, name: ParameterSpelling) -> fmt::Result {
        match self {
            Self::Find(error) => error.fmt_with(f, name),
            Self::Output(error) => error.fmt_with(f, name),
            Self::NoPlan { path } => {
                write!(
                    f,
                    "the plan {} does not exist; make one first, or name its folder",
                    path.display()
                )
            }
            Self::OtherPlan { path, differences } => {
                write!(f, "{} is the plan of another job:", path.display())?;
                fmt_list(f, differences, NAMED_DIFFERENCES)?;
                f.write_str(" name another folder, or remove this one")
            }
            Self::Version { path, got, expected } => write!(
                f,
                "{} is a plan of lookalike {got}, this is {expected}; run all tasks with one \
                 version",
                path.display()
            ),
            Self::Inputs { differences } => {
                f.write_str("the inputs differ from the plan:")?;
                fmt_list(f, differences, NAMED_DIFFERENCES)?;
                f.write_str(
                    " run tasks in the working directory of the plan, on inputs that do not \
                     change; make a new plan for changed inputs",
                )
            }
            Self::NoTask { stage, tasks: 0, .. } => {
                write!(f, "the job has no stage {stage}; its status lists its stages")
            }
            Self::NoTask { stage, got, tasks } => {
                write!(f, "the stage {stage} has no task {got}, expected 0 to {}", tasks - 1)
            }
            Self::NotDone { stage, tasks, missing } => {
                let named = missing.iter().take(NAMED_TASKS).map(u32::to_string);
                let named = named.collect::<Vec<_>>().join(" ");
                let more = if missing.len() > NAMED_TASKS { " …" } else { "" };
                write!(
                    f,
                    "{} of the {tasks} tasks of the stage {stage} are not done: {named}{more}; run \
                     them first",
                    missing.len()
                )
            }
            Self::File { path, problem } => {
                write!(f, "{}: {problem}; remove the file and run its task again", path.display())
            }
            Self::Unsupported { what } => write!(
                f,
                "{what} cannot be divided over tasks; run `find` on one machine, or leave it out"
            ),
        }
    }
}
