//! Documents that a list excludes from a run, by their ids and sources. `contamination` writes such
//! lists, and `dedup` reads them.

use crate::compressed_file::open_decompressed;
use crate::engine::error::FindError;
use crate::read::ReadError;
use lookalike_core::hash::{mix64, token_hash};
use serde::Deserialize;
use std::collections::HashMap;
use std::io::{self, BufRead, Read};
use std::path::Path;

/// The most bytes of a line.
const MAX_LINE: u64 = 64 << 20;
/// Bytes of memory for a line in addition to its texts.
const LINE_BYTES: u64 = 96;

/// Ids of documents, each for one source or for all sources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DropList {
    /// The lines that name each id, from 0, with their sources.
    lines: HashMap<String, Vec<(u64, Option<String>)>>,
    len: u64,
    bytes: u64,
    digest: u64,
}

/// Counts of the effect of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DropCounts {
    /// Excluded documents.
    pub documents: u64,
    /// Lines of the list.
    pub lines: u64,
    /// Lines that name no document of the inputs.
    pub unknown: u64,
}

/// A line. Other fields are allowed and ignored.
#[derive(Deserialize)]
struct DropLine {
    id: String,
    source: Option<String>,
}

impl DropList {
    /// Reads a file of JSON lines (also compressed with gzip or zstd):
    /// `{"id":"d7","source":"web.jsonl"}`. A line without `source`, or with null, selects the
    /// documents with this id in all sources. Empty lines are ignored.
    ///
    /// # Errors
    /// [`FindError::Read`] for a file that cannot be read, [`FindError::Table`] for a line that is
    /// not such an object.
    pub fn read(path: &Path) -> Result<Self, FindError> {
        let unreadable = |error: io::Error| {
            let name = path.display().to_string();
            FindError::Read(match error.kind() {
                io::ErrorKind::NotFound => ReadError::Missing { path: name },
                _ => ReadError::Io { source_name: name, error },
            })
        };
        Self::of_lines(open_decompressed(path).map_err(unreadable)?, path)
    }

    /// Reads lines; `path` names their file in messages.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn of_lines(mut input: impl BufRead, path: &Path) -> Result<Self, FindError> {
        let unreadable = |error: io::Error| {
            FindError::Read(ReadError::Io { source_name: path.display().to_string(), error })
        };
        let mut list = Self::default();
        let mut bytes = Vec::new();
        for line in 1.. {
            bytes.clear();
            let read = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut bytes);
            if read.map_err(unreadable)? == 0 {
                break;
            }
            let start = if line == 1 { bytes.strip_prefix(b"\xef\xbb\xbf") } else { None };
            let text = start.unwrap_or(&bytes).trim_ascii();
            if text.is_empty() {
                continue;
            }
            let parsed: Result<DropLine, _> = serde_json::from_slice(text);
            let DropLine { id, source } = parsed.map_err(|error| FindError::Table {
                path: path.to_owned(),
                line,
                problem: format!(
                    "expected an object with the id and the source of a document such as \
                     {{\"id\":\"d7\",\"source\":\"web.jsonl\"}}, as a list of \
                     contaminated documents has it: {error}"
                ),
            })?;
            list.push(id, source);
        }
        Ok(list)
    }

    /// Adds the documents with this id, of one source or of all.
    pub fn push(&mut self, id: String, source: Option<String>) {
        let named = source.as_deref().map_or(0, |source| token_hash(source.as_bytes()) | 1);
        self.digest = mix64(self.digest ^ token_hash(id.as_bytes())) ^ named;
        self.bytes += LINE_BYTES + (id.len() + source.as_ref().map_or(0, String::len)) as u64;
        self.lines.entry(id).or_default().push((self.len, source));
        self.len += 1;
    }

    /// Replaces each id by the result of `id`.
    #[must_use]
    pub fn with_ids(self, id: impl Fn(String) -> String) -> Self {
        let of_id = |(name, of): (String, Vec<(u64, Option<String>)>)| {
            of.into_iter().map(move |(line, source)| (line, name.clone(), source))
        };
        let mut lines: Vec<_> = self.lines.into_iter().flat_map(of_id).collect();
        lines.sort_unstable_by_key(|(line, ..)| *line);
        let mut list = Self::default();
        for (_, name, source) in lines {
            list.push(id(name), source);
        }
        list
    }

    /// A digest of the list. Lists of different documents have different digests.
    pub(crate) fn digest(&self) -> String {
        format!("{} {:016x}", self.len, self.digest)
    }

    /// The bytes of memory of the list.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.bytes
    }

    /// The number of its lines.
    pub(crate) fn lines(&self) -> u64 {
        self.len
    }

    /// The lines that name this id, from 0, each with its source.
    pub(crate) fn naming(&self, id: &str) -> Option<&[(u64, Option<String>)]> {
        self.lines.get(id).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<DropList, FindError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        DropList::read(file.path())
    }

    #[test]
    fn lines_name_documents() {
        let list = read(
            "\u{feff}{\"id\":\"a\",\"source\":\"x\",\"more\":1}\r\n\n{\"id\":\"a\"}\n\
             {\"source\":null,\"id\":\"b\"}",
        )
        .unwrap();
        let mut want = DropList::default();
        want.push("a".to_owned(), Some("x".to_owned()));
        want.push("a".to_owned(), None);
        want.push("b".to_owned(), None);
        assert_eq!(list, want);
        assert_ne!(list.digest(), DropList::default().digest());
        let renamed = list.with_ids(|id| format!("{id}{id}"));
        let lines = |id| renamed.naming(id).map(<[_]>::len);
        assert_eq!((lines("aa"), lines("bb"), lines("a")), (Some(2), Some(1), None));
    }

    #[test]
    fn invalid_drop_lines_report_their_number() {
        for bad in ["{\"id\":1}", "[]", "{}", "a", "{\"id\":\"a\",\"source\":1}"] {
            let error = read(&format!("{{\"id\":\"a\"}}\n{bad}\n")).unwrap_err().to_string();
            assert!(error.contains("line 2") && error.contains("{\"id\":\"d7\""), "{error}");
        }
        let missing = DropList::read(Path::new("no such file")).unwrap_err();
        assert!(matches!(missing, FindError::Read(ReadError::Missing { .. })), "{missing}");
    }
}
