//! Runs the conformance tests, which every index must pass, on indexes in PostgreSQL.
#![cfg(feature = "postgres")]
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod lost;
mod originals;
mod tables;
mod tls;
mod writers;

use crate::conformance::Place;
use lookalike_index::backend::Backend;
use lookalike_index::index::Access;
use lookalike_index::settings::IndexSettings;
use lookalike_test_support::postgres_server::{self, PostgresServer};
use std::path::Path;
use std::time::Duration;

/// An index that is removed when this value is dropped.
struct Postgres {
    url: String,
}

const WRITE: Access = Access::Write { wait: Duration::from_secs(60) };

fn postgres_open(url: &str, access: Access) -> Box<dyn Backend> {
    lookalike_index::postgres::open(url, access).unwrap()
}

impl Postgres {
    /// Returns the index with this name, which need not exist.
    fn named(server: &PostgresServer, name: &str) -> Self {
        Self { url: server.index(name) }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let (Some(server), false) = (postgres_server::server(), std::thread::panicking()) {
            postgres_server::drop_index(server, &self.url);
        }
    }
}

impl Place for Postgres {
    fn create(&self, settings: &IndexSettings) -> Box<dyn Backend> {
        lookalike_index::postgres::create(&self.url, settings).unwrap()
    }

    fn reopen(&self, backend: Box<dyn Backend>) -> Box<dyn Backend> {
        drop(backend);
        postgres_open(&self.url, WRITE)
    }

    fn reader(&self) -> Option<Box<dyn Backend>> {
        Some(postgres_open(&self.url, Access::Read))
    }

    fn restored(&self, backup: &Path) -> Option<Box<dyn Backend>> {
        let url = postgres_server::server()?.fresh();
        Some(lookalike_index::postgres::restore(&url, backup).unwrap())
    }
}

fn fresh() -> Postgres {
    Postgres { url: postgres_server::server().unwrap().fresh() }
}

crate::conformance::suite!(fresh, postgres_server::server().is_some());

#[test]
fn originals_and_versions_are_kept() {
    if postgres_server::server().is_none() {
        return;
    }
    crate::conformance::versions_equal_the_model(fresh);
    crate::conformance::versions_follow_their_document(fresh);
    crate::conformance::removed_documents_are_no_bases(fresh);
    crate::conformance::originals_over_the_limit_are_refused(fresh);
    crate::conformance::an_index_without_originals_says_so(fresh);
}
