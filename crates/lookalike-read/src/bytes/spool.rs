//! A temporary file for bytes that cannot be read again: streams, and the contents of compressed
//! and transcoded files.

use crate::bytes::positioned_io::{read_exact_at, write_all_at};
use crate::error::ReadError;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A file to which any number of threads append, and which they read at any position.
#[derive(Debug)]
pub struct Spool {
    file: File,
    path: PathBuf,
    end: AtomicU64,
}

impl Spool {
    /// Continues after the contents of `file`, which must be open for reading and writing. `path`
    /// names the file in messages; it is neither opened nor removed.
    ///
    /// # Errors
    /// [`ReadError::Spool`] if the system does not return the length of the file.
    pub fn new(file: File, path: PathBuf) -> Result<Self, ReadError> {
        match file.metadata() {
            Ok(metadata) => Ok(Self { file, path, end: AtomicU64::new(metadata.len()) }),
            Err(error) => Err(ReadError::Spool { path, error }),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its length in bytes.
    pub fn len(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }

    /// Returns true if the spool is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes `bytes` in one piece and returns their offset. Threads can write in parallel.
    ///
    /// # Errors
    /// [`ReadError::Spool`]. The space for `bytes` in the file then stays unused.
    pub fn append(&self, bytes: &[u8]) -> Result<u64, ReadError> {
        let offset = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        write_all_at(&self.file, bytes, offset).map_err(|error| self.failed(error))?;
        Ok(offset)
    }

    /// Fills `buffer` from `offset` on.
    ///
    /// # Errors
    /// [`ReadError::Spool`], also if the file is too short.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), ReadError> {
        read_exact_at(&self.file, buffer, offset).map_err(|error| self.failed(error))
    }

    /// Waits until everything written is on the disk.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    pub(crate) fn failed(&self, error: io::Error) -> ReadError {
        ReadError::Spool { path: self.path.clone(), error }
    }
}
