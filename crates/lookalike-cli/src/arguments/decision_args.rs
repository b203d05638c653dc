//! The option that names user decisions.

use crate::cmd::CommandError;
use crate::index_place;
use clap::Args;
use lookalike::decisions::{self, Decisions, ReviewDecision};
use lookalike::store::index::{Access, open};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The option for user decisions.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Which documents are kept")]
pub(crate) struct DecisionArgs {
    /// User decisions about documents: pairs of duplicates, other pairs, documents to keep. A file
    /// with a JSON object per line (docs/reference/decisions.md), or an index with decisions
    #[arg(long, value_name = "FILE|INDEX")]
    decisions: Option<PathBuf>,
}

impl DecisionArgs {
    /// Returns the decisions in force, or `None` without `--decisions`.
    ///
    /// # Errors
    /// The file or the index cannot be read, or a line is not a decision.
    pub(crate) fn read(&self) -> Result<Option<Arc<Decisions>>, CommandError> {
        let Some(place) = &self.decisions else { return Ok(None) };
        Ok(Some(Arc::new(Decisions::new(read(place)?))))
    }
}

/// Reads decisions from a file, or from the log of an index.
fn read(named: &Path) -> Result<Vec<ReviewDecision>, CommandError> {
    let Some(location) = index_place::among_inputs(named)? else {
        return Ok(decisions::read_file(named)?);
    };
    Ok(decisions::of_index(&open(&location, Access::Read)?, 0)?)
}
