//! Sorts more records than fit in memory. Sorted batches are written to a temporary file as runs,
//! which are merged when they are read.

use super::batch::{KeyedRecord, SortBatch};
use super::error::{SpillError, SpillPosition};
use super::file::SpillFile;
use super::merge::{LEAST_BUFFER, MergedRuns, buffer_bytes, fan_in};
use super::temp_space::TempSpace;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A callback for a record: its key and its payload.
pub(crate) type TakeRecord<'a, E = SpillError> = dyn FnMut(&[u8], &[u8]) -> Result<(), E> + 'a;

/// The least memory of a sorter in bytes. A smaller share is raised to this.
pub(super) const MIN_MEMORY: usize = 4 * LEAST_BUFFER;

/// Sorts records by the bytes of their keys, and records with equal keys by the bytes of their
/// payloads. Keeps equal records.
#[derive(Debug)]
pub(crate) struct Sorter {
    temp: Option<Arc<TempSpace>>,
    memory: usize,
    batch: SortBatch,
    spilled: Option<SpilledRuns>,
    len: u64,
}

/// Runs in a file.
#[derive(Debug)]
struct SpilledRuns {
    file: SpillFile,
    runs: Vec<Range<u64>>,
}

impl Sorter {
    /// Creates a sorter that uses at most `memory` bytes ([`MIN_MEMORY`] at least), including its
    /// index. Further records are written to a file in `temp`. Only a single record that is larger
    /// than half of `memory` may exceed the limit, because growing a buffer needs a second one for
    /// a moment. Without `temp`, memory holds all records.
    pub(crate) fn new(temp: Option<Arc<TempSpace>>, memory: usize) -> Self {
        let memory = memory.max(MIN_MEMORY);
        Self { temp, memory, batch: SortBatch::default(), spilled: None, len: 0 }
    }

    /// Adds a record.
    ///
    /// # Errors
    /// [`SpillError::TempDir`] and [`SpillError::Io`] if memory is full and the records cannot be
    /// written to a file. The sorter must not be used after that.
    pub(crate) fn push(&mut self, key: &[u8], payload: &[u8]) -> Result<(), SpillError> {
        let bytes = SortBatch::record_bytes(key, payload);
        let limit = self.limit();
        if !self.batch.make_room(bytes, limit) {
            self.spill()?;
            if !self.batch.make_room(bytes, limit) {
                // The record exceeds the limit: keep it alone, and write it to the file
                // immediately.
                self.batch = SortBatch::default();
                self.batch.make_room(bytes, usize::MAX);
            }
        }
        self.batch.push(key, payload);
        self.len += 1;
        if self.batch.memory() > limit {
            self.spill()?;
            self.batch = SortBatch::default();
        }
        Ok(())
    }

    /// The number of bytes allocated now.
    #[cfg(test)]
    pub(super) fn memory(&self) -> usize {
        self.batch.memory()
    }

    /// Sorts the records in memory. Merges runs until a single pass can return all records.
    ///
    /// # Errors
    /// [`SpillError::TempDir`], [`SpillError::Io`], [`SpillError::Damaged`].
    pub(crate) fn finish(mut self) -> Result<SortedRecords, SpillError> {
        if self.spilled.is_some() {
            self.spill()?;
        }
        let Self { temp, memory, mut batch, spilled, len } = self;
        let (Some(mut spilled), Some(temp)) = (spilled, temp) else {
            batch.sort();
            batch.shrink();
            return Ok(SortedRecords { len, records: SortedStorage::Memory(batch) });
        };
        drop(batch);
        while spilled.runs.len() > fan_in(memory) {
            spilled = spilled.merged(&temp, memory)?;
        }
        Ok(SortedRecords { len, records: SortedStorage::File { spilled, memory } })
    }

    /// The memory limit of the batch. The rest is the buffer for writing.
    fn limit(&self) -> usize {
        if self.temp.is_some() { self.memory - write_buffer(self.memory) } else { usize::MAX }
    }

    /// Writes the records in memory as a run.
    fn spill(&mut self) -> Result<(), SpillError> {
        let limit = self.limit();
        let Some(temp) = &self.temp else { return Ok(()) };
        if self.batch.len() == 0 {
            return Ok(());
        }
        self.batch.sort();
        let spilled = match &mut self.spilled {
            Some(spilled) => spilled,
            slot => slot.insert(SpilledRuns::new(temp)?),
        };
        let file = &spilled.file;
        let mut out = BufWriter::with_capacity(write_buffer(self.memory), file);
        let start = file.len();
        for record in self.batch.records() {
            out.write_all(record).map_err(|source| file.error(source))?;
        }
        out.flush().map_err(|source| file.error(source))?;
        drop(out);
        spilled.runs.push(start..file.len());
        self.batch.clear(limit);
        Ok(())
    }
}

/// The size of the buffer for writing.
fn write_buffer(memory: usize) -> usize {
    buffer_bytes(memory, 8)
}

impl SpilledRuns {
    fn new(temp: &TempSpace) -> Result<Self, SpillError> {
        Ok(Self { file: temp.scratch("sort")?, runs: Vec::new() })
    }

    /// Merges into fewer, longer runs in another file, and removes this one.
    fn merged(self, temp: &TempSpace, memory: usize) -> Result<Self, SpillError> {
        let mut longer = Self::new(temp)?;
        let together = fan_in(memory);
        let buffer = buffer_bytes(memory, together + 1);
        for runs in self.runs.chunks(together) {
            let file = &longer.file;
            let start = file.len();
            let mut out = BufWriter::with_capacity(buffer, file);
            let mut merge = MergedRuns::new(&self.file, runs, buffer)?;
            while let Some((bytes, _)) = merge.next()? {
                out.write_all(bytes).map_err(|source| file.error(source))?;
            }
            out.flush().map_err(|source| file.error(source))?;
            drop(out);
            longer.runs.push(start..file.len());
        }
        Ok(longer)
    }
}

/// Sorted records. Any number of threads may read them from the start, repeatedly.
#[derive(Debug, Default)]
pub(crate) struct SortedRecords {
    len: u64,
    records: SortedStorage,
}

#[derive(Debug)]
enum SortedStorage {
    Memory(SortBatch),
    File { spilled: SpilledRuns, memory: usize },
}

impl Default for SortedStorage {
    fn default() -> Self {
        Self::Memory(SortBatch::default())
    }
}

impl SortedRecords {
    /// The number of records.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Whether the records are in a file.
    #[cfg(test)]
    pub(super) fn is_spilled(&self) -> bool {
        matches!(self.records, SortedStorage::File { .. })
    }

    /// The number of bytes in memory. If the records are in a file, every [`cursor`](Self::cursor)
    /// uses the memory limit of the sorter in addition.
    #[cfg(test)]
    pub(super) fn memory(&self) -> usize {
        match &self.records {
            SortedStorage::Memory(batch) => batch.memory(),
            SortedStorage::File { .. } => 0,
        }
    }

    /// Returns a cursor over the records, which does not copy them.
    pub(crate) fn cursor(&self) -> RecordCursor<'_> {
        let state = match &self.records {
            SortedStorage::Memory(batch) => CursorState::Memory { batch, at: 0 },
            SortedStorage::File { spilled, memory } => {
                CursorState::Opening { spilled, memory: *memory }
            }
        };
        let path = match &self.records {
            SortedStorage::Memory(_) => None,
            SortedStorage::File { spilled, .. } => Some(spilled.file.path()),
        };
        RecordCursor { state, path, read_count: 0 }
    }

    /// Iterates over copies of the records: key and payload. Ends after an error.
    pub(crate) fn iter(
        &self,
    ) -> impl Iterator<Item = Result<(Vec<u8>, Vec<u8>), SpillError>> + Send + '_ {
        let mut cursor = self.cursor();
        until_error(move || {
            let record = cursor.next_record()?;
            Ok(record.map(|(key, payload)| (key.to_vec(), payload.to_vec())))
        })
    }

    /// Iterates over the values that `decode` returns for key and payload. Ends after an error. If
    /// `decode` returns `None`, the error says that the temporary file lacks an `item`.
    pub(crate) fn decoded<'s, T: 's>(
        &'s self,
        item: &'static str,
        decode: impl Fn(&[u8], &[u8]) -> Option<T> + Send + 's,
    ) -> impl Iterator<Item = io::Result<T>> + Send + 's {
        let mut cursor = self.cursor();
        let next = move || {
            let Some((key, payload)) = cursor.next_record()? else { return Ok(None) };
            let value = decode(key, payload);
            value.map(Some).ok_or_else(|| cursor.damaged(item))
        };
        until_error(next).map(|record| record.map_err(SpillError::into_io))
    }
}

/// Iterates over the results of `next`, up to the first error or `None`.
pub(crate) fn until_error<T, E>(
    mut next: impl FnMut() -> Result<Option<T>, E>,
) -> impl Iterator<Item = Result<T, E>> {
    let mut is_over = false;
    std::iter::from_fn(move || {
        let item = if is_over { None } else { next().transpose() };
        is_over = !matches!(item, Some(Ok(_)));
        item
    })
}

/// Reads records one at a time.
#[derive(Debug)]
pub(crate) struct RecordCursor<'a> {
    state: CursorState<'a>,
    /// The temporary file, if the records are in one.
    path: Option<&'a Path>,
    /// The number of records that were read.
    read_count: u64,
}

#[derive(Debug)]
enum CursorState<'a> {
    Memory {
        batch: &'a SortBatch,
        at: usize,
    },
    /// The state before the first record, when the runs have not been opened.
    Opening {
        spilled: &'a SpilledRuns,
        memory: usize,
    },
    Merge(MergedRuns<'a>),
}

impl RecordCursor<'_> {
    /// Returns the next record: key and payload.
    ///
    /// # Errors
    /// [`SpillError::Io`] and [`SpillError::Damaged`] if the temporary file cannot be read.
    pub(crate) fn next_record(&mut self) -> Result<Option<KeyedRecord<'_>>, SpillError> {
        if let CursorState::Opening { spilled, memory } = &self.state {
            let buffer = buffer_bytes(*memory, spilled.runs.len());
            self.state = CursorState::Merge(MergedRuns::new(&spilled.file, &spilled.runs, buffer)?);
        }
        self.read_count += 1;
        match &mut self.state {
            CursorState::Memory { batch, at } => {
                *at += 1;
                Ok(batch.get(*at - 1))
            }
            CursorState::Merge(merge) => {
                Ok(merge.next()?.map(|(bytes, layout)| layout.split(bytes)))
            }
            CursorState::Opening { .. } => Ok(None),
        }
    }

    /// The error if the record that was read last is not a valid `item`.
    pub(crate) fn damaged(&self, item: &str) -> SpillError {
        let position = self.path.map(|_| SpillPosition::Record(self.read_count.saturating_sub(1)));
        SpillError::Altered { what: item.to_owned(), path: self.path.map(Path::to_owned), position }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use crate::read::Spool;
    use std::fs::File;
    use std::path::Path;

    #[test]
    fn a_full_disk_is_an_error() {
        let full = Path::new("/dev/full");
        let file = File::options().read(true).write(true).open(full).unwrap();
        let file = SpillFile::new(Spool::new(file, full.to_owned()).unwrap(), None);
        let parent = tempfile::tempdir().unwrap();
        let temp = Arc::new(TempSpace::new(parent.path().to_owned()));
        let mut sorter = Sorter::new(Some(temp), 0);
        sorter.spilled = Some(SpilledRuns { file, runs: Vec::new() });
        let error = (0..10_000).find_map(|_| sorter.push(b"key", &[7; 90]).err()).unwrap();
        assert!(error.to_string().contains("/dev/full"), "{error}");
        assert!(error.to_string().contains("disk is full"), "{error}");
    }
}
