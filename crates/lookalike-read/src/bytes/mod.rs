//! Bytes of inputs before they are parsed: decompressed, transcoded, pooled, spooled.

pub(crate) mod buffer_pool;
pub(crate) mod decompress;
pub(crate) mod encoding;
pub(crate) mod positioned_io;
pub(crate) mod spool;

pub(crate) use buffer_pool::{BufferPool, PooledBuffer};
pub(crate) use decompress::{ByteStream, Compression, CountingReader, LimitedStream, TimedStream};
pub(crate) use encoding::without_mark;
pub(crate) use positioned_io::read_exact_at;
pub use spool::Spool;
