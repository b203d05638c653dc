//! JSONL: each line is an object with an id, a text and extra fields.

use crate::document::ExtraFields;
use crate::error::{Field, SkipReason};
use crate::format::json_scanner::{JsonScanner, JsonValue, StringFault, SyntaxError};
use crate::format::record::{self, InvalidRecord, RecordDocument};
use crate::format::text_cut::{self, KeptCopier};
use crate::options::ReadOptions;
use std::borrow::Cow;
use std::ops::Range;

/// Maximum number of field names in a message.
const NAMED_FIELDS: usize = 20;

/// Copies a record without the removed ranges of its text. Returns `false` if it does not contain
/// the text.
pub(crate) fn copy_text(record: &[u8], options: &ReadOptions, copier: &mut KeptCopier<'_>) -> bool {
    let Ok(line) = record::utf8(record) else { return false };
    text_range(line, options).is_some_and(|range| text_cut::json(line, range, copier))
}

/// The document of a line that is not blank. `id` and `text` are buffers for strings with escapes.
pub(crate) fn parse<'b>(
    line: &'b [u8],
    options: &ReadOptions,
    id: &'b mut String,
    text: &'b mut String,
) -> Result<RecordDocument<'b>, InvalidRecord> {
    let line = record::utf8(line).map_err(InvalidRecord::new)?;
    let mut scanner = JsonScanner::new(line);
    let found = members(&mut scanner, options, text)?;
    // From here on, the line is known to be one complete object.
    let wrong = |value, field, name: &str| missing_or_wrong_type(&scanner, value, field, name);
    let id_value = match found.id {
        None if !options.line_ids => inside(&scanner, &options.id_field),
        value => value,
    };
    let id = match id_value {
        _ if options.line_ids => None,
        Some(JsonValue::Number { start, end }) => Some(&line[start..end]),
        Some(JsonValue::String(string)) => {
            let value = scanner.text_of(string, id);
            Some(value.map_err(|_| InvalidRecord::new(surrogate(Field::Id, &options.id_field)))?)
        }
        other => {
            return Err(InvalidRecord::new(wrong(other, Field::Id, &options.id_field)));
        }
    };
    if id.is_some_and(str::is_empty) {
        return Err(InvalidRecord::new(SkipReason::EmptyId));
    }
    let bad = |reason| InvalidRecord { id: id.map(str::to_owned), reason };
    let text = match found.text {
        Some(JsonValue::String(string)) if string.escapes == 0 => &line[string.start..string.end],
        // `members` has decoded it.
        Some(JsonValue::String(_)) => text.as_str(),
        None => match inside(&scanner, &options.text_field) {
            Some(JsonValue::String(string)) => scanner
                .text_of(string, text)
                .map_err(|_| bad(surrogate(Field::Text, &options.text_field)))?,
            other => {
                return Err(bad(wrong(other, Field::Text, &options.text_field)));
            }
        },
        other => return Err(bad(wrong(other, Field::Text, &options.text_field))),
    };
    Ok(RecordDocument { id, text })
}

/// The reason why a record has no document.
pub(crate) fn fault(record: &[u8], options: &ReadOptions) -> Option<SkipReason> {
    parse(record, options, &mut String::new(), &mut String::new()).err().map(|bad| bad.reason)
}

/// The range of the text, between its quotes, in a line that [`parse`] accepted.
pub(crate) fn text_range(line: &str, options: &ReadOptions) -> Option<Range<usize>> {
    let scanner = JsonScanner::new(line);
    let mut found = None;
    each_member(&scanner, 0, |key, value, _| {
        if key == options.text_field.as_str() {
            found = Some(value);
        }
    });
    match found.or_else(|| inside(&scanner, &options.text_field))? {
        JsonValue::String(string) => Some(string.start..string.end),
        _ => None,
    }
}

/// Sets the values of the extra fields of a line that [`parse`] accepted.
pub(crate) fn set_extra(line: &[u8], options: &ReadOptions, extra: &mut ExtraFields) {
    let Ok(line) = record::utf8(line) else { return extra.fill_empty(options.fields.len()) };
    let scanner = JsonScanner::new(line);
    let mut buffer = String::new();
    for path in &options.fields {
        let value = at_path(&scanner, 0, path).and_then(|(value, range)| match value {
            JsonValue::Other("null") => None,
            JsonValue::String(string) => {
                let raw = &line[string.start..string.end];
                Some(scanner.text_of(string, &mut buffer).unwrap_or(raw))
            }
            _ => line.get(range),
        });
        extra.push(value);
    }
}

/// The id and the text, if they are members of the object itself.
#[derive(Default)]
struct DocumentMembers {
    id: Option<JsonValue>,
    text: Option<JsonValue>,
}

/// The reason for a line that is not JSON.
fn broken(line: &str, SyntaxError { at, expected }: SyntaxError) -> InvalidRecord {
    InvalidRecord::new(SkipReason::BrokenJson {
        expected: expected.into(),
        got: JsonScanner::seen(line, at).into(),
        column: line.get(..at).unwrap_or(line).chars().count() as u64 + 1,
    })
}

/// Reads the whole line, which must be one object. A text with escapes is decoded into `text`.
fn members(
    scanner: &mut JsonScanner,
    options: &ReadOptions,
    text: &mut String,
) -> Result<DocumentMembers, InvalidRecord> {
    let line = scanner.line();
    let broken = |error| broken(line, error);
    if scanner.peek() != Some(b'{') {
        let got = scanner.value().map_err(broken)?.kind().into();
        scanner.end().map_err(broken)?;
        return Err(InvalidRecord::new(SkipReason::NotAnObject { got }));
    }
    scanner.begin().map_err(broken)?;
    let mut found = DocumentMembers::default();
    let mut first = true;
    while let Some(key) = scanner.key(first).map_err(broken)? {
        first = false;
        scanner.whole_string(key).map_err(broken)?;
        if scanner.key_is(key, &options.text_field) {
            let value = if scanner.peek() == Some(b'"') {
                scanner.at += 1;
                let string = scanner.decoded_string(text).map_err(|fault| match fault {
                    StringFault::Broken(error) => broken(error),
                    StringFault::LoneSurrogate => InvalidRecord {
                        id: known_id(scanner, found.id),
                        reason: surrogate(Field::Text, &options.text_field),
                    },
                })?;
                JsonValue::String(string)
            } else {
                scanner.value().map_err(broken)?
            };
            found.text = Some(value);
            if options.id_field == options.text_field {
                found.id = Some(value);
            }
        } else {
            let is_id = scanner.key_is(key, &options.id_field);
            let value = scanner.value().map_err(broken)?;
            if is_id {
                // An id must be text, even if a later one replaces it.
                if let JsonValue::String(string) = value
                    && scanner.whole_string(string).is_err()
                {
                    return Err(InvalidRecord::new(surrogate(Field::Id, &options.id_field)));
                }
                found.id = Some(value);
            }
        }
    }
    scanner.end().map_err(broken)?;
    Ok(found)
}

fn known_id(scanner: &JsonScanner, id: Option<JsonValue>) -> Option<String> {
    match id? {
        JsonValue::String(string) => {
            scanner.text_of(string, &mut String::new()).ok().map(str::to_owned)
        }
        JsonValue::Number { start, end } => Some(scanner.line()[start..end].to_owned()),
        _ => None,
    }
}

fn surrogate(field: Field, name: &str) -> SkipReason {
    SkipReason::LoneSurrogate { field, name: name.to_owned() }
}

/// The reason for a field that is missing or has a value of another type.
fn missing_or_wrong_type(
    scanner: &JsonScanner,
    value: Option<JsonValue>,
    field: Field,
    name: &str,
) -> SkipReason {
    let name = name.to_owned();
    if let Some(value) = value {
        return SkipReason::WrongType { field, name, got: value.kind().into() };
    }
    let mut present = Vec::new();
    each_member(scanner, 0, |key, _, _| {
        if present.len() < NAMED_FIELDS && !present.iter().any(|name| *name == key) {
            present.push(key.into_owned());
        }
    });
    SkipReason::MissingField { field, name, present }
}

/// Calls `visit` with each key and value of the object at `start`, which was already checked, and
/// with the range of the value in the line.
fn each_member<'a>(
    scanner: &JsonScanner<'a>,
    start: usize,
    mut visit: impl FnMut(Cow<'a, str>, JsonValue, Range<usize>),
) {
    let mut scanner = scanner.rewound(start);
    let mut first = true;
    if scanner.begin().is_err() {
        return;
    }
    while let Ok(Some(key)) = scanner.key(first) {
        first = false;
        let key = scanner.key_text(key);
        scanner.peek();
        let start = scanner.at;
        let Ok(value) = scanner.value() else { return };
        visit(key, value, start..scanner.at);
    }
}

/// The value at a dotted path inside a member of the record. `members` has handled the members
/// themselves.
fn inside(scanner: &JsonScanner, path: &str) -> Option<JsonValue> {
    if path.contains('.') { at_path(scanner, 0, path).map(|(value, _)| value) } else { None }
}

/// The value at a dotted path from the object at `start`, with its range in the line. A longer key
/// takes precedence over a shorter one (`{"a.b": 1}` over `{"a": {"b": 2}}`). If a key is repeated
/// in an object, its last value is used.
fn at_path(scanner: &JsonScanner, start: usize, path: &str) -> Option<(JsonValue, Range<usize>)> {
    let mut steps: Vec<(usize, JsonValue, Range<usize>)> = Vec::new();
    each_member(scanner, start, |key, value, range| {
        let rest = path.strip_prefix(&*key);
        if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) {
            steps.retain(|(length, ..)| *length != key.len());
            steps.push((key.len(), value, range));
        }
    });
    steps.sort_unstable_by_key(|(length, ..)| std::cmp::Reverse(*length));
    steps.into_iter().find_map(|(length, value, range)| match (path.get(length + 1..), value) {
        (None, value) => Some((value, range)),
        (Some(rest), JsonValue::Object { start }) => at_path(scanner, start, rest),
        _ => None,
    })
}

/// Returns true if a line that is one object has a member with this name. Takes O(bytes) time.
pub fn has_member(line: &[u8], name: &str) -> bool {
    let Ok(line) = record::utf8(line) else { return false };
    let mut found = false;
    each_member(&JsonScanner::new(line), 0, |key, _, _| found |= key == name);
    found
}
