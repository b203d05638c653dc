//! A folder that only its owner can read or write, and its files.
//!
//! The parent may be a folder that others can write to, such as `/tmp`, and they may guess the
//! name. So the owner and the permissions are checked, and files are opened through the folder's
//! descriptor without following links. A folder or file created by another user is refused.

use super::error::SpillError;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The folder, and on Unix its descriptor.
#[derive(Debug)]
pub(super) struct PrivateFolder {
    path: PathBuf,
    #[cfg(unix)]
    folder: File,
}

impl PrivateFolder {
    /// Creates the folder, or opens it if it exists.
    ///
    /// # Errors
    /// [`SpillError::RunNotPrivate`] if it exists and is a link or a file, belongs to another user
    /// or is open to others; [`SpillError::TempDir`] if it cannot be created or opened.
    pub(super) fn open(path: PathBuf) -> Result<Self, SpillError> {
        #[cfg_attr(not(unix), expect(unused_mut, reason = "permissions are set on Unix only"))]
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                let parent = path.parent().unwrap_or(Path::new(".")).to_owned();
                return Err(SpillError::TempDir { path: parent, source: error });
            }
            _ => {}
        }
        open_folder(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a file to read and write, without truncating it. Creates it if it does not exist. In
    /// that case its name is on the disk when this function returns.
    pub(super) fn file(&self, name: &str) -> io::Result<File> {
        let (file, is_new) = self.open_file(name)?;
        if is_new {
            sync_folder(&self.path)?;
        }
        Ok(file)
    }

    /// Reads the content of a file.
    pub(super) fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open_existing(name)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(unix)]
fn open_folder(path: PathBuf) -> Result<PrivateFolder, SpillError> {
    use rustix::fs::{Mode, OFlags};
    use std::os::unix::fs::MetadataExt;
    let refused = |problem: String| SpillError::RunNotPrivate { path: path.clone(), problem };
    let failed = |source| SpillError::TempDir { path: path.clone(), source };
    if !path.symlink_metadata().map_err(failed)?.is_dir() {
        return Err(refused("it is a link or a file, not a folder".to_owned()));
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(&path, flags, Mode::empty());
    let metadata = match opened {
        // An unreadable folder belongs to another user. Reporting that is more helpful.
        Err(_) => path.symlink_metadata().map_err(failed)?,
        Ok(ref folder) => {
            File::from(folder.try_clone().map_err(failed)?).metadata().map_err(failed)?
        }
    };
    let owner = metadata.uid();
    let user = rustix::process::geteuid().as_raw();
    if owner != user {
        return Err(refused(format!(
            "it belongs to the user {owner}, and this is the user {user}"
        )));
    }
    let mode = metadata.mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Err(refused(format!("others may look into it (mode {mode:o}, expected 700)")));
    }
    let folder = File::from(opened.map_err(|error| failed(error.into()))?);
    Ok(PrivateFolder { path, folder })
}

#[cfg(unix)]
impl PrivateFolder {
    fn open_file(&self, name: &str) -> io::Result<(File, bool)> {
        use rustix::fs::{Mode, OFlags};
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.folder, name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => Ok((File::from(file), true)),
            Err(rustix::io::Errno::EXIST) => Ok((self.open_existing(name)?, false)),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a file of an earlier run. Makes it private if others had access.
    fn open_existing(&self, name: &str) -> io::Result<File> {
        use rustix::fs::{Mode, OFlags};
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&self.folder, name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(rustix::io::Errno::LOOP) => return Err(foreign("it is a link")),
            Err(error) => return Err(error.into()),
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(foreign("it is not a file"));
        }
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(foreign("it belongs to another user"));
        }
        if metadata.nlink() != 1 {
            return Err(foreign("it has a second name"));
        }
        if metadata.mode() & 0o077 != 0 {
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
        }
        Ok(file)
    }
}

/// An error about a file that was not written by a run.
#[cfg(unix)]
fn foreign(problem: &str) -> io::Error {
    io::Error::other(format!("{problem}, which no run leaves there"))
}

#[cfg(not(unix))]
fn open_folder(path: PathBuf) -> Result<PrivateFolder, SpillError> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(PrivateFolder { path }),
        Ok(_) => {
            let problem = "it is a link or a file, not a folder".to_owned();
            Err(SpillError::RunNotPrivate { path, problem })
        }
        Err(source) => Err(SpillError::TempDir { path, source }),
    }
}

#[cfg(not(unix))]
impl PrivateFolder {
    fn open_file(&self, name: &str) -> io::Result<(File, bool)> {
        let path = self.path.join(name);
        let is_new = !path.exists();
        let mut options = fs::OpenOptions::new();
        Ok((options.read(true).write(true).create(true).truncate(false).open(path)?, is_new))
    }

    fn open_existing(&self, name: &str) -> io::Result<File> {
        fs::OpenOptions::new().read(true).write(true).open(self.path.join(name))
    }
}

/// Syncs the names in a folder to the disk, if the system can.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
