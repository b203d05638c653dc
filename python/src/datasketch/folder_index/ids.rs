//! Converts a user's keys to ids of an index and back.
//!
//! ```text
//! s:text      a str
//! l:literal   an int, a float, None, a tuple or a frozenset of such
//! b:base64    bytes
//! p:base64    anything else, pickled
//! 2 s:text    the same key, inserted a third time
//! ```
//!
//! This module converts most strings and integers. `lookalike/datasketch/keys.py` converts all
//! other keys.

use crate::error::DocumentError;
use lookalike::store::entry::{MAX_ID_BYTES, MAX_METADATA_BYTES};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};
use std::borrow::Cow;

/// The id of the row that stores the number of repeated records, which are not the first of their
/// key. Also the name of this number in the metadata of the row.
pub(super) const REPEATED: &str = "repeated";
/// The name of a key's pickle in the metadata of its row. Only a key whose id represents an equal
/// key of another type has a pickle there.
pub(super) const ORIGINAL: &str = "key";
/// Maximum number of records of a key.
pub(super) const MOST_REPEATS: u32 = 1 << 24;
/// Maximum length of a key's id in bytes, which leaves room for a record number before the id.
const MOST_BYTES: usize = MAX_ID_BYTES - 16;

/// Maximum length in bytes of a pickle as base64 in the metadata, which leaves room for its name.
const MOST_ORIGINAL: usize = MAX_METADATA_BYTES - 64;

/// A key in its stored form.
pub(super) struct Key {
    /// The id, which is the same for equal keys.
    pub(super) id: String,
    /// The pickle of the key as base64, if `id` represents an equal key of another type.
    pub(super) original: Option<String>,
}

impl Key {
    /// # Errors
    /// `TypeError` for a key that is not hashable, `DocumentTypeError` for one that cannot be
    /// pickled, `DocumentError` for one that is too long.
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
        let key_text = keys(key.py())?.call_method1("shown", (key,))?;
        Err(DocumentError::new_err(format!(
            "the key {key_text} takes {got} bytes, expected at most {most} where keys are kept in \
             a folder: use a shorter one, such as a hash of it"
        )))
    }
}

fn keys(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("lookalike.datasketch.keys")
}

/// Returns the id of a string or an integer, the most frequent types. Returns `None` for other
/// types, a string with a null character or a lone surrogate, and an integer beyond 64 bits.
fn simple(key: &Bound<'_, PyAny>) -> Option<String> {
    if let Ok(text) = key.cast_exact::<PyString>() {
        let text = text.to_cow().ok()?;
        return (!text.contains('\0')).then(|| format!("s:{text}"));
    }
    let number: i64 = key.cast_exact::<PyInt>().ok()?.extract().ok()?;
    Some(format!("l:{number}"))
}

/// Returns the id of a record of a key. Records are numbered from 0.
pub(super) fn nth(id: &str, number: u32) -> Cow<'_, str> {
    if number == 0 { Cow::Borrowed(id) } else { Cow::Owned(format!("{number} {id}")) }
}

/// Splits the id of a record into the id of its key and the number of the record.
pub(super) fn split(id: &str) -> (&str, u32) {
    let numbered = id.split_once(' ').and_then(|(number, id)| Some((id, number.parse().ok()?)));
    numbered.filter(|_| id.starts_with(|c: char| c.is_ascii_digit())).unwrap_or((id, 0))
}

/// Restores the key of row `number` of the index `name`. Reads the pickle `original` if the id
/// represents an equal key of another type, otherwise the id.
///
/// # Errors
/// `DamagedError` if the row does not contain a key. `StoreError` if the class of the key is
/// unknown, and for a pickle without `allows_pickles`.
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
