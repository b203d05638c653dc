//! The state of an opened index in memory, and its snapshots.
//!
//! A snapshot consists of a read transaction and a view of the postings. The view contains all
//! documents of the transaction, and may contain documents that the transaction does not see. Only
//! the rows of the catalogue decide which documents exist. A writer therefore publishes a view
//! before it commits, and a reader takes one after its transaction has begun.

use crate::backend::SetCallback;
use crate::backend::Snapshot;
use crate::entry::{DocumentNumber, IndexRecord, RecordFields};
use crate::error::{IndexError, Unwritable};
use crate::folder::catalogue::connection::Catalogue;
use crate::folder::catalogue::read_connection::ReadConnection;
use crate::folder::catalogue::side_tables::CatalogueTables;
use crate::folder::catalogue::state::CatalogueState;
use crate::folder::catalogue::writer::CatalogueWriter;
use crate::folder::index_folder::IndexFolder;
use crate::folder::segments::posting::{PostingList, id_key};
use crate::folder::segments::posting_view::PostingView;
use crate::folder::tuning::Tuning;
use crate::folder::upkeep::merge_signal::MergeSignal;
use crate::folder::upkeep::reserve;
use crate::original::DocumentVersion;
use crate::settings::IndexSettings;
use crate::tables::{Effect, TableSnapshot, TableWriter, Tables};
use parking_lot::{Mutex, MutexGuard};
use rusqlite::Connection;
use std::sync::Arc;
use std::time::Duration;

/// Bytes of a page of the catalogue.
const PAGE_BYTES: u64 = 16 << 10;
/// Maximum number of idle connections for reading.
const IDLE: usize = 8;
/// Maximum number of attempts of a reader whose segments are merged before it can open them.
const TRIES: u32 = 40;

/// An opened index.
pub(crate) struct IndexState {
    pub(crate) place: IndexFolder,
    pub(crate) settings: IndexSettings,
    pub(crate) tuning: Tuning,
    /// `None` if it is open for reading only.
    pub(crate) writer: Mutex<Option<CatalogueWriter>>,
    pub(crate) writable: bool,
    pub(crate) signal: MergeSignal,
    view: Mutex<Arc<PostingView>>,
    /// Locked while the view is updated with the changes of another process.
    refreshing: Mutex<()>,
    idle: Mutex<Vec<ReadConnection>>,
}

impl IndexState {
    pub(crate) fn new(
        place: IndexFolder,
        settings: IndexSettings,
        tuning: Tuning,
        writer: Option<CatalogueWriter>,
        view: PostingView,
    ) -> Self {
        Self {
            place,
            settings,
            tuning,
            writable: writer.is_some(),
            writer: Mutex::new(writer),
            signal: MergeSignal::default(),
            view: Mutex::new(Arc::new(view)),
            refreshing: Mutex::new(()),
            idle: Mutex::new(Vec::new()),
        }
    }

    /// Stores a connection for the first snapshot.
    pub(crate) fn with_connection(self, reading: ReadConnection) -> Self {
        self.idle.lock().push(reading);
        self
    }

    /// The current view.
    pub(crate) fn view(&self) -> Arc<PostingView> {
        Arc::clone(&self.view.lock())
    }

    /// Publishes another view.
    pub(crate) fn publish(&self, view: Arc<PostingView>) {
        *self.view.lock() = view;
    }

    /// Frees space when the disk is full: deletes the reserve and empties the log.
    ///
    /// # Errors
    /// [`IndexError::ReadOnly`].
    pub(crate) fn free_reserve(&self) -> Result<(), IndexError> {
        let guard = self.writer.lock();
        let writer = guard.as_ref().ok_or_else(|| self.read_only())?;
        reserve::release(&self.place);
        // Readers may prevent emptying the log. The reserve must then suffice.
        let _ = writer.empty_log();
        Ok(())
    }

    /// Restores the size of the reserve.
    pub(crate) fn fill_reserve(&self) {
        let guard = self.writer.lock();
        let pages = guard.as_ref().map(|writer| {
            writer.connection.query_row("PRAGMA page_count", [], |row| row.get::<_, i64>(0))
        });
        if let Some(Ok(pages)) = pages {
            reserve::keep(&self.place, pages.cast_unsigned().saturating_mul(PAGE_BYTES));
        }
    }

    /// Ends writing. Closes the writer's connection last, so that the log is empty afterwards.
    pub(crate) fn close(&self) {
        self.idle.lock().clear();
        *self.writer.lock() = None;
    }

    /// The error of a write to an index that is open for reading only.
    pub(crate) fn read_only(&self) -> IndexError {
        IndexError::ReadOnly { index: self.place.name.clone(), cause: Unwritable::Opened }
    }

    /// A snapshot of the current state.
    ///
    /// # Errors
    /// Read errors; [`IndexError::Damaged`] for a segment that is missing.
    pub(crate) fn snapshot(self: &Arc<Self>) -> Result<FolderSnapshot, IndexError> {
        let mut tries = 0;
        loop {
            // A reader that retries prevents others from adding later documents to the view.
            let guard = (tries > 0).then(|| self.refreshing.lock());
            let snapshot = self.begin()?;
            let view = self.view();
            let is_old = !self.writable && view.generation < snapshot.head.generation;
            if view.covers(&snapshot.head) && !is_old {
                return Ok(snapshot.with(view));
            }
            tries += 1;
            match self.refresh(&snapshot, guard) {
                Ok(view) if view.covers(&snapshot.head) => return Ok(snapshot.with(view)),
                // In the meantime, documents of this snapshot were removed from postings, or
                // segments were merged and removed, or a segment is missing. Retry with a later
                // snapshot.
                Ok(_) | Err(IndexError::Damaged { .. }) if tries < TRIES => {}
                Ok(_) => {
                    let why = "it changes faster than it can be read";
                    return Err(IndexError::transient(&self.place.name, why));
                }
                Err(error) => return Err(error),
            }
            drop(snapshot);
            std::thread::sleep(Duration::from_millis(u64::from(tries / 2)));
        }
    }

    /// Returns the view, updated with the changes of another process. The caller must check that it
    /// contains all documents of the snapshot.
    fn refresh(
        &self,
        snapshot: &FolderSnapshot,
        guard: Option<MutexGuard<'_, ()>>,
    ) -> Result<Arc<PostingView>, IndexError> {
        let _lock = guard.unwrap_or_else(|| self.refreshing.lock());
        let view = self.view();
        if self.writable
            || (view.covers(&snapshot.head) && view.generation >= snapshot.head.generation)
        {
            return Ok(view);
        }
        let fresh = view.refreshed(snapshot.catalogue()?, &self.settings, &snapshot.head)?;
        let fresh = Arc::new(fresh);
        if fresh.last >= view.last && fresh.generation >= view.generation {
            self.publish(Arc::clone(&fresh));
        }
        Ok(fresh)
    }

    /// Begins a read transaction.
    pub(crate) fn begin(self: &Arc<Self>) -> Result<FolderSnapshot, IndexError> {
        let idle = self.idle.lock().pop();
        let reading = match idle.filter(|reading| reading.is_current(&self.place)) {
            Some(reading) => reading,
            None => ReadConnection::open(&self.place)?,
        };
        let catalogue = Catalogue { place: &self.place, connection: &reading.connection };
        catalogue.run(|connection| connection.prepare_cached("BEGIN")?.execute([]))?;
        let head = CatalogueState::read(catalogue)?;
        let view = Arc::default();
        Ok(FolderSnapshot { state: Arc::clone(self), reading: Some(reading), head, view })
    }
}

impl TableWriter for IndexState {
    fn change<T>(
        &self,
        mut work: impl FnMut(Tables<'_>) -> Result<(T, Effect), IndexError>,
    ) -> Result<T, IndexError> {
        let mut guard = self.writer.lock();
        let writer = guard.as_mut().ok_or_else(|| self.read_only())?;
        writer.check_log().map_err(|error| self.place.database(error))?;
        writer.transaction(self, |writer, view| {
            let catalogue = writer.catalogue(&self.place);
            let (result, effect) = work(&mut CatalogueTables { catalogue, view })?;
            writer.head.changes += u64::from(effect == Effect::Visible);
            Ok(result)
        })
    }
}

/// A snapshot of an index.
pub(crate) struct FolderSnapshot {
    pub(crate) state: Arc<IndexState>,
    reading: Option<ReadConnection>,
    pub(crate) head: CatalogueState,
    pub(crate) view: Arc<PostingView>,
}

impl FolderSnapshot {
    fn with(mut self, view: Arc<PostingView>) -> Self {
        self.view = view;
        self
    }

    /// The connection with the read transaction of the snapshot.
    ///
    /// # Errors
    /// [`IndexError::Database`] once the snapshot is dropped, [`IndexError::Interrupted`].
    pub(crate) fn connection(&self) -> Result<&Connection, IndexError> {
        self.state.place.poll()?;
        let reading = self.reading.as_ref().ok_or_else(|| {
            let why = "the connection of the snapshot was returned";
            IndexError::database(&self.state.place.name, why)
        })?;
        Ok(&reading.connection)
    }

    /// Its side tables.
    pub(crate) fn tables(&self) -> Result<CatalogueTables<'_>, IndexError> {
        Ok(CatalogueTables { catalogue: self.catalogue()?, view: &self.view })
    }

    /// The connection of the snapshot, together with the folder of the index.
    pub(crate) fn catalogue(&self) -> Result<Catalogue<'_>, IndexError> {
        Ok(Catalogue { place: &self.state.place, connection: self.connection()? })
    }
}

impl Drop for FolderSnapshot {
    fn drop(&mut self) {
        let Some(reading) = self.reading.take() else { return };
        let connection = &reading.connection;
        let ended = connection.prepare_cached("ROLLBACK").and_then(|mut end| end.execute([]));
        let mut idle = self.state.idle.lock();
        if ended.is_ok() && idle.len() < IDLE {
            idle.push(reading);
        }
    }
}

impl Snapshot for FolderSnapshot {
    fn version(&self) -> u64 {
        self.head.changes
    }

    fn len(&self) -> u64 {
        self.head.documents
    }

    fn number_of(&mut self, id: &str) -> Result<Option<DocumentNumber>, IndexError> {
        let mut numbers = Vec::new();
        let keys = [id_key(id.as_bytes())];
        self.view.find(PostingList::Ids, &keys, |_, number| numbers.push(number))?;
        for number in numbers {
            if self.catalogue()?.stored(number, id)?.is_some() {
                return Ok(Some(DocumentNumber(number.into())));
            }
        }
        Ok(None)
    }

    fn candidates(
        &mut self,
        keys: &[u64],
        numbers: &mut Vec<DocumentNumber>,
    ) -> Result<(), IndexError> {
        numbers.clear();
        self.view.find(PostingList::Bands, keys, |_, number| {
            numbers.push(DocumentNumber(number.into()));
        })?;
        numbers.sort_unstable();
        numbers.dedup();
        Ok(())
    }

    fn records(
        &mut self,
        numbers: &[DocumentNumber],
        wanted: RecordFields,
        each: &mut dyn FnMut(&IndexRecord) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        self.catalogue()?.records(numbers, wanted, each)
    }

    fn sets(
        &mut self,
        numbers: &[DocumentNumber],
        each: SetCallback<'_>,
    ) -> Result<(), IndexError> {
        self.catalogue()?.sets(numbers, each)
    }

    fn version_text(&mut self, version: &DocumentVersion) -> Result<Option<String>, IndexError> {
        self.state.settings.store.expect_originals(&self.state.place.name)?;
        self.catalogue()?.text_of(version.document)
    }

    fn scan(
        &mut self,
        from: DocumentNumber,
        most: usize,
        wanted: RecordFields,
        each: &mut dyn FnMut(&IndexRecord) -> Result<(), IndexError>,
    ) -> Result<usize, IndexError> {
        self.catalogue()?.range((from, DocumentNumber::MAX), most, wanted, each)
    }
}

impl TableSnapshot for FolderSnapshot {
    fn settings(&self) -> &IndexSettings {
        &self.state.settings
    }

    fn with_tables<T>(
        &mut self,
        work: impl FnOnce(Tables<'_>) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        work(&mut self.tables()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Backend, Change};
    use crate::entry::Metadata;
    use crate::folder::{create, open_folder, test_index};

    fn put(backend: &dyn Backend, id: &str) {
        let metadata = Metadata::default();
        backend.write(&[Change::Put(test_index::entry(id, &metadata))]).unwrap();
    }

    #[test]
    fn later_view_excludes_earlier_head() {
        let temp = tempfile::tempdir().unwrap();
        let place = temp.path().join("index");
        let writer = create(&place, &test_index::settings()).unwrap();
        put(&*writer, "a");
        let reader = Arc::new(open_folder::open_for_reading(&place, Tuning::default()).unwrap());
        let earlier = reader.begin().unwrap();
        put(&*writer, "a");
        let mut later = reader.snapshot().unwrap();
        assert_eq!(later.number_of("a").unwrap(), Some(DocumentNumber(2)));
        assert!(later.view.covers(&later.head));
        assert!(!later.view.covers(&earlier.head), "document 1 is in no run");
    }

    #[test]
    fn panicking_transactions_are_rolled_back() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("index");
        put(&*create(&path, &test_index::settings()).unwrap(), "a");
        let (place, tuning) = (IndexFolder::new(&path), Tuning::default());
        let state =
            Arc::new(open_folder::open_for_writing(&place, Duration::ZERO, tuning).unwrap());
        let head = state.begin().unwrap().head;
        let panicking = std::panic::AssertUnwindSafe(|| {
            let mut guard = state.writer.lock();
            let work =
                |writer: &mut CatalogueWriter, _: &mut PostingView| -> Result<(), IndexError> {
                    writer.head.last += 7;
                    writer.head.changes += 1;
                    writer.connection.execute("DELETE FROM docs", []).unwrap();
                    panic!("as a defect would")
                };
            guard.as_mut().unwrap().transaction(&state, work)
        });
        assert!(std::panic::catch_unwind(panicking).is_err());
        let outcomes = crate::folder::write::write(&state, &[Change::Remove("b")]).unwrap();
        assert_eq!(outcomes, [crate::backend::ChangeOutcome::Absent]);
        let snapshot = state.snapshot().unwrap();
        assert_eq!(snapshot.head, head);
        assert!(snapshot.catalogue().unwrap().stored(1, "a").unwrap().is_some());
    }

    #[test]
    fn missing_sets_are_errors() {
        let temp = tempfile::tempdir().unwrap();
        let place = temp.path().join("index");
        let writer = create(&place, &test_index::settings()).unwrap();
        put(&*writer, "a");
        put(&*writer, "b");
        let catalogue = rusqlite::Connection::open(place.join("catalog.sqlite")).unwrap();
        catalogue.execute("DELETE FROM sets WHERE doc = 2", []).unwrap();
        let mut snapshot = writer.snapshot().unwrap();
        let (mut sets, fields) =
            (Vec::new(), RecordFields { set: true, ..RecordFields::default() });
        let take = &mut |record: &IndexRecord| {
            sets.push(record.set.is_some());
            Ok(())
        };
        snapshot.records(&[DocumentNumber(1), DocumentNumber(2)], fields, take).unwrap();
        assert_eq!(sets, [true, false]);
        let error = snapshot
            .sets(&[DocumentNumber(1), DocumentNumber(2), DocumentNumber(3)], &mut |_, _| Ok(()))
            .unwrap_err();
        assert!(error.to_string().contains("\"b\""), "{error}");
    }
}
