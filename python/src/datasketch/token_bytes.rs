//! Bytes of many tokens, read where Python keeps them.
//!
//! A tuple of the tokens keeps them alive, whatever becomes of the list that they came in, and
//! neither bytes nor the UTF-8 of a `str` ever change: so they can be read by other threads while
//! Python goes on. The safe calls count every token up and down and ask five times for what two
//! calls tell, which took a third of the time of `update_batch`.
#![expect(unsafe_code, reason = "tokens are borrowed from a tuple, not counted one by one")]

use std::ffi::c_char;

use lookalike_datasketch::allocation;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyList, PyTuple};

use super::memory::memory_error;
use super::tokens::{self, GREAT, TokenText};

/// Tokens that are hashed in some microseconds.
const SHORT: usize = 1 << 10;

/// Tokens that are hashed between two looks at what else there is to do.
const PART: usize = 1 << 12;
/// The same, as bytes.
const PART_BYTES: usize = 1 << 22;

/// Tokens of one set or several, alive as long as this.
#[derive(Default)]
pub(super) struct TokenBytes<'py> {
    /// What keeps the tokens alive.
    tuples: Vec<Bound<'py, PyTuple>>,
    /// Bytes made for tokens that have a buffer only.
    made: Vec<Bound<'py, PyBytes>>,
    /// Their bytes; nobody sees that lifetime.
    slices: Vec<&'static [u8]>,
}

impl<'py> TokenBytes<'py> {
    /// Adds all tokens of an iterable.
    ///
    /// # Errors
    /// `TypeError` if it is none, or one of its tokens has no bytes.
    pub(super) fn add(&mut self, tokens: &Bound<'py, PyAny>, text: TokenText) -> PyResult<()> {
        let py = tokens.py();
        // SAFETY: the thread is attached; a new reference comes back, or an error is set.
        let tuple = unsafe {
            Bound::from_owned_ptr_or_err(py, ffi::PySequence_Tuple(tokens.as_ptr()))?
                .cast_into_unchecked::<PyTuple>()
        };
        let length = tuple.len();
        allocation::reserve(&mut self.slices, length).map_err(memory_error)?;
        self.tuples.push(tuple.clone());
        for (place, at) in (0..).zip(0..length) {
            // SAFETY: there are `length` elements, and they belong to the tuple, which `self` keeps
            // as long as the slices, also where an error ends the loop.
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

    /// How many tokens there are.
    pub(super) fn len(&self) -> usize {
        self.slices.len()
    }

    #[cold]
    fn add_other(&mut self, token: Bound<'py, PyAny>, text: TokenText) -> PyResult<()> {
        let bytes = tokens::bytes_of(token, text)?;
        // An object of bytes itself, also for one of a class made from it.
        let bytes = PyBytes::new(bytes.py(), bytes.as_bytes());
        // SAFETY: `made` keeps it.
        let slice = unsafe { bytes_at(bytes.as_ptr(), TokenText::Refused) };
        self.slices.extend(slice);
        self.made.push(bytes);
        Ok(())
    }
}

/// `tokens` in parts that do not take long to hash, though a part with one token may.
pub(super) fn parts<'a>(tokens: &'a [&'a [u8]]) -> impl Iterator<Item = &'a [&'a [u8]]> {
    let mut rest = tokens;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fits = |token: &&&[u8]| {
            bytes += token.len();
            bytes <= PART_BYTES
        };
        let count = rest.iter().take(PART).take_while(fits).count();
        let (part, behind) = rest.split_at(count.max(1).min(rest.len()));
        rest = behind;
        (!part.is_empty()).then_some(part)
    })
}

/// What there is in a list from a place on.
pub(super) enum ListSlice<'py> {
    /// It is no list, or it has a token of another class.
    Other,
    /// This many tokens, none at its end.
    Short(usize),
    /// One token, which takes long to hash.
    Great(Bound<'py, PyAny>),
}

/// Calls `use_slices` with the bytes of all tokens of a list, if it is a short one of short tokens;
/// whether it was.
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

/// Calls `use_slices` with the bytes of the tokens of a list from a place on, of as many as are
/// hashed in no time, without counting any of them.
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

/// The bytes of the next tokens of a list, for as long as nothing of Python is run: the thread
/// stays attached, so the list stays as it is.
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
        // SAFETY: there are `length` elements from there, which belong to the list, and nothing
        // can change it before the callers of this function clear the slices: they run nothing of
        // Python, and no other thread does while this one holds the interpreter's lock.
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

/// Whether only one thread at a time runs Python, so that lists stay as they are meanwhile.
fn has_lock(py: Python<'_>) -> bool {
    static HAS_LOCK: PyOnceLock<bool> = PyOnceLock::new();
    *HAS_LOCK.get_or_init(py, || {
        let asked = py.import("sys").and_then(|sys| sys.getattr_opt("_is_gil_enabled"));
        match asked {
            Ok(None) => true,
            Ok(Some(ask)) => ask.call0().and_then(|answer| answer.is_truthy()).unwrap_or(false),
            Err(_) => false,
        }
    })
}

/// The bytes of an object of bytes, or the UTF-8 of a `str` where that is meant; nothing for
/// others, also of classes made from these.
///
/// # Safety
/// `token` is alive, and the thread is attached. The bytes must not be used longer than it lives.
unsafe fn bytes_at(token: *mut ffi::PyObject, text: TokenText) -> Option<&'static [u8]> {
    let mut length: ffi::Py_ssize_t = 0;
    // SAFETY: the type is asked before each call, so that none of them sets an error, but for a
    // `str` without UTF-8 (with half of a surrogate pair), whose error is cleared.
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
