//! The folder of temporary files. It is removed or unlocked when its last user is dropped.

use super::description;
use super::error::SpillError;
use super::private::PrivateFolder;
use crate::temporary::{self, RegisteredPath};
use serde_json::Value;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The lock file of a resumable folder, locked while a run uses the folder.
const LOCK: &str = "lock";

/// The folder. Its permissions deny other users access to the files.
#[derive(Debug)]
pub(super) enum SpillFolder {
    /// `lookalike-….tmp`. It is removed when it is dropped, and by [`temporary::remove_all`]. After
    /// a kill it remains as an empty folder, because its files have already been unlinked.
    Temporary { folder: TempDir, _registered: RegisteredPath },
    /// `lookalike-NAME.run`. It remains after the run is stopped. Dropping it releases the lock.
    Resumable { folder: PrivateFolder, _lock: File },
}

impl SpillFolder {
    /// Creates a temporary folder in `parent`.
    pub(super) fn temporary(parent: &Path) -> Result<Self, SpillError> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("lookalike-").suffix(".tmp");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let created = temporary::register(|| builder.tempdir_in(parent), TempDir::path);
        let (folder, registered) = created.map_err(|source| refused(parent, source))?;
        Ok(Self::Temporary { folder, _registered: registered })
    }

    /// Creates the folder of the run `name` in `parent`, or opens it if it exists.
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

    /// Opens a file to read and write, without truncating it. Creates it if it does not exist.
    pub(super) fn file(&self, name: &str) -> io::Result<File> {
        match self {
            Self::Temporary { folder, .. } => tempfile::tempfile_in(folder.path()),
            Self::Resumable { folder, .. } => folder.file(name),
        }
    }

    /// The error of a file whose content differs from the written content.
    pub(super) fn damaged(&self, path: PathBuf, problem: String) -> SpillError {
        let is_resumable = matches!(self, Self::Resumable { .. });
        let folder = is_resumable.then(|| self.path().to_owned());
        SpillError::Damaged { path, problem, folder }
    }

    /// Removes a resumable folder with its content. A temporary one is removed when it is dropped.
    pub(super) fn finish(&self) -> Result<(), SpillError> {
        let Self::Resumable { folder, .. } = self else { return Ok(()) };
        let path = folder.path();
        // Rename it first, so that a partly removed folder is not mistaken for a run. If open files
        // prevent renaming, remove the folder under its current name.
        let renamed = path.with_extension("run.done");
        let _ = fs::remove_dir_all(&renamed);
        let place = if fs::rename(path, &renamed).is_ok() { &renamed } else { path };
        fs::remove_dir_all(place)
            .map_err(|source| SpillError::Io { path: place.to_owned(), source })
    }
}

fn refused(path: &Path, source: io::Error) -> SpillError {
    SpillError::TempDir { path: path.to_owned(), source }
}
