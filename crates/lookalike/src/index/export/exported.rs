//! Reads the fields of a document from a line of an export.

use super::exported_version::VersionMember;
use crate::index::original::OwnedOriginal;
use crate::index::prepare::{DocumentFields, FormerVersion};
use crate::index::time;
use lookalike_index::entry::Metadata;
use serde::Deserialize;

#[derive(Deserialize)]
struct ExportedLine {
    #[serde(default)]
    metadata: Option<Metadata>,
    #[serde(default)]
    added: Option<String>,
    #[serde(default)]
    modified: Option<String>,
    #[serde(default)]
    expires: Option<String>,
    #[serde(default)]
    duplicates: Vec<String>,
    #[serde(default)]
    versions: Vec<VersionMember>,
}

/// The versions in a line: the previous versions, by time, and the original of the current one.
#[derive(Debug, Default)]
pub(in crate::index) struct ExportedVersions {
    pub(in crate::index) former: Vec<FormerVersion>,
    pub(in crate::index) original: Option<OwnedOriginal>,
}

/// Reads the fields of a line into `fields`. Other fields are unchanged. Returns the versions in
/// the line. `text` is the text of the document.
///
/// # Errors
/// A text that describes the invalid member of the line.
pub(in crate::index) fn read_exported(
    line: &[u8],
    text: &str,
    fields: &mut DocumentFields,
) -> Result<ExportedVersions, String> {
    let line: ExportedLine = serde_json::from_slice(line).map_err(|error| {
        format!(
            "its line is none of `index export`, which has `metadata` as an object, times as texts \
             and `duplicates` as a list of texts: {error}"
        )
    })?;
    fields.metadata = line.metadata.unwrap_or_default();
    fields.added = time_of("added", line.added.as_deref())?.unwrap_or(fields.added);
    fields.modified = time_of("modified", line.modified.as_deref())?;
    fields.expires = time_of("expires", line.expires.as_deref())?.or(fields.expires);
    fields.duplicates = line.duplicates;
    let versions = line.versions.into_iter().map(VersionMember::read);
    let mut former = versions.collect::<Result<Vec<_>, _>>()?;
    // The last version has the current original. If its time of addition differs, the document was
    // stored again with the same original.
    let Some(current) = former.pop() else { return Ok(ExportedVersions::default()) };
    let original = Some(current.original.clone());
    if current.added != fields.added {
        former.push(FormerVersion { text: text.to_owned(), ..current });
    }
    Ok(ExportedVersions { former, original })
}

fn time_of(name: &str, text: Option<&str>) -> Result<Option<i64>, String> {
    let Some(text) = text else { return Ok(None) };
    let time = time::parse(text);
    time.map(Some).ok_or_else(|| {
        format!(
            "{name} is {text:?}: expected a time such as 2026-11-21T10:00:00Z, from 1678 to 2261"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exported_lines_restore_their_fields() {
        let line = br#"{"id":"a","metadata":{"n":1},"expires":"1970-01-01T00:00:01Z","x":0}"#;
        let mut read = DocumentFields { added: 7, ..DocumentFields::default() };
        read_exported(line, "", &mut read).unwrap();
        assert_eq!((read.metadata["n"].as_i64(), read.expires), (Some(1), Some(1_000_000_000)));
        assert_eq!((read.added, read.modified), (7, None));
        for wrong in [r#"{"metadata":[]}"#, r#"{"added":5}"#, r#"{"expires":"tomorrow"}"#] {
            assert!(read_exported(wrong.as_bytes(), "", &mut read).is_err(), "{wrong}");
        }
    }
}
