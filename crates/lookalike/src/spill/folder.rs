//! The folder of temporary files, removed or unlocked when the last of its users is dropped.

use super::description;
use super::error::SpillError;
use super::private::PrivateFolder;
use crate::temporary::{self, RegisteredPath};
use serde_json::Value;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Locked as long as a run is at work in a resumable folder.
const LOCK: &str = "lock";

/// The folder itself. Its permissions keep others than its owner from the files.
#[derive(Debug)]
pub(super) enum SpillFolder {
    /// `lookalike-….tmp`, removed when dropped, and by [`temporary::remove_all`]; after a kill it
    /// stays, empty: its files have no name to the system.
    Temporary { folder: TempDir, _registered: RegisteredPath },
    /// `lookalike-NAME.run`, stays; the lock goes when dropped.
    Resumable { folder: PrivateFolder, _lock: File },
}

impl SpillFolder {
    /// Makes a temporary folder in `parent`.
    pub(super) fn temporary(parent: &Path) -> Result<Self, SpillError> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("lookalike-").suffix(".tmp");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let made = temporary::register(|| builder.tempdir_in(parent), TempDir::path);
        let (folder, registered) = made.map_err(|source| refused(parent, source))?;
        Ok(Self::Temporary { folder, _registered: registered })
    }

    /// Makes the folder of the run `name` in `parent`, or finds it again.
    pub(super) fn resumable(
        parent: &Path,
        name: &str,
        description: &Value,
    ) -> Result<Self, SpillError> {
        let folder = PrivateFolder::open(parent.join(format!("lookalike-{name}.run")))?;
        let path = folder.path().to_owned();
        let lock = folder.file(LOCK).map_err(|source| refused(&path, source))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(SpillError::RunInUse { path }),
            Err(TryLockError::Error(source)) => return Err(refused(&path, source)),
        }
        description::check(&folder, LOCK, description)?;
        Ok(Self::Resumable { folder, _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Temporary { folder, .. } => folder.path(),
            Self::Resumable { folder, .. } => folder.path(),
        }
    }

    /// A file to read and write with the content it has, made if it is not there.
    pub(super) fn file(&self, name: &str) -> io::Result<File> {
        match self {
            Self::Temporary { folder, .. } => tempfile::tempfile_in(folder.path()),
            Self::Resumable { folder, .. } => folder.file(name),
        }
    }

    /// The error of a file that does not hold what was written to it.
    pub(super) fn damaged(&self, path: PathBuf, problem: String) -> SpillError {
        let is_resumable = matches!(self, Self::Resumable { .. });
        let folder = is_resumable.then(|| self.path().to_owned());
        SpillError::Damaged { path, problem, folder }
    }

    /// Removes a resumable folder and all that is in it. A temporary one goes when it is dropped.
    pub(super) fn finish(&self) -> Result<(), SpillError> {
        let Self::Resumable { folder, .. } = self else { return Ok(()) };
        let path = folder.path();
        // Under another name first: stopped halfway, the rest must not be taken for a run. Where
        // open files are in the way of that, it is removed as it is.
        let done = path.with_extension("run.done");
        let _ = fs::remove_dir_all(&done);
        let place = if fs::rename(path, &done).is_ok() { &done } else { path };
        fs::remove_dir_all(place)
            .map_err(|source| SpillError::Io { path: place.to_owned(), source })
    }
}

fn refused(path: &Path, source: io::Error) -> SpillError {
    SpillError::TempDir { path: path.to_owned(), source }
}
