//! Applies changes, one transaction per call.

use crate::backend::{Change, ChangeOutcome, posting_keys};
use crate::checksum::{self, RowFields};
use crate::entry::IndexEntry;
use crate::error::IndexError;
use crate::folder::catalogue;
use crate::folder::catalogue::connection::Catalogue;
use crate::folder::catalogue::document_numbers::stored_documents;
use crate::folder::catalogue::remove_rows::{remove_rows, remove_text};
use crate::folder::catalogue::side_tables::CatalogueTables;
use crate::folder::catalogue::state::CatalogueState;
use crate::folder::catalogue::writer::CatalogueWriter;
use crate::folder::index_state::IndexState;
use crate::folder::segments::id_filter::IdFilter;
use crate::folder::segments::posting::{Posting, PostingList, PostingRun, id_key};
use crate::folder::segments::posting_view::PostingView;
use crate::folder::segments::segment::Segment;
use crate::folder::segments::segment_file::SegmentFile;
use crate::folder::validation::segment_name;
use crate::original::OriginalEntry;
use crate::settings::IndexSettings;
use crate::tables::version_changes::{FinishedVersions, VersionChanges, batch_originals};
use crate::tables::write_plan::{self, plan};
use crate::tables::{categories, duplicates};
use crate::text_code::frame_of;
use rusqlite::{Connection, params};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// Greatest number of a document.
const MOST_DOCUMENTS: i64 = u32::MAX as i64 - 1;

impl CatalogueWriter {
    /// Runs `work` in one transaction and publishes its view, all or nothing.
    ///
    /// # Errors
    /// Errors of `work`, and write errors.
    pub(crate) fn transaction<T>(
        &mut self,
        state: &IndexState,
        work: impl FnOnce(&mut Self, &mut PostingView) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        let failed = |error| state.place.database(error);
        state.place.poll()?;
        self.roll_back_abandoned(&state.place)?;
        let head = self.head;
        let before = state.view();
        self.connection.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
        let mut view = PostingView::clone(&before);
        let result = work(self, &mut view).and_then(|value| {
            if self.head != head {
                self.head.write(&self.connection).map_err(failed)?;
            }
            // After the commit, readers may see the change and must find it in the view.
            state.publish(Arc::new(view));
            let commit = self.connection.execute_batch("COMMIT");
            commit.map(|()| value).map_err(failed)
        });
        if result.is_err() {
            if !self.connection.is_autocommit() {
                let _ = self.connection.execute_batch("ROLLBACK");
            }
            self.head = head;
            state.publish(before);
        }
        result
    }
}

/// Applies changes.
///
/// # Errors
/// As [`Backend::write`](crate::backend::Backend::write).
pub(crate) fn write(
    state: &IndexState,
    changes: &[Change<'_>],
) -> Result<Vec<ChangeOutcome>, IndexError> {
    let result = attempt(state, changes);
    let only_removes = changes.iter().all(|change| change.entry().is_none());
    if only_removes && matches!(result, Err(IndexError::DiskFull { .. })) {
        state.free_reserve()?;
        return attempt(state, changes);
    }
    result
}

fn attempt(state: &IndexState, changes: &[Change<'_>]) -> Result<Vec<ChangeOutcome>, IndexError> {
    // Check each document, including those that a later change of the batch replaces.
    let mut metadata = Vec::with_capacity(changes.len());
    for change in changes {
        if let Some(entry) = change.entry() {
            state.settings.check_entry(entry)?;
        }
        metadata.push(change.entry().map(IndexEntry::metadata_json).transpose()?);
    }
    let has_originals = state.settings.store.has_originals();
    let originals = has_originals.then(|| batch_originals(changes)).transpose()?;
    let mut guard = state.writer.lock();
    let writer = guard.as_mut().ok_or_else(|| state.read_only())?;
    if changes.is_empty() {
        return Ok(Vec::new());
    }
    if changes.iter().any(|change| change.entry().is_some()) {
        writer.check_log().map_err(|error| state.place.database(error))?;
    }
    let mut flushed = None;
    let result = writer.transaction(state, |writer, view| {
        let (outcomes, run) = apply(state, writer, view, changes, &metadata, originals.as_deref())?;
        let adds = run.documents() > 0;
        if adds {
            view.push(run);
        }
        view.last = writer.head.last;
        // A new segment needs disk space, but removals must work without free space.
        if adds && view.is_tail_full(state.tuning.tail, &state.settings) {
            flushed = Some(flush(state, writer, view)?);
        }
        Ok(outcomes)
    });
    let is_flushed = flushed.is_some();
    match (&result, flushed) {
        (Err(_), Some(segment)) => {
            let _ = std::fs::remove_file(state.place.folder.join(&segment.entry.name));
        }
        _ if is_flushed => state.signal.flushed(),
        _ => {}
    }
    drop(guard);
    if is_flushed && result.is_ok() {
        state.fill_reserve();
        state.signal.wait_for_merges(state);
    }
    result
}

/// Applies changes within a transaction. Returns their outcomes and the postings of new documents.
/// The effect is planned first. If a later change of the batch replaces a new document, that
/// document is never stored.
fn apply<'a>(
    state: &IndexState,
    writer: &mut CatalogueWriter,
    view: &PostingView,
    changes: &[Change<'a>],
    metadata: &[Option<String>],
    originals: Option<&[Option<OriginalEntry<'a>>]>,
) -> Result<(Vec<ChangeOutcome>, PostingRun), IndexError> {
    let catalogue = Catalogue { place: &state.place, connection: &writer.connection };
    let mut tables = CatalogueTables { catalogue, view };
    let all_ids = changes.iter().map(Change::id);
    let stored = stored_documents(catalogue, view, all_ids, Some(&mut writer.id_filter))?;
    // Without stored duplicates, no duplicate has to follow its keeper.
    let mut ids = Vec::new();
    let mut known_duplicates = BTreeSet::new();
    if duplicates::any(&mut tables)? {
        ids = write_plan::ids(changes);
        known_duplicates = duplicates::among(&mut tables, &ids)?;
    }
    let plan = plan(changes, &stored, known_duplicates, writer.head.last.into(), MOST_DOCUMENTS)?;
    if plan.outcomes.iter().all(|outcome| *outcome == ChangeOutcome::Absent) {
        return Ok((plan.outcomes, PostingRun::default()));
    }
    let versions = match originals {
        Some(originals) => {
            Some(VersionChanges::begin(&mut tables, &state.settings, changes, originals, &plan)?)
        }
        None => None,
    };
    let mut batch = WriteBatch {
        catalogue,
        settings: &state.settings,
        head: &mut writer.head,
        id_filter: &mut writer.id_filter,
        bands: Vec::with_capacity(plan.kept.len() * state.settings.bands),
        ids: Vec::with_capacity(plan.kept.len()),
        keys: Vec::new(),
        signature: Vec::new(),
        fields: Vec::new(),
    };
    batch.remove(&plan.removed, versions.as_ref())?;
    categories::remove(&mut tables, &plan.removed)?;
    for (at, number) in &plan.kept {
        if let (Some(entry), Some(metadata)) = (changes[*at].entry(), &metadata[*at]) {
            batch.insert(entry, metadata, *number as u32)?;
        }
    }
    if !ids.is_empty() {
        duplicates::follow(&mut tables, &ids, &plan)?;
    }
    if let Some(versions) = versions {
        batch.move_texts(&versions.finish(&mut tables)?, changes)?;
    }
    let run = PostingRun::sorted(batch.bands, batch.ids);
    writer.head.last = plan.last as u32;
    writer.head.changes += 1;
    Ok((plan.outcomes, run))
}

/// Writes the runs to a segment, within a transaction.
pub(crate) fn flush(
    state: &IndexState,
    writer: &mut CatalogueWriter,
    view: &mut PostingView,
) -> Result<Arc<Segment>, IndexError> {
    let place = &state.place;
    let failed = |error| place.database(error);
    view.runs_dropped = 0;
    let mut runs = std::mem::take(&mut view.runs).into_iter();
    let mut run = runs.next().unwrap_or_default();
    for next in runs {
        run = Arc::new(run.merged(&next));
    }
    let range = (view.last_in_segments() + 1, view.last);
    // Readers still see documents that this transaction removed.
    let dropped = writer.head.changes.saturating_sub(1);
    let dead = catalogue::dead(&writer.connection, range, dropped).map_err(failed)?;
    let documents = run.documents() - dead.len().min(run.documents());
    let level = state.tuning.level(documents as u64);
    let dropped = if dead.is_empty() { 0 } else { dropped };
    let file = SegmentFile::create(place, next_name(&mut writer.head))?;
    let segment = Arc::new(write_run(file, &run, &dead, range, level, dropped)?);
    catalogue::list_segment(&writer.connection, &segment.entry).map_err(failed)?;
    catalogue::remove_tombstones(&writer.connection, range, dropped).map_err(failed)?;
    writer.head.generation += 1;
    view.generation = writer.head.generation;
    view.segments.push(Arc::clone(&segment));
    Ok(segment)
}

/// The name of the next segment file. Names are never reused.
pub(crate) fn next_name(head: &mut CatalogueState) -> String {
    let name = segment_name(head.next_segment);
    head.next_segment += 1;
    name
}

/// Writes a run without the documents in `dead`, whose numbers are ascending.
pub(crate) fn write_run(
    mut file: SegmentFile<'_>,
    run: &PostingRun,
    dead: &[u32],
    range: (u32, u32),
    level: u32,
    dropped: u64,
) -> Result<Segment, IndexError> {
    for list in PostingList::BOTH {
        if list == PostingList::Ids {
            file.end_bands()?;
        }
        for (key, number) in run.list(list) {
            if dead.is_empty() || dead.binary_search(number).is_err() {
                file.push(*key, *number)?;
            }
        }
    }
    file.finish(range, level, dropped)
}

/// The changes of one call.
struct WriteBatch<'a> {
    catalogue: Catalogue<'a>,
    settings: &'a IndexSettings,
    head: &'a mut CatalogueState,
    id_filter: &'a mut IdFilter,
    bands: Vec<Posting>,
    ids: Vec<Posting>,
    keys: Vec<u64>,
    signature: Vec<u8>,
    /// Buffer for checksums.
    fields: Vec<u8>,
}

impl WriteBatch<'_> {
    /// Removes documents, and their texts unless a version keeps them.
    fn remove(
        &mut self,
        documents: &[i64],
        versions: Option<&VersionChanges<'_>>,
    ) -> Result<(), IndexError> {
        let ended = versions.into_iter().flat_map(VersionChanges::ended);
        let ended: HashSet<i64> = ended.map(|version| version.document).collect();
        let change = self.head.changes + 1;
        let mut remove = |document: i64| -> rusqlite::Result<()> {
            let number = document as u32;
            remove_rows(self.catalogue.connection, self.head, number)?;
            if !ended.contains(&document) {
                remove_text(self.catalogue.connection, self.head, number)?;
            }
            add_tombstone(self.catalogue.connection, number, change)
        };
        let removed = documents.iter().try_for_each(|document| remove(*document));
        removed.map_err(|error| self.catalogue.place.database(error))
    }

    /// Stores the texts of versions that the batch has both added and ended, and removes the texts
    /// of removed versions.
    fn move_texts(
        &mut self,
        finished: &FinishedVersions,
        changes: &[Change<'_>],
    ) -> Result<(), IndexError> {
        for (document, at) in &finished.ended {
            let Some(entry) = changes[*at].entry() else { continue };
            if let Some(text) = entry.text {
                let inserted = self.insert_text(*document as u32, &frame_of(text, entry.id)?);
                inserted.map_err(|error| self.catalogue.place.database(error))?;
            }
        }
        for document in &finished.removed {
            let removed = remove_text(self.catalogue.connection, self.head, *document as u32);
            removed.map_err(|error| self.catalogue.place.database(error))?;
        }
        Ok(())
    }

    fn insert(
        &mut self,
        entry: &IndexEntry<'_>,
        metadata: &str,
        number: u32,
    ) -> Result<(), IndexError> {
        let text = match entry.text {
            Some(text) if self.settings.store.has_texts() => Some(frame_of(text, entry.id)?),
            _ => None,
        };
        self.insert_rows(number, entry, metadata, text.as_deref()).map_err(|error| {
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::TooBig) {
                let why = "it is larger than a row can be, 1,000,000,000 bytes";
                return IndexError::document(entry.id, why);
            }
            self.catalogue.place.database(error)
        })?;
        self.head.documents += 1;
        self.head.without_shingles += u64::from(entry.signature.is_empty());
        let key = id_key(entry.id.as_bytes());
        self.id_filter.add(key);
        self.ids.push((key, number));
        posting_keys(self.settings, entry.signature, entry.set, &mut self.keys)?;
        self.bands.extend(self.keys.iter().map(|key| (*key, number)));
        Ok(())
    }

    fn insert_rows(
        &mut self,
        number: u32,
        entry: &IndexEntry<'_>,
        metadata: &str,
        text: Option<&[u8]>,
    ) -> rusqlite::Result<()> {
        self.signature.clear();
        for value in entry.signature {
            self.signature.extend_from_slice(&value.to_le_bytes());
        }
        let sum = |bytes: &[u8]| checksum::content(u64::from(number), bytes).cast_signed();
        let fingerprint = entry.fingerprint.to_le_bytes();
        let fields =
            RowFields::of_entry(u64::from(number), entry, &fingerprint, metadata.as_bytes());
        let sql = "INSERT INTO docs VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
        self.catalogue.connection.prepare_cached(sql)?.execute(params![
            number,
            entry.id,
            &fingerprint[..],
            entry.bytes.cast_signed(),
            entry.added,
            entry.modified,
            entry.expires,
            metadata,
            self.signature,
            fields.checksum(&mut self.fields).cast_signed(),
            sum(&self.signature),
        ])?;
        if self.settings.store.has_sets() {
            let sql = "INSERT INTO sets VALUES(?1, ?2, ?3)";
            let row = params![number, entry.set, sum(entry.set)];
            self.catalogue.connection.prepare_cached(sql)?.execute(row)?;
            self.head.set_bytes += entry.set.len() as u64;
        }
        text.map_or(Ok(()), |text| self.insert_text(number, text))
    }

    fn insert_text(&mut self, number: u32, text: &[u8]) -> rusqlite::Result<()> {
        let sum = checksum::content(number.into(), text).cast_signed();
        let sql = "INSERT INTO texts VALUES(?1, ?2, ?3)";
        self.catalogue.connection.prepare_cached(sql)?.execute(params![number, text, sum])?;
        self.head.text_bytes += text.len() as u64;
        Ok(())
    }
}

/// Records that postings contain a removed document.
pub(crate) fn add_tombstone(
    connection: &Connection,
    number: u32,
    change: u64,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO dead VALUES(?1, ?2)";
    connection.prepare_cached(sql)?.execute(params![number, change.cast_signed()])?;
    Ok(())
}
