//! Conversion of Python tokens to hashes.

use lookalike_datasketch::scheme::PermutationScheme;
use lookalike_datasketch::token_hasher::TokenHasher;
use pyo3::exceptions::{PyBufferError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PyString};

/// Number of bytes that take a few tenths of a millisecond to hash. Longer tokens are hashed
/// without the interpreter's lock.
pub(super) const GREAT: usize = 1 << 17;

/// The handling of `str` tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TokenText {
    /// A `str` is an error, as in `hashlib`.
    Refused,
    /// A `str` is converted to UTF-8.
    Encoded,
}

/// Returns the bytes of a token.
///
/// # Errors
/// `TypeError` for a `str`, if `text` rejects it, and for an object without bytes.
pub(super) fn bytes_of(token: Bound<'_, PyAny>, text: TokenText) -> PyResult<Bound<'_, PyBytes>> {
    match token.cast_into::<PyBytes>() {
        Ok(bytes) => Ok(bytes),
        Err(error) => bytes_of_other(&error.into_inner(), text),
    }
}

#[cold]
fn refused(token: &Bound<'_, PyAny>) -> PyErr {
    let name = token.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!(
        "object supporting the buffer API required: a token must be bytes, got {name}"
    ))
}

fn bytes_of_other<'py>(
    token: &Bound<'py, PyAny>,
    text: TokenText,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = token.py();
    if let Ok(string) = token.cast::<PyString>() {
        if text == TokenText::Encoded {
            return Ok(PyBytes::new(py, string.to_str()?.as_bytes()));
        }
        return Err(PyTypeError::new_err(
            "Strings must be encoded before hashing: expected bytes, got str; \
             pass token.encode('utf-8')",
        ));
    }
    let view = PyMemoryView::from(token).map_err(|_| refused(token))?;
    if !view.getattr("c_contiguous")?.is_truthy()? {
        let text = "a token must be contiguous bytes, got a buffer with gaps; pass bytes(token)";
        let is_view = token.is_instance_of::<PyMemoryView>();
        return Err(if is_view {
            PyBufferError::new_err(text)
        } else {
            PyValueError::new_err(text)
        });
    }
    let bytes = view.call_method0("tobytes").map_err(|_| refused(token))?;
    bytes.cast_into::<PyBytes>().map_err(|_| refused(token))
}

/// Hashes a token. Releases the interpreter's lock if the token is long.
pub(super) fn hash_one(hasher: TokenHasher, token: &Bound<'_, PyBytes>) -> u64 {
    let bytes = token.as_bytes();
    if bytes.len() < GREAT {
        return hasher.hash(bytes);
    }
    token.py().detach(|| hasher.hash(bytes))
}

/// Hashes `token` with a user's function.
///
/// # Errors
/// Exceptions of the function. `ValueError` (for `legacy`, `OverflowError`) for a number that is
/// too great or negative. `TypeError` for a result that is not an integer.
pub(super) fn own_hash(
    scheme: PermutationScheme,
    function: &Bound<'_, PyAny>,
    token: Bound<'_, PyAny>,
) -> PyResult<u64> {
    let hash = function.call1((token,))?;
    let number = hash.extract::<u64>();
    let limit = if scheme == PermutationScheme::Affine32 { u64::from(u32::MAX) } else { u64::MAX };
    match number {
        Ok(number) if number <= limit => Ok(number),
        _ if hash.call_method0("__index__").is_err() => Err(PyTypeError::new_err(format!(
            "hashfunc must return an integer, got {}",
            hash.get_type().name()?
        ))),
        _ if scheme == PermutationScheme::Legacy => Err(PyOverflowError::new_err(format!(
            "hashfunc returned a value out of range for scheme 'legacy': expected 0 to {limit}, \
             got {hash}"
        ))),
        _ => Err(PyValueError::new_err(format!(
            "hashfunc returned a value out of range for scheme '{}': expected 0 to {limit}, got \
             {hash}. Use a hash function matching the scheme width, or scheme='affine64' for \
             64-bit hash values.",
            scheme.name()
        ))),
    }
}
