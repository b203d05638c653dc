//! An index in a PostgreSQL database: one schema of tables for each index, for several writers and
//! readers on any machine. `docs/reference/postgres.md` describes the tables and what can be asked
//! in SQL.
//!
//! | file | is |
//! |---|---|
//! | `address` | the text that names server, database and index |
//! | `defaults` | what an address leaves out: passwords, `sslmode` |
//! | `tls` | TLS, by the modes of PostgreSQL |
//! | `failure` | what the server says, as an error of the index |
//! | `pool` | connections, used again; lost ones made again |
//! | `schema` | making the tables, and bringing them to this version |
//! | `plan` | the effect of a batch of changes, without the database |
//! | `copy` | rows as the server copies them in bulk |
//! | `postings` | rows of bands |
//! | `write` | a batch of changes as one transaction |
//! | `snapshot` | reading at one moment |
//! | `row` | a row as a document |
//! | `compact`, `check`, `repair`, `backup` | upkeep |
//!
//! Calls wait for the server and may not be made, nor handles dropped, on a thread that runs
//! asynchronous tasks: hand them to one that may block.

mod address;
mod backup;
mod check;
mod compact;
mod copy;
mod defaults;
mod failure;
mod plan;
mod pool;
mod postings;
mod repair;
mod row;
mod schema;
mod snapshot;
mod tls;
mod write;

pub use defaults::{Defaults, with_defaults};

use crate::access::Access;
use crate::backend::{Backend, Change, ChangeOutcome, IndexProblem, Snapshot, Stats};
use crate::error::{IndexError, Unwritable};
use crate::settings::IndexSettings;
use address::Address;
use lookalike_core::error::ParamsError;
use lookalike_core::parameter::Parameter;
use pool::ConnectionPool;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long a writer is waited for at least: one that is at work may be adding a large batch.
const MIN_WAIT: Duration = Duration::from_secs(60);

/// Makes an index in a database, as a schema with the name that the address gives; the schema may
/// be there already if nothing is in it.
///
/// # Errors
/// [`IndexError::Exists`] where there is something, [`IndexError::Database`] for an address that
/// cannot be read and for what the server says.
pub fn create(url: &str, settings: &IndexSettings) -> Result<Box<dyn Backend>, IndexError> {
    let backend = new(url, settings, MIN_WAIT)?;
    Ok(Box::new(backend))
}

fn new(url: &str, settings: &IndexSettings, wait: Duration) -> Result<PostgresBackend, IndexError> {
    if settings.containment.is_some() {
        return Err(IndexError::Params(ParamsError::Parse {
            parameter: Parameter::Measure,
            got: "containment, for an index in PostgreSQL".to_owned(),
            expected: "jaccard, or an index in a folder, which finds containment",
        }));
    }
    let pool = Arc::new(ConnectionPool::new(Address::parse(url)?, false));
    schema::create(&pool, settings)?;
    Ok(PostgresBackend { pool, settings: settings.clone(), wait: Some(wait) })
}

/// Creates an index in a database from the folder that [`Backend::backup`] of another one wrote,
/// and opens it for writing.
///
/// # Errors
/// [`IndexError::Exists`] where there is something in the database, [`IndexError::NotAnIndex`] for
/// a folder that is no whole copy, [`IndexError::Version`] for one of another version, and what the
/// server says. Nothing is made then.
pub fn restore(url: &str, from: &Path) -> Result<Box<dyn Backend>, IndexError> {
    backup::restore(url, from)?;
    open(url, Access::Write { wait: Duration::ZERO })
}

/// Opens the index in a database. Any number of processes may open it for writing; their batches
/// take turns.
///
/// # Errors
/// As [`open`](crate::index::open), and as [`create`].
pub fn open(url: &str, access: Access) -> Result<Box<dyn Backend>, IndexError> {
    let wait = match access {
        Access::Read => None,
        Access::Write { wait } => Some(wait.max(MIN_WAIT)),
    };
    let pool = Arc::new(ConnectionPool::new(Address::parse(url)?, wait.is_none()));
    let settings = schema::open(&pool)?;
    Ok(Box::new(PostgresBackend { pool, settings, wait }))
}

struct PostgresBackend {
    pool: Arc<ConnectionPool>,
    settings: IndexSettings,
    /// How long other writers are waited for; `None` where nothing may be written.
    wait: Option<Duration>,
}

impl PostgresBackend {
    fn wait(&self) -> Result<Duration, IndexError> {
        let index = || self.pool.name().to_owned();
        let cause = Unwritable::Opened;
        self.wait.ok_or_else(|| IndexError::ReadOnly { index: index(), cause })
    }
}

impl Backend for PostgresBackend {
    fn settings(&self) -> &IndexSettings {
        &self.settings
    }

    fn name(&self) -> &str {
        self.pool.name()
    }

    fn write(&self, changes: &[Change<'_>]) -> Result<Vec<ChangeOutcome>, IndexError> {
        write::write(&self.pool, &self.settings, self.wait()?, changes)
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>, IndexError> {
        Ok(Box::new(snapshot::PostgresSnapshot::new(&self.pool)?))
    }

    fn compact(&self, now: i64) -> Result<(), IndexError> {
        compact::compact(&self.pool, &self.settings, self.wait()?, now)
    }

    fn check(&self) -> Result<Vec<IndexProblem>, IndexError> {
        check::check(&self.pool, &self.settings)
    }

    fn repair(&self) -> Result<(), IndexError> {
        repair::repair(&self.pool, &self.settings, self.wait()?)
    }

    fn stats(&self) -> Result<Stats, IndexError> {
        compact::stats(&self.pool, &self.settings)
    }

    fn backup(&self, to: &Path) -> Result<(), IndexError> {
        backup::backup(&self.pool, &self.settings, to)
    }
}
