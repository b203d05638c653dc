//! One record of a line format → the same bytes, or the same bytes with a decision.

use super::annotation::{Annotate, AnnotationValues};
use crate::error::SurvivorsProblem;
use crate::report::csv::quoted;

/// Why a record cannot be annotated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AnnotationFault {
    /// It has the field already.
    HasField,
    /// It is no object, which reading would have refused.
    NotAnObject,
}

/// The object `line`, with a member for the annotation put before its last brace.
pub(super) fn json(
    line: &[u8],
    annotate: &Annotate,
    values: &AnnotationValues<'_>,
    out: &mut Vec<u8>,
) -> Result<(), AnnotationFault> {
    let whole = line.trim_ascii_end();
    let Some(inside) = whole.strip_suffix(b"}") else { return Err(AnnotationFault::NotAnObject) };
    if has_member(line, &annotate.field) {
        return Err(AnnotationFault::HasField);
    }
    out.extend_from_slice(inside);
    if !inside.trim_ascii_end().ends_with(b"{") {
        out.push(b',');
    }
    out.extend_from_slice(serde_json::Value::from(annotate.field.as_str()).to_string().as_bytes());
    out.extend_from_slice(b":{");
    values.json(annotate.subject, out);
    out.push(b'}');
    out.extend_from_slice(line.get(inside.len()..).unwrap_or_default());
    Ok(())
}

/// Whether an object has a member of this name. A line that holds neither the name nor an escape
/// has not, and is not looked at further.
fn has_member(line: &[u8], name: &str) -> bool {
    let found = memchr::memmem::find(line, name.as_bytes()).is_some();
    (found || memchr::memchr(b'\\', line).is_some()) && crate::read::has_member(line, name)
}

/// A record of separated values with columns appended. Without a decision it is the
/// header, and `columns` are names.
pub(super) fn separated(
    delimiter: u8,
    record: &[u8],
    columns: impl IntoIterator<Item = impl AsRef<str>>,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(record);
    for value in columns {
        out.push(delimiter);
        quoted(delimiter, value.as_ref(), out);
    }
}

/// A record without what ended it, and that end. Line ends are inside of quotes only, so all
/// behind the record belong to its end.
pub(super) fn split_end(record: &[u8]) -> (&[u8], &[u8]) {
    let ends = record.iter().rev().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    record.split_at(record.len() - ends)
}

impl AnnotationFault {
    /// The problem of the document with that id.
    pub(super) fn problem(self, id: &str) -> SurvivorsProblem {
        match self {
            Self::HasField => SurvivorsProblem::FieldTaken { id: id.to_owned() },
            Self::NotAnObject => SurvivorsProblem::Other(format!(
                "the document {id:?} is no JSON object any more; run again when nothing writes to \
                 it"
            )),
        }
    }
}
