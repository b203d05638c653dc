//! A file with documents.

use crate::bytes::{Compression, decompress};
use crate::document::Raw;
use crate::error::{SkipReason, unreadable};
use crate::file::contents::{Contents, fill, kind};
use crate::file::path_name::name_of;
use crate::file::zip_member::{ZipMember, read_member};
use crate::measure::{MAX_DOCUMENT_BYTES, RecordSize, Stamp};
use crate::options::SourceSettings;
use std::borrow::Cow;
use std::fs::File;
use std::path::PathBuf;

/// Number of bytes that are read at a time to measure a file.
const MEASURED_BYTES: usize = 64 << 10;
/// Minimum average length of a word with its separator.
const WORD_BYTES: u64 = 4;

/// A file with documents, usually a single one.
#[derive(Debug)]
pub(crate) struct DocumentFile {
    pub(crate) path: PathBuf,
    /// The id of its document. If it contains several documents, their ids are this id followed by
    /// their names in the file.
    pub(crate) id: String,
    /// Size and modification time when it was listed.
    pub(crate) stamp: Stamp,
    /// Whether the user named the file. If so, it is an error if it cannot be read.
    pub(crate) named: bool,
    /// Its entry in the ZIP archive `path`.
    pub(crate) member: Option<Box<ZipMember>>,
}

impl DocumentFile {
    /// A file that is not in an archive.
    pub(crate) fn new(path: PathBuf, id: String, stamp: Stamp, named: bool) -> Self {
        Self { path, id, stamp, named, member: None }
    }

    /// The number of bytes to read.
    pub(crate) fn bytes(&self) -> u64 {
        if let Some(member) = &self.member {
            return member.entry.compressed_size;
        }
        self.stamp.bytes
    }

    /// The modification time, in ns since 1970.
    pub(crate) fn modified(&self) -> Option<u64> {
        if let Some(time) = self.member.as_ref().and_then(|member| member.entry.modified) {
            return u64::try_from(time).ok();
        }
        self.stamp.modified
    }

    /// Its path. For a member of an archive, the path of the archive followed by the member's name.
    pub(crate) fn display_path(&self) -> String {
        if let Some(member) = &self.member {
            return format!("{}/{}", name_of(&self.path), member.entry.name);
        }
        name_of(&self.path)
    }

    /// Its name without folders.
    fn name(&self) -> Cow<'_, str> {
        if let Some(member) = &self.member {
            return Cow::Borrowed(member.entry.name.rsplit('/').next().unwrap_or_default());
        }
        self.path.file_name().unwrap_or_default().to_string_lossy()
    }

    /// The input of a document that consists of the whole file.
    pub(crate) fn raw(&self) -> Raw<'_> {
        if self.member.is_some() {
            return Raw::Part(&self.path);
        }
        Raw::File(&self.path)
    }
}

/// Reads a file. `bytes` is a buffer for its contents.
pub(crate) fn read<'a>(
    file: &DocumentFile,
    settings: &SourceSettings,
    bytes: &'a mut Vec<u8>,
) -> Result<Contents<'a>, SkipReason> {
    let name = file.name();
    let (compression, stem) = Compression::of_name(&name);
    if let Some(member) = &file.member {
        return read_member(&file.path, &member.entry, (compression, stem), settings, bytes);
    }
    let opened = File::open(&file.path).map_err(|e| unreadable(&e))?;
    let size = opened.metadata().map_err(|e| unreadable(&e))?.len();
    bytes.clear();
    if compression == Compression::None {
        bytes
            .try_reserve(size.min(MAX_DOCUMENT_BYTES as u64) as usize + 1)
            .map_err(|error| SkipReason::Unreadable { message: error.to_string() })?;
        fill(opened, stem, false, settings, bytes)?;
    } else {
        let stream = settings.decode(compression, opened).map_err(|e| unreadable(&e))?;
        fill(stream, stem, true, settings, bytes)?;
    }
    let length = if compression == Compression::None { bytes.len() as u64 } else { size };
    Ok(Contents { kind: kind(stem, bytes, settings), bytes, length, name: stem.to_owned() })
}

/// The size of a text file that does not fit in the memory of the run. Only a piece of it is held
/// at a time.
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn measure(
    file: &DocumentFile,
    settings: &SourceSettings,
) -> Result<RecordSize, SkipReason> {
    let mut size = RecordSize::default();
    if let Some(member) = &file.member {
        // The member is compressed: use an estimate that is rather too high.
        size.bytes = member.entry.size;
        size.words = size.bytes / WORD_BYTES;
        size.characters = size.bytes;
        return Ok(size);
    }
    let opened = File::open(&file.path).map_err(|e| unreadable(&e))?;
    let compression = Compression::of_name(&file.name()).0;
    let mut stream = settings.decode(compression, opened).map_err(|e| unreadable(&e))?;
    let mut buffer = vec![0; MEASURED_BYTES];
    loop {
        let (count, failed) = decompress::fill(&mut stream, &mut buffer);
        size.add(&buffer[..count]);
        match failed {
            Some(error) => return Err(unreadable(&error)),
            None if count < buffer.len() => return Ok(size),
            None => {}
        }
    }
}
