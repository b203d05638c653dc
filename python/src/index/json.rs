//! Converts metadata from Python dictionaries to JSON objects and back.

use crate::error::{DocumentError, DocumentTypeError};
use lookalike::store::entry::Metadata;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use serde_json::{Number, Value};

/// Maximum depth of nested values. The JSON reader has a limit of 128.
const DEEPEST: usize = 100;

/// Converts a dictionary to a JSON object. `whose` names the document in messages.
///
/// # Errors
/// `DocumentTypeError` or `DocumentError` with the path of a value that JSON cannot represent.
pub(super) fn metadata(given: &Bound<'_, PyAny>, whose: &str) -> PyResult<Metadata> {
    if given.is_none() {
        return Ok(Metadata::new());
    }
    match object(given, &mut JsonPath { whose, keys: Vec::new() })? {
        Some(metadata) => Ok(metadata),
        None => Err(DocumentTypeError::new_err(format!(
            "{whose}: the metadata is {}, expected a dictionary such as {{\"language\": \"en\"}}",
            kind(given)
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
    whose: &'a str,
    keys: Vec<String>,
}

impl JsonPath<'_> {
    fn text(&self) -> String {
        let key = self.keys.join(".");
        format!("{}: metadata {key:?}", self.whose)
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
                self.whose
            )));
        }
        let done = work(self)?;
        self.keys.pop();
        Ok(done)
    }
}

/// Converts a mapping to a JSON object. Returns `None` for other types.
fn object(given: &Bound<'_, PyAny>, way: &mut JsonPath<'_>) -> PyResult<Option<Metadata>> {
    let mut members = Metadata::new();
    let mut member = |key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>, way: &mut JsonPath<'_>| {
        let key = name(key, way)?;
        let value = way.inside(key.clone(), |way| self::value(value, way))?;
        members.insert(key, value);
        Ok::<(), PyErr>(())
    };
    if let Ok(dict) = given.cast::<PyDict>() {
        // Iterate over a copy: conversions call Python code that may change the dictionary.
        for item in dict.items() {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            member(&key, &value, way)?;
        }
    } else if let Ok(mapping) = given.cast::<PyMapping>() {
        for item in mapping.items()? {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            member(&key, &value, way)?;
        }
    } else {
        return Ok(None);
    }
    Ok(Some(members))
}

fn name(key: &Bound<'_, PyAny>, way: &JsonPath<'_>) -> PyResult<String> {
    let shown = || {
        let shown = key.repr();
        shown.map_or_else(|_| "?".to_owned(), |shown| shown.to_string_lossy().into_owned())
    };
    let Ok(text) = key.cast::<PyString>() else {
        return Err(DocumentTypeError::new_err(format!(
            "{}: the metadata has a key {} that is {}, expected str",
            way.whose,
            shown(),
            kind(key)
        )));
    };
    text.to_str().map(str::to_owned).map_err(|_| {
        DocumentError::new_err(format!(
            "{}: the metadata has a key {} with a lone surrogate, expected Unicode text",
            way.whose,
            shown()
        ))
    })
}

fn value(given: &Bound<'_, PyAny>, way: &mut JsonPath<'_>) -> PyResult<Value> {
    if given.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(text) = given.cast::<PyString>() {
        return text.to_str().map(|text| Value::String(text.to_owned())).map_err(|_| {
            DocumentError::new_err(format!(
                "{} has a lone surrogate, expected Unicode text",
                way.text()
            ))
        });
    }
    if let Ok(truth) = given.cast::<PyBool>() {
        return Ok(Value::Bool(truth.is_true()));
    }
    if given.is_instance_of::<PyInt>() {
        let whole = given.extract::<i64>().map(Number::from);
        let whole = whole.or_else(|_| given.extract::<u64>().map(Number::from));
        return whole.map(Value::Number).map_err(|_| {
            DocumentError::new_err(format!(
                "{} is a whole number of more than 64 bits: keep it as a str",
                way.text()
            ))
        });
    }
    if let Ok(number) = given.cast::<PyFloat>() {
        let number = number.value();
        return Number::from_f64(number).map(Value::Number).ok_or_else(|| {
            DocumentError::new_err(format!(
                "{} is {number}, which JSON has no number for: leave it out, or keep it as a str",
                way.text()
            ))
        });
    }
    list(given, way)
}

fn list(given: &Bound<'_, PyAny>, way: &mut JsonPath<'_>) -> PyResult<Value> {
    let is_list = given.is_instance_of::<PyList>() || given.is_instance_of::<PyTuple>();
    if is_list {
        let mut values = Vec::new();
        for (at, one) in given.try_iter()?.enumerate() {
            let one = one?;
            values.push(way.inside(format!("{at}"), |way| value(&one, way))?);
        }
        return Ok(Value::Array(values));
    }
    if let Some(members) = object(given, way)? {
        return Ok(Value::Object(members));
    }
    Err(DocumentTypeError::new_err(format!(
        "{} is {}, expected what JSON has: None, bool, int, float, str, list or dict; a time goes \
         in as value.isoformat()",
        way.text(),
        kind(given)
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
            (Some(whole), _) => whole.into_pyobject(py)?.into_any(),
            (_, Some(whole)) => whole.into_pyobject(py)?.into_any(),
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
