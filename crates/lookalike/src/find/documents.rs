//! Parts in, one numbered collection out: document 0, 1, 2 … in reading order.

use super::block_store::{BlockData, BlockStore, StoredBlock};
use super::columns::{DocumentRow, FixedColumns, RowBuffer};
use super::cut_from_mail::CutFromMail;
use super::skipped::{SkippedRecords, SkippedWriter};
use super::sources::SourceCounts;
use crate::digest::InputsDigest;
use crate::error::Error;
use crate::folding::SampledText;
use crate::read::SkippedItem;
use lookalike_core::candidate::MAX_DOCUMENTS;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Documents of a column that are read from the disk at once: few enough to stay in the cache.
const READ_AT_ONCE: u32 = 1 << 16;

/// What a stage has found out about a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DocumentState(u8);

impl DocumentState {
    /// It takes part in everything.
    pub(super) const PLAIN: Self = Self(0);
    /// It has no token.
    pub(super) const EMPTY: Self = Self(1);
    /// An earlier document has its id.
    pub(super) const LEFT_OUT: Self = Self(2);
    /// An earlier document has equal shingles and represents it.
    pub(super) const COPY: Self = Self(3);

    /// Whether it can be similar to anything.
    pub(super) fn is_active(self) -> bool {
        matches!(self, Self::PLAIN | Self::COPY)
    }
}

/// All documents of a run.
pub(super) struct RunDocuments {
    parts: BlockStore,
    /// The first document of each part, and the number of documents behind the last.
    starts: Vec<u32>,
    /// Where the source of a number is in `sources`.
    source_places: Vec<u32>,
    pub(super) sources: Vec<SourceCounts>,
    /// Bytes of memory they take.
    pub(super) sources_held: u64,
    pub(super) skipped: SkippedRecords,
    /// Those that are left out because of their ids.
    repeated: SkippedWriter,
    pub(super) inputs: InputsDigest,
    pub(super) cut_from_mail: CutFromMail,
    /// The sample of which the effect of folding is measured.
    pub(super) drawn: Vec<SampledText>,
    states: Vec<DocumentState>,
    /// Whether parts are some documents of their blocks.
    pub(super) is_selection: bool,
}

impl RunDocuments {
    /// Numbers the documents. `listed` is what was skipped before any was read.
    pub(super) fn new(mut parts: BlockStore, listed: &[SkippedItem]) -> Result<Self, Error> {
        let len: usize = parts.all.iter().map(|part| part.documents as usize).sum();
        if len > MAX_DOCUMENTS {
            return Err(Error::TooManyDocuments { got: len });
        }
        let mut starts = Vec::with_capacity(parts.all.len() + 1);
        let mut skipped = SkippedRecords::new(Arc::clone(&parts.skipped));
        skipped.extend(listed)?;
        let mut states = vec![DocumentState::PLAIN; len];
        let (mut inputs, mut cut_from_mail) = (InputsDigest::default(), CutFromMail::default());
        let mut drawn = Vec::new();
        let mut start = 0;
        for part in &mut parts.all {
            starts.push(start);
            for place in std::mem::take(&mut part.empty) {
                states[(start + place) as usize] = DocumentState::EMPTY;
            }
            start += part.documents;
            skipped.add(std::mem::take(&mut part.skipped));
            inputs.merge(part.inputs);
            cut_from_mail.merge(part.cut_from_mail);
            drawn.append(&mut part.drawn);
        }
        starts.push(start);
        let sources_held = parts.sources.held();
        let (sources, source_places) = parts.sources.in_order();
        Ok(Self {
            parts,
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
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    /// How many parts there are.
    pub(super) fn part_count(&self) -> usize {
        self.parts.all.len()
    }

    /// Bytes of columns and rows that are held in memory.
    pub(super) fn held(&self) -> usize {
        self.parts.all.iter().map(|part| part.data.held()).sum()
    }

    /// The i-th part.
    pub(super) fn part(&self, i: usize) -> &StoredBlock {
        &self.parts.all[i]
    }

    /// The documents of the i-th part.
    pub(super) fn range(&self, i: usize) -> Range<u32> {
        self.starts[i]..self.starts[i + 1]
    }

    /// The part a document is in.
    pub(super) fn part_of(&self, document: u32) -> usize {
        self.starts.partition_point(|start| *start <= document) - 1
    }

    /// The place in `sources` of the source of a number.
    pub(super) fn source(&self, number: u32) -> u32 {
        self.source_places.get(number as usize).copied().unwrap_or(0)
    }

    /// What is known about a document.
    pub(super) fn state(&self, document: u32) -> DocumentState {
        self.states[document as usize]
    }

    /// Takes down what is known now.
    pub(super) fn set_state(&mut self, document: u32, state: DocumentState) {
        self.states[document as usize] = state;
    }

    /// Takes down that the record of a document is left out after all.
    pub(super) fn skip(&mut self, skipped: &SkippedItem) -> Result<(), Error> {
        self.repeated.push(skipped, self.skipped.file())
    }

    /// All records that are no documents; nothing is there afterwards.
    pub(super) fn take_skipped(&mut self) -> SkippedRecords {
        let none = SkippedRecords::new(Arc::clone(self.skipped.file()));
        let mut skipped = std::mem::replace(&mut self.skipped, none);
        skipped.add(self.repeated.take());
        skipped
    }

    /// The documents in a state, ascending.
    pub(super) fn in_state(&self, state: DocumentState) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.states).filter(move |(_, s)| **s == state).map(|(d, _)| d)
    }

    /// All rows of the i-th part.
    pub(super) fn rows(&self, i: usize) -> Result<Cow<'_, RowBuffer>, Error> {
        let part = self.part(i);
        match (&part.data, &self.parts.files) {
            (BlockData::Memory { rows, .. }, _) => Ok(Cow::Borrowed(rows)),
            (BlockData::Disk { rows_at, rows_bytes, .. }, Some(files)) => {
                Ok(Cow::Owned(files.rows(*rows_at, *rows_bytes, part.documents)?))
            }
            (BlockData::Disk { .. }, None) => Ok(Cow::Owned(RowBuffer::default())),
        }
    }

    /// Gives a document's row to `f`. For a few documents; [`rows`](Self::rows) for many.
    pub(super) fn with_row<R>(
        &self,
        document: u32,
        f: impl FnOnce(&StoredBlock, DocumentRow<'_>) -> R,
    ) -> Result<R, Error> {
        let i = self.part_of(document);
        let (part, place) = (self.part(i), document - self.starts[i]);
        let bytes = match (&part.data, &self.parts.files) {
            (BlockData::Memory { rows, .. }, _) => Cow::Borrowed(rows.get(place as usize)),
            (BlockData::Disk { rows_at, .. }, Some(files)) => {
                Cow::Owned(files.row(*rows_at, part.documents, place)?)
            }
            (BlockData::Disk { .. }, None) => Cow::Owned(Vec::new()),
        };
        Ok(f(part, read_row(&bytes)?))
    }

    /// Where the document was read, in words: `source:line`, or `row 3 of source`.
    pub(super) fn place_name(&self, document: u32) -> Result<String, Error> {
        self.with_row(document, |part, row| part.retained.location(row.place).to_string())
    }

    /// What to say when the i-th part is read again and holds other documents.
    pub(super) fn changed(&self, i: usize) -> Result<Error, Error> {
        let first = self.starts[i];
        let id = self.with_row(first, |_, row| row.id.to_owned())?;
        Ok(Error::Changed { id, place: self.place_name(first)? })
    }

    /// Gives all values of some columns to `f`, part by part: the first document of the part and
    /// the values of its documents. Parts on the disk come chunk by chunk.
    pub(super) fn scan<const N: usize>(
        &self,
        columns: [usize; N],
        mut f: impl FnMut(u32, [&[u64]; N]),
    ) -> Result<(), Error> {
        let mut on_disk: Vec<(u32, u32, usize)> = Vec::new();
        for (i, part) in self.parts.all.iter().enumerate() {
            match &part.data {
                BlockData::Memory { columns: held, .. } if part.documents > 0 => {
                    f(self.starts[i], columns.map(|column| held.get(column)));
                }
                BlockData::Memory { .. } => {}
                BlockData::Disk { chunk, within, .. } => on_disk.push((*chunk, *within, i)),
            }
        }
        let Some(files) = &self.parts.files else { return Ok(()) };
        on_disk.sort_unstable();
        let mut buffer = Vec::new();
        let mut values: [Vec<u64>; N] = std::array::from_fn(|_| Vec::new());
        for parts in on_disk.chunk_by(|a, b| a.0 == b.0) {
            let chunk = self.parts.chunks[parts[0].0 as usize];
            let end = |&(_, within, i): &(u32, u32, usize)| within + self.part(i).documents;
            let mut rest = parts;
            while let Some(&(_, start, _)) = rest.first() {
                let fit = rest.partition_point(|part| end(part) - start <= READ_AT_ONCE).max(1);
                let (some, after) = rest.split_at(fit);
                rest = after;
                let range = start..some.last().map_or(start, end);
                for (column, values) in columns.iter().zip(&mut values) {
                    files.column(chunk, *column, range.clone(), &mut buffer, values)?;
                }
                for part @ &(_, within, i) in some {
                    let range = (within - start) as usize..(end(part) - start) as usize;
                    f(self.starts[i], std::array::from_fn(|n| &values[n][range.clone()]));
                }
            }
        }
        Ok(())
    }

    /// All columns of the i-th part, which is on the disk; `width` of them.
    pub(super) fn stored_columns(&self, i: usize, width: usize) -> Result<FixedColumns, Error> {
        let damaged = || Error::TemporaryFile { what: "the columns of a block".to_owned() };
        let part = self.part(i);
        let (BlockData::Disk { chunk, within, .. }, Some(files)) = (&part.data, &self.parts.files)
        else {
            return Err(damaged());
        };
        let chunk = self.parts.chunks.get(*chunk as usize).copied().ok_or_else(damaged)?;
        let documents = *within..*within + part.documents;
        let (mut buffer, mut column, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..width {
            files.column(chunk, number, documents.clone(), &mut buffer, &mut column)?;
            values.extend_from_slice(&column);
        }
        Ok(FixedColumns { values, documents: part.documents as usize })
    }

    /// Lets go of the columns; rows stay.
    pub(super) fn drop_columns(&mut self) {
        for part in &mut self.parts.all {
            if let BlockData::Memory { columns, .. } = &mut part.data {
                *columns = super::columns::FixedColumns::default();
            }
        }
    }
}

/// The i-th row of a part. A temporary file that holds something else is an error.
pub(super) fn row(rows: &RowBuffer, i: usize) -> Result<DocumentRow<'_>, Error> {
    read_row(if i < rows.len() { rows.get(i) } else { &[] })
}

pub(super) fn read_row(bytes: &[u8]) -> Result<DocumentRow<'_>, Error> {
    DocumentRow::read(bytes)
        .ok_or_else(|| Error::TemporaryFile { what: "a row of a document".to_owned() })
}
