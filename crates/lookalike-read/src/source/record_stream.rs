//! A stream of records, divided into blocks of whole records.

use crate::bytes::decompress::fill;
use crate::bytes::{BufferPool, ByteStream, PooledBuffer};
use crate::error::{OverLimit, ReadError, SkippedItem};
use crate::format::{BlockRecords, Continuation, RecordBoundary, RecordFormat};
use crate::measure::{MAX_DOCUMENT_BYTES, RecordSize};
use std::sync::Arc;

/// Number of bytes that are read at a time to skip the rest of a record.
const SKIPPED_BYTES: usize = 64 << 10;

/// A stream of records, read block by block.
pub(crate) struct RecordStream {
    stream: ByteStream,
    format: Arc<dyn RecordFormat>,
    block_bytes: usize,
    /// Maximum length of a record.
    limit: usize,
    /// The option that sets this limit; `None` for the limit of the program.
    limited_by: Option<OverLimit>,
    pool: Arc<BufferPool>,
    /// The beginning of a record that did not end in the last block.
    carry: Vec<u8>,
    index: u32,
    offset: u64,
    line: u64,
    records: u64,
    ended: bool,
    /// Whether the last record continues, or lacks its end.
    unclosed: bool,
    /// The reason why the stream ends after the last returned records. The next call returns it, so
    /// that the whole records before the damage are read, and the error follows them in reading
    /// order.
    failed: Option<ReadError>,
    /// Whether the next bytes belong to a line that is too long.
    in_long_line: bool,
}

impl RecordStream {
    pub(crate) fn new(
        stream: ByteStream,
        format: Arc<dyn RecordFormat>,
        block_bytes: usize,
        longest: Option<OverLimit>,
        pool: Arc<BufferPool>,
    ) -> Self {
        let longest = longest.filter(|longest| longest.limit < MAX_DOCUMENT_BYTES as u64);
        Self {
            stream,
            format,
            block_bytes,
            limit: longest.map_or(MAX_DOCUMENT_BYTES, |longest| longest.limit as usize),
            limited_by: longest,
            pool,
            carry: Vec::new(),
            index: 0,
            offset: 0,
            line: 1,
            records: 0,
            ended: false,
            unclosed: false,
            failed: None,
            in_long_line: false,
        }
    }

    /// The next block, with about `block_bytes`, or more if a record is longer; `None` at the end.
    /// After an error, the next call returns the rest, if any of it can be read.
    pub(crate) fn next(&mut self, source_name: &str) -> Result<Option<BlockRecords>, ReadError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if std::mem::take(&mut self.in_long_line) {
            let line = Continuation::Cut(Vec::new());
            self.skip_rest(line, &mut RecordSize::default(), source_name)?;
        }
        if self.ended && self.carry.is_empty() {
            return Ok(None);
        }
        let mut buffer = self.pool.take();
        let mut length = self.carry.len();
        // Read one byte above the limit, to tell a record of exactly the limit from a longer one.
        // Carried bytes are always fewer, because they followed a whole record.
        let most = self.limit + 1;
        let mut goal = self.block_bytes.max(length * 2).min(most);
        if buffer.len() < goal {
            buffer.resize(goal, 0);
        }
        buffer[..length].copy_from_slice(&self.carry);
        let cut = loop {
            let (got, failed) = fill(&mut self.stream, &mut buffer[length..goal]);
            length += got;
            self.ended = length < goal;
            let mut cut = self.format.cut(&buffer[..length]);
            if let Some(error) = failed {
                // The last record may be incomplete.
                length = cut.whole;
                self.ended = true;
                let error = ReadError::Io { source_name: source_name.to_owned(), error };
                if length == 0 {
                    self.carry.clear();
                    return Err(error);
                }
                self.failed = Some(error);
                cut.unclosed = false;
                break cut;
            }
            if length == 0 {
                cut.unclosed = self.unclosed;
            }
            self.unclosed = cut.unclosed;
            if self.ended {
                cut.whole = length;
                break cut;
            }
            if cut.whole > 0 {
                cut.unclosed = false;
                break cut;
            }
            if goal == most {
                return Err(self.too_long(&buffer[..length], source_name));
            }
            goal = (goal + self.growth(goal)).min(most);
            buffer.resize(goal, 0);
        };
        self.carry.clear();
        self.carry.shrink_to(self.block_bytes * 4);
        self.carry.extend_from_slice(&buffer[cut.whole..length]);
        Ok(self.records(buffer, cut))
    }

    /// Number of bytes by which a buffer of `length` bytes grows. Small under a memory limit,
    /// because bytes after a long record also take memory.
    fn growth(&self, length: usize) -> usize {
        if self.limited_by.is_some_and(OverLimit::is_memory) {
            (length / 8).max(self.block_bytes)
        } else {
            length
        }
    }

    /// Returns the error for a record that begins with `partial`. In formats of lines, reading
    /// continues with the next line. In other formats, it continues with the next record only if
    /// the memory sets the limit.
    fn too_long(&mut self, partial: &[u8], source_name: &str) -> ReadError {
        self.carry.clear();
        self.offset += partial.len() as u64;
        self.in_long_line = self.format.is_lines();
        let source_name = source_name.to_owned();
        let line = self.line;
        match self.limited_by {
            Some(over) if over.is_memory() => {
                self.in_long_line = false;
                self.line += lines(partial);
                // The rest of the record shows how much memory is needed.
                let mut size = RecordSize::of(partial);
                let first = self.format.continuation(partial, self.unclosed);
                if let Err(error) = self.skip_rest(first, &mut size, &source_name) {
                    return error;
                }
                size.copies = self.format.copies(size.is_escaped);
                ReadError::OverMemory { source_name, line: Some(line), size: size.into() }
            }
            over => {
                self.ended = !self.in_long_line;
                let Some(over) = over else {
                    return ReadError::RecordTooLong { source_name, line };
                };
                let skipped = SkippedItem::whole(source_name, over.reason());
                ReadError::BadRecord(SkippedItem { line: Some(line), ..skipped }.into())
            }
        }
    }

    /// Reads up to the end of a record and adds its bytes to `size`.
    fn skip_rest(
        &mut self,
        mut rest: Continuation,
        size: &mut RecordSize,
        source_name: &str,
    ) -> Result<(), ReadError> {
        while !self.ended {
            let (mut buffer, missing) = match rest {
                Continuation::Bytes(0) => return Ok(()),
                Continuation::Bytes(missing) => (Vec::new(), Some(missing)),
                Continuation::Cut(before) => (before, None),
            };
            let before = buffer.len();
            let most =
                missing.map_or(SKIPPED_BYTES, |missing| missing.min(SKIPPED_BYTES as u64) as usize);
            buffer.resize(before + most, 0);
            let (got, failed) = fill(&mut self.stream, &mut buffer[before..]);
            buffer.truncate(before + got);
            self.ended = got < most;
            if let Some(error) = failed {
                self.ended = true;
                return Err(ReadError::Io { source_name: source_name.to_owned(), error });
            }
            let end = match missing {
                Some(_) => None,
                None => self.first_end(&buffer),
            };
            let skipped = &buffer[before..end.unwrap_or(buffer.len()).max(before)];
            size.add(skipped);
            self.offset += skipped.len() as u64;
            self.line += lines(skipped);
            if let Some(end) = end {
                // The end of a record is only recognized by the bytes after it.
                let unread = buffer.get(end..before).unwrap_or_default();
                self.offset -= unread.len() as u64;
                self.line -= lines(unread);
                self.carry.extend_from_slice(&buffer[end..]);
                return Ok(());
            }
            rest = if let Some(missing) = missing {
                Continuation::Bytes(missing - got as u64)
            } else {
                let unclosed = self.format.cut(&buffer).unclosed;
                self.format.continuation(&buffer, unclosed)
            };
        }
        Ok(())
    }

    /// The end of the first record of `bytes`; `None` if it continues.
    fn first_end(&self, bytes: &[u8]) -> Option<usize> {
        let whole_length = |end: usize| self.format.cut(&bytes[..end]).whole;
        if whole_length(bytes.len()) == 0 {
            return None;
        }
        // Binary search: `high` is the least known number of bytes that shows the end of a record.
        let mut low = 0;
        let mut high = bytes.len();
        while high - low > 1 {
            let middle = low.midpoint(high);
            if whole_length(middle) == 0 { low = middle } else { high = middle }
        }
        Some(whole_length(high))
    }

    /// Skips a number for the block that lists an error. Returns the line of the error; `None` if
    /// no block precedes it.
    pub(crate) fn pass_error(&mut self) -> Option<u64> {
        let line = (self.index > 0).then_some(self.line);
        self.index += 1;
        line
    }

    /// Returns true if there is nothing more to read.
    pub(crate) fn is_ended(&self) -> bool {
        self.ended && self.carry.is_empty() && self.failed.is_none()
    }

    /// Returns true if the stream was empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.ended && self.index == 0
    }

    /// Ends the stream, so that no more records are read.
    pub(crate) fn end(&mut self) {
        self.ended = true;
        self.failed = None;
        self.carry.clear();
    }

    fn records(&mut self, buffer: Vec<u8>, cut: RecordBoundary) -> Option<BlockRecords> {
        let longest_kept = self.block_bytes.saturating_mul(4);
        let buffer = PooledBuffer::new(buffer, cut.whole, longest_kept, &self.pool);
        if buffer.is_empty() && !self.format.reads_empty(self.index == 0, cut.unclosed) {
            return None;
        }
        let index = self.index;
        let offset = self.offset;
        let first_line = self.line;
        let records_before = self.records;
        self.records += u64::from(cut.records);
        self.index += 1;
        self.offset += buffer.len() as u64;
        self.line +=
            if self.format.counts_records() { u64::from(cut.records) } else { lines(&buffer) };
        let unclosed = cut.unclosed;
        Some(BlockRecords { buffer, index, offset, first_line, unclosed, records_before })
    }
}

/// The number of line feeds in `bytes`.
fn lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::lines::LineRecords;
    use std::io;

    fn stream(text: &str, limit: usize, block_bytes: usize) -> RecordStream {
        let stream = Box::new(io::Cursor::new(text.to_owned()));
        let mut stream = RecordStream::new(
            stream,
            Arc::new(LineRecords::plain()),
            block_bytes,
            None,
            Arc::default(),
        );
        stream.limit = limit;
        stream
    }

    /// A record up to the limit is read and a longer one rejected, wherever blocks end.
    #[test]
    fn a_record_of_the_longest_length() {
        for before in 0..40 {
            for block_bytes in [1, 8, 20, 33, 100] {
                for (length, fits) in [(31, true), (32, true), (33, false), (60, false)] {
                    let text = format!("{}\n{}\nend\n", "a".repeat(before), "b".repeat(length));
                    let mut stream = stream(&text, 32, block_bytes);
                    let mut read = Vec::new();
                    let end = loop {
                        match stream.next("x") {
                            Ok(Some(records)) => {
                                assert!(records.buffer.len() <= 33);
                                read.extend_from_slice(&records.buffer);
                            }
                            end => break end.map(drop),
                        }
                    };
                    let fits = fits && before <= 32;
                    assert_eq!(end.is_ok(), fits, "{before} {length} {block_bytes}");
                    assert!(!fits || read == text.as_bytes());
                }
            }
        }
    }
}
