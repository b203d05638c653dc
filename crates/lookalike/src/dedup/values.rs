//! Copies one record of a line format, with its annotation if there is one.

use super::annotation::{Annotate, AnnotationValues};
use super::survivors_problem::SurvivorsProblem;
use crate::report::csv::quoted;

/// Why a record cannot be annotated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AnnotationFault {
    /// It already has a field of the annotation.
    HasField(String),
    /// It is not an object. Reading refuses such records earlier.
    NotAnObject,
}

/// Writes the object `line` with the members of the annotation before its closing brace.
pub(super) fn json(
    line: &[u8],
    annotate: &Annotate,
    values: &AnnotationValues<'_>,
    out: &mut Vec<u8>,
) -> Result<(), AnnotationFault> {
    let object = line.trim_ascii_end();
    let Some(inside) = object.strip_suffix(b"}") else { return Err(AnnotationFault::NotAnObject) };
    if let Some(name) = taken_member(line, annotate) {
        return Err(AnnotationFault::HasField(name));
    }
    out.extend_from_slice(inside);
    if !inside.trim_ascii_end().ends_with(b"{") {
        out.push(b',');
    }
    values.json(annotate, out);
    out.extend_from_slice(line.get(inside.len()..).unwrap_or_default());
    Ok(())
}

/// The first field of the annotation that the object already has. A line without the prefix and
/// without escapes cannot have one, so it is not parsed.
fn taken_member(line: &[u8], annotate: &Annotate) -> Option<String> {
    let may_have = memchr::memmem::find(line, annotate.field.as_bytes()).is_some()
        || memchr::memchr(b'\\', line).is_some();
    let names = may_have.then(|| annotate.columns())?;
    names.into_iter().find(|name| crate::read::has_member(line, name))
}

/// Writes a record of separated values with appended columns. For the header, `columns` are names.
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

/// Splits a record from its line end. Line ends in the record itself are inside quotes, so all
/// trailing `\r` and `\n` belong to the line end.
pub(super) fn split_end(record: &[u8]) -> (&[u8], &[u8]) {
    let ends = record.iter().rev().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    record.split_at(record.len() - ends)
}

impl AnnotationFault {
    /// Converts the fault to the problem of the document with this id.
    pub(super) fn problem(self, id: &str) -> SurvivorsProblem {
        match self {
            Self::HasField(field) => SurvivorsProblem::FieldTaken { id: id.to_owned(), field },
            Self::NotAnObject => SurvivorsProblem::Other(format!(
                "the document {id:?} is no longer a JSON object; run again when nothing writes to \
                 the file"
            )),
        }
    }
}
