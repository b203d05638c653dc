//! A temporary file. Many threads append bytes and read them by position.

use super::error::SpillError;
use super::folder::SpillFolder;
use crate::read::{ReadError, Spool};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A temporary file. Any number of threads may append and read through `&self`; each append is
/// contiguous. The file is never mapped, so a full disk is an error, not a signal.
#[derive(Debug)]
pub(crate) struct SpillFile {
    file: Spool,
    /// Keeps the folder until the file is dropped.
    _folder: Option<Arc<SpillFolder>>,
}

impl SpillFile {
    pub(super) fn new(file: Spool, folder: Option<Arc<SpillFolder>>) -> Self {
        Self { file, _folder: folder }
    }

    /// Writes `bytes` at the end and returns the position of the first byte. The operating system
    /// has received them when this function returns. They are on the disk after
    /// [`sync`](Self::sync).
    ///
    /// # Errors
    /// [`SpillError::Io`]. The content at the position of `bytes` is then undefined.
    pub(super) fn append(&self, bytes: &[u8]) -> Result<u64, SpillError> {
        self.file.append(bytes).map_err(|error| self.error(io_error(error)))
    }

    /// Fills `buffer` with the bytes at `offset`.
    ///
    /// # Errors
    /// [`SpillError::Io`], also if the file ends earlier.
    pub(super) fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), SpillError> {
        self.file.read_at(buffer, offset).map_err(|error| self.error(io_error(error)))
    }

    /// The number of appended bytes.
    pub(super) fn len(&self) -> u64 {
        self.file.len()
    }

    /// Syncs the appended bytes to the disk.
    ///
    /// # Errors
    /// [`SpillError::Io`].
    pub(super) fn sync(&self) -> Result<(), SpillError> {
        self.file.sync().map_err(|source| self.error(source))
    }

    /// The path for messages. A file of a temporary folder cannot be opened by its path.
    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    pub(super) fn error(&self, source: io::Error) -> SpillError {
        SpillError::Io { path: self.path().to_owned(), source }
    }
}

/// Extracts the system's error for a file whose path is known.
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
