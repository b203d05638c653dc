//! One text file → one document.

use super::MAX_DOCUMENT_BYTES;
use super::compress::Compression;
use super::encoding;
use super::error::SkipReason;
use super::stamp::Stamp;
use encoding_rs::Encoding;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

/// Bytes looked at before the rest of a file is read: most binary files show here.
const FIRST_BYTES: u64 = 64 << 10;

/// A file that is one document.
#[derive(Debug)]
pub(super) struct TextFile {
    pub(super) path: PathBuf,
    /// The id of the document.
    pub(super) id: String,
    /// What it looked like when it was listed.
    pub(super) stamp: Stamp,
    /// Named by the user, not found in a folder: it is an error if it cannot be read.
    pub(super) named: bool,
}

/// The text of a file, and the length of the file in bytes as they are on the disk. `bytes` is a
/// buffer for them.
pub(super) fn read<'a>(
    file: &TextFile,
    forced: Option<&'static Encoding>,
    bytes: &'a mut Vec<u8>,
) -> Result<(Cow<'a, str>, u64), SkipReason> {
    let unreadable = |error: io::Error| SkipReason::Unreadable { message: error.to_string() };
    let name = file.path.file_name().unwrap_or_default().to_string_lossy();
    let (compression, _) = Compression::of_name(&name);
    let opened = File::open(&file.path).map_err(unreadable)?;
    let size = opened.metadata().map_err(unreadable)?.len();
    bytes.clear();
    if compression == Compression::None {
        bytes
            .try_reserve(size.min(MAX_DOCUMENT_BYTES as u64) as usize + 1)
            .map_err(|error| SkipReason::Unreadable { message: error.to_string() })?;
        fill(opened, forced, bytes)?;
    } else {
        fill(compression.decode(opened).map_err(unreadable)?, forced, bytes)?;
    }
    let length = if compression == Compression::None { bytes.len() as u64 } else { size };
    Ok((encoding::decode(bytes, forced)?, length))
}

fn fill(
    mut stream: impl Read,
    forced: Option<&'static Encoding>,
    bytes: &mut Vec<u8>,
) -> Result<(), SkipReason> {
    let unreadable = |error: io::Error| SkipReason::Unreadable { message: error.to_string() };
    stream.by_ref().take(FIRST_BYTES).read_to_end(bytes).map_err(unreadable)?;
    if encoding::is_binary(bytes, forced) {
        return Err(SkipReason::Binary);
    }
    let rest = (MAX_DOCUMENT_BYTES + 1 - bytes.len()) as u64;
    stream.take(rest).read_to_end(bytes).map_err(unreadable)?;
    if bytes.len() > MAX_DOCUMENT_BYTES {
        return Err(SkipReason::TooLong);
    }
    Ok(())
}
