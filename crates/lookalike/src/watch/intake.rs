//! Adds the files of a folder to an index, and finds the similar documents.

use crate::engine::FindError;
use crate::index::{self, AddError, AddOptions, Existing, last_number, time};
use crate::progress::NoProgress;
use crate::read::{Collection, Normalization, ReadError, ReadOptions, SkippedItem, Stamp, name_of};
use lookalike_index::backend::Snapshot;
use lookalike_index::entry::{DocumentNumber, RecordFields};
use lookalike_index::index::{Access, IndexLocation, open};
use lookalike_index::query::{Match, QueryBuffers, QueryRequest};
use lookalike_index::query_by_id::query_stored;
use lookalike_index::{Index, IndexError};
use std::collections::HashMap;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Options for the reports of a watch, and for its access to the index.
#[derive(Debug, Clone, Copy)]
pub struct WatchOptions {
    /// The least similarity of a reported document. `None` for the threshold of the index.
    pub threshold: Option<f64>,
    /// The most documents that a report lists for a new document.
    pub top: usize,
    /// How long the watch waits for another process that writes to the index.
    pub wait: Duration,
}

/// A document that was added, and the earlier documents that it resembles.
#[derive(Debug)]
pub struct Resemblance {
    /// The id of the new document.
    pub id: String,
    /// Whether it replaced an earlier version.
    pub replaced: bool,
    /// Ids and similarities with six decimals, most similar first.
    pub matches: Vec<(String, String)>,
    /// The number of similar documents, listed or not.
    pub total: u64,
    /// Whether the most similar document was not similar to any other before.
    pub is_new_group: bool,
    /// The time of the addition, as text.
    pub time: String,
}

/// A file, and its stamp when it was listed.
pub type ListedFile = (PathBuf, Stamp);

/// Whether a file was changed less than `span` ago, by the clock of the system.
pub fn is_recent(stamp: Stamp, span: Duration) -> bool {
    let Some(modified) = stamp.modified else { return false };
    let modified = SystemTime::UNIX_EPOCH + Duration::from_nanos(modified);
    SystemTime::now().duration_since(modified).is_ok_and(|age| age < span)
}

/// The result of adding files to the index.
pub enum IntakeOutcome {
    /// The files are in the index, except for skipped ones.
    Done {
        /// The added documents.
        found: Vec<Resemblance>,
        /// The documents that could not be read.
        skipped: Vec<SkippedItem>,
    },
    /// Another process writes to the index.
    Busy(IndexError),
    /// Some files changed or disappeared meanwhile. The other ones may or may not be in the index.
    /// List the folder again.
    Again {
        /// The added documents.
        found: Vec<Resemblance>,
        /// The documents that could not be read.
        skipped: Vec<SkippedItem>,
        /// The error of a file that changed while it was read.
        error: Option<ReadError>,
    },
}

impl IntakeOutcome {
    /// Nothing was read.
    fn unread() -> Self {
        Self::Again { found: Vec::new(), skipped: Vec::new(), error: None }
    }
}

/// Adds the files of a folder to an index.
pub struct FolderIntake {
    folder: PathBuf,
    location: IndexLocation,
    reading: ReadOptions,
    options: WatchOptions,
    /// The files that were added or skipped, with their stamps at that time.
    added: HashMap<PathBuf, Stamp>,
    /// Distinguishes the folder from a later one with the same path.
    identity: Option<FolderIdentity>,
}

/// Distinguishes a folder from another one with the same path.
#[cfg(unix)]
type FolderIdentity = (u64, u64);
#[cfg(not(unix))]
type FolderIdentity = ();

impl FolderIntake {
    /// An intake from a folder to an index. Returns `None` if `folder` is not a folder.
    ///
    /// # Errors
    /// The folder does not exist or cannot be read.
    pub fn new(
        folder: PathBuf,
        location: IndexLocation,
        reading: ReadOptions,
        options: WatchOptions,
    ) -> io::Result<Option<Self>> {
        let metadata = std::fs::metadata(&folder)?;
        if !metadata.is_dir() {
            return Ok(None);
        }
        let mut reading =
            ReadOptions { normalization: Normalization::default(), skip_bad: true, ..reading };
        if let IndexLocation::Folder(index) = &location {
            reading.leave_out.push(index.clone());
        }
        let identity = Some(identity(&metadata));
        let added = HashMap::new();
        Ok(Some(Self { folder, location, reading, options, added, identity }))
    }

    /// Returns true if the folder exists and is the folder of the last call. Reports another folder
    /// at its path as missing once, and accepts it from then on.
    pub fn is_there(&mut self) -> bool {
        let now = std::fs::metadata(&self.folder).ok().filter(Metadata::is_dir);
        let now = now.as_ref().map(identity);
        let is_same = now.is_some() && now == self.identity;
        self.identity = now;
        is_same
    }

    /// Lists the files that were not added in their current state. Returns `None` if the folder
    /// does not exist.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn changed(&mut self) -> Result<Option<Vec<ListedFile>>, ReadError> {
        if !self.folder.is_dir() {
            return Ok(None);
        }
        let inputs = [self.folder.clone()];
        let all = match Collection::open(&inputs, &self.reading) {
            Ok(all) => all,
            Err(ReadError::NoFiles { .. }) => return Ok(Some(Vec::new())),
            Err(_) if !self.folder.is_dir() => return Ok(None),
            Err(error) => return Err(error),
        };
        let files = all.files().map(|(path, stamp)| (path.to_owned(), stamp));
        let files: HashMap<PathBuf, Stamp> = files.collect();
        // A file that disappeared is read again when it is back.
        self.added.retain(|path, _| files.contains_key(path));
        let is_new = |(path, stamp): &ListedFile| self.added.get(path) != Some(stamp);
        let mut changed: Vec<ListedFile> = files.into_iter().filter(is_new).collect();
        changed.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        Ok(Some(changed))
    }

    /// Adds files to the index, and finds the documents that they resemble. Files that changed
    /// since they were listed are left for the next call.
    ///
    /// # Errors
    /// The index cannot be written. Documents that were stored before remain.
    pub fn add(&mut self, files: &[ListedFile]) -> Result<IntakeOutcome, AddError> {
        if files.is_empty() {
            return Ok(IntakeOutcome::Done { found: Vec::new(), skipped: Vec::new() });
        }
        let paths: Vec<PathBuf> = files.iter().map(|(path, _)| path.clone()).collect();
        let Ok(collection) = Collection::open(&paths, &self.reading) else {
            return Ok(IntakeOutcome::unread());
        };
        let listed: HashMap<&Path, Stamp> =
            files.iter().map(|(path, stamp)| (path.as_path(), *stamp)).collect();
        if collection.files().any(|(path, stamp)| listed.get(path) != Some(&stamp)) {
            return Ok(IntakeOutcome::unread());
        }
        let index = match open(&self.location, Access::Write { wait: self.options.wait }) {
            Ok(index) => index,
            Err(error @ IndexError::InUse { .. }) => return Ok(IntakeOutcome::Busy(error)),
            Err(error) => return Err(error.into()),
        };
        let mut before = index.snapshot()?;
        let last = last_number(&mut *before)?;
        let added = index::add(&index, &collection, &self.add_options(), &NoProgress);
        let (skipped, failed) = match added {
            Ok(counts) => (counts.skipped, None),
            Err(interrupted) => (interrupted.before.skipped, Some(interrupted.error)),
        };
        let found = self.resemblances(&index, &mut *before, last)?;
        match failed {
            None => {}
            Some(AddError::Find(FindError::Read(error))) => {
                return Ok(IntakeOutcome::Again { found, skipped, error: Some(error) });
            }
            Some(error) => return Err(error),
        }
        self.added.extend(files.iter().cloned());
        Ok(IntakeOutcome::Done { found, skipped })
    }

    fn add_options(&self) -> AddOptions {
        let mut options = AddOptions::new(time::now());
        options.existing = Existing::ReplaceChanged;
        options.skip_bad = true;
        let folder = name_of(&self.folder);
        let folder = folder.trim_end_matches('/');
        options.id_prefix = Some(format!("{folder}/"));
        options
    }

    /// Finds the earlier documents that each document with a number above `last` resembles.
    fn resemblances(
        &self,
        index: &Index,
        before: &mut dyn Snapshot,
        last: DocumentNumber,
    ) -> Result<Vec<Resemblance>, IndexError> {
        let mut snapshot = index.snapshot()?;
        let mut new = Vec::new();
        snapshot.scan(last.next(), usize::MAX, RecordFields::default(), &mut |record| {
            new.push((record.number, record.id.clone(), record.added));
            Ok(())
        })?;
        let mut found = Vec::with_capacity(new.len());
        let mut buffers = QueryBuffers::default();
        for (number, id, added) in new {
            let mut earlier = self.earlier(index, &mut *snapshot, &id, number, &mut buffers)?;
            let first = earlier.first().map(|matched| matched.record.id.clone());
            let is_new_group = match &first {
                None => false,
                Some(first) => {
                    self.earlier(index, &mut *snapshot, first, number, &mut buffers)?.is_empty()
                }
            };
            let total = earlier.len() as u64;
            earlier.truncate(self.options.top);
            found.push(Resemblance {
                replaced: before.number_of(&id)?.is_some(),
                matches: earlier.iter().map(listed).collect(),
                total,
                is_new_group,
                time: time::format(added),
                id,
            });
        }
        Ok(found)
    }

    /// The documents numbered below `number` that the document with this id resembles.
    fn earlier(
        &self,
        index: &Index,
        snapshot: &mut dyn Snapshot,
        id: &str,
        number: DocumentNumber,
        buffers: &mut QueryBuffers,
    ) -> Result<Vec<Match>, IndexError> {
        let request = QueryRequest {
            threshold: self.options.threshold.unwrap_or_else(|| index.params().threshold()),
            top: None,
            nearest: None,
            filters: &[],
            now: time::now(),
            except: None,
            wanted: RecordFields::default(),
        };
        let answer = query_stored(snapshot, index.settings(), id, &request, buffers)?;
        let matches = answer.map(|(_, result)| result.matches).unwrap_or_default();
        Ok(matches.into_iter().filter(|matched| matched.record.number < number).collect())
    }
}

/// The id and the similarity of a match.
fn listed(found: &Match) -> (String, String) {
    (found.record.id.clone(), found.similarity.six_decimals())
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> FolderIdentity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> FolderIdentity {}
