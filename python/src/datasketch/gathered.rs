//! Bytes of many tokens, read where Python keeps them.
//!
//! A tuple of the tokens keeps them alive, whatever becomes of the list that they came in, and
//! neither bytes nor the UTF-8 of a `str` ever change: so they can be read by other threads while
//! Python goes on. The safe calls count every token up and down and ask five times for what two
//! calls tell, which took a third of the time of `update_batch`.
#![expect(unsafe_code, reason = "tokens are borrowed from a tuple, not counted one by one")]

use std::ffi::c_char;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

use super::tokens::{self, Text};

/// Tokens that are hashed in some microseconds.
const SHORT: usize = 1 << 10;

/// Tokens of one set or several, alive as long as this.
#[derive(Default)]
pub(super) struct Gathered<'py> {
    /// What keeps the tokens alive.
    tuples: Vec<Bound<'py, PyTuple>>,
    /// Bytes made for tokens that have a buffer only.
    made: Vec<Bound<'py, PyBytes>>,
    /// Their bytes; nobody sees that lifetime.
    slices: Vec<&'static [u8]>,
}

impl<'py> Gathered<'py> {
    /// Adds all tokens of an iterable.
    ///
    /// # Errors
    /// `TypeError` if it is none, or one of its tokens has no bytes.
    pub(super) fn add(&mut self, tokens: &Bound<'py, PyAny>, text: Text) -> PyResult<()> {
        let py = tokens.py();
        // SAFETY: the thread is attached; a new reference comes back, or an error is set.
        let tuple = unsafe {
            Bound::from_owned_ptr_or_err(py, ffi::PySequence_Tuple(tokens.as_ptr()))?
                .cast_into_unchecked::<PyTuple>()
        };
        let length = tuple.len();
        self.slices.reserve(length);
        for (place, at) in (0..).zip(0..length) {
            // SAFETY: there are `length` elements, and they belong to the tuple, which is not
            // dropped before the slices: `self` keeps it, also where an error ends the loop, as
            // slices are only given out by `self`.
            let slice = unsafe {
                let token = ffi::PyTuple_GetItem(tuple.as_ptr(), place);
                bytes_at(token, text)
            };
            match slice {
                Some(slice) => self.slices.push(slice),
                None => self.add_other(tuple.get_item(at)?, text)?,
            }
        }
        self.tuples.push(tuple);
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
    fn add_other(&mut self, token: Bound<'py, PyAny>, text: Text) -> PyResult<()> {
        let bytes = tokens::bytes_of(token, text)?;
        // An object of bytes itself, also for one of a class made from it.
        let bytes = PyBytes::new(bytes.py(), bytes.as_bytes());
        // SAFETY: `made` keeps it.
        let slice = unsafe { bytes_at(bytes.as_ptr(), Text::Refused) };
        self.slices.extend(slice);
        self.made.push(bytes);
        Ok(())
    }
}

/// [`with_part_of_list`] of a whole list, if it is short; whether it was.
pub(super) fn with_short_list<'a>(
    tokens: &'a Bound<'_, PyAny>,
    text: Text,
    slices: &mut Vec<&'static [u8]>,
    use_slices: impl FnOnce(&[&'a [u8]]),
) -> bool {
    let is_short = tokens.cast_exact::<PyList>().is_ok_and(|list| list.len() <= SHORT);
    is_short && with_part_of_list(tokens, 0, text, slices, use_slices).is_some()
}

/// Calls `use_slices` with the bytes of the tokens of a list from a place on, of as many as make a
/// short one, without counting any of them: the thread stays attached and runs nothing of Python
/// meanwhile, so the list stays as it is. How many they were; `None`, and nothing is called, if it
/// is no list, or a token is of another class.
pub(super) fn with_part_of_list<'a>(
    tokens: &'a Bound<'_, PyAny>,
    from: usize,
    text: Text,
    slices: &mut Vec<&'static [u8]>,
    use_slices: impl FnOnce(&[&'a [u8]]),
) -> Option<usize> {
    let list = tokens.cast_exact::<PyList>().ok()?;
    let length = list.len().saturating_sub(from).min(SHORT);
    slices.clear();
    for (place, _) in (from.cast_signed()..).zip(0..length) {
        // SAFETY: there are `length` elements from there, which belong to the list, and nothing
        // can change it before this function returns; the slices are cleared then.
        let slice = unsafe { bytes_at(ffi::PyList_GetItem(list.as_ptr(), place), text) };
        match slice {
            Some(slice) => slices.push(slice),
            None => return None,
        }
    }
    use_slices(slices);
    slices.clear();
    Some(length)
}

/// The bytes of an object of bytes, or the UTF-8 of a `str` where that is meant; nothing for
/// others, also of classes made from these.
///
/// # Safety
/// `token` is alive, and the thread is attached. The bytes must not be used longer than it lives.
unsafe fn bytes_at(token: *mut ffi::PyObject, text: Text) -> Option<&'static [u8]> {
    let mut length: ffi::Py_ssize_t = 0;
    // SAFETY: the type is asked before each call, so that none of them sets an error, but for a
    // `str` without UTF-8 (with half of a surrogate pair), whose error is cleared.
    unsafe {
        let mut start: *mut c_char = std::ptr::null_mut();
        if ffi::PyBytes_CheckExact(token) != 0 {
            ffi::PyBytes_AsStringAndSize(token, &raw mut start, &raw mut length);
        } else if text == Text::Encoded && ffi::PyUnicode_CheckExact(token) != 0 {
            start = ffi::PyUnicode_AsUTF8AndSize(token, &raw mut length).cast_mut();
            if start.is_null() {
                ffi::PyErr_Clear();
            }
        }
        (!start.is_null()).then(|| std::slice::from_raw_parts(start.cast::<u8>(), length as usize))
    }
}
