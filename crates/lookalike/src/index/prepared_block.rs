//! A block of documents → the same, shingled and signed.

use super::add_options::AddOptions;
use super::exported::read_exported;
use super::original::OwnedOriginal;
use super::prepare::{DocumentFields, PreparedDocument, TextPreparer};
use crate::error::Error;
use crate::read::{
    Block, Collection, Document, DocumentContents, DocumentSink, Format, Raw, ReadBuffers,
    SkipReason, SkippedItem, name_of,
};
use crate::report::csv::UNIT_COLUMNS;
use lookalike_extract::Fields;
use lookalike_index::entry::{self, MAX_METADATA_BYTES, MAX_TEXT_BYTES, Metadata};
use lookalike_index::{IndexError, filter};
use serde_json::Value;
use std::fmt;
use std::io;
use std::sync::Arc;

/// Documents of one block, in order, ready to be written.
pub(super) struct PreparedBlock<E = Error> {
    pub(super) rows: Vec<PreparedRow>,
    /// Estimated bytes of memory.
    pub(super) bytes: usize,
    pub(super) skipped: Vec<SkippedItem>,
    /// Which of the chosen fields any of the documents has.
    pub(super) found: Vec<bool>,
    /// Why no documents follow.
    pub(super) failure: Option<E>,
}

/// One document, and where it was read.
pub(super) struct PreparedRow {
    pub(super) document: PreparedDocument,
    pub(super) location: RowLocation,
}

/// Where a document was read.
#[derive(Debug, Clone)]
pub(super) struct RowLocation {
    source: Arc<str>,
    /// Its line in the file, or its number among the documents of a caller.
    pub(super) line: Option<u64>,
}

impl fmt::Display for RowLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)?;
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

/// A document as it was read.
pub(super) struct UnpreparedDocument<'a> {
    pub(super) id: &'a str,
    pub(super) text: &'a str,
    pub(super) extra: DocumentFields,
    pub(super) original: Option<OwnedOriginal>,
    pub(super) source: &'a Arc<str>,
    pub(super) line: Option<u64>,
}

impl<E> Default for PreparedBlock<E> {
    fn default() -> Self {
        let (rows, skipped, found) = (Vec::new(), Vec::new(), Vec::new());
        Self { rows, bytes: 0, skipped, found, failure: None }
    }
}

impl<E> PreparedBlock<E> {
    /// A block without documents, behind which none follow.
    pub(super) fn failed(error: impl Into<E>) -> Self {
        Self { failure: Some(error.into()), ..Self::default() }
    }

    /// Shingles and signs a document and appends it; `described` is the length of its metadata as
    /// JSON.
    pub(super) fn push(
        &mut self,
        preparer: &mut TextPreparer,
        given: UnpreparedDocument<'_>,
        described: usize,
    ) {
        let UnpreparedDocument { id, text, extra, original, source, line } = given;
        let stored_text = preparer.keeps_texts().then(|| text.to_owned());
        let prepared = preparer.prepare(text).document(id.to_owned(), stored_text, extra);
        let document = PreparedDocument { original, ..prepared };
        let texts = id.len() + document.text.as_ref().map_or(0, String::len);
        let shingles = document.set.len() + 4 * document.signature.len();
        self.bytes += texts + shingles + MAP_BYTES * described + ROW_BYTES;
        let location = RowLocation { source: Arc::clone(source), line };
        self.rows.push(PreparedRow { document, location });
    }
}

/// Prepares blocks of a collection; one for each thread.
pub(super) struct CollectionPreparer<'a> {
    collection: &'a Collection,
    preparer: TextPreparer,
    scratch: ReadBuffers,
    options: &'a AddOptions,
}

impl<'a> CollectionPreparer<'a> {
    pub(super) fn new(
        collection: &'a Collection,
        preparer: TextPreparer,
        options: &'a AddOptions,
    ) -> Self {
        Self { collection, preparer, scratch: ReadBuffers::default(), options }
    }

    /// Reads a block. The documents before a record that fails are in the result.
    pub(super) fn prepare(&mut self, block: &Block) -> PreparedBlock {
        let source = block.number().source;
        let name = self.collection.source_name(source).unwrap_or_default();
        let mut sink = BlockTaker {
            block,
            preparer: &mut self.preparer,
            options: self.options,
            is_jsonl: self.collection.source_format(source) == Some(Format::Jsonl),
            source: name.into(),
            original: None,
            part: PreparedBlock {
                found: vec![false; self.options.metadata.len()],
                ..PreparedBlock::default()
            },
        };
        let read = block.read(&mut self.scratch, &mut sink);
        PreparedBlock { failure: read.err(), ..sink.part }
    }
}

/// Estimated bytes of memory of a byte of JSON as values.
const MAP_BYTES: usize = 3;
/// Estimated bytes of memory of a document in addition to its texts, shingles and metadata.
const ROW_BYTES: usize = 200;
const NO_LINE: &str = "it is not a JSON line of an index export";

struct BlockTaker<'a> {
    block: &'a Block,
    preparer: &'a mut TextPreparer,
    options: &'a AddOptions,
    is_jsonl: bool,
    source: Arc<str>,
    /// The original of the document before, which those of one file share.
    original: Option<OwnedOriginal>,
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

    /// The original of a document, where the index keeps originals and the document has one.
    fn original(&mut self, document: &Document<'_>) -> Result<Option<OwnedOriginal>, IndexError> {
        let Some(originals) = self.preparer.originals() else { return Ok(None) };
        let Some(DocumentContents { bytes, media_type, name }) = document.contents else {
            return Ok(None);
        };
        originals.check_length(document.id, bytes.len() as u64)?;
        if let Some(before) = self.original.as_ref().filter(|before| before.bytes() == bytes) {
            return Ok(Some(before.clone()));
        }
        let original = OwnedOriginal::new(bytes, media_type, name);
        self.part.bytes += bytes.len();
        self.original = Some(original.clone());
        Ok(Some(original))
    }

    /// What is stored of a document in addition to its id and its text.
    fn extra(&mut self, document: &Document<'_>) -> Result<DocumentFields, IndexError> {
        let mut extra = self.options.fields();
        if self.options.exported {
            let wrong = |why| IndexError::Document { id: entry::shortened_id(document.id), why };
            let Raw::Record(line) = document.raw else { return Err(wrong(NO_LINE.to_owned())) };
            if !self.is_jsonl {
                return Err(wrong(NO_LINE.to_owned()));
            }
            read_exported(line, &mut extra).map_err(wrong)?;
        } else {
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
        if let (Some(parent), Some(unit)) = (document.parent, document.place.unit()) {
            let [name, numbers @ ..] = UNIT_COLUMNS;
            metadata.insert(name.to_owned(), Value::String(parent.id.to_owned()));
            for (name, number) in numbers.into_iter().zip(unit.to_numbers()) {
                metadata.insert(name.to_owned(), Value::from(number));
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
        let prefix = self.options.id_prefix.as_deref();
        let id = prefix.and_then(|prefix| document.id.strip_prefix(prefix));
        let document = &Document { id: id.unwrap_or(document.id), ..*document };
        self.set_source(document.raw);
        let line = self.block.line(document.place);
        let extra = self.extra(document);
        let (id, text) = (document.id, document.text);
        let checked = extra.and_then(|extra| {
            Ok((check(id, text, &extra.metadata)?, extra, self.original(document)?))
        });
        let error = match checked {
            Ok((described, extra, original)) => {
                let source = &self.source;
                let given = UnpreparedDocument { id, text, extra, original, source, line };
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

/// Checks what every index requires of a document, before it is shingled; returns the length of its
/// metadata as JSON.
pub(super) fn check(id: &str, text: &str, metadata: &Metadata) -> Result<usize, IndexError> {
    entry::check_id(id)?;
    let wrong = |why: String| Err(IndexError::Document { id: entry::shortened_id(id), why });
    if text.len() > MAX_TEXT_BYTES {
        return wrong(format!("its text has more than {MAX_TEXT_BYTES} bytes: split it"));
    }
    let mut counted = CountedBytes(0);
    if let Err(error) = serde_json::to_writer(&mut counted, metadata) {
        return wrong(format!("its metadata cannot be written as JSON: {error}"));
    }
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
