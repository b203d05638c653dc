//! (Key, document) entries, in memory or in a temporary file, and the buckets they form.
//!
//! The lowest bit of a key is a mark: keys that differ in nothing else are in the same range.

use super::memory::Budget;
use super::ranges::{KeyRange, KeyRanges};
use crate::error::Error;
use crate::spill::{SpillFile, TempSpace};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of an entry in a file.
const ENTRY_BYTES: usize = 12;
/// Bytes of memory for one entry while they are sorted.
const SORTED_BYTES: usize = 40;

/// Entries of all threads.
pub(super) struct Entries<'a> {
    temp: &'a Arc<TempSpace>,
    name: &'static str,
    share: usize,
    inner: Mutex<EntriesState>,
}

#[derive(Default)]
struct EntriesState {
    held: Vec<Vec<(u64, u32)>>,
    held_bytes: usize,
    len: usize,
    file: Option<SpillFile>,
    pieces: Vec<(u64, u64)>,
}

impl<'a> Entries<'a> {
    pub(super) fn new(temp: &'a Arc<TempSpace>, name: &'static str, budget: &Budget) -> Self {
        Self { temp, name, share: budget.buckets() / 2, inner: Mutex::default() }
    }

    /// Takes entries; writes what it holds when that is more than its share.
    pub(super) fn add(&self, entries: Vec<(u64, u32)>) -> Result<(), Error> {
        let mut inner = self.inner();
        inner.len += entries.len();
        inner.held_bytes += 16 * entries.len();
        inner.held.push(entries);
        if inner.held_bytes > self.share {
            self.write(&mut inner)?;
        }
        Ok(())
    }

    fn inner(&self) -> MutexGuard<'_, EntriesState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, inner: &mut EntriesState) -> Result<(), Error> {
        let file = match inner.file.take() {
            Some(file) => file,
            None => self.temp.workspace()?.create(self.name)?,
        };
        let mut bytes = Vec::new();
        for entries in std::mem::take(&mut inner.held) {
            bytes.clear();
            for (key, document) in entries {
                bytes.extend_from_slice(&key.to_le_bytes());
                bytes.extend_from_slice(&document.to_le_bytes());
            }
            inner.pieces.push((file.append(&bytes)?, bytes.len() as u64));
        }
        inner.held_bytes = 0;
        inner.file = Some(file);
        Ok(())
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.inner().len
    }

    /// Ranges of keys in which the entries can be sorted by one thread at a time.
    pub(super) fn ranges(&self, budget: &Budget, at_least: usize) -> Vec<KeyRange> {
        KeyRanges::at_least(at_least, self.len(), SORTED_BYTES, budget).collect()
    }

    /// The entries of a range, sorted.
    pub(super) fn sorted(&self, range: KeyRange) -> Result<Vec<(u64, u32)>, Error> {
        let mut found = Vec::new();
        let (pieces, has_file) = {
            let inner = self.inner();
            let held = inner.held.iter().flatten();
            found.extend(held.filter(|(key, _)| range.has(*key & !1)).copied());
            (inner.pieces.clone(), inner.file.is_some())
        };
        if has_file {
            let mut bytes = Vec::new();
            for (at, length) in pieces {
                bytes.resize(length as usize, 0);
                if let Some(file) = &self.inner().file {
                    file.read_at(&mut bytes, at)?;
                }
                for entry in bytes.chunks_exact(ENTRY_BYTES) {
                    let (key, document) = entry.split_at(8);
                    let key = key.try_into().map_or(0, u64::from_le_bytes);
                    if range.has(key & !1) {
                        found.push((key, document.try_into().map_or(0, u32::from_le_bytes)));
                    }
                }
            }
        }
        found.sort_unstable();
        Ok(found)
    }
}
