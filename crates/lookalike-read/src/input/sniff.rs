//! Detects the format of a file or a stream by its first bytes.

use crate::bytes::decompress::fill;
use crate::bytes::{ByteStream, Compression, without_mark};
use crate::options::{Format, SourceSettings};
use lookalike_extract::FileKind;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

/// Number of bytes that must contain the first byte other than a blank.
const SNIFFED_BYTES: u64 = 64 << 10;

/// The compression of a file, and its first decompressed bytes. `named` is the compression that the
/// file's name shows. It applies unless the file begins like another compression, or like plain
/// records.
///
/// # Errors
/// If the file cannot be opened or read.
pub(crate) fn sniff(
    path: &Path,
    named: Compression,
    settings: &SourceSettings,
) -> io::Result<(Compression, Vec<u8>)> {
    let mut file = File::open(path)?;
    let mut magic = Vec::new();
    file.by_ref().take(4).read_to_end(&mut magic)?;
    file.rewind()?;
    let mut compression = Compression::of_magic(&magic);
    if compression == Compression::None && named != Compression::None {
        let head = first_bytes(Ok(Box::new(file)))?;
        if is_parquet(&head) || is_jsonl(&head) || is_json_array(&head) {
            return Ok((Compression::None, head));
        }
        compression = named;
        file = File::open(path)?;
    }
    let head = first_bytes(settings.decode(compression, file))?;
    Ok((compression, head))
}

/// The format of a file that begins with `head` and whose name shows the format `by_name`. The name
/// decides only if the bytes are ambiguous.
pub(crate) fn format_of(name: &str, by_name: Option<Format>, head: &[u8]) -> Format {
    // A header line may begin like Parquet, but contains no NUL byte.
    let is_named = matches!(by_name, None | Some(Format::Parquet));
    if is_parquet(head) && (is_named || memchr::memchr(0, head).is_some()) {
        return Format::Parquet;
    }
    match by_name {
        Some(Format::Jsonl | Format::Csv | Format::Tsv | Format::Parquet)
            if is_other_kind(name, head) =>
        {
            of_kind(name, head).unwrap_or(Format::File)
        }
        Some(Format::Jsonl) if is_json_array(head) => Format::Json,
        None | Some(Format::Parquet) if is_jsonl(head) => Format::Jsonl,
        Some(format) => format,
        None if is_json_array(head) => Format::Json,
        None => of_kind(name, head).unwrap_or(Format::File),
    }
}

/// Returns true if a file that is named like a file of records begins like a file of another kind.
fn is_other_kind(name: &str, head: &[u8]) -> bool {
    match FileKind::of(name, head) {
        FileKind::Text | FileKind::Html | FileKind::Mail | FileKind::Mbox | FileKind::Binary => {
            false
        }
        // The name of a column may begin with the same few letters.
        FileKind::Other(_) | FileKind::Rtf => memchr::memchr(0, head).is_some(),
        _ => true,
    }
}

/// Returns the first bytes of a stream, as far as they can be decompressed. Errors in compressed
/// data are reported when the file is read.
///
/// # Errors
/// The operating system cannot open or read the file.
pub(crate) fn first_bytes(stream: io::Result<ByteStream>) -> io::Result<Vec<u8>> {
    let mut head = vec![0; SNIFFED_BYTES as usize];
    let (length, failed) = match stream {
        Ok(mut stream) => fill(&mut stream, &mut head),
        Err(error) => (0, Some(error)),
    };
    if let Some(error) = failed.filter(|error| error.raw_os_error().is_some()) {
        return Err(error);
    }
    head.truncate(length);
    Ok(head)
}

/// The format of a stream of files that begins with `head`.
pub(crate) fn of_kind(name: &str, head: &[u8]) -> Option<Format> {
    match FileKind::of(name, head) {
        FileKind::Mbox => Some(Format::Mbox),
        FileKind::Warc => Some(Format::Warc),
        FileKind::Tar => Some(Format::Tar),
        _ => None,
    }
}

/// Returns true if a file begins like Parquet, plain or encrypted.
pub(crate) fn is_parquet(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PAR1") || bytes.starts_with(b"PARE")
}

/// Returns true if bytes begin an object in one line: optional blanks, `{`, and a key or `}`.
pub(crate) fn is_jsonl(bytes: &[u8]) -> bool {
    let Some(inside) = without_mark(bytes).trim_ascii_start().strip_prefix(b"{") else {
        return false;
    };
    matches!(inside.iter().find(|byte| !matches!(byte, b' ' | b'\t')), Some(b'"' | b'}'))
}

/// Returns true if bytes begin an array of objects: `[` and `{`, with blanks or line ends between
/// them.
pub(crate) fn is_json_array(bytes: &[u8]) -> bool {
    let inside = without_mark(bytes).trim_ascii_start().strip_prefix(b"[");
    inside.is_some_and(|inside| inside.trim_ascii_start().starts_with(b"{"))
}

/// Returns true if a second line also begins with an object.
pub(crate) fn has_lines_of_json(bytes: &[u8]) -> bool {
    let mut lines = without_mark(bytes).split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.by_ref().find(|line| !line.is_empty());
    lines.find(|line| !line.is_empty()).is_some_and(is_jsonl)
}
