//! Changes, one transaction a call.

use super::catalogue;
use super::catalogue_state::CatalogueState;
use super::catalogue_writer::CatalogueWriter;
use super::id_filter::IdFilter;
use super::index_folder::IndexFolder;
use super::index_state::IndexState;
use super::lock::lock;
use super::posting::{Posting, PostingList, PostingRun, id_key};
use super::posting_view::PostingView;
use super::record_reader::RecordReader;
use super::segment::Segment;
use super::segment_file::SegmentFile;
use super::validation::segment_name;
use crate::backend::{Change, ChangeOutcome, posting_keys};
use crate::checksum::{self, RowFields};
use crate::entry::{IndexEntry, MAX_METADATA_BYTES, shown};
use crate::error::IndexError;
use crate::settings::{IndexSettings, StoredContent};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

impl CatalogueWriter {
    /// Does something in one transaction and shows its parts; all or nothing.
    ///
    /// # Errors
    /// What `work` gives and what keeps it from being stored.
    pub(super) fn transaction<T>(
        &mut self,
        shared: &IndexState,
        work: impl FnOnce(&mut Self, &mut PostingView) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        let failed = |error| shared.place.database(error);
        self.end_abandoned(&shared.place)?;
        let (head, before) = (self.head, shared.parts());
        self.connection.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
        let mut parts = PostingView::clone(&before);
        let done = work(self, &mut parts).and_then(|done| {
            if self.head != head {
                self.head.write(&self.connection).map_err(failed)?;
            }
            // Readers may see it from the commit on, and must find it then.
            shared.show(Arc::new(parts));
            let commit = self.connection.execute_batch("COMMIT");
            commit.map(|()| done).map_err(failed)
        });
        if done.is_err() {
            if !self.connection.is_autocommit() {
                let _ = self.connection.execute_batch("ROLLBACK");
            }
            self.head = head;
            shared.show(before);
        }
        done
    }
}

/// Makes changes.
///
/// # Errors
/// As [`Backend::write`](crate::backend::Backend::write).
pub(super) fn write(
    shared: &IndexState,
    changes: &[Change<'_>],
) -> Result<Vec<ChangeOutcome>, IndexError> {
    let done = attempt(shared, changes);
    let only_removes = changes.iter().all(|change| matches!(change, Change::Remove(_)));
    if only_removes && matches!(done, Err(IndexError::DiskFull { .. })) {
        shared.free_reserve()?;
        return attempt(shared, changes);
    }
    done
}

fn attempt(shared: &IndexState, changes: &[Change<'_>]) -> Result<Vec<ChangeOutcome>, IndexError> {
    for change in changes {
        if let Change::Add(entry) | Change::Put(entry) = change {
            entry.check(shared.settings.num_hashes)?;
        }
    }
    let mut held = lock(&shared.writer);
    let writer = held.as_mut().ok_or_else(|| shared.read_only())?;
    if changes.is_empty() {
        return Ok(Vec::new());
    }
    if changes.iter().any(|change| !matches!(change, Change::Remove(_))) {
        writer.check_log().map_err(|error| shared.place.database(error))?;
    }
    let mut made = None;
    let done = writer.transaction(shared, |writer, parts| {
        let mut batch = WriteBatch::new(shared, writer, parts, changes)?;
        let done = changes.iter().map(|change| batch.apply(change));
        let done = done.collect::<Result<Vec<ChangeOutcome>, IndexError>>()?;
        let run = batch.finish();
        if done.iter().any(|done| *done != ChangeOutcome::Absent) {
            writer.head.changes += 1;
        }
        let adds = run.documents() > 0;
        if adds {
            parts.push(run);
        }
        parts.last = writer.head.last;
        // A segment needs space; removals must do without.
        if adds && parts.is_tail_full(shared.tuning.tail, &shared.settings) {
            made = Some(flush(shared, writer, parts)?);
        }
        Ok(done)
    });
    let is_flushed = made.is_some();
    match (&done, made) {
        (Err(_), Some(segment)) => {
            let _ = std::fs::remove_file(shared.place.folder.join(&segment.listed.name));
        }
        _ if is_flushed => shared.signal.flushed(),
        _ => {}
    }
    drop(held);
    if is_flushed && done.is_ok() {
        shared.keep_reserve();
        shared.signal.wait_while_behind(shared);
    }
    done
}

/// Puts the runs into a segment, within a transaction.
///
/// # Errors
/// What keeps it from being written.
pub(super) fn flush(
    shared: &IndexState,
    writer: &mut CatalogueWriter,
    parts: &mut PostingView,
) -> Result<Arc<Segment>, IndexError> {
    let place = &shared.place;
    let failed = |error| place.database(error);
    parts.gathered = 0;
    let mut runs = std::mem::take(&mut parts.runs).into_iter();
    let mut run = runs.next().unwrap_or_default();
    for next in runs {
        run = Arc::new(run.merged(&next));
    }
    let range = (parts.in_segments() + 1, parts.last);
    // Those that are gone since this very transaction are still seen by readers.
    let dropped = writer.head.changes.saturating_sub(1);
    let dead = catalogue::dead(&writer.connection, range, dropped).map_err(failed)?;
    let documents = run.documents() - dead.len().min(run.documents());
    let level = shared.tuning.level(documents as u64);
    let dropped = if dead.is_empty() { 0 } else { dropped };
    let file = SegmentFile::create(place, next_name(&mut writer.head))?;
    let segment = Arc::new(write_run(file, &run, &dead, range, level, dropped)?);
    catalogue::list_segment(&writer.connection, &segment.listed).map_err(failed)?;
    catalogue::forget_dead(&writer.connection, range, dropped).map_err(failed)?;
    writer.head.generation += 1;
    parts.generation = writer.head.generation;
    parts.segments.push(Arc::clone(&segment));
    Ok(segment)
}

/// The name of the next segment file; no name is used again.
pub(super) fn next_name(head: &mut CatalogueState) -> String {
    let name = segment_name(head.next_segment);
    head.next_segment += 1;
    name
}

/// Writes a run, dead documents (ascending) left out.
///
/// # Errors
/// What keeps it from being written.
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
    known: &'a mut IdFilter,
    /// What number an id of this call has, if any.
    numbers: HashMap<&'a str, Option<u32>>,
    /// The last number before this call.
    before: u32,
    /// Numbers of this call that are gone again.
    gone: HashSet<u32>,
    bands: Vec<Posting>,
    ids: Vec<Posting>,
    keys: Vec<u64>,
    metadata: Vec<u8>,
    signature: Vec<u8>,
    /// What checksums are made of.
    fields: Vec<u8>,
}

impl<'a> WriteBatch<'a> {
    fn new(
        shared: &'a IndexState,
        writer: &'a mut CatalogueWriter,
        parts: &PostingView,
        changes: &[Change<'a>],
    ) -> Result<Self, IndexError> {
        let (settings, count) = (&shared.settings, changes.len());
        let (connection, known) = (&writer.connection, &mut writer.known);
        let unchecked = writer.head.unchecked;
        let numbers = numbers(&shared.place, connection, known, parts, unchecked, changes)?;
        Ok(Self {
            place: &shared.place,
            settings,
            connection: &writer.connection,
            before: writer.head.last,
            head: &mut writer.head,
            texts: &mut writer.texts,
            known,
            numbers,
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
        let (Change::Add(IndexEntry { id, .. })
        | Change::Put(IndexEntry { id, .. })
        | Change::Remove(id)) = change;
        let before = self.numbers.get(id).copied().flatten();
        let is_expired = match (before, change) {
            (Some(number), Change::Add(entry) | Change::Put(entry)) => {
                let expired = is_expired(self.connection, number, entry.added);
                expired.map_err(|error| self.place.database(error))?
            }
            _ => false,
        };
        if matches!(change, Change::Add(_)) && before.is_some() && !is_expired {
            return Err(IndexError::IdTaken { id: (*id).to_owned() });
        }
        if let Some(number) = before {
            let removed = self.remove(number);
            removed.map_err(|error| self.place.database(error))?;
        }
        let (Change::Add(entry) | Change::Put(entry)) = change else {
            self.numbers.insert(id, None);
            return Ok(if before.is_some() {
                ChangeOutcome::Removed
            } else {
                ChangeOutcome::Absent
            });
        };
        let number = self.insert(entry)?;
        self.numbers.insert(id, Some(number));
        Ok(if before.is_some() && !is_expired {
            ChangeOutcome::Replaced
        } else {
            ChangeOutcome::Added
        })
    }

    fn insert(&mut self, entry: &IndexEntry<'a>) -> Result<u32, IndexError> {
        let most = u32::MAX - 1;
        if self.head.last >= most {
            return Err(IndexError::Full { most: u64::from(most) });
        }
        let cannot = |why: String| IndexError::Document { id: shown(entry.id), why };
        self.metadata.clear();
        serde_json::to_writer(&mut self.metadata, entry.metadata)
            .map_err(|error| cannot(format!("its metadata cannot be written: {error}")))?;
        if self.metadata.len() > MAX_METADATA_BYTES {
            let got = self.metadata.len();
            let why = format!("its metadata has {got} bytes, at most {MAX_METADATA_BYTES} go in");
            return Err(cannot(why));
        }
        let text = match entry.text {
            Some(text) if self.settings.store == StoredContent::Texts => {
                Some(self.compressed(text)?)
            }
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
        self.known.add(key);
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
        let fields = RowFields {
            number: u64::from(number),
            id: entry.id.as_bytes(),
            fingerprint: &fingerprint,
            bytes: entry.bytes,
            added: entry.added,
            modified: entry.modified,
            expires: entry.expires,
            metadata: &self.metadata,
        };
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
        if self.settings.store != StoredContent::Signatures {
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
        if self.texts.is_none() {
            *self.texts = Some(zstd::bulk::Compressor::new(3).map_err(failed)?);
        }
        self.texts
            .as_mut()
            .map_or(Ok(Vec::new()), |texts| texts.compress(text.as_bytes()))
            .map_err(failed)
    }

    fn remove(&mut self, number: u32) -> rusqlite::Result<()> {
        remove_rows(self.connection, self.head, number)?;
        if number > self.before {
            self.gone.insert(number);
            return Ok(());
        }
        bury(self.connection, number, self.head.changes + 1)
    }

    /// Postings of what is there at the end.
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

/// Removes what the catalogue has of a document.
///
/// # Errors
/// What SQLite says.
pub(super) fn remove_rows(
    connection: &Connection,
    head: &mut CatalogueState,
    number: u32,
) -> rusqlite::Result<()> {
    let delete = |sql: &str| -> rusqlite::Result<Option<u64>> {
        let mut statement = connection.prepare_cached(sql)?;
        let length = statement.query_row([number], |row| row.get::<_, i64>(0)).optional()?;
        Ok(length.map(i64::cast_unsigned))
    };
    if let Some(length) = delete("DELETE FROM docs WHERE doc = ?1 RETURNING length(signature)")? {
        head.documents = head.documents.saturating_sub(1);
        head.without_shingles = head.without_shingles.saturating_sub(u64::from(length == 0));
    }
    let sets = delete("DELETE FROM sets WHERE doc = ?1 RETURNING length(code)")?;
    head.set_bytes = head.set_bytes.saturating_sub(sets.unwrap_or(0));
    let texts = delete("DELETE FROM texts WHERE doc = ?1 RETURNING length(zstd)")?;
    head.text_bytes = head.text_bytes.saturating_sub(texts.unwrap_or(0));
    Ok(())
}

/// Notes that postings have a document that is gone.
///
/// # Errors
/// What SQLite says.
pub(super) fn bury(connection: &Connection, number: u32, change: u64) -> rusqlite::Result<()> {
    let sql = "INSERT INTO dead VALUES(?1, ?2)";
    connection.prepare_cached(sql)?.execute(params![number, change.cast_signed()])?;
    Ok(())
}

/// What number each id has that is changed, if there is such a document.
fn numbers<'a>(
    place: &IndexFolder,
    connection: &Connection,
    known: &mut IdFilter,
    parts: &PostingView,
    unchecked: u64,
    changes: &[Change<'a>],
) -> Result<HashMap<&'a str, Option<u32>>, IndexError> {
    let mut ids: Vec<(u64, &'a str)> = changes
        .iter()
        .map(|change| {
            let (Change::Add(IndexEntry { id, .. })
            | Change::Put(IndexEntry { id, .. })
            | Change::Remove(id)) = change;
            (id_key(id.as_bytes()), *id)
        })
        .collect();
    // In the order of keys, neighbours are in the same blocks.
    ids.sort_unstable();
    ids.dedup();
    known.prepare(parts, ids.len());
    ids.retain(|(key, _)| known.may_have(*key));
    let keys: Vec<u64> = ids.iter().map(|(key, _)| *key).collect();
    let mut numbers = HashMap::with_capacity(keys.len());
    let mut found: Vec<(u64, &str)> = Vec::new();
    parts.find(PostingList::Ids, &keys, |at, number| found.push((u64::from(number), ids[at].1)))?;
    found.sort_unstable();
    let reader = RecordReader { place, connection, unchecked };
    for (number, id) in found {
        if reader.has(number, id)? {
            numbers.insert(id, Some(number as u32));
        }
    }
    Ok(numbers)
}
