//! gzip and zstd decompression. Several consecutive gzip members or zstd frames are one stream.

use crate::error::OverLimit;
use lookalike_extract::{LimitUsage, Limits};
use std::io::{self, BufRead, Read, Take};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Base-2 logarithm of the smallest limit on windows. The strongest ordinary levels need it.
const LEAST_WINDOW_LOG: u32 = 23;

/// A decoded stream that any thread may continue to read.
pub(crate) type ByteStream = Box<dyn Read + Send>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Zstd,
}

impl Compression {
    /// The compression that the extension of a file's name shows, and the name without the
    /// extension.
    pub(crate) fn of_name(name: &str) -> (Self, &str) {
        if let Some(stem) = strip(name, ".gz") {
            (Self::Gzip, stem)
        } else if let Some(stem) = strip(name, ".zst") {
            (Self::Zstd, stem)
        } else if strip(name, ".tgz").is_some() {
            // This extension also names the archive inside.
            (Self::Gzip, name)
        } else {
            (Self::None, name)
        }
    }

    /// The compression that the first bytes show, for streams without a name.
    pub(crate) fn of_magic(bytes: &[u8]) -> Self {
        if bytes.starts_with(&[0x1F, 0x8B]) {
            Self::Gzip
        } else if bytes.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]) {
            Self::Zstd
        } else {
            Self::None
        }
    }

    /// Decodes the stream. Reading it fails for truncated or broken data, and for a zstd frame
    /// whose window has more than `window` bytes. A window of 8 MiB is always allowed.
    pub(crate) fn decode(
        self,
        reader: impl Read + Send + 'static,
        window: u64,
    ) -> io::Result<ByteStream> {
        Ok(match self {
            Self::None => Box::new(reader),
            Self::Gzip => Box::new(flate2::read::MultiGzDecoder::new(reader)),
            Self::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::new(reader)?;
                // `zstd --long=31` writes the largest window; the default limit is 27.
                let log = window.max(1).ilog2().clamp(LEAST_WINDOW_LOG, 31);
                decoder.window_log_max(log)?;
                Box::new(ZstdStream { decoder, window: 1 << log })
            }
        })
    }
}

/// A zstd decoder whose error names the exceeded limit.
struct ZstdStream<R: BufRead> {
    decoder: zstd::stream::read::Decoder<'static, R>,
    /// The largest allowed window.
    window: u64,
}

impl<R: BufRead> Read for ZstdStream<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.decoder.read(buffer).map_err(|error| {
            if error.to_string().contains("too much memory") {
                let message = format!(
                    "a zstd window of more than {} bytes, the most that the limits on memory and \
                     on decompressed content allow",
                    self.window
                );
                return io::Error::new(io::ErrorKind::InvalidData, message);
            }
            error
        })
    }
}

/// A compressed stream that fails if decompression exceeds the limit on time. The limit grows with
/// the number of bytes that were read.
pub(crate) struct TimedStream {
    stream: ByteStream,
    /// Number of compressed bytes that were read.
    read: Arc<AtomicU64>,
    used: LimitUsage,
    limits: Limits,
}

impl TimedStream {
    /// Decodes a stream, as [`Compression::decode`] does.
    pub(crate) fn decode(
        compression: Compression,
        reader: impl Read + Send + 'static,
        window: u64,
        limits: Limits,
    ) -> io::Result<ByteStream> {
        let read = Arc::new(AtomicU64::new(0));
        let stream =
            compression.decode(CountingReader { reader, read: Arc::clone(&read) }, window)?;
        Ok(Box::new(Self { stream, read, used: LimitUsage::default(), limits }))
    }
}

impl Read for TimedStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let used = self.used.remaining_at(self.read.load(Ordering::Relaxed), &self.limits);
        if let Some(failure) = used.exhausted(&self.limits) {
            return Err(io::Error::other(failure));
        }
        let started = Instant::now();
        let got = self.stream.read(buffer);
        self.used.time += started.elapsed();
        got
    }
}

/// A reader that counts its bytes.
pub(crate) struct CountingReader<R> {
    pub(crate) reader: R,
    pub(crate) read: Arc<AtomicU64>,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.reader.read(buffer)?;
        self.read.fetch_add(got as u64, Ordering::Relaxed);
        Ok(got)
    }
}

/// A stream that fails if it has more bytes than a limit allows.
pub(crate) struct LimitedStream {
    /// Reads one byte above the limit, to tell a stream of exactly the limit from a longer one.
    stream: Take<ByteStream>,
    over: OverLimit,
}

impl LimitedStream {
    pub(crate) fn new(stream: ByteStream, over: OverLimit) -> Self {
        Self { stream: stream.take(over.limit.saturating_add(1)), over }
    }
}

impl Read for LimitedStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.stream.read(buffer)?;
        if self.stream.limit() > 0 {
            return Ok(got);
        }
        // The byte above the limit was read, by this call or an earlier one.
        match got.saturating_sub(1) {
            0 => Err(self.over.into()),
            within => Ok(within),
        }
    }
}

/// `name` without its suffix `end`, which may be in upper or lower case.
pub(crate) fn strip<'a>(name: &'a str, end: &str) -> Option<&'a str> {
    let at = name.len().checked_sub(end.len())?;
    name.get(at..).filter(|tail| tail.eq_ignore_ascii_case(end)).and_then(|_| name.get(..at))
}

/// Returns the first bytes of a stream, up to `count`, and the stream including these bytes.
pub(crate) fn peek(mut stream: ByteStream, count: u64) -> io::Result<(Vec<u8>, ByteStream)> {
    let mut head = Vec::new();
    stream.by_ref().take(count).read_to_end(&mut head)?;
    let prefix = io::Cursor::new(head.clone());
    Ok((head, Box::new(prefix.chain(stream))))
}

/// Reads until `buffer` is full, or until the stream ends or fails.
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
