//! The space for temporary files of a run: a folder that goes with the run, or one that stays until
//! the run is complete.

use super::error::SpillError;
use super::file::{SpillFile, io_error};
use super::folder::SpillFolder;
use crate::read::Spool;
use parking_lot::Mutex;
use serde_json::Value;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Where temporary files may go. The folder for them is made when the first is needed, and removed
/// when this and all its files are dropped; that of a resumable run by [`finish`](Self::finish).
#[derive(Debug)]
pub(crate) struct TempSpace {
    parent: PathBuf,
    folder: OnceLock<Arc<SpillFolder>>,
    /// Held while the folder is made.
    making: Mutex<()>,
    is_resumable: bool,
}

impl TempSpace {
    /// A folder will be made in `parent` when one is needed.
    pub(crate) fn new(parent: PathBuf) -> Self {
        Self { parent, folder: OnceLock::new(), making: Mutex::new(()), is_resumable: false }
    }

    /// Makes the folder `lookalike-NAME.run` in `parent`, or finds it again. It is locked against a
    /// second run until this one ends. `name` must be good for a file name. `description` is what
    /// makes the run the one it is: inputs, parameters, version of the formats.
    ///
    /// On Unix the folder has mode 700 and its files 600, and an existing one must belong to this
    /// user with no permissions for others; links in it are not followed.
    ///
    /// # Errors
    /// [`SpillError::TempDir`] if `parent` takes no files, [`SpillError::RunNotPrivate`] if the
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

    /// Whether its files stay when the run is stopped.
    pub(crate) fn is_resumable(&self) -> bool {
        self.is_resumable
    }

    /// The folder, made at the first call.
    ///
    /// # Errors
    /// [`SpillError::TempDir`]; the next call tries again.
    pub(super) fn folder(&self) -> Result<&Arc<SpillFolder>, SpillError> {
        if let Some(folder) = self.folder.get() {
            return Ok(folder);
        }
        let _making = self.making.lock();
        if let Some(folder) = self.folder.get() {
            return Ok(folder);
        }
        let made = SpillFolder::temporary(&self.parent)?;
        Ok(self.folder.get_or_init(|| Arc::new(made)))
    }

    /// Opens a file that an earlier run made, and cuts off what is behind its first `len` bytes,
    /// which are the ones known to be on the disk. With a `len` of 0 it is made, or emptied.
    ///
    /// # Errors
    /// [`SpillError::Damaged`] when it is not there or shorter than that, [`SpillError::Io`] when
    /// it cannot be opened.
    pub(super) fn open(&self, name: &str, len: u64) -> Result<SpillFile, SpillError> {
        Ok(SpillFile::new(self.spool(name, len)?, Some(Arc::clone(self.folder()?))))
    }

    /// As [`open`](Self::open), for bytes that a collection cannot read again.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub(crate) fn spool(&self, name: &str, len: u64) -> Result<Spool, SpillError> {
        let (file, path) = self.raw(name)?;
        let failed = |source| SpillError::Io { path: path.clone(), source };
        let found = file.metadata().map_err(failed)?.len();
        if found < len {
            let problem = format!("{len} bytes were written to it, {found} are there");
            return Err(self.folder()?.damaged(path, problem));
        }
        file.set_len(len).map_err(failed)?;
        spool(file, path)
    }

    /// Makes a file that nobody else can open and that goes when it is dropped or the process
    /// ends, also in a resumable folder. `name` is for messages.
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

    /// A file to read and write with the content it has, and its name.
    pub(super) fn raw(&self, name: &str) -> Result<(File, PathBuf), SpillError> {
        let folder = self.folder()?;
        let path = folder.path().join(name);
        match folder.file(name) {
            Ok(file) => Ok((file, path)),
            Err(source) => Err(SpillError::Io { path, source }),
        }
    }

    /// Removes the folder of a resumable run and all that is in it: the run is done.
    ///
    /// # Errors
    /// [`SpillError::Io`] naming the folder when it cannot be removed.
    pub(crate) fn finish(&self) -> Result<(), SpillError> {
        self.folder.get().map_or(Ok(()), |folder| folder.finish())
    }
}

/// The file from its end on.
fn spool(file: File, path: PathBuf) -> Result<Spool, SpillError> {
    Spool::new(file, path.clone()).map_err(|error| SpillError::Io { path, source: io_error(error) })
}
