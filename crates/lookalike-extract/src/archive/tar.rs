//! Cuts tar archives (POSIX ustar and pax, GNU, V7) into entries, from the bytes at hand.
//!
//! Headers for all files of an archive (`g`) are skipped: they tell of comments and owners.

use super::EntryKind;
use super::names::clean;
use crate::failure::Failure;

const BLOCK: usize = 512;
/// Most bytes of a name or of other headers before an entry.
const MAX_HEADER_BYTES: usize = 1 << 20;
/// Most headers before an entry.
const MAX_HEADERS: usize = 64;

/// A file in a tar archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TarEntry<'a> {
    /// With `/` between, never absolute; parts `..` are kept, and names may repeat.
    pub name: String,
    /// What it is. [`EntryKind::failure`] says why most kinds have no content.
    pub kind: EntryKind,
    /// When it was changed, in nanoseconds since 1970.
    pub modified: Option<i64>,
    /// What it holds.
    pub content: &'a [u8],
}

/// What the bytes of a tar archive begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TarNext<'a> {
    /// A whole entry.
    Entry {
        /// It.
        entry: TarEntry<'a>,
        /// Bytes up to the next one: its headers, its content, its padding.
        bytes: usize,
    },
    /// The beginning of an entry, or nothing. There being no more bytes means that the archive was
    /// cut off.
    More {
        /// How many bytes from here on there must be at least before it is worth another try.
        /// What was promised, not what is there: hold it against a limit.
        at_least: u64,
    },
    /// The mark of the end. What follows it is none of the archive's.
    End,
}

/// What the headers before an entry say of it.
#[derive(Default)]
struct Told {
    name: Option<Vec<u8>>,
    size: Option<u64>,
    modified: Option<i64>,
    sparse: bool,
}

/// Looks at the bytes of a tar archive from the beginning of an entry on. Costs the headers only,
/// whatever the entry's length.
///
/// # Errors
/// Where no header stands, or one that is damaged: what follows cannot be found, either.
pub fn next_entry(bytes: &[u8]) -> Result<TarNext<'_>, Failure> {
    let mut told = Told::default();
    let mut at = 0usize;
    for _ in 0..=MAX_HEADERS {
        let more = |end: u64| Ok(TarNext::More { at_least: end });
        let Some(header) = bytes.get(at..at + BLOCK) else { return more((at + BLOCK) as u64) };
        if header.iter().all(|&b| b == 0) {
            return Ok(TarNext::End);
        }
        check(header)?;
        let kind = header[156];
        let is_extra = matches!(kind, b'L' | b'K' | b'x' | b'X' | b'g');
        let mut size = unsigned(&header[124..136])?;
        if !is_extra {
            size = told.size.unwrap_or(size);
        }
        // A link names what it stands for; its size is that of the other.
        if kind == b'1' {
            size = 0;
        }
        let mut start = at + BLOCK;
        if kind == b'S' {
            match behind_map(bytes, at) {
                Ok(behind) => start = behind,
                Err(needed) => return more(needed as u64),
            }
        }
        let padded = size.checked_next_multiple_of(BLOCK as u64);
        let end = padded.and_then(|padded| padded.checked_add(start as u64));
        let end = end.ok_or_else(|| Failure::damaged(format!("an entry of {size} bytes")))?;
        if is_extra && size > MAX_HEADER_BYTES as u64 {
            return Err(Failure::damaged(format!("{size} bytes of headers before an entry")));
        }
        if (bytes.len() as u64) < end {
            return more(end);
        }
        let body = &bytes[start..start + size as usize];
        at = end as usize;
        match kind {
            b'L' => told.name = Some(until_nul(body).to_vec()),
            b'x' | b'X' => told.pax(body)?,
            b'K' | b'g' => {}
            _ => return Ok(TarNext::Entry { entry: told.entry(header, body), bytes: at }),
        }
    }
    Err(Failure::damaged(format!("more than {MAX_HEADERS} headers before an entry")))
}

/// Where the content of a GNU sparse file begins: behind its map, whose blocks say whether there
/// is another. As an error, how many bytes are needed to tell.
fn behind_map(bytes: &[u8], header: usize) -> Result<usize, usize> {
    let mut start = header + BLOCK;
    let mut goes_on = bytes[header + 482];
    while goes_on != 0 {
        let block = bytes.get(start..start + BLOCK).ok_or(start + BLOCK)?;
        goes_on = block[504];
        start += BLOCK;
    }
    Ok(start)
}

impl Told {
    /// Takes the records of a pax header: `length key=value`, each with a line feed.
    fn pax(&mut self, mut records: &[u8]) -> Result<(), Failure> {
        while !records.is_empty() {
            let (key, value, len) =
                record(records).ok_or_else(|| Failure::damaged("a pax header of another form"))?;
            records = &records[len..];
            match key {
                b"path" if !self.sparse => self.name = Some(value.to_vec()),
                b"size" => {
                    let size = text(value).and_then(|v| v.parse().ok());
                    let what = || Failure::damaged("a pax header with a size that is no number");
                    self.size = Some(size.ok_or_else(what)?);
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

    fn entry<'a>(self, header: &[u8], content: &'a [u8]) -> TarEntry<'a> {
        let name = self.name.unwrap_or_else(|| {
            let name = until_nul(&header[..100]);
            let prefix = until_nul(&header[345..500]);
            // GNU has other things where POSIX has the first part of the name.
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

/// Nanoseconds of seconds with decimals.
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

/// A number of a header: octal digits, or binary where the first bit is set.
fn number(field: &[u8]) -> Result<i64, Failure> {
    if field[0] & 0x80 != 0 {
        let first = if field[0] & 0x40 != 0 { -1i64 } else { i64::from(field[0] & 0x3F) };
        let number = field[1..].iter().try_fold(first, |sum, &byte| {
            sum.checked_mul(256).and_then(|sum| sum.checked_add(i64::from(byte)))
        });
        return number.ok_or_else(|| Failure::damaged("a number of more than 63 bits"));
    }
    let digits = text(until_nul(field)).map_or("?", str::trim);
    match digits {
        "" => Ok(0),
        digits => i64::from_str_radix(digits, 8)
            .map_err(|_| Failure::damaged(format!("{digits:?} for an octal number"))),
    }
}

fn unsigned(field: &[u8]) -> Result<u64, Failure> {
    u64::try_from(number(field)?).map_err(|_| Failure::damaged("an entry of negative size"))
}

/// Compares the sum of a header with the one in it, in which that field counts as blanks. Some
/// programs summed signed bytes.
fn check(header: &[u8]) -> Result<(), Failure> {
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
    Err(Failure::damaged(format!("a header whose sum is {unsigned}, not {promised}")))
}
