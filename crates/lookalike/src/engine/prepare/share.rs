//! A share of a collection, read by one task of a divided run. Its documents are sent to other
//! tasks block by block, followed by its notes.
//!
//! ```text
//! blocks of the share ─ prepare → PreparedShare ─ BlockDocuments, ShareNotes → files of the task
//! ```

use crate::digest::InputsDigest;
use crate::engine::checkpoint::Checkpoint;
use crate::engine::error::FindError;
use crate::engine::ids::{RowIndex, SourceNumber};
use crate::engine::memory::Budget;
use crate::engine::options::FindOptions;
use crate::engine::pipeline::changed_instead;
use crate::engine::prepare::block_preparation::BlockPreparation;
use crate::engine::prepare::columns::{
    self, DocumentRow, FINGERPRINT_COLUMNS, FIRST_BAND_COLUMN, FixedColumns, ID_COLUMN, RowBuffer,
};
use crate::engine::prepare::documents::{DocumentState, RunDocuments};
use crate::engine::prepare::keep_keys::KeepKeyMaker;
use crate::engine::prepare::limited_reading::LimitedReading;
use crate::engine::prepare::long_records::RecordCost;
use crate::engine::prepare::mail_removals::MailRemovals;
use crate::engine::prepare::shingles::BandKeys;
use crate::engine::prepare::sources::SourceCounts;
use crate::folding::SampledText;
use crate::progress::Progress;
use crate::read::{
    Collection, Content, Document, Location, ReadBuffers, RetainedState, SkippedItem, Spool,
};
use crate::spill::codec::{FieldReader, put_bytes, put_u32, put_u64};
use crate::spill::{SpillError, TempSpace};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A share whose documents have been read, shingled, signed and banded.
pub(crate) struct PreparedShare {
    documents: RunDocuments,
    /// Number of columns.
    width: usize,
    missing_fields: Vec<String>,
}

/// The properties of a share besides its documents.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ShareNotes {
    /// Documents, including empty ones.
    pub(crate) documents: u64,
    pub(crate) skipped: Vec<SkippedItem>,
    /// Documents without a token, in reading order.
    pub(crate) empty: Vec<EmptyDocument>,
    /// Sources in reading order. Rows of documents have indices into this list.
    pub(crate) sources: Vec<SourceCounts>,
    /// Fields of the keep policy that no document of the share has.
    pub(crate) missing_fields: Vec<String>,
    pub(crate) inputs: InputsDigest,
    pub(crate) cut_from_mail: MailRemovals,
    pub(crate) drawn: Vec<SampledText>,
}

/// A document without a token.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct EmptyDocument {
    pub(crate) id: String,
    /// The hash of its text; `None` for an empty text.
    pub(crate) content: Option<[u8; 32]>,
}

/// Documents of one block.
#[derive(Debug)]
pub(crate) struct BlockDocuments {
    /// The state with which the block can be read again.
    pub(crate) state: RetainedState,
    /// Whether the documents belong to a reference collection.
    pub(crate) reference: bool,
    pub(crate) columns: FixedColumns,
    /// The rows. Their sources are indices into [`ShareNotes::sources`].
    pub(crate) rows: RowBuffer,
}

impl PreparedShare {
    /// Reads all documents of `collection`. Texts that cannot be read again go to `spool`.
    pub(crate) fn new(
        collection: &Collection,
        options: &FindOptions,
        spool: &Arc<Spool>,
        progress: &dyn Progress,
    ) -> Result<Self, FindError> {
        let cost = RecordCost::of_shingles(collection, &options.params);
        let budget = Budget::open(&options.memory, options.threads.get())?;
        let mut limited = LimitedReading { collection, options, cost, budget, progress };
        limited.check()?;
        // Texts cannot be removed from the spool again.
        limited.begin(true);
        let budget = limited.budget;
        let records = limited.records();
        let temp = Arc::new(TempSpace::new(options.memory.temp_dir()));
        let rules = KeepKeyMaker::new(options)?;
        let preparation = BlockPreparation {
            collection,
            options,
            budget: &budget,
            temp: &temp,
            spool: Some(spool),
            shingles: None,
            anchors: None,
            rules: &rules,
            records: records.as_ref(),
            checkpoint: &Checkpoint::default(),
        };
        let blocks = preparation.run(progress);
        let blocks = match blocks.map_err(|error| changed_instead(collection, error)) {
            Ok(blocks) => blocks,
            Err(error) => {
                limited.reserve(error)?;
                return Err(SpillError::altered("the memory of long records").into());
            }
        };
        let documents = RunDocuments::new(blocks, &[])?;
        let width = columns::width(BandKeys::count_of(options));
        Ok(Self { documents, width, missing_fields: rules.idle_rules().fields })
    }

    /// The number of blocks.
    pub(crate) fn blocks(&self) -> usize {
        self.documents.store.blocks.len()
    }

    /// The documents of the i-th block, in reading order.
    pub(crate) fn block(&self, i: usize) -> Result<BlockDocuments, FindError> {
        let block = &self.documents.store.blocks[i];
        let state = block.state()?;
        let mut rows = RowBuffer::default();
        for row in self.documents.store.rows(i)?.iter() {
            let row = row?;
            let source = SourceNumber(self.documents.source(row.source).0);
            rows.push(&DocumentRow { source, ..row });
        }
        let columns = self.documents.columns(i, self.width)?;
        Ok(BlockDocuments { state, reference: block.notes.reference, columns, rows })
    }

    /// Reads the documents of the i-th block again.
    pub(crate) fn read_again(
        &self,
        i: usize,
        options: &FindOptions,
        scratch: &mut ReadBuffers,
        take: &mut dyn FnMut(RowIndex, &Document<'_>),
    ) -> Result<(), FindError> {
        let start = self.documents.range(i).start;
        self.documents.read_again(i, options, scratch, |number, document| {
            take(number.row_after(start), document);
        })
    }

    /// Whether a document of the i-th block has no token.
    pub(crate) fn is_empty_document(&self, i: usize, row: RowIndex) -> bool {
        let document = row.document_after(self.documents.range(i).start);
        self.documents.state(document) == DocumentState::EMPTY
    }

    /// Returns the notes. Reads the documents without a token again.
    pub(crate) fn into_notes(mut self) -> Result<ShareNotes, FindError> {
        let mut scratch = ReadBuffers::default();
        let empty = self.documents.in_state(DocumentState::EMPTY).map(|document| {
            self.documents.with_row(document, |block, row| {
                let of = |text: &str| *Content::of(text.as_bytes()).bytes();
                let has_text = row.bytes > 0 && block.retained.has_texts();
                let content =
                    has_text.then(|| block.retained.fetch(row.place, row.id, &mut scratch, of));
                Ok(EmptyDocument { id: row.id.to_owned(), content: content.transpose()? })
            })?
        });
        let empty = empty.collect::<Result<_, FindError>>()?;
        let skipped = self.documents.take_skipped()?;
        let skipped = skipped.iter().collect::<Result<_, _>>().map_err(FindError::of_io)?;
        Ok(ShareNotes {
            documents: self.documents.len() as u64,
            skipped,
            empty,
            sources: std::mem::take(&mut self.documents.sources),
            missing_fields: self.missing_fields,
            inputs: self.documents.inputs,
            cut_from_mail: self.documents.cut_from_mail,
            drawn: std::mem::take(&mut self.documents.drawn),
        })
    }
}

impl BlockDocuments {
    /// The number of documents.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The indices of all documents.
    pub(crate) fn rows(&self) -> impl Iterator<Item = RowIndex> + use<> {
        self.rows.indices()
    }

    /// The hash of the id of a document.
    pub(crate) fn id_hash(&self, row: RowIndex) -> u64 {
        self.columns.value(ID_COLUMN, row)
    }

    /// The lower half of a document's fingerprint.
    pub(crate) fn check(&self, row: RowIndex) -> u64 {
        self.columns.value(FINGERPRINT_COLUMNS[1], row)
    }

    /// The bucket keys of a document.
    pub(crate) fn keys(&self, row: RowIndex) -> impl Iterator<Item = u64> {
        let bits = columns::bit_columns(0).len();
        let keys = FIRST_BAND_COLUMN..self.columns.width().saturating_sub(bits);
        keys.map(move |column| self.columns.value(column, row))
    }

    /// The length of a document's text.
    pub(crate) fn text_bytes(&self, row: RowIndex) -> Result<u64, FindError> {
        Ok(self.rows.get(row)?.bytes)
    }

    /// The id of a document.
    pub(crate) fn id(&self, row: RowIndex) -> Result<String, FindError> {
        Ok(self.rows.get(row)?.id.to_owned())
    }

    /// The location at which a document was read. `spool` is the spool of its share.
    pub(crate) fn location(
        &self,
        row: RowIndex,
        collection: &Collection,
        spool: Option<&Arc<Spool>>,
    ) -> Result<Location, FindError> {
        let retained = collection.retained(self.state, spool)?;
        Ok(retained.location(self.rows.get(row)?.place))
    }

    /// Returns the documents with the `selected` indices, which are ascending. `source` returns the
    /// new number of a source.
    pub(crate) fn select(
        &self,
        selected: &[RowIndex],
        source: impl Fn(SourceNumber) -> SourceNumber,
    ) -> Result<Self, FindError> {
        let mut rows = RowBuffer::default();
        for row in selected {
            let row = self.rows.get(*row)?;
            rows.push(&DocumentRow { source: source(row.source), ..row });
        }
        let columns = self.columns.select(selected);
        Ok(Self { state: self.state, reference: self.reference, columns, rows })
    }

    /// Appends the documents as bytes: the state of the block as JSON, whether they belong to a
    /// reference collection, their number, the number of columns, the columns, the ends of the
    /// rows, and the rows.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) -> Result<(), FindError> {
        let state = serde_json::to_vec(&self.state).map_err(|_| corrupt())?;
        put_bytes(out, &state);
        put_u32(out, u32::from(self.reference));
        put_u64(out, self.len() as u64);
        put_u64(out, self.columns.width() as u64);
        out.extend(self.columns.values.iter().flat_map(|value| value.to_le_bytes()));
        out.extend(self.rows.ends.iter().flat_map(|end| end.to_le_bytes()));
        put_bytes(out, &self.rows.bytes);
        Ok(())
    }

    /// Reads the output of [`encode`](Self::encode); `None` for other bytes.
    pub(crate) fn decode(reader: &mut FieldReader<'_>) -> Option<Self> {
        let state = serde_json::from_slice(reader.bytes()?).ok()?;
        let reference = reader.u32()? != 0;
        let documents = usize::try_from(reader.u64()?).ok()?;
        let width = usize::try_from(reader.u64()?).ok()?;
        let values = reader.take(documents.checked_mul(width)?.checked_mul(8)?)?;
        let values = values.as_chunks::<8>().0.iter().map(|value| u64::from_le_bytes(*value));
        let columns = FixedColumns { values: values.collect(), documents };
        let ends = reader.take(documents.checked_mul(4)?)?;
        let ends = ends.as_chunks::<4>().0.iter().map(|end| u32::from_le_bytes(*end));
        let ends: Vec<u32> = ends.collect();
        let bytes = reader.bytes()?.to_vec();
        let is_whole =
            ends.is_sorted() && ends.last().copied().unwrap_or(0) as usize == bytes.len();
        let has_columns = documents == 0 || width >= FIRST_BAND_COLUMN;
        let rows = RowBuffer { bytes, ends };
        (is_whole && has_columns).then_some(Self { state, reference, columns, rows })
    }
}

fn corrupt() -> SpillError {
    SpillError::altered("the state of a block")
}
