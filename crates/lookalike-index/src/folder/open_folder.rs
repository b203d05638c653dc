//! Creates, opens and locks the folder of an index.

use crate::backend::Change;
use crate::error::IndexError;
use crate::folder::catalogue;
use crate::folder::catalogue::connection::Catalogue;
use crate::folder::catalogue::read_connection::ReadConnection;
use crate::folder::catalogue::state::CatalogueState;
use crate::folder::catalogue::writer::CatalogueWriter;
use crate::folder::catalogue::writer_lock::WriterLock;
use crate::folder::index_folder::{IndexFolder, sync_names};
use crate::folder::index_state::IndexState;
use crate::folder::segments::posting_view::PostingView;
use crate::folder::tuning::Tuning;
use crate::folder::upkeep::maintenance;
use crate::folder::upkeep::reserve;
use crate::folder::validation;
use crate::folder::write;
use crate::settings::IndexSettings;
use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The part between the final name and a number in the temporary name of a folder.
const UNFINISHED: &str = ".unfinished-";

/// Creates an empty index. Its folder appears when the index is complete.
///
/// # Errors
/// [`IndexError::Exists`], and write errors.
pub(crate) fn create(folder: &Path, settings: &IndexSettings) -> Result<(), IndexError> {
    create_complete(folder, |place| catalogue::create(place, settings))
}

/// Like [`create`], and applies changes.
///
/// # Errors
/// As [`create`], and as [`write`](write::write).
pub(crate) fn create_filled(
    folder: &Path,
    settings: &IndexSettings,
    changes: &[Change<'_>],
) -> Result<(), IndexError> {
    create_complete(folder, |place| {
        catalogue::create(place, settings)?;
        let tuning = Tuning { background: false, ..Tuning::default() };
        let state = open_for_writing(place, Duration::ZERO, tuning)?;
        let result = write::write(&state, changes);
        state.close();
        result.map(drop)
    })
}

/// Creates a folder under a temporary name next to `to`, fills it, and renames it.
///
/// # Errors
/// [`IndexError::Exists`], errors of `fill`, and errors of renaming it.
pub(crate) fn create_complete(
    to: &Path,
    fill: impl FnOnce(&IndexFolder) -> Result<(), IndexError>,
) -> Result<(), IndexError> {
    let exists = || IndexError::Exists { index: to.display().to_string() };
    let Some(name) = to.file_name() else { return Err(exists()) };
    if to.symlink_metadata().is_ok() {
        return Err(exists());
    }
    let mut prefix = name.to_os_string();
    prefix.push(UNFINISHED);
    let mut unfinished = prefix.clone();
    unfinished.push(std::process::id().to_string());
    let named = IndexFolder::new(to);
    let place = IndexFolder { folder: to.with_file_name(unfinished), ..named.clone() };
    let failed = |error| named.writing(to, error);
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.map_or_else(|| PathBuf::from("."), Path::to_path_buf);
    std::fs::create_dir_all(&parent).map_err(failed)?;
    remove_abandoned(&parent, &prefix);
    private_folder().create(&place.folder).map_err(failed)?;
    // Marks the folder as in progress; the system releases the lock when the process ends.
    let filling = File::open(&place.folder);
    let _ = filling.as_ref().map(File::try_lock);
    let result = fill(&place).and_then(|()| {
        sync_names(&place.folder).map_err(failed)?;
        std::fs::rename(&place.folder, to).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty | ErrorKind::NotADirectory => {
                exists()
            }
            _ => failed(error),
        })?;
        sync_names(&parent).map_err(failed)
    });
    if result.is_err() {
        let _ = std::fs::remove_dir_all(&place.folder);
    }
    result
}

/// A builder of folders that only this user can access, because they contain texts.
fn private_folder() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Removes temporary folders that no process is filling. Keeps folders if the file system has no
/// locks.
fn remove_abandoned(parent: &Path, prefix: &OsStr) {
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let rest = name.as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes());
        if rest.is_some_and(|rest| !rest.is_empty() && rest.iter().all(u8::is_ascii_digit))
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
            && let Ok(folder) = File::open(entry.path())
            && folder.try_lock().is_ok()
        {
            // Not essential: the next call tries again.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Checks that the folder may be an index.
fn check_folder(place: &IndexFolder) -> Result<(), IndexError> {
    let index = place.name.clone();
    match std::fs::metadata(&place.folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(IndexError::Missing { index });
        }
        Err(error) => return Err(IndexError::io(&place.folder, error)),
        Ok(data) if !data.is_dir() => {
            return Err(IndexError::not_an_index(index, "it is not a folder"));
        }
        Ok(_) => {}
    }
    if place.catalogue().symlink_metadata().is_err() {
        return Err(IndexError::not_an_index(index, "it does not contain catalog.sqlite"));
    }
    validation::check_files(place)
}

/// Checks the folder and reads the settings of its index.
///
/// # Errors
/// As [`open`](crate::index::open).
pub(crate) fn settings(place: &IndexFolder) -> Result<IndexSettings, IndexError> {
    Ok(checked_settings(place)?.0)
}

/// Like [`settings`]. Also returns the connection, whose schema SQLite has parsed.
fn checked_settings(place: &IndexFolder) -> Result<(IndexSettings, ReadConnection), IndexError> {
    check_folder(place)?;
    let reading = ReadConnection::open(place)?;
    let settings = read_settings(Catalogue { place, connection: &reading.connection })?;
    Ok((settings, reading))
}

/// Checks the catalogue and reads its settings.
fn read_settings(catalogue: Catalogue<'_>) -> Result<IndexSettings, IndexError> {
    catalogue::check_version(catalogue)?;
    validation::check_schema(catalogue)?;
    let settings = catalogue::settings(catalogue)?;
    let head = CatalogueState::read(catalogue)?;
    catalogue::segments(catalogue, &head)?;
    Ok(settings)
}

/// Opens an index to read it. Segments are opened with the first snapshot.
///
/// # Errors
/// As [`open`](crate::index::open).
pub(crate) fn open_for_reading(folder: &Path, tuning: Tuning) -> Result<IndexState, IndexError> {
    let place = IndexFolder::new(folder);
    let (settings, reading) = checked_settings(&place)?;
    let state = IndexState::new(place, settings, tuning, None, PostingView::default());
    Ok(state.with_connection(reading))
}

/// Opens an index for writing, and rebuilds missing segments.
///
/// # Errors
/// As [`open`](crate::index::open), and write errors.
pub(crate) fn open_for_writing(
    place: &IndexFolder,
    wait: Duration,
    tuning: Tuning,
) -> Result<IndexState, IndexError> {
    let mut opened = open_to_write(place, wait, tuning);
    if matches!(opened, Err(IndexError::DiskFull { .. })) && reserve::release(place) {
        opened = open_to_write(place, wait, tuning);
    }
    if let Ok(state) = &opened {
        state.fill_reserve();
    }
    opened
}

fn open_to_write(
    place: &IndexFolder,
    wait: Duration,
    tuning: Tuning,
) -> Result<IndexState, IndexError> {
    // Nothing is written, not even a lock file, before the folder is known to contain an index.
    settings(place)?;
    let lock = WriterLock::acquire(place, wait)?;
    let connection = catalogue::connect(place)?;
    let catalogue = Catalogue { place, connection: &connection };
    if catalogue.run(|connection| connection.is_readonly("main"))? {
        return Err(place.read_only());
    }
    validation::check_mode(catalogue)?;
    // Another process may have written in the meantime.
    let settings = read_settings(catalogue)?;
    let mut head = CatalogueState::read(catalogue)?;
    maintenance::remove_orphans(catalogue, &head)?;
    maintenance::repair_segments(catalogue, &settings, tuning, &mut head)?;
    let view = PostingView::default().refreshed(catalogue, &settings, &head)?;
    let writer = CatalogueWriter::new(connection, head, lock);
    Ok(IndexState::new(place.clone(), settings, tuning, Some(writer), view))
}
