//! Temporary files of outputs: `.lookalike-XXXXXX.part` in the folder of the output.
//!
//! The writer holds an exclusive lock on its file. So another run can distinguish a file in use
//! from the remains of an interrupted run.

use crate::temporary::{self, RegisteredPath};
use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The prefix and the suffix of the name of a temporary file or folder.
pub(crate) const PREFIX: &str = ".lookalike-";
pub(crate) const SUFFIX: &str = ".part";
/// The number of random characters between them.
const RANDOM_CHARS: usize = 6;
/// Attempts to create a file. Another run may remove the file before it is locked.
const ATTEMPTS: usize = 16;

/// The temporary file of an output. It is removed when dropped, unless [`persist`](Self::persist)
/// renamed it.
#[derive(Debug)]
pub(crate) struct PartFile {
    file: NamedTempFile,
    _registered: RegisteredPath,
}

impl PartFile {
    /// Creates the temporary file of `place`, in its folder. It has the permissions and the group
    /// of the file at `place`. If no such file exists, it has the permissions of any new file,
    /// restricted by the umask.
    pub(crate) fn create(place: &Path) -> io::Result<Self> {
        let replaced = place.metadata().ok();
        let folder = folder_of(place);
        for _ in 0..ATTEMPTS {
            let create = || create(folder, replaced.as_ref());
            let (file, registered) = temporary::register(create, NamedTempFile::path)?;
            if lock(file.as_file())? {
                return Ok(Self { file, _registered: registered });
            }
        }
        Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            "another process removes each new temporary file there",
        ))
    }

    pub(crate) fn as_file(&self) -> &File {
        self.file.as_file()
    }

    pub(crate) fn as_file_mut(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// The random part of the temporary name.
    pub(crate) fn random_chars(&self) -> String {
        let name = self.file.path().file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_prefix(PREFIX).unwrap_or(&name);
        name.strip_suffix(SUFFIX).unwrap_or(name).to_owned()
    }

    /// Renames the file to `place`, which may exist.
    pub(crate) fn persist(self, place: &Path) -> io::Result<()> {
        let _file: File = self.file.persist(place).map_err(|error| error.error)?;
        Ok(())
    }

    /// Renames the file to `place`, which must not exist.
    pub(crate) fn persist_new(self, place: &Path) -> io::Result<()> {
        let _file: File = self.file.persist_noclobber(place).map_err(|error| error.error)?;
        Ok(())
    }
}

/// Writes a file that appears only when it is complete, and replaces an existing file. `-` is
/// standard output.
///
/// # Errors
/// The file cannot be written. In this case, an existing file is unchanged.
pub fn write_whole_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path == Path::new("-") {
        let mut out = io::stdout().lock();
        io::Write::write_all(&mut out, bytes)?;
        return io::Write::flush(&mut out);
    }
    let mut part = PartFile::create(path)?;
    io::Write::write_all(part.as_file_mut(), bytes)?;
    part.as_file().sync_all()?;
    part.persist(path)
}

/// The folder of a file.
pub(crate) fn folder_of(place: &Path) -> &Path {
    match place.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn create(folder: &Path, replaced: Option<&Metadata>) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX).rand_bytes(RANDOM_CHARS);
    let mode = replaced.map_or(0o666, |metadata| mode_of(metadata) & 0o777);
    restrict(&mut builder, mode);
    let file = builder.tempfile_in(folder)?;
    if let Some(replaced) = replaced {
        keep_permissions(file.as_file(), replaced)?;
    }
    Ok(file)
}

/// Sets the permissions of a new file, which the umask restricts.
#[cfg(unix)]
pub(crate) fn restrict(builder: &mut tempfile::Builder<'_, '_>, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(Permissions::from_mode(mode));
}

#[cfg(not(unix))]
pub(crate) fn restrict(_: &mut tempfile::Builder<'_, '_>, _: u32) {}

#[cfg(unix)]
fn mode_of(metadata: &Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::mode(metadata)
}

#[cfg(not(unix))]
fn mode_of(_: &Metadata) -> u32 {
    0o666
}

/// Gives a new file the permissions of the file that it replaces, and its owner and group if the
/// system allows this. If the group cannot be kept, the group of the new file receives no
/// permissions.
#[cfg(unix)]
fn keep_permissions(file: &File, replaced: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let new = file.metadata()?;
    let mut mode = replaced.mode() & 0o777;
    if new.uid() != replaced.uid() {
        // Only the superuser may change the owner.
        let _ = fchown(file, Some(replaced.uid()), None);
    }
    if new.gid() != replaced.gid() && fchown(file, None, Some(replaced.gid())).is_err() {
        mode &= !0o070;
    }
    file.set_permissions(Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn keep_permissions(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Locks a new file. Returns `false` if another run has locked or removed it. If the file system
/// does not support locks, the file remains unlocked, and no run removes it.
#[cfg(unix)]
fn lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Err(fs::TryLockError::WouldBlock) => Ok(false),
        Ok(()) | Err(fs::TryLockError::Error(_)) => {
            Ok(std::os::unix::fs::MetadataExt::nlink(&file.metadata()?) > 0)
        }
    }
}

/// On other systems, a lock would prevent reading the completed file.
#[cfg(not(unix))]
fn lock(_: &File) -> io::Result<bool> {
    Ok(true)
}

/// The remains of interrupted runs in a folder.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Leftovers {
    /// Temporary files that were removed.
    pub removed: Vec<PathBuf>,
    /// Temporary folders. They contain copies of documents, so the user decides about them.
    pub folders: Vec<PathBuf>,
}

/// Removes the temporary files that interrupted runs left in the folder of the output `path`:
/// regular files of this user, with the name of a temporary file, which no run has locked. Does not
/// follow links. Only lists folders with such names. Does not remove anything if the file system
/// does not support locks, or on systems other than Unix.
///
/// Skips entries that cannot be read or removed, because they must not stop a run.
pub fn remove_leftovers(path: &Path) -> Leftovers {
    let mut found = Leftovers::default();
    // The temporary file for a link is in the folder of the link's target.
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let Ok(entries) = fs::read_dir(folder_of(&place)) else { return found };
    for entry in entries.flatten() {
        if !entry.file_name().to_str().is_some_and(is_temporary_name) {
            continue;
        }
        let path = entry.path();
        match is_abandoned(&path) {
            Ok(AbandonedFile::File) => found.removed.push(path),
            Ok(AbandonedFile::Folder) => found.folders.push(path),
            Ok(AbandonedFile::Not) | Err(_) => {}
        }
    }
    found.removed.sort_unstable();
    found.folders.sort_unstable();
    found
}

/// Whether a name has the form of temporary names.
pub(crate) fn is_temporary_name(name: &str) -> bool {
    let random = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    random.is_some_and(|random| {
        random.len() == RANDOM_CHARS && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

enum AbandonedFile {
    /// A removed file.
    File,
    Folder,
    Not,
}

#[cfg(unix)]
fn is_abandoned(path: &Path) -> io::Result<AbandonedFile> {
    use rustix::fs::{Mode, OFlags};
    use std::os::unix::fs::MetadataExt;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let opened = file.metadata()?;
    let is_own = opened.uid() == rustix::process::geteuid().as_raw();
    if !is_own || !(opened.is_file() || opened.is_dir()) || file.try_lock().is_err() {
        return Ok(AbandonedFile::Not);
    }
    // The run may have just finished and renamed its file.
    let named = path.symlink_metadata()?;
    if (named.dev(), named.ino()) != (opened.dev(), opened.ino()) {
        return Ok(AbandonedFile::Not);
    }
    if opened.is_dir() {
        return Ok(AbandonedFile::Folder);
    }
    fs::remove_file(path)?;
    Ok(AbandonedFile::File)
}

#[cfg(not(unix))]
fn is_abandoned(_: &Path) -> io::Result<AbandonedFile> {
    Ok(AbandonedFile::Not)
}
