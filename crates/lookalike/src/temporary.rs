//! Registers the named temporary files and folders of this process, and removes them before a
//! signal ends the process.
//!
//! The owner of a file or folder removes it when it is dropped. A signal that ends the process does
//! not drop anything, so its handler first calls [`remove_all`].

use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Absolute paths of the existing files and folders.
static PATHS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Maximum number of attempts to remove a folder to which other threads still add files.
const ATTEMPTS: usize = 100;

/// Keeps a path registered. Declare it after the field that removes the file, so that it is dropped
/// later.
#[derive(Debug)]
pub(crate) struct RegisteredPath(PathBuf);

impl Drop for RegisteredPath {
    fn drop(&mut self) {
        PATHS.lock().remove(&self.0);
    }
}

/// Creates a temporary file or folder and registers it. [`remove_all`] cannot run between these two
/// steps.
///
/// # Errors
/// Errors of `create`.
pub(crate) fn register<T>(
    create: impl FnOnce() -> io::Result<T>,
    path: impl FnOnce(&T) -> &Path,
) -> io::Result<(T, RegisteredPath)> {
    let mut paths = PATHS.lock();
    let created = create()?;
    let path = std::path::absolute(path(&created))?;
    paths.insert(path.clone());
    Ok((created, RegisteredPath(path)))
}

/// The message of the system, without the temporary name that the crate `tempfile` adds.
pub(crate) fn system_message(error: &io::Error) -> String {
    if let Some(code) = error.raw_os_error() {
        return io::Error::from_raw_os_error(code).to_string();
    }
    error.to_string().split(" at path ").next().unwrap_or_default().to_owned()
}

/// Removes all named temporary files and folders of this process. Only for the thread that ends the
/// process after a signal: from then on, every thread that creates or finishes an output blocks
/// until the process ends.
pub fn remove_all() {
    let paths = PATHS.lock();
    for path in paths.iter() {
        remove(path);
    }
    // The lock is never released, so that no thread creates another file.
    std::mem::forget(paths);
}

/// Removes a file, or a folder with its content. Ignores errors, because the process ends anyway
/// and the next run removes or reports the rest.
fn remove(path: &Path) {
    let is_folder = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    if !is_folder {
        let _ = fs::remove_file(path);
        return;
    }
    for _ in 0..ATTEMPTS {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {}
            _ => return,
        }
    }
}
