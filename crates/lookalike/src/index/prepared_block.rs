//! A block of documents → the same, shingled and signed.

use super::add_options::AddOptions;
use super::block_reader::{BlockReader, ReadOutput, UnpreparedDocument};
use super::buffered_documents::BufferedDocuments;
use super::prepare::TextPreparer;
use crate::index::error::AddError;
use crate::read::{Block, Collection, ReadBuffers, SkippedItem};
use lookalike_index::settings::OriginalSettings;

/// Documents of one block, ready to be written.
pub(super) struct PreparedBlock<E = AddError> {
    /// Its documents, in order, in as many pieces as they were prepared in.
    pub(super) documents: Vec<BufferedDocuments>,
    pub(super) skipped: Vec<SkippedItem>,
    /// Which of the chosen fields any of the documents has.
    pub(super) found: Vec<bool>,
    /// Why no documents follow. It is a part of the block and not the error of `prepare`, since the
    /// documents before it are written first, which other threads may not have got to yet.
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
    /// A block without documents, behind which none follow.
    pub(super) fn failed(error: impl Into<E>) -> Self {
        Self { failure: Some(error.into()), ..Self::default() }
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
