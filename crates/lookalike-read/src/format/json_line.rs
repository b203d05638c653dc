//! Reading of single JSON lines in memory.

use crate::bytes::without_mark;
use crate::document::ExtraFields;
use crate::error::SkipReason;
use crate::format::jsonl;
use crate::format::lines::is_blank;
use crate::options::ReadOptions;

/// Reads JSON lines by the rules of JSONL files ([`Format::Jsonl`](crate::Format::Jsonl)).
///
/// ```
/// use lookalike_read::{JsonLineReader, ReadOptions};
///
/// let options = ReadOptions { fields: vec!["date".to_owned()], ..ReadOptions::default() };
/// let mut reader = JsonLineReader::new(options);
/// let line = br#"{"id": 7, "text": "The words of a story", "date": null}"#;
/// let document = reader.read(line).expect("no blank line")?;
/// assert_eq!((document.id, document.text), (Some("7"), "The words of a story"));
/// assert_eq!(document.fields, [None]);
/// assert!(reader.read(b" \r\n").is_none());
/// # Ok::<(), lookalike_read::SkipReason>(())
/// ```
#[derive(Debug)]
pub struct JsonLineReader {
    options: ReadOptions,
    id: String,
    text: String,
    extra: ExtraFields,
}

/// The document of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonLine<'a> {
    /// The id; `None` if [`ReadOptions::line_ids`] is set.
    pub id: Option<&'a str>,
    /// The text.
    pub text: &'a str,
    /// The values of [`ReadOptions::fields`].
    pub fields: Vec<Option<&'a str>>,
}

impl JsonLineReader {
    /// Creates a reader. Uses only the names of fields and `line_ids` of the options.
    pub fn new(options: ReadOptions) -> Self {
        Self { options, id: String::new(), text: String::new(), extra: ExtraFields::default() }
    }

    /// The document of a line, with or without its line end and a byte order mark; `None` for a
    /// blank line. Takes O(bytes) time.
    ///
    /// # Errors
    ///
    /// The reason why the line has no document.
    pub fn read<'a>(&'a mut self, line: &'a [u8]) -> Option<Result<JsonLine<'a>, SkipReason>> {
        let line = without_mark(line);
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if is_blank(line) {
            return None;
        }
        let Self { options, id, text, extra } = self;
        let parsed = jsonl::parse(line, options, id, text);
        Some(parsed.map_err(|invalid| invalid.reason).map(|document| {
            extra.clear();
            jsonl::set_extra(line, options, extra);
            JsonLine { id: document.id, text: document.text, fields: extra.list() }
        }))
    }
}
