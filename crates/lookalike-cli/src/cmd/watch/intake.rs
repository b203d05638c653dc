//! The files of a folder → an index, and what they resemble there.

use super::args::WatchArgs;
use super::resemblance::Resemblance;
use crate::cmd::index::SettingsArgs;
use crate::cmd::{CommandError, index_message, run_message};
use crate::explicit_args::ExplicitArgs;
use crate::read_args::ReadArgs;
use lookalike::error::Error;
use lookalike::index::{self, AddOptions, Existing, last_number, time};
use lookalike::progress::NoProgress;
use lookalike::read::{
    Collection, Normalization, ReadError, ReadOptions, SkippedItem, Stamp, name_of,
};
use lookalike::store::backend::Snapshot;
use lookalike::store::entry::{DocumentNumber, RecordFields};
use lookalike::store::index::{Access, IndexLocation, open};
use lookalike::store::query::{QueryBuffers, QueryRequest};
use lookalike::store::query_by_id::query_stored;
use lookalike::store::{Index, IndexError};
use std::collections::HashMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A file, and how it was when it was listed.
pub(super) type ListedFile = (PathBuf, Stamp);

/// Whether a file was changed less than `span` ago, by the clock of the system.
pub(super) fn is_recent(stamp: Stamp, span: Duration) -> bool {
    let Some(modified) = stamp.modified else { return false };
    let modified = SystemTime::UNIX_EPOCH + Duration::from_nanos(modified);
    SystemTime::now().duration_since(modified).is_ok_and(|age| age < span)
}

/// What became of files.
pub(super) enum TakenIn {
    /// They are in the index, but for those that were skipped.
    Done { found: Vec<Resemblance>, skipped: Vec<SkippedItem> },
    /// Another process writes to the index.
    Busy(String),
    /// Some changed or went away in the meantime; another look says which. The others are in the
    /// index.
    Again { found: Vec<Resemblance>, skipped: Vec<SkippedItem> },
}

impl TakenIn {
    /// Nothing was read, and another look is due.
    fn again() -> Self {
        Self::Again { found: Vec::new(), skipped: Vec::new() }
    }
}

/// Takes in the files of a folder.
pub(super) struct Intake<'a> {
    args: &'a WatchArgs,
    folder: &'a Path,
    location: IndexLocation,
    options: ReadOptions,
    /// The files that were taken in, or skipped, as they were then.
    taken: HashMap<PathBuf, Stamp>,
    /// Which folder it is, whatever is at its path later.
    identity: Option<FolderIdentity>,
}

/// Tells a folder from another one at its path.
#[cfg(unix)]
type FolderIdentity = (u64, u64);
#[cfg(not(unix))]
type FolderIdentity = ();

impl<'a> Intake<'a> {
    pub(super) fn new(
        folder: &'a Path,
        location: IndexLocation,
        options: ReadOptions,
        args: &'a WatchArgs,
    ) -> Result<Self, CommandError> {
        let metadata = std::fs::metadata(folder);
        let identity = match &metadata {
            Ok(metadata) if metadata.is_dir() => Some(identity(metadata)),
            Ok(_) => {
                let name = folder.display();
                return Err(CommandError::Usage(format!("{name} is no folder: name one")));
            }
            Err(error) => {
                let name = folder.display();
                return Err(CommandError::Data(format!("{name}: {error}; name a folder")));
            }
        };
        // The index brings texts to its normalization itself.
        let options = ReadOptions { normalization: Normalization::default(), ..options };
        Ok(Self { args, folder, location, options, taken: HashMap::new(), identity })
    }

    /// Checks that the index is there and has what the options say.
    ///
    /// # Errors
    /// As [`open`], and for options that the index has otherwise.
    pub(super) fn check(
        &self,
        asked: &SettingsArgs,
        reading: &ExplicitArgs<ReadArgs>,
    ) -> Result<(), CommandError> {
        asked.check_compatible(&open(&self.location, Access::Read)?, reading)
    }

    /// Whether the folder is there, and the same as when this was called last. Another one at its
    /// path is reported as gone once, and is the folder from then on.
    pub(super) fn is_there(&mut self) -> bool {
        let now = std::fs::metadata(self.folder).ok().filter(Metadata::is_dir);
        let now = now.as_ref().map(identity);
        let is_same = now.is_some() && now == self.identity;
        self.identity = now;
        is_same
    }

    /// The files that are not taken in as they are now; `None` where the folder is not there.
    ///
    /// # Errors
    /// What keeps the folder from being read.
    pub(super) fn changed(&mut self) -> Result<Option<Vec<ListedFile>>, CommandError> {
        if !self.folder.is_dir() {
            return Ok(None);
        }
        let inputs = [self.folder.to_owned()];
        let all = match Collection::open(&inputs, &self.options) {
            Ok(all) => all,
            Err(ReadError::NoFiles { .. }) => return Ok(Some(Vec::new())),
            Err(_) if !self.folder.is_dir() => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let files = all.files().map(|(path, stamp)| (path.to_owned(), stamp));
        let files: HashMap<PathBuf, Stamp> = files.collect();
        // What is gone is read again when it is back.
        self.taken.retain(|path, _| files.contains_key(path));
        let is_new = |(path, stamp): &(PathBuf, Stamp)| self.taken.get(path) != Some(stamp);
        let mut changed: Vec<ListedFile> = files.into_iter().filter(is_new).collect();
        changed.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        Ok(Some(changed))
    }

    /// Puts files into the index, and looks for what their documents resemble.
    ///
    /// # Errors
    /// What keeps the index from being written. What was stored before stays.
    pub(super) fn take(&mut self, files: &[ListedFile]) -> Result<TakenIn, CommandError> {
        if files.is_empty() {
            return Ok(TakenIn::Done { found: Vec::new(), skipped: Vec::new() });
        }
        let paths: Vec<PathBuf> = files.iter().map(|(path, _)| path.clone()).collect();
        let Ok(collection) = Collection::open(&paths, &self.options) else {
            return Ok(TakenIn::again());
        };
        let listed: HashMap<&Path, Stamp> =
            files.iter().map(|(path, stamp)| (path.as_path(), *stamp)).collect();
        if collection.files().any(|(path, stamp)| listed.get(path) != Some(&stamp)) {
            return Ok(TakenIn::again());
        }
        let index = match open(&self.location, Access::Write { wait: self.args.wait }) {
            Ok(index) => index,
            Err(error @ IndexError::InUse { .. }) => {
                return Ok(TakenIn::Busy(index_message(&error)));
            }
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
            // A file that changed while it was read comes again.
            Some(Error::Read(error)) => {
                let message = run_message(&Error::Read(error));
                crate::terminal::stderr().message(&format!("{message}; trying again"))?;
                return Ok(TakenIn::Again { found, skipped });
            }
            Some(error) => return Err(error.into()),
        }
        self.taken.extend(files.iter().cloned());
        Ok(TakenIn::Done { found, skipped })
    }

    fn add_options(&self) -> AddOptions {
        let mut options = AddOptions::new(time::now());
        options.existing = Existing::ReplaceChanged;
        options.skip_bad = true;
        let folder = name_of(self.folder);
        let folder = folder.trim_end_matches('/');
        options.id_prefix = Some(format!("{folder}/"));
        options
    }

    /// What the documents with numbers above `last` resemble among those before each.
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
            let first = earlier.first().map(|one| one.record.id.clone());
            let is_new_group = match &first {
                None => false,
                Some(first) => {
                    self.earlier(index, &mut *snapshot, first, number, &mut buffers)?.is_empty()
                }
            };
            let total = earlier.len() as u64;
            earlier.truncate(self.args.top);
            found.push(Resemblance {
                replaced: before.number_of(&id)?.is_some(),
                matches: Resemblance::listed(&earlier),
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
    ) -> Result<Vec<lookalike::store::query::Match>, IndexError> {
        let request = QueryRequest {
            threshold: self.args.threshold.unwrap_or_else(|| index.params().threshold()),
            top: None,
            nearest: None,
            filters: &[],
            now: time::now(),
            except: None,
            wanted: RecordFields::default(),
        };
        let answer = query_stored(snapshot, index.settings(), id, &request, buffers)?;
        let matches = answer.map(|(_, result)| result.matches).unwrap_or_default();
        Ok(matches.into_iter().filter(|one| one.record.number < number).collect())
    }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> FolderIdentity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> FolderIdentity {}
