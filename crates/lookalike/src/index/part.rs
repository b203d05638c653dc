//! One block of documents in, the same shingled and signed out, ready to be written.

use super::prepare::Preparer;
use crate::error::Error;
use crate::read::{
    Block, Collection, Document, Format, Raw, RawSink, Scratch, SkipReason, Skipped, name_of,
};
use lookalike_extract::Fields;
use lookalike_index::entry::{self, Entry, MAX_METADATA_BYTES, MAX_TEXT_BYTES, Metadata};
use lookalike_index::settings::Store;
use lookalike_index::{IndexError, filter};
use serde_json::Value;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Documents of one block, in order, and how it went.
#[derive(Default)]
pub(super) struct Part {
    pub(super) rows: Vec<Row>,
    /// Ids and texts, one after the other.
    words: String,
    codes: Vec<u8>,
    signatures: Vec<u32>,
    pub(super) skipped: Vec<Skipped>,
    /// Why there are no more documents behind these.
    pub(super) failure: Option<Error>,
}

/// One document.
pub(super) struct Row {
    id: Range<usize>,
    text: Option<Range<usize>>,
    code: Range<usize>,
    signature: Range<usize>,
    fingerprint: u128,
    bytes: u64,
    metadata: Metadata,
    modified: Option<i64>,
    source: Arc<str>,
    line: Option<u64>,
}

impl Row {
    /// Whether it has shingles.
    pub(super) fn is_empty(&self) -> bool {
        self.signature.is_empty()
    }

    /// Where it stands.
    pub(super) fn place(&self) -> String {
        match self.line {
            Some(line) => format!("{}:{line}", self.source),
            None => self.source.to_string(),
        }
    }
}

impl Part {
    /// A part that ends the reading.
    pub(super) fn failed(error: impl Into<Error>) -> Self {
        Self { failure: Some(error.into()), ..Self::default() }
    }

    /// Bytes of memory that it takes, about.
    pub(super) fn bytes(&self) -> usize {
        self.words.len() + self.codes.len() + 4 * self.signatures.len() + 200 * self.rows.len()
    }

    /// The id of a document.
    pub(super) fn id(&self, row: &Row) -> &str {
        &self.words[row.id.clone()]
    }

    /// A document as an index takes it.
    pub(super) fn entry<'a>(&'a self, row: &'a Row, added: i64, expires: Option<i64>) -> Entry<'a> {
        Entry {
            id: self.id(row),
            fingerprint: row.fingerprint,
            bytes: row.bytes,
            signature: &self.signatures[row.signature.clone()],
            set: &self.codes[row.code.clone()],
            text: row.text.clone().map(|range| &self.words[range]),
            metadata: &row.metadata,
            added,
            modified: row.modified,
            expires,
        }
    }
}

/// One thread's tools.
pub(super) struct Maker<'a> {
    collection: &'a Collection,
    preparer: Preparer,
    scratch: Scratch,
    store: Store,
    /// The names of the fields that become metadata.
    fields: &'a [String],
    skip_bad: bool,
}

impl<'a> Maker<'a> {
    pub(super) fn new(
        collection: &'a Collection,
        preparer: Preparer,
        store: Store,
        fields: &'a [String],
        skip_bad: bool,
    ) -> Self {
        Self { collection, preparer, scratch: Scratch::default(), store, fields, skip_bad }
    }

    /// Reads a block. What stands before a record that fails is in the part.
    pub(super) fn part(&mut self, block: &Block) -> Part {
        let source = block.number().source;
        let name = self.collection.source_name(source).unwrap_or_default();
        let mut sink = Taker {
            block,
            preparer: &mut self.preparer,
            store: self.store,
            fields: self.fields,
            skip_bad: self.skip_bad,
            is_jsonl: self.collection.source_format(source) == Some(Format::Jsonl),
            source: name.into(),
            part: Part::default(),
        };
        let read = block.read_raw(&mut self.scratch, &mut sink);
        let mut part = sink.part;
        if let Err(error) = read {
            part.failure = part.failure.or(Some(error.into()));
        }
        part
    }
}

struct Taker<'a> {
    block: &'a Block,
    preparer: &'a mut Preparer,
    store: Store,
    fields: &'a [String],
    skip_bad: bool,
    is_jsonl: bool,
    source: Arc<str>,
    part: Part,
}

impl Taker<'_> {
    /// The file that the document stands in, which is mostly that of the one before.
    fn set_source(&mut self, raw: Raw<'_>) {
        if let Raw::File(path) | Raw::Part(path) = raw {
            let name = name_of(path);
            if *name != *self.source {
                self.source = name.into();
            }
        }
    }

    fn metadata(&self, document: &Document<'_>, raw: Raw<'_>) -> Metadata {
        let mut metadata = Metadata::new();
        metadata.insert("source".to_owned(), Value::String((*self.source).to_owned()));
        if let Some(about) = document.about {
            for name in Fields::NAMES {
                if let Some(value) = about.get(name) {
                    metadata.insert(name.to_owned(), Value::String(value.to_owned()));
                }
            }
        }
        // JSON says whether a value is a number or a text; other formats have texts only.
        let object: Option<Metadata> = match raw {
            Raw::Record(bytes) if self.is_jsonl && !self.fields.is_empty() => {
                serde_json::from_slice(bytes).ok()
            }
            _ => None,
        };
        for (name, value) in self.fields.iter().zip(document.fields) {
            let typed = object.as_ref().and_then(|object| filter::member(object, name)).cloned();
            let value = typed.or_else(|| value.map(|text| Value::String(text.to_owned())));
            if let Some(value) = value.filter(|value| !value.is_null()) {
                metadata.insert(name.clone(), value);
            }
        }
        metadata
    }

    fn add(&mut self, document: &Document<'_>, metadata: Metadata, line: Option<u64>) {
        let part = &mut self.part;
        let prepared = self.preparer.prepare(document.text);
        let mut words = |text: &str| {
            part.words.push_str(text);
            part.words.len() - text.len()..part.words.len()
        };
        let id = words(document.id);
        let text = (self.store == Store::Texts).then(|| words(document.text));
        let (codes, signatures) = (part.codes.len(), part.signatures.len());
        part.codes.extend_from_slice(prepared.code);
        part.signatures.extend_from_slice(prepared.signature);
        part.rows.push(Row {
            id,
            text,
            code: codes..part.codes.len(),
            signature: signatures..part.signatures.len(),
            fingerprint: prepared.fingerprint,
            bytes: prepared.bytes,
            metadata,
            modified: document.modified.and_then(|time| i64::try_from(time).ok()),
            source: Arc::clone(&self.source),
            line,
        });
    }
}

impl RawSink for Taker<'_> {
    fn record(&mut self, document: &Document<'_>, raw: Raw<'_>) {
        if self.part.failure.is_some() {
            return;
        }
        self.set_source(raw);
        let metadata = self.metadata(document, raw);
        let line = self.block.line(document.place);
        let Err(error) = check(document, &metadata) else {
            return self.add(document, metadata, line);
        };
        if self.skip_bad {
            let reason = SkipReason::NotStored { why: error.to_string() };
            let (source, id) = (self.source.to_string(), Some(document.id.to_owned()));
            self.part.skipped.push(Skipped { source, line, id, reason });
        } else {
            let source = &self.source;
            let place = line.map_or(source.to_string(), |line| format!("{source}:{line}"));
            self.part.failure = Some(Error::NotAdded { place, error });
        }
    }

    fn skipped(&mut self, skipped: Skipped) {
        self.part.skipped.push(skipped);
    }
}

/// What every index asks of a document, before it is shingled.
fn check(document: &Document<'_>, metadata: &Metadata) -> Result<(), IndexError> {
    entry::check_id(document.id)?;
    let wrong = |why: String| Err(IndexError::Document { id: entry::shown(document.id), why });
    if document.text.len() > MAX_TEXT_BYTES {
        return wrong(format!("its text has more than {MAX_TEXT_BYTES} bytes: split it"));
    }
    let mut counted = Counted(0);
    // Counting does not fail.
    let _ = serde_json::to_writer(&mut counted, metadata);
    if counted.0 > MAX_METADATA_BYTES {
        return wrong(format!(
            "its metadata has {} bytes, at most {MAX_METADATA_BYTES} are stored: name shorter \
             fields with --metadata",
            counted.0
        ));
    }
    Ok(())
}

struct Counted(usize);

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
