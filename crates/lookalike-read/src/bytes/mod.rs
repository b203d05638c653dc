//! Bytes of inputs on their way to the formats: decompressed, transcoded, pooled, spooled.

pub(crate) mod buffer_pool;
pub(crate) mod decompress;
pub(crate) mod encoding;
pub(crate) mod positioned_io;
pub(crate) mod spool;
