//! The documents of an index as a source: a snapshot of their shingle sets, or of their texts.

use crate::bytes::Spool;
use crate::document::{
    Document, DocumentPosition, ExtraFields, Raw, ReadBuffers, SourceSink, StatedFields,
    StoredShingles,
};
use crate::error::{Location, ReadError, SkippedItem};
use crate::format::TakeText;
use crate::options::SourceInfo;
use crate::source::retained_state::{KeptState, NumberRange, RetainedState};
use crate::source::{BlockContent, LaneReader, Source};
use lookalike_index::entry::{DocumentNumber, IndexRecord, RecordFields};
use lookalike_index::filter;
use lookalike_index::settings::StoredContent;
use lookalike_index::{Index, IndexError, backend::Snapshot, set};
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Arc;

/// Number of documents whose sizes are read before their sets are.
const PLANNED: usize = 4096;
/// Maximum number of documents in a block.
const BLOCK_DOCUMENTS: usize = 1024;

/// The documents of an index as a source: a snapshot, shared by all threads. Sets are decoded
/// outside of the lock.
pub(crate) struct IndexSource {
    info: Arc<SourceInfo>,
    snapshot: Mutex<Box<dyn Snapshot>>,
    /// Documents that expired before this time are excluded.
    now: i64,
    /// Whether metadata is read.
    metadata: bool,
    /// Whether the index stores texts.
    texts: bool,
    content: IndexContent,
}

/// The content that is read for the documents of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexContent {
    /// Shingle sets, and no texts.
    Sets,
    /// The stored texts.
    Texts,
}

impl Source for IndexSource {
    fn info(&self) -> &Arc<SourceInfo> {
        &self.info
    }

    fn is_index(&self) -> bool {
        true
    }

    fn open_lane(self: Arc<Self>, _: u32) -> Result<Box<dyn LaneReader>, ReadError> {
        Ok(Box::new(IndexLane { source: self, next: DocumentNumber(0), planned: VecDeque::new() }))
    }

    fn restore(
        self: Arc<Self>,
        state: &RetainedState,
        _: Option<&Arc<Spool>>,
    ) -> Option<Box<dyn BlockContent>> {
        let KeptState::Stored(range) = state.kept else { return None };
        Some(Box::new(IndexBlock { source: self, range, entries: None }))
    }
}

/// Divides the documents into blocks.
struct IndexLane {
    source: Arc<IndexSource>,
    next: DocumentNumber,
    planned: VecDeque<NumberRange>,
}

impl LaneReader for IndexLane {
    /// The block contains at least one document, and more documents up to about the block size of
    /// text.
    fn next(&mut self) -> Result<Option<Box<dyn BlockContent>>, ReadError> {
        if self.planned.is_empty() {
            self.next = self.source.plan(self.next, &mut self.planned)?;
        }
        let Some(range) = self.planned.pop_front() else { return Ok(None) };
        let entries = Some(self.source.scan(range)?);
        Ok(Some(Box::new(IndexBlock { source: Arc::clone(&self.source), range, entries })))
    }
}

/// Consecutive documents, with their sets or texts until the block is read. Later, they are read
/// again from the snapshot.
struct IndexBlock {
    source: Arc<IndexSource>,
    range: NumberRange,
    entries: Option<Vec<IndexRecord>>,
}

impl BlockContent for IndexBlock {
    fn bytes(&self) -> u64 {
        let bytes = |entry: &IndexRecord| match self.source.content {
            IndexContent::Sets => entry.set.as_ref().map_or(0, Vec::len),
            IndexContent::Texts => entry.text.as_ref().map_or(0, String::len),
        };
        self.entries.iter().flatten().map(|entry| bytes(entry) as u64).sum()
    }

    fn progress_bytes(&self) -> u64 {
        self.bytes()
    }

    fn read(&self, _: &mut ReadBuffers, sink: &mut SourceSink<'_>) -> Result<(), ReadError> {
        match &self.entries {
            Some(entries) => self.source.give(entries, sink),
            None => self.source.give(&self.source.scan(self.range)?, sink),
        }
    }

    fn retain(&mut self, _: Option<&Arc<Spool>>) -> Result<(), ReadError> {
        self.entries = None;
        Ok(())
    }

    fn state(&self) -> Option<KeptState> {
        Some(KeptState::Stored(self.range))
    }

    fn location(&self, _: DocumentPosition) -> Location {
        Location::Whole { source: self.source.info.display_name.clone() }
    }

    fn has_texts(&self) -> bool {
        self.source.texts
    }

    fn read_again(
        &self,
        place: DocumentPosition,
        id: &str,
        _: &mut ReadBuffers,
        take: TakeText<'_>,
    ) -> Result<(), ReadError> {
        let text = self.source.text(place, id)?;
        let missing = || self.location(place).changed("the index keeps no text of it".to_owned());
        take(&text.ok_or_else(missing)?, StatedFields::Nothing);
        Ok(())
    }

    fn stored_set(
        &self,
        place: DocumentPosition,
        id: &str,
        scratch: &mut ReadBuffers,
        set: &mut Vec<u64>,
    ) -> Result<Option<u128>, ReadError> {
        match self.source.content {
            IndexContent::Sets => self.source.set(place, id, &mut scratch.bytes, set).map(Some),
            IndexContent::Texts => Ok(None),
        }
    }
}

impl IndexSource {
    /// Opens a snapshot of an index. With `metadata`, metadata is read.
    ///
    /// # Errors
    /// [`IndexError::NoSets`] for an index without shingle sets, [`IndexError::NoTexts`] for an
    /// index without texts if texts are to be read, and read errors.
    pub(crate) fn open(
        info: Arc<SourceInfo>,
        index: &Index,
        now: i64,
        metadata: bool,
        content: IndexContent,
    ) -> Result<Self, IndexError> {
        let store = index.settings().store;
        let texts = store.has_texts();
        if content == IndexContent::Texts && !texts {
            return Err(IndexError::NoTexts { index: index.name().to_owned() });
        }
        if store == StoredContent::Signatures {
            return Err(IndexError::NoSets { what: "grouping of its documents" });
        }
        let snapshot = Mutex::new(index.snapshot()?);
        Ok(Self { info, snapshot, now, metadata, texts, content })
    }

    fn snapshot(&self) -> MutexGuard<'_, Box<dyn Snapshot>> {
        self.snapshot.lock()
    }

    /// Divides the documents from number `next` on into blocks by the size of their texts. Returns
    /// the number from which to plan next.
    fn plan(
        &self,
        next: DocumentNumber,
        planned: &mut VecDeque<NumberRange>,
    ) -> Result<DocumentNumber, ReadError> {
        let block_bytes = self.info.settings.block_bytes as u64;
        let mut last = None;
        let mut bytes = 0;
        let over = self.info.settings.longest_record(false);
        let over = over.filter(|_| self.content == IndexContent::Texts);
        let add = |entry: &IndexRecord| {
            last = Some(entry.number);
            if let Some(over) = over.filter(|over| entry.bytes > over.limit) {
                let skipped = SkippedItem::whole(&self.info.display_name, over.reason());
                return Err(ReadError::BadRecord(skipped.with_id(&entry.id).into()));
            }
            bytes += entry.bytes;
            match planned.back_mut() {
                Some(range) if bytes <= block_bytes && range.count < BLOCK_DOCUMENTS => {
                    range.count += 1;
                }
                _ => {
                    bytes = entry.bytes;
                    planned.push_back(NumberRange { from: entry.number.0, count: 1 });
                }
            }
            Ok(())
        };
        self.snapshot().try_scan(next, PLANNED, RecordFields::default(), add)?;
        Ok(last.map_or(next, |last: DocumentNumber| last.next()))
    }

    fn scan(&self, range: NumberRange) -> Result<Vec<IndexRecord>, ReadError> {
        let text = self.content == IndexContent::Texts;
        let metadata = self.metadata;
        let wanted = RecordFields { set: !text, text, metadata, ..RecordFields::default() };
        let mut entries = Vec::with_capacity(range.count);
        self.snapshot().scan(DocumentNumber(range.from), range.count, wanted, &mut |entry| {
            if !entry.is_expired(self.now) {
                entries.push(entry.clone());
            }
            Ok(())
        })?;
        Ok(entries)
    }

    /// Replaces the content of `set` by the shingle set of a document, and returns its fingerprint.
    fn set(
        &self,
        place: DocumentPosition,
        id: &str,
        code: &mut Vec<u8>,
        set: &mut Vec<u64>,
    ) -> Result<u128, ReadError> {
        let wanted = RecordFields { set: true, ..RecordFields::default() };
        let fingerprint = self.read_record(place, id, wanted, |record| {
            code.clear();
            code.extend_from_slice(record.set.as_deref().unwrap_or_default());
            record.fingerprint
        })?;
        decode(code, id, set)?;
        Ok(fingerprint)
    }

    /// The text of a document; `None` if the index stores none.
    fn text(&self, place: DocumentPosition, id: &str) -> Result<Option<String>, ReadError> {
        let wanted = RecordFields { text: true, ..RecordFields::default() };
        self.read_record(place, id, wanted, |record| record.text.clone())
    }

    fn read_record<R>(
        &self,
        place: DocumentPosition,
        id: &str,
        wanted: RecordFields,
        mut take: impl FnMut(&IndexRecord) -> R,
    ) -> Result<R, ReadError> {
        let mut result = None;
        self.snapshot().records(&[number(place)], wanted, &mut |record| {
            if record.id == id {
                result = Some(take(record));
            }
            Ok(())
        })?;
        result.ok_or_else(|| damaged(id, "it is no longer there").into())
    }

    /// Passes documents to the sink, in order.
    fn give(&self, entries: &[IndexRecord], sink: &mut SourceSink<'_>) -> Result<(), ReadError> {
        let fields = &self.info.settings.options.fields;
        let mut set = Vec::new();
        let mut extra = ExtraFields::default();
        for record in entries {
            let (text, shingled) = match self.content {
                IndexContent::Texts => (text_of(record)?, None),
                IndexContent::Sets => {
                    let code = record.set.as_deref();
                    let code = code.ok_or_else(|| damaged(&record.id, "it has no shingle set"))?;
                    decode(code, &record.id, &mut set)?;
                    let fingerprint = record.fingerprint;
                    let bytes = record.bytes;
                    ("", Some(StoredShingles { set: &set, fingerprint, bytes }))
                }
            };
            extra.clear();
            for name in fields {
                match filter::member(&record.metadata, name) {
                    None | Some(Value::Null) => extra.push(None),
                    Some(Value::String(text)) => extra.push(Some(text)),
                    Some(other) => extra.push(Some(&other.to_string())),
                }
            }
            let place = place(record.number);
            let raw = Raw::Row(record.number.0);
            sink.document(&Document {
                fields: &extra.list(),
                // Times before 1970 are invalid.
                modified: record.modified.and_then(|time| u64::try_from(time).ok()),
                shingled,
                ..Document::new(&record.id, text, place, raw)
            })?;
        }
        Ok(())
    }
}

/// The text that was read for a document. An empty text need not be stored.
fn text_of(record: &IndexRecord) -> Result<&str, IndexError> {
    match &record.text {
        Some(text) => Ok(text),
        None if record.bytes == 0 => Ok(""),
        None => Err(damaged(&record.id, "it has no text")),
    }
}

fn decode(code: &[u8], id: &str, set: &mut Vec<u64>) -> Result<(), IndexError> {
    set::decode(code, set).map_err(|error| match error {
        IndexError::Damaged { why, .. } => damaged(id, &format!("its shingle set is {why}")),
        error => error,
    })
}

fn damaged(id: &str, why: &str) -> IndexError {
    let what = format!("document {:?} of the index", lookalike_index::entry::shortened_id(id));
    IndexError::Damaged { what, why: why.to_owned() }
}

/// Places in an index have the order of the document numbers.
fn place(DocumentNumber(number): DocumentNumber) -> DocumentPosition {
    DocumentPosition::from_numbers([(number >> 32) as u32, number as u32, 0, 0])
}

fn number(place: DocumentPosition) -> DocumentNumber {
    DocumentNumber(u64::from(place.start) << 32 | u64::from(place.length))
}
