//! Copies files in input folders that are not documents. Lists the files that cannot be copied.
//!
//! The inputs are walked again after the documents are written. Every file that the output lacks is
//! copied, unless all its documents were removed.

use super::destination::Destination;
use super::files::FolderWriter;
use crate::dedup::error::DedupError;
use crate::engine::{FindError, SkippedRecords};
use crate::read::name_of;
use crate::report::part_file::is_temporary_name;
use ignore::{DirEntry, WalkBuilder};
use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// How to copy files without documents to an output folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Others {
    /// Whether to copy the targets of symbolic links. Otherwise links are copied as links.
    pub follow_links: bool,
    /// Files and folders that are not copied, such as outputs in an input folder.
    pub leave_out: Vec<PathBuf>,
}

/// A file that was not copied, moved or linked, and the reason.
pub type RefusedFile = (PathBuf, String);

/// Counts of the entries copied besides documents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OthersCopied {
    /// Copied files.
    pub files: u64,
    /// Copied symbolic links.
    pub links: u64,
    /// Entries that were not copied: special files, and unreadable ones.
    pub not_copied: Vec<RefusedFile>,
}

/// The files and archives with unreadable parts.
#[derive(Debug, Default)]
pub(super) struct UnreadParts(BTreeSet<String>);

impl UnreadParts {
    /// # Errors
    /// Errors of temporary files.
    pub(super) fn new(skipped: &SkippedRecords) -> Result<Self, DedupError> {
        let mut sources = BTreeSet::new();
        for record in skipped.iter() {
            let source = record.map_err(FindError::of_io)?.source;
            if sources.last() != Some(&source) {
                sources.insert(source);
            }
        }
        Ok(Self(sources))
    }

    /// Whether a part of the file could not be read.
    pub(super) fn any_in(&self, file: &Path) -> bool {
        let name = name_of(file);
        if self.0.contains(&name) {
            return true;
        }
        // The source of a part of a file is `FILE/NAME`, and the source of a message of a mailbox
        // is `FILE:LINE`.
        ['/', ':'].into_iter().any(|end| {
            let start = format!("{name}{end}");
            self.0.range(start.clone()..).next().is_some_and(|next| next.starts_with(&start))
        })
    }
}

/// Copies the entries that the output lacks.
pub(super) struct Copier<'a> {
    pub(super) destination: &'a Destination,
    pub(super) folder: &'a FolderWriter,
    pub(super) others: &'a Others,
    /// Files with a removed document. If the output lacks such a file, none of its documents is
    /// kept.
    pub(super) duplicates: &'a HashSet<PathBuf>,
    pub(super) unread: &'a UnreadParts,
    pub(super) copied: OthersCopied,
    /// Folders by their names in the output. Their permissions are set last, so that files can be
    /// written to them before.
    pub(super) folders: Vec<(PathBuf, Metadata)>,
}

impl Copier<'_> {
    /// Copies from all inputs.
    pub(super) fn copy(mut self) -> Result<OthersCopied, DedupError> {
        let own = self.others.leave_out.iter().chain([&self.destination.out]);
        let own: Vec<PathBuf> = own.filter_map(|path| path.canonicalize().ok()).collect();
        let is_own = |path: &Path| {
            !own.is_empty() && path.canonicalize().is_ok_and(|path| own.contains(&path))
        };
        for input in &self.destination.inputs {
            if input.is_dir() {
                self.folder(input, &is_own)?;
            } else if input.is_file() {
                self.file(input)?;
            }
        }
        for (name, metadata) in self.folders.iter().rev() {
            self.folder.set_permissions(name, metadata.permissions())?;
        }
        Ok(self.copied)
    }

    fn folder(&mut self, input: &Path, is_own: &dyn Fn(&Path) -> bool) -> Result<(), DedupError> {
        let mut walk = WalkBuilder::new(input);
        walk.standard_filters(false)
            .follow_links(self.others.follow_links)
            .sort_by_file_name(std::cmp::Ord::cmp)
            .filter_entry(|entry| !is_temporary(entry));
        let mut left_out: Option<PathBuf> = None;
        for entry in walk.build() {
            match entry {
                Ok(entry) if entry.depth() == 0 => {}
                // The walk also returns the content of a folder that was left out.
                Ok(entry) if left_out.as_ref().is_some_and(|f| entry.path().starts_with(f)) => {}
                Ok(entry) if is_own(entry.path()) => left_out = Some(entry.into_path()),
                Ok(entry) => self.entry(&entry)?,
                Err(error) => self.refuse(input, error.to_string()),
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: &DirEntry) -> Result<(), DedupError> {
        let path = entry.path();
        let Some(kind) = entry.file_type() else { return Ok(()) };
        if kind.is_dir() {
            let name = self.destination.name_of_path(path)?;
            self.folder.add_folder(&name)?;
            match entry.metadata() {
                Ok(metadata) => self.folders.push((name, metadata)),
                Err(error) => self.refuse(path, error.to_string()),
            }
            return Ok(());
        }
        if kind.is_symlink() {
            return self.link(path);
        }
        if kind.is_file() {
            return self.file(path);
        }
        self.refuse(path, "it is neither a file nor a folder".to_owned());
        Ok(())
    }

    fn file(&mut self, path: &Path) -> Result<(), DedupError> {
        let name = self.destination.name_of_path(path)?;
        let is_removed = self.duplicates.contains(path) && !self.unread.any_in(path);
        if is_removed || self.folder.has(&name) {
            return Ok(());
        }
        if let Err(error) = File::open(path) {
            self.refuse(path, error.to_string());
            return Ok(());
        }
        self.folder.copy(path, &name)?;
        self.copied.files += 1;
        Ok(())
    }

    fn link(&mut self, path: &Path) -> Result<(), DedupError> {
        let name = self.destination.name_of_path(path)?;
        if self.folder.has(&name) {
            return Ok(());
        }
        let place = self.folder.place(&name)?;
        match fs::read_link(path).and_then(|target| symlink(&target, &place)) {
            Ok(()) => self.copied.links += 1,
            Err(error) => self.refuse(path, error.to_string()),
        }
        Ok(())
    }

    fn refuse(&mut self, path: &Path, why: String) {
        self.copied.not_copied.push((path.to_owned(), why));
    }
}

/// Whether it is a temporary file of another run.
fn is_temporary(entry: &DirEntry) -> bool {
    entry.file_name().to_str().is_some_and(is_temporary_name)
}

#[cfg(unix)]
fn symlink(target: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(not(unix))]
fn symlink(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "links are copied on Unix only"))
}
