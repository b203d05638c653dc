//! Connections that read the catalogue.
//!
//! A reader shares a log with the writer, which needs files next to the catalogue. On a read-only
//! file system, these files cannot be created. The catalogue is then read as an immutable file, and
//! checked before each snapshot, because the file system may be mounted for writing elsewhere. On
//! any other file system, another process may write at any time, so nothing is read without these
//! files.

use crate::error::{IndexError, Unwritable};
use crate::folder::catalogue;
use crate::folder::index_folder::{IndexFolder, is_full};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A connection, with the file states on which it relies.
pub(crate) struct ReadConnection {
    pub(crate) connection: Connection,
    /// `None` if SQLite itself detects writes of other processes.
    unchanged: Option<FileStates>,
}

impl ReadConnection {
    /// Opens the catalogue without checking its version.
    pub(crate) fn open(place: &IndexFolder) -> Result<Self, IndexError> {
        let open = |path: &Path, flags: OpenFlags| {
            catalogue::open(path, flags | OpenFlags::SQLITE_OPEN_READ_ONLY, 8 << 10)
        };
        let error = match open(&place.catalogue(), OpenFlags::empty()) {
            Ok(mut connection) => {
                place.poll_in(&mut connection)?;
                return Ok(Self { connection, unchanged: None });
            }
            Err(error) => error,
        };
        if is_full(&error) || !needs_files(&error) {
            return Err(place.database(error));
        }
        // Read the states first, so that later changes are detected.
        let files = FileStates::of(place);
        match immutable_uri(place) {
            Some(address)
                if files.is_log_empty() && place.unwritable() == Unwritable::FileSystem =>
            {
                let connection = open(&address, OpenFlags::SQLITE_OPEN_URI);
                let mut connection = connection.map_err(|error| place.database(error))?;
                place.poll_in(&mut connection)?;
                Ok(Self { connection, unchanged: Some(files) })
            }
            _ => Err(rights_error(place, &error)),
        }
    }

    /// Returns true if the connection sees the current state.
    pub(crate) fn is_current(&self, place: &IndexFolder) -> bool {
        self.unchanged.as_ref().is_none_or(|files| *files == FileStates::of(place))
    }
}

/// Returns true if SQLite could not create the files that a reader shares with a writer.
fn needs_files(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::SystemIoFailure))
}

fn rights_error(place: &IndexFolder, error: &rusqlite::Error) -> IndexError {
    let why = format!(
        "its catalogue cannot be read safely ({error}): reading shares catalog.sqlite-wal and \
         catalog.sqlite-shm with a writer; let this user write to the folder and its files, or \
         read a backup of the index"
    );
    IndexError::database(&place.name, why)
}

/// The URI of the catalogue as an immutable file.
fn immutable_uri(place: &IndexFolder) -> Option<PathBuf> {
    let path = std::path::absolute(place.catalogue()).ok()?;
    let escaped = path.to_str()?.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    Some(format!("file:{escaped}?immutable=1").into())
}

/// The states of the files. They change when another process writes.
#[derive(Debug, PartialEq, Eq)]
struct FileStates {
    catalogue: Option<FileState>,
    log: Option<FileState>,
}

/// The identity of a file, its length in bytes and its time of change.
type FileState = (u64, u64, Option<SystemTime>);

impl FileStates {
    fn of(place: &IndexFolder) -> Self {
        let state_of = |path: PathBuf| {
            let data = std::fs::metadata(path).ok()?;
            Some((number(&data), data.len(), data.modified().ok()))
        };
        Self { catalogue: state_of(place.catalogue()), log: state_of(place.log()) }
    }

    fn is_log_empty(&self) -> bool {
        self.log.is_none_or(|(_, length, _)| length == 0)
    }
}

/// Distinguishes a file from another one with the same name.
#[cfg(unix)]
fn number(data: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(data)
}

/// Distinguishes a file from another one with the same name.
#[cfg(not(unix))]
fn number(data: &Metadata) -> u64 {
    let created = data.created().ok().and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
    created.map_or(0, |duration| duration.as_nanos() as u64)
}
