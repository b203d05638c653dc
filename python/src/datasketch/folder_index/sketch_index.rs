//! Opens an index of sketches in a folder, and writes changes to it.
//!
//! ```text
//! insert, remove → PendingChanges ─ together → folder
//! any query      → pending changes are written first → folder (band_probe.rs)
//! ```
//!
//! The first sketch creates the folder, because its scheme and the size of its bands are settings
//! of the index.

use super::error::SketchIndexError;
use super::ids::{Key, MOST_REPEATS, REPEATED};
use super::open_folder::OpenFolder;
use super::origin;
use super::pending_changes::{PendingChanges, PlannedChange};
use lookalike::index::time;
use lookalike::store::IndexError;
use lookalike::store::backend::{Change, Snapshot};
use lookalike::store::entry::{IndexEntry, Metadata, RecordFields};
use lookalike::store::error::Unwritable;
use lookalike::store::folder;
use lookalike::store::index::Access;
use lookalike::store::settings::IndexSettings;
use lookalike::store::sketches::SketchSettings;
use parking_lot::{Mutex, MutexGuard};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long to wait for another process that is closing the index.
const PATIENCE: Duration = Duration::from_secs(1);

/// The parameters for opening and creating an index.
pub(super) struct IndexParameters {
    pub(super) num_perm: usize,
    pub(super) bands: usize,
    pub(super) rows: usize,
    pub(super) prepickle: bool,
    pub(super) hashfunc: Option<String>,
}

enum IndexSlot {
    /// The folder does not exist yet.
    Nothing,
    Open(Arc<OpenFolder>),
    Closed,
}

/// An index of sketches.
pub(super) struct SketchIndex {
    folder: PathBuf,
    expected: IndexParameters,
    is_read_only: bool,
    /// Whether pickles in the folder may be loaded. A pickle can run arbitrary code.
    allows_pickles: AtomicBool,
    /// The writer holds this lock. A thread that needs both locks takes this one before `slot`.
    writing: Mutex<PendingChanges>,
    /// Whether `writing` contains changes.
    waits: AtomicBool,
    slot: Mutex<IndexSlot>,
}

impl IndexParameters {
    /// Returns the settings of an index whose first sketch has these bands.
    fn settings<B: AsRef<[u8]>>(&self, bands: &[B], scheme: Option<&str>) -> IndexSettings {
        let sketches = SketchSettings {
            num_perm: self.num_perm,
            rows: self.rows,
            scheme: scheme.map(str::to_owned),
            band_bytes: bands.first().map_or(0, |band| band.as_ref().len()),
            // The values of this scheme are below 2³². A band contains 8 bytes for each of them.
            halved: self.hashfunc.is_none() && scheme == Some("legacy"),
            prepickle: self.prepickle,
            hashfunc: self.hashfunc.clone(),
        };
        IndexSettings::of_sketches(self.bands, sketches)
    }

    /// Rejects an index of documents, and an index with other settings.
    fn check_compatible(&self, has: &IndexSettings) -> Result<(), SketchIndexError> {
        let Some(sketches) = &has.sketches else { return Err(SketchIndexError::Documents) };
        let params = |bands: usize, rows: usize| format!("({bands}, {rows})");
        let pickled = |is_so: bool| if is_so { "True" } else { "False" }.to_owned();
        let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "None".to_owned());
        let pairs = [
            ("num_perm", sketches.num_perm.to_string(), self.num_perm.to_string()),
            ("params", params(has.bands, sketches.rows), params(self.bands, self.rows)),
            ("prepickle", pickled(sketches.prepickle), pickled(self.prepickle)),
            ("hashfunc", name(&sketches.hashfunc), name(&self.hashfunc)),
        ];
        match pairs.into_iter().find(|(_, has, requested)| has != requested) {
            Some((setting, has, requested)) => {
                Err(SketchIndexError::Mismatch { setting, has, requested })
            }
            None => Ok(()),
        }
    }
}

impl SketchIndex {
    /// Opens the index in a folder. If the folder does not exist, stores its path until the first
    /// sketch creates it.
    ///
    /// # Errors
    /// If the folder does not contain an index of sketches, or contains one with other settings.
    /// Without `allow_pickle`, also if it contains pickled keys of another process.
    pub(super) fn new(
        folder: PathBuf,
        expected: IndexParameters,
        is_read_only: bool,
        allow_pickle: bool,
    ) -> Result<Self, SketchIndexError> {
        let slot = match folder.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound && !is_read_only => {
                check_parent(&folder)?;
                IndexSlot::Nothing
            }
            _ => IndexSlot::Open(Arc::new(opened(&folder, &expected, is_read_only)?)),
        };
        let allows_pickles = allow_pickle || origin::is_own(&folder);
        // With `prepickle`, all keys are pickles.
        if matches!(slot, IndexSlot::Open(_)) && expected.prepickle && !allows_pickles {
            return Err(SketchIndexError::Pickles);
        }
        Ok(Self {
            folder,
            expected,
            is_read_only,
            allows_pickles: AtomicBool::new(allows_pickles),
            writing: Mutex::default(),
            waits: AtomicBool::new(false),
            slot: Mutex::new(slot),
        })
    }

    /// Returns true if pickles in the folder may be loaded, because the caller allowed it or
    /// because this process created the folder.
    pub(super) fn allows_pickles(&self) -> bool {
        self.allows_pickles.load(Ordering::Acquire)
    }

    /// Returns the open folder, or `None` if the folder does not exist yet.
    fn open(&self) -> Result<Option<Arc<OpenFolder>>, SketchIndexError> {
        match &*self.slot.lock() {
            IndexSlot::Nothing => Ok(None),
            IndexSlot::Open(open) => Ok(Some(Arc::clone(open))),
            IndexSlot::Closed => Err(SketchIndexError::Closed),
        }
    }

    /// Writes pending changes, then returns the folder like [`open`](Self::open).
    ///
    /// # Errors
    /// If the index is closed, or if pending changes cannot be written.
    pub(super) fn settled(&self) -> Result<Option<Arc<OpenFolder>>, SketchIndexError> {
        if self.waits.load(Ordering::Acquire) {
            self.write(&mut self.writing.lock())?;
        }
        self.open()
    }

    /// The scheme of the sketches, if it is known.
    ///
    /// # Errors
    /// If the index is closed.
    pub(super) fn scheme(&self) -> Result<Option<String>, SketchIndexError> {
        let of = |settings: &IndexSettings| settings.sketches.as_ref()?.scheme.clone();
        if let Some(open) = self.open()? {
            return Ok(of(&open.settings));
        }
        Ok(self.writing.lock().settings.as_deref().and_then(of))
    }

    /// Adds a record of a key with its bands. With `is_new`, adds nothing and returns false if the
    /// key exists. Writes the pending changes if their number is at least `most`.
    ///
    /// # Errors
    /// If the bands differ in form from earlier ones, or if changes cannot be written.
    pub(super) fn insert<B: AsRef<[u8]>>(
        &self,
        key: Key,
        bands: &[B],
        scheme: Option<&str>,
        is_new: bool,
        most: usize,
    ) -> Result<bool, SketchIndexError> {
        let mut waiting = self.writer()?;
        let open = self.open()?;
        let count = waiting.count(open.as_deref(), &key.id)?;
        if is_new && count > 0 {
            waiting.rest();
            return Ok(false);
        }
        let planned = self.plan(&mut waiting, open.as_deref(), (key, count), bands, scheme);
        waiting.rest();
        planned?;
        self.write_above(&mut waiting, most)?;
        Ok(true)
    }

    /// Adds a record of each key with its bands: all records or none.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub(super) fn insert_all<B: AsRef<[u8]>>(
        &self,
        rows: Vec<(Key, Vec<B>)>,
        scheme: Option<&str>,
    ) -> Result<(), SketchIndexError> {
        let mut waiting = self.writer()?;
        // Write earlier changes first, so that an error of the new ones does not undo them.
        self.write(&mut waiting)?;
        let open = self.open()?;
        for (key, bands) in rows {
            let count = waiting.count(open.as_deref(), &key.id);
            let planned = count.map_err(SketchIndexError::from).and_then(|count| {
                self.plan(&mut waiting, open.as_deref(), (key, count), &bands, scheme)
            });
            if planned.is_err() {
                *waiting = PendingChanges::default();
                return planned;
            }
        }
        self.write(&mut waiting)
    }

    /// Removes all records of a key. Returns false if the key does not exist. Writes the pending
    /// changes if their number is at least `most`.
    ///
    /// # Errors
    /// If changes cannot be written.
    pub(super) fn remove(&self, id: &str, most: usize) -> Result<bool, SketchIndexError> {
        let mut waiting = self.writer()?;
        let open = self.open()?;
        let count = waiting.count(open.as_deref(), id)?;
        if count == 0 {
            waiting.rest();
            return Ok(false);
        }
        waiting.remove(id, count);
        self.write_above(&mut waiting, most)?;
        Ok(true)
    }

    /// Writes pending changes.
    ///
    /// # Errors
    /// If they cannot be written. They are undone in that case.
    pub(super) fn commit(&self) -> Result<(), SketchIndexError> {
        self.settled().map(drop)
    }

    /// Writes pending changes and closes the folder.
    ///
    /// # Errors
    /// As [`commit`](Self::commit). The index is closed nevertheless.
    pub(super) fn close(&self) -> Result<(), SketchIndexError> {
        let mut waiting = self.writing.lock();
        let result = self.write(&mut waiting);
        let before = std::mem::replace(&mut *self.slot.lock(), IndexSlot::Closed);
        drop(before);
        match result {
            Err(SketchIndexError::Closed) => Ok(()),
            result => result,
        }
    }

    /// Locks the pending changes. Fails if the index is closed or read-only.
    fn writer(&self) -> Result<MutexGuard<'_, PendingChanges>, SketchIndexError> {
        let waiting = self.writing.lock();
        self.open()?;
        if self.is_read_only {
            let index = self.folder.display().to_string();
            let cause = Unwritable::Opened;
            return Err(SketchIndexError::Index(IndexError::ReadOnly { index, cause }));
        }
        Ok(waiting)
    }

    /// Adds a record to the pending changes. Fails if the sketch does not match the settings.
    fn plan<B: AsRef<[u8]>>(
        &self,
        waiting: &mut PendingChanges,
        open: Option<&OpenFolder>,
        (key, count): (Key, u32),
        bands: &[B],
        scheme: Option<&str>,
    ) -> Result<(), SketchIndexError> {
        let known = open.map(|open| &open.settings).or(waiting.settings.as_ref());
        let settings = match known {
            Some(settings) => Arc::clone(settings),
            None => Arc::new(self.expected.settings(bands, scheme)),
        };
        expect_scheme(&settings, scheme)?;
        let signature = signature(&settings, bands)?;
        if count >= MOST_REPEATS {
            return Err(SketchIndexError::Repeats { most: MOST_REPEATS });
        }
        if open.is_none() {
            waiting.settings = Some(settings);
        }
        waiting.add(key, count, signature);
        Ok(())
    }

    /// Writes the pending changes if their number is at least `most`.
    fn write_above(
        &self,
        waiting: &mut PendingChanges,
        most: usize,
    ) -> Result<(), SketchIndexError> {
        if waiting.planned.len() >= most.max(1) {
            return self.write(waiting);
        }
        self.waits.store(true, Ordering::Release);
        Ok(())
    }

    /// Writes all pending changes in one transaction. Afterwards no changes are pending. An error
    /// undoes them, except [`SketchIndexError::Left`].
    fn write(&self, waiting: &mut PendingChanges) -> Result<(), SketchIndexError> {
        let waiting = std::mem::take(waiting);
        let count = waiting.planned.len();
        let result = if count == 0 { Ok(()) } else { self.write_changes(waiting) };
        self.waits.store(false, Ordering::Release);
        result.map_err(|error| match error {
            SketchIndexError::Index(error) => SketchIndexError::Undone { error, count },
            error => error,
        })
    }

    fn write_changes(&self, mut waiting: PendingChanges) -> Result<(), SketchIndexError> {
        let open = self.open()?;
        let now = time::now();
        let note = match open.as_deref() {
            _ if waiting.repeated == 0 => None,
            Some(open) => {
                Some(repeated(waiting.snapshot(open)?)?.saturating_add_signed(waiting.repeated))
            }
            None => Some(0_u64.saturating_add_signed(waiting.repeated)),
        };
        waiting.release_snapshot();
        let mut metadata = Metadata::new();
        let mut changes: Vec<Change<'_>> =
            waiting.planned.iter().map(|planned| planned.change(now)).collect();
        match note {
            None => {}
            Some(0) => changes.push(Change::Remove(REPEATED)),
            Some(count) => {
                metadata.insert(REPEATED.to_owned(), count.into());
                changes.push(Change::Put(entry(REPEATED, &[], &metadata, now)));
            }
        }
        if let Some(open) = open {
            open.backend.write(&changes)?;
            return Ok(());
        }
        let Some(settings) = &waiting.settings else { return Ok(()) };
        folder::create_filled(&self.folder, settings, &changes)?;
        origin::record(&self.folder);
        self.allows_pickles.store(true, Ordering::Release);
        let opened = folder::open(&self.folder, Access::Write { wait: PATIENCE });
        let (slot, result) = match opened {
            Ok(backend) => {
                let settings = Arc::clone(settings);
                (IndexSlot::Open(Arc::new(OpenFolder { backend, settings })), Ok(()))
            }
            // The changes are written, so this error must not report them as undone.
            Err(error) => (IndexSlot::Closed, Err(SketchIndexError::Left { error })),
        };
        *self.slot.lock() = slot;
        result
    }
}

impl PlannedChange {
    fn change(&self, now: i64) -> Change<'_> {
        match self {
            Self::Add { id, signature, metadata } => {
                Change::Add(entry(id, signature, metadata, now))
            }
            Self::Remove { id } => Change::Remove(id),
        }
    }
}

fn entry<'a>(
    id: &'a str,
    signature: &'a [u32],
    metadata: &'a Metadata,
    added: i64,
) -> IndexEntry<'a> {
    IndexEntry {
        id,
        fingerprint: 0,
        bytes: 0,
        signature,
        set: &[],
        text: None,
        original: None,
        metadata,
        added,
        modified: None,
        expires: None,
    }
}

/// Checks that the parent of a new folder exists, and that the path names a folder in it.
fn check_parent(folder: &Path) -> Result<(), SketchIndexError> {
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    let is_there = parent.is_none_or(Path::is_dir);
    if folder.file_name().is_none() || !is_there {
        let parent = parent.unwrap_or(folder).display().to_string();
        return Err(SketchIndexError::NoPlace { parent });
    }
    Ok(())
}

fn opened(
    folder: &Path,
    expected: &IndexParameters,
    is_read_only: bool,
) -> Result<OpenFolder, SketchIndexError> {
    expected.check_compatible(&folder::settings(folder)?)?;
    let access = if is_read_only { Access::Read } else { Access::Write { wait: PATIENCE } };
    let backend = folder::open(folder, access)?;
    let settings = Arc::new(backend.settings().clone());
    // Another process may have replaced the index since the first check.
    expected.check_compatible(&settings)?;
    Ok(OpenFolder { backend, settings })
}

fn expect_scheme(settings: &IndexSettings, scheme: Option<&str>) -> Result<(), SketchIndexError> {
    let known = settings.sketches.as_ref().and_then(|sketches| sketches.scheme.as_deref());
    let Some(got) = scheme.filter(|got| known != Some(*got)) else { return Ok(()) };
    Err(SketchIndexError::Scheme { known: known.map(str::to_owned), got: got.to_owned() })
}

/// Packs all bands of a sketch into the numbers that the index stores.
fn signature<B: AsRef<[u8]>>(
    settings: &IndexSettings,
    bands: &[B],
) -> Result<Vec<u32>, SketchIndexError> {
    let Some(sketches) = &settings.sketches else { return Err(SketchIndexError::Documents) };
    if bands.len() != settings.bands {
        return Err(SketchIndexError::Bands { expected: settings.bands, got: bands.len() });
    }
    let mut signature = Vec::with_capacity(settings.num_hashes);
    for band in bands {
        sketches.pack(band.as_ref(), &mut signature)?;
    }
    Ok(signature)
}

/// Returns the number of repeated records, which are not the first of their key.
pub(super) fn repeated(snapshot: &mut dyn Snapshot) -> Result<u64, IndexError> {
    let Some(number) = snapshot.number_of(REPEATED)? else { return Ok(0) };
    let wanted = RecordFields { metadata: true, ..RecordFields::default() };
    let mut count = None;
    snapshot.records(&[number], wanted, &mut |record| {
        count = record.metadata.get(REPEATED).and_then(serde_json::Value::as_u64);
        Ok(())
    })?;
    count.ok_or_else(|| IndexError::Damaged {
        what: format!("row {number}"),
        why: "it does not say how many keys were inserted again".to_owned(),
    })
}
