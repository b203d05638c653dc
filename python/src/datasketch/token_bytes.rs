//! Reads the bytes of many tokens in the memory of their Python objects.
//!
//! A tuple keeps the tokens alive, even if their list changes. Neither `bytes` nor the UTF-8 of a
//! `str` ever change, so this module can read them while other threads run Python code. The safe
//! API changes the reference count of each token and needs five calls where this module needs two.
//! It took a third of the time of `update_batch`.
#![expect(unsafe_code, reason = "tokens are borrowed from a tuple, not counted one by one")]

use std::ffi::c_char;

use lookalike_datasketch::allocation;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyList, PyTuple};

use super::memory::memory_error;
use super::tokens::{self, GREAT, TokenText};

/// Maximum number of tokens that are hashed while this thread holds the interpreter's lock.
const SHORT: usize = 1 << 10;

/// Maximum number of tokens that are hashed between two checks for signals and other threads.
const PART: usize = 1 << 12;
/// Maximum number of bytes of these tokens.
const PART_BYTES: usize = 1 << 22;

/// The tokens of one or several sets, kept alive by this value.
#[derive(Default)]
pub(super) struct TokenBytes<'py> {
    /// References that keep the tokens alive.
    tuples: Vec<Bound<'py, PyTuple>>,
    /// Copies of tokens that are neither plain `bytes` nor an allowed `str`, such as a `bytearray`.
    copies: Vec<Bound<'py, PyBytes>>,
    /// The bytes of the tokens. `self` keeps them alive, so the lifetime `'static`
    /// must not become public.
    slices: Vec<&'static [u8]>,
}

impl<'py> TokenBytes<'py> {
    /// Adds all tokens of an iterable.
    ///
    /// # Errors
    /// `TypeError` if it is not iterable, or if a token has no bytes.
    pub(super) fn add(&mut self, tokens: &Bound<'py, PyAny>, text: TokenText) -> PyResult<()> {
        let py = tokens.py();
        // SAFETY: the thread is attached. The call returns a new reference or sets an error.
        let tuple = unsafe {
            Bound::from_owned_ptr_or_err(py, ffi::PySequence_Tuple(tokens.as_ptr()))?
                .cast_into_unchecked::<PyTuple>()
        };
        let length = tuple.len();
        allocation::reserve(&mut self.slices, length).map_err(memory_error)?;
        self.tuples.push(tuple.clone());
        for (place, at) in (0..).zip(0..length) {
            // SAFETY: the tuple has `length` elements. `self` keeps it alive as long as the slices,
            // also if an error ends the loop.
            let slice = unsafe {
                let token = ffi::PyTuple_GetItem(tuple.as_ptr(), place);
                bytes_at(token, text)
            };
            match slice {
                Some(slice) => self.slices.push(slice),
                None => self.add_other(tuple.get_item(at)?, text)?,
            }
        }
        Ok(())
    }

    /// The bytes of all tokens, in order.
    pub(super) fn slices(&self) -> &[&[u8]] {
        &self.slices
    }

    /// The number of tokens.
    pub(super) fn len(&self) -> usize {
        self.slices.len()
    }

    #[cold]
    fn add_other(&mut self, token: Bound<'py, PyAny>, text: TokenText) -> PyResult<()> {
        let bytes = tokens::bytes_of(token, text)?;
        // Convert instances of a subclass to plain `bytes`.
        let bytes = PyBytes::new(bytes.py(), bytes.as_bytes());
        // SAFETY: `copies` keeps the object alive.
        let slice = unsafe { bytes_at(bytes.as_ptr(), TokenText::Refused) };
        self.slices.extend(slice);
        self.copies.push(bytes);
        Ok(())
    }
}

/// Splits `tokens` into parts of at most [`PART`] tokens and [`PART_BYTES`] bytes. A longer token
/// is a part of its own.
pub(super) fn parts<'a>(tokens: &'a [&'a [u8]]) -> impl Iterator<Item = &'a [&'a [u8]]> {
    let mut rest = tokens;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fits = |token: &&&[u8]| {
            bytes += token.len();
            bytes <= PART_BYTES
        };
        let count = rest.iter().take(PART).take_while(fits).count();
        let (part, tail) = rest.split_at(count.max(1).min(rest.len()));
        rest = tail;
        (!part.is_empty()).then_some(part)
    })
}

/// The next tokens of a list.
pub(super) enum ListSlice<'py> {
    /// The value is not a list of plain tokens, or another thread could change it meanwhile.
    Other,
    /// The number of tokens. 0 at the end of the list.
    Short(usize),
    /// A single token of more than [`GREAT`] bytes, which takes long to hash.
    Great(Bound<'py, PyAny>),
}

/// Calls `use_slices` with the bytes of all tokens and returns true, if `tokens` is a list of plain
/// tokens that is short enough to be hashed at once. Otherwise returns false.
pub(super) fn with_short_list<'a>(
    tokens: &'a Bound<'_, PyAny>,
    text: TokenText,
    slices: &mut Vec<&'static [u8]>,
    use_slices: impl FnOnce(&[&'a [u8]]),
) -> bool {
    let length = tokens.cast_exact::<PyList>().map_or(usize::MAX, PyListMethods::len);
    if length > SHORT || !matches!(part_of_list(tokens, 0, text, slices), ListSlice::Short(_)) {
        return false;
    }
    let is_whole = slices.len() == length;
    if is_whole {
        use_slices(slices);
    }
    slices.clear();
    is_whole
}

/// Calls `use_slices` with the bytes of the tokens of a list from a position on, without counting
/// references. Takes at most [`SHORT`] tokens and [`GREAT`] bytes.
pub(super) fn with_part_of_list<'a, 'py>(
    tokens: &'a Bound<'py, PyAny>,
    from: usize,
    text: TokenText,
    slices: &mut Vec<&'static [u8]>,
    use_slices: impl FnOnce(&[&'a [u8]]),
) -> ListSlice<'py> {
    let part = part_of_list(tokens, from, text, slices);
    if matches!(part, ListSlice::Short(1..)) {
        use_slices(slices);
    }
    slices.clear();
    part
}

/// Reads the bytes of the next tokens of a list into `slices`. They are valid until Python code
/// runs: this thread keeps the interpreter's lock, so the list cannot change.
fn part_of_list<'py>(
    tokens: &Bound<'py, PyAny>,
    from: usize,
    text: TokenText,
    slices: &mut Vec<&'static [u8]>,
) -> ListSlice<'py> {
    let py = tokens.py();
    slices.clear();
    let Ok(list) = tokens.cast_exact::<PyList>() else { return ListSlice::Other };
    if !has_lock(py) {
        return ListSlice::Other;
    }
    let length = list.len().saturating_sub(from).min(SHORT);
    let mut bytes = 0;
    for (place, _) in (from.cast_signed()..).zip(0..length) {
        // SAFETY: the list has `length` elements from this position on and owns them. It cannot
        // change before the callers of this function clear the slices: they run no Python code, and
        // no other thread runs any while this one holds the interpreter's lock.
        let slice = unsafe { bytes_at(ffi::PyList_GetItem(list.as_ptr(), place), text) };
        let Some(slice) = slice else { return ListSlice::Other };
        bytes += slice.len();
        if bytes > GREAT {
            break;
        }
        slices.push(slice);
    }
    match (slices.len(), length) {
        (0, 1..) => list.get_item(from).map_or(ListSlice::Other, ListSlice::Great),
        (count, _) => ListSlice::Short(count),
    }
}

/// Returns true if only one thread at a time can run Python code. Lists then do not change while
/// this thread holds the interpreter's lock and runs no Python code.
fn has_lock(py: Python<'_>) -> bool {
    static HAS_LOCK: PyOnceLock<bool> = PyOnceLock::new();
    *HAS_LOCK.get_or_init(py, || {
        let attribute = py.import("sys").and_then(|sys| sys.getattr_opt("_is_gil_enabled"));
        match attribute {
            Ok(None) => true,
            Ok(Some(function)) => {
                function.call0().and_then(|answer| answer.is_truthy()).unwrap_or(false)
            }
            Err(_) => false,
        }
    })
}

/// Returns the bytes of a `bytes` object, or the UTF-8 of a `str` if `text` allows it. Returns
/// `None` for other objects, including instances of subclasses.
///
/// # Safety
/// `token` is alive, and the thread is attached. The bytes must not outlive the token.
unsafe fn bytes_at(token: *mut ffi::PyObject, text: TokenText) -> Option<&'static [u8]> {
    let mut length: ffi::Py_ssize_t = 0;
    // SAFETY: each call follows a check of the type, so that it sets no error. Only a `str` with a
    // lone surrogate has no UTF-8 and sets an error, which is cleared.
    unsafe {
        let mut start: *mut c_char = std::ptr::null_mut();
        if ffi::PyBytes_CheckExact(token) != 0 {
            ffi::PyBytes_AsStringAndSize(token, &raw mut start, &raw mut length);
        } else if text == TokenText::Encoded && ffi::PyUnicode_CheckExact(token) != 0 {
            start = ffi::PyUnicode_AsUTF8AndSize(token, &raw mut length).cast_mut();
            if start.is_null() {
                ffi::PyErr_Clear();
            }
        }
        (!start.is_null()).then(|| std::slice::from_raw_parts(start.cast::<u8>(), length as usize))
    }
}
