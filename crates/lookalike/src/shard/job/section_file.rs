//! Files of a job: sections, their index, and a trailer that marks a file as complete. A file
//! appears under its name only after it is on the disk.
//!
//! ```text
//! sections │ index (JSON) │ length of the index, hash of the index (u64) │ "lks1"
//! ```

use super::error::JobError;
use crate::report::OutputError;
use crate::report::part_file::PartFile;
use crate::spill::SpillError;
use lookalike_core::hash::token_hash;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The last bytes of a file.
const MAGIC: [u8; 4] = *b"lks1";
/// The index' length and hash, and [`MAGIC`].
const TRAILER: u64 = 8 + 8 + 4;

/// The content of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SectionKind {
    /// Counters of shingles.
    Counters,
    /// A [`ShardBlock`](crate::shard::ShardBlock) for a part.
    Rows,
    /// Documents in blocks: one block in `keys`, the documents of a part in `components`.
    Documents,
    /// Nodes of several documents of a part, `u64` each.
    Repeated,
    /// Groups of a part, as records.
    Groups,
    /// Pairs of a part, as records.
    Pairs,
    /// Other values, as JSON.
    Notes,
}

/// The position of a section.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct SectionEntry {
    kind: SectionKind,
    /// The part of the section. For documents in `keys`, the number of the block; otherwise 0.
    part: u32,
    at: u64,
    bytes: u64,
    /// The hash of the bytes, computed with the hash function of tokens.
    hash: u64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct SectionIndex {
    /// The hash of the plan.
    plan: u64,
    /// The name of the file, which contains the stage and the task.
    file: String,
    /// The file in the same folder with texts that cannot be read again.
    texts: Option<String>,
    sections: Vec<SectionEntry>,
}

/// The error for a file whose content no task has written.
pub(super) fn damaged(path: &Path, problem: impl Into<String>) -> JobError {
    JobError::File { path: path.to_owned(), problem: problem.into() }
}

/// The last component of a path of a job, which is ASCII.
fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Whether a file ends with a trailer and is long enough for the index.
pub(super) fn is_whole(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let Some(end) = file.metadata()?.len().checked_sub(TRAILER) else { return Ok(false) };
    file.seek(SeekFrom::Start(end))?;
    let mut trailer = [0; TRAILER as usize];
    file.read_exact(&mut trailer)?;
    let index_bytes = trailer.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
    Ok(trailer.ends_with(&MAGIC) && index_bytes.is_some_and(|bytes| bytes <= end))
}

/// Writes a file, section by section.
pub(super) struct SectionWriter {
    path: PathBuf,
    file: PartFile,
    at: u64,
    index: SectionIndex,
}

impl SectionWriter {
    /// Creates a file that appears as `path` when it is complete.
    pub(super) fn create(path: PathBuf, plan: u64) -> Result<Self, JobError> {
        let index = SectionIndex { plan, file: file_name(&path), ..Default::default() };
        match PartFile::create(&path) {
            Ok(file) => Ok(Self { path, file, at: 0, index }),
            Err(source) => Err(OutputError::Write { path, source }.into()),
        }
    }

    /// Sets the name of the file with texts.
    pub(super) fn set_texts(&mut self, name: String) {
        self.index.texts = Some(name);
    }

    /// Adds a section.
    pub(super) fn push(
        &mut self,
        kind: SectionKind,
        part: u32,
        bytes: &[u8],
    ) -> Result<(), JobError> {
        self.write(bytes)?;
        let length = bytes.len() as u64;
        let hash = token_hash(bytes);
        self.index.sections.push(SectionEntry { kind, part, at: self.at, bytes: length, hash });
        self.at += length;
        Ok(())
    }

    /// Adds a section of JSON.
    pub(super) fn push_json(&mut self, value: &impl Serialize) -> Result<(), JobError> {
        let bytes = serde_json::to_vec(value).map_err(|error| self.failed(error.into()))?;
        self.push(SectionKind::Notes, 0, &bytes)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), JobError> {
        Ok(self.file.as_file_mut().write_all(bytes).map_err(|source| self.failed(source))?)
    }

    fn failed(&self, source: io::Error) -> OutputError {
        OutputError::Write { path: self.path.clone(), source }
    }

    /// Completes the file, syncs it to the disk and renames it. Replaces an existing file.
    pub(super) fn finish(mut self) -> Result<(), JobError> {
        let mut end = serde_json::to_vec(&self.index).map_err(|error| self.failed(error.into()))?;
        let length = end.len() as u64;
        let hash = token_hash(&end);
        end.extend(length.to_le_bytes());
        end.extend(hash.to_le_bytes());
        end.extend(MAGIC);
        self.write(&end)?;
        self.file.as_file().sync_all().map_err(|source| self.failed(source))?;
        let path = self.path;
        Ok(self.file.persist(&path).map_err(|source| OutputError::Write { path, source })?)
    }
}

/// A callback for a section: its part and its bytes.
pub(super) type TakeSection<'a> = dyn FnMut(u32, &[u8]) -> Result<(), JobError> + 'a;

/// A complete file of a job.
pub(super) struct SectionFile {
    path: PathBuf,
    file: File,
    index: SectionIndex,
}

impl SectionFile {
    /// Opens a file of the plan with the hash `plan`.
    ///
    /// # Errors
    /// [`JobError::File`] if it is incomplete, or belongs to another plan or task.
    pub(super) fn open(path: PathBuf, plan: u64) -> Result<Self, JobError> {
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(source) => return Err(SpillError::Io { path, source }.into()),
        };
        let mut opened = Self { path, file, index: SectionIndex::default() };
        opened.index = opened.read_index()?;
        if opened.index.plan != plan {
            return Err(opened.damaged("it is of another plan".to_owned()));
        }
        let stated = &opened.index.file;
        if *stated != file_name(&opened.path) {
            let problem = format!("it is a copy of {stated}, the file of another task");
            return Err(opened.damaged(problem));
        }
        Ok(opened)
    }

    fn read_index(&mut self) -> Result<SectionIndex, JobError> {
        let length = self.file.metadata().map_err(|source| self.failed(source))?.len();
        let Some(end) = length.checked_sub(TRAILER) else {
            let problem = format!("it has {length} bytes, expected {TRAILER} or more");
            return Err(self.damaged(problem));
        };
        let trailer = self.read(end, TRAILER)?;
        let (numbers, magic) = trailer.split_at(16);
        if magic != MAGIC {
            return Err(self.damaged(format!("it ends with {magic:?}, expected {MAGIC:?}")));
        }
        let number = |at: usize| {
            numbers.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes)
        };
        let (Some(bytes), Some(hash)) = (number(0), number(8)) else {
            return Err(self.damaged("its trailer is cut short".to_owned()));
        };
        let Some(at) = end.checked_sub(bytes) else {
            return Err(self.damaged(format!("an index of {bytes} bytes does not fit in it")));
        };
        let index = self.read(at, bytes)?;
        if token_hash(&index) != hash {
            return Err(self.damaged("the checksum of its index is another one".to_owned()));
        }
        serde_json::from_slice(&index).map_err(|error| self.damaged(format!("its index: {error}")))
    }

    fn read(&mut self, at: u64, bytes: u64) -> Result<Vec<u8>, JobError> {
        // No section is longer than its file. This check prevents large allocations by a damaged
        // index.
        let length = self.file.metadata().map_err(|source| self.failed(source))?.len();
        if at.checked_add(bytes).is_none_or(|end| end > length) {
            let problem = format!("{bytes} bytes at {at} are expected, it has {length} bytes");
            return Err(self.damaged(problem));
        }
        let mut buffer = vec![0; bytes as usize];
        let read = self.file.seek(SeekFrom::Start(at));
        let read = read.and_then(|_| self.file.read_exact(&mut buffer));
        read.map_err(|source| self.failed(source))?;
        Ok(buffer)
    }

    fn failed(&self, source: io::Error) -> SpillError {
        SpillError::Io { path: self.path.clone(), source }
    }

    fn damaged(&self, problem: String) -> JobError {
        damaged(&self.path, problem)
    }

    /// The name of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The name of the file with texts.
    pub(super) fn texts(&self) -> Option<&str> {
        self.index.texts.as_deref()
    }

    /// Passes the bytes of all sections of a kind, with their parts, to `take` in the order in
    /// which they were written. If `part` is set, only its sections are passed.
    pub(super) fn each(
        &mut self,
        kind: SectionKind,
        part: Option<u32>,
        take: &mut TakeSection<'_>,
    ) -> Result<(), JobError> {
        for at in 0..self.index.sections.len() {
            let entry = self.index.sections[at];
            if entry.kind == kind && part.is_none_or(|part| part == entry.part) {
                take(entry.part, &self.section(&entry)?)?;
            }
        }
        Ok(())
    }

    fn section(&mut self, entry: &SectionEntry) -> Result<Vec<u8>, JobError> {
        let bytes = self.read(entry.at, entry.bytes)?;
        if token_hash(&bytes) == entry.hash {
            return Ok(bytes);
        }
        let SectionEntry { kind, part, at, .. } = entry;
        let problem = format!("the checksum of a section ({kind:?} of {part} at {at}) is another");
        Err(self.damaged(problem))
    }

    /// Returns the value of the section of JSON.
    pub(super) fn json<T: for<'a> Deserialize<'a>>(&mut self) -> Result<T, JobError> {
        let entry = self.index.sections.iter().find(|entry| entry.kind == SectionKind::Notes);
        let Some(entry) = entry.copied() else {
            return Err(self.damaged("it has no notes".to_owned()));
        };
        let bytes = self.section(&entry)?;
        serde_json::from_slice(&bytes).map_err(|error| self.damaged(format!("its notes: {error}")))
    }

    /// Reads all sections.
    pub(super) fn check_all(&mut self) -> Result<(), JobError> {
        for at in 0..self.index.sections.len() {
            let entry = self.index.sections[at];
            let _bytes = self.section(&entry)?;
        }
        Ok(())
    }
}
