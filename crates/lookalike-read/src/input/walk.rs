//! Lists the files of a folder, in the byte order of their paths, and the skipped entries.

use crate::error::{ReadError, SkipReason, SkippedItem};
use crate::file::{is_system_file, name_of};
use crate::measure::Stamp;
use crate::options::ReadOptions;
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use ignore::{DirEntry, WalkBuilder};
use lookalike_core::parameter::Parameter;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A file found in a folder.
#[derive(Debug)]
pub(crate) struct FolderFile {
    pub(crate) path: PathBuf,
    /// The path inside the folder, with `/` between its parts, see [`name_of`].
    pub(crate) name: String,
    pub(crate) stamp: Stamp,
    /// Whether the entry is a symbolic link that was followed.
    pub(crate) is_link: bool,
}

/// The contents of a folder.
#[derive(Debug, Default)]
pub(crate) struct FolderListing {
    pub(crate) files: Vec<FolderFile>,
    pub(crate) skipped: Vec<SkippedItem>,
}

/// Walks `folder` twice: with the rules, and without them to find the files that the rules exclude.
///
/// # Errors
/// [`ReadError::Filter`] for an invalid pattern or type.
pub(crate) fn walk(folder: &Path, options: &ReadOptions) -> Result<FolderListing, ReadError> {
    let mut listing = FolderListing::default();
    let overrides = overrides(folder, options)?;
    let types = types(options)?;
    let mut seen = BTreeSet::new();
    let rules = options.ignore_files;
    let builder = |hidden: bool, rules: bool| {
        let mut builder = WalkBuilder::new(folder);
        builder
            .hidden(!hidden)
            .ignore(rules)
            .git_ignore(rules)
            .parents(rules)
            // The user's own git settings do not belong to a collection.
            .git_global(false)
            .git_exclude(false)
            .require_git(false)
            .overrides(overrides.clone())
            .types(types.clone())
            .follow_links(options.follow_links);
        builder.build()
    };
    for entry in builder(options.hidden, rules) {
        match entry {
            Ok(entry) => {
                seen.insert(entry.path().to_owned());
                file(folder, &entry, &mut listing);
            }
            Err(error) => listing.skipped.push(refused(folder, &error)),
        }
    }
    if rules || !options.hidden {
        let all_entries = builder(true, false).flatten();
        for entry in all_entries.filter(|entry| !seen.contains(entry.path())) {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            if !is_folder {
                let inside = entry.path().strip_prefix(folder).unwrap_or(entry.path());
                let dot = inside.iter().any(|part| part.as_encoded_bytes().starts_with(b"."));
                let hidden = dot && !options.hidden;
                let reason = match () {
                    () if is_system_file(entry.path()) => SkipReason::SystemFile,
                    () if hidden => SkipReason::Hidden,
                    () => SkipReason::Ignored,
                };
                listing.skipped.push(SkippedItem::whole(name_of(entry.path()), reason));
            }
        }
    }
    let excluded: Vec<PathBuf> = options.leave_out.iter().map(|path| real(path)).collect();
    if !excluded.is_empty() {
        let is_excluded =
            |path: &Path| excluded.iter().any(|excluded| real(path).starts_with(excluded));
        listing.files.retain(|found| !is_excluded(&found.path));
        listing.skipped.retain(|skipped| !is_excluded(Path::new(&skipped.source)));
    }
    listing.files.sort_unstable_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
    listing.skipped.sort_by(|a, b| a.source.as_bytes().cmp(b.source.as_bytes()));
    Ok(listing)
}

/// The patterns of files to read and not to read.
fn overrides(folder: &Path, options: &ReadOptions) -> Result<Override, ReadError> {
    if options.include.is_empty() && options.exclude.is_empty() {
        return Ok(Override::empty());
    }
    let mut builder = OverrideBuilder::new(folder);
    let include = options.include.iter().map(|glob| (Parameter::Include, glob, glob.clone()));
    let exclude = options.exclude.iter().map(|glob| (Parameter::Exclude, glob, format!("!{glob}")));
    for (parameter, got, glob) in include.chain(exclude) {
        let refused = |problem: String| ReadError::Filter { parameter, got: got.clone(), problem };
        if got.is_empty() || got.starts_with('!') {
            return Err(refused("expected a pattern such as *.txt or /drafts/**".to_owned()));
        }
        builder.add(&glob).map_err(|error| refused(error.to_string()))?;
    }
    let failed = |error: ignore::Error| ReadError::Filter {
        parameter: Parameter::Include,
        got: options.include.join(", "),
        problem: error.to_string(),
    };
    builder.build().map_err(failed)
}

/// The types of files to read.
fn types(options: &ReadOptions) -> Result<Types, ReadError> {
    if options.types.is_empty() {
        return Ok(Types::empty());
    }
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    let known: Vec<String> =
        builder.definitions().iter().map(|known| known.name().to_owned()).collect();
    for name in &options.types {
        if !known.contains(name) {
            let problem = format!("the types are {}", known.join(", "));
            return Err(ReadError::Filter {
                parameter: Parameter::Type,
                got: name.clone(),
                problem,
            });
        }
        builder.select(name);
    }
    let failed = |error: ignore::Error| ReadError::Filter {
        parameter: Parameter::Type,
        got: options.types.join(", "),
        problem: error.to_string(),
    };
    builder.build().map_err(failed)
}

fn file(folder: &Path, entry: &DirEntry, listing: &mut FolderListing) {
    let path = entry.path();
    // `file_type` and `metadata` describe the link itself, unless links are followed.
    let Some(kind) = entry.file_type() else { return };
    if kind.is_dir() {
        return;
    }
    if kind.is_symlink() {
        listing.skipped.push(SkippedItem::whole(name_of(path), SkipReason::SymbolicLink));
    } else if !kind.is_file() {
        listing.skipped.push(SkippedItem::whole(name_of(path), SkipReason::NotAFile));
    } else if is_system_file(path) {
        listing.skipped.push(SkippedItem::whole(name_of(path), SkipReason::SystemFile));
    } else {
        match entry.metadata() {
            Ok(metadata) => listing.files.push(FolderFile {
                path: path.to_owned(),
                name: name_of(path.strip_prefix(folder).unwrap_or(path)),
                stamp: Stamp::of(&metadata),
                is_link: entry.path_is_symlink(),
            }),
            Err(error) => {
                let message = error.to_string();
                listing
                    .skipped
                    .push(SkippedItem::whole(name_of(path), SkipReason::Unreadable { message }));
            }
        }
    }
}

/// The canonical path, which is the same for all names of a file.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The entry for a folder that the walk could not read: because of permissions, or a loop of links.
fn refused(folder: &Path, error: &ignore::Error) -> SkippedItem {
    let mut inner = error;
    let mut place = folder;
    loop {
        inner = match inner {
            ignore::Error::WithPath { path, err } => {
                place = path;
                err
            }
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => err,
            ignore::Error::Loop { child, .. } => {
                place = child;
                break;
            }
            _ => break,
        };
    }
    SkippedItem::whole(name_of(place), SkipReason::Unreadable { message: inner.to_string() })
}
