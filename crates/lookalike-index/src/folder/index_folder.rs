//! The folder of an index: its paths, and conversion of its errors.

use crate::error::{IndexError, Unwritable};
use rusqlite::{Connection, ErrorCode};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Number of SQLite steps between two polls for interruption, about a millisecond.
const POLLED_STEPS: i32 = 100_000;

/// The folder of an index, and its name in messages.
#[derive(Debug, Clone)]
pub(crate) struct IndexFolder {
    pub(crate) folder: PathBuf,
    pub(crate) name: String,
    /// Whether operations on the index must end.
    pub(crate) interrupted: Arc<AtomicBool>,
}

impl IndexFolder {
    pub(crate) fn new(folder: &Path) -> Self {
        let name = folder.display().to_string();
        let folder = folder.to_path_buf();
        let interrupted = Arc::default();
        Self { folder, name, interrupted }
    }

    /// Ends running and later operations on the index.
    pub(crate) fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Relaxed);
    }

    /// Ends a loop over stored data after an interruption.
    ///
    /// # Errors
    /// [`IndexError::Interrupted`].
    pub(crate) fn poll(&self) -> Result<(), IndexError> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(IndexError::Interrupted { index: self.name.clone() });
        }
        Ok(())
    }

    /// Makes each statement of a connection poll for interruption.
    pub(crate) fn poll_in(&self, connection: &mut Connection) -> Result<(), IndexError> {
        let interrupted = Arc::clone(&self.interrupted);
        let poll = move || interrupted.load(Ordering::Relaxed);
        let set = connection.progress_handler(POLLED_STEPS, Some(poll));
        set.map_err(|error| self.database(error))
    }

    /// The key from which a loop over a table continues. In a damaged table, the search for a later
    /// key may return an earlier key, so that the loop would never end.
    ///
    /// # Errors
    /// [`IndexError::DamagedCatalogue`] for a key that is not after the last one,
    /// [`IndexError::Interrupted`].
    pub(crate) fn later(&self, table: &str, last: i64, next: i64) -> Result<i64, IndexError> {
        self.poll()?;
        if next > last {
            return Ok(next);
        }
        Err(self.damaged_catalogue(format!("table {table} has key {next} after key {last}")))
    }

    /// Creates a file with the permissions of the catalogue. In a folder that this program created,
    /// only this user may read the catalogue.
    pub(crate) fn new_file(&self, path: &Path) -> Result<File, IndexError> {
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(|error| self.writing(path, error))?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let catalogue = std::fs::symlink_metadata(self.catalogue());
            let mode = catalogue.map_or(0o600, |data| data.permissions().mode() & 0o666);
            if mode != 0o600 {
                let permissions = std::fs::Permissions::from_mode(mode);
                file.set_permissions(permissions).map_err(|error| self.writing(path, error))?;
            }
        }
        Ok(file)
    }

    /// The file of the catalogue.
    pub(crate) fn catalogue(&self) -> PathBuf {
        self.folder.join("catalog.sqlite")
    }

    /// The write-ahead log of the catalogue.
    pub(crate) fn log(&self) -> PathBuf {
        self.folder.join("catalog.sqlite-wal")
    }

    /// The file whose lock the writer holds.
    pub(crate) fn lock(&self) -> PathBuf {
        self.folder.join("lock")
    }

    /// The file that reserves space for removals while the disk is full.
    pub(crate) fn reserve(&self) -> PathBuf {
        self.folder.join("reserve")
    }

    /// The error of an index that cannot be written to.
    pub(crate) fn read_only(&self) -> IndexError {
        IndexError::ReadOnly { index: self.name.clone(), cause: self.unwritable() }
    }

    /// The reason why a file of the folder cannot be written to. Only an attempt to create a file
    /// distinguishes a read-only file system from missing permissions.
    pub(crate) fn unwritable(&self) -> Unwritable {
        let path = self.folder.join(format!(".writable-{}", std::process::id()));
        match File::create_new(&path) {
            Err(error) if error.kind() == ErrorKind::ReadOnlyFilesystem => Unwritable::FileSystem,
            Err(_) => Unwritable::Rights,
            Ok(_) => {
                let _ = std::fs::remove_file(&path);
                Unwritable::Rights
            }
        }
    }

    /// Converts a write error of a file.
    pub(crate) fn writing(&self, path: &Path, source: io::Error) -> IndexError {
        match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                IndexError::DiskFull { index: self.name.clone() }
            }
            ErrorKind::ReadOnlyFilesystem => {
                IndexError::ReadOnly { index: self.name.clone(), cause: Unwritable::FileSystem }
            }
            ErrorKind::PermissionDenied => {
                IndexError::ReadOnly { index: self.name.clone(), cause: Unwritable::Rights }
            }
            _ => IndexError::io(path, source),
        }
    }

    /// The error of an invalid catalogue, the file `catalog.sqlite`.
    pub(crate) fn damaged_catalogue(&self, why: String) -> IndexError {
        IndexError::DamagedCatalogue { file: self.catalogue().display().to_string(), why }
    }

    /// Converts an error of SQLite.
    #[expect(clippy::needless_pass_by_value, reason = "errors come by value where it is used")]
    pub(crate) fn database(&self, error: rusqlite::Error) -> IndexError {
        let index = self.name.clone();
        let Some(code) = error.sqlite_error_code() else {
            return self.damaged_catalogue(error.to_string());
        };
        if is_full(&error) {
            return IndexError::DiskFull { index };
        }
        match code {
            ErrorCode::ReadOnly => self.read_only(),
            ErrorCode::OperationInterrupted => IndexError::Interrupted { index },
            ErrorCode::DatabaseCorrupt => self.damaged_catalogue(error.to_string()),
            ErrorCode::NotADatabase => {
                IndexError::not_an_index(index, "its catalogue is not a database")
            }
            _ => {
                let transient = matches!(code, ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked);
                IndexError::Database { index, why: error.to_string(), transient }
            }
        }
    }
}

/// Returns true if SQLite had no space, including space for its shared-memory file.
pub(crate) fn is_full(error: &rusqlite::Error) -> bool {
    const SHARED_FILE_CANNOT_GROW: i32 = 0x130a;
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => {
            failure.code == ErrorCode::DiskFull || failure.extended_code == SHARED_FILE_CANNOT_GROW
        }
        _ => false,
    }
}

/// Syncs the directory of the index.
pub(crate) fn sync_folder(place: &IndexFolder) -> Result<(), IndexError> {
    sync_names(&place.folder).map_err(|error| place.writing(&place.folder, error))
}

/// Syncs a directory.
pub(crate) fn sync_names(folder: &Path) -> io::Result<()> {
    // Windows cannot open a directory as a file, and syncs names itself.
    if cfg!(windows) { Ok(()) } else { File::open(folder)?.sync_all() }
}
