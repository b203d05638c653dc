//! One block of documents in, the same shingled and signed out, ready to be written.

use super::add_options::AddOptions;
use super::exported::{ExportedDocument, exported};
use super::prepare::TextPreparer;
use crate::error::Error;
use crate::read::{
    Block, Collection, Document, DocumentSink, Format, Raw, ReadBuffers, SkipReason, SkippedItem,
    name_of,
};
use lookalike_extract::Fields;
use lookalike_index::entry::{self, IndexEntry, MAX_METADATA_BYTES, MAX_TEXT_BYTES, Metadata};
use lookalike_index::{IndexError, filter};
use serde_json::Value;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Documents of one block, in order.
#[derive(Default)]
pub(super) struct PreparedBlock {
    pub(super) rows: Vec<PreparedRow>,
    /// Ids and texts, one after the other.
    words: String,
    codes: Vec<u8>,
    signatures: Vec<u32>,
    /// Bytes of metadata as JSON.
    described: usize,
    pub(super) skipped: Vec<SkippedItem>,
    /// Which of the chosen fields any of them has.
    pub(super) found: Vec<bool>,
}

/// One document.
pub(super) struct PreparedRow {
    id: Range<usize>,
    text: Option<Range<usize>>,
    code: Range<usize>,
    signature: Range<usize>,
    fingerprint: u128,
    bytes: u64,
    extra: ExportedDocument,
    source: Arc<str>,
    line: Option<u64>,
}

/// A document as it was read.
pub(super) struct UnpreparedDocument<'a> {
    pub(super) id: &'a str,
    pub(super) text: &'a str,
    pub(super) extra: ExportedDocument,
    pub(super) source: &'a Arc<str>,
    pub(super) line: Option<u64>,
}

impl PreparedRow {
    /// Whether it has shingles.
    pub(super) fn is_empty(&self) -> bool {
        self.signature.is_empty()
    }

    /// Its line in the file, or its number among documents that a program has.
    pub(super) fn line(&self) -> Option<u64> {
        self.line
    }

    /// Where it is.
    pub(super) fn place(&self) -> String {
        match self.line {
            Some(line) => format!("{}:{line}", self.source),
            None => self.source.to_string(),
        }
    }
}

impl PreparedBlock {
    /// Bytes of memory that it takes, about.
    pub(super) fn bytes(&self) -> usize {
        let (described, rows) = (MAP_BYTES * self.described, 200 * self.rows.len());
        self.words.len() + self.codes.len() + 4 * self.signatures.len() + described + rows
    }

    /// Shingles and signs a document and puts it behind the others; `described` are the bytes of
    /// its metadata.
    pub(super) fn push(
        &mut self,
        preparer: &mut TextPreparer,
        given: UnpreparedDocument<'_>,
        described: usize,
    ) {
        let keeps_texts = preparer.keeps_texts();
        let prepared = preparer.prepare(given.text);
        let mut words = |text: &str| {
            self.words.push_str(text);
            self.words.len() - text.len()..self.words.len()
        };
        let id = words(given.id);
        let text = keeps_texts.then(|| words(given.text));
        let (codes, signatures) = (self.codes.len(), self.signatures.len());
        prepared.encode_set(&mut self.codes);
        self.signatures.extend_from_slice(prepared.signature);
        self.described += described;
        self.rows.push(PreparedRow {
            id,
            text,
            code: codes..self.codes.len(),
            signature: signatures..self.signatures.len(),
            fingerprint: prepared.fingerprint,
            bytes: prepared.bytes,
            extra: given.extra,
            source: Arc::clone(given.source),
            line: given.line,
        });
    }

    /// The id of a document.
    pub(super) fn id(&self, row: &PreparedRow) -> &str {
        &self.words[row.id.clone()]
    }

    /// A document as an index takes it, added and expiring then where its line says nothing else.
    pub(super) fn entry<'a>(
        &'a self,
        row: &'a PreparedRow,
        added: i64,
        expires: Option<i64>,
    ) -> IndexEntry<'a> {
        IndexEntry {
            id: self.id(row),
            fingerprint: row.fingerprint,
            bytes: row.bytes,
            signature: &self.signatures[row.signature.clone()],
            set: &self.codes[row.code.clone()],
            text: row.text.clone().map(|range| &self.words[range]),
            metadata: &row.extra.metadata,
            added: row.extra.added.unwrap_or(added),
            modified: row.extra.modified,
            expires: row.extra.expires.or(expires),
        }
    }
}

/// One thread's tools.
pub(super) struct BlockMaker<'a> {
    collection: &'a Collection,
    preparer: TextPreparer,
    scratch: ReadBuffers,
    options: &'a AddOptions,
}

impl<'a> BlockMaker<'a> {
    pub(super) fn new(
        collection: &'a Collection,
        preparer: TextPreparer,
        options: &'a AddOptions,
    ) -> Self {
        Self { collection, preparer, scratch: ReadBuffers::default(), options }
    }

    /// Reads a block: the documents before a record that fails, and why it fails.
    pub(super) fn part(&mut self, block: &Block) -> (PreparedBlock, Result<(), Error>) {
        let source = block.number().source;
        let name = self.collection.source_name(source).unwrap_or_default();
        let mut sink = BlockTaker {
            block,
            preparer: &mut self.preparer,
            options: self.options,
            is_jsonl: self.collection.source_format(source) == Some(Format::Jsonl),
            source: name.into(),
            part: PreparedBlock {
                found: vec![false; self.options.metadata.len()],
                ..PreparedBlock::default()
            },
        };
        let read = block.read(&mut self.scratch, &mut sink);
        (sink.part, read)
    }
}

/// Bytes of memory that a byte of JSON takes as values, about.
const MAP_BYTES: usize = 3;
const NO_LINE: &str = "it is not a JSON line of an index export";

struct BlockTaker<'a> {
    block: &'a Block,
    preparer: &'a mut TextPreparer,
    options: &'a AddOptions,
    is_jsonl: bool,
    source: Arc<str>,
    part: PreparedBlock,
}

impl BlockTaker<'_> {
    /// The file that the document is in, which is mostly that of the one before.
    fn set_source(&mut self, raw: Raw<'_>) {
        if let Raw::File(path) | Raw::Part(path) = raw {
            let name = name_of(path);
            if *name != *self.source {
                self.source = name.into();
            }
        }
    }

    /// What is stored of a document in addition to its id and its text.
    fn extra(&mut self, document: &Document<'_>) -> Result<ExportedDocument, IndexError> {
        let mut extra = ExportedDocument::default();
        if self.options.exported {
            let wrong = |why| IndexError::Document { id: entry::shown(document.id), why };
            let Raw::Record(line) = document.raw else { return Err(wrong(NO_LINE.to_owned())) };
            if !self.is_jsonl {
                return Err(wrong(NO_LINE.to_owned()));
            }
            extra = exported(line).map_err(wrong)?;
        }
        if !self.options.exported {
            extra.modified = document.modified.and_then(|time| i64::try_from(time).ok());
            let source = Value::String((*self.source).to_owned());
            extra.metadata.insert("source".to_owned(), source);
        }
        self.describe(document, &mut extra.metadata);
        Ok(extra)
    }

    /// Adds what the document says of itself, and the chosen fields, to its metadata.
    fn describe(&mut self, document: &Document<'_>, metadata: &mut Metadata) {
        if let Some(about) = document.about {
            for name in Fields::NAMES {
                if let Some(value) = about.get(name) {
                    metadata.insert(name.to_owned(), Value::String(value.to_owned()));
                }
            }
        }
        let fields = &self.options.metadata;
        // JSON says whether a value is a number or a text; other formats have texts only.
        let object: Option<Metadata> = match document.raw {
            Raw::Record(bytes) if self.is_jsonl && !fields.is_empty() => {
                serde_json::from_slice(bytes).ok()
            }
            _ => None,
        };
        for (at, (name, value)) in fields.iter().zip(document.fields).enumerate() {
            let typed = object.as_ref().and_then(|object| filter::member(object, name)).cloned();
            let value = typed.or_else(|| value.map(|text| Value::String(text.to_owned())));
            if let Some(value) = value.filter(|value| !value.is_null()) {
                metadata.insert(name.clone(), value);
            }
            self.part.found[at] |= metadata.contains_key(name);
        }
    }
}

impl DocumentSink for BlockTaker<'_> {
    type Error = Error;

    fn document(&mut self, document: &Document<'_>) -> Result<(), Error> {
        self.set_source(document.raw);
        let line = self.block.line(document.place);
        let extra = self.extra(document);
        let (id, text) = (document.id, document.text);
        let checked = extra.and_then(|extra| Ok((check(id, text, &extra.metadata)?, extra)));
        let error = match checked {
            Ok((described, extra)) => {
                let given = UnpreparedDocument { id, text, extra, source: &self.source, line };
                self.part.push(self.preparer, given, described);
                return Ok(());
            }
            Err(error) => error,
        };
        if self.options.skip_bad {
            let reason = SkipReason::NotStored { why: error.to_string() };
            let (source, id) = (self.source.to_string(), Some(document.id.to_owned()));
            return self.skipped(SkippedItem { source, line, id, reason });
        }
        let source = &self.source;
        let place = line.map_or(source.to_string(), |line| format!("{source}:{line}"));
        Err(Error::NotAdded { place, error })
    }

    fn skipped(&mut self, skipped: SkippedItem) -> Result<(), Error> {
        self.part.skipped.push(skipped);
        Ok(())
    }
}

/// What every index asks of a document, before it is shingled; gives the bytes of its metadata.
pub(super) fn check(id: &str, text: &str, metadata: &Metadata) -> Result<usize, IndexError> {
    entry::check_id(id)?;
    let wrong = |why: String| Err(IndexError::Document { id: entry::shown(id), why });
    if text.len() > MAX_TEXT_BYTES {
        return wrong(format!("its text has more than {MAX_TEXT_BYTES} bytes: split it"));
    }
    let mut counted = CountedBytes(0);
    // Counting does not fail.
    let _ = serde_json::to_writer(&mut counted, metadata);
    if counted.0 > MAX_METADATA_BYTES {
        return wrong(format!(
            "its metadata has {} bytes, at most {MAX_METADATA_BYTES} are stored: store shorter \
             fields",
            counted.0
        ));
    }
    Ok(counted.0)
}

struct CountedBytes(usize);

impl io::Write for CountedBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
