//! The place for temporary files of a run: a folder that is removed with the run, or a folder that
//! is kept until the run is complete.

use super::error::SpillError;
use super::file::{SpillFile, io_error};
use super::folder::SpillFolder;
use crate::read::Spool;
use parking_lot::Mutex;
use serde_json::Value;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The place for temporary files. Their folder is created on first use. It is removed when this
/// value and all its files are dropped, or, for a resumable run, by [`finish`](Self::finish).
#[derive(Debug)]
pub(crate) struct TempSpace {
    parent: PathBuf,
    folder: OnceLock<Arc<SpillFolder>>,
    /// Held while the folder is created.
    making: Mutex<()>,
    is_resumable: bool,
}

impl TempSpace {
    /// Creates a folder in `parent` on first use.
    pub(crate) fn new(parent: PathBuf) -> Self {
        Self { parent, folder: OnceLock::new(), making: Mutex::new(()), is_resumable: false }
    }

    /// Creates the folder `lookalike-NAME.run` in `parent`, or opens it if it exists. Locks it
    /// against a second run until this run ends. `name` must be valid in a file name. `description`
    /// identifies the run: inputs, parameters and version of the formats.
    ///
    /// On Unix, the folder has mode 700 and its files have mode 600. An existing folder must belong
    /// to this user and have no permissions for others. Links in it are not followed.
    ///
    /// # Errors
    /// [`SpillError::TempDir`] if `parent` is not writable, [`SpillError::RunNotPrivate`] if the
    /// folder is a link or other users may write to it. [`SpillError::RunInUse`] if another run
    /// uses the folder, [`SpillError::RunDiffers`] if it has another description,
    /// [`SpillError::Damaged`] if it is not the folder of a run.
    pub(crate) fn resumable(
        parent: &Path,
        name: &str,
        description: &Value,
    ) -> Result<Self, SpillError> {
        let folder = Arc::new(SpillFolder::resumable(parent, name, description)?);
        Ok(Self { folder: folder.into(), is_resumable: true, ..Self::new(parent.to_owned()) })
    }

    /// Whether its files remain after the run is stopped.
    pub(crate) fn is_resumable(&self) -> bool {
        self.is_resumable
    }

    /// Returns the folder. Creates it on the first call.
    ///
    /// # Errors
    /// [`SpillError::TempDir`]. The next call tries again.
    pub(super) fn folder(&self) -> Result<&Arc<SpillFolder>, SpillError> {
        if let Some(folder) = self.folder.get() {
            return Ok(folder);
        }
        let _making = self.making.lock();
        if let Some(folder) = self.folder.get() {
            return Ok(folder);
        }
        let created = SpillFolder::temporary(&self.parent)?;
        Ok(self.folder.get_or_init(|| Arc::new(created)))
    }

    /// Opens a file of an earlier run and truncates it to its first `len` bytes, which are known to
    /// be on the disk. If `len` is 0, creates the file or empties it.
    ///
    /// # Errors
    /// [`SpillError::Damaged`] if it does not exist or is shorter, [`SpillError::Io`] if it cannot
    /// be opened.
    pub(super) fn open(&self, name: &str, len: u64) -> Result<SpillFile, SpillError> {
        Ok(SpillFile::new(self.spool(name, len)?, Some(Arc::clone(self.folder()?))))
    }

    /// Like [`open`](Self::open), for bytes that a collection cannot read again.
    ///
    /// # Errors
    /// Errors of [`open`](Self::open).
    pub(crate) fn spool(&self, name: &str, len: u64) -> Result<Spool, SpillError> {
        let (file, path) = self.raw(name)?;
        let failed = |source| SpillError::Io { path: path.clone(), source };
        let found = file.metadata().map_err(failed)?.len();
        if found < len {
            let problem = format!("expected {len} bytes, found {found}");
            return Err(self.folder()?.damaged(path, problem));
        }
        file.set_len(len).map_err(failed)?;
        spool(file, path)
    }

    /// Creates a file that no other user can open, also in a resumable folder. It is removed when
    /// it is dropped or the process ends. `name` is for messages.
    ///
    /// # Errors
    /// [`SpillError::Io`].
    pub(super) fn scratch(&self, name: &str) -> Result<SpillFile, SpillError> {
        let folder = self.folder()?;
        let path = folder.path().join(name);
        match tempfile::tempfile_in(folder.path()) {
            Ok(file) => Ok(SpillFile::new(spool(file, path)?, Some(Arc::clone(folder)))),
            Err(source) => Err(SpillError::Io { path, source }),
        }
    }

    /// Opens a file to read and write, without truncating it, and returns its path.
    pub(super) fn raw(&self, name: &str) -> Result<(File, PathBuf), SpillError> {
        let folder = self.folder()?;
        let path = folder.path().join(name);
        match folder.file(name) {
            Ok(file) => Ok((file, path)),
            Err(source) => Err(SpillError::Io { path, source }),
        }
    }

    /// Removes the folder of a resumable run with its content, after the run is complete.
    ///
    /// # Errors
    /// [`SpillError::Io`] with the folder if it cannot be removed.
    pub(crate) fn finish(&self) -> Result<(), SpillError> {
        self.folder.get().map_or(Ok(()), |folder| folder.finish())
    }
}

/// Converts the file to a spool that appends at its end.
fn spool(file: File, path: PathBuf) -> Result<Spool, SpillError> {
    Spool::new(file, path.clone()).map_err(|error| SpillError::Io { path, source: io_error(error) })
}
