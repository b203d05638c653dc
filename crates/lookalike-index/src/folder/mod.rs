//! An index in a folder: documents in a catalogue, band postings in segments.
//!
//! ```text
//! write → catalogue (SQLite: rows)  +  runs (memory)  → segments (files)  → fewer, larger ones
//! query → segments and runs → numbers → rows
//! ```
//!
//! The catalogue is authoritative; segments are derived from it and can be rebuilt.
//! `docs/reference/index-folder.md` specifies both. One process writes, and any number of processes
//! read, each at its own snapshots.

mod catalogue;
mod index_folder;
mod index_state;
mod open_folder;
mod segments;
#[cfg(test)]
mod test_index;
mod tuning;
mod upkeep;
mod validation;
mod write;

use crate::access::Access;
use crate::backend::{Backend, Change, ChangeOutcome, IndexProblem, Snapshot, Stats};
use crate::error::IndexError;
use crate::settings::IndexSettings;
use crate::tables::{Effect, TableWriter, Tables};
use index_folder::IndexFolder;
use index_state::IndexState;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
pub use tuning::Tuning;
use upkeep::{backup, check, maintenance, merge_scheduler, reserve};

/// Creates an index in a new folder.
///
/// # Errors
/// [`IndexError::Exists`] if the folder exists.
pub fn create(folder: &Path, settings: &IndexSettings) -> Result<Box<dyn Backend>, IndexError> {
    create_with(folder, settings, Tuning::default())
}

/// Like [`create`], with another tuning.
///
/// # Errors
/// As [`create`].
pub fn create_with(
    folder: &Path,
    settings: &IndexSettings,
    tuning: Tuning,
) -> Result<Box<dyn Backend>, IndexError> {
    settings.check(&folder.display().to_string())?;
    open_folder::create(folder, settings)?;
    open_with(folder, Access::Write { wait: Duration::from_secs(1) }, tuning)
}

/// Creates an index in a new folder and applies changes to it, all or nothing. Does not open it.
///
/// # Errors
/// [`IndexError::Exists`] if the folder exists, and as [`Backend::write`].
pub fn create_filled(
    folder: &Path,
    settings: &IndexSettings,
    changes: &[Change<'_>],
) -> Result<(), IndexError> {
    settings.check(&folder.display().to_string())?;
    open_folder::create_filled(folder, settings, changes)
}

/// Returns true if a folder contains the catalogue of an index, which may be damaged.
pub fn is_index(folder: &Path) -> bool {
    IndexFolder::new(folder).catalogue().is_file()
}

/// The settings of the index in a folder, without opening it.
///
/// # Errors
/// As [`open`](crate::index::open).
pub fn settings(folder: &Path) -> Result<IndexSettings, IndexError> {
    open_folder::settings(&IndexFolder::new(folder))
}

/// Like [`settings`], for an index that is about to be opened. On a full disk, a writer uses the
/// reserve.
pub(crate) fn settings_for(folder: &Path, access: Access) -> Result<IndexSettings, IndexError> {
    let place = IndexFolder::new(folder);
    let first = settings(folder);
    let is_full = matches!(first, Err(IndexError::DiskFull { .. })) && access != Access::Read;
    if is_full && reserve::release(&place) { settings(folder) } else { first }
}

/// Opens the index in a folder.
///
/// # Errors
/// As [`open`](crate::index::open).
pub fn open(folder: &Path, access: Access) -> Result<Box<dyn Backend>, IndexError> {
    open_with(folder, access, Tuning::default())
}

/// Like [`open`], with another tuning.
///
/// # Errors
/// As [`open`].
pub fn open_with(
    folder: &Path,
    access: Access,
    tuning: Tuning,
) -> Result<Box<dyn Backend>, IndexError> {
    let tuning = tuning.in_range();
    let state = match access {
        Access::Read => open_folder::open_for_reading(folder, tuning)?,
        Access::Write { wait } => {
            open_folder::open_for_writing(&IndexFolder::new(folder), wait, tuning)?
        }
    };
    let state = Arc::new(state);
    let merger = (state.writable && tuning.background).then(|| {
        let state = Arc::clone(&state);
        // A writer that was killed may have left segments to merge.
        state.signal.flushed();
        let thread = std::thread::Builder::new().name("merge".to_owned());
        thread.spawn(move || merge_scheduler::work(&state))
    });
    let merger = merger.transpose().map_err(|error| state.place.writing(folder, error))?;
    Ok(Box::new(FolderBackend { state, merger }))
}

/// Creates an index in a new folder from a backup, which is itself the folder of an index.
pub(crate) fn restore(folder: &Path, from: &Path) -> Result<(), IndexError> {
    if from.join("index.json").is_file() && !from.join("catalog.sqlite").exists() {
        let why = "it is the backup of an index in PostgreSQL: name a place postgres://… to \
                   restore it to";
        return Err(IndexError::not_an_index(from.display().to_string(), why));
    }
    open(from, Access::Read)?.backup(folder)
}

/// An index in a folder.
struct FolderBackend {
    state: Arc<IndexState>,
    merger: Option<JoinHandle<()>>,
}

impl Drop for FolderBackend {
    fn drop(&mut self) {
        self.state.signal.end();
        if let Some(merger) = self.merger.take() {
            let _ = merger.join();
        }
        // Snapshots may live longer, but must not block other writers.
        self.state.close();
    }
}

impl TableWriter for FolderBackend {
    fn change<T>(
        &self,
        work: impl FnMut(Tables<'_>) -> Result<(T, Effect), IndexError>,
    ) -> Result<T, IndexError> {
        self.state.change(work)
    }
}

impl Backend for FolderBackend {
    fn settings(&self) -> &IndexSettings {
        &self.state.settings
    }

    fn name(&self) -> &str {
        &self.state.place.name
    }

    fn write(&self, changes: &[Change<'_>]) -> Result<Vec<ChangeOutcome>, IndexError> {
        write::write(&self.state, changes)
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>, IndexError> {
        Ok(Box::new(self.state.snapshot()?))
    }

    fn compact(&self, now: i64) -> Result<(), IndexError> {
        maintenance::compact(&self.state, now)
    }

    fn check(&self) -> Result<Vec<IndexProblem>, IndexError> {
        check::check(&self.state)
    }

    fn repair(&self) -> Result<(), IndexError> {
        maintenance::repair(&self.state)
    }

    fn stats(&self) -> Result<Stats, IndexError> {
        check::stats(&self.state.snapshot()?)
    }

    fn backup(&self, to: &Path) -> Result<(), IndexError> {
        backup::backup(&self.state, to)
    }

    fn announce_service(&self, address: &str) -> Result<(), IndexError> {
        match self.state.writer.lock().as_mut() {
            Some(writer) => writer
                .announce_service(address)
                .map_err(|error| self.state.place.writing(&self.state.place.lock(), error)),
            None => Ok(()),
        }
    }

    fn interrupt(&self) {
        self.state.place.interrupt();
    }
}
