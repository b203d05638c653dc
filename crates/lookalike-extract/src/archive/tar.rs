//! Splits tar archives (POSIX ustar and pax, GNU, V7) into entries.
//!
//! Used instead of the crate `tar`, which reads from a stream and cannot split a buffer that holds
//! a prefix of an archive (`contributing/libraries.md`).
//!
//! Global headers (`g`) are skipped: they contain comments and owners.

use super::entry_kind::EntryKind;
use super::names::clean;
use crate::reading::ExtractError;

/// Bytes per block. An archive consists of blocks.
pub(super) const BLOCK: usize = 512;
/// Maximum bytes of one header before an entry.
const MAX_HEADER_BYTES: usize = 1 << 20;
/// Maximum headers before an entry.
const MAX_HEADERS: usize = 64;

/// A file in a tar archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TarEntry<'a> {
    /// Relative path separated by `/`; `..` is kept, and names may repeat.
    pub name: String,
    /// The type. [`EntryKind::failure`] explains why entries of most types have no content.
    pub kind: EntryKind,
    /// Modification time in nanoseconds since 1970.
    pub modified: Option<i64>,
    /// The content.
    pub content: &'a [u8],
}

/// The next item of a tar archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TarNext<'a> {
    /// A whole entry.
    Entry {
        /// The entry.
        entry: TarEntry<'a>,
        /// Length in bytes: headers, content and padding.
        bytes: usize,
    },
    /// An incomplete entry. At the end of the input, the archive is truncated.
    More {
        /// Minimum bytes before a retry. The archive declares this number, so compare it with a
        /// limit.
        at_least: u64,
    },
    /// A block of zeros. Two blocks are the end mark; another archive may follow. See
    /// [`zero_blocks`].
    End,
}

/// Values of the headers before an entry.
#[derive(Default)]
struct ExtendedHeaders {
    name: Option<Vec<u8>>,
    size: Option<u64>,
    modified: Option<i64>,
    sparse: bool,
    /// Whether at least one header belongs to a file, unlike global headers.
    is_of_file: bool,
}

/// Parses the next entry. Cost depends on the headers only, not on the length of the entry.
///
/// # Errors
/// The header is missing or damaged, so that following entries cannot be found either.
pub fn next_entry(bytes: &[u8]) -> Result<TarNext<'_>, ExtractError> {
    let mut headers = ExtendedHeaders::default();
    let mut at = 0usize;
    for _ in 0..=MAX_HEADERS {
        let more = |end: u64| Ok(TarNext::More { at_least: end });
        let Some(header) = bytes.get(at..at + BLOCK) else { return more((at + BLOCK) as u64) };
        if header.iter().all(|&b| b == 0) {
            let entry = TarNext::Entry { entry: headers.entry_without_file(), bytes: at };
            return Ok(if at == 0 { TarNext::End } else { entry });
        }
        check(header)?;
        let kind = header[156];
        let is_extra = matches!(kind, b'L' | b'K' | b'x' | b'X' | b'g');
        let mut size = unsigned(&header[124..136])?;
        if !is_extra {
            size = headers.size.unwrap_or(size);
        }
        // A hard link states the size of its target.
        if kind == b'1' {
            size = 0;
        }
        let mut start = at + BLOCK;
        if kind == b'S' {
            match sparse_content_start(bytes, at) {
                Ok(content_start) => start = content_start,
                Err(needed) => return more(needed as u64),
            }
        }
        let padded = size.checked_next_multiple_of(BLOCK as u64);
        let end = padded.and_then(|padded| padded.checked_add(start as u64));
        let end = end.ok_or_else(|| ExtractError::damaged(format!("an entry of {size} bytes")))?;
        if is_extra && size > MAX_HEADER_BYTES as u64 {
            return Err(ExtractError::damaged(format!("{size} bytes of headers before an entry")));
        }
        if (bytes.len() as u64) < end {
            return more(end);
        }
        let body = &bytes[start..start + size as usize];
        at = end as usize;
        headers.is_of_file |= kind != b'g';
        match kind {
            b'L' => headers.name = Some(until_nul(body).to_vec()),
            b'x' | b'X' => headers.pax(body)?,
            b'K' | b'g' => {}
            _ => return Ok(TarNext::Entry { entry: headers.entry(header, body), bytes: at }),
        }
    }
    Err(ExtractError::damaged(format!("more than {MAX_HEADERS} headers before an entry")))
}

/// Counts the bytes of the whole blocks of zeros at the start. A single block is not an end mark
/// but an overwritten header.
pub fn zero_blocks(bytes: &[u8]) -> usize {
    let zeros = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
    zeros - zeros % BLOCK
}

/// The error for a single block of zeros between entries.
pub fn lone_zeros() -> ExtractError {
    ExtractError::damaged("a block of zeros where an entry must begin: a file may be missing")
}

/// Start of the content of a GNU sparse file, which follows the map. A flag in each block of the
/// map announces another block. The error is the number of bytes needed.
fn sparse_content_start(bytes: &[u8], header: usize) -> Result<usize, usize> {
    let mut start = header + BLOCK;
    let mut flag = bytes[header + 482];
    while flag != 0 {
        let block = bytes.get(start..start + BLOCK).ok_or(start + BLOCK)?;
        flag = block[504];
        start += BLOCK;
    }
    Ok(start)
}

impl ExtendedHeaders {
    /// Reads the records of a pax header: `length key=value`, each ending in a line feed.
    fn pax(&mut self, mut records: &[u8]) -> Result<(), ExtractError> {
        while !records.is_empty() {
            let (key, value, len) = record(records)
                .ok_or_else(|| ExtractError::damaged("a pax header of another form"))?;
            records = &records[len..];
            match key {
                b"path" if !self.sparse => self.name = Some(value.to_vec()),
                b"size" => {
                    let size = text(value).and_then(|v| v.parse().ok());
                    let invalid_size =
                        || ExtractError::damaged("a pax header whose size is not a number");
                    self.size = Some(size.ok_or_else(invalid_size)?);
                }
                b"mtime" => self.modified = text(value).and_then(decimal),
                b"GNU.sparse.name" => {
                    self.name = Some(value.to_vec());
                    self.sparse = true;
                }
                key if key.starts_with(b"GNU.sparse.") => self.sparse = true,
                _ => {}
            }
        }
        Ok(())
    }

    /// The entry for headers without a file: a global header, as in an empty archive, or the
    /// headers of a missing file.
    fn entry_without_file(&self) -> TarEntry<'static> {
        let name = String::from_utf8_lossy(self.name.as_deref().unwrap_or_default());
        TarEntry {
            name: clean(&name, false),
            kind: if self.is_of_file { EntryKind::Other } else { EntryKind::Folder },
            modified: None,
            content: &[],
        }
    }

    fn entry<'a>(self, header: &[u8], content: &'a [u8]) -> TarEntry<'a> {
        let name = self.name.unwrap_or_else(|| {
            let name = until_nul(&header[..100]);
            let prefix = until_nul(&header[345..500]);
            // In the GNU format, the field of the POSIX prefix has another meaning.
            if &header[257..263] == b"ustar\0" && !prefix.is_empty() {
                [prefix, b"/", name].concat()
            } else {
                name.to_vec()
            }
        });
        let kind = match header[156] {
            _ if self.sparse => EntryKind::Sparse,
            b'0' | 0 if name.ends_with(b"/") => EntryKind::Folder,
            b'0' | b'7' | 0 => EntryKind::File,
            // `V` names the archive, `D` lists a folder.
            b'5' | b'D' | b'V' => EntryKind::Folder,
            b'1' | b'2' => EntryKind::Link,
            b'3' | b'4' | b'6' => EntryKind::Device,
            b'S' => EntryKind::Sparse,
            _ => EntryKind::Other,
        };
        let seconds = number(&header[136..148]).ok();
        let modified = self.modified.or_else(|| seconds?.checked_mul(1_000_000_000));
        TarEntry { name: clean(&String::from_utf8_lossy(&name), false), kind, modified, content }
    }
}

/// Key, value and length of the first record of a pax header.
fn record(records: &[u8]) -> Option<(&[u8], &[u8], usize)> {
    let blank = records.iter().take(20).position(|&b| b == b' ')?;
    let len: usize = text(&records[..blank])?.parse().ok()?;
    let body = records.get(blank + 1..len)?.strip_suffix(b"\n")?;
    let equals = body.iter().position(|&b| b == b'=')?;
    Some((&body[..equals], &body[equals + 1..], len))
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// Converts decimal seconds to nanoseconds.
fn decimal(seconds: &str) -> Option<i64> {
    let (whole, rest) = seconds.split_once('.').unwrap_or((seconds, ""));
    let digits: String = rest.chars().chain("000000000".chars()).take(9).collect();
    let nanos: i64 = digits.parse().ok()?;
    let negative = whole.starts_with('-');
    let whole = whole.parse::<i64>().ok()?.checked_mul(1_000_000_000)?;
    whole.checked_add(if negative { -nanos } else { nanos })
}

fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|&b| b == 0).next().unwrap_or_default()
}

/// Parses a number in a header: octal digits, or binary if the first bit is set.
fn number(field: &[u8]) -> Result<i64, ExtractError> {
    if field[0] & 0x80 != 0 {
        let first = if field[0] & 0x40 != 0 { -1i64 } else { i64::from(field[0] & 0x3F) };
        let number = field[1..].iter().try_fold(first, |sum, &byte| {
            sum.checked_mul(256).and_then(|sum| sum.checked_add(i64::from(byte)))
        });
        return number.ok_or_else(|| ExtractError::damaged("a number of more than 63 bits"));
    }
    let digits = text(until_nul(field)).map_or("?", str::trim);
    match digits {
        "" => Ok(0),
        digits => i64::from_str_radix(digits, 8)
            .map_err(|_| ExtractError::damaged(format!("{digits:?} for an octal number"))),
    }
}

fn unsigned(field: &[u8]) -> Result<u64, ExtractError> {
    u64::try_from(number(field)?).map_err(|_| ExtractError::damaged("an entry of negative size"))
}

/// Verifies the checksum of a header. The checksum field itself counts as blanks. Some programs sum
/// signed bytes.
fn check(header: &[u8]) -> Result<(), ExtractError> {
    let bytes = || {
        let field = 148..156;
        header.iter().enumerate().map(move |(i, &b)| if field.contains(&i) { b' ' } else { b })
    };
    let unsigned: i64 = bytes().map(i64::from).sum();
    let signed: i64 = bytes().map(|b| i64::from(b.cast_signed())).sum();
    let promised = number(&header[148..156])?;
    if promised == unsigned || promised == signed {
        return Ok(());
    }
    Err(ExtractError::damaged(format!("a header whose sum is {unsigned}, not {promised}")))
}
