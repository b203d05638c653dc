//! Merges sorted runs of records from a temporary file.

use super::batch::{KeyedRecord, RecordLayout, parse};
use super::error::SpillError;
use super::file::SpillFile;
use std::cmp::Ordering;
use std::ops::Range;

/// The least bytes of a run per read.
pub(super) const LEAST_BUFFER: usize = 4096;
/// The most bytes per read. Larger reads are not faster.
const MOST_BUFFER: usize = 1 << 18;
/// The most runs in one merge.
const MOST_RUNS: usize = 64;

/// The number of runs that `memory` bytes can merge in one pass. One buffer is used for writing.
pub(super) fn fan_in(memory: usize) -> usize {
    (memory / LEAST_BUFFER).saturating_sub(1).clamp(2, MOST_RUNS)
}

/// The size of each of `count` buffers that share `memory` bytes.
pub(super) fn buffer_bytes(memory: usize, count: usize) -> usize {
    (memory / count.max(1)).clamp(LEAST_BUFFER, MOST_BUFFER)
}

/// Records of several runs in the order of key, then payload.
#[derive(Debug)]
pub(super) struct MergedRuns<'a> {
    file: &'a SpillFile,
    /// A heap whose first source has the first record.
    sources: Vec<RunReader>,
    /// Whether the record of the first source was returned.
    is_returned: bool,
}

impl<'a> MergedRuns<'a> {
    /// Reads the first bytes of each of `runs`, with a buffer of `buffer` bytes for each.
    ///
    /// # Errors
    /// [`SpillError::Io`], [`SpillError::Damaged`].
    pub(super) fn new(
        file: &'a SpillFile,
        runs: &[Range<u64>],
        buffer: usize,
    ) -> Result<Self, SpillError> {
        let mut sources = Vec::with_capacity(runs.len());
        for run in runs {
            let mut source = RunReader::new(run.clone(), buffer);
            if source.advance(file)? {
                sources.push(source);
            }
        }
        let mut merge = Self { file, sources, is_returned: false };
        for at in (0..merge.sources.len() / 2).rev() {
            merge.sift_down(at);
        }
        Ok(merge)
    }

    /// Returns the bytes of the next record, including its lengths, and the positions of its parts
    /// in these bytes.
    ///
    /// # Errors
    /// [`SpillError::Io`], [`SpillError::Damaged`].
    pub(super) fn next(&mut self) -> Result<Option<(&[u8], RecordLayout)>, SpillError> {
        if self.is_returned {
            if let Some(first) = self.sources.first_mut()
                && !first.advance(self.file)?
            {
                self.sources.swap_remove(0);
            }
            self.sift_down(0);
        }
        self.is_returned = true;
        Ok(self.sources.first().map(|source| (source.bytes(), source.layout)))
    }

    fn sift_down(&mut self, mut at: usize) {
        loop {
            let left = 2 * at + 1;
            let right = 2 * at + 2;
            let mut first = at;
            for child in [left, right] {
                if self.is_before(child, first) {
                    first = child;
                }
            }
            if first == at {
                return;
            }
            self.sources.swap(at, first);
            at = first;
        }
    }

    fn is_before(&self, a: usize, b: usize) -> bool {
        match (self.sources.get(a), self.sources.get(b)) {
            (Some(a), Some(b)) => a.record().cmp(&b.record()) == Ordering::Less,
            _ => false,
        }
    }
}

/// A run being read from its first record to its last.
#[derive(Debug)]
struct RunReader {
    /// The bytes of the file that have not been read into the buffer.
    rest: Range<u64>,
    buffer: Vec<u8>,
    /// The size of the buffer unless a record is larger.
    usual: usize,
    /// The start of the record in the buffer.
    start: usize,
    layout: RecordLayout,
}

impl RunReader {
    fn new(run: Range<u64>, usual: usize) -> Self {
        Self { rest: run, buffer: Vec::new(), usual, start: 0, layout: RecordLayout::default() }
    }

    /// The bytes of the record, with its lengths.
    fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.start + self.layout.end]
    }

    fn record(&self) -> KeyedRecord<'_> {
        self.layout.split(self.bytes())
    }

    /// Moves to the next record. Returns `false` at the end.
    fn advance(&mut self, file: &SpillFile) -> Result<bool, SpillError> {
        self.start += self.layout.end;
        self.layout = RecordLayout::default();
        loop {
            let unread = self.buffer.len() - self.start;
            let remaining = self.rest.end - self.rest.start;
            if unread == 0 && remaining == 0 {
                return Ok(false);
            }
            let layout = parse(&self.buffer[self.start..]);
            let need = layout.map_or(unread + 1, |layout| layout.end);
            if let Some(layout) = layout
                && need <= unread
            {
                self.layout = layout;
                return Ok(true);
            }
            if (need - unread) as u64 > remaining {
                let problem = format!(
                    "expected a record of {need} bytes, found {unread} and {remaining} more"
                );
                let path = file.path().to_owned();
                return Err(SpillError::Damaged { path, problem, folder: None });
            }
            self.fill(file, need)?;
        }
    }

    /// Reads until the buffer is full and contains at least `need` bytes of the record, if the run
    /// has that many. Afterwards, the record is at the start of the buffer.
    fn fill(&mut self, file: &SpillFile, need: usize) -> Result<(), SpillError> {
        self.buffer.drain(..self.start);
        self.start = 0;
        let size = need.max(self.usual);
        if self.buffer.capacity() > size {
            self.buffer.shrink_to(size);
        }
        let old = self.buffer.len();
        let remaining = self.rest.end - self.rest.start;
        let more = ((size - old) as u64).min(remaining) as usize;
        self.buffer.reserve_exact(more);
        self.buffer.resize(old + more, 0);
        file.read_at(&mut self.buffer[old..], self.rest.start)?;
        self.rest.start += more as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Spool;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn damaged_runs_never_panic(
            bytes in prop::collection::vec(prop_oneof![0..4u8, any::<u8>()], 0..200),
            runs in prop::collection::vec((0..220u64, 0..220u64), 0..5),
            buffer in 1..40usize,
        ) {
            let file = Spool::new(tempfile::tempfile().unwrap(), "runs".into()).unwrap();
            let file = SpillFile::new(file, None);
            file.append(&bytes).unwrap();
            let runs: Vec<_> = runs.into_iter().map(|(a, b)| a.min(b)..a.max(b)).collect();
            let total: u64 = runs.iter().map(|run| run.end - run.start).sum();
            let mut read_bytes = 0;
            let mut read = || -> Result<(), SpillError> {
                let mut merge = MergedRuns::new(&file, &runs, buffer)?;
                while let Some((bytes, layout)) = merge.next()? {
                    assert_eq!(bytes.len(), layout.end);
                    read_bytes += bytes.len() as u64;
                }
                Ok(())
            };
            match read() {
                Ok(()) => prop_assert_eq!(read_bytes, total),
                Err(SpillError::Io { .. } | SpillError::Damaged { .. }) => {}
                Err(error) => prop_assert!(false, "{}", error),
            }
        }
    }
}
