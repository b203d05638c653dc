//! A temporary file: bytes are appended from many threads, and read at positions.

use super::error::SpillError;
use super::folder::SpillFolder;
use crate::read::{ReadError, Spool};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A temporary file. Appends and reads take `&self` and may come from any number of threads; each
/// append is in one piece. It is never mapped, so a full disk is an error, not a signal.
#[derive(Debug)]
pub(crate) struct SpillFile {
    file: Spool,
    /// Where it lies stays as long as the file.
    _folder: Option<Arc<SpillFolder>>,
}

impl SpillFile {
    pub(super) fn new(file: Spool, folder: Option<Arc<SpillFolder>>) -> Self {
        Self { file, _folder: folder }
    }

    /// Writes `bytes` at the end and gives the position of the first. The operating system has them
    /// when this returns; the disk has them after [`sync`](Self::sync).
    ///
    /// # Errors
    /// [`SpillError::Io`]; the place of `bytes` then holds anything.
    pub(super) fn append(&self, bytes: &[u8]) -> Result<u64, SpillError> {
        self.file.append(bytes).map_err(|error| self.error(io_error(error)))
    }

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// # Errors
    /// [`SpillError::Io`], also where the file ends before.
    pub(super) fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), SpillError> {
        self.file.read_at(buffer, offset).map_err(|error| self.error(io_error(error)))
    }

    /// Bytes appended so far.
    pub(super) fn len(&self) -> u64 {
        self.file.len()
    }

    /// Brings what was appended to the disk.
    ///
    /// # Errors
    /// [`SpillError::Io`].
    pub(super) fn sync(&self) -> Result<(), SpillError> {
        self.file.sync().map_err(|source| self.error(source))
    }

    /// Its name, for messages. A temporary folder's files cannot be opened by it.
    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    pub(super) fn error(&self, source: io::Error) -> SpillError {
        SpillError::Io { path: self.path().to_owned(), source }
    }
}

/// The error of the system for a file whose path is known.
pub(super) fn io_error(error: ReadError) -> io::Error {
    match error {
        ReadError::Spool { error, .. } => error,
        other => io::Error::other(other),
    }
}

impl io::Write for &SpillFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.append(bytes).map(|_| bytes.len()).map_err(io_error)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
