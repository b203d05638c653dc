//! Connection pool: connections are opened on demand, reused, and dropped when they are lost.

use super::address::Address;
use super::failure::{failure, is_lost};
use crate::error::IndexError;
use parking_lot::Mutex;
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::ToSql;
use postgres::{Client, Error, Row, SimpleQueryMessage, Statement};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Maximum number of idle connections.
const MAX_IDLE: usize = 16;

/// Connections to one index.
pub(super) struct ConnectionPool {
    address: Address,
    read_only: bool,
    idle: Mutex<Vec<Session>>,
    interrupted: AtomicBool,
}

/// A connection with its prepared statements.
pub(super) struct Session {
    /// The connection.
    pub(super) client: Client,
    statements: BTreeMap<String, Statement>,
}

impl Session {
    /// The prepared statement of this text.
    pub(super) fn statement(&mut self, sql: &str) -> Result<Statement, Error> {
        if let Some(known) = self.statements.get(sql) {
            return Ok(known.clone());
        }
        let statement = self.client.prepare(sql)?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

impl ConnectionPool {
    pub(super) fn new(address: Address, read_only: bool) -> Self {
        Self { address, read_only, idle: Mutex::default(), interrupted: AtomicBool::new(false) }
    }

    pub(super) fn name(&self) -> &str {
        &self.address.name
    }

    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    pub(super) fn failure(&self, error: &Error) -> IndexError {
        failure(self.name(), error)
    }

    /// Executes `sql` as the first statement on a connection, and returns both. If an idle
    /// connection is lost, `sql` is executed again on another one, so `sql` must commit nothing.
    pub(super) fn begin(
        self: &Arc<Self>,
        sql: &str,
    ) -> Result<(PooledConnection, Vec<SimpleQueryMessage>), IndexError> {
        self.try_begin(sql)?.map_err(|error| self.failure(&error))
    }

    /// Like [`begin`](Self::begin); the inner error is the error of `sql`.
    pub(super) fn try_begin(
        self: &Arc<Self>,
        sql: &str,
    ) -> Result<Result<(PooledConnection, Vec<SimpleQueryMessage>), Error>, IndexError> {
        loop {
            self.poll()?;
            let idle = self.idle().pop();
            let is_used = idle.is_some();
            let session = match idle {
                Some(session) => session,
                None => self.connect()?,
            };
            let mut connection = PooledConnection {
                pool: Arc::clone(self),
                session: Some(session),
                is_settled: false,
            };
            match connection.session()?.client.simple_query(sql) {
                Ok(answer) => return Ok(Ok((connection, answer))),
                // The other idle connections are as old, so they are probably lost as well.
                Err(error) if is_used && is_lost(&error) => self.idle().clear(),
                Err(error) => return Ok(Err(error)),
            }
        }
    }

    fn connect(&self) -> Result<Session, IndexError> {
        let client = self.address.connect();
        let mut client = client.map_err(|error| self.failure(&error))?;
        // The statements look up few rows of many. The planner does not always know that, because
        // the statistics of new and growing tables are out of date.
        let session = format!(
            "SET search_path TO {}; SET jit = off; SET enable_seqscan = off; \
             SET enable_mergejoin = off; SET enable_hashjoin = off; \
             SET client_min_messages = warning; SET standard_conforming_strings = on; \
             SET default_transaction_read_only = {}; \
             SELECT set_config('synchronous_commit', 'on', false) \
             WHERE current_setting('synchronous_commit') = 'off'",
            self.address.quoted(),
            if self.read_only { "on" } else { "off" },
        );
        client.batch_execute(&session).map_err(|error| self.failure(&error))?;
        Ok(Session { client, statements: BTreeMap::new() })
    }

    /// Makes all later statements fail.
    pub(super) fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Relaxed);
    }

    /// Ends a loop over stored data after an interruption.
    fn poll(&self) -> Result<(), IndexError> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(IndexError::Interrupted { index: self.name().to_owned() });
        }
        Ok(())
    }

    fn idle(&self) -> parking_lot::MutexGuard<'_, Vec<Session>> {
        self.idle.lock()
    }
}

/// A connection in use. Dropping it rolls back an open transaction.
pub(super) struct PooledConnection {
    pool: Arc<ConnectionPool>,
    session: Option<Session>,
    is_settled: bool,
}

impl PooledConnection {
    pub(super) fn pool(&self) -> &Arc<ConnectionPool> {
        &self.pool
    }

    /// The connection.
    pub(super) fn session(&mut self) -> Result<&mut Session, IndexError> {
        let without_session =
            || IndexError::transient(self.pool.name(), "the connection was given back");
        self.session.as_mut().ok_or_else(without_session)
    }

    /// Executes a statement and returns its rows.
    pub(super) fn query(
        &mut self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, IndexError> {
        let pool = Arc::clone(&self.pool);
        pool.poll()?;
        let session = self.session()?;
        let rows = session.statement(sql).and_then(|known| session.client.query(&known, values));
        rows.map_err(|error| pool.failure(&error))
    }

    /// Calls `each` with the rows of a statement as they arrive.
    pub(super) fn stream(
        &mut self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
        mut each: impl FnMut(&Row) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        let pool = Arc::clone(&self.pool);
        pool.poll()?;
        let failure = |error: Error| pool.failure(&error);
        let session = self.session()?;
        let statement = session.statement(sql).map_err(failure)?;
        let values: Vec<&dyn ToSql> = values.iter().map(|value| *value as &dyn ToSql).collect();
        let mut rows = session.client.query_raw(&statement, values).map_err(failure)?;
        while let Some(row) = rows.next().map_err(failure)? {
            pool.poll()?;
            each(&row)?;
        }
        Ok(())
    }

    /// Executes a statement that returns one row; `description` names the row in the error if it is
    /// missing.
    pub(super) fn query_one(
        &mut self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
        description: &str,
    ) -> Result<Row, IndexError> {
        self.query(sql, values)?.into_iter().next().ok_or_else(|| {
            let why = format!("the server returned no row for {description}, expected one");
            IndexError::database(self.pool.name(), why)
        })
    }

    /// Commits the transaction. The inner error is the error of the server or of the connection,
    /// which indicates whether the transaction may have been committed.
    pub(super) fn commit(&mut self) -> Result<Result<(), Error>, IndexError> {
        let result = self.session()?.client.batch_execute("COMMIT");
        self.is_settled = result.is_ok();
        Ok(result)
    }

    /// Executes statements without results.
    pub(super) fn execute(&mut self, sql: &str) -> Result<(), IndexError> {
        let pool = Arc::clone(&self.pool);
        self.session()?.client.batch_execute(sql).map_err(|error| pool.failure(&error))
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        let Some(mut session) = self.session.take() else { return };
        let is_settled = self.is_settled || session.client.batch_execute("ROLLBACK").is_ok();
        if session.client.is_closed() || !is_settled {
            return;
        }
        let mut idle = self.pool.idle();
        if idle.len() < MAX_IDLE {
            idle.push(session);
        }
    }
}
