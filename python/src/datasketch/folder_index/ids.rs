//! Keys of a user's as ids of an index, and back.
//!
//! ```text
//! s:text      a str
//! l:literal   an int, a float, None, a tuple or a frozenset of such
//! b:base64    bytes
//! p:base64    anything else, pickled
//! 2 s:text    the same key, inserted a third time
//! ```
//!
//! What is common is done here, the rest in `lookalike/datasketch/keys.py`.

use crate::error::DocumentError;
use lookalike::store::entry::{MAX_ID_BYTES, MAX_METADATA_BYTES};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};
use std::borrow::Cow;

/// The id of the row that says how many records are not the first of their key; also what that
/// number is called in its metadata.
pub(super) const REPEATED: &str = "repeated";
/// What the pickle of a key is called in the metadata of its row, where the id says another key
/// that is equal.
pub(super) const ORIGINAL: &str = "key";
/// The most records of one key.
pub(super) const MOST_REPEATS: u32 = 1 << 24;
/// The longest id of a key, so that the number of a record goes before it.
const MOST_BYTES: usize = MAX_ID_BYTES - 16;

/// The longest pickle next to an id, as base64, with room for its name.
const MOST_ORIGINAL: usize = MAX_METADATA_BYTES - 64;

/// A key as it is kept.
pub(super) struct Key {
    /// Equal for equal keys.
    pub(super) id: String,
    /// Its pickle as base64, where `id` says another key that is equal.
    pub(super) original: Option<String>,
}

impl Key {
    /// # Errors
    /// `TypeError` for what is not hashable, `DocumentTypeError` for what cannot be pickled,
    /// `DocumentError` for what is too long.
    pub(super) fn of(key: &Bound<'_, PyAny>) -> PyResult<Self> {
        let known = if let Some(id) = simple(key) {
            Self { id, original: None }
        } else {
            let encoded = keys(key.py())?.call_method1("encoded", (key,))?;
            let (id, original) = encoded.extract()?;
            Self { id, original }
        };
        let original = known.original.as_ref().map_or(0, String::len);
        let (got, most) = if original > MOST_ORIGINAL {
            (original, MOST_ORIGINAL)
        } else {
            (known.id.len(), MOST_BYTES)
        };
        if got <= most {
            return Ok(known);
        }
        let shown = keys(key.py())?.call_method1("shown", (key,))?;
        Err(DocumentError::new_err(format!(
            "the key {shown} takes {got} bytes, expected at most {most} where keys are kept in a \
             folder: use a shorter one, such as a hash of it"
        )))
    }
}

fn keys(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("lookalike.datasketch.keys")
}

/// The id of a text or a number, such as most keys are.
fn simple(key: &Bound<'_, PyAny>) -> Option<String> {
    if let Ok(text) = key.cast_exact::<PyString>() {
        let text = text.to_cow().ok()?;
        return (!text.contains('\0')).then(|| format!("s:{text}"));
    }
    let number: i64 = key.cast_exact::<PyInt>().ok()?.extract().ok()?;
    Some(format!("l:{number}"))
}

/// The id of the record of a key with this number, from 0.
pub(super) fn nth(id: &str, number: u32) -> Cow<'_, str> {
    if number == 0 { Cow::Borrowed(id) } else { Cow::Owned(format!("{number} {id}")) }
}

/// The id of the key of a record, and the number of the record.
pub(super) fn split(id: &str) -> (&str, u32) {
    let numbered = id.split_once(' ').and_then(|(number, id)| Some((id, number.parse().ok()?)));
    numbered.filter(|_| id.starts_with(|c: char| c.is_ascii_digit())).unwrap_or((id, 0))
}

/// The key of a row of the index `name`, from its id and, where the id says another key that is
/// equal, its pickle.
///
/// # Errors
/// `DamagedError` for what is no key, `StoreError` for one whose class is not known, and for a
/// pickle unless `allows_pickles`.
pub(super) fn key<'py>(
    py: Python<'py>,
    name: &str,
    number: u64,
    (id, original): (&str, Option<&str>),
    allows_pickles: bool,
) -> PyResult<Bound<'py, PyAny>> {
    if original.is_none() {
        if let Some(text) = id.strip_prefix("s:") {
            return Ok(PyString::new(py, text).into_any());
        }
        let number = id.strip_prefix("l:").and_then(|text| text.parse::<i64>().ok());
        if let Some(number) = number {
            return Ok(number.into_pyobject(py)?.into_any());
        }
    }
    keys(py)?.call_method1("decoded", (name, number, id, original, allows_pickles))
}
