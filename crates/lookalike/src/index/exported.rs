//! What a line of an export has of a document in addition to its id and its text.

use super::time;
use lookalike_index::entry::Metadata;
use serde::Deserialize;

/// What is kept of it; what is not in the line is the reader's to say.
#[derive(Debug, Default)]
pub(super) struct ExportedDocument {
    pub(super) metadata: Metadata,
    pub(super) added: Option<i64>,
    pub(super) modified: Option<i64>,
    pub(super) expires: Option<i64>,
}

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
}

/// Reads a line.
///
/// # Errors
/// What is wrong with a member, in words.
pub(super) fn exported(line: &[u8]) -> Result<ExportedDocument, String> {
    let line: ExportedLine = serde_json::from_slice(line).map_err(|error| {
        format!(
            "its line is none of `index export`, which has `metadata` as an object and times as \
             texts: {error}"
        )
    })?;
    Ok(ExportedDocument {
        metadata: line.metadata.unwrap_or_default(),
        added: at("added", line.added.as_deref())?,
        modified: at("modified", line.modified.as_deref())?,
        expires: at("expires", line.expires.as_deref())?,
    })
}

fn at(name: &str, text: Option<&str>) -> Result<Option<i64>, String> {
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
    fn lines_keep_what_they_say() {
        let line = br#"{"id":"a","metadata":{"n":1},"expires":"1970-01-01T00:00:01Z","x":0}"#;
        let read = exported(line).unwrap();
        assert_eq!((read.metadata["n"].as_i64(), read.expires), (Some(1), Some(1_000_000_000)));
        assert_eq!((read.added, read.modified), (None, None));
        for wrong in [r#"{"metadata":[]}"#, r#"{"added":5}"#, r#"{"expires":"tomorrow"}"#] {
            assert!(exported(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
