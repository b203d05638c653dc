//! Reading and writing at positions of a file that many threads share.

use std::fs::File;
use std::io;

/// Fills `buffer` from `offset` on.
#[cfg(unix)]
pub(crate) fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

/// Writes all of `bytes` from `offset` on.
#[cfg(unix)]
pub(crate) fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(not(unix))]
pub(crate) use anywhere::{read_exact_at, write_all_at};

#[cfg(not(unix))]
mod anywhere {
    use parking_lot::Mutex;
    use std::fs::File;
    use std::io::{self, Read, Seek, SeekFrom, Write};

    /// All threads share the position of the file.
    static POSITION: Mutex<()> = Mutex::new(());

    pub(crate) fn read_exact_at(mut file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let _position = POSITION.lock();
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(buffer)
    }

    pub(crate) fn write_all_at(mut file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        let _position = POSITION.lock();
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(bytes)
    }
}
