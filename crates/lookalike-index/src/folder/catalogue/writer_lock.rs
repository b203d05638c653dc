//! The lock of the process that writes to a folder. If the process is a service, the lock file
//! contains its address, for processes that wait.

use crate::error::IndexError;
use crate::folder::index_folder::IndexFolder;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::time::{Duration, Instant};

/// Interval between attempts to lock.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Maximum length of an address, in bytes.
const MAX_ADDRESS: usize = 300;

/// The lock. It is released explicitly, because a forked process keeps the file open.
pub(crate) struct WriterLock(File);

impl Drop for WriterLock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl WriterLock {
    /// Locks the index for writing. Waits for another process up to this time.
    ///
    /// # Errors
    /// [`IndexError::InUse`], with the address of the service if the other process is one, and
    /// write errors.
    pub(crate) fn acquire(place: &IndexFolder, wait: Duration) -> Result<Self, IndexError> {
        let path = place.lock();
        let file = if let Ok(file) = place.new_file(&path) {
            file
        } else {
            let file = File::options().write(true).open(&path);
            file.map_err(|error| place.writing(&path, error))?
        };
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => {
                    // Remove the address of the previous process.
                    file.set_len(0).map_err(|error| place.writing(&path, error))?;
                    return Ok(Self(file));
                }
                Err(TryLockError::Error(error)) => return Err(place.writing(&path, error)),
                Err(TryLockError::WouldBlock) => {
                    let waited = started.elapsed();
                    if waited >= wait {
                        let index = place.name.clone();
                        let service = address_in(&path);
                        return Err(IndexError::InUse { index, waited, service });
                    }
                    std::thread::sleep(POLL_INTERVAL.min(wait.saturating_sub(waited)));
                }
            }
        }
    }

    /// Writes the address of this process, a service, to the lock file.
    pub(crate) fn announce_service(&mut self, address: &str) -> io::Result<()> {
        self.0.set_len(0)?;
        self.0.rewind()?;
        self.0.write_all(format!("{address}\n").as_bytes())
    }
}

/// The address in the lock file. `None` for anything other than an address, because the folder may
/// come from an untrusted source.
fn address_in(path: &std::path::Path) -> Option<String> {
    let mut text = String::new();
    let most = MAX_ADDRESS as u64 + 2;
    File::open(path).ok()?.take(most).read_to_string(&mut text).ok()?;
    let address = text.strip_suffix('\n')?;
    let is_address = ["http://", "https://"].iter().any(|scheme| address.starts_with(scheme))
        && address.len() <= MAX_ADDRESS
        && address.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":/.-[]_".contains(&byte));
    is_address.then(|| address.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_address_is_believed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let read = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            address_in(&path)
        };
        for good in ["http://127.0.0.1:8377", "https://[::1]:443", "http://docs.example:80"] {
            assert_eq!(read(format!("{good}\n").as_bytes()).as_deref(), Some(good));
        }
        let long = format!("http://{}\n", "a".repeat(MAX_ADDRESS));
        let cases: [&[u8]; 7] = [
            b"",
            b"http://127.0.0.1:83",
            b"ftp://127.0.0.1\n",
            b"http://a\x1b[31m\n",
            b"http://a\nhttp://b\n",
            b"http://\xff\n",
            long.as_bytes(),
        ];
        for wrong in cases {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
    }
}
