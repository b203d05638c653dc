//! A block of documents → the same, shingled and signed.

use super::add_options::AddOptions;
use super::block_reader::{BlockReader, ReadOutput, UnpreparedDocument};
use super::prepare::{DocumentFields, FormerVersion, PreparedDocument, TextPreparer};
use crate::error::Error;
use crate::read::{Block, Collection, Location, ReadBuffers, SkippedItem};
use lookalike_index::settings::OriginalSettings;
use std::sync::Arc;

/// Documents of one block, in order, ready to be written.
pub(super) struct PreparedBlock<E = Error> {
    pub(super) rows: Vec<PreparedRow>,
    /// Estimated bytes of memory.
    pub(super) bytes: usize,
    pub(super) skipped: Vec<SkippedItem>,
    /// Which of the chosen fields any of the documents has.
    pub(super) found: Vec<bool>,
    /// Why no documents follow. It is a part of the block and not the error of `prepare`, since the
    /// documents before it are written first, which other threads may not have got to yet.
    pub(super) failure: Option<E>,
}

/// One document, and where it was read.
pub(super) struct PreparedRow {
    pub(super) document: PreparedDocument,
    /// Whether it is the next version of the document in the row before.
    pub(super) is_next_version: bool,
    pub(super) location: RowLocation,
}

/// Where a document was read.
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

    /// Shingles and signs a document and appends it, behind the versions before it; `described` is
    /// the length of its metadata as JSON.
    pub(super) fn push(
        &mut self,
        preparer: &mut TextPreparer,
        mut given: UnpreparedDocument<'_>,
        described: usize,
    ) {
        let (id, source, line) = (given.id, given.source, given.line);
        let mut is_next_version = false;
        for FormerVersion { added, modified, text, original } in std::mem::take(&mut given.former) {
            let extra = DocumentFields { added, modified, ..DocumentFields::default() };
            let (original, former) = (Some(original), Vec::new());
            let text = &text;
            let version = UnpreparedDocument { id, text, extra, original, former, source, line };
            self.push_version(preparer, version, 0, is_next_version);
            is_next_version = true;
        }
        self.push_version(preparer, given, described, is_next_version);
    }

    fn push_version(
        &mut self,
        preparer: &mut TextPreparer,
        given: UnpreparedDocument<'_>,
        described: usize,
        is_next_version: bool,
    ) {
        let UnpreparedDocument { id, text, extra, original, source, line, .. } = given;
        let before = self.rows.last().and_then(|row| row.document.original.as_ref());
        if let Some(original) = &original
            && !before.is_some_and(|before| before.shares_bytes(original))
        {
            self.bytes += original.bytes().len();
        }
        let document = PreparedDocument { original, ..preparer.document(id, text, extra) };
        let texts = id.len() + document.text.as_ref().map_or(0, String::len);
        let shingles = document.set.len() + 4 * document.signature.len();
        self.bytes += texts + shingles + MAP_BYTES * described + ROW_BYTES;
        let location = RowLocation { source: Arc::clone(source), line };
        self.rows.push(PreparedRow { document, is_next_version, location });
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
        let found = vec![false; self.options.metadata.len()];
        let part = PreparedBlock { found, ..PreparedBlock::default() };
        let mut builder = BlockBuilder { preparer: &mut self.preparer, part };
        let mut reader = BlockReader::new(self.collection, block, self.options, &mut builder);
        let read = block.read(&mut self.scratch, &mut reader);
        let found = reader.found;
        PreparedBlock { failure: read.err(), found, ..builder.part }
    }
}

/// Estimated bytes of memory of a byte of JSON as values.
const MAP_BYTES: usize = 3;
/// Estimated bytes of memory of a document in addition to its texts, shingles and metadata.
const ROW_BYTES: usize = 200;

/// Shingles and signs the documents of a block.
struct BlockBuilder<'a> {
    preparer: &'a mut TextPreparer,
    part: PreparedBlock,
}

impl ReadOutput for BlockBuilder<'_> {
    type Error = Error;

    fn originals(&self) -> Option<OriginalSettings> {
        self.preparer.originals()
    }

    fn document(
        &mut self,
        document: UnpreparedDocument<'_>,
        described: usize,
    ) -> Result<(), Error> {
        self.part.push(self.preparer, document, described);
        Ok(())
    }

    fn skipped(&mut self, skipped: SkippedItem) {
        self.part.skipped.push(skipped);
    }
}
