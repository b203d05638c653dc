//! Where an index is, and how it is opened.

use crate::cmd::Failure;
use crate::span::patience;
use clap::Args;
use lookalike::store::Index;
use lookalike::store::index::{Access, Place, open};
use std::path::PathBuf;
use std::time::Duration;

/// The index.
#[derive(Debug, Args)]
pub(in crate::cmd) struct PlaceArgs {
    /// A folder, or `postgres://user:password@host/database?index=name`
    #[arg(value_name = "INDEX")]
    index: String,
}

impl PlaceArgs {
    /// Where it is.
    pub(super) fn place(&self) -> Place {
        Place::of(&self.index)
    }

    /// Opens it to look at it.
    pub(in crate::cmd) fn read(&self) -> Result<Index, Failure> {
        Ok(open(&self.place(), Access::Read)?)
    }

    /// Opens it to change it.
    pub(super) fn write(&self, wait: &WaitArgs) -> Result<Index, Failure> {
        Ok(open(&self.place(), Access::Write { wait: wait.wait })?)
    }

    /// Its folder, if it is in one: no input.
    pub(in crate::cmd) fn folder(&self) -> Option<PathBuf> {
        match self.place() {
            Place::Folder(folder) => Some(folder),
            Place::Postgres(_) => None,
        }
    }
}

/// What is done where somebody else writes.
#[derive(Debug, Args)]
pub(super) struct WaitArgs {
    /// How long another process that writes to the index is waited for, such as 500ms, 30s or 2min
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = patience)]
    wait: Duration,
}

/// How it is told.
#[derive(Debug, Args)]
pub(super) struct ReadingArgs {
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}
