//! Where an index is.

use crate::cmd::CommandError;
use lookalike::store::index::IndexLocation;

/// Where an index is; an address of PostgreSQL gets from the environment what it does not say.
///
/// # Errors
/// An address or a file of passwords that cannot be read.
pub(crate) fn place(text: &str) -> Result<IndexLocation, CommandError> {
    match IndexLocation::of(text) {
        #[cfg(feature = "postgres")]
        IndexLocation::Postgres(url) => {
            let defaults = crate::postgres_environment::defaults();
            Ok(IndexLocation::Postgres(lookalike::store::postgres::with_defaults(&url, &defaults)?))
        }
        place => Ok(place),
    }
}
