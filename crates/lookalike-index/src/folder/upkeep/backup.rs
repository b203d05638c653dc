//! Backup of an index that is in use.

use crate::error::IndexError;
use crate::folder::catalogue;
use crate::folder::index_folder::{IndexFolder, sync_names};
use crate::folder::index_state::{FolderSnapshot, IndexState};
use crate::folder::open_folder;
use crate::folder::segments::segment::Segment;
use crate::folder::tuning::Tuning;
use crate::folder::validation;
use rusqlite::OpenFlags;
use rusqlite::backup::{Backup, StepResult};
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Copies the current state of the index to a new folder. The folder appears only when the copy is
/// complete.
///
/// # Errors
/// As [`Backend::backup`](crate::backend::Backend::backup).
pub(crate) fn backup(state: &Arc<IndexState>, to: &Path) -> Result<(), IndexError> {
    open_folder::create_complete(to, |unfinished| {
        let snapshot = state.begin()?;
        copy_catalogue(&snapshot, unfinished)?;
        copy_segments(&snapshot, unfinished)?;
        drop(snapshot);
        // Opening for writing rebuilds segments that are missing because they were merged during
        // the copy.
        let wait = Duration::ZERO;
        let tuning = Tuning { background: false, ..state.tuning };
        drop(open_folder::open_for_writing(unfinished, wait, tuning)?);
        let catalogue = unfinished.catalogue();
        let synced = File::open(&catalogue).and_then(|file| file.sync_all());
        synced.map_err(|error| unfinished.writing(&catalogue, error))
    })
}

fn copy_catalogue(snapshot: &FolderSnapshot, to: &IndexFolder) -> Result<(), IndexError> {
    let failed = |error| to.database(error);
    to.new_file(&to.catalogue())?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut copy = rusqlite::Connection::open_with_flags(to.catalogue(), flags).map_err(failed)?;
    validation::harden(&copy).map_err(failed)?;
    let pages = Backup::new(snapshot.connection()?, &mut copy).map_err(failed)?;
    loop {
        snapshot.state.place.poll()?;
        match pages.step(1000).map_err(failed)? {
            StepResult::Done => break,
            StepResult::More => {}
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    }
    drop(pages);
    copy.close().map_err(|(_, error)| failed(error))
}

/// Copies the existing, undamaged files.
fn copy_segments(snapshot: &FolderSnapshot, to: &IndexFolder) -> Result<(), IndexError> {
    let from = &snapshot.state.place;
    for entry in catalogue::segments(snapshot.catalogue()?, &snapshot.head)? {
        let target = to.folder.join(&entry.name);
        let source = from.folder.join(&entry.name);
        // Skip links and pipes, because a segment is a regular file. `backup` rebuilds the
        // segment in the copy.
        if !source.symlink_metadata().is_ok_and(|data| data.is_file()) {
            continue;
        }
        let mut source = match File::open(&source) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(IndexError::io(&source, error)),
        };
        let mut copy = to.new_file(&target)?;
        let copied = std::io::copy(&mut source, &mut copy).and_then(|_| copy.sync_all());
        copied.map_err(|error| to.writing(&target, error))?;
        let sound = Segment::open(&to.folder, entry).and_then(|segment| segment.verify());
        if sound.is_err() {
            std::fs::remove_file(&target).map_err(|error| to.writing(&target, error))?;
        }
    }
    sync_names(&to.folder).map_err(|error| to.writing(&to.folder, error))
}
