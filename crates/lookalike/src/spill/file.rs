//! A temporary file: bytes are appended from many threads, and read wherever they are.

use super::folder::SpillFolder;
use crate::error::Error;
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A temporary file. Appends and reads take `&self` and may come from any number of threads; each
/// append is in one piece. It is never mapped, so a full disk is an error, not a signal.
#[derive(Debug)]
pub struct SpillFile {
    file: PositionedFile,
    path: PathBuf,
    len: AtomicU64,
    /// Where it lies stays as long as the file.
    _folder: Option<Arc<SpillFolder>>,
}

impl SpillFile {
    pub(super) fn new(
        file: File,
        path: PathBuf,
        len: u64,
        folder: Option<Arc<SpillFolder>>,
    ) -> Self {
        Self { file: PositionedFile::new(file), path, len: AtomicU64::new(len), _folder: folder }
    }

    /// Writes `bytes` at the end and says where they begin. The operating system has them when this
    /// returns; the disk has them after [`sync`](Self::sync).
    ///
    /// # Errors
    /// [`Error::Spill`]; the place of `bytes` then holds anything.
    pub fn append(&self, bytes: &[u8]) -> Result<u64, Error> {
        let offset = self.reserve(bytes.len() as u64);
        self.write_at(bytes, offset)?;
        Ok(offset)
    }

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// # Errors
    /// [`Error::Spill`], also where the file ends before.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error> {
        self.file.read(buffer, offset).map_err(|source| self.error(source))
    }

    /// Bytes appended so far, those that threads are appending at this moment with them.
    pub fn len(&self) -> u64 {
        self.len.load(Ordering::Acquire)
    }

    /// Whether nothing was appended.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Brings what was appended to the disk.
    ///
    /// # Errors
    /// [`Error::Spill`].
    pub fn sync(&self) -> Result<(), Error> {
        self.file.file.sync_data().map_err(|source| self.error(source))
    }

    /// Its name, for messages. A temporary folder's files cannot be opened by it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The bytes from here on are the caller's to write.
    fn reserve(&self, bytes: u64) -> u64 {
        self.len.fetch_add(bytes, Ordering::AcqRel)
    }

    /// Takes the end of the file back from `end` to `used`, if nobody appended after `end`.
    fn give_back(&self, end: u64, used: u64) {
        // Where somebody did, the bytes between stay unused.
        let _ = self.len.compare_exchange(end, used, Ordering::AcqRel, Ordering::Acquire);
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        self.file.write(bytes, offset).map_err(|source| self.error(source))
    }

    fn error(&self, source: io::Error) -> Error {
        Error::Spill { path: self.path.clone(), source }
    }
}

/// A file that is read and written at given places.
#[derive(Debug)]
struct PositionedFile {
    file: File,
    /// Elsewhere than on Unix place and access are two steps, which one thread does at a time.
    #[cfg(not(unix))]
    turn: std::sync::Mutex<()>,
}

#[cfg(unix)]
impl PositionedFile {
    fn new(file: File) -> Self {
        Self { file }
    }

    fn read(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, buffer, offset)
    }

    fn write(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.file, bytes, offset)
    }
}

#[cfg(not(unix))]
impl PositionedFile {
    fn new(file: File) -> Self {
        Self { file, turn: std::sync::Mutex::new(()) }
    }

    fn read(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        use std::io::{Read, Seek};
        let _turn = self.turn.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (&self.file).seek(io::SeekFrom::Start(offset))?;
        (&self.file).read_exact(buffer)
    }

    fn write(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        use std::io::{Seek, Write};
        let _turn = self.turn.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (&self.file).seek(io::SeekFrom::Start(offset))?;
        (&self.file).write_all(bytes)
    }
}

/// Gathers the small appends of one thread. The file may have several of these and be appended to
/// otherwise; as long as this is the only one at work, what it appends has no gaps.
///
/// What was appended can be read after [`flush`](Self::flush). Dropped without that, the rest of
/// the buffer is lost.
#[derive(Debug)]
#[must_use = "what is in the buffer is written by `flush` only"]
pub struct BufferedAppend<F: Deref<Target = SpillFile>> {
    file: F,
    buffer: Vec<u8>,
    capacity: usize,
    /// Where the first byte of the buffer belongs.
    at: u64,
    /// Up to here the file is reserved; 0 before the first append and after a flush.
    end: u64,
}

impl<F: Deref<Target = SpillFile>> BufferedAppend<F> {
    /// Appends to `file`, through a buffer of `capacity` bytes (at least one).
    pub fn new(file: F, capacity: usize) -> Self {
        Self { file, buffer: Vec::new(), capacity: capacity.max(1), at: 0, end: 0 }
    }

    /// Appends `bytes` and says where they begin.
    ///
    /// # Errors
    /// [`Error::Spill`]; the file is then good for nothing more.
    pub fn append(&mut self, bytes: &[u8]) -> Result<u64, Error> {
        if self.end == 0 || self.end - self.position() < bytes.len() as u64 {
            self.extend(bytes.len())?;
        }
        let offset = self.position();
        if bytes.len() < self.capacity {
            self.buffer.reserve_exact(self.capacity.saturating_sub(self.buffer.len()));
            let (now, later) = bytes.split_at(bytes.len().min(self.capacity - self.buffer.len()));
            self.buffer.extend_from_slice(now);
            if self.buffer.len() == self.capacity {
                self.write()?;
            }
            self.buffer.extend_from_slice(later);
        } else {
            self.write()?;
            self.file.write_at(bytes, offset)?;
            self.at = offset + bytes.len() as u64;
        }
        Ok(offset)
    }

    /// Writes what is in the buffer; it can go on after that.
    ///
    /// # Errors
    /// [`Error::Spill`].
    pub fn flush(&mut self) -> Result<(), Error> {
        self.write()?;
        self.file.give_back(self.end, self.at);
        (self.at, self.end) = (0, 0);
        Ok(())
    }

    /// Where the next append goes, if it fits into what is reserved.
    fn position(&self) -> u64 {
        self.at + self.buffer.len() as u64
    }

    /// Reserves more; elsewhere in the file if somebody appended meanwhile.
    fn extend(&mut self, bytes: usize) -> Result<(), Error> {
        let more = bytes.max(self.capacity) as u64;
        let start = self.file.reserve(more);
        if start != self.end {
            self.write()?;
            self.at = start;
        }
        self.end = start + more;
        Ok(())
    }

    fn write(&mut self) -> Result<(), Error> {
        self.file.write_at(&self.buffer, self.at)?;
        self.at += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}
