//! The storage-backend trait.
//!
//! A backend stores documents by number, with their signatures, and finds numbers by bucket key. It
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

/// A change. The changes of one call are applied in order, all or none.
#[derive(Debug, Clone, Copy)]
pub enum Change<'a> {
    /// Adds a document whose id must be new. An expired document counts as removed, here and in
    /// [`Put`](Self::Put).
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
    /// The document was added; its id was new.
    Added,
    /// The document with this id was replaced.
    Replaced,
    /// The document or duplicate was removed.
    Removed,
    /// No document or duplicate with this id existed.
    Absent,
}

/// Changes of decisions, duplicates and categories, which an index stores next to its documents.
pub trait SideTableChanges {
    /// Adds entries to the log of decisions, all or none. Returns the number of the last one. The
    /// entries are durable on return. With `last`, adds them only if no entry has a greater number.
    /// Otherwise another writer has added entries, and the result is `None`.
    ///
    /// # Errors
    /// [`IndexError::Decision`] for an entry that cannot be stored, and write errors. After an
    /// error, nothing has changed.
    fn add_decisions(&self, entries: &[&str], last: Option<u64>)
    -> Result<Option<u64>, IndexError>;

    /// Removes the entries with these numbers from the log of decisions, all or none. Returns the
    /// number of removed entries. Keeps the last entry, so that no number is reused.
    ///
    /// # Errors
    /// Write errors. After an error, nothing has changed.
    fn remove_decisions(&self, numbers: &[u64]) -> Result<u64, IndexError>;

    /// Records documents that were removed as duplicates of documents of the index, all or none.
    /// Returns the number of documents that had no recorded keeper before. A document that is
    /// recorded with another keeper is moved to the new one. Documents are skipped if their id is
    /// the id of a document of the index, or if their keeper does not exist. The records are
    /// durable on return.
    ///
    /// A record is removed in the following cases:
    ///
    /// - Its keeper is removed, or replaced by a document with other shingles.
    /// - Its own id is removed, or a document with this id is added.
    ///
    /// # Errors
    /// [`IndexError::Document`] for an invalid id, and write errors. After an error, nothing has
    /// changed.
    fn add_duplicates(&self, entries: &[DuplicateEntry<'_>]) -> Result<u64, IndexError>;

    /// Replaces the categories: a model, and the category of each document up to number `through`.
    /// Skips members whose document no longer exists. Returns the number of the model. Everything
    /// is durable on return.
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

    /// Adds the categories that the model with this number assigns to later documents, up to number
    /// `through`. Returns `false` without a change if the index has another model by now. Does not
    /// change the [version](Snapshot::version), because the categories of texts remain the same.
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

    /// Applies changes in order, all or none. They are durable on return.
    ///
    /// # Errors
    /// [`IndexError::IdTaken`] for a [`Change::Add`] of an existing id,
    /// [`IndexError::Document`] for a document that cannot be stored, and write errors. After an
    /// error, nothing has changed.
    fn write(&self, changes: &[Change<'_>]) -> Result<Vec<ChangeOutcome>, IndexError>;

    /// Opens a snapshot of the index, which does not see later changes. It holds resources such as
    /// a connection until it is dropped.
    ///
    /// # Errors
    /// Read errors.
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, IndexError>;

    /// Removes expired documents (before `now`) and the data of removed ones, and merges postings.
    /// Afterwards, queries are fastest and the index is smallest.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    fn compact(&self, now: i64) -> Result<(), IndexError>;

    /// Checks all stored data without changing it. Each problem is reported once.
    ///
    /// # Errors
    /// Read errors. Damage is reported as a problem, not as an error.
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

    /// Announces the address of the service that has the index open for writing. Until the index is
    /// closed, [`IndexError::InUse`] contains the address for other processes that wait for
    /// writing. Does nothing if several processes can write.
    ///
    /// # Errors
    /// Write errors.
    fn announce_service(&self, address: &str) -> Result<(), IndexError> {
        let _ = address;
        Ok(())
    }

    /// Ends running operations of other threads, and all later ones, with
    /// [`IndexError::Interrupted`]. An acknowledged write is kept; an interrupted write changes
    /// nothing. Reopen the index to use it again. Does nothing if operations are short.
    fn interrupt(&self) {}
}

/// Takes the number of a document and its encoded shingle set.
pub type SetCallback<'a> = &'a mut dyn FnMut(DocumentNumber, &[u8]) -> Result<(), IndexError>;

/// Decisions, duplicates, categories and versions of a snapshot.
pub trait SideTables {
    /// Passes at most `most` entries of the log of decisions with numbers above `after` to `each`,
    /// by ascending number. Returns how many there were. Numbers begin at 1.
    ///
    /// # Errors
    /// Read errors, [`IndexError::Damaged`] for a damaged entry, and errors of `each`.
    fn decisions(
        &mut self,
        after: u64,
        most: usize,
        each: DecisionCallback<'_>,
    ) -> Result<usize, IndexError>;

    /// The sizes of the groups of documents with these numbers, in order. A group consists of a
    /// document and the duplicates that are recorded for it.
    ///
    /// # Errors
    /// Read errors.
    fn group_sizes(&mut self, numbers: &[DocumentNumber]) -> Result<Vec<u64>, IndexError>;

    /// Passes the duplicates that are recorded for the documents with these numbers (ascending) to
    /// `each`, by number of the keeper, then by id.
    ///
    /// # Errors
    /// Read errors, [`IndexError::Damaged`] for a damaged row, and errors of `each`.
    fn duplicates(
        &mut self,
        numbers: &[DocumentNumber],
        each: DuplicateCallback<'_>,
    ) -> Result<(), IndexError>;

    /// The state of the categories, if the index has any.
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

    /// At most `most` stored members of the categories from `first` to `last`, with numbers above
    /// `after`, by ascending number.
    ///
    /// # Errors
    /// Read errors.
    fn category_members(
        &mut self,
        categories: (u32, u32),
        after: DocumentNumber,
        most: usize,
    ) -> Result<Vec<CategoryMember>, IndexError>;

    /// The versions of the document with an id, by time. Empty if there is no such document.
    ///
    /// # Errors
    /// [`IndexError::NoOriginals`] for an index without originals, read errors,
    /// [`IndexError::Damaged`] for a damaged version.
    fn versions(&mut self, id: &str) -> Result<Vec<DocumentVersion>, IndexError>;

    /// The original of a version, byte for byte; its SHA-256 is verified.
    ///
    /// # Errors
    /// As [`versions`](Self::versions), and [`IndexError::Damaged`] for an original that differs
    /// from the stored bytes, or whose base is missing.
    fn original(&mut self, version: &DocumentVersion) -> Result<Vec<u8>, IndexError>;
}

/// A snapshot of an index.
pub trait Snapshot: SideTables + Send {
    /// The version, which increases with every change of the index.
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

    /// Clears `numbers` and writes the numbers of all documents with one of these bucket keys. The
    /// numbers are ascending and unique, and may include removed documents.
    ///
    /// # Errors
    /// Read errors.
    fn candidates(
        &mut self,
        keys: &[u64],
        numbers: &mut Vec<DocumentNumber>,
    ) -> Result<(), IndexError>;

    /// Passes the documents with these numbers (ascending) to `each`, in this order. Skips removed
    /// ones.
    ///
    /// # Errors
    /// Read errors, and errors of `each`.
    fn records(
        &mut self,
        numbers: &[DocumentNumber],
        wanted: RecordFields,
        each: &mut dyn FnMut(&IndexRecord) -> Result<(), IndexError>,
    ) -> Result<(), IndexError>;

    /// Passes the encoded shingle sets of the documents with these numbers (ascending) to `each`,
    /// in this order. Skips removed ones.
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

    /// The text of a version; `None` if the version no longer exists, or was stored without a text.
    ///
    /// # Errors
    /// As [`versions`](SideTables::versions).
    fn version_text(&mut self, version: &DocumentVersion) -> Result<Option<String>, IndexError>;

    /// Calls `each` with at most `most` documents, by ascending number, starting at number `from`.
    /// Returns how many there were.
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

/// Methods for callbacks with their own error type. The first error ends the reading.
impl dyn Snapshot + '_ {
    /// Like [`records`](Snapshot::records).
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

    /// Like [`scan`](Snapshot::scan).
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

    /// Like [`decisions`](SideTables::decisions).
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

/// The result of `read`, or the callback's error that [`stop`] has stored.
fn until_stopped<T, E: From<IndexError>>(
    read: impl FnOnce(&mut Option<E>) -> Result<T, IndexError>,
) -> Result<T, E> {
    let mut stopped = None;
    let read = read(&mut stopped);
    stopped.map_or(read.map_err(E::from), Err)
}

/// Stores an error of a type that backends do not know, and ends the reading.
fn stop<E>(stopped: &mut Option<E>, error: E) -> IndexError {
    *stopped = Some(error);
    IndexError::Stopped
}

/// A problem that [`Backend::check`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexProblem {
    /// The file, table or document.
    pub place: String,
    /// A description of the problem.
    pub what: String,
    /// Whether [`Backend::repair`] fixes it without loss.
    pub repairable: bool,
}

impl IndexProblem {
    /// Converts an error of damaged data to a problem that cannot be repaired.
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
    /// Band postings, including the postings of removed documents.
    pub postings: u64,
    /// Files or tables with postings.
    pub segments: u64,
    /// Documents whose postings are in no segment yet.
    pub tail: u64,
    /// Bytes of documents, signatures, metadata, sets and texts on the disk.
    pub catalogue_bytes: u64,
    /// Bytes of encoded shingle sets, a part of `catalogue_bytes`.
    pub set_bytes: u64,
    /// Bytes of compressed texts, a part of `catalogue_bytes`.
    pub text_bytes: u64,
    /// Bytes of postings on the disk.
    pub segment_bytes: u64,
    /// Counts of originals, if the index stores any.
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
    /// Bytes that the originals take on the disk.
    pub stored_bytes: u64,
}

/// Clears `keys` and writes the keys that find a document: the bucket keys of its signature or, in
/// an index for containment, the keys of its shingles. A document without shingles has no keys.
/// `set` is the document's encoded set, if the index stores sets.
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

/// Clears `keys` and writes the bucket keys of a signature under these settings. A document without
/// shingles has no keys.
pub fn bucket_keys(settings: &IndexSettings, signature: &[u32], keys: &mut Vec<u64>) {
    keys.clear();
    if !signature.is_empty() {
        keys.resize(settings.bands, 0);
        lookalike_core::band::bucket_keys(signature, settings.rows, keys);
    }
}
