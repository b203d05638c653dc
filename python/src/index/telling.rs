//! Errors of an index, with remedies as Python has them.

use crate::error::{self, StoreError};
use lookalike::store::IndexError;
use lookalike::store::error::Unwritable;
use pyo3::prelude::*;

/// What an index came to.
pub(super) fn told(error: IndexError) -> PyErr {
    match &error {
        IndexError::Missing { index } => StoreError::new_err(format!(
            "there is no index {index}: lookalike.Index.create makes one"
        )),
        IndexError::Exists { index } => StoreError::new_err(format!(
            "{index} exists already: choose another name, or open it with lookalike.Index.open"
        )),
        IndexError::NotBuilt { index, feature } => StoreError::new_err(format!(
            "{index}: this package was built without the feature {feature}, expected the path of a \
             folder; with it from source such an index can be used, too"
        )),
        IndexError::ReadOnly { index, cause: Unwritable::Opened } => StoreError::new_err(format!(
            "{index} was opened with read_only=True, a writing one is needed: open it with \
             lookalike.Index.open(…, read_only=False)"
        )),
        IndexError::ReadOnly { index, cause: Unwritable::FileSystem } => {
            StoreError::new_err(format!(
                "{index} cannot be written to: its file system is mounted for reading only; mount \
                 it for writing, or open the index with read_only=True"
            ))
        }
        IndexError::ReadOnly { index, cause: Unwritable::Rights } => StoreError::new_err(format!(
            "{index} cannot be written to: this user has no right to write to its folder and \
             files; work as their owner, or open it with read_only=True"
        )),
        IndexError::InUse { index, waited } => StoreError::new_err(format!(
            "another process writes to {index}, or another Index of this one does (waited {} s): \
             close that one, use it, or open this one with read_only=True",
            waited.as_secs()
        )),
        IndexError::NoSets { what } => StoreError::new_err(format!(
            "the index keeps no shingle sets, without which there is no {what}: create it with \
             store=\"sets\""
        )),
        IndexError::IdTaken { id } => error::DocumentError::new_err(format!(
            "document {id:?} is there already, expected a new id: Index.update replaces it, \
             on_existing=\"keep\" leaves it as it is"
        )),
        IndexError::Damaged { what, why } => error::DamagedError::new_err(format!(
            "{what} is damaged: {why}; Index.check says what can be repaired"
        )),
        IndexError::DamagedCatalogue { file, why } => error::DamagedError::new_err(format!(
            "{file} is damaged: {why}; restore a backup, or save what can be read with \
             Index.export"
        )),
        _ => error::index_error(error),
    }
}

/// The same error with another text.
pub(super) fn retold(py: Python<'_>, error: PyErr, text: String) -> PyErr {
    let same_type = error.get_type(py).call1((text,)).map(PyErr::from_value);
    same_type.unwrap_or(error)
}
