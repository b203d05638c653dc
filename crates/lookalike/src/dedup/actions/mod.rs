//! Moves files that are duplicates, replaces them by links, or lists them in a script.
//!
//! ```text
//! Findings ─ find_files (one more pass) ─ DuplicateFiles ─┬─ move_to ─ UndoScript
//!                                                         ├─ link ──── UndoScript
//!                                                         └─ write_script
//! ```
//!
//! A file qualifies if it is one document, that document is a duplicate, the file was read
//! completely, and neither the file nor its keeper changed since the inputs were opened. No action
//! overwrites a file. Only names are removed, and only if their content has another name.

mod link;
mod relocate;
mod script;
mod undo;

pub use link::{LinkKind, link};
pub use relocate::{check_folder, move_to};
pub use script::write_script;
pub use undo::UndoScript;

use super::SourceRecord;
use super::non_documents::{RefusedFile, UnreadParts};
use crate::outcome::Outcome;
use crate::read::{Collection, Format, Stamp, name_of};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// A file that is a duplicate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuplicateFile {
    /// The file.
    pub path: PathBuf,
    /// The id of the kept document that this one duplicates.
    pub keeper: String,
    /// The file of the keeper. `None` if the keeper is a record or belongs to a reference.
    pub keeper_path: Option<PathBuf>,
    /// The similarity to the keeper, with six decimals.
    pub similarity: String,
    /// Why the keeper was chosen over this document.
    pub reason: String,
    /// Size and times of the file when the inputs were opened.
    stamp: Stamp,
    /// Size and times of the keeper's file when the inputs were opened.
    keeper_stamp: Option<Stamp>,
}

/// All files that are duplicates, and other files that contain duplicates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DuplicateFiles {
    /// In reading order.
    pub files: Vec<DuplicateFile>,
    /// Other files that contain duplicates, with the reason why they do not qualify.
    pub refused: Vec<RefusedFile>,
}

/// Counts of an action on duplicate files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActionCounts {
    /// Files that were moved or replaced by links.
    pub done: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that do not meet a condition of the action, with the reason. For example, their bytes
    /// differ from the keeper's.
    pub unsuitable: Vec<RefusedFile>,
    /// Files on which the action failed, with the reason: they changed, or a system call failed.
    pub failed: Vec<RefusedFile>,
}

/// Why an action did not change a file.
enum NotDone {
    Unsuitable(String),
    Failed(String),
}

impl From<String> for NotDone {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

impl ActionCounts {
    fn add(&mut self, file: &DuplicateFile, outcome: Result<(), NotDone>) {
        match outcome {
            Ok(()) => {
                self.done += 1;
                self.bytes += file.stamp.bytes;
            }
            Err(NotDone::Unsuitable(why)) => self.unsuitable.push((file.path.clone(), why)),
            Err(NotDone::Failed(why)) => self.failed.push((file.path.clone(), why)),
        }
    }
}

impl DuplicateFile {
    /// Returns an error if the file or its keeper changed, or if both are the same file.
    fn check(&self) -> Result<(), String> {
        unchanged(&self.path, self.stamp)?;
        let (Some(keeper), Some(stamp)) = (&self.keeper_path, self.keeper_stamp) else {
            return Ok(());
        };
        unchanged(keeper, stamp)
            .map_err(|why| format!("of its keeper {}: {why}", keeper.display()))?;
        if real(&self.path) == real(keeper) {
            return Err(format!("its keeper {} is the same file", keeper.display()));
        }
        Ok(())
    }
}

fn real(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

fn unchanged(path: &Path, before: Stamp) -> Result<(), String> {
    let metadata = path.symlink_metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is a link, or no file any more".to_owned());
    }
    let after = Stamp::of(&metadata);
    if after == before {
        return Ok(());
    }
    Err(format!("it changed while it was compared: it was {before}, and is {after}"))
}

/// The file whose documents are being read. The documents of a file are consecutive.
struct Current {
    path: PathBuf,
    documents: u64,
    duplicates: u64,
    is_whole: bool,
    file: Option<DuplicateFile>,
}

/// Collects duplicate files from documents in reading order.
#[derive(Default)]
pub(super) struct Collector {
    current: Option<Current>,
    found: DuplicateFiles,
    /// Files of keepers, by the number of the group.
    keepers: HashMap<u64, PathBuf>,
    groups: Vec<u64>,
    /// Counts of duplicates in files of records, by file name.
    records: BTreeMap<String, u64>,
}

impl Collector {
    pub(super) fn document(
        &mut self,
        source: &str,
        record: SourceRecord<'_>,
        outcome: &Outcome<'_>,
        unread: &UnreadParts,
    ) {
        let (path, is_whole) = match record {
            SourceRecord::File(path) => (path, true),
            SourceRecord::Part(path) => (path, false),
            SourceRecord::Bytes(_) | SourceRecord::Row(_) => {
                if !outcome.is_kept() {
                    *self.records.entry(source.to_owned()).or_default() += 1;
                }
                return;
            }
        };
        if self.current.as_ref().is_none_or(|current| current.path != path) {
            self.end_file(unread);
            let path = path.to_owned();
            self.current =
                Some(Current { path, documents: 0, duplicates: 0, is_whole: true, file: None });
        }
        let Some(current) = &mut self.current else { return };
        current.documents += 1;
        current.is_whole &= is_whole;
        match *outcome {
            Outcome::Unique
            | Outcome::Related { .. }
            | Outcome::Empty
            | Outcome::Dropped
            | Outcome::RepeatedId
            | Outcome::Repeated { .. } => {}
            Outcome::Keeper { group, .. } => drop(self.keepers.insert(group, path.to_owned())),
            Outcome::Duplicate { group, keeper, similarity, reason } => {
                current.duplicates += 1;
                if current.file.is_none() {
                    self.groups.push(group);
                    current.file = Some(DuplicateFile {
                        path: path.to_owned(),
                        keeper: keeper.to_owned(),
                        keeper_path: None,
                        similarity: similarity.to_owned(),
                        reason: reason.to_owned(),
                        stamp: Stamp { bytes: 0, modified: None },
                        keeper_stamp: None,
                    });
                }
            }
        }
    }

    fn end_file(&mut self, unread: &UnreadParts) {
        let Some(Current { path, documents, duplicates, is_whole, file }) = self.current.take()
        else {
            return;
        };
        let Some(file) = file else { return };
        let why = if documents > 1 || !is_whole {
            format!(
                "{duplicates} of its {documents} documents are duplicates; parts of a file stay \
                 in it"
            )
        } else if unread.any_in(&path) {
            "parts of it could not be read".to_owned()
        } else {
            return self.found.files.push(file);
        };
        self.groups.pop();
        self.found.refused.push((path, why));
    }

    pub(super) fn finish(
        mut self,
        collection: &Collection,
        unread: &UnreadParts,
    ) -> DuplicateFiles {
        self.end_file(unread);
        let Self { mut found, keepers, groups, records, .. } = self;
        for (file, group) in found.files.iter_mut().zip(groups) {
            file.keeper_path = keepers.get(&group).cloned();
        }
        let mut stamps: HashMap<String, Option<Stamp>> = HashMap::new();
        for file in &found.files {
            for path in std::iter::once(&file.path).chain(&file.keeper_path) {
                stamps.insert(name_of(path), None);
            }
        }
        for input in collection.inputs() {
            if let Some(stamp) = stamps.get_mut(&input.name) {
                *stamp = Some(Stamp { bytes: input.bytes, modified: input.modified });
            }
        }
        let stamp = |path: &Path| stamps.get(&name_of(path)).copied().flatten();
        for file in &mut found.files {
            file.stamp = stamp(&file.path).unwrap_or(file.stamp);
            file.keeper_stamp = file.keeper_path.as_deref().and_then(stamp);
        }
        let records = records.into_iter().map(|(source, duplicates)| {
            let why =
                format!("{duplicates} of its records are duplicates; only whole files are changed");
            (PathBuf::from(source), why)
        });
        found.refused.extend(records);
        found
    }
}

/// Returns the name of the first input if no input is a file that can be moved or linked. All
/// inputs are files of records, archives or streams in this case.
pub fn without_files(collection: &Collection) -> Option<String> {
    let mut inputs = (0..collection.sources()).filter(|source| !collection.is_reference(*source));
    let is_file = |source: u32| {
        let format = collection.source_format(source);
        let is_text = matches!(format, Some(Format::Text | Format::File));
        is_text && collection.source_path(source).is_some()
    };
    if inputs.clone().any(is_file) {
        return None;
    }
    let first = inputs.next().and_then(|source| collection.source_name(source));
    Some(first.unwrap_or("the input").to_owned())
}
