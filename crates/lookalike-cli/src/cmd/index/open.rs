//! The place of an index, and the ways to open it.

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
    /// Returns the location of the index.
    ///
    /// # Errors
    /// See [`place`].
    pub(super) fn place(&self) -> Result<IndexLocation, CommandError> {
        place(&self.index)
    }

    /// Opens the index to read it.
    pub(in crate::cmd) fn read(&self) -> Result<Index, CommandError> {
        Ok(open(&self.place()?, Access::Read)?)
    }

    /// Opens the index to change it. Does not wait for a service that has the index open.
    pub(super) fn write(&self, wait: &WaitArgs) -> Result<Index, CommandError> {
        let place = self.place()?;
        match open(&place, Access::Write { wait: Duration::ZERO }) {
            Err(IndexError::InUse { service: None, .. }) => {
                Ok(open(&place, Access::Write { wait: wait.wait })?)
            }
            opened => Ok(opened?),
        }
    }

    /// Returns a client of the service that the user named, or `None` for any other place.
    #[cfg(feature = "serve")]
    pub(super) fn service(&self) -> Result<Option<ServiceClient>, CommandError> {
        is_service(&self.index).then(|| ServiceClient::new(&self.index)).transpose()
    }

    /// Rejects inputs in the folder of the index. See [`refuse_inputs_within`].
    pub(super) fn refuse_as_input(&self, inputs: &[PathBuf]) -> Result<(), CommandError> {
        refuse_inputs_within(&self.index, inputs)
    }

    /// Returns the folder of the index, if it has one. Inputs in this folder are left out.
    pub(in crate::cmd) fn folder(&self) -> Option<PathBuf> {
        match IndexLocation::of(&self.index) {
            IndexLocation::Folder(folder) => Some(folder),
            IndexLocation::Postgres(_) => None,
        }
    }
}

/// The time to wait for another process that writes to the index.
#[derive(Debug, Args)]
pub(super) struct WaitArgs {
    /// How long another process that writes to the index is waited for, such as 500ms, 30s or 2min
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = patience)]
    wait: Duration,
}

/// The format of the printed output.
#[derive(Debug, Args)]
pub(super) struct ReadingArgs {
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}
