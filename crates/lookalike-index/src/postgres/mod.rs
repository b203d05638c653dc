//! An index in a PostgreSQL database.

use crate::backend::Backend;
use crate::error::IndexError;
use crate::index::Access;
use crate::settings::Settings;

/// Makes an index in a database.
///
/// # Errors
/// [`IndexError::Exists`] where there is something.
pub fn create(_url: &str, _: &Settings) -> Result<Box<dyn Backend>, IndexError> {
    Err(IndexError::NotBuilt { index: "postgres://…".to_owned(), feature: "postgres" })
}

/// Opens the index in a database.
///
/// # Errors
/// As [`open`](crate::index::open).
pub fn open(_url: &str, _: Access) -> Result<Box<dyn Backend>, IndexError> {
    Err(IndexError::NotBuilt { index: "postgres://…".to_owned(), feature: "postgres" })
}
