//! Sortable records in one contiguous buffer.

use super::codec::{FieldReader, put_u64};
use std::cmp::Ordering;

/// The size of a [`SortEntry`].
const ENTRY_BYTES: usize = size_of::<SortEntry>();

/// The smallest allocation of either buffer.
const FIRST_BYTES: usize = 4096;

/// Records in insertion order; after [`sort`](Self::sort), in the order of key, then payload.
#[derive(Debug, Default)]
pub(super) struct SortBatch {
    /// For each record: the length of its key, the length of its payload, the key, the payload.
    arena: Vec<u8>,
    entries: Vec<SortEntry>,
}

/// The start of a record, and the bytes of its key to compare first.
#[derive(Debug, Clone, Copy)]
struct SortEntry {
    prefix: u64,
    start: usize,
}

impl SortBatch {
    /// The number of records.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The number of bytes allocated.
    pub(super) fn memory(&self) -> usize {
        self.arena.capacity() + self.entries.capacity() * ENTRY_BYTES
    }

    /// Makes room for a record of `bytes`, which include its lengths. Returns `false` if that would
    /// allocate more than `limit` bytes in total. A full buffer doubles its capacity. `limit` does
    /// not include the old buffer, which exists until its bytes are moved.
    pub(super) fn make_room(&mut self, bytes: usize, limit: usize) -> bool {
        let used = self.arena.len().saturating_add(bytes);
        let records = self.entries.len() + 1;
        let grown = |capacity: usize, need: usize, least: usize| {
            if need <= capacity { capacity } else { need.max(capacity * 2).max(least) }
        };
        let arena = grown(self.arena.capacity(), used, FIRST_BYTES);
        let entries = grown(self.entries.capacity(), records, FIRST_BYTES / ENTRY_BYTES);
        let fits = arena.saturating_add(entries.saturating_mul(ENTRY_BYTES)) <= limit;
        if fits {
            self.grow(arena, entries);
        }
        fits
    }

    fn grow(&mut self, arena: usize, entries: usize) {
        self.arena.reserve_exact(arena.saturating_sub(self.arena.len()));
        self.entries.reserve_exact(entries.saturating_sub(self.entries.len()));
    }

    /// Adds a record.
    pub(super) fn push(&mut self, key: &[u8], payload: &[u8]) {
        self.entries.push(SortEntry { prefix: 0, start: self.arena.len() });
        put_u64(&mut self.arena, key.len() as u64);
        put_u64(&mut self.arena, payload.len() as u64);
        self.arena.extend_from_slice(key);
        self.arena.extend_from_slice(payload);
    }

    /// The most bytes that a record takes, including its lengths.
    pub(super) fn record_bytes(key: &[u8], payload: &[u8]) -> usize {
        key.len().saturating_add(payload.len()).saturating_add(20)
    }

    /// Sorts the records in place, with O(n log n) comparisons. Nearly all of these compare only
    /// the 8 bytes that follow the common prefix of all keys.
    pub(super) fn sort(&mut self) {
        let Self { arena, entries } = self;
        let shared = shared_prefix(arena, entries);
        for entry in entries.iter_mut() {
            let (key, _) = record(arena, entry.start);
            entry.prefix = prefix(&key[shared..]);
        }
        entries.sort_unstable_by(|a, b| {
            a.prefix.cmp(&b.prefix).then_with(|| by_record(arena, a.start, b.start))
        });
    }

    /// Returns the record at position `at` of the current order.
    pub(super) fn get(&self, at: usize) -> Option<KeyedRecord<'_>> {
        self.entries.get(at).map(|entry| record(&self.arena, entry.start))
    }

    /// Returns the bytes of all records in order, with their lengths.
    pub(super) fn records(&self) -> impl Iterator<Item = &[u8]> {
        self.entries.iter().map(|entry| {
            let bytes = &self.arena[entry.start..];
            &bytes[..layout(bytes).end]
        })
    }

    /// Removes all records. If they filled at least three quarters of `limit`, keeps the buffers.
    /// Otherwise allocates all of `limit` again, divided between the buffers by the sizes of the
    /// removed records.
    pub(super) fn clear(&mut self, limit: usize) {
        let used = self.arena.len();
        let records = self.entries.len();
        self.arena.clear();
        self.entries.clear();
        if used + records * ENTRY_BYTES >= limit / 4 * 3 {
            return;
        }
        *self = Self::default();
        let record = used as f64 / records.max(1) as f64;
        let entries = (limit as f64 / (record + ENTRY_BYTES as f64)) as usize;
        self.grow(limit.saturating_sub(entries * ENTRY_BYTES), entries);
    }

    /// Releases unused memory.
    pub(super) fn shrink(&mut self) {
        self.arena.shrink_to_fit();
        self.entries.shrink_to_fit();
    }
}

/// A key and its payload.
pub(crate) type KeyedRecord<'a> = (&'a [u8], &'a [u8]);

/// The positions of a record's parts, which follow its lengths.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RecordLayout {
    pub(super) key: usize,
    pub(super) payload: usize,
    pub(super) end: usize,
}

impl RecordLayout {
    /// Returns the key and the payload of a record. `bytes` contain at least the whole record.
    pub(super) fn split(self, bytes: &[u8]) -> KeyedRecord<'_> {
        (&bytes[self.key..self.payload], &bytes[self.payload..self.end])
    }
}

/// Returns the layout of the record at the start of `bytes`, which may end before the parts do.
/// `None` if the lengths are incomplete or invalid.
pub(super) fn parse(bytes: &[u8]) -> Option<RecordLayout> {
    let mut reader = FieldReader::new(bytes);
    let key_bytes = reader.u64()?;
    let payload_bytes = reader.u64()?;
    let key = bytes.len() - reader.rest().len();
    let payload = key.checked_add(usize::try_from(key_bytes).ok()?)?;
    let end = payload.checked_add(usize::try_from(payload_bytes).ok()?)?;
    Some(RecordLayout { key, payload, end })
}

/// Returns the record that begins at `start`.
fn record(arena: &[u8], start: usize) -> KeyedRecord<'_> {
    let bytes = &arena[start..];
    layout(bytes).split(bytes)
}

/// Returns the layout of a stored record, whose lengths are complete.
fn layout(bytes: &[u8]) -> RecordLayout {
    parse(bytes).unwrap_or_default()
}

fn by_record(arena: &[u8], a: usize, b: usize) -> Ordering {
    record(arena, a).cmp(&record(arena, b))
}

/// The first eight bytes as a number that sorts like them. Shorter keys are padded with zeros, so
/// equal numbers do not imply equal bytes.
fn prefix(key: &[u8]) -> u64 {
    let mut first = [0; 8];
    for (to, from) in first.iter_mut().zip(key) {
        *to = *from;
    }
    u64::from_be_bytes(first)
}

/// The length of the longest prefix that all keys share.
fn shared_prefix(arena: &[u8], entries: &[SortEntry]) -> usize {
    let Some(first) = entries.first() else { return 0 };
    let mut shared = record(arena, first.start).0;
    for entry in entries {
        let (key, _) = record(arena, entry.start);
        if !key.starts_with(shared) {
            let equal = shared.iter().zip(key).take_while(|(a, b)| a == b).count();
            shared = &shared[..equal];
        }
    }
    shared.len()
}
