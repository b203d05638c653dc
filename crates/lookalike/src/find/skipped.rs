//! Records that are no documents: kept as bytes, which go to a temporary file where memory is
//! limited, and given in reading order.
//!
//! ```text
//! a block's records → SkippedWriter → SkippedPart: pieces of a SkippedFile, then what is held
//! parts in reading order, then repeated ids → SkippedRecords
//! ```
//!
//! A piece begins again: what it says does not depend on other pieces.

use super::record_file::FileRange;
use crate::error::Error;
use crate::read::{SkipReason, SkippedItem};
use crate::spill::codec::{FieldReader, put_bytes, put_u64};
use crate::spill::{SpillFile, TempSpace};
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of a block's records that are held before they go to the file.
const PIECE_BYTES: usize = 1 << 18;

/// What a record does not share with the one before it.
const SOURCE: u64 = 1;
const REASON: u64 = 2;
/// It has an id.
const ID: u64 = 4;
/// It has a line; documents in memory have rows from 0.
const LINE: u64 = 8;

/// The skipped records of one block.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct SkippedPart {
    count: u64,
    pieces: Vec<FileRange>,
    /// Behind the pieces.
    #[serde(skip)]
    held: Vec<u8>,
}

impl SkippedPart {
    /// Bytes that are held.
    pub(super) fn held(&self) -> usize {
        self.held.capacity()
    }

    /// Where its last piece ends.
    pub(super) fn end(&self) -> u64 {
        self.pieces.iter().map(|(at, bytes)| at + bytes).max().unwrap_or(0)
    }

    /// Writes what is held.
    pub(super) fn write(&mut self, file: &SkippedFile) -> Result<(), Error> {
        if !self.held.is_empty() {
            self.pieces.push((file.append(&self.held)?, self.held.len() as u64));
            self.held = Vec::new();
        }
        Ok(())
    }
}

/// The temporary file of all parts, made when it is needed.
#[derive(Debug)]
pub(super) struct SkippedFile {
    temp: Option<Arc<TempSpace>>,
    file: Mutex<Option<SpillFile>>,
}

impl SkippedFile {
    /// The file with its first `length` bytes. Nothing goes to it unless it is `used`.
    pub(super) fn new(temp: &Arc<TempSpace>, length: u64, used: bool) -> Result<Self, Error> {
        let file = match length {
            0 => None,
            length => Some(temp.workspace()?.open("skipped", length)?),
        };
        Ok(Self { temp: used.then(|| Arc::clone(temp)), file: Mutex::new(file) })
    }

    fn file(&self) -> MutexGuard<'_, Option<SpillFile>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn append(&self, bytes: &[u8]) -> Result<u64, Error> {
        let mut file = self.file();
        match (&mut *file, &self.temp) {
            (Some(file), _) => file.append(bytes),
            (none, Some(temp)) => none.insert(temp.workspace()?.create("skipped")?).append(bytes),
            (None, None) => Err(corrupt()),
        }
    }

    fn read(&self, (at, length): FileRange, bytes: &mut Vec<u8>) -> Result<(), Error> {
        bytes.clear();
        bytes.resize(length as usize, 0);
        self.file().as_ref().map_or_else(|| Err(corrupt()), |file| file.read_at(bytes, at))
    }

    /// Brings what is written to the disk.
    pub(super) fn sync(&self) -> Result<(), Error> {
        self.file().as_ref().map_or(Ok(()), SpillFile::sync)
    }
}

fn corrupt() -> Error {
    Error::TemporaryFile { what: "a skipped record".to_owned() }
}

/// Takes the records of one block after the other.
#[derive(Debug, Default)]
pub(super) struct SkippedWriter {
    part: SkippedPart,
    source: String,
    reason: Vec<u8>,
}

impl SkippedWriter {
    /// Takes a record; what is held goes to `file` when it is much.
    pub(super) fn push(&mut self, skipped: &SkippedItem, file: &SkippedFile) -> Result<(), Error> {
        let SkippedItem { source, line, id, reason } = skipped;
        let reason = serde_json::to_vec(reason).map_err(|_| corrupt())?;
        let first = self.part.held.is_empty();
        let mut given = id.as_ref().map_or(0, |_| ID) | line.map_or(0, |_| LINE);
        if first || self.source != *source {
            given |= SOURCE;
            self.source.clone_from(source);
        }
        if first || self.reason != reason {
            given |= REASON;
            self.reason = reason;
        }
        let out = &mut self.part.held;
        put_u64(out, given);
        put_u64(out, line.unwrap_or(0));
        if given & SOURCE != 0 {
            put_bytes(out, self.source.as_bytes());
        }
        if let Some(id) = id {
            put_bytes(out, id.as_bytes());
        }
        if given & REASON != 0 {
            put_bytes(out, &self.reason);
        }
        self.part.count += 1;
        if self.part.held.len() >= PIECE_BYTES && file.temp.is_some() {
            self.part.write(file)?;
        }
        Ok(())
    }

    /// The records since it was asked last.
    pub(super) fn take(&mut self) -> SkippedPart {
        let mut part = std::mem::take(&mut self.part);
        part.held.shrink_to_fit();
        part
    }
}

/// What is no document, held in memory or on the disk: files that a folder's walk left out, then
/// what could not be read, then repeated ids, each in reading order.
#[derive(Debug)]
pub struct SkippedRecords {
    parts: Vec<SkippedPart>,
    file: Arc<SkippedFile>,
    len: u64,
}

impl SkippedRecords {
    pub(super) fn new(file: Arc<SkippedFile>) -> Self {
        Self { parts: Vec::new(), file, len: 0 }
    }

    /// Adds records behind those that are there.
    pub(super) fn add(&mut self, part: SkippedPart) {
        if part.count > 0 {
            self.len += part.count;
            self.parts.push(part);
        }
    }

    /// Adds some that are held by somebody else, too.
    pub(super) fn extend<'a>(
        &mut self,
        records: impl IntoIterator<Item = &'a SkippedItem>,
    ) -> Result<(), Error> {
        let mut writer = SkippedWriter::default();
        records.into_iter().try_for_each(|record| writer.push(record, &self.file))?;
        self.add(writer.take());
        Ok(())
    }

    /// Where more of them may be written.
    pub(super) fn file(&self) -> &Arc<SkippedFile> {
        &self.file
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The records in order; may be asked for again. They are read as they are asked for.
    pub fn iter(&self) -> impl Iterator<Item = io::Result<SkippedItem>> + '_ {
        let mut pieces = self.parts.iter().flat_map(|part| {
            let held = (!part.held.is_empty()).then_some(SkippedRange::Held(&part.held));
            part.pieces.iter().map(|piece| SkippedRange::Written(*piece)).chain(held)
        });
        let mut records = SkippedReader::default();
        let mut broken = false;
        std::iter::from_fn(move || {
            while !broken && records.is_at_end() {
                let begun = match pieces.next()? {
                    SkippedRange::Held(bytes) => records.begin(|own| {
                        own.clear();
                        own.extend_from_slice(bytes);
                        Ok(())
                    }),
                    SkippedRange::Written(piece) => records.begin(|own| self.file.read(piece, own)),
                };
                if let Err(error) = begun {
                    broken = true;
                    return Some(Err(error.into_io()));
                }
            }
            if broken {
                return None;
            }
            let record = records.next();
            broken = record.is_none();
            Some(record.ok_or_else(|| io::Error::other(corrupt())))
        })
    }

    /// Of some records.
    ///
    /// # Errors
    /// None, as they are held in memory.
    pub fn of(records: &[SkippedItem]) -> Result<Self, Error> {
        let file = SkippedFile { temp: None, file: Mutex::default() };
        let mut all = Self::new(Arc::new(file));
        all.extend(records)?;
        Ok(all)
    }
}

/// Bytes of records.
enum SkippedRange<'a> {
    Written(FileRange),
    Held(&'a [u8]),
}

/// Goes through the records of one stretch.
#[derive(Default)]
struct SkippedReader {
    bytes: Vec<u8>,
    at: usize,
    source: String,
    reason: Option<SkipReason>,
}

impl SkippedReader {
    fn begin(&mut self, fill: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>) -> Result<(), Error> {
        (self.at, self.reason) = (0, None);
        fill(&mut self.bytes)
    }

    fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    fn next(&mut self) -> Option<SkippedItem> {
        let mut reader = FieldReader::new(self.bytes.get(self.at..)?);
        let given = reader.u64()?;
        let line = reader.u64()?;
        let line = (given & LINE != 0).then_some(line);
        if given & SOURCE != 0 {
            reader.str()?.clone_into(&mut self.source);
        }
        let id = if given & ID != 0 { Some(reader.str()?.to_owned()) } else { None };
        if given & REASON != 0 {
            self.reason = serde_json::from_slice(reader.bytes()?).ok();
        }
        let reason = self.reason.clone()?;
        self.at = self.bytes.len() - reader.rest().len();
        Some(SkippedItem { source: self.source.clone(), line, id, reason })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::memory::{Budget, Memory};

    /// Records with everything that is shared and is not, more than a piece of them.
    fn records() -> Vec<SkippedItem> {
        let record = |i: u64| SkippedItem {
            source: format!("in-{}.jsonl", i / 1000),
            line: (i % 7 != 3).then_some(i),
            id: i.is_multiple_of(3).then(|| format!("ü{i}")),
            reason: match i % 5 {
                0 => SkipReason::EmptyId,
                1 => SkipReason::NotUtf8 { column: i },
                _ => SkipReason::BrokenJson {
                    expected: "a value".into(),
                    got: "the end".into(),
                    column: i / 10,
                },
            },
        };
        (0..20_000).map(record).collect()
    }

    fn all(records: &SkippedRecords) -> Vec<SkippedItem> {
        records.iter().map(Result::unwrap).collect()
    }

    #[test]
    fn they_come_back_as_they_were_from_memory_and_from_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let temp = Arc::new(TempSpace::new(folder.path().to_owned()));
        let expected = records();
        for limit in [None, Some(1 << 30)] {
            let memory = Memory { limit, ..Memory::default() };
            let budget = Budget::new(&memory, 1).unwrap();
            let file = Arc::new(SkippedFile::new(&temp, 0, budget.is_limited()).unwrap());
            let mut found = SkippedRecords::new(Arc::clone(&file));
            for some in expected.chunks(15_000) {
                let mut writer = SkippedWriter::default();
                for record in some {
                    writer.push(record, &file).unwrap();
                }
                found.add(writer.take());
                found.add(writer.take());
            }
            assert_eq!(found.len(), 20_000);
            assert_eq!((all(&found), all(&found)), (expected.clone(), expected.clone()));
            let held: usize = found.parts.iter().map(SkippedPart::held).sum();
            assert_eq!(held > 2 * PIECE_BYTES, limit.is_none(), "{held}");
            for part in &mut found.parts {
                if limit.is_some() {
                    part.write(&file).unwrap();
                    assert_eq!(part.held(), 0);
                }
            }
            assert_eq!(all(&found), expected);
        }
    }

    #[test]
    fn what_is_no_record_is_an_error_and_the_end() {
        let mut found = SkippedRecords::of(&records()[..10]).unwrap();
        let whole = found.parts[0].held.len();
        found.parts[0].held.truncate(whole - 1);
        let read: Vec<_> = found.iter().collect();
        assert_eq!(read.len(), 10);
        assert!(read[..9].iter().all(Result::is_ok));
        assert!(read[9].as_ref().unwrap_err().to_string().contains("a skipped record"));
        found.parts[0].pieces.push((0, 10));
        assert_eq!(found.iter().count(), 1, "there is no file");
    }
}
