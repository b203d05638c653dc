//! The entries of a ZIP archive.
//!
//! Used instead of the crate `zip`, which keeps only one of several files with the same name and
//! needs the central directory (tests `archives.rs`, `hostile.rs`). `contributing/libraries.md`
//! compares the parts of both.
//!
//! Entries come from the central directory. If it is missing, as in a truncated archive, the local
//! headers are followed from the beginning. If entries share bytes, only the first is accepted:
//! overlaps occur only in ZIP bombs.

use super::entry_kind::EntryKind;
use super::names::{clean, cp437};
use crate::date;
use crate::reading::{ExtractError, ExtractOptions, LimitKind, LimitTracker, Limits};
use flate2::Crc;
use memchr::memmem;
use std::io::{BufReader, Error, Read, Seek, SeekFrom};

/// Compression methods.
pub(crate) const STORED: u16 = 0;
const DEFLATED: u16 = 8;
#[cfg(feature = "archive")]
pub(crate) const BZIP2: u16 = 12;
#[cfg(feature = "archive")]
pub(crate) const LZMA: u16 = 14;

const LOCAL: &[u8; 4] = b"PK\x03\x04";
const CENTRAL: &[u8; 4] = b"PK\x01\x02";
const END: &[u8; 4] = b"PK\x05\x06";
const END_64: &[u8; 4] = b"PK\x06\x06";
const LOCATOR_64: &[u8; 4] = b"PK\x06\x07";
const DESCRIPTOR: &[u8; 4] = b"PK\x07\x08";
/// Maximum bytes of the end record and its comment.
const END_BYTES: u64 = 22 + 0xFFFF;
/// Placeholder for a number that the Zip64 field stores with 64 bits.
const LONG: u32 = 0xFFFF_FFFF;
/// Bytes per read in the search for a missing length.
const SCAN_BYTES: usize = 64 << 10;
/// Entries between two time checks.
const CLOCK_ENTRIES: usize = 1 << 10;

/// A file in a ZIP archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZipEntry {
    /// Relative path separated by `/`; `..` is kept, and names may repeat.
    pub name: String,
    /// The type.
    pub kind: EntryKind,
    /// Compression method: 0 stored, 8 deflate, 12 bzip2, 14 LZMA; others are not supported.
    pub method: u16,
    /// Offset of the local header in the archive.
    pub header_offset: u64,
    /// Offset of the content in the archive.
    pub data_offset: u64,
    /// Bytes of the content in the archive.
    pub compressed_size: u64,
    /// Declared bytes of the decompressed content.
    pub size: u64,
    /// Declared CRC-32 of the decompressed content.
    pub crc32: u32,
    /// Whether a password is required.
    pub encrypted: bool,
    /// Modification time in nanoseconds since 1970. A time without a zone is taken as UTC.
    pub modified: Option<i64>,
    /// The reason why the content cannot be read; `None` for folders and for entries that
    /// [`inflate`](Self::inflate) accepts.
    pub failure: Option<ExtractError>,
}

impl ZipEntry {
    /// The compressed bytes, from an archive in memory.
    pub(crate) fn slice<'b>(&self, archive: &'b [u8]) -> Result<&'b [u8], ExtractError> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let end = self.data_offset.checked_add(self.compressed_size);
        let slice = end.and_then(|end| archive.get(self.data_offset as usize..end as usize));
        slice.ok_or_else(|| ExtractError::damaged("it continues beyond the end of the archive"))
    }
}

/// The entries of a ZIP archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZipEntries {
    /// In the order of the central directory, folders and links included.
    pub entries: Vec<ZipEntry>,
    /// The reason why entries may be missing.
    pub cut: Option<ExtractError>,
}

/// Lists the entries of a ZIP archive. Reads the central directory and each local header, or the
/// whole archive if the directory is missing. Memory grows with the entries. The limit on members
/// is added once more for every 16 MiB of the archive.
///
/// # Errors
/// Fails if no entry can be found, or if the archive is one of several volumes.
/// [`ExtractError::Limit`] or [`ExtractError::TooSlow`] if a limit is exceeded.
pub fn zip_entries<R: Read + Seek>(
    mut reader: R,
    limits: &Limits,
) -> Result<ZipEntries, ExtractError> {
    let size = reader.seek(SeekFrom::End(0)).map_err(|e| unreadable(&e))?;
    let archive_limits = Limits { members: limits.members_of(size), ..*limits };
    let options = ExtractOptions { limits: archive_limits, ..ExtractOptions::default() };
    list(reader, &LimitTracker::new(&options)).map_err(|failure| match failure {
        // Names the value of the option, not the limit of this archive.
        ExtractError::Limit { .. } => ExtractError::limited(LimitKind::Members, limits.members),
        other => other,
    })
}

/// As [`zip_entries`], with the limits of the file that holds the archive.
pub(crate) fn list<R: Read + Seek>(
    mut reader: R,
    tracker: &LimitTracker<'_>,
) -> Result<ZipEntries, ExtractError> {
    let size = reader.seek(SeekFrom::End(0)).map_err(|e| unreadable(&e))?;
    let mut archive = ZipReader { reader, size, tracker };
    let mut listed = match archive.directory()? {
        Some(directory) => archive.by_directory(&directory)?,
        None => archive.by_headers()?,
    };
    refuse_overlaps(&mut listed.entries);
    Ok(listed)
}

/// Checks the member and time limits after an entry was listed.
fn check_listed(entries: usize, tracker: &LimitTracker<'_>) -> Result<(), ExtractError> {
    let limit = tracker.options.limits.members;
    if entries as u64 > u64::from(limit) {
        return Err(ExtractError::limited(LimitKind::Members, limit));
    }
    if entries.is_multiple_of(CLOCK_ENTRIES) { tracker.check_time() } else { Ok(()) }
}

fn unreadable(error: &Error) -> ExtractError {
    ExtractError::damaged(format!("it cannot be read: {error}"))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u16::from_le_bytes(*bytes))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*bytes))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u64::from_le_bytes(*bytes))
}

/// Position of the central directory.
struct CentralDirectory {
    start: u64,
    len: u64,
    /// Bytes before the archive, such as the program of a self-extracting archive.
    shift: u64,
}

/// The fields common to local and central headers.
struct EntryHeader {
    flags: u16,
    method: u16,
    /// Time and date in DOS format.
    dos: (u16, u16),
    crc32: u32,
    compressed_size: u64,
    size: u64,
    offset: u64,
    /// Host system and external attributes.
    attributes: Option<(u8, u32)>,
}

impl EntryHeader {
    /// Parses the fields that both headers share, starting with the flags.
    fn shared(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            flags: u16_at(bytes, 0)?,
            method: u16_at(bytes, 2)?,
            dos: (u16_at(bytes, 4)?, u16_at(bytes, 6)?),
            crc32: u32_at(bytes, 8)?,
            compressed_size: u64::from(u32_at(bytes, 12)?),
            size: u64::from(u32_at(bytes, 16)?),
            offset: 0,
            attributes: None,
        })
    }

    fn entry(mut self, name: &[u8], extra: &[u8]) -> ZipEntry {
        let mut modified = dos_time(self.dos);
        let mut renamed = None;
        let mut name_crc = None;
        for (id, field) in fields(extra) {
            match id {
                0x0001 => self.widen(field),
                0x5455 if field.first().is_some_and(|flags| flags & 1 == 1) => {
                    let seconds = u32_at(field, 1).map(|s| i64::from(s.cast_signed()));
                    modified = seconds.map(|s| s * 1_000_000_000).or(modified);
                }
                0x000A => modified = ntfs_time(field).or(modified),
                0x7075 => renamed = unicode_name(name, &mut name_crc, field).or(renamed),
                _ => {}
            }
        }
        let utf8 = std::str::from_utf8(name).map(str::to_owned);
        let host = self.attributes.map_or(0, |(host, _)| host);
        let name = renamed.or(utf8.ok()).unwrap_or_else(|| match self.flags & 0x800 {
            0 => cp437(name),
            _ => String::from_utf8_lossy(name).into_owned(),
        });
        // 0, 10, 11: DOS and Windows, where some programs write backslashes.
        let name = clean(&name, matches!(host, 0 | 10 | 11));
        let kind = self.kind(&name);
        // Bit 13: encrypted central directory; 99: AES.
        let encrypted = self.flags & 0x2001 != 0 || self.method == 99;
        ZipEntry {
            failure: failure(kind, encrypted, self.method),
            name,
            kind,
            method: self.method,
            header_offset: self.offset,
            data_offset: self.offset,
            compressed_size: self.compressed_size,
            size: self.size,
            crc32: self.crc32,
            encrypted,
            modified,
        }
    }

    /// Replaces numbers equal to [`LONG`] by the numbers of the Zip64 field.
    fn widen(&mut self, field: &[u8]) {
        let mut at = 0;
        for number in [&mut self.size, &mut self.compressed_size, &mut self.offset] {
            if *number == u64::from(LONG)
                && let Some(long) = u64_at(field, at)
            {
                *number = long;
                at += 8;
            }
        }
    }

    fn kind(&self, name: &str) -> EntryKind {
        // 3, 19: Unix and macOS, with the file mode in the upper half.
        let mode = match self.attributes {
            Some((3 | 19, attributes)) => attributes >> 16 & 0o170_000,
            _ => 0,
        };
        match mode {
            0o120_000 => EntryKind::Link,
            0o040_000 => EntryKind::Folder,
            0o020_000 | 0o060_000 | 0o010_000 | 0o140_000 => EntryKind::Device,
            _ if name.ends_with('/') && self.size == 0 => EntryKind::Folder,
            _ => EntryKind::File,
        }
    }
}

fn failure(kind: EntryKind, encrypted: bool, method: u16) -> Option<ExtractError> {
    kind.failure().or_else(|| match method {
        _ if kind == EntryKind::Folder => None,
        _ if encrypted => Some(ExtractError::Encrypted),
        STORED | DEFLATED => None,
        #[cfg(feature = "archive")]
        BZIP2 | LZMA => None,
        method => {
            let name = match method {
                1 => "Shrink",
                2..=5 => "Reduce",
                6 => "Implode",
                9 => "Deflate64",
                12 => "bzip2",
                14 => "LZMA",
                93 => "Zstandard",
                95 => "xz",
                98 => "PPMd",
                _ => "an unknown method",
            };
            let kind = format!("a file compressed with {name} (method {method})");
            Some(ExtractError::Unsupported { kind })
        }
    })
}

/// The ids and contents of extra fields.
fn fields(mut extra: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let id = u16_at(extra, 0)?;
        let len = usize::from(u16_at(extra, 2)?);
        let field = extra.get(4..4 + len)?;
        extra = &extra[4 + len..];
        Some((id, field))
    })
}

/// Nanoseconds since 1970; `None` for the start of 1980, which represents an unknown time.
fn dos_time((time, date): (u16, u16)) -> Option<i64> {
    if (time, date) == (0, 0x21) {
        return None;
    }
    let time = u32::from(time);
    let date = u32::from(date);
    let day = [1980 + (date >> 9), date >> 5 & 15, date & 31];
    let at = [day[0], day[1], day[2], time >> 11, time >> 5 & 63, (time & 31) * 2];
    date::seconds(at).map(|s| s * 1_000_000_000)
}

/// Nanoseconds since 1970 from the NTFS field, in units of 100 ns since 1601.
fn ntfs_time(field: &[u8]) -> Option<i64> {
    let (_, times) = fields(field.get(4..)?).find(|(id, _)| *id == 1)?;
    let ticks = i64::try_from(u64_at(times, 0)?).ok()?;
    ticks.checked_sub(116_444_736_000_000_000)?.checked_mul(100)
}

/// The UTF-8 name, if its CRC matches the name in the header. The CRC is computed once per entry.
fn unicode_name(name: &[u8], name_crc: &mut Option<u32>, field: &[u8]) -> Option<String> {
    let (1, Some(promised)) = (*field.first()?, u32_at(field, 1)) else { return None };
    let crc = *name_crc.get_or_insert_with(|| {
        let mut crc = Crc::new();
        crc.update(name);
        crc.sum()
    });
    (promised == crc).then(|| std::str::from_utf8(&field[5..]).ok().map(str::to_owned))?
}

/// Reads the central directory and the local headers of an archive.
struct ZipReader<'t, R> {
    reader: R,
    /// Bytes of the archive.
    size: u64,
    tracker: &'t LimitTracker<'t>,
}

impl<R: Read + Seek> ZipReader<'_, R> {
    /// Up to `len` bytes at `at`; fewer at the end of the archive.
    fn read_at(&mut self, at: u64, len: u64) -> Result<Vec<u8>, ExtractError> {
        // Full capacity, so that short reads take one system call.
        let mut bytes = Vec::with_capacity(len.min(SCAN_BYTES as u64) as usize);
        self.reader.seek(SeekFrom::Start(at)).map_err(|e| unreadable(&e))?;
        self.reader.by_ref().take(len).read_to_end(&mut bytes).map_err(|e| unreadable(&e))?;
        Ok(bytes)
    }

    /// Finds the central directory; `None` if it is missing or misplaced.
    fn directory(&mut self) -> Result<Option<CentralDirectory>, ExtractError> {
        let size = self.size;
        // 20 and 56: the Zip64 locator and end record.
        let tail_start = size.saturating_sub(END_BYTES + 20 + 56);
        let tail = self.read_at(tail_start, END_BYTES + 20 + 56)?;
        let fits = |at: &usize| {
            u16_at(&tail, at + 20)
                .is_some_and(|comment| at + 22 + usize::from(comment) <= tail.len())
        };
        let Some(at) = memmem::rfind_iter(&tail, END).find(fits) else { return Ok(None) };
        let disk = u16_at(&tail, at + 4).unwrap_or(0);
        if disk != 0 && disk != 0xFFFF {
            return Err(ExtractError::Unsupported {
                kind: "a ZIP archive in several files".to_owned(),
            });
        }
        let mut len = u32_at(&tail, at + 12).map_or(0, u64::from);
        let mut start = u32_at(&tail, at + 16).map_or(0, u64::from);
        let mut end = tail_start + at as u64;
        let locator = at.checked_sub(20).filter(|&at| tail[at..].starts_with(LOCATOR_64));
        if let Some(locator) = locator {
            let named = u64_at(&tail, locator + 8).unwrap_or(0);
            let before = (tail_start + locator as u64).saturating_sub(56);
            for place in [named, before] {
                let record = self.read_at(place.min(size), 56)?;
                if let (true, Some(long_len), Some(long_start)) =
                    (record.starts_with(END_64), u64_at(&record, 40), u64_at(&record, 48))
                {
                    len = long_len;
                    start = long_start;
                    end = place;
                    break;
                }
            }
        }
        if len == 0 && start <= end {
            // An empty directory after files is invalid.
            let empty = self.read_at(0, 4)? != LOCAL;
            return Ok(empty.then_some(CentralDirectory { start: end, len: 0, shift: 0 }));
        }
        let mut begins = |at: u64| self.read_at(at.min(size), 4).map(|b| b == CENTRAL);
        match end.checked_sub(len) {
            Some(actual) if actual >= start && begins(actual)? => {
                let shift = actual - start;
                // If an archive precedes, the directory belongs to a nested archive.
                let inner = shift > 0 && self.read_at(0, 4)? == LOCAL;
                Ok((!inner).then_some(CentralDirectory { start: actual, len, shift }))
            }
            _ if start.checked_add(len).is_some_and(|sum| sum <= end) && begins(start)? => {
                Ok(Some(CentralDirectory { start, len, shift: 0 }))
            }
            _ => Ok(None),
        }
    }

    /// The entries that the central directory lists.
    fn by_directory(&mut self, directory: &CentralDirectory) -> Result<ZipEntries, ExtractError> {
        self.reader.seek(SeekFrom::Start(directory.start)).map_err(|e| unreadable(&e))?;
        let mut names = BufReader::new(self.reader.by_ref().take(directory.len));
        let mut listed = ZipEntries { entries: Vec::new(), cut: None };
        let mut variable = Vec::new();
        loop {
            let mut fixed = [0; 46];
            let Some(()) = names.read_exact(&mut fixed[..4]).ok() else { break };
            if fixed.starts_with(b"PK\x05\x05") {
                break;
            }
            let read = names.read_exact(&mut fixed[4..]);
            let lens = [28, 30, 32].map(|at| u16_at(&fixed, at).map_or(0, usize::from));
            variable.resize(lens.iter().sum(), 0);
            let read = read.and_then(|()| names.read_exact(&mut variable));
            if read.is_err() || !fixed.starts_with(CENTRAL) {
                let count = listed.entries.len();
                listed.cut =
                    Some(ExtractError::damaged(format!("its list of names ends after {count}")));
                break;
            }
            let Some(mut header) = EntryHeader::shared(&fixed[8..]) else { break };
            header.offset = u32_at(&fixed, 42).map_or(0, u64::from);
            header.attributes = u32_at(&fixed, 38).map(|attributes| (fixed[5], attributes));
            let (name, extra) = variable.split_at(lens[0]);
            listed.entries.push(header.entry(name, &extra[..lens[1]]));
            check_listed(listed.entries.len(), self.tracker)?;
        }
        for (place, entry) in listed.entries.iter_mut().enumerate() {
            if place.is_multiple_of(CLOCK_ENTRIES) {
                self.tracker.check_time()?;
            }
            self.locate(entry, directory)?;
        }
        Ok(listed)
    }

    /// Sets the offset of the content from the local header.
    fn locate(
        &mut self,
        entry: &mut ZipEntry,
        directory: &CentralDirectory,
    ) -> Result<(), ExtractError> {
        let damaged = |what: &str| Some(ExtractError::damaged(what));
        entry.header_offset = entry.header_offset.saturating_add(directory.shift);
        entry.data_offset = entry.header_offset;
        if entry.header_offset >= directory.start {
            entry.failure = damaged("no header at the position in the archive's list of names");
            return Ok(());
        }
        let fixed = self.read_at(entry.header_offset, 30)?;
        let (Some(name), Some(extra), true) =
            (u16_at(&fixed, 26), u16_at(&fixed, 28), fixed.starts_with(LOCAL))
        else {
            entry.failure = damaged("no header at the position in the archive's list of names");
            return Ok(());
        };
        entry.data_offset += 30 + u64::from(name) + u64::from(extra);
        let end = entry.data_offset.checked_add(entry.compressed_size);
        if end.is_none_or(|end| end > directory.start) {
            entry.failure = damaged("it continues beyond the end of the archive");
        }
        Ok(())
    }

    /// The entries whose local headers follow each other from the beginning.
    fn by_headers(&mut self) -> Result<ZipEntries, ExtractError> {
        let mut entries = Vec::new();
        let mut at = 0;
        let cut = loop {
            let fixed = self.read_at(at, 30)?;
            let lens = (u16_at(&fixed, 26), u16_at(&fixed, 28));
            let (true, (Some(name_len), Some(extra_len))) = (fixed.starts_with(LOCAL), lens) else {
                if fixed.starts_with(CENTRAL) {
                    break "its list of names is cut off".to_owned();
                }
                let problem = if fixed.is_empty() { "the archive ends" } else { "no header is" };
                break format!("{problem} at byte {at}, and its list of names is missing");
            };
            let name_len = u64::from(name_len);
            let extra_len = u64::from(extra_len);
            let variable = self.read_at(at + 30, name_len + extra_len)?;
            if (variable.len() as u64) < name_len + extra_len {
                break format!("the archive ends in the header at byte {at}");
            }
            let Some(header) = EntryHeader::shared(&fixed[6..]) else { break String::new() };
            let described = header.flags & 8 != 0;
            let (name, extra) = variable.split_at(name_len as usize);
            let mut entry = header.entry(name, extra);
            entry.header_offset = at;
            entry.data_offset = at + 30 + name_len + extra_len;
            let mut descriptor_bytes = 0;
            if described && entry.kind != EntryKind::Folder {
                descriptor_bytes = self.described_sizes(&mut entry)?;
            }
            let end = entry.data_offset.checked_add(entry.compressed_size);
            let end = end.filter(|&end| end <= self.size && (!described || descriptor_bytes > 0));
            if end.is_none() && entry.kind != EntryKind::Folder {
                entry.failure =
                    Some(ExtractError::damaged("it is cut off: the archive ends in it"));
            }
            entries.push(entry);
            check_listed(entries.len(), self.tracker)?;
            match end {
                Some(end) => at = end + descriptor_bytes,
                None => break format!("the archive ends in the file at byte {at}"),
            }
        };
        if entries.is_empty() {
            return Err(ExtractError::damaged(cut));
        }
        Ok(ZipEntries { entries, cut: Some(ExtractError::damaged(cut)) })
    }

    /// Sets sizes and CRC from the data descriptor, which is found by its signature and the
    /// matching length. Returns the descriptor's length, or 0 if it is missing.
    fn described_sizes(&mut self, entry: &mut ZipEntry) -> Result<u64, ExtractError> {
        let mut at = entry.data_offset;
        while at < self.size {
            let chunk = self.read_at(at, SCAN_BYTES as u64)?;
            let is_last = at + chunk.len() as u64 >= self.size;
            for found in memmem::find_iter(&chunk, DESCRIPTOR) {
                let record = &chunk[found..];
                // 26: the Zip64 form, and the two bytes after it.
                if record.len() < 26 && !is_last {
                    continue;
                }
                let len = at + found as u64 - entry.data_offset;
                if let Some((bytes, full, crc)) = described(record, len) {
                    entry.compressed_size = len;
                    entry.size = full;
                    entry.crc32 = crc;
                    return Ok(bytes);
                }
            }
            if is_last || chunk.len() < 26 {
                break;
            }
            // A descriptor may span two chunks.
            at += (chunk.len() - 25) as u64;
        }
        Ok(0)
    }
}

/// Rejects entries that overlap the preceding one.
fn refuse_overlaps(entries: &mut [ZipEntry]) {
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|&i| entries[i].header_offset);
    let mut end = 0;
    for i in order {
        let entry = &mut entries[i];
        if entry.header_offset < end {
            let failure = ExtractError::damaged("it shares its bytes with another file");
            entry.failure.get_or_insert(failure);
        } else if !matches!(entry.failure, Some(ExtractError::Damaged { .. })) {
            end = entry.data_offset.saturating_add(entry.compressed_size);
        }
    }
}

/// Parses the 64-bit or 32-bit form of the data descriptor after `len` compressed bytes. Returns
/// its length, the content size and the CRC. The next record must begin with `PK`.
fn described(record: &[u8], len: u64) -> Option<(u64, u64, u32)> {
    let crc = u32_at(record, 4)?;
    let follows = |at: usize| {
        let rest = record.get(at..).unwrap_or_default();
        b"PK".starts_with(&rest[..rest.len().min(2)])
    };
    let long = || {
        let fits = u64_at(record, 8) == Some(len) && follows(24);
        fits.then(|| u64_at(record, 16).map(|full| (24, full, crc)))?
    };
    let short = || {
        let fits = u32_at(record, 8).map(u64::from) == Some(len) && follows(16);
        fits.then(|| u32_at(record, 12).map(|full| (16, u64::from(full), crc)))?
    };
    long().or_else(short)
}
