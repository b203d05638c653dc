//! A temporary file of records in pieces: no record is split, and a piece is read at once.

use crate::error::Error;
use crate::spill::{SpillFile, TempSpace};

/// A range of bytes in a file: offset and length.
pub(super) type FileRange = (u64, u64);

/// Takes a record: its key and its payload.
pub(crate) type TakeRecord<'a> = dyn FnMut(&[u8], &[u8]) -> Result<(), Error> + 'a;

/// Bytes of a piece, more only where a record is longer.
const PIECE_BYTES: usize = 1 << 20;

/// The file, and the records that will be its next piece.
pub(super) struct RecordFile {
    file: SpillFile,
    next: Vec<u8>,
}

impl RecordFile {
    /// Opens the file with its first `len` bytes; with none, as a new one.
    pub(super) fn open(temp: &TempSpace, name: &str, len: u64) -> Result<Self, Error> {
        Ok(Self { file: temp.workspace()?.open(name, len)?, next: Vec::new() })
    }

    /// Adds a record; adds to `pieces` when one is written.
    pub(super) fn push(&mut self, record: &[u8], pieces: &mut Vec<FileRange>) -> Result<(), Error> {
        self.next.extend_from_slice(record);
        if self.next.len() >= PIECE_BYTES { self.flush(pieces) } else { Ok(()) }
    }

    /// Writes what is left.
    pub(super) fn flush(&mut self, pieces: &mut Vec<FileRange>) -> Result<(), Error> {
        if !self.next.is_empty() {
            pieces.push((self.file.append(&self.next)?, self.next.len() as u64));
            self.next.clear();
        }
        Ok(())
    }

    /// Brings what is written to the disk.
    pub(super) fn sync(&self) -> Result<(), Error> {
        self.file.sync()
    }

    /// The bytes of a piece, into `bytes` (which is cleared).
    pub(super) fn read(&self, (at, length): FileRange, bytes: &mut Vec<u8>) -> Result<(), Error> {
        bytes.clear();
        bytes.resize(length as usize, 0);
        self.file.read_at(bytes, at)
    }
}

/// Where the last of some pieces ends.
pub(super) fn end(pieces: &[FileRange]) -> u64 {
    pieces.iter().map(|(at, bytes)| at + bytes).max().unwrap_or(0)
}
