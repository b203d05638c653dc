//! Conversion of a user's keys to ids of an index and back.
//!
//! ```text
//! s:text      a str
//! l:literal   an int, a float, None, a tuple or a frozenset of such
//! b:base64    bytes
//! p:base64    anything else, pickled
//! 2 s:text    the same key, inserted a third time
//! ```
//!
//! Frequent types are converted here, all others in `lookalike/datasketch/keys.py`.

use crate::error::DocumentError;
use lookalike::store::entry::{MAX_ID_BYTES, MAX_METADATA_BYTES};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};
use std::borrow::Cow;

/// The id of the row with the number of records that are not the first of their key. Also the name
/// of this number in the metadata of the row.
pub(super) const REPEATED: &str = "repeated";
/// The name of a key's pickle in the metadata of its row, if the id stands for another, equal key.
pub(super) const ORIGINAL: &str = "key";
/// Maximum number of records of a key.
pub(super) const MOST_REPEATS: u32 = 1 << 24;
/// Maximum length of the id of a key, so that the number of a record fits before it.
const MOST_BYTES: usize = MAX_ID_BYTES - 16;

/// Maximum length of a pickle next to an id, as base64, with room for its name.
const MOST_ORIGINAL: usize = MAX_METADATA_BYTES - 64;

/// A key in its stored form.
pub(super) struct Key {
    /// Equal for equal keys.
    pub(super) id: String,
    /// The pickle of the key as base64, if `id` stands for another, equal key.
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

/// The id of a string or a number, the most frequent types.
fn simple(key: &Bound<'_, PyAny>) -> Option<String> {
    if let Ok(text) = key.cast_exact::<PyString>() {
        let text = text.to_cow().ok()?;
        return (!text.contains('\0')).then(|| format!("s:{text}"));
    }
    let number: i64 = key.cast_exact::<PyInt>().ok()?.extract().ok()?;
    Some(format!("l:{number}"))
}

/// The id of a record of a key, numbered from 0.
pub(super) fn nth(id: &str, number: u32) -> Cow<'_, str> {
    if number == 0 { Cow::Borrowed(id) } else { Cow::Owned(format!("{number} {id}")) }
}

/// The id of the key of a record, and the number of the record.
pub(super) fn split(id: &str) -> (&str, u32) {
    let numbered = id.split_once(' ').and_then(|(number, id)| Some((id, number.parse().ok()?)));
    numbered.filter(|_| id.starts_with(|c: char| c.is_ascii_digit())).unwrap_or((id, 0))
}

/// The key of a row of the index `name`: from its id or, if the id stands for another, equal key,
/// from its pickle.
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
