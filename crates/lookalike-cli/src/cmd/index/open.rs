//! Where an index is, and how it is opened.

use crate::arguments::duration::patience;
use crate::cmd::CommandError;
use crate::index_place::{place, refuse_inputs_within};
#[cfg(feature = "serve")]
use crate::service::service_client::{ServiceClient, is_service};
use clap::Args;
use lookalike::store::index::{Access, IndexLocation, open};
use lookalike::store::{Index, IndexError};
use std::path::PathBuf;
use std::time::Duration;

/// The index.
#[derive(Debug, Args)]
pub(in crate::cmd) struct PlaceArgs {
    /// A folder, or `postgres://user@host/database?index=name`
    #[cfg_attr(
        feature = "postgres",
        arg(long_help = "A folder, or `postgres://user@host/database?index=name` with the \
            password in PGPASSWORD or ~/.pgpass. `index add`, `update`, `remove`, `export`, \
            `compact`, `check` and `backup` also take the address of `lookalike serve`, such as \
            http://127.0.0.1:8377, with a token in LOOKALIKE_SERVICE_TOKEN")
    )]
    #[cfg_attr(not(feature = "postgres"), arg(help = "A folder"))]
    #[arg(value_name = "INDEX")]
    index: String,
}

impl PlaceArgs {
    /// Where it is.
    ///
    /// # Errors
    /// As [`place`].
    pub(super) fn place(&self) -> Result<IndexLocation, CommandError> {
        place(&self.index)
    }

    /// Opens it to look at it.
    pub(in crate::cmd) fn read(&self) -> Result<Index, CommandError> {
        Ok(open(&self.place()?, Access::Read)?)
    }

    /// Opens it to change it. A service that has it open is not waited for.
    pub(super) fn write(&self, wait: &WaitArgs) -> Result<Index, CommandError> {
        let place = self.place()?;
        match open(&place, Access::Write { wait: Duration::ZERO }) {
            Err(IndexError::InUse { service: None, .. }) => {
                Ok(open(&place, Access::Write { wait: wait.wait })?)
            }
            opened => Ok(opened?),
        }
    }

    /// The service that has it open, if that is what was named.
    #[cfg(feature = "serve")]
    pub(super) fn service(&self) -> Result<Option<ServiceClient>, CommandError> {
        is_service(&self.index).then(|| ServiceClient::new(&self.index)).transpose()
    }

    /// Refuses inputs in its folder, as [`refuse_inputs_within`].
    pub(super) fn refuse_as_input(&self, inputs: &[PathBuf]) -> Result<(), CommandError> {
        refuse_inputs_within(&self.index, inputs)
    }

    /// Its folder, if it is in one: no input.
    pub(in crate::cmd) fn folder(&self) -> Option<PathBuf> {
        match IndexLocation::of(&self.index) {
            IndexLocation::Folder(folder) => Some(folder),
            IndexLocation::Postgres(_) => None,
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

/// How it is printed.
#[derive(Debug, Args)]
pub(super) struct ReadingArgs {
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}
