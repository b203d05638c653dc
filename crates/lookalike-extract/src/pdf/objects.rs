//! Values of PDF dictionaries, references resolved.

use lopdf::{Dictionary, Document, Object};

/// The value of a key.
pub(super) fn get<'a>(
    document: &'a Document,
    dictionary: &'a Dictionary,
    key: &[u8],
) -> Option<&'a Object> {
    document.dereference(dictionary.get(key).ok()?).ok().map(|(_, object)| object)
}

/// The name at a key; empty if there is none.
pub(super) fn name<'a>(document: &'a Document, dictionary: &'a Dictionary, key: &[u8]) -> &'a [u8] {
    get(document, dictionary, key).and_then(|object| object.as_name().ok()).unwrap_or_default()
}

/// The number at a key.
pub(super) fn number(document: &Document, dictionary: &Dictionary, key: &[u8]) -> Option<f64> {
    get(document, dictionary, key).and_then(value)
}

/// The value of a numeric object, if it is finite.
pub(super) fn value(object: &Object) -> Option<f64> {
    object.as_float().ok().map(f64::from).filter(|value| value.is_finite())
}
