//! The storage-backend trait.
//!
//! A backend keeps documents by number, with their signatures, and finds numbers by bucket key. It
//! decides nothing about similarity. Every implementation passes the same conformance tests
//! (`tests/conformance`).

use crate::category_table::{CategoryMember, CategoryState};
use crate::decision_log::DecisionCallback;
use crate::duplicate_table::{DuplicateCallback, DuplicateEntry};
use crate::entry::{DocumentNumber, IndexEntry, IndexRecord, RecordFields};
use crate::error::IndexError;
use crate::original::DocumentVersion;
use crate::query::containment;
use crate::set;
use crate::settings::{ContainmentSettings, IndexSettings};
use serde::Serialize;
use std::path::Path;

/// One change. Changes of one call happen in order, all or none.
#[derive(Debug, Clone, Copy)]
pub enum Change<'a> {
    /// Adds a document whose id must be new. A document that expired before counts as removed, here
    /// and in [`Put`](Self::Put).
    Add(IndexEntry<'a>),
    /// Adds a document, or replaces the one with its id.
    Put(IndexEntry<'a>),
    /// Removes the document with this id, or the record of a
    /// [duplicate](SideTableChanges::add_duplicates) with this id, if either exists.
    Remove(&'a str),
}

impl<'a> Change<'a> {
    /// The id of the document.
    pub fn id(&self) -> &'a str {
        match self {
            Self::Add(entry) | Self::Put(entry) => entry.id,
            Self::Remove(id) => id,
        }
    }

    /// The document to store; `None` for a removal.
    pub fn entry(&self) -> Option<&IndexEntry<'a>> {
        match self {
            Self::Add(entry) | Self::Put(entry) => Some(entry),
            Self::Remove(_) => None,
        }
    }
}

/// The effect of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeOutcome {
    /// The document was added; there was none with its id.
    Added,
    /// The document with this id was replaced.
    Replaced,
    /// The document or duplicate was removed.
    Removed,
    /// There was nothing with the id to remove.
    Absent,
}

/// Changes of decisions, duplicates and categories, which an index stores next to its documents.
pub trait SideTableChanges {
    /// Adds entries to the log of decisions, all or none; returns the number of the last one. They
    /// are durable when it returns. With `last`, adds them only if no entry has a greater number,
    /// and returns `None` otherwise: another writer has added entries.
    ///
    /// # Errors
    /// [`IndexError::Decision`] for one that cannot be stored, and write errors. After an error,
    /// nothing has changed.
    fn add_decisions(&self, entries: &[&str], last: Option<u64>)
    -> Result<Option<u64>, IndexError>;

    /// Removes the entries with these numbers from the log of decisions, all or none; returns how
    /// many there were. The last entry stays, so that no number is given twice.
    ///
    /// # Errors
    /// Write errors. After an error, nothing has changed.
    fn remove_decisions(&self, numbers: &[u64]) -> Result<u64, IndexError>;

    /// Records documents that went as duplicates of documents of the index, all or none; returns
    /// how many of them were recorded under no keeper before. One that is recorded under another
    /// keeper goes to this one. One whose id is that of a document, and one whose keeper is no
    /// document, is left out. They are durable when it returns.
    ///
    /// What is recorded goes with its keeper, when that is removed, or replaced by a document with
    /// other shingles; and when its own id is removed, or a document with it is added.
    ///
    /// # Errors
    /// [`IndexError::Document`] for an id that no document can have, and write errors. After an
    /// error, nothing has changed.
    fn add_duplicates(&self, entries: &[DuplicateEntry<'_>]) -> Result<u64, IndexError>;

    /// Replaces the categories: a model, and the category of each document up to number `through`;
    /// members whose document is gone are left out. Returns the number of the model. All is
    /// durable when it returns.
    ///
    /// # Errors
    /// [`IndexError::Categories`] for a model that cannot be stored, and write errors. After an
    /// error, nothing has changed.
    fn replace_categories(
        &self,
        model: &[u8],
        through: DocumentNumber,
        members: &[CategoryMember],
    ) -> Result<u64, IndexError>;

    /// Adds the categories of later documents, up to number `through`, by the model with that
    /// number; `false`, and nothing has changed, where the index has another model by now. It is no
    /// change of the [version](Snapshot::version): the categories were the same before.
    ///
    /// # Errors
    /// As [`write`](Backend::write).
    fn add_category_members(
        &self,
        number: u64,
        through: DocumentNumber,
        members: &[CategoryMember],
    ) -> Result<bool, IndexError>;
}

/// Storage of an index, usable from any thread. Reads run in parallel with writes; writes are
/// serialized.
pub trait Backend: SideTableChanges + Send + Sync {
    /// The settings that the index was created with.
    fn settings(&self) -> &IndexSettings;

    /// The name of the index for messages, without passwords.
    fn name(&self) -> &str;

    /// Applies changes in order, all or none. They are durable when it returns.
    ///
    /// # Errors
    /// [`IndexError::IdTaken`] for an [`Change::Add`] of an existing id,
    /// [`IndexError::Document`] for a document that cannot be stored, and write errors. After an
    /// error, nothing has changed.
    fn write(&self, changes: &[Change<'_>]) -> Result<Vec<ChangeOutcome>, IndexError>;

    /// A snapshot of the index, which does not see later changes. It holds resources such as a
    /// connection until it is dropped.
    ///
    /// # Errors
    /// Read errors.
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, IndexError>;

    /// Removes documents that expired before `now` and the data of removed ones, and merges
    /// postings. Queries are fastest and the index is smallest afterwards.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    fn compact(&self, now: i64) -> Result<(), IndexError>;

    /// Checks all stored data without changing it. Each problem is reported once.
    ///
    /// # Errors
    /// Read errors; damage is no error but a problem.
    fn check(&self) -> Result<Vec<IndexProblem>, IndexError>;

    /// Rebuilds everything that can be derived from documents and signatures.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    fn repair(&self) -> Result<(), IndexError>;

    /// Sizes and counts.
    ///
    /// # Errors
    /// Read errors.
    fn stats(&self) -> Result<Stats, IndexError>;

    /// Copies a snapshot of the index to a new folder, while it is in use.
    ///
    /// # Errors
    /// [`IndexError::Exists`] if `to` exists; read and write errors.
    fn backup(&self, to: &Path) -> Result<(), IndexError>;

    /// Names the service that has the index open for writing, for other processes that want to
    /// write: [`IndexError::InUse`] has the address until the index is closed. Nothing happens
    /// where several processes can write.
    ///
    /// # Errors
    /// Write errors.
    fn announce_service(&self, address: &str) -> Result<(), IndexError> {
        let _ = address;
        Ok(())
    }

    /// Ends running operations of other threads and all later ones soon, with
    /// [`IndexError::Interrupted`]. A write that was acknowledged stays; an interrupted one leaves
    /// nothing. Reopen the index to use it again. Nothing happens where operations are short.
    fn interrupt(&self) {}
}

/// Takes the number of a document and its encoded shingle set.
pub type SetCallback<'a> = &'a mut dyn FnMut(DocumentNumber, &[u8]) -> Result<(), IndexError>;

/// Decisions, duplicates, categories and versions of a snapshot.
pub trait SideTables {
    /// Gives at most `most` entries of the log of decisions, numbered above `after`, to `each`, by
    /// ascending number; returns how many. Numbers begin at 1.
    ///
    /// # Errors
    /// Read errors, [`IndexError::Damaged`] for a damaged entry, and errors of `each`.
    fn decisions(
        &mut self,
        after: u64,
        most: usize,
        each: DecisionCallback<'_>,
    ) -> Result<usize, IndexError>;

    /// The sizes of the groups of documents with these numbers, in their order: each document, and
    /// the duplicates that are recorded for it.
    ///
    /// # Errors
    /// Read errors.
    fn group_sizes(&mut self, numbers: &[DocumentNumber]) -> Result<Vec<u64>, IndexError>;

    /// Gives the duplicates that are recorded for the documents with these numbers (ascending) to
    /// `each`, by number of the keeper, then by id.
    ///
    /// # Errors
    /// Read errors, [`IndexError::Damaged`] for a damaged row, and errors of `each`.
    fn duplicates(
        &mut self,
        numbers: &[DocumentNumber],
        each: DuplicateCallback<'_>,
    ) -> Result<(), IndexError>;

    /// Which categories the index has, if any.
    ///
    /// # Errors
    /// Read errors.
    fn categories(&mut self) -> Result<Option<CategoryState>, IndexError>;

    /// The model of the categories, if there are any.
    ///
    /// # Errors
    /// Read errors, [`IndexError::Damaged`] for a damaged model.
    fn category_model(&mut self) -> Result<Option<Vec<u8>>, IndexError>;

    /// The number of stored members of each category that has any, by ascending category.
    ///
    /// # Errors
    /// Read errors.
    fn category_counts(&mut self) -> Result<Vec<(u32, u64)>, IndexError>;

    /// At most `most` stored members, numbered above `after`, of the categories from the first to
    /// the last one, by ascending number.
    ///
    /// # Errors
    /// Read errors.
    fn category_members(
        &mut self,
        categories: (u32, u32),
        after: DocumentNumber,
        most: usize,
    ) -> Result<Vec<CategoryMember>, IndexError>;

    /// The versions of the document with an id, by time; none if there is no such document.
    ///
    /// # Errors
    /// [`IndexError::NoOriginals`] for an index without originals, read errors,
    /// [`IndexError::Damaged`] for a damaged version.
    fn versions(&mut self, id: &str) -> Result<Vec<DocumentVersion>, IndexError>;

    /// The original of a version, byte for byte; its SHA-256 is verified.
    ///
    /// # Errors
    /// As [`versions`](Self::versions), and [`IndexError::Damaged`] for an original that is not
    /// what was stored, or whose base is missing.
    fn original(&mut self, version: &DocumentVersion) -> Result<Vec<u8>, IndexError>;
}

/// A snapshot of an index.
pub trait Snapshot: SideTables + Send {
    /// Increases with every change of the index.
    fn version(&self) -> u64;

    /// The number of documents, including expired ones.
    fn len(&self) -> u64;

    /// Returns true for an index without documents.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of the document with this id.
    ///
    /// # Errors
    /// Read errors.
    fn number_of(&mut self, id: &str) -> Result<Option<DocumentNumber>, IndexError>;

    /// Numbers of all documents that have one of these bucket keys, ascending, each once, into
    /// `numbers`, which is cleared. It may contain numbers of removed documents.
    ///
    /// # Errors
    /// Read errors.
    fn candidates(
        &mut self,
        keys: &[u64],
        numbers: &mut Vec<DocumentNumber>,
    ) -> Result<(), IndexError>;

    /// Gives the documents with these numbers (ascending) to `each`, in this order, without
    /// removed ones.
    ///
    /// # Errors
    /// Read errors, and errors of `each`.
    fn records(
        &mut self,
        numbers: &[DocumentNumber],
        wanted: RecordFields,
        each: &mut dyn FnMut(&IndexRecord) -> Result<(), IndexError>,
    ) -> Result<(), IndexError>;

    /// Gives the encoded shingle sets of the documents with these numbers (ascending) to `each`, in
    /// this order, without removed ones.
    ///
    /// # Errors
    /// Read errors, [`IndexError::Damaged`] for a document without a set, and errors of `each`.
    fn sets(
        &mut self,
        numbers: &[DocumentNumber],
        each: SetCallback<'_>,
    ) -> Result<(), IndexError> {
        let wanted = RecordFields { set: true, ..RecordFields::default() };
        self.records(numbers, wanted, &mut |record| match &record.set {
            Some(code) => each(record.number, code),
            None => Err(IndexError::damaged_document(&record.id, "it has no shingle set")),
        })
    }

    /// The text of a version; `None` if the version is gone, or was stored without a text.
    ///
    /// # Errors
    /// As [`versions`](SideTables::versions).
    fn version_text(&mut self, version: &DocumentVersion) -> Result<Option<String>, IndexError>;

    /// Gives at most `most` documents numbered `from` or more to `each`, by ascending number;
    /// returns how many.
    ///
    /// # Errors
    /// Read errors, and errors of `each`.
    fn scan(
        &mut self,
        from: DocumentNumber,
        most: usize,
        wanted: RecordFields,
        each: &mut dyn FnMut(&IndexRecord) -> Result<(), IndexError>,
    ) -> Result<usize, IndexError>;
}

/// Reading for functions with errors of their own, the first of which ends it.
impl dyn Snapshot + '_ {
    /// As [`records`](Snapshot::records).
    ///
    /// # Errors
    /// Read errors, and errors of `each`.
    pub fn try_records<E: From<IndexError>>(
        &mut self,
        numbers: &[DocumentNumber],
        wanted: RecordFields,
        mut each: impl FnMut(&IndexRecord) -> Result<(), E>,
    ) -> Result<(), E> {
        until_stopped(|stopped| {
            self.records(numbers, wanted, &mut |record| {
                each(record).map_err(|error| stop(stopped, error))
            })
        })
    }

    /// As [`scan`](Snapshot::scan).
    ///
    /// # Errors
    /// Read errors, and errors of `each`.
    pub fn try_scan<E: From<IndexError>>(
        &mut self,
        from: DocumentNumber,
        most: usize,
        wanted: RecordFields,
        mut each: impl FnMut(&IndexRecord) -> Result<(), E>,
    ) -> Result<usize, E> {
        until_stopped(|stopped| {
            self.scan(from, most, wanted, &mut |record| {
                each(record).map_err(|error| stop(stopped, error))
            })
        })
    }

    /// As [`decisions`](SideTables::decisions).
    ///
    /// # Errors
    /// Read errors, and errors of `each`.
    pub fn try_decisions<E: From<IndexError>>(
        &mut self,
        after: u64,
        most: usize,
        mut each: impl FnMut(u64, &str) -> Result<(), E>,
    ) -> Result<usize, E> {
        until_stopped(|stopped| {
            self.decisions(after, most, &mut |number, entry| {
                each(number, entry).map_err(|error| stop(stopped, error))
            })
        })
    }
}

/// What a reading gives, or the error of a callback that [`stop`] has kept.
fn until_stopped<T, E: From<IndexError>>(
    read: impl FnOnce(&mut Option<E>) -> Result<T, IndexError>,
) -> Result<T, E> {
    let mut stopped = None;
    let read = read(&mut stopped);
    stopped.map_or(read.map_err(E::from), Err)
}

/// Keeps an error that no backend knows, and ends the reading.
fn stop<E>(stopped: &mut Option<E>, error: E) -> IndexError {
    *stopped = Some(error);
    IndexError::Stopped
}

/// A problem that [`Backend::check`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexProblem {
    /// The file, table or document.
    pub place: String,
    /// What is wrong.
    pub what: String,
    /// Whether [`Backend::repair`] fixes it without loss.
    pub repairable: bool,
}

impl IndexProblem {
    /// Makes a problem that no repair fixes of the error of damaged data.
    ///
    /// # Errors
    /// Any other error.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn collect(
        read: Result<(), IndexError>,
        problems: &mut Vec<Self>,
    ) -> Result<(), IndexError> {
        match read {
            Err(IndexError::Damaged { what, why }) => {
                problems.push(Self { place: what, what: why, repairable: false });
                Ok(())
            }
            other => other,
        }
    }
}

/// Sizes and counts of an index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// The number of documents, including expired ones.
    pub documents: u64,
    /// Documents without shingles, which are similar to no document.
    pub without_shingles: u64,
    /// Band postings, including those of removed documents.
    pub postings: u64,
    /// Files or tables with postings.
    pub segments: u64,
    /// Documents whose postings are in no segment yet.
    pub tail: u64,
    /// Bytes of documents, signatures, metadata, sets and texts on the disk.
    pub catalogue_bytes: u64,
    /// Bytes of encoded shingle sets, a part of these.
    pub set_bytes: u64,
    /// Bytes of compressed texts, a part of these.
    pub text_bytes: u64,
    /// Bytes of postings on the disk.
    pub segment_bytes: u64,
    /// Counts of originals, where the index keeps any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub originals: Option<OriginalStats>,
}

/// Counts of originals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct OriginalStats {
    /// Versions of documents.
    pub versions: u64,
    /// Distinct originals.
    pub originals: u64,
    /// Originals that are stored as a difference from another one.
    pub differences: u64,
    /// Bytes of the distinct originals.
    pub bytes: u64,
    /// Bytes that they take.
    pub stored_bytes: u64,
}

/// The keys by which a document is found: the bucket keys of its signature, or in an index for
/// containment those of its shingles, into `keys`, which is cleared; none for a document without
/// shingles. `set` is its encoded set, where the index keeps sets.
///
/// # Errors
/// [`IndexError::Damaged`] for an invalid set.
pub fn posting_keys(
    settings: &IndexSettings,
    signature: &[u32],
    set: &[u8],
    keys: &mut Vec<u64>,
) -> Result<(), IndexError> {
    match settings.containment {
        None => bucket_keys(settings, signature, keys),
        Some(ContainmentSettings { anchors }) => {
            let mut shingles = Vec::new();
            set::decode(set, &mut shingles)?;
            containment::document_keys(anchors, &shingles, keys);
        }
    }
    Ok(())
}

/// The bucket keys of a signature under these settings, into `keys`, which is cleared; none for a
/// document without shingles.
pub fn bucket_keys(settings: &IndexSettings, signature: &[u32], keys: &mut Vec<u64>) {
    keys.clear();
    if !signature.is_empty() {
        keys.resize(settings.bands, 0);
        lookalike_core::band::bucket_keys(signature, settings.rows, keys);
    }
}
