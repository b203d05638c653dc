//! A source of records as a stream that is cut into pieces of whole records.

use crate::MAX_DOCUMENT_BYTES;
use crate::decompress::Stream;
use crate::error::ReadError;
use crate::format::{self, Cut};
use crate::options::Format;
use crate::recover::OverLimit;
use crate::skipped::Skipped;
use std::io::{self, Read};
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

/// Buffers kept for the next blocks.
const POOLED: usize = 16;

/// Buffers of blocks that are done with. Fresh memory costs as much as reading into it.
#[derive(Default)]
pub(crate) struct Pool {
    buffers: Mutex<Vec<Vec<u8>>>,
}

impl Pool {
    pub(crate) fn take(&self) -> Vec<u8> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }
}

/// Bytes that go back to the pool when dropped.
pub(crate) struct Piece {
    /// As long as it ever was, so that no byte is cleared twice.
    buffer: Vec<u8>,
    length: usize,
    /// Buffers above this length are not kept.
    usual: usize,
    pool: Arc<Pool>,
}

impl Piece {
    /// All of `buffer`, which goes back to `pool` when it is not longer than usual.
    #[cfg(feature = "parquet")]
    pub(crate) fn whole(buffer: Vec<u8>, usual: usize, pool: &Arc<Pool>) -> Self {
        let length = buffer.len();
        Self { buffer, length, usual, pool: Arc::clone(pool) }
    }
}

impl Deref for Piece {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        let mut buffers = self.pool.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        if buffers.len() < POOLED && self.buffer.len() <= self.usual {
            buffers.push(std::mem::take(&mut self.buffer));
        }
    }
}

/// Whole records and where they stand.
pub(crate) struct Records {
    pub(crate) piece: Piece,
    pub(crate) index: u32,
    /// Bytes of the stream before these.
    pub(crate) offset: u64,
    /// The number of the first line.
    pub(crate) first_line: u64,
    /// The stream ends inside of quotes, in the last of these records.
    pub(crate) unclosed: bool,
}

/// A stream of records, read piece by piece.
pub(crate) struct RecordStream {
    stream: Stream,
    format: Format,
    block_bytes: usize,
    /// The longest record.
    limit: usize,
    /// The option that sets this limit, unless it is that of the program.
    limited_by: Option<OverLimit>,
    pool: Arc<Pool>,
    /// The beginning of a record that did not end in the last piece.
    carry: Vec<u8>,
    index: u32,
    offset: u64,
    line: u64,
    ended: bool,
    /// What was cut last goes on, or lacks its end.
    unclosed: bool,
    /// Why the stream ends behind the records that were returned last.
    failed: Option<ReadError>,
    /// The next bytes belong to a line that is too long.
    in_long_line: bool,
}

impl RecordStream {
    pub(crate) fn new(
        stream: Stream,
        format: Format,
        block_bytes: usize,
        longest: Option<OverLimit>,
        pool: Arc<Pool>,
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
            ended: false,
            unclosed: false,
            failed: None,
            in_long_line: false,
        }
    }

    /// The next piece: about `block_bytes`, more only where a record is longer; `None` at the end.
    /// After an error the rest follows, where there is one that can be read.
    pub(crate) fn next(&mut self, source_name: &str) -> Result<Option<Records>, ReadError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.in_long_line {
            self.leave_line(source_name)?;
        }
        if self.ended && self.carry.is_empty() {
            return Ok(None);
        }
        let mut buffer = self.pool.take();
        let mut length = self.carry.len();
        // One byte above the limit tells a record of that length from a longer one. What is carried
        // is always less: it stood behind a whole record.
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
            let mut cut = format::cut(self.format, &buffer[..length]);
            if let Some(error) = failed {
                // The last record may not be whole.
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
                return Err(self.too_long(length, source_name));
            }
            goal = (goal * 2).min(most);
            buffer.resize(goal, 0);
        };
        self.carry.clear();
        self.carry.shrink_to(self.block_bytes * 4);
        self.carry.extend_from_slice(&buffer[cut.whole..length]);
        Ok(self.piece(buffer, cut))
    }

    /// The error for a record of which `length` bytes are read. Of lines those behind it follow.
    fn too_long(&mut self, length: usize, source_name: &str) -> ReadError {
        self.carry.clear();
        self.offset += length as u64;
        self.in_long_line = matches!(self.format, Format::Lines | Format::Jsonl);
        self.ended = !self.in_long_line;
        let (source_name, line) = (source_name.to_owned(), self.line);
        match self.limited_by {
            None => ReadError::RecordTooLong { source_name, line },
            Some(over) if over.is_memory() => {
                let before = self.offset - length as u64;
                // The rest of the line tells how much memory is needed.
                let rest = if self.in_long_line { self.leave_line(&source_name) } else { Ok(()) };
                let bytes = self.offset - before;
                rest.err().unwrap_or(ReadError::OverMemory { source_name, line: Some(line), bytes })
            }
            Some(over) => ReadError::BadRecord(Skipped {
                source: source_name,
                line: Some(line),
                id: None,
                reason: over.reason(),
            }),
        }
    }

    /// Reads up to the end of the line.
    fn leave_line(&mut self, source_name: &str) -> Result<(), ReadError> {
        self.in_long_line = false;
        let mut buffer = vec![0; self.block_bytes.min(self.limit).max(1)];
        loop {
            let (got, failed) = fill(&mut self.stream, &mut buffer);
            self.ended = got < buffer.len();
            if let Some(error) = failed {
                self.ended = true;
                return Err(ReadError::Io { source_name: source_name.to_owned(), error });
            }
            if let Some(at) = memchr::memchr(b'\n', &buffer[..got]) {
                self.carry.extend_from_slice(&buffer[at + 1..got]);
                self.offset += at as u64 + 1;
                self.line += 1;
                return Ok(());
            }
            self.offset += got as u64;
            if self.ended {
                return Ok(());
            }
        }
    }

    /// A number for a block without records, and the line that it is about, unless the first.
    pub(crate) fn take_index(&mut self) -> (u32, Option<u64>) {
        let line = (self.index > 0).then_some(self.line);
        self.index += 1;
        (self.index - 1, line)
    }

    /// Whether nothing more comes.
    pub(crate) fn is_ended(&self) -> bool {
        self.ended && self.carry.is_empty() && self.failed.is_none()
    }

    /// Whether there was nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.ended && self.index == 0
    }

    /// Whether `records`, just given, are the first there are, or there are none at all.
    pub(crate) fn is_at_start(&self, records: Option<&Records>) -> bool {
        records.map_or(self.index == 0, |records| records.index == 0)
    }

    fn piece(&mut self, buffer: Vec<u8>, cut: Cut) -> Option<Records> {
        let piece = Piece {
            buffer,
            length: cut.whole,
            usual: self.block_bytes.saturating_mul(4),
            pool: Arc::clone(&self.pool),
        };
        // A text without characters is a document, like an empty file; an archive without its end
        // says so.
        let text = self.format == Format::Text && self.index == 0;
        let archive = self.format == Format::Tar && cut.unclosed;
        if piece.is_empty() && !text && !archive {
            return None;
        }
        let (index, offset, first_line) = (self.index, self.offset, self.line);
        self.index += 1;
        self.offset += piece.len() as u64;
        self.line += memchr::memchr_iter(b'\n', &piece).count() as u64;
        Some(Records { piece, index, offset, first_line, unclosed: cut.unclosed })
    }
}

/// Reads until `buffer` is full or the stream ends, or fails.
pub(crate) fn fill(stream: &mut impl Read, buffer: &mut [u8]) -> (usize, Option<io::Error>) {
    let mut length = 0;
    while length < buffer.len() {
        match stream.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(got) => length += got,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (length, Some(error)),
        }
    }
    (length, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(text: &str, limit: usize, block_bytes: usize) -> RecordStream {
        let stream = Box::new(io::Cursor::new(text.to_owned()));
        let mut stream =
            RecordStream::new(stream, Format::Lines, block_bytes, None, Arc::new(Pool::default()));
        stream.limit = limit;
        stream
    }

    /// A record up to the limit is read, a longer one is refused, wherever blocks end.
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
                                assert!(records.piece.len() <= 33);
                                read.extend_from_slice(&records.piece);
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

    #[test]
    fn the_pool_keeps_few_buffers_of_the_usual_length() {
        let pool = Arc::new(Pool::default());
        let piece =
            |length| Piece { buffer: vec![0; length], length, usual: 100, pool: Arc::clone(&pool) };
        drop((0..POOLED + 9).map(|_| piece(100)).collect::<Vec<_>>());
        assert_eq!(pool.buffers.lock().unwrap().len(), POOLED);
        pool.take();
        drop(piece(101));
        assert_eq!(pool.buffers.lock().unwrap().len(), POOLED - 1);
    }
}
