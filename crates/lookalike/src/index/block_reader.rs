//! Reads the documents of a block, checks them, and adds metadata and times for an index.

use super::add_options::AddOptions;
use super::export::exported::{ExportedVersions, read_exported};
use super::original::OwnedOriginal;
use super::prepare::{DocumentFields, FormerVersion};
use crate::index::error::AddError;
use crate::read::{
    Block, Collection, Document, DocumentContents, DocumentSink, Format, Location, Raw, SinkError,
    SkipReason, SkippedItem, name_of,
};
use crate::report::csv::UNIT_COLUMNS;
use lookalike_extract::Fields;
use lookalike_index::entry::{self, MAX_METADATA_BYTES, MAX_TEXT_BYTES, Metadata};
use lookalike_index::settings::OriginalSettings;
use lookalike_index::{IndexError, filter};
use serde_json::Value;
use std::io;
use std::sync::Arc;

const NO_LINE: &str = "it is not a JSON line of an index export";
const NO_ORIGINALS: &str = "its line has versions with originals, which this index does not keep: \
                            add it to one that keeps originals, or export without them";

/// A document before it is shingled.
pub(super) struct UnpreparedDocument<'a> {
    pub(super) id: &'a str,
    pub(super) text: &'a str,
    pub(super) extra: DocumentFields,
    pub(super) original: Option<OwnedOriginal>,
    /// Its previous versions, by time.
    pub(super) former: Vec<FormerVersion>,
    pub(super) source: &'a Arc<str>,
    pub(super) line: Option<u64>,
}

/// The stored values of a document besides its id and its text.
struct DocumentDetails {
    fields: DocumentFields,
    original: Option<OwnedOriginal>,
    former: Vec<FormerVersion>,
}

/// Receives documents in the form for an index.
pub(super) trait ReadOutput {
    /// The error that ends reading.
    type Error: From<AddError> + SinkError;

    /// The limit on the originals to pass with the documents. `None` passes no originals.
    fn originals(&self) -> Option<OriginalSettings> {
        None
    }

    /// Receives a document. `described` is the length of its metadata as JSON.
    ///
    /// # Errors
    /// An error ends reading.
    fn document(
        &mut self,
        document: UnpreparedDocument<'_>,
        described: usize,
    ) -> Result<(), Self::Error>;

    /// Receives a skipped item, such as a document that an index cannot store.
    fn skipped(&mut self, skipped: SkippedItem);
}

/// Reads the documents of a block.
pub(super) struct BlockReader<'a, O> {
    block: &'a Block,
    options: &'a AddOptions,
    is_jsonl: bool,
    source: Arc<str>,
    /// The original of the previous document. Documents of one file share it.
    original: Option<OwnedOriginal>,
    output: &'a mut O,
    /// For each chosen field, whether any document has it.
    pub(super) found: Vec<bool>,
}

impl<'a, O: ReadOutput> BlockReader<'a, O> {
    pub(super) fn new(
        collection: &Collection,
        block: &'a Block,
        options: &'a AddOptions,
        output: &'a mut O,
    ) -> Self {
        let source = block.number().source;
        let is_jsonl = collection.source_format(source) == Some(Format::Jsonl);
        let found = vec![false; options.metadata.len()];
        let source = collection.source_name(source).unwrap_or_default().into();
        Self { block, options, is_jsonl, source, original: None, output, found }
    }

    /// Sets the file of the document. Most documents have the same file as the previous one.
    fn set_source(&mut self, raw: Raw<'_>) {
        if let Raw::File(path) | Raw::Part(path) = raw {
            let name = name_of(path);
            if *name != *self.source {
                self.source = name.into();
            }
        }
    }

    /// Returns the original of a document, if originals are requested and the document has one.
    fn original(&mut self, document: &Document<'_>) -> Result<Option<OwnedOriginal>, IndexError> {
        let Some(originals) = self.output.originals() else { return Ok(None) };
        let Some(DocumentContents { bytes, media_type, name }) = document.contents else {
            return Ok(None);
        };
        originals.check_length(document.id, bytes.len() as u64)?;
        if let Some(before) = self.original.as_ref().filter(|before| before.bytes() == bytes) {
            return Ok(Some(before.clone()));
        }
        let original = OwnedOriginal::new(bytes, media_type, name);
        self.original = Some(original.clone());
        Ok(Some(original))
    }

    /// Returns the details of a document. Checks its originals, but not its metadata.
    fn details(&mut self, document: &Document<'_>) -> Result<DocumentDetails, IndexError> {
        let mut extra = self.options.fields();
        let mut versions = ExportedVersions::default();
        if self.options.exported {
            let wrong = |why| IndexError::Document { id: entry::shortened_id(document.id), why };
            let Raw::Record(line) = document.raw else { return Err(wrong(NO_LINE.to_owned())) };
            if !self.is_jsonl {
                return Err(wrong(NO_LINE.to_owned()));
            }
            versions = read_exported(line, document.text, &mut extra).map_err(wrong)?;
            self.check_versions(document.id, &versions)?;
        } else {
            extra.modified = document.modified.and_then(|time| i64::try_from(time).ok());
            let source = Value::String((*self.source).to_owned());
            extra.metadata.insert("source".to_owned(), source);
        }
        self.describe(document, &mut extra.metadata);
        let original = match versions.original {
            Some(original) => Some(original),
            None => self.original(document)?,
        };
        Ok(DocumentDetails { fields: extra, original, former: versions.former })
    }

    /// Checks that the index accepts the originals of a line.
    fn check_versions(&self, id: &str, versions: &ExportedVersions) -> Result<(), IndexError> {
        let former = versions.former.iter().map(|version| &version.original);
        for original in former.chain(&versions.original) {
            let Some(originals) = self.output.originals() else {
                let id = entry::shortened_id(id);
                return Err(IndexError::Document { id, why: NO_ORIGINALS.to_owned() });
            };
            originals.check_length(id, original.bytes().len() as u64)?;
        }
        Ok(())
    }

    /// Adds the document's properties and the chosen fields to its metadata.
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
        // JSON distinguishes numbers and texts; other formats only have texts.
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
            self.found[at] |= metadata.contains_key(name);
        }
    }
}

impl<O: ReadOutput> DocumentSink for BlockReader<'_, O> {
    type Error = O::Error;

    fn document(&mut self, document: &Document<'_>) -> Result<(), O::Error> {
        let prefix = self.options.id_prefix.as_deref();
        let id = prefix.and_then(|prefix| document.id.strip_prefix(prefix));
        let document = &Document { id: id.unwrap_or(document.id), ..*document };
        self.set_source(document.raw);
        let line = self.block.line(document.place);
        let id = document.id;
        let text = document.text;
        let checked = self
            .details(document)
            .and_then(|details| Ok((check(id, text, &details.fields.metadata)?, details)));
        let error = match checked {
            Ok((described, DocumentDetails { fields: extra, original, former })) => {
                let source = &self.source;
                let unprepared =
                    UnpreparedDocument { id, text, extra, original, former, source, line };
                return self.output.document(unprepared, described);
            }
            Err(error) => error,
        };
        if self.options.skip_bad {
            let reason = SkipReason::NotStored { why: error.to_string() };
            let source = self.source.to_string();
            let id = Some(document.id.to_owned());
            return self.skipped(SkippedItem { source, line, id, reason });
        }
        let place = Box::new(Location::in_source(&*self.source, line));
        Err(AddError::NotAdded { place, error }.into())
    }

    fn skipped(&mut self, skipped: SkippedItem) -> Result<(), O::Error> {
        self.output.skipped(skipped);
        Ok(())
    }
}

/// Checks a document before it is shingled, by the requirements that all indexes share. Returns the
/// length of its metadata as JSON.
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
