//! Shingles and signs the documents of a block.

use super::add_options::AddOptions;
use super::block_reader::{BlockReader, ReadOutput, UnpreparedDocument};
use super::buffered_documents::BufferedDocuments;
use super::prepare::TextPreparer;
use crate::index::error::AddError;
use crate::read::{Block, Collection, ReadBuffers, SkippedItem};
use lookalike_index::settings::OriginalSettings;

/// Documents of one block, ready to be written.
pub(super) struct PreparedBlock<E = AddError> {
    /// Its documents, in order. Documents that were prepared together share a buffer.
    pub(super) documents: Vec<BufferedDocuments>,
    pub(super) skipped: Vec<SkippedItem>,
    /// For each chosen field, whether any document has it.
    pub(super) found: Vec<bool>,
    /// The error after the last document. `prepare` does not return it as an error, because all
    /// documents before it must be written first. Other threads may still prepare some of them.
    pub(super) failure: Option<E>,
}

impl<E> Default for PreparedBlock<E> {
    fn default() -> Self {
        let documents = Vec::new();
        let skipped = Vec::new();
        let found = Vec::new();
        Self { documents, skipped, found, failure: None }
    }
}

impl<E> PreparedBlock<E> {
    /// Creates a block without documents that ends the stream with an error.
    pub(super) fn failed(error: impl Into<E>) -> Self {
        Self { failure: Some(error.into()), ..Self::default() }
    }
}

/// Prepares blocks of a collection. Each thread uses its own preparer.
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

    /// Reads a block. If a record fails, the result contains the documents before it.
    pub(super) fn prepare(&mut self, block: &Block) -> PreparedBlock {
        let documents = BufferedDocuments::default();
        let skipped = Vec::new();
        let mut builder = BlockBuilder { preparer: &mut self.preparer, documents, skipped };
        let mut reader = BlockReader::new(self.collection, block, self.options, &mut builder);
        let read = block.read(&mut self.scratch, &mut reader);
        let found = reader.found;
        let BlockBuilder { documents, skipped, .. } = builder;
        PreparedBlock { documents: vec![documents], skipped, found, failure: read.err() }
    }
}

/// Shingles and signs the documents of a block.
struct BlockBuilder<'a> {
    preparer: &'a mut TextPreparer,
    documents: BufferedDocuments,
    skipped: Vec<SkippedItem>,
}

impl ReadOutput for BlockBuilder<'_> {
    type Error = AddError;

    fn originals(&self) -> Option<OriginalSettings> {
        self.preparer.originals()
    }

    fn document(
        &mut self,
        document: UnpreparedDocument<'_>,
        described: usize,
    ) -> Result<(), AddError> {
        self.documents.push(self.preparer, document, described);
        Ok(())
    }

    fn skipped(&mut self, skipped: SkippedItem) {
        self.skipped.push(skipped);
    }
}
