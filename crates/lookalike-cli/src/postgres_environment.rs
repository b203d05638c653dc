//! Settings of PostgreSQL in the environment, by the names that its own programs use.

use lookalike::store::postgres::Defaults;
use std::path::PathBuf;

/// Reads `PGPASSWORD`, `PGPASSFILE` or `~/.pgpass`, `PGSSLMODE`, and `PGSSLROOTCERT` or
/// `~/.postgresql/root.crt`.
pub(super) fn defaults() -> Defaults {
    let home = variable("HOME").map(PathBuf::from);
    let in_home = |name: &str| home.as_ref().map(|home| home.join(name)).filter(|at| at.is_file());
    let path = |name: &str| variable(name).map(PathBuf::from);
    Defaults {
        password: variable("PGPASSWORD"),
        password_file: path("PGPASSFILE").or_else(|| in_home(".pgpass")),
        ssl_mode: variable("PGSSLMODE"),
        root_certificates: path("PGSSLROOTCERT").or_else(|| in_home(".postgresql/root.crt")),
    }
}

#[expect(clippy::disallowed_methods, reason = "the command line reads the environment")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
