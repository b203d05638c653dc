//! Applies changes, one transaction per call.

use super::catalogue;
use super::catalogue_state::CatalogueState;
use super::catalogue_writer::CatalogueWriter;
use super::document_numbers::numbers;
use super::id_filter::IdFilter;
use super::index_folder::IndexFolder;
use super::index_state::IndexState;
use super::posting::{Posting, PostingList, PostingRun, id_key};
use super::posting_view::PostingView;
use super::remove_rows::{remove_rows, remove_text};
use super::segment::Segment;
use super::segment_file::SegmentFile;
use super::similar_documents::SimilarDocuments;
use super::validation::segment_name;
use super::write_duplicates;
use super::write_versions::{self, NewVersion};
use crate::backend::{Change, ChangeOutcome, posting_keys};
use crate::checksum::{self, RowFields};
use crate::entry::{IndexEntry, MAX_METADATA_BYTES, shortened_id};
use crate::error::IndexError;
use crate::settings::IndexSettings;
use rusqlite::{Connection, params};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

impl CatalogueWriter {
    /// Runs `work` in one transaction and publishes its view; all or nothing.
    ///
    /// # Errors
    /// Errors of `work`, and write errors.
    pub(super) fn transaction<T>(
        &mut self,
        state: &IndexState,
        work: impl FnOnce(&mut Self, &mut PostingView) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        let failed = |error| state.place.database(error);
        state.place.poll()?;
        self.roll_back_abandoned(&state.place)?;
        let (head, before) = (self.head, state.view());
        self.connection.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
        let mut view = PostingView::clone(&before);
        let done = work(self, &mut view).and_then(|done| {
            if self.head != head {
                self.head.write(&self.connection).map_err(failed)?;
            }
            // Readers may see the change after the commit, and must find it then.
            state.publish(Arc::new(view));
            let commit = self.connection.execute_batch("COMMIT");
            commit.map(|()| done).map_err(failed)
        });
        if done.is_err() {
            if !self.connection.is_autocommit() {
                let _ = self.connection.execute_batch("ROLLBACK");
            }
            self.head = head;
            state.publish(before);
        }
        done
    }
}

/// Applies changes.
///
/// # Errors
/// As [`Backend::write`](crate::backend::Backend::write).
pub(super) fn write(
    state: &IndexState,
    changes: &[Change<'_>],
) -> Result<Vec<ChangeOutcome>, IndexError> {
    let done = attempt(state, changes);
    let only_removes = changes.iter().all(|change| change.entry().is_none());
    if only_removes && matches!(done, Err(IndexError::DiskFull { .. })) {
        state.free_reserve()?;
        return attempt(state, changes);
    }
    done
}

fn attempt(state: &IndexState, changes: &[Change<'_>]) -> Result<Vec<ChangeOutcome>, IndexError> {
    for entry in changes.iter().filter_map(Change::entry) {
        state.settings.check_entry(entry)?;
    }
    let mut guard = state.writer.lock();
    let writer = guard.as_mut().ok_or_else(|| state.read_only())?;
    if changes.is_empty() {
        return Ok(Vec::new());
    }
    if changes.iter().any(|change| change.entry().is_some()) {
        writer.check_log().map_err(|error| state.place.database(error))?;
    }
    let mut made = None;
    let done = writer.transaction(state, |writer, view| {
        let mut batch = WriteBatch::new(state, writer, view, changes)?;
        let done = changes.iter().map(|change| batch.apply(change));
        let done = done.collect::<Result<Vec<ChangeOutcome>, IndexError>>()?;
        let run = batch.finish();
        if done.iter().any(|done| *done != ChangeOutcome::Absent) {
            writer.head.changes += 1;
        }
        let adds = run.documents() > 0;
        if adds {
            view.push(run);
        }
        view.last = writer.head.last;
        // A segment needs space; removals must work without.
        if adds && view.is_tail_full(state.tuning.tail, &state.settings) {
            made = Some(flush(state, writer, view)?);
        }
        Ok(done)
    });
    let is_flushed = made.is_some();
    match (&done, made) {
        (Err(_), Some(segment)) => {
            let _ = std::fs::remove_file(state.place.folder.join(&segment.entry.name));
        }
        _ if is_flushed => state.signal.flushed(),
        _ => {}
    }
    drop(guard);
    if is_flushed && done.is_ok() {
        state.fill_reserve();
        state.signal.wait_for_merges(state);
    }
    done
}

/// Writes the runs to a segment, within a transaction.
pub(super) fn flush(
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

/// The name of the next segment file; names are never reused.
pub(super) fn next_name(head: &mut CatalogueState) -> String {
    let name = segment_name(head.next_segment);
    head.next_segment += 1;
    name
}

/// Writes a run without dead documents (ascending).
pub(super) fn write_run(
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
    place: &'a IndexFolder,
    settings: &'a IndexSettings,
    connection: &'a Connection,
    head: &'a mut CatalogueState,
    texts: &'a mut Option<zstd::bulk::Compressor<'static>>,
    id_filter: &'a mut IdFilter,
    /// The number of each id of this call, if it has one.
    numbers: HashMap<&'a str, Option<u32>>,
    /// The last number before this call.
    before: u32,
    /// Whether any duplicate is recorded. If not, nothing has to follow its keeper.
    has_duplicates: bool,
    /// Where the index keeps originals.
    similar: Option<SimilarDocuments<'a>>,
    /// Numbers assigned and removed in this call.
    gone: HashSet<u32>,
    bands: Vec<Posting>,
    ids: Vec<Posting>,
    keys: Vec<u64>,
    metadata: Vec<u8>,
    signature: Vec<u8>,
    /// Buffer for checksums.
    fields: Vec<u8>,
}

impl<'a> WriteBatch<'a> {
    fn new(
        state: &'a IndexState,
        writer: &'a mut CatalogueWriter,
        view: &'a PostingView,
        changes: &[Change<'a>],
    ) -> Result<Self, IndexError> {
        let (settings, count) = (&state.settings, changes.len());
        let (connection, id_filter) = (&writer.connection, &mut writer.id_filter);
        let ids = changes.iter().map(Change::id);
        let numbers = numbers(&state.place, connection, id_filter, view, ids)?;
        let has_duplicates = write_duplicates::any(connection);
        let has_duplicates = has_duplicates.map_err(|error| state.place.database(error))?;
        Ok(Self {
            place: &state.place,
            settings,
            connection: &writer.connection,
            before: writer.head.last,
            head: &mut writer.head,
            texts: &mut writer.texts,
            id_filter,
            numbers,
            has_duplicates,
            similar: settings.store.has_originals().then(|| SimilarDocuments::new(view)),
            gone: HashSet::new(),
            bands: Vec::with_capacity(count * settings.bands),
            ids: Vec::with_capacity(count),
            keys: Vec::new(),
            metadata: Vec::new(),
            signature: Vec::new(),
            fields: Vec::new(),
        })
    }

    fn apply(&mut self, change: &Change<'a>) -> Result<ChangeOutcome, IndexError> {
        let id = change.id();
        let before = self.numbers.get(id).copied().flatten();
        let is_expired = if let (Some(number), Some(entry)) = (before, change.entry()) {
            let expired = is_expired(self.connection, number, entry.added);
            expired.map_err(|error| self.place.database(error))?
        } else {
            false
        };
        if matches!(change, Change::Add(_)) && before.is_some() && !is_expired {
            return Err(IndexError::IdTaken { id: id.to_owned() });
        }
        let version = self.begin_version(change.entry(), before)?;
        let mut group = Vec::new();
        if let Some(number) = before {
            let keeps_group = !is_expired && self.keeps_group(change.entry(), number)?;
            let keeps_text = version.as_ref().is_some_and(NewVersion::keeps_former_text);
            let removed = self.remove(number, keeps_text);
            let removed = removed.map_err(|error| self.place.database(error))?;
            group = if keeps_group { removed } else { group };
        }
        let number = change.entry().map(|entry| self.insert(entry)).transpose()?;
        let moved = self.move_group(id, number, &group);
        let was_duplicate = moved.map_err(|error| self.place.database(error))?;
        if let (Some(version), Some(number), Some(similar)) = (version, number, &mut self.similar) {
            version.store(number, similar.find_and_add(&self.keys, number)?)?;
        }
        self.numbers.insert(id, number);
        Ok(match (before, number) {
            (None, None) if !was_duplicate => ChangeOutcome::Absent,
            (_, None) => ChangeOutcome::Removed,
            (Some(_), Some(_)) if !is_expired => ChangeOutcome::Replaced,
            (_, Some(_)) => ChangeOutcome::Added,
        })
    }

    /// Whether the duplicates of a document stay with the one that replaces it, which has the same
    /// shingles then.
    fn keeps_group(&self, entry: Option<&IndexEntry<'_>>, before: u32) -> Result<bool, IndexError> {
        let Some(entry) = entry.filter(|_| self.has_duplicates) else { return Ok(false) };
        let sql = "SELECT 1 FROM docs WHERE doc = ?1 AND fingerprint = ?2";
        let is_same = self.connection.prepare_cached(sql).and_then(|mut statement| {
            statement.exists(params![before, &entry.fingerprint.to_le_bytes()[..]])
        });
        is_same.map_err(|error| self.place.database(error))
    }

    /// Gives these duplicates to the document that is added, and removes what is recorded of one
    /// with its id; whether there was such a duplicate.
    fn move_group(
        &self,
        id: &str,
        number: Option<u32>,
        group: &[String],
    ) -> rusqlite::Result<bool> {
        if !self.has_duplicates {
            return Ok(false);
        }
        for (number, id) in number.iter().flat_map(|number| group.iter().map(|id| (*number, id))) {
            write_duplicates::insert(self.connection, id, number)?;
        }
        write_duplicates::remove(self.connection, id)
    }

    /// Where the index keeps originals: the version of a document that is added, or none for a
    /// document that is removed, whose versions go with it.
    fn begin_version<'e>(
        &mut self,
        entry: Option<&'e IndexEntry<'a>>,
        before: Option<u32>,
    ) -> Result<Option<NewVersion<'e>>, IndexError>
    where
        'a: 'e,
    {
        if self.similar.is_none() {
            return Ok(None);
        }
        let (place, connection) = (self.place, self.connection);
        match (entry, before) {
            (Some(entry), before) => NewVersion::new(place, connection, entry, before).map(Some),
            (None, Some(before)) => {
                write_versions::remove_all(place, connection, self.head, before)?;
                Ok(None)
            }
            (None, None) => Ok(None),
        }
    }

    fn insert(&mut self, entry: &IndexEntry<'a>) -> Result<u32, IndexError> {
        let most = u32::MAX - 1;
        if self.head.last >= most {
            return Err(IndexError::Full { most: u64::from(most) });
        }
        let cannot = |why: String| IndexError::Document { id: shortened_id(entry.id), why };
        self.metadata.clear();
        serde_json::to_writer(&mut self.metadata, entry.metadata)
            .map_err(|error| cannot(format!("its metadata cannot be written: {error}")))?;
        if self.metadata.len() > MAX_METADATA_BYTES {
            let got = self.metadata.len();
            let why = format!("its metadata has {got} bytes, at most {MAX_METADATA_BYTES} go in");
            return Err(cannot(why));
        }
        let text = match entry.text {
            Some(text) if self.settings.store.has_texts() => Some(self.compressed(text)?),
            _ => None,
        };
        self.head.last += 1;
        let number = self.head.last;
        self.insert_rows(number, entry, text.as_deref()).map_err(|error| {
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::TooBig) {
                return cannot("it is larger than a row can be, 1,000,000,000 bytes".to_owned());
            }
            self.place.database(error)
        })?;
        self.head.documents += 1;
        self.head.without_shingles += u64::from(entry.signature.is_empty());
        let key = id_key(entry.id.as_bytes());
        self.id_filter.add(key);
        self.ids.push((key, number));
        posting_keys(self.settings, entry.signature, entry.set, &mut self.keys)?;
        self.bands.extend(self.keys.iter().map(|key| (*key, number)));
        Ok(number)
    }

    fn insert_rows(
        &mut self,
        number: u32,
        entry: &IndexEntry<'_>,
        text: Option<&[u8]>,
    ) -> rusqlite::Result<()> {
        self.signature.clear();
        for value in entry.signature {
            self.signature.extend_from_slice(&value.to_le_bytes());
        }
        let sum = |bytes: &[u8]| checksum::content(u64::from(number), bytes).cast_signed();
        let fingerprint = entry.fingerprint.to_le_bytes();
        let fields = RowFields::of_entry(u64::from(number), entry, &fingerprint, &self.metadata);
        let sql = "INSERT INTO docs VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
        self.connection.prepare_cached(sql)?.execute(params![
            number,
            entry.id,
            &fingerprint[..],
            entry.bytes.cast_signed(),
            entry.added,
            entry.modified,
            entry.expires,
            str::from_utf8(&self.metadata)?,
            self.signature,
            fields.checksum(&mut self.fields).cast_signed(),
            sum(&self.signature),
        ])?;
        if self.settings.store.has_sets() {
            let sql = "INSERT INTO sets VALUES(?1, ?2, ?3)";
            let row = params![number, entry.set, sum(entry.set)];
            self.connection.prepare_cached(sql)?.execute(row)?;
            self.head.set_bytes += entry.set.len() as u64;
        }
        if let Some(text) = text {
            let sql = "INSERT INTO texts VALUES(?1, ?2, ?3)";
            let row = params![number, text, sum(text)];
            self.connection.prepare_cached(sql)?.execute(row)?;
            self.head.text_bytes += text.len() as u64;
        }
        Ok(())
    }

    fn compressed(&mut self, text: &str) -> Result<Vec<u8>, IndexError> {
        let failed = |source| IndexError::Io { path: self.place.name.clone(), source };
        let compressor = match &mut *self.texts {
            Some(compressor) => compressor,
            none => none.insert(zstd::bulk::Compressor::new(3).map_err(failed)?),
        };
        compressor.compress(text.as_bytes()).map_err(failed)
    }

    /// Removes a document; returns the ids of its duplicates.
    fn remove(&mut self, number: u32, keeps_text: bool) -> rusqlite::Result<Vec<String>> {
        let group = remove_rows(self.connection, self.head, number)?;
        if !keeps_text {
            remove_text(self.connection, self.head, number)?;
        }
        if number > self.before {
            self.gone.insert(number);
            return Ok(group);
        }
        add_tombstone(self.connection, number, self.head.changes + 1)?;
        Ok(group)
    }

    /// The postings of the documents that remain.
    fn finish(self) -> PostingRun {
        let (mut bands, mut ids) = (self.bands, self.ids);
        if !self.gone.is_empty() {
            bands.retain(|posting| !self.gone.contains(&posting.1));
            ids.retain(|posting| !self.gone.contains(&posting.1));
        }
        PostingRun::sorted(bands, ids)
    }
}

/// Whether a document counts as removed at a time.
fn is_expired(connection: &Connection, number: u32, now: i64) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM docs WHERE doc = ?1 AND expires <= ?2";
    connection.prepare_cached(sql)?.exists(params![number, now])
}

/// Records that postings contain a removed document.
pub(super) fn add_tombstone(
    connection: &Connection,
    number: u32,
    change: u64,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO dead VALUES(?1, ?2)";
    connection.prepare_cached(sql)?.execute(params![number, change.cast_signed()])?;
    Ok(())
}
