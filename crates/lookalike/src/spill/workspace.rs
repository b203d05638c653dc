//! The folder that temporary files lie in: one that goes with the run, or one that stays until the
//! run has come to its end.

use super::description;
use super::file::SpillFile;
use super::folder::SpillFolder;
use super::private::PrivateFolder;
use crate::error::Error;
use crate::temporary;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tempfile::TempDir;

/// Locked as long as a run is at work in a resumable folder.
const LOCK: &str = "lock";

/// A folder for temporary files.
///
/// Those of a [`temporary`](Self::temporary) one have no name to the system, so they are gone when
/// the process is, whatever ends it. The folder's rights keep others than its owner from the files.
/// A clone is the same folder.
#[derive(Debug, Clone)]
pub struct Workspace {
    folder: Arc<SpillFolder>,
}

impl Workspace {
    /// Makes the folder `lookalike-….tmp` in `parent`. It is removed when the workspace and
    /// all its files are dropped, and by [`temporary::remove_all`]; after a kill it stays, empty.
    ///
    /// # Errors
    /// [`Error::TempDir`] when `parent` is no folder or takes no files.
    pub fn temporary(parent: &Path) -> Result<Self, Error> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("lookalike-").suffix(".tmp");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let made = temporary::register(|| builder.tempdir_in(parent), TempDir::path);
        let (folder, registered) = made.map_err(|source| refused(parent, source))?;
        Ok(Self { folder: Arc::new(SpillFolder::Temporary { folder, _registered: registered }) })
    }

    /// Makes the folder `lookalike-NAME.run` in `parent`, or finds it again. It stays until
    /// [`finish`](Self::finish), and is locked against a second run until this one ends. `name`
    /// must be good for a file name. `description` is what makes the run the one it is: inputs,
    /// parameters, version of the formats.
    ///
    /// On Unix the folder has mode 700 and its files 600, and an existing one must belong to this
    /// user with no permissions for others; links in it are not followed.
    ///
    /// # Errors
    /// [`Error::TempDir`] when `parent` is no folder or takes no files, [`Error::RunNotPrivate`]
    /// when the folder is a link or somebody else's or open to others, [`Error::RunInUse`] when
    /// another run is at work in the folder, [`Error::RunDiffers`] when it was made for another
    /// description, [`Error::SpillDamaged`] when it is not the folder of a run.
    pub fn resumable(
        parent: &Path,
        name: &str,
        description: &serde_json::Value,
    ) -> Result<Self, Error> {
        let folder = PrivateFolder::open(run_folder(parent, name))?;
        let path = folder.path().to_owned();
        let lock = folder.file(LOCK).map_err(|source| refused(&path, source))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::RunInUse { path }),
            Err(TryLockError::Error(source)) => return Err(refused(&path, source)),
        }
        description::check(&folder, LOCK, description)?;
        Ok(Self { folder: Arc::new(SpillFolder::Resumable { folder, _lock: lock }) })
    }

    /// Whether [`resumable`](Self::resumable) would find a run that was started before.
    pub fn existing(parent: &Path, name: &str) -> bool {
        run_folder(parent, name).join(description::FILE).is_file()
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Whether its files stay when the run is stopped.
    pub fn is_resumable(&self) -> bool {
        matches!(*self.folder, SpillFolder::Resumable { .. })
    }

    /// Makes an empty file; one of that name that is there already is emptied.
    ///
    /// # Errors
    /// [`Error::Spill`].
    pub fn create(&self, name: &str) -> Result<SpillFile, Error> {
        self.open(name, 0)
    }

    /// Opens a file that [`create`](Self::create) made in an earlier run, and cuts off what is
    /// behind its first `len` bytes, which are the ones known to be on the disk.
    ///
    /// # Errors
    /// [`Error::SpillDamaged`] when it is not there or shorter than that, [`Error::Spill`] when it
    /// cannot be opened.
    pub fn open(&self, name: &str, len: u64) -> Result<SpillFile, Error> {
        let (file, path) = self.open_raw(name, len)?;
        Ok(SpillFile::new(file, path, len, Some(Arc::clone(&self.folder))))
    }

    /// As [`open`](Self::open), but gives the file as it is, at its end, and its name for messages.
    /// With a `len` of 0 it is made if it is not there.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn open_raw(&self, name: &str, len: u64) -> Result<(File, PathBuf), Error> {
        let (file, path) = self.raw(name)?;
        let failed = |source| Error::Spill { path: path.clone(), source };
        let found = file.metadata().map_err(failed)?.len();
        if found < len {
            let problem = format!("{len} bytes were written to it, {found} are there");
            return Err(self.damaged(path, problem));
        }
        file.set_len(len).map_err(failed)?;
        io::Seek::seek(&mut &file, io::SeekFrom::End(0)).map_err(failed)?;
        Ok((file, path))
    }

    /// Makes a file that nobody else can open and that goes when it is dropped or the process
    /// ends, also in a resumable folder. `name` is for messages.
    ///
    /// # Errors
    /// [`Error::Spill`].
    pub fn scratch(&self, name: &str) -> Result<SpillFile, Error> {
        let path = self.path().join(name);
        match tempfile::tempfile_in(self.path()) {
            Ok(file) => Ok(SpillFile::new(file, path, 0, Some(Arc::clone(&self.folder)))),
            Err(source) => Err(Error::Spill { path, source }),
        }
    }

    /// Removes the folder and all that is in it: the run is done. A temporary one goes when it and
    /// all its files are dropped.
    ///
    /// # Errors
    /// [`Error::Spill`] naming the folder when it cannot be removed.
    pub fn finish(self) -> Result<(), Error> {
        let SpillFolder::Resumable { folder, .. } = &*self.folder else { return Ok(()) };
        let path = folder.path();
        // Under another name first: stopped halfway, the rest must not be taken for a run. Where
        // open files are in the way of that, it is removed as it is.
        let done = path.with_extension("run.done");
        let _ = fs::remove_dir_all(&done);
        let place = if fs::rename(path, &done).is_ok() { &done } else { path };
        fs::remove_dir_all(place).map_err(|source| Error::Spill { path: place.to_owned(), source })
    }

    /// A file to read and write with the content it has, and its name.
    pub(super) fn raw(&self, name: &str) -> Result<(File, PathBuf), Error> {
        let path = self.path().join(name);
        let opened = match &*self.folder {
            SpillFolder::Temporary { folder, .. } => tempfile::tempfile_in(folder.path()),
            SpillFolder::Resumable { folder, .. } => folder.file(name),
        };
        match opened {
            Ok(file) => Ok((file, path)),
            Err(source) => Err(Error::Spill { path, source }),
        }
    }

    pub(super) fn folder(&self) -> Arc<SpillFolder> {
        Arc::clone(&self.folder)
    }

    pub(super) fn damaged(&self, path: PathBuf, problem: String) -> Error {
        let folder = self.is_resumable().then(|| self.path().to_owned());
        Error::SpillDamaged { path, problem, folder }
    }
}

fn run_folder(parent: &Path, name: &str) -> PathBuf {
    parent.join(format!("lookalike-{name}.run"))
}

fn refused(path: &Path, source: io::Error) -> Error {
    Error::TempDir { path: path.to_owned(), source }
}

/// Where temporary files may go. The folder for them is made when the first is needed.
#[derive(Debug)]
pub struct TempSpace {
    parent: PathBuf,
    workspace: OnceLock<Workspace>,
    /// Held while the folder is made.
    making: Mutex<()>,
}

impl TempSpace {
    /// A folder will be made in `parent` when one is needed, and removed with this.
    pub fn new(parent: PathBuf) -> Self {
        Self { parent, workspace: OnceLock::new(), making: Mutex::new(()) }
    }

    /// What is temporary goes to the folder of this run.
    pub fn resumable(workspace: Workspace) -> Self {
        let space = Self::new(workspace.path().to_owned());
        let _ = space.workspace.set(workspace);
        space
    }

    /// The folder, made at the first call.
    ///
    /// # Errors
    /// [`Error::TempDir`]; the next call tries again.
    pub fn workspace(&self) -> Result<&Workspace, Error> {
        if let Some(workspace) = self.workspace.get() {
            return Ok(workspace);
        }
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(workspace) = self.workspace.get() {
            return Ok(workspace);
        }
        let made = Workspace::temporary(&self.parent)?;
        Ok(self.workspace.get_or_init(|| made))
    }

    /// The folder that was given, for messages.
    pub fn path(&self) -> &Path {
        &self.parent
    }

    /// Whether a folder was made.
    pub fn is_used(&self) -> bool {
        self.workspace.get().is_some()
    }

    /// Removes the folder, if one was made; see [`Workspace::finish`].
    ///
    /// # Errors
    /// [`Error::Spill`] naming the folder when it cannot be removed.
    pub fn finish(&self) -> Result<(), Error> {
        self.workspace.get().map_or(Ok(()), |workspace| workspace.clone().finish())
    }
}
