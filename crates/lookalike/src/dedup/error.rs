//! The error type of `dedup`.

use super::survivors_problem::SurvivorsProblem;
use crate::engine::FindError;
use crate::error_macros::{wraps_error, wraps_find_error};
use crate::report::OutputError;
use lookalike_core::parameter::{NamesParameters, ParameterSpelling};
use std::fmt;
use std::path::PathBuf;

/// An error of writing documents without duplicates, or of an action on duplicate files.
#[derive(Debug)]
#[non_exhaustive]
pub enum DedupError {
    /// The duplicates could not be found.
    Find(FindError),
    /// An output could not be written.
    Output(OutputError),
    /// An action on files was requested for records.
    NotFiles {
        /// The first input.
        source_name: String,
    },
    /// The output cannot hold the kept documents.
    Survivors {
        /// The output.
        path: PathBuf,
        /// The cause with its remedy.
        problem: SurvivorsProblem,
    },
}

wraps_find_error!(DedupError, Self::Output(error) => error.source());
wraps_error!(DedupError::Output(OutputError: Find));

impl NamesParameters for DedupError {
    fn fmt_with(&self, f: &mut fmt::Formatter<'_>, name: ParameterSpelling) -> fmt::Result {
        match self {
            Self::Find(error) => error.fmt_with(f, name),
            Self::Output(error) => error.fmt_with(f, name),
            Self::NotFiles { source_name } => write!(
                f,
                "{source_name} holds records or is an archive: files are moved, linked or listed \
                 in a script if each is one document; write the kept documents to an output"
            ),
            Self::Survivors { path, problem } => {
                write!(f, "cannot write {}: ", path.display())?;
                problem.fmt_with(f, name)
            }
        }
    }
}
