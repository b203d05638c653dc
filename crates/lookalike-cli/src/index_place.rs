//! Where an index is.

use crate::cmd::CommandError;
use lookalike::store::index::IndexLocation;

/// Where an index is; an address of PostgreSQL gets from the environment what it does not say.
///
/// # Errors
/// An address or a file of passwords that cannot be read.
pub(crate) fn place(text: &str) -> Result<IndexLocation, CommandError> {
    if ["http://", "https://"].iter().any(|scheme| text.starts_with(scheme)) {
        return Err(CommandError::Usage(format!(
            "{} is a service: index add, update, remove, export, compact, check and backup ask one \
             (where the program is built with `serve`), this command opens an index itself",
            lookalike::report::phrases::one_line(text)
        )));
    }
    match IndexLocation::of(text) {
        #[cfg(feature = "postgres")]
        IndexLocation::Postgres(url) => {
            let defaults = crate::postgres_environment::defaults();
            Ok(IndexLocation::Postgres(lookalike::store::postgres::with_defaults(&url, &defaults)?))
        }
        place => Ok(place),
    }
}
