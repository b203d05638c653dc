//! Copies an index that is in use.

use super::catalogue;
use super::fault::{Place, sync_names};
use super::segment::Segment;
use super::shared::{Moment, Shared};
use super::{Tuning, folder};
use crate::error::IndexError;
use rusqlite::backup::{Backup, StepResult};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Copies the index of this moment to a new folder, which is there when it is complete.
///
/// # Errors
/// As [`Backend::backup`](crate::backend::Backend::backup).
pub(super) fn backup(shared: &Arc<Shared>, to: &Path) -> Result<(), IndexError> {
    folder::appear(to, |unfinished| {
        let moment = shared.begin()?;
        copy_catalogue(&moment, unfinished)?;
        copy_segments(&moment, unfinished)?;
        drop(moment);
        // A writer makes anew what is missing, because it was merged while it was copied.
        let wait = Duration::ZERO;
        let tuning = Tuning { background: false, ..shared.tuning };
        drop(folder::open_for_writing(unfinished, wait, tuning)?);
        let catalogue = unfinished.catalogue();
        let synced = File::open(&catalogue).and_then(|file| file.sync_all());
        synced.map_err(|error| unfinished.writing(&catalogue, error))
    })
}

fn copy_catalogue(moment: &Moment, to: &Place) -> Result<(), IndexError> {
    let failed = |error| to.database(error);
    let mut copy = rusqlite::Connection::open(to.catalogue()).map_err(failed)?;
    let pages = Backup::new(moment.connection(), &mut copy).map_err(failed)?;
    loop {
        match pages.step(1000).map_err(failed)? {
            StepResult::Done => break,
            StepResult::More => {}
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    }
    drop(pages);
    copy.close().map_err(|(_, error)| failed(error))
}

/// Copies the files that are still there and sound.
fn copy_segments(moment: &Moment, to: &Place) -> Result<(), IndexError> {
    let from = &moment.shared.place;
    let listed = catalogue::segments(moment.connection()).map_err(|error| from.database(error))?;
    for listed in listed {
        let target = to.folder.join(&listed.name);
        match std::fs::copy(from.folder.join(&listed.name), &target) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(to.writing(&target, error)),
        }
        let synced = File::open(&target).and_then(|file| file.sync_all());
        synced.map_err(|error| to.writing(&target, error))?;
        let sound = Segment::open(&to.folder, listed).and_then(|segment| segment.verify());
        if sound.is_err() {
            std::fs::remove_file(&target).map_err(|error| to.writing(&target, error))?;
        }
    }
    sync_names(&to.folder).map_err(|error| to.writing(&to.folder, error))
}
