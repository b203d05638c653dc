//! A source of records as a stream that is cut into pieces of whole records.

use super::MAX_DOCUMENT_BYTES;
use super::compress::Stream;
use super::error::ReadError;
use super::options::Format;
use super::record::{self, Cut};
use std::io::{self, Read};
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

/// Buffers kept for the next blocks.
const POOLED: usize = 16;

/// Buffers of blocks that are done with. Fresh memory costs as much as reading into it.
#[derive(Default)]
pub(super) struct Pool {
    buffers: Mutex<Vec<Vec<u8>>>,
}

impl Pool {
    pub(super) fn take(&self) -> Vec<u8> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }
}

/// Bytes that go back to the pool when dropped.
pub(super) struct Piece {
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
    pub(super) fn whole(buffer: Vec<u8>, usual: usize, pool: &Arc<Pool>) -> Self {
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
pub(super) struct Records {
    pub(super) piece: Piece,
    pub(super) index: u32,
    /// Bytes of the stream before these.
    pub(super) offset: u64,
    /// The number of the first line.
    pub(super) first_line: u64,
    /// The stream ends inside of quotes, in the last of these records.
    pub(super) unclosed: bool,
}

/// A stream of records, read piece by piece.
pub(super) struct RecordStream {
    stream: Stream,
    format: Format,
    block_bytes: usize,
    /// The longest record.
    limit: usize,
    pool: Arc<Pool>,
    /// The beginning of a record that did not end in the last piece.
    carry: Vec<u8>,
    index: u32,
    offset: u64,
    line: u64,
    ended: bool,
    /// What was cut last goes on, or lacks its end.
    unclosed: bool,
}

impl RecordStream {
    pub(super) fn new(stream: Stream, format: Format, block_bytes: usize, pool: Arc<Pool>) -> Self {
        Self {
            stream,
            format,
            block_bytes,
            limit: MAX_DOCUMENT_BYTES,
            pool,
            carry: Vec::new(),
            index: 0,
            offset: 0,
            line: 1,
            ended: false,
            unclosed: false,
        }
    }

    /// The next piece: about `block_bytes`, more only where a record is longer; `None` at the end.
    pub(super) fn next(&mut self, source_name: &str) -> Result<Option<Records>, ReadError> {
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
            let got = fill(&mut self.stream, &mut buffer[length..goal])
                .map_err(|error| ReadError::Io { source_name: source_name.to_owned(), error })?;
            length += got;
            self.ended = length < goal;
            let mut cut = record::cut(self.format, &buffer[..length]);
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
                let source_name = source_name.to_owned();
                return Err(ReadError::RecordTooLong { source_name, line: self.line });
            }
            goal = (goal * 2).min(most);
            buffer.resize(goal, 0);
        };
        self.carry.clear();
        self.carry.shrink_to(self.block_bytes * 4);
        self.carry.extend_from_slice(&buffer[cut.whole..length]);
        Ok(self.piece(buffer, cut))
    }

    /// Whether `records`, just given, are the first there are, or there are none at all.
    pub(super) fn is_at_start(&self, records: Option<&Records>) -> bool {
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

/// Reads until `buffer` is full or the stream ends.
fn fill(stream: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match stream.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(got) => length += got,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(text: &str, limit: usize, block_bytes: usize) -> RecordStream {
        let stream = Box::new(io::Cursor::new(text.to_owned()));
        let mut stream =
            RecordStream::new(stream, Format::Lines, block_bytes, Arc::new(Pool::default()));
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
