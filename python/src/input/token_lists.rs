//! Converts lists of tokens to texts, which the engine splits at white space again.

use crate::arrow::array_chunks::ArrayChunks;
use crate::error::{DocumentError, DocumentTypeError};
use crate::input::text::{self, TextRows, at_row};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, FieldRef};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use std::sync::Arc;

/// Replaces white space within a token, because the engine would split the token there.
const MARK: char = '\u{241f}';

/// A list of tokens as a text; `None` for a row without a list.
type JoinedTokens = Option<Box<[u8]>>;

/// Joins the tokens of each row of a column of lists, tuples or `NumPy` arrays of `str`.
///
/// # Errors
/// `DocumentTypeError` with the row number for a row or a token of another type. `DocumentError`
/// with the row number for a token with a lone surrogate.
pub(crate) fn of_python(values: &Bound<'_, PyAny>, label: &str) -> PyResult<TextRows> {
    let blank = PyString::new(values.py(), " ");
    let mut texts = Vec::with_capacity(values.len().unwrap_or_default());
    for (row, tokens) in values.try_iter()?.enumerate() {
        texts.push(python_text(&tokens?, row, &blank, label)?);
    }
    Ok(TextRows::of_owned(texts.into_iter()))
}

fn python_text(
    tokens: &Bound<'_, PyAny>,
    row: usize,
    blank: &Bound<'_, PyString>,
    label: &str,
) -> PyResult<JoinedTokens> {
    if text::is_missing(tokens) {
        return Ok(None);
    }
    let tokens = listed(tokens, row, label)?;
    // The interpreter joins tokens faster than they can be read one by one.
    match blank.call_method1("join", (&tokens,)) {
        Ok(joined) => {
            let joined = joined.cast_into::<PyString>()?;
            let joined =
                joined.to_str().map_err(|error| text::lone_surrogate(&error, row, label))?;
            if is_separated(joined, tokens.len()?) {
                return Ok(Some(joined.as_bytes().into()));
            }
        }
        // One of the tokens is not a `str`. The loop below names it.
        Err(error) if error.is_instance_of::<PyTypeError>(tokens.py()) => {}
        Err(error) => return Err(error),
    }
    let mut joined = String::new();
    for token in tokens.try_iter()? {
        let token = token?;
        let Ok(token) = token.cast::<PyString>() else {
            return Err(text::not_a_text(&token, row, &format!("a token of {label}")));
        };
        let token = token.to_str().map_err(|error| text::lone_surrogate(&error, row, label))?;
        push_token(&mut joined, token);
    }
    Ok(Some(joined.into_bytes().into_boxed_slice()))
}

/// Returns the tokens of a row as a list or a tuple. Rejects sets, which have no order, and
/// strings.
fn listed<'py>(tokens: &Bound<'py, PyAny>, row: usize, label: &str) -> PyResult<Bound<'py, PyAny>> {
    if tokens.is_instance_of::<PyList>() || tokens.is_instance_of::<PyTuple>() {
        return Ok(tokens.clone());
    }
    let kind = tokens.get_type().name()?.to_string();
    if kind == "ndarray" {
        let list = tokens.call_method0("tolist")?;
        if list.is_instance_of::<PyList>() {
            return Ok(list);
        }
    }
    let text = format!("row {row}: {label} must be a list of tokens like those before, got {kind}");
    Err(at_row(DocumentTypeError::new_err(text), tokens.py(), row))
}

/// Returns true if the only white space of a text is a blank between each two tokens, and none of
/// the `tokens` tokens is empty.
fn is_separated(text: &str, tokens: usize) -> bool {
    let bytes = text.as_bytes();
    let spaces = if text.is_ascii() {
        bytes.iter().filter(|byte| is_ascii_space(**byte)).count()
    } else {
        text.chars().filter(|char| is_space(*char)).count()
    };
    // Count all double blanks: the compiler vectorizes a loop without an early exit.
    let following = bytes.iter().zip(bytes.iter().skip(1));
    let doubled = following.filter(|(current, next)| **current == b' ' && **next == b' ').count();
    spaces + 1 == tokens && doubled == 0 && !text.starts_with(' ') && !text.ends_with(' ')
}

fn is_ascii_space(byte: u8) -> bool {
    matches!(byte, b' ' | 0x09..=0x0d | 0x1c..=0x1f)
}

/// Returns true for white space as defined by Python's `str.split`.
fn is_space(char: char) -> bool {
    matches!(char, '\u{1c}'..='\u{1f}') || char.is_whitespace()
}

/// Appends a token after a blank. Ignores a token that is empty or white space only.
fn push_token(text: &mut String, token: &str) {
    if !token.is_empty() && token.bytes().all(|byte| byte.is_ascii() && !is_ascii_space(byte)) {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(token);
        return;
    }
    let parts = token.split(is_space).filter(|part| !part.is_empty());
    for (place, part) in parts.enumerate() {
        match place {
            0 if text.is_empty() => {}
            0 => text.push(' '),
            _ => text.push(MARK),
        }
        text.push_str(part);
    }
}

/// Returns true for types of lists of strings.
pub(crate) fn is_list(kind: &DataType) -> bool {
    values(kind).is_some_and(|values| text::is_text(values.data_type()))
}

/// The value field of a list type.
fn values(kind: &DataType) -> Option<&FieldRef> {
    match kind {
        DataType::List(values)
        | DataType::LargeList(values)
        | DataType::ListView(values)
        | DataType::LargeListView(values)
        | DataType::FixedSizeList(values, _) => Some(values),
        _ => None,
    }
}

/// Joins the tokens of each row of an Arrow column of lists of strings.
///
/// # Errors
/// `DocumentError` with the row number for a row that cannot be read.
pub(crate) fn of_arrow(column: &ArrayChunks, label: &str, py: Python<'_>) -> PyResult<TextRows> {
    let mut texts = Vec::with_capacity(column.rows());
    let lists = column.arrays.iter().flat_map(|array| (0..array.len()).map(move |at| (array, at)));
    for (row, (array, at)) in lists.enumerate() {
        let text = arrow_text(array, at).map_err(|why| {
            let text = format!("row {row}: {label} cannot be read: {why}");
            at_row(DocumentError::new_err(text), py, row)
        })?;
        texts.push(text);
    }
    Ok(TextRows::of_owned(texts.into_iter()))
}

fn arrow_text(lists: &ArrayRef, row: usize) -> Result<JoinedTokens, String> {
    if lists.is_null(row) {
        return Ok(None);
    }
    let Some(tokens) = list(lists, row) else { return Ok(None) };
    let field = values(lists.data_type()).map(Arc::clone).ok_or("it has no lists")?;
    let (tokens, damage) = TextRows::up_to_damage(ArrayChunks { field, arrays: vec![tokens] });
    if let Some(damage) = damage {
        return Err(damage);
    }
    let mut joined = String::new();
    for place in 0..tokens.len() {
        let token = tokens.bytes(place).ok_or_else(|| format!("its token {place} is null"))?;
        push_token(&mut joined, text::utf8(token)?);
    }
    Ok(Some(joined.into_bytes().into_boxed_slice()))
}

/// Returns the values of a row of an array of lists.
fn list(lists: &ArrayRef, row: usize) -> Option<ArrayRef> {
    Some(match lists.data_type() {
        DataType::List(_) => lists.as_list::<i32>().value(row),
        DataType::LargeList(_) => lists.as_list::<i64>().value(row),
        DataType::ListView(_) => lists.as_list_view::<i32>().value(row),
        DataType::LargeListView(_) => lists.as_list_view::<i64>().value(row),
        DataType::FixedSizeList(_, _) => lists.as_fixed_size_list().value(row),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{is_separated, push_token};

    fn joined(tokens: &[&str]) -> String {
        let mut text = String::new();
        for token in tokens {
            push_token(&mut text, token);
        }
        text
    }

    #[test]
    fn white_space_stays_in_its_token() {
        assert_eq!(joined(&["New  York", "\u{1f}is", "", "\u{a0}", "big"]), "New␟York is big");
    }

    #[test]
    fn plain_tokens_need_no_repair() {
        assert!(is_separated("a b ü", 3) && is_separated("a", 1));
    }

    #[test]
    fn hidden_boundaries_need_repair() {
        for (text, tokens) in [("a b", 1), ("a ", 2), (" a", 2), ("a  b", 3), ("ü\u{a0}b", 1)] {
            assert!(!is_separated(text, tokens), "{text:?}");
        }
    }
}
