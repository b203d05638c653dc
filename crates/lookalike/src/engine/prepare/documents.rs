//! Numbers the documents of all blocks 0, 1, 2 … in reading order.

use crate::digest::InputsDigest;
use crate::engine::error::FindError;
use crate::engine::ids::{self, DocumentNumber, Id, IdVec, SourceIndex, SourceNumber};
use crate::engine::prepare::block_store::{BlockStore, StoredBlock};
use crate::engine::prepare::columns::{DocumentRow, FixedColumns};
use crate::engine::prepare::mail_removals::MailRemovals;
use crate::engine::prepare::skipped::{SkippedRecords, SkippedWriter};
use crate::engine::prepare::sources::SourceCounts;
use crate::folding::SampledText;
use crate::read::{Location, SkippedItem};
use lookalike_core::candidate::MAX_DOCUMENTS;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Documents per read of a column from the disk: few enough to stay in the cache.
const READ_AT_ONCE: u32 = 1 << 16;

/// The state of a document, which a stage determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DocumentState(u8);

impl DocumentState {
    /// It takes part in all stages.
    pub(crate) const PLAIN: Self = Self(0);
    /// It has no token.
    pub(crate) const EMPTY: Self = Self(1);
    /// An earlier document has its id.
    pub(crate) const REPEATED_ID: Self = Self(2);
    /// An earlier document has equal shingles and represents it.
    pub(crate) const COPY: Self = Self(3);
    /// A list leaves it out.
    pub(crate) const DROPPED: Self = Self(4);

    /// Whether it can be similar to others.
    pub(crate) fn is_active(self) -> bool {
        matches!(self, Self::PLAIN | Self::COPY)
    }

    /// Whether it is a document of the run.
    pub(crate) fn takes_part(self) -> bool {
        !matches!(self, Self::REPEATED_ID | Self::DROPPED)
    }
}

/// All documents of a run.
pub(crate) struct RunDocuments {
    pub(crate) store: BlockStore,
    /// The first document of each block, then the number of all documents.
    starts: Vec<DocumentNumber>,
    /// The blocks in the order of their columns.
    by_chunk: Vec<u32>,
    /// The index in `sources` of each numbered source.
    source_indices: IdVec<SourceNumber, SourceIndex>,
    pub(crate) sources: Vec<SourceCounts>,
    /// Bytes of memory of the sources.
    pub(crate) sources_held: u64,
    pub(crate) skipped: SkippedRecords,
    /// Documents that are excluded because of their ids.
    repeated: SkippedWriter,
    pub(crate) inputs: InputsDigest,
    pub(crate) cut_from_mail: MailRemovals,
    /// The sample that measures the effect of folding.
    pub(crate) drawn: Vec<SampledText>,
    states: IdVec<DocumentNumber, DocumentState>,
    /// Whether the blocks of the store contain only some of their documents.
    pub(crate) is_selection: bool,
}

impl RunDocuments {
    /// Numbers the documents. `listed` are the items skipped before reading.
    pub(crate) fn new(mut store: BlockStore, listed: &[SkippedItem]) -> Result<Self, FindError> {
        let len: usize = store.blocks.iter().map(|block| block.notes.documents as usize).sum();
        if len > MAX_DOCUMENTS {
            return Err(FindError::TooManyDocuments { got: len });
        }
        let mut starts = Vec::with_capacity(store.blocks.len() + 1);
        let mut skipped = SkippedRecords::new(Arc::clone(&store.skipped));
        skipped.extend(listed)?;
        let mut states = IdVec::from(vec![DocumentState::PLAIN; len]);
        let mut inputs = InputsDigest::default();
        let mut cut_from_mail = MailRemovals::default();
        let mut drawn = Vec::new();
        let mut start = DocumentNumber(0);
        for StoredBlock { notes, .. } in &mut store.blocks {
            starts.push(start);
            for row in std::mem::take(&mut notes.empty) {
                states[row.document_after(start)] = DocumentState::EMPTY;
            }
            start.0 += notes.documents;
            skipped.add(std::mem::take(&mut notes.skipped));
            inputs.merge(notes.inputs);
            cut_from_mail.merge(notes.cut_from_mail);
            drawn.append(&mut notes.drawn);
        }
        starts.push(start);
        let sources_held = store.sources.held_bytes();
        let (sources, source_indices) = store.sources.in_order();
        Ok(Self {
            by_chunk: store.by_chunk(),
            store,
            starts,
            source_indices,
            sources,
            sources_held,
            skipped,
            repeated: SkippedWriter::default(),
            inputs,
            cut_from_mail,
            drawn,
            states,
            is_selection: false,
        })
    }

    /// The number of documents.
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    /// The documents of the i-th block.
    pub(crate) fn range(&self, i: usize) -> Range<DocumentNumber> {
        self.starts[i]..self.starts[i + 1]
    }

    /// The documents of the i-th block, ascending.
    pub(crate) fn in_block(&self, i: usize) -> impl Iterator<Item = DocumentNumber> + use<> {
        ids::each(self.range(i))
    }

    /// If the i-th block is the first part of a whole block, returns the documents of all parts.
    /// Returns `None` for a later part.
    pub(crate) fn whole_range(&self, i: usize) -> Option<Range<DocumentNumber>> {
        let blocks = &self.store.blocks;
        let number = blocks[i].retained.number();
        if i > 0 && blocks[i - 1].retained.number() == number {
            return None;
        }
        let parts = blocks[i..].iter().take_while(|part| part.retained.number() == number);
        Some(self.starts[i]..self.starts[i + parts.count()])
    }

    /// Refuses a number without a document.
    ///
    /// # Errors
    /// [`FindError::NoDocument`].
    pub(crate) fn check(&self, document: DocumentNumber) -> Result<(), FindError> {
        let documents = self.len();
        if document.index() < documents {
            return Ok(());
        }
        Err(FindError::NoDocument { document, documents })
    }

    /// Returns the block of a document, whose number must be valid.
    pub(crate) fn block_of(&self, document: DocumentNumber) -> usize {
        self.starts.partition_point(|start| *start <= document) - 1
    }

    /// The index in `sources` of a numbered source.
    pub(crate) fn source(&self, number: SourceNumber) -> SourceIndex {
        self.source_indices.get(number).copied().unwrap_or_default()
    }

    /// Returns the state of a document.
    pub(crate) fn state(&self, document: DocumentNumber) -> DocumentState {
        self.states[document]
    }

    /// Sets the state of a document.
    pub(crate) fn set_state(&mut self, document: DocumentNumber, state: DocumentState) {
        self.states[document] = state;
    }

    /// Adds a document that is excluded because of its repeated id to the skipped records.
    pub(crate) fn skip(&mut self, skipped: &SkippedItem) -> Result<(), FindError> {
        self.repeated.push(skipped, &self.store.skipped)
    }

    /// Removes and returns all skipped records.
    pub(crate) fn take_skipped(&mut self) -> Result<SkippedRecords, FindError> {
        let empty = SkippedRecords::new(Arc::clone(&self.store.skipped));
        let mut skipped = std::mem::replace(&mut self.skipped, empty);
        skipped.add(self.repeated.take(&self.store.skipped)?);
        Ok(skipped)
    }

    /// The documents in a state, ascending.
    pub(crate) fn in_state(
        &self,
        state: DocumentState,
    ) -> impl Iterator<Item = DocumentNumber> + '_ {
        self.states.entries().filter(move |(_, s)| **s == state).map(|(document, _)| document)
    }

    /// Passes a document's row to `f`. For many documents, use [`BlockStore::rows`].
    pub(crate) fn with_row<R>(
        &self,
        document: DocumentNumber,
        f: impl FnOnce(&StoredBlock, DocumentRow<'_>) -> R,
    ) -> Result<R, FindError> {
        self.check(document)?;
        let i = self.block_of(document);
        let bytes = self.store.row(i, document.row_after(self.starts[i]))?;
        Ok(f(&self.store.blocks[i], DocumentRow::read(&bytes)?))
    }

    /// Returns the location at which the document was read.
    pub(crate) fn location(&self, document: DocumentNumber) -> Result<Location, FindError> {
        self.with_row(document, |block, row| block.retained.location(row.place))
    }

    /// Returns the error that the i-th block contained other documents when it was read again.
    pub(crate) fn changed(&self, i: usize) -> Result<FindError, FindError> {
        let first = self.starts[i];
        let id = self.with_row(first, |_, row| row.id.to_owned())?;
        Ok(FindError::Changed { id, place: self.location(first)? })
    }

    /// Passes all values of some columns to `f`, block by block: the first document of the block
    /// and the values of its documents. Blocks are in the order of the chunks.
    pub(crate) fn scan<const N: usize>(
        &self,
        columns: [usize; N],
        mut f: impl FnMut(DocumentNumber, [&[u64]; N]),
    ) -> Result<(), FindError> {
        let mut rest = self.by_chunk.as_slice();
        while let Some(&first) = rest.first() {
            let (chunk, Range { start, .. }) = self.store.in_chunk(first as usize);
            let is_next = |block: &u32| {
                let (other, documents) = self.store.in_chunk(*block as usize);
                other == chunk && documents.end - start <= READ_AT_ONCE
            };
            let (blocks, after) = rest.split_at(rest.partition_point(is_next).max(1));
            rest = after;
            let end = self.store.in_chunk(blocks[blocks.len() - 1] as usize).1.end;
            let mut values: [Cow<'_, [u64]>; N] = std::array::from_fn(|_| Cow::default());
            for (column, values) in columns.iter().zip(&mut values) {
                *values = self.store.column(chunk, *column, start..end)?;
            }
            for block in blocks.iter().map(|block| *block as usize) {
                let documents = self.store.in_chunk(block).1;
                let range = (documents.start - start) as usize..(documents.end - start) as usize;
                f(self.starts[block], std::array::from_fn(|n| &values[n][range.clone()]));
            }
        }
        Ok(())
    }

    /// Returns all `width` columns of the i-th block.
    pub(crate) fn columns(&self, i: usize, width: usize) -> Result<FixedColumns, FindError> {
        let (chunk, documents) = self.store.in_chunk(i);
        let mut values = Vec::with_capacity(width * documents.len());
        for number in 0..width {
            values.extend_from_slice(&self.store.column(chunk, number, documents.clone())?);
        }
        Ok(FixedColumns { values, documents: documents.len() })
    }
}
