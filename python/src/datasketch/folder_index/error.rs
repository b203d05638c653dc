//! Errors of an index of sketches, and their Python exceptions.

use crate::datasketch::sketch::other_scheme;
use crate::error::{DamagedError, MismatchError, StoreError, index_error};
use lookalike::store::IndexError;
use lookalike::store::error::Unwritable;
use lookalike::store::sketches::BandError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The reason why an operation failed.
pub(super) enum SketchIndexError {
    /// The index is closed.
    Closed,
    /// The folder contains an index of documents.
    Documents,
    /// The parent of the new folder does not exist.
    NoPlace { parent: String },
    /// The keys are pickles of another process, which must not be loaded.
    Pickles,
    /// The index was created with other settings.
    Mismatch { setting: &'static str, has: String, requested: String },
    /// The sketch has another scheme.
    Scheme { known: Option<String>, got: String },
    /// The sketch has another number of bands.
    Bands { expected: usize, got: usize },
    /// A band has another form than the stored bands.
    Unfit(BandError),
    /// A key was inserted too often.
    Repeats { most: u32 },
    /// The folder cannot be used.
    Index(IndexError),
    /// The changes were written, but the new index cannot be opened.
    Left { error: IndexError },
    /// The changes cannot be written and were undone. `count` is their number.
    Undone { error: IndexError, count: usize },
}

impl From<IndexError> for SketchIndexError {
    fn from(error: IndexError) -> Self {
        Self::Index(error)
    }
}

impl From<BandError> for SketchIndexError {
    fn from(unfit: BandError) -> Self {
        Self::Unfit(unfit)
    }
}

impl SketchIndexError {
    /// The exception for the index `name`.
    pub(super) fn reported(self, name: &str) -> PyErr {
        match self {
            Self::Closed => {
                StoreError::new_err(format!("{name} is closed: open it with another MinHashLSH"))
            }
            Self::Documents => StoreError::new_err(format!(
                "{name} is an index of documents, expected one of sketches, or nothing yet: open \
                 it with lookalike.Index.open, or use another path"
            )),
            Self::NoPlace { parent } => StoreError::new_err(format!(
                "cannot create {name}: {parent} is not a folder, or the path names nothing in it; \
                 create the folder first, or use another path"
            )),
            Self::Pickles => StoreError::new_err(format!(
                "{name} was made by another process with prepickle=True, so its keys are pickles, \
                 and loading a pickle can run any code: if you trust the folder, open it with \
                 storage_config={{\"type\": \"lookalike\", \"path\": {name:?}, \"allow_pickle\": \
                 True}}"
            )),
            Self::Mismatch { setting, has, requested } => MismatchError::new_err(format!(
                "{name} was made with {setting} {has}, got {requested}: open it with \
                 {setting} {has}, or use another path"
            )),
            Self::Scheme { known, got } => scheme(name, known.as_deref(), &got),
            Self::Bands { expected, got } => {
                PyValueError::new_err(format!("expected {expected} bands of a key, got {got}"))
            }
            Self::Unfit(unfit) => PyValueError::new_err(unlike(name, unfit)),
            Self::Repeats { most } => PyValueError::new_err(format!(
                "{name} takes a key at most {most} times, it was inserted once more: remove it \
                 first, or use another key"
            )),
            Self::Index(error) => reported(error, name),
            Self::Left { error } => StoreError::new_err(format!(
                "{name} is written, but was not opened again: {error}; open it with another \
                 MinHashLSH"
            )),
            Self::Undone { error, count } => undone(error, count, name),
        }
    }
}

fn scheme(name: &str, known: Option<&str>, got: &str) -> PyErr {
    match known {
        Some(known) => other_scheme(known, got),
        None => PyValueError::new_err(format!(
            "MinHash scheme '{got}' does not match the sketches in {name}, which have none; insert \
             only sketches without a scheme, or use another path"
        )),
    }
}

fn unlike(name: &str, unfit: BandError) -> String {
    match unfit {
        BandError::Length { expected, got } => format!(
            "a band has {got} bytes, but every band in {name} has {expected}; use sketches of one \
             kind, and a hashfunc that returns the same number of bytes for each band"
        ),
        BandError::Value { got } => format!(
            "a value of a sketch with scheme 'legacy' is {got}, expected less than 2**32: name \
             the scheme that its values have"
        ),
    }
}

/// The exception for an error of the folder, with the remedy in Python.
pub(super) fn reported(error: IndexError, name: &str) -> PyErr {
    match &error {
        IndexError::Missing { .. } => StoreError::new_err(format!(
            "index {name} does not exist; name an existing index, or remove 'readonly' to create \
             it"
        )),
        IndexError::Exists { index } => {
            StoreError::new_err(format!("{index} already exists; use another path"))
        }
        IndexError::NotAnIndex { why, .. } => StoreError::new_err(format!(
            "{name} is not an index: {why}; it was not changed, use another path"
        )),
        IndexError::InUse { .. } => StoreError::new_err(format!(
            "{name} is already open, in this process or in another; close() that index first, use \
             another path, or only read it with 'readonly': True"
        )),
        IndexError::ReadOnly { cause: Unwritable::Opened, .. } => StoreError::new_err(format!(
            "{name} was opened with 'readonly': True and cannot be changed; open it without \
             'readonly'"
        )),
        IndexError::ReadOnly { cause: Unwritable::FileSystem | Unwritable::Rights, .. } => {
            StoreError::new_err(format!(
                "{name} cannot be written to: this user has no right to, or its file system is \
                 mounted for reading only; change that, or open it with 'readonly': True"
            ))
        }
        IndexError::Damaged { what, why } => DamagedError::new_err(format!(
            "{name}: {what} is damaged: {why}; check() of the index lists what repair() can \
             restore; restore the rest from a backup()"
        )),
        IndexError::DamagedCatalogue { file, why } => DamagedError::new_err(format!(
            "{file} is damaged: {why}; restore a backup(), or delete the folder and insert the \
             sketches again"
        )),
        _ => index_error(error),
    }
}

fn undone(error: IndexError, count: usize, name: &str) -> PyErr {
    let changes = match count {
        1 => "the change is undone".to_owned(),
        _ => format!("the {count} changes that were not on the disk yet are undone"),
    };
    match error {
        IndexError::DiskFull { .. } => StoreError::new_err(format!(
            "the disk of {name} is full: {changes}; make room, or use another path"
        )),
        IndexError::Exists { .. } => StoreError::new_err(format!(
            "another program created {name} after this index was opened: {changes}; open it again, \
             or use another path"
        )),
        IndexError::Io { .. } | IndexError::Database { .. } => {
            StoreError::new_err(format!("{name} cannot be written to: {error}; {changes}"))
        }
        error => followed_by(&changes, &reported(error, name)),
    }
}

/// Creates an exception of the same type whose message also states that the changes were undone.
fn followed_by(changes: &str, error: &PyErr) -> PyErr {
    Python::attach(|py| {
        PyErr::from_type(error.get_type(py), format!("{}; {changes}", error.value(py)))
    })
}
