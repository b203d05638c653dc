//! Compaction, and rebuilding segments from the catalogue.

use crate::error::IndexError;
use crate::folder::catalogue;
use crate::folder::catalogue::connection::Catalogue;
use crate::folder::catalogue::remove_rows::{remove_rows, remove_text};
use crate::folder::catalogue::side_tables::CatalogueTables;
use crate::folder::catalogue::state::CatalogueState;
use crate::folder::index_state::IndexState;
use crate::folder::segments::id_filter::IdFilter;
use crate::folder::segments::posting_view::collect_run;
use crate::folder::segments::segment::{Segment, SegmentEntry};
use crate::folder::segments::segment_file::SegmentFile;
use crate::folder::tuning::Tuning;
use crate::folder::upkeep::merge::{merge, swap};
use crate::folder::validation::segment_number;
use crate::folder::write::{add_tombstone, flush, next_name, write_run};
use crate::settings::IndexSettings;
use crate::tables::version_changes::remove_all;
use crate::tables::{categories, duplicates, originals};
use rusqlite::{Connection, params};
use std::sync::Arc;

/// Number of documents removed in one transaction.
const REMOVED_AT_ONCE: usize = 10_000;
/// Maximum number of documents of a rebuilt segment.
const REBUILT_AT_ONCE: usize = 100_000;
/// Number of free pages released in one transaction.
const PAGES_AT_ONCE: usize = 4_000;

/// Removes expired documents, merges all segments, and releases free space. On a full disk,
/// releases space first, and merges segments as far as the space suffices.
///
/// # Errors
/// As [`Backend::compact`](crate::backend::Backend::compact).
pub(crate) fn compact(state: &Arc<IndexState>, now: i64) -> Result<(), IndexError> {
    let mut full = false;
    let mut before = Vec::new();
    repeat_sparingly(state, &mut full, REMOVED_AT_ONCE, |most| {
        remove_expired(state, now, most, &mut before)
    })?;
    if !full && state.settings.store.has_originals() {
        match originals::remove_unused(&**state) {
            Err(IndexError::DiskFull { .. }) => {
                full = true;
                state.free_reserve()?;
            }
            result => result?,
        }
    }
    if full {
        release_pages(state, &mut full)?;
    }
    match merge_to_one(state) {
        Err(IndexError::DiskFull { .. }) => {
            full = true;
            state.free_reserve()?;
            release_pages(state, &mut full)?;
            merge_one_by_one(state)?;
        }
        result => result?,
    }
    release_pages(state, &mut full)?;
    state.fill_reserve();
    Ok(())
}

/// Repeats `work` with batches of `most` until a batch is not full. On a full disk, uses smaller
/// batches and truncates the log in between.
fn repeat_sparingly(
    state: &IndexState,
    full: &mut bool,
    most: usize,
    mut work: impl FnMut(usize) -> Result<usize, IndexError>,
) -> Result<(), IndexError> {
    let mut count = if *full { 8 } else { most };
    loop {
        state.place.poll()?;
        match work(count) {
            Ok(processed) if processed < count => return Ok(()),
            Ok(_) if *full => {
                state.free_reserve()?;
                count = most.min(2 * count);
            }
            Ok(_) => {}
            Err(IndexError::DiskFull { .. }) if !*full || count > 1 => {
                count = if *full { count / 2 } else { 8 };
                *full = true;
                state.free_reserve()?;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Merges all postings to one segment.
fn merge_to_one(state: &Arc<IndexState>) -> Result<(), IndexError> {
    {
        let mut guard = state.writer.lock();
        let writer = guard.as_mut().ok_or_else(|| state.read_only())?;
        if state.view().tail() > 0 {
            let mut flushed = None;
            let result = writer.transaction(state, |writer, view| {
                flushed = Some(flush(state, writer, view)?);
                Ok(())
            });
            if let (Err(_), Some(segment)) = (&result, flushed) {
                let _ = std::fs::remove_file(state.place.folder.join(&segment.entry.name));
            }
            result?;
        }
    }
    let _lock = state.signal.exclusive();
    loop {
        let view = state.view();
        let is_single = view.segments.len() == 1 && !any_dead(state)?;
        if is_single || view.segments.is_empty() || merge(state, &view.segments)? {
            return Ok(());
        }
    }
}

/// Like [`merge_to_one`], for a disk with little space. Rewrites segments one by one without the
/// postings of removed documents, the smallest first. Then merges all of them if enough space was
/// freed.
fn merge_one_by_one(state: &Arc<IndexState>) -> Result<(), IndexError> {
    let mut segments = state.view().segments.clone();
    segments.sort_by_key(|segment| segment.file_bytes());
    for segment in segments {
        let _lock = state.signal.exclusive();
        match merge(state, &[segment]) {
            Ok(_) | Err(IndexError::DiskFull { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    match merge_to_one(state) {
        Err(IndexError::DiskFull { .. }) => Ok(()),
        result => result,
    }
}

fn any_dead(state: &Arc<IndexState>) -> Result<bool, IndexError> {
    let snapshot = state.begin()?;
    let any = snapshot.connection()?.prepare_cached("SELECT 1 FROM dead");
    any.and_then(|mut any| any.exists([])).map_err(|error| state.place.database(error))
}

/// Removes at most `most` expired documents and returns their number. `before` contains the
/// documents of the previous call, because a damaged catalogue may list documents that no statement
/// removes.
fn remove_expired(
    state: &IndexState,
    now: i64,
    most: usize,
    before: &mut Vec<u32>,
) -> Result<usize, IndexError> {
    let mut guard = state.writer.lock();
    let writer = guard.as_mut().ok_or_else(|| state.read_only())?;
    let sql = "SELECT doc FROM docs WHERE expires <= ?1 LIMIT ?2";
    let find = |connection: &Connection| -> rusqlite::Result<Vec<u32>> {
        let mut statement = connection.prepare_cached(sql)?;
        statement.query_map(params![now, most as u32], |row| row.get(0))?.collect()
    };
    let failed = |error| state.place.database(error);
    let numbers = find(&writer.connection).map_err(failed)?;
    if numbers.is_empty() {
        return Ok(0);
    }
    if numbers == *before {
        let why = format!("{} expired documents cannot be removed from it", numbers.len());
        return Err(state.place.damaged_catalogue(why));
    }
    let removed = writer.transaction(state, |writer, view| {
        writer.head.changes += 1;
        let change = writer.head.changes;
        let documents: Vec<i64> = numbers.iter().map(|number| i64::from(*number)).collect();
        let connection = &writer.connection;
        let catalogue = Catalogue { place: &state.place, connection };
        let mut tables = CatalogueTables { catalogue, view };
        categories::remove(&mut tables, &documents)?;
        duplicates::remove_groups(&mut tables, &documents)?;
        if state.settings.store.has_originals() {
            for document in remove_all(&mut tables, &documents)? {
                remove_text(connection, &mut writer.head, document as u32).map_err(failed)?;
            }
        }
        for number in &numbers {
            remove_rows(connection, &mut writer.head, *number).map_err(failed)?;
            remove_text(connection, &mut writer.head, *number).map_err(failed)?;
            add_tombstone(connection, *number, change).map_err(failed)?;
        }
        Ok(numbers.len())
    })?;
    *before = numbers;
    Ok(removed)
}

/// Releases unused pages of the catalogue.
fn release_pages(state: &IndexState, full: &mut bool) -> Result<(), IndexError> {
    repeat_sparingly(state, full, PAGES_AT_ONCE, |most| {
        let failed = |error| state.place.database(error);
        let guard = state.writer.lock();
        let writer = guard.as_ref().ok_or_else(|| state.read_only())?;
        let connection = &writer.connection;
        let count_free = || -> Result<u32, IndexError> {
            let sql = "PRAGMA freelist_count";
            connection.query_row(sql, [], |row| row.get(0)).map_err(failed)
        };
        let free = count_free()?;
        if free > 0 {
            // The statement frees one page per fetched row.
            let vacuum = || -> rusqlite::Result<()> {
                let sql = format!("PRAGMA incremental_vacuum({most})");
                let mut statement = connection.prepare(&sql)?;
                let mut rows = statement.query([])?;
                while rows.next()?.is_some() {}
                Ok(())
            };
            vacuum().map_err(failed)?;
        }
        // A catalogue that cannot be vacuumed keeps its pages.
        if free as usize <= most || count_free()? >= free {
            // Readers may prevent emptying the log. A later compaction then empties it.
            writer.empty_log().map_err(failed)?;
            return Ok(0);
        }
        Ok(most)
    })
}

/// Rebuilds all segments and counts from the rows.
///
/// # Errors
/// As [`Backend::repair`](crate::backend::Backend::repair).
pub(crate) fn repair(state: &Arc<IndexState>) -> Result<(), IndexError> {
    let _lock = state.signal.exclusive();
    let failed = |error| state.place.database(error);
    let (old, new, changes) = {
        let mut guard = state.writer.lock();
        let writer = guard.as_mut().ok_or_else(|| state.read_only())?;
        writer.connection.execute_batch("REINDEX").map_err(failed)?;
        writer.transaction(state, |writer, view| {
            let catalogue = writer.catalogue(&state.place);
            duplicates::remove_orphans(&mut CatalogueTables { catalogue, view })?;
            update_counts(&writer.connection, &mut writer.head).map_err(failed)
        })?;
        let view = state.view();
        let mut new = Vec::new();
        for old in &view.segments {
            let head = &mut writer.head;
            let catalogue = Catalogue { place: &state.place, connection: &writer.connection };
            let remade =
                rebuild_segments(catalogue, &state.settings, state.tuning, head, &old.entry)?;
            new.extend(remade.into_iter().map(Arc::new));
        }
        (view.segments.clone(), new, writer.head.changes)
    };
    // The new segments may contain ids that the old ones lacked.
    swap(state, &old, &new, changes, |writer| writer.id_filter = IdFilter::default())?;
    state.signal.flushed();
    Ok(())
}

/// Builds segments with the postings of all documents in the range of a segment, from their rows.
/// Does not list them yet.
pub(crate) fn rebuild_segments(
    catalogue: Catalogue<'_>,
    settings: &IndexSettings,
    tuning: Tuning,
    head: &mut CatalogueState,
    old: &SegmentEntry,
) -> Result<Vec<Segment>, IndexError> {
    let mut segments = Vec::new();
    let mut first = old.first;
    loop {
        let range = (u64::from(first), u64::from(old.last));
        let (run, last, is_end) = collect_run(catalogue, settings, range, Some(REBUILT_AT_ONCE))?;
        let is_last = is_end || last >= old.last;
        let last = if is_last { old.last } else { last };
        let level = tuning.level(run.documents() as u64);
        let file = SegmentFile::create(catalogue.place, next_name(head))?;
        segments.push(write_run(file, &run, &[], (first, last), level, head.changes)?);
        if is_last {
            return Ok(segments);
        }
        first = last + 1;
    }
}

/// Rebuilds segments that are missing or differ from the catalogue. Called when an index is opened
/// for writing.
pub(crate) fn repair_segments(
    catalogue: Catalogue<'_>,
    settings: &IndexSettings,
    tuning: Tuning,
    head: &mut CatalogueState,
) -> Result<(), IndexError> {
    for entry in catalogue::segments(catalogue, head)? {
        match Segment::open(&catalogue.place.folder, entry.clone()) {
            Ok(_) => {}
            Err(IndexError::Damaged { .. }) => {
                catalogue.run(|connection| connection.execute_batch("BEGIN IMMEDIATE"))?;
                let rebuilt = rebuild_segments(catalogue, settings, tuning, head, &entry);
                let result = rebuilt.and_then(|rebuilt| {
                    catalogue.run(|connection| replace(connection, head, &entry, &rebuilt))
                });
                if result.is_err() {
                    let _ = catalogue.connection.execute_batch("ROLLBACK");
                }
                result?;
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
    catalogue::remove_tombstones(connection, (old.first, old.last), head.changes)?;
    for segment in new {
        catalogue::list_segment(connection, &segment.entry)?;
    }
    head.generation += 1;
    head.write(connection)?;
    connection.execute_batch("COMMIT")
}

/// Sets the counts to the actual numbers of rows.
fn update_counts(connection: &Connection, head: &mut CatalogueState) -> rusqlite::Result<()> {
    let count_rows = count_rows(connection)?;
    head.documents = count_rows.documents;
    head.without_shingles = count_rows.without_shingles;
    head.set_bytes = count_rows.set_bytes;
    head.text_bytes = count_rows.text_bytes;
    head.last = head.last.max(count_rows.last);
    Ok(())
}

/// The counts, computed from the rows.
pub(crate) fn count_rows(connection: &Connection) -> rusqlite::Result<CatalogueState> {
    let number = |sql: &str| -> rusqlite::Result<u64> {
        connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map(i64::cast_unsigned)
    };
    Ok(CatalogueState {
        documents: number("SELECT count(*) FROM docs")?,
        without_shingles: number("SELECT count(*) FROM docs WHERE length(signature) = 0")?,
        set_bytes: number("SELECT coalesce(sum(length(code)), 0) FROM sets")?,
        text_bytes: number("SELECT coalesce(sum(length(zstd)), 0) FROM texts")?,
        // A number that is too great is reported as an error of the column's type.
        last: connection
            .query_row("SELECT coalesce(max(doc), 0) FROM docs", [], |row| row.get(0))?,
        ..CatalogueState::default()
    })
}

/// Removes unlisted segment files, which a killed writer may have left.
pub(crate) fn remove_orphans(
    catalogue: Catalogue<'_>,
    head: &CatalogueState,
) -> Result<(), IndexError> {
    let entries = catalogue::segments(catalogue, head)?;
    let folder = &catalogue.place.folder;
    let failed = |error| IndexError::io(folder, error);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let is_segment = name.to_str().and_then(segment_number).is_some();
        if is_segment && !entries.iter().any(|entry| *entry.name == *name) {
            // If a reader of another process prevents the removal, a later writer removes the file.
            let _ = std::fs::remove_file(entry.path());
        }
    }
    Ok(())
}
