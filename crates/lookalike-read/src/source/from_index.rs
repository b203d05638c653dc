//! The documents of an index as a source: their shingle sets instead of their texts, all as they
//! were at one moment.

use crate::error::ReadError;
use crate::extra_fields::Further;
use crate::{Document, Place, Raw, RawSink, Shingled};
use lookalike_index::entry::{Record, Wanted};
use lookalike_index::filter;
use lookalike_index::{Index, IndexError, backend::Snapshot, set};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Documents whose sizes are looked at before sets of them are read.
const PLANNED: usize = 4096;
/// The most documents in a block.
const BLOCK_DOCUMENTS: usize = 1024;

/// An index at one moment, shared by all threads: decoding happens outside of the lock.
pub(crate) struct StoredDocuments {
    snapshot: Mutex<Box<dyn Snapshot>>,
    /// Documents that expired before are left out.
    now: i64,
    /// Whether metadata is looked at.
    metadata: bool,
    /// Whether the index keeps texts.
    pub(crate) texts: bool,
}

/// Documents that stand one behind the other: how many there are from a number on, expired ones
/// among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stretch {
    from: u64,
    count: usize,
}

/// How far the documents have been handed out.
#[derive(Default)]
pub(crate) struct Cursor {
    next: u64,
    planned: VecDeque<Stretch>,
    blocks: u32,
}

/// What one block holds.
pub(crate) struct StoredBlock {
    pub(crate) index: u32,
    pub(crate) stretch: Stretch,
    records: Vec<Record>,
}

impl StoredDocuments {
    /// Those of an index at this moment.
    ///
    /// # Errors
    /// [`IndexError::NoSets`] for an index without shingle sets; what keeps it from being read.
    pub(crate) fn open(index: &Index, now: i64, metadata: bool) -> Result<Self, IndexError> {
        use lookalike_index::settings::Store;
        let store = index.settings().store;
        if store == Store::Signatures {
            return Err(IndexError::NoSets { what: "grouping of its documents" });
        }
        let snapshot = Mutex::new(index.snapshot()?);
        Ok(Self { snapshot, now, metadata, texts: store == Store::Texts })
    }

    fn snapshot(&self) -> MutexGuard<'_, Box<dyn Snapshot>> {
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next block: at least one document, then as many as have about `block_bytes` of text.
    pub(crate) fn next(
        &self,
        cursor: &mut Cursor,
        block_bytes: usize,
    ) -> Result<Option<StoredBlock>, ReadError> {
        if cursor.planned.is_empty() {
            self.plan(cursor, block_bytes as u64)?;
        }
        let Some(stretch) = cursor.planned.pop_front() else { return Ok(None) };
        let index = cursor.blocks;
        cursor.blocks += 1;
        Ok(Some(StoredBlock { index, stretch, records: self.scan(stretch)? }))
    }

    /// Cuts the next documents into stretches by what their texts take.
    fn plan(&self, cursor: &mut Cursor, block_bytes: u64) -> Result<(), ReadError> {
        let (mut last, mut bytes) = (None, 0);
        let planned = &mut cursor.planned;
        let mut add = |record: &Record| {
            last = Some(record.number);
            bytes += record.bytes;
            match planned.back_mut() {
                Some(stretch) if bytes <= block_bytes && stretch.count < BLOCK_DOCUMENTS => {
                    stretch.count += 1;
                }
                _ => {
                    bytes = record.bytes;
                    planned.push_back(Stretch { from: record.number, count: 1 });
                }
            }
            Ok(())
        };
        self.snapshot().scan(cursor.next, PLANNED, Wanted::default(), &mut add)?;
        if let Some(last) = last {
            cursor.next = last.saturating_add(1);
        }
        Ok(())
    }

    fn scan(&self, stretch: Stretch) -> Result<Vec<Record>, ReadError> {
        let wanted = Wanted { set: true, metadata: self.metadata, ..Wanted::default() };
        let mut records = Vec::with_capacity(stretch.count);
        self.snapshot().scan(stretch.from, stretch.count, wanted, &mut |record| {
            if !record.is_expired(self.now) {
                records.push(record.clone());
            }
            Ok(())
        })?;
        Ok(records)
    }

    /// Gives the documents of a stretch to the sink once more.
    pub(crate) fn replay(
        &self,
        stretch: Stretch,
        fields: &[String],
        sink: &mut impl RawSink,
    ) -> Result<(), ReadError> {
        give(&self.scan(stretch)?, fields, sink)
    }

    /// The shingle set of one document into `set` (which is cleared); its fingerprint.
    pub(crate) fn fetch_set(
        &self,
        place: Place,
        id: &str,
        code: &mut Vec<u8>,
        set: &mut Vec<u64>,
    ) -> Result<u128, ReadError> {
        let wanted = Wanted { set: true, ..Wanted::default() };
        let fingerprint = self.one(place, id, wanted, |record| {
            code.clear();
            code.extend_from_slice(record.set.as_deref().unwrap_or_default());
            record.fingerprint
        })?;
        decode(code, id, set)?;
        Ok(fingerprint)
    }

    /// The text of one document; `None` where the index keeps none.
    pub(crate) fn fetch_text(&self, place: Place, id: &str) -> Result<Option<String>, ReadError> {
        let wanted = Wanted { text: true, ..Wanted::default() };
        self.one(place, id, wanted, |record| record.text.clone())
    }

    fn one<R>(
        &self,
        place: Place,
        id: &str,
        wanted: Wanted,
        mut take: impl FnMut(&Record) -> R,
    ) -> Result<R, ReadError> {
        let mut taken = None;
        self.snapshot().records(&[number(place)], wanted, &mut |record| {
            if record.id == id {
                taken = Some(take(record));
            }
            Ok(())
        })?;
        taken.ok_or_else(|| damaged(id, "it is no longer there").into())
    }
}

impl StoredBlock {
    /// Bytes of its shingle sets, as encoded.
    pub(crate) fn bytes(&self) -> u64 {
        self.records.iter().map(|record| record.set.as_ref().map_or(0, Vec::len) as u64).sum()
    }

    /// Gives its documents to the sink, in order.
    pub(crate) fn read(&self, fields: &[String], sink: &mut impl RawSink) -> Result<(), ReadError> {
        give(&self.records, fields, sink)
    }
}

fn give(records: &[Record], fields: &[String], sink: &mut impl RawSink) -> Result<(), ReadError> {
    let (mut set, mut further) = (Vec::new(), Further::default());
    for record in records {
        let code = record.set.as_deref();
        let code = code.ok_or_else(|| damaged(&record.id, "it has no shingle set"))?;
        decode(code, &record.id, &mut set)?;
        further.clear();
        for name in fields {
            match filter::member(&record.metadata, name) {
                None | Some(Value::Null) => further.push(None),
                Some(Value::String(text)) => further.push(Some(text)),
                Some(other) => further.push(Some(&other.to_string())),
            }
        }
        let (fingerprint, bytes) = (record.fingerprint, record.bytes);
        let document = Document {
            id: &record.id,
            text: "",
            place: place(record.number),
            fields: &further.list(),
            // Before 1970 there were no such files.
            modified: record.modified.and_then(|time| u64::try_from(time).ok()),
            shingled: Some(Shingled { set: &set, fingerprint, bytes }),
            about: None,
        };
        sink.record(&document, Raw::Row(record.number));
    }
    Ok(())
}

fn decode(code: &[u8], id: &str, set: &mut Vec<u64>) -> Result<(), IndexError> {
    set::decode(code, set).map_err(|error| match error {
        IndexError::Damaged { why, .. } => damaged(id, &format!("its shingle set is {why}")),
        error => error,
    })
}

fn damaged(id: &str, why: &str) -> IndexError {
    let what = format!("document {:?} of the index", lookalike_index::entry::shown(id));
    IndexError::Damaged { what, why: why.to_owned() }
}

/// Places of one index are in the order of the numbers.
fn place(number: u64) -> Place {
    Place { start: (number >> 32) as u32, length: number as u32, line: 0, part: 0 }
}

fn number(place: Place) -> u64 {
    u64::from(place.start) << 32 | u64::from(place.length)
}
