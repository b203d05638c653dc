//! Compacting, and making segments again from the catalogue.

use super::catalogue;
use super::catalogue_state::CatalogueState;
use super::checksums;
use super::id_filter::IdFilter;
use super::index_folder::IndexFolder;
use super::index_state::IndexState;
use super::lock::lock;
use super::merge::{merge, swap};
use super::posting_view::gathered;
use super::segment::{Segment, SegmentEntry};
use super::segment_file::SegmentFile;
use super::tuning::Tuning;
use super::validation::segment_number;
use super::write::{bury, flush, next_name, remove_rows, write_run};
use crate::error::IndexError;
use crate::settings::IndexSettings;
use rusqlite::{Connection, params};
use std::sync::Arc;

/// Documents removed in one transaction.
const REMOVED_AT_ONCE: usize = 10_000;
/// Documents of a segment that is made again.
const REBUILT_AT_ONCE: usize = 100_000;
/// Free pages given back in one transaction.
const PAGES_AT_ONCE: usize = 4_000;

/// Removes what has expired, merges everything, gives free space back. On a full disk, space is
/// given back first, and segments are merged as far as it suffices.
///
/// # Errors
/// As [`Backend::compact`](crate::backend::Backend::compact).
pub(super) fn compact(shared: &Arc<IndexState>, now: i64) -> Result<(), IndexError> {
    let mut full = false;
    sparing(shared, &mut full, REMOVED_AT_ONCE, |most| remove_expired(shared, now, most))?;
    if full {
        give_back(shared, &mut full)?;
    }
    match put_together(shared) {
        Err(IndexError::DiskFull { .. }) => {
            full = true;
            shared.free_reserve()?;
            give_back(shared, &mut full)?;
            spare_postings(shared)?;
        }
        done => done?,
    }
    give_back(shared, &mut full)?;
    shared.keep_reserve();
    Ok(())
}

/// Repeats `work` with at most this many at a time while it does as many. Where the disk is full it
/// is done with fewer, and the log is emptied in between.
fn sparing(
    shared: &IndexState,
    full: &mut bool,
    most: usize,
    mut work: impl FnMut(usize) -> Result<usize, IndexError>,
) -> Result<(), IndexError> {
    let mut count = if *full { 8 } else { most };
    loop {
        match work(count) {
            Ok(done) if done < count => return Ok(()),
            Ok(_) if *full => {
                shared.free_reserve()?;
                count = most.min(2 * count);
            }
            Ok(_) => {}
            Err(IndexError::DiskFull { .. }) if !*full || count > 1 => {
                count = if *full { count / 2 } else { 8 };
                *full = true;
                shared.free_reserve()?;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Puts all postings into one segment.
fn put_together(shared: &Arc<IndexState>) -> Result<(), IndexError> {
    {
        let mut held = lock(&shared.writer);
        let writer = held.as_mut().ok_or_else(|| shared.read_only())?;
        if shared.parts().tail() > 0 {
            let mut made = None;
            let done = writer.transaction(shared, |writer, parts| {
                made = Some(flush(shared, writer, parts)?);
                Ok(())
            });
            if let (Err(_), Some(segment)) = (&done, made) {
                let _ = std::fs::remove_file(shared.place.folder.join(&segment.listed.name));
            }
            done?;
        }
    }
    let _one = shared.signal.exclusive();
    loop {
        let parts = shared.parts();
        let is_one = parts.segments.len() == 1 && !any_dead(shared)?;
        if is_one || parts.segments.is_empty() || merge(shared, &parts.segments)? {
            return Ok(());
        }
    }
}

/// The same with what space there is: segments are written again one by one, without the postings
/// of removed documents, the smallest first, and all together if that has freed enough.
fn spare_postings(shared: &Arc<IndexState>) -> Result<(), IndexError> {
    let mut segments = shared.parts().segments.clone();
    segments.sort_by_key(|segment| segment.file_bytes());
    for segment in segments {
        let _one = shared.signal.exclusive();
        match merge(shared, &[segment]) {
            Ok(_) | Err(IndexError::DiskFull { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    match put_together(shared) {
        Err(IndexError::DiskFull { .. }) => Ok(()),
        done => done,
    }
}

fn any_dead(shared: &Arc<IndexState>) -> Result<bool, IndexError> {
    let moment = shared.begin()?;
    let any = moment.connection().prepare_cached("SELECT 1 FROM dead");
    any.and_then(|mut any| any.exists([])).map_err(|error| shared.place.database(error))
}

/// Removes at most `most` expired documents; returns how many.
fn remove_expired(shared: &IndexState, now: i64, most: usize) -> Result<usize, IndexError> {
    let mut held = lock(&shared.writer);
    let writer = held.as_mut().ok_or_else(|| shared.read_only())?;
    let sql = "SELECT doc FROM docs WHERE expires <= ?1 LIMIT ?2";
    let find = |connection: &Connection| -> rusqlite::Result<Vec<u32>> {
        let mut statement = connection.prepare_cached(sql)?;
        statement.query_map(params![now, most as u32], |row| row.get(0))?.collect()
    };
    let failed = |error| shared.place.database(error);
    let numbers = find(&writer.connection).map_err(failed)?;
    if numbers.is_empty() {
        return Ok(0);
    }
    writer.transaction(shared, |writer, _| {
        writer.head.changes += 1;
        for number in &numbers {
            let change = writer.head.changes;
            remove_rows(&writer.connection, &mut writer.head, *number).map_err(failed)?;
            bury(&writer.connection, *number, change).map_err(failed)?;
        }
        Ok(numbers.len())
    })
}

/// Gives the pages that nothing is on any more back to the disk.
fn give_back(shared: &IndexState, full: &mut bool) -> Result<(), IndexError> {
    sparing(shared, full, PAGES_AT_ONCE, |most| {
        let failed = |error| shared.place.database(error);
        let held = lock(&shared.writer);
        let writer = held.as_ref().ok_or_else(|| shared.read_only())?;
        let connection = &writer.connection;
        let free: u32 =
            connection.query_row("PRAGMA freelist_count", [], |row| row.get(0)).map_err(failed)?;
        if free > 0 {
            // Each row that it gives is a page; a statement that is not asked for all of them
            // stops after the first.
            let vacuum = || -> rusqlite::Result<()> {
                let sql = format!("PRAGMA incremental_vacuum({most})");
                let mut statement = connection.prepare(&sql)?;
                let mut rows = statement.query([])?;
                while rows.next()?.is_some() {}
                Ok(())
            };
            vacuum().map_err(failed)?;
        }
        if free as usize <= most {
            // Readers may keep it from being done; then a later one does it.
            writer.empty_log().map_err(failed)?;
            return Ok(0);
        }
        Ok(most)
    })
}

/// Makes all segments and counts again from the rows.
///
/// # Errors
/// As [`Backend::repair`](crate::backend::Backend::repair).
pub(super) fn repair(shared: &Arc<IndexState>) -> Result<(), IndexError> {
    let _one = shared.signal.exclusive();
    let failed = |error| shared.place.database(error);
    let (old, new, changes) = {
        let mut held = lock(&shared.writer);
        let writer = held.as_mut().ok_or_else(|| shared.read_only())?;
        writer.connection.execute_batch("REINDEX").map_err(failed)?;
        writer.transaction(shared, |writer, _| {
            count_again(&writer.connection, &mut writer.head).map_err(failed)
        })?;
        checksums::fill(shared, writer)?;
        let parts = shared.parts();
        let mut new = Vec::new();
        for old in &parts.segments {
            let head = &mut writer.head;
            let remade = rebuilt(
                &shared.place,
                &shared.settings,
                shared.tuning,
                &writer.connection,
                head,
                &old.listed,
            )?;
            new.extend(remade.into_iter().map(Arc::new));
        }
        (parts.segments.clone(), new, writer.head.changes)
    };
    // They may have ids that the old ones lacked.
    swap(shared, &old, &new, changes, |writer| writer.known = IdFilter::default())?;
    shared.signal.flushed();
    Ok(())
}

/// Segments with the postings of all documents in the range of one, made from their rows. They are
/// in no list yet.
///
/// # Errors
/// What keeps rows from being read and files from being written.
pub(super) fn rebuilt(
    place: &IndexFolder,
    settings: &IndexSettings,
    tuning: Tuning,
    connection: &Connection,
    head: &mut CatalogueState,
    old: &SegmentEntry,
) -> Result<Vec<Segment>, IndexError> {
    let mut segments = Vec::new();
    let mut first = old.first;
    loop {
        let range = (u64::from(first), u64::from(old.last));
        let (run, last, is_end) =
            gathered(place, settings, connection, range, Some(REBUILT_AT_ONCE))?;
        let is_last = is_end || last >= old.last;
        let last = if is_last { old.last } else { last };
        let level = tuning.level(run.documents() as u64);
        let file = SegmentFile::create(place, next_name(head))?;
        segments.push(write_run(file, &run, &[], (first, last), level, head.changes)?);
        if is_last {
            return Ok(segments);
        }
        first = last + 1;
    }
}

/// Makes again what is missing or is not what the catalogue lists; gives the segments as they are
/// then. For the one who opens an index to write to it.
///
/// # Errors
/// What keeps rows from being read and files from being written.
pub(super) fn open_segments(
    place: &IndexFolder,
    settings: &IndexSettings,
    tuning: Tuning,
    connection: &Connection,
    head: &mut CatalogueState,
) -> Result<(), IndexError> {
    let failed = |error| place.database(error);
    for listed in catalogue::segments(place, connection, head)? {
        match Segment::open(&place.folder, listed.clone()) {
            Ok(_) => {}
            Err(IndexError::Damaged { .. }) => {
                connection.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
                let made = rebuilt(place, settings, tuning, connection, head, &listed);
                let done =
                    made.and_then(|made| replace(connection, head, &listed, &made).map_err(failed));
                if done.is_err() {
                    let _ = connection.execute_batch("ROLLBACK");
                }
                done?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn replace(
    connection: &Connection,
    head: &mut CatalogueState,
    old: &SegmentEntry,
    new: &[Segment],
) -> rusqlite::Result<()> {
    catalogue::unlist_segment(connection, &old.name)?;
    catalogue::forget_dead(connection, (old.first, old.last), head.changes)?;
    for segment in new {
        catalogue::list_segment(connection, &segment.listed)?;
    }
    head.generation += 1;
    head.write(connection)?;
    connection.execute_batch("COMMIT")
}

/// Counts rows instead of believing the counts.
fn count_again(connection: &Connection, head: &mut CatalogueState) -> rusqlite::Result<()> {
    let counted = counted(connection)?;
    head.documents = counted.documents;
    head.without_shingles = counted.without_shingles;
    head.set_bytes = counted.set_bytes;
    head.text_bytes = counted.text_bytes;
    head.last = head.last.max(counted.last);
    Ok(())
}

/// What there is, counted row by row.
///
/// # Errors
/// What SQLite says.
pub(super) fn counted(connection: &Connection) -> rusqlite::Result<CatalogueState> {
    let number = |sql: &str| -> rusqlite::Result<u64> {
        connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map(i64::cast_unsigned)
    };
    Ok(CatalogueState {
        documents: number("SELECT count(*) FROM docs")?,
        without_shingles: number("SELECT count(*) FROM docs WHERE length(signature) = 0")?,
        set_bytes: number("SELECT coalesce(sum(length(code)), 0) FROM sets")?,
        text_bytes: number("SELECT coalesce(sum(length(zstd)), 0) FROM texts")?,
        last: number("SELECT coalesce(max(doc), 0) FROM docs")? as u32,
        ..CatalogueState::default()
    })
}

/// Removes files of segments that are in no list: what a writer that was killed has left.
///
/// # Errors
/// What SQLite and the system say.
pub(super) fn remove_orphans(
    place: &IndexFolder,
    connection: &Connection,
    head: &CatalogueState,
) -> Result<(), IndexError> {
    let listed = catalogue::segments(place, connection, head)?;
    let failed = |error| IndexFolder::reading(&place.folder, error);
    for entry in std::fs::read_dir(&place.folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let is_segment = name.to_str().and_then(segment_number).is_some();
        if is_segment && !listed.iter().any(|listed| *listed.name == *name) {
            // Where readers of another process keep it, a later writer removes it.
            let _ = std::fs::remove_file(entry.path());
        }
    }
    Ok(())
}
