//! Shingled and signed documents in shared buffers.
//!
//! With separate buffers for each document, adding documents takes several percent more processor
//! time, because one thread allocates the buffers and another one frees them.

use super::block_reader::UnpreparedDocument;
use super::original::OwnedOriginal;
use super::prepare::{DocumentFields, FormerVersion, TextPreparer};
use crate::read::Location;
use lookalike_index::entry::{EntryText, IndexEntry};
use lookalike_index::text_code;
use std::ops::Range;
use std::sync::Arc;

/// Estimated bytes of memory that parsed metadata take per byte of JSON.
const MAP_BYTES: usize = 3;
/// Estimated bytes of memory of a document besides its texts, shingles and metadata.
const ROW_BYTES: usize = 200;

/// Documents in order, shingled and signed, ready to be written.
#[derive(Default)]
pub(super) struct BufferedDocuments {
    rows: Vec<BufferedRow>,
    /// Ids and texts.
    words: String,
    /// Encoded shingle sets and texts. They are encoded here and not in the index, so that several
    /// threads share the work.
    codes: Vec<u8>,
    signatures: Vec<u32>,
    /// Estimated bytes of memory.
    bytes: usize,
}

/// One document, with its positions in the buffers.
struct BufferedRow {
    id: Range<usize>,
    text: Option<BufferedText>,
    set: Range<usize>,
    signature: Range<usize>,
    fingerprint: u128,
    bytes: u64,
    original: Option<OwnedOriginal>,
    fields: DocumentFields,
    is_next_version: bool,
    location: RowLocation,
}

/// A text in `words` and, if zstd encoded it, its code in `codes`.
struct BufferedText {
    text: Range<usize>,
    code: Option<Range<usize>>,
}

/// The place from which a document was read.
#[derive(Debug, Clone)]
pub(super) struct RowLocation {
    source: Arc<str>,
    /// Its line in the file, or its number among the documents of a caller.
    pub(super) line: Option<u64>,
}

impl From<RowLocation> for Location {
    fn from(RowLocation { source, line }: RowLocation) -> Self {
        Self::in_source(&*source, line)
    }
}

impl BufferedDocuments {
    /// Number of documents.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Estimated bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The documents, in order.
    pub(super) fn rows(&self) -> impl Iterator<Item = PreparedRow<'_>> {
        self.rows.iter().map(|row| PreparedRow { documents: self, row })
    }

    /// Shingles and signs a document and appends it after its previous versions. `described` is the
    /// length of its metadata as JSON.
    pub(super) fn push(
        &mut self,
        preparer: &mut TextPreparer,
        mut unprepared: UnpreparedDocument<'_>,
        described: usize,
    ) {
        let id = unprepared.id;
        let source = unprepared.source;
        let line = unprepared.line;
        let mut is_next_version = false;
        for FormerVersion { added, modified, text, original } in
            std::mem::take(&mut unprepared.former)
        {
            let extra = DocumentFields { added, modified, ..DocumentFields::default() };
            let original = Some(original);
            let former = Vec::new();
            let text = &text;
            let version = UnpreparedDocument { id, text, extra, original, former, source, line };
            self.push_version(preparer, version, is_next_version);
            is_next_version = true;
        }
        self.push_version(preparer, unprepared, is_next_version);
        self.bytes += MAP_BYTES * described;
    }

    fn push_version(
        &mut self,
        preparer: &mut TextPreparer,
        unprepared: UnpreparedDocument<'_>,
        is_next_version: bool,
    ) {
        let UnpreparedDocument { id, text, extra: fields, original, source, line, .. } = unprepared;
        let before = self.rows.last().and_then(|row| row.original.as_ref());
        if let Some(original) = &original
            && !before.is_some_and(|before| before.shares_bytes(original))
        {
            self.bytes += original.bytes().len();
        }
        let codes = self.codes.len();
        let id = appended(&mut self.words, id);
        let stored_text = preparer.keeps_texts().then(|| self.push_text(text));
        let prepared = preparer.prepare(text);
        let set = self.codes.len();
        let signature = self.signatures.len();
        prepared.encode_set(&mut self.codes);
        self.signatures.extend_from_slice(prepared.signature);
        let row = BufferedRow {
            id,
            text: stored_text,
            set: set..self.codes.len(),
            signature: signature..self.signatures.len(),
            fingerprint: prepared.fingerprint,
            bytes: prepared.bytes,
            original,
            fields,
            is_next_version,
            location: RowLocation { source: Arc::clone(source), line },
        };
        let texts = self.words.len() - row.id.start;
        let codes = self.codes.len() - codes;
        self.bytes += texts + codes + 4 * row.signature.len() + ROW_BYTES;
        self.rows.push(row);
    }

    fn push_text(&mut self, text: &str) -> BufferedText {
        let code = self.codes.len();
        let encoded = text_code::encode(text, &mut self.codes);
        let code = encoded.is_ok().then_some(code..self.codes.len());
        BufferedText { text: appended(&mut self.words, text), code }
    }
}

/// Appends a text and returns its position.
fn appended(words: &mut String, text: &str) -> Range<usize> {
    words.push_str(text);
    words.len() - text.len()..words.len()
}

/// A document of [`BufferedDocuments`].
#[derive(Clone, Copy)]
pub(super) struct PreparedRow<'a> {
    documents: &'a BufferedDocuments,
    row: &'a BufferedRow,
}

impl<'a> PreparedRow<'a> {
    /// Its id.
    pub(super) fn id(self) -> &'a str {
        &self.documents.words[self.row.id.clone()]
    }

    /// Whether it is the next version of the document in the previous row.
    pub(super) fn is_next_version(self) -> bool {
        self.row.is_next_version
    }

    /// The place from which it was read.
    pub(super) fn location(self) -> &'a RowLocation {
        &self.row.location
    }

    /// The ids of documents that were removed as its duplicates.
    pub(super) fn duplicates(self) -> &'a [String] {
        &self.row.fields.duplicates
    }

    /// The document in the form for the index.
    pub(super) fn entry(self) -> IndexEntry<'a> {
        let BufferedDocuments { words, codes, signatures, .. } = self.documents;
        let row = self.row;
        let DocumentFields { metadata, added, modified, expires, .. } = &row.fields;
        IndexEntry {
            id: self.id(),
            fingerprint: row.fingerprint,
            bytes: row.bytes,
            signature: &signatures[row.signature.clone()],
            set: &codes[row.set.clone()],
            text: row.text.as_ref().map(|BufferedText { text, code }| EntryText {
                text: &words[text.clone()],
                code: code.clone().map(|code| &codes[code]),
            }),
            original: row.original.as_ref().map(OwnedOriginal::entry),
            metadata,
            added: *added,
            modified: *modified,
            expires: *expires,
        }
    }
}
