//! Opens files that may be compressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Bytes read at a time.
const BUFFER_BYTES: usize = 1 << 18;

/// Opens a file for reading, and decompresses it if it is compressed with gzip or zstd.
pub(crate) fn open_decompressed(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let mut file = BufReader::with_capacity(BUFFER_BYTES, File::open(path)?);
    let start = file.fill_buf()?;
    let decoded: Box<dyn Read> = if start.starts_with(&[0x1F, 0x8B]) {
        Box::new(flate2::bufread::MultiGzDecoder::new(file))
    } else if start.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]) {
        Box::new(zstd::stream::read::Decoder::with_buffer(file)?)
    } else {
        return Ok(Box::new(file));
    };
    Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, decoded)))
}
