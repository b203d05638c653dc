//! Converts metadata from Python dictionaries to JSON objects and back.

use crate::error::{DocumentError, DocumentTypeError};
use lookalike::store::entry::Metadata;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use serde_json::{Number, Value};

/// Maximum depth of nested values. The JSON reader has a limit of 128.
const DEEPEST: usize = 100;

/// Converts a dictionary to a JSON object. `document` names the document in messages.
///
/// # Errors
/// `DocumentTypeError` or `DocumentError` with the path of a value that JSON cannot represent.
pub(super) fn metadata(input: &Bound<'_, PyAny>, document: &str) -> PyResult<Metadata> {
    if input.is_none() {
        return Ok(Metadata::new());
    }
    match object(input, &mut JsonPath { document, keys: Vec::new() })? {
        Some(metadata) => Ok(metadata),
        None => Err(DocumentTypeError::new_err(format!(
            "{document}: the metadata is {}, expected a dictionary such as \
             {{\"language\": \"en\"}}",
            kind(input)
        ))),
    }
}

/// Names the type of a value in messages.
pub(super) fn kind(value: &Bound<'_, PyAny>) -> String {
    if value.is_none() {
        return "None".to_owned();
    }
    let name = value.get_type().name();
    name.map_or_else(|_| "of an unknown type".to_owned(), |name| format!("of type {name}"))
}

/// The path of a value and the name of its document, for messages.
struct JsonPath<'a> {
    document: &'a str,
    keys: Vec<String>,
}

impl JsonPath<'_> {
    fn text(&self) -> String {
        let key = self.keys.join(".");
        format!("{}: metadata {key:?}", self.document)
    }

    fn inside<T>(
        &mut self,
        key: String,
        work: impl FnOnce(&mut Self) -> PyResult<T>,
    ) -> PyResult<T> {
        self.keys.push(key);
        if self.keys.len() > DEEPEST {
            let first = self.keys.first().cloned().unwrap_or_default();
            return Err(DocumentError::new_err(format!(
                "{}: metadata {first:?} has values more than {DEEPEST} levels deep, or holds \
                 itself: make it flatter",
                self.document
            )));
        }
        let result = work(self)?;
        self.keys.pop();
        Ok(result)
    }
}

/// Converts a mapping to a JSON object. Returns `None` for other types.
fn object(input: &Bound<'_, PyAny>, path: &mut JsonPath<'_>) -> PyResult<Option<Metadata>> {
    let mut members = Metadata::new();
    let mut member = |key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>, path: &mut JsonPath<'_>| {
        let key = name(key, path)?;
        let value = path.inside(key.clone(), |path| self::value(value, path))?;
        members.insert(key, value);
        Ok::<(), PyErr>(())
    };
    if let Ok(dict) = input.cast::<PyDict>() {
        // Iterate over a copy: conversions call Python code that may change the dictionary.
        for item in dict.items() {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            member(&key, &value, path)?;
        }
    } else if let Ok(mapping) = input.cast::<PyMapping>() {
        for item in mapping.items()? {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            member(&key, &value, path)?;
        }
    } else {
        return Ok(None);
    }
    Ok(Some(members))
}

fn name(key: &Bound<'_, PyAny>, path: &JsonPath<'_>) -> PyResult<String> {
    let key_text = || {
        let repr = key.repr();
        repr.map_or_else(|_| "?".to_owned(), |text| text.to_string_lossy().into_owned())
    };
    let Ok(text) = key.cast::<PyString>() else {
        return Err(DocumentTypeError::new_err(format!(
            "{}: the metadata has a key {} that is {}, expected str",
            path.document,
            key_text(),
            kind(key)
        )));
    };
    text.to_str().map(str::to_owned).map_err(|_| {
        DocumentError::new_err(format!(
            "{}: the metadata has a key {} with a lone surrogate, expected Unicode text",
            path.document,
            key_text()
        ))
    })
}

fn value(input: &Bound<'_, PyAny>, path: &mut JsonPath<'_>) -> PyResult<Value> {
    if input.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(text) = input.cast::<PyString>() {
        return text.to_str().map(|text| Value::String(text.to_owned())).map_err(|_| {
            DocumentError::new_err(format!(
                "{} has a lone surrogate, expected Unicode text",
                path.text()
            ))
        });
    }
    if let Ok(truth) = input.cast::<PyBool>() {
        return Ok(Value::Bool(truth.is_true()));
    }
    if input.is_instance_of::<PyInt>() {
        let integer = input.extract::<i64>().map(Number::from);
        let integer = integer.or_else(|_| input.extract::<u64>().map(Number::from));
        return integer.map(Value::Number).map_err(|_| {
            DocumentError::new_err(format!(
                "{} is a whole number of more than 64 bits: keep it as a str",
                path.text()
            ))
        });
    }
    if let Ok(number) = input.cast::<PyFloat>() {
        let number = number.value();
        return Number::from_f64(number).map(Value::Number).ok_or_else(|| {
            DocumentError::new_err(format!(
                "{} is {number}, which JSON has no number for: leave it out, or keep it as a str",
                path.text()
            ))
        });
    }
    list(input, path)
}

fn list(input: &Bound<'_, PyAny>, path: &mut JsonPath<'_>) -> PyResult<Value> {
    let is_list = input.is_instance_of::<PyList>() || input.is_instance_of::<PyTuple>();
    if is_list {
        let mut values = Vec::new();
        for (at, item) in input.try_iter()?.enumerate() {
            let item = item?;
            values.push(path.inside(format!("{at}"), |path| value(&item, path))?);
        }
        return Ok(Value::Array(values));
    }
    if let Some(members) = object(input, path)? {
        return Ok(Value::Object(members));
    }
    Err(DocumentTypeError::new_err(format!(
        "{} is {}, expected what JSON has: None, bool, int, float, str, list or dict; a time goes \
         in as value.isoformat()",
        path.text(),
        kind(input)
    )))
}

/// Converts a JSON object to a dictionary.
///
/// # Errors
/// Errors of the interpreter, such as `MemoryError`.
pub(super) fn dictionary<'py>(
    py: Python<'py>,
    metadata: &Metadata,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in metadata {
        dict.set_item(key, python(py, value)?)?;
    }
    Ok(dict)
}

fn python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(integer), _) => integer.into_pyobject(py)?.into_any(),
            (_, Some(integer)) => integer.into_pyobject(py)?.into_any(),
            _ => number.as_f64().unwrap_or(f64::NAN).into_pyobject(py)?.into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(values) => {
            let list = PyList::empty(py);
            for value in values {
                list.append(python(py, value)?)?;
            }
            list.into_any()
        }
        Value::Object(members) => dictionary(py, members)?.into_any(),
    })
}
