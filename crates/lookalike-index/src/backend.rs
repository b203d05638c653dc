//! The storage-backend trait: what a place that keeps an index does.
//!
//! A backend keeps documents by number, with their signatures, and finds numbers by bucket key. It
//! decides nothing about similarity. Every implementation passes the same conformance tests
//! (`tests/conformance`).

use crate::containment;
use crate::entry::{IndexEntry, IndexRecord, RecordFields};
use crate::error::IndexError;
use crate::set;
use crate::settings::{ContainmentSettings, IndexSettings};
use serde::Serialize;
use std::path::Path;

/// One change. Changes of one call happen in order, all or none.
#[derive(Debug, Clone, Copy)]
pub enum Change<'a> {
    /// Adds a document whose id must not be there. One that expired before it is added counts as
    /// gone, here and in [`Put`](Self::Put).
    Add(IndexEntry<'a>),
    /// Adds a document, or replaces the one with its id.
    Put(IndexEntry<'a>),
    /// Removes the document with this id, if there is one.
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

/// What a change did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeOutcome {
    /// There was no document with this id; now there is.
    Added,
    /// The document with this id was replaced.
    Replaced,
    /// The document is gone.
    Removed,
    /// There was none to remove.
    Absent,
}

/// A place that keeps an index. From any thread; reading and writing go on side by side, and one
/// writer at a time writes.
pub trait Backend: Send + Sync {
    /// What the index was created with.
    fn settings(&self) -> &IndexSettings;

    /// The name of the place, for messages; without passwords.
    fn name(&self) -> &str;

    /// Makes changes, in order, all or none. When it returns they are on the disk and outlive the
    /// process and the machine.
    ///
    /// # Errors
    /// [`IndexError::IdTaken`] for an [`Change::Add`] of an id that is there,
    /// [`IndexError::Document`] for one that cannot be stored, and what keeps bytes from being
    /// stored. Nothing has changed then.
    fn write(&self, changes: &[Change<'_>]) -> Result<Vec<ChangeOutcome>, IndexError>;

    /// A snapshot of the index, which does not see later changes. Each holds a connection or the
    /// like; drop it soon.
    ///
    /// # Errors
    /// What keeps the place from being read.
    fn snapshot(&self) -> Result<Box<dyn Snapshot>, IndexError>;

    /// Removes documents that expired before `now` and everything that is left of removed ones,
    /// and puts postings together, so that queries are as quick and the index as small as can be.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    fn compact(&self, now: i64) -> Result<(), IndexError>;

    /// Checks everything that is stored, without changing anything. Each problem is reported once,
    /// in words.
    ///
    /// # Errors
    /// What keeps the place from being read; damage is no error but a problem.
    fn check(&self) -> Result<Vec<IndexProblem>, IndexError>;

    /// Rebuilds everything that can be derived from documents and signatures.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    fn repair(&self) -> Result<(), IndexError>;

    /// Sizes and counts.
    ///
    /// # Errors
    /// What keeps the place from being read.
    fn stats(&self) -> Result<Stats, IndexError>;

    /// Copies the index as it is at one moment into a new folder, while it is in use.
    ///
    /// # Errors
    /// [`IndexError::Exists`] when there is something at `to`; what keeps bytes from being read or
    /// written.
    fn backup(&self, to: &Path) -> Result<(), IndexError>;
}

/// Takes the number of a document and its encoded shingle set.
pub type SetCallback<'a> = &'a mut dyn FnMut(u64, &[u8]) -> Result<(), IndexError>;

/// An index at one moment.
pub trait Snapshot: Send {
    /// Differs between two moments between which something changed; greater at the later one.
    fn version(&self) -> u64;

    /// How many documents there are, expired ones among them.
    fn len(&self) -> u64;

    /// Whether there is no document.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of the document with this id.
    ///
    /// # Errors
    /// What keeps it from being read.
    fn number_of(&mut self, id: &str) -> Result<Option<u64>, IndexError>;

    /// Numbers of all documents that have one of these bucket keys, ascending, each once, into
    /// `numbers`, which is cleared. Numbers of documents that are gone may be among them.
    ///
    /// # Errors
    /// What keeps them from being read.
    fn candidates(&mut self, keys: &[u64], numbers: &mut Vec<u64>) -> Result<(), IndexError>;

    /// Gives the documents with these numbers (ascending) to `each`, in this order; those that are
    /// gone are left out.
    ///
    /// # Errors
    /// What keeps them from being read, and what `each` gives.
    fn records(
        &mut self,
        numbers: &[u64],
        wanted: RecordFields,
        each: &mut dyn FnMut(&IndexRecord) -> Result<(), IndexError>,
    ) -> Result<(), IndexError>;

    /// Gives the encoded shingle sets of the documents with these numbers (ascending) to `each`, in
    /// this order; those that are gone are left out.
    ///
    /// # Errors
    /// What keeps them from being read, [`IndexError::Damaged`] for a document that is there and
    /// has none, and what `each` gives.
    fn sets(&mut self, numbers: &[u64], each: SetCallback<'_>) -> Result<(), IndexError> {
        let wanted = RecordFields { set: true, ..RecordFields::default() };
        self.records(numbers, wanted, &mut |record| match &record.set {
            Some(code) => each(record.number, code),
            None => Err(IndexError::Damaged {
                what: format!("document {:?}", crate::entry::shown(&record.id)),
                why: "it has no shingle set".to_owned(),
            }),
        })
    }

    /// Gives at most `most` documents numbered `from` or more to `each`, by ascending number;
    /// returns how many.
    ///
    /// # Errors
    /// What keeps them from being read, and what `each` gives.
    fn scan(
        &mut self,
        from: u64,
        most: usize,
        wanted: RecordFields,
        each: &mut dyn FnMut(&IndexRecord) -> Result<(), IndexError>,
    ) -> Result<usize, IndexError>;
}

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexProblem {
    /// The file, table or document.
    pub place: String,
    /// What is wrong.
    pub what: String,
    /// Whether [`Backend::repair`] makes it right without loss.
    pub repairable: bool,
}

/// Sizes and counts of an index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Documents that are there, expired ones among them.
    pub documents: u64,
    /// Those of them without shingles, which resemble nothing.
    pub without_shingles: u64,
    /// Band postings, with those of documents that are gone.
    pub postings: u64,
    /// Files or tables that postings are searched in.
    pub segments: u64,
    /// Documents whose postings are in no segment yet.
    pub tail: u64,
    /// Bytes of documents, signatures, metadata, sets and texts on the disk.
    pub catalogue_bytes: u64,
    /// Bytes of shingle sets among them, as encoded.
    pub set_bytes: u64,
    /// Bytes of texts among them, as compressed.
    pub text_bytes: u64,
    /// Bytes of postings on the disk.
    pub segment_bytes: u64,
}

/// The keys by which a document is found: the bucket keys of its signature, or in an index for
/// containment those of its shingles, into `keys`, which is cleared; none for a document without
/// shingles. `set` is its encoded set, where the index keeps sets.
///
/// # Errors
/// [`IndexError::Damaged`] for bytes that are no set.
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
