//! An index in a PostgreSQL database: one schema of tables for each index, for several writers and
//! readers on any machine. `docs/reference/postgres.md` describes the tables and the SQL queries
//! that are possible.
//!
//! | file | contents |
//! |---|---|
//! | `address` | parses the address of an index |
//! | `defaults` | defaults of an address: passwords, `sslmode` |
//! | `tls` | TLS, by the modes of PostgreSQL |
//! | `failure` | converts errors of the server |
//! | `pool` | connection pool |
//! | `schema` | creates and checks the tables |
//! | `copy` | bulk insertion |
//! | `postings` | rows of bands |
//! | `side_tables` | side tables over a connection |
//! | `transaction` | the lock of writers, the counts, the commit |
//! | `document_row` | a document of a batch, before the lock is taken |
//! | `write` | a batch of changes as one transaction |
//! | `snapshot` | snapshots |
//! | `row` | conversion of rows to documents |
//! | `compact`, `check`, `repair`, `backup` | maintenance |
//!
//! Calls block, and so does dropping a handle. Do not do either on a thread that runs asynchronous
//! tasks.

mod address;
mod backup;
mod check;
mod compact;
mod copy;
mod defaults;
mod document_row;
mod failure;
mod pool;
mod postings;
mod repair;
mod row;
mod schema;
mod side_tables;
mod snapshot;
mod tls;
mod transaction;
mod write;

pub use address::shown;
pub use defaults::{Defaults, with_defaults};

use crate::access::Access;
use crate::backend::{Backend, Change, ChangeOutcome, IndexProblem, Snapshot, Stats};
use crate::error::{IndexError, Unwritable};
use crate::settings::IndexSettings;
use crate::tables::{Effect, TableWriter, Tables, originals};
use address::Address;
use lookalike_core::error::ParamsError;
use lookalike_core::parameter::Parameter;
use pool::ConnectionPool;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use transaction::{CountChanges, count_and_commit, in_transaction};

/// Minimum time to wait for another writer, which may be adding a large batch.
const MIN_WAIT: Duration = Duration::from_secs(60);

/// Creates an index in a database, as a schema with the name in the address. An empty schema may
/// already exist.
///
/// # Errors
/// [`IndexError::Exists`] if the schema is not empty. [`IndexError::Database`] for an invalid
/// address, and for errors of the server.
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

/// Creates an index in a database from the folder of a [`Backend::backup`], and opens it for
/// writing.
///
/// # Errors
/// [`IndexError::Exists`] if the schema is not empty, [`IndexError::NotAnIndex`] for an incomplete
/// backup, [`IndexError::Version`] for a backup of another version, and errors of the server. After
/// an error, nothing was created.
pub fn restore(url: &str, from: &Path) -> Result<Box<dyn Backend>, IndexError> {
    backup::restore(url, from)?;
    open(url, Access::Write { wait: Duration::ZERO })
}

/// Opens the index in a database. Any number of processes may open it for writing; their batches
/// are serialized.
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
    /// Maximum time to wait for other writers; `None` if the index is open for reading only.
    wait: Option<Duration>,
}

impl PostgresBackend {
    fn wait(&self) -> Result<Duration, IndexError> {
        let index = || self.pool.name().to_owned();
        let cause = Unwritable::Opened;
        self.wait.ok_or_else(|| IndexError::ReadOnly { index: index(), cause })
    }
}

impl TableWriter for PostgresBackend {
    fn change<T>(
        &self,
        mut work: impl FnMut(Tables<'_>) -> Result<(T, Effect), IndexError>,
    ) -> Result<T, IndexError> {
        in_transaction(&self.pool, self.wait()?, |connection, last| {
            let (result, effect) = work(connection)?;
            match effect {
                Effect::Nothing => {}
                Effect::Invisible => {
                    connection.commit()?.map_err(|error| self.pool.failure(&error))?;
                }
                Effect::Visible => count_and_commit(connection, &CountChanges::default(), last)?,
            }
            Ok(result)
        })
    }
}

impl Backend for PostgresBackend {
    fn settings(&self) -> &IndexSettings {
        &self.settings
    }

    fn interrupt(&self) {
        self.pool.interrupt();
    }

    fn name(&self) -> &str {
        self.pool.name()
    }

    fn write(&self, changes: &[Change<'_>]) -> Result<Vec<ChangeOutcome>, IndexError> {
        write::write(&self.pool, &self.settings, self.wait()?, changes)
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>, IndexError> {
        Ok(Box::new(snapshot::PostgresSnapshot::new(&self.pool, &self.settings)?))
    }

    fn compact(&self, now: i64) -> Result<(), IndexError> {
        compact::remove_expired(&self.pool, &self.settings, self.wait()?, now)?;
        if self.settings.store.has_originals() {
            originals::remove_unused(self)?;
        }
        compact::vacuum(&self.pool)
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
