//! Blocks in, one numbered collection out: document 0, 1, 2 … in reading order.

use crate::digest::InputsDigest;
use crate::engine::prepare::block_store::{BlockStore, StoredBlock};
use crate::engine::prepare::columns::{DocumentRow, FixedColumns};
use crate::engine::prepare::mail_removals::MailRemovals;
use crate::engine::prepare::skipped::{SkippedRecords, SkippedWriter};
use crate::engine::prepare::sources::SourceCounts;
use crate::error::Error;
use crate::folding::SampledText;
use crate::read::{Location, SkippedItem};
use lookalike_core::candidate::MAX_DOCUMENTS;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Documents of a column that are read from the disk at once: few enough to stay in the cache.
const READ_AT_ONCE: u32 = 1 << 16;

/// What a stage has found out about a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DocumentState(u8);

impl DocumentState {
    /// It takes part in everything.
    pub(crate) const PLAIN: Self = Self(0);
    /// It has no token.
    pub(crate) const EMPTY: Self = Self(1);
    /// An earlier document has its id.
    pub(crate) const REPEATED_ID: Self = Self(2);
    /// An earlier document has equal shingles and represents it.
    pub(crate) const COPY: Self = Self(3);
    /// A list leaves it out.
    pub(crate) const DROPPED: Self = Self(4);

    /// Whether it can be similar to anything.
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
    /// The first document of each block, and the number of documents behind the last.
    starts: Vec<u32>,
    /// The blocks in the order of their columns.
    by_chunk: Vec<u32>,
    /// Where the source of a number is in `sources`.
    source_places: Vec<u32>,
    pub(crate) sources: Vec<SourceCounts>,
    /// Bytes of memory they take.
    pub(crate) sources_held: u64,
    pub(crate) skipped: SkippedRecords,
    /// Those that are excluded because of their ids.
    repeated: SkippedWriter,
    pub(crate) inputs: InputsDigest,
    pub(crate) cut_from_mail: MailRemovals,
    /// The sample of which the effect of folding is measured.
    pub(crate) drawn: Vec<SampledText>,
    states: Vec<DocumentState>,
    /// Whether the blocks of the store are selections of documents of those read.
    pub(crate) is_selection: bool,
}

impl RunDocuments {
    /// Numbers the documents. `listed` is what was skipped before any was read.
    pub(crate) fn new(mut store: BlockStore, listed: &[SkippedItem]) -> Result<Self, Error> {
        let len: usize = store.blocks.iter().map(|block| block.notes.documents as usize).sum();
        if len > MAX_DOCUMENTS {
            return Err(Error::TooManyDocuments { got: len });
        }
        let mut starts = Vec::with_capacity(store.blocks.len() + 1);
        let mut skipped = SkippedRecords::new(Arc::clone(&store.skipped));
        skipped.extend(listed)?;
        let mut states = vec![DocumentState::PLAIN; len];
        let (mut inputs, mut cut_from_mail) = (InputsDigest::default(), MailRemovals::default());
        let mut drawn = Vec::new();
        let mut start = 0;
        for StoredBlock { notes, .. } in &mut store.blocks {
            starts.push(start);
            for place in std::mem::take(&mut notes.empty) {
                states[(start + place) as usize] = DocumentState::EMPTY;
            }
            start += notes.documents;
            skipped.add(std::mem::take(&mut notes.skipped));
            inputs.merge(notes.inputs);
            cut_from_mail.merge(notes.cut_from_mail);
            drawn.append(&mut notes.drawn);
        }
        starts.push(start);
        let sources_held = store.sources.held();
        let (sources, source_places) = store.sources.in_order();
        Ok(Self {
            by_chunk: store.by_chunk(),
            store,
            starts,
            source_places,
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

    /// How many documents there are.
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    /// The documents of the i-th block.
    pub(crate) fn range(&self, i: usize) -> Range<u32> {
        self.starts[i]..self.starts[i + 1]
    }

    /// The documents of the whole block of which the i-th one is the first part; `None` where it is
    /// a later part.
    pub(crate) fn whole_range(&self, i: usize) -> Option<Range<u32>> {
        let blocks = &self.store.blocks;
        let number = blocks[i].retained.number();
        if i > 0 && blocks[i - 1].retained.number() == number {
            return None;
        }
        let parts = blocks[i..].iter().take_while(|part| part.retained.number() == number);
        Some(self.starts[i]..self.starts[i + parts.count()])
    }

    /// Refuses a number that is not one of a document.
    ///
    /// # Errors
    /// [`Error::NoDocument`].
    pub(crate) fn check(&self, document: u32) -> Result<(), Error> {
        let documents = self.len();
        if (document as usize) < documents {
            return Ok(());
        }
        Err(Error::NoDocument { document, documents })
    }

    /// The block a document is in; its number is one of the run's.
    pub(crate) fn block_of(&self, document: u32) -> usize {
        self.starts.partition_point(|start| *start <= document) - 1
    }

    /// The place in `sources` of the source of a number.
    pub(crate) fn source(&self, number: u32) -> u32 {
        self.source_places.get(number as usize).copied().unwrap_or(0)
    }

    /// What is known about a document.
    pub(crate) fn state(&self, document: u32) -> DocumentState {
        self.states[document as usize]
    }

    /// Sets the state of a document.
    pub(crate) fn set_state(&mut self, document: u32, state: DocumentState) {
        self.states[document as usize] = state;
    }

    /// Adds a document that is excluded since its id is repeated to the skipped records.
    pub(crate) fn skip(&mut self, skipped: &SkippedItem) -> Result<(), Error> {
        self.repeated.push(skipped, &self.store.skipped)
    }

    /// All records that are no documents; nothing is there afterwards.
    pub(crate) fn take_skipped(&mut self) -> Result<SkippedRecords, Error> {
        let none = SkippedRecords::new(Arc::clone(&self.store.skipped));
        let mut skipped = std::mem::replace(&mut self.skipped, none);
        skipped.add(self.repeated.take(&self.store.skipped)?);
        Ok(skipped)
    }

    /// The documents in a state, ascending.
    pub(crate) fn in_state(&self, state: DocumentState) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.states).filter(move |(_, s)| **s == state).map(|(d, _)| d)
    }

    /// Gives a document's row to `f`. For a few documents; [`BlockStore::rows`] for many.
    pub(crate) fn with_row<R>(
        &self,
        document: u32,
        f: impl FnOnce(&StoredBlock, DocumentRow<'_>) -> R,
    ) -> Result<R, Error> {
        self.check(document)?;
        let i = self.block_of(document);
        let bytes = self.store.row(i, document - self.starts[i])?;
        Ok(f(&self.store.blocks[i], DocumentRow::read(&bytes)?))
    }

    /// Where the document was read.
    pub(crate) fn location(&self, document: u32) -> Result<Location, Error> {
        self.with_row(document, |block, row| block.retained.location(row.place))
    }

    /// What to say when the i-th block is read again and holds other documents.
    pub(crate) fn changed(&self, i: usize) -> Result<Error, Error> {
        let first = self.starts[i];
        let id = self.with_row(first, |_, row| row.id.to_owned())?;
        Ok(Error::Changed { id, place: self.location(first)? })
    }

    /// Gives all values of some columns to `f`, block by block: the first document of the block and
    /// the values of its documents. The order is that of the chunks.
    pub(crate) fn scan<const N: usize>(
        &self,
        columns: [usize; N],
        mut f: impl FnMut(u32, [&[u64]; N]),
    ) -> Result<(), Error> {
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
                let places = (documents.start - start) as usize..(documents.end - start) as usize;
                f(self.starts[block], std::array::from_fn(|n| &values[n][places.clone()]));
            }
        }
        Ok(())
    }

    /// All columns of the i-th block; `width` of them.
    pub(crate) fn columns(&self, i: usize, width: usize) -> Result<FixedColumns, Error> {
        let (chunk, documents) = self.store.in_chunk(i);
        let mut values = Vec::with_capacity(width * documents.len());
        for number in 0..width {
            values.extend_from_slice(&self.store.column(chunk, number, documents.clone())?);
        }
        Ok(FixedColumns { values, documents: documents.len() })
    }
}
