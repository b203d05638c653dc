//! Replaces duplicates that have the same bytes as their keepers by links to the keepers.

use super::{ActionCounts, DuplicateFile, DuplicateFiles, NotDone, UndoScript};
use crate::report::part_file::{PREFIX, SUFFIX, folder_of};
use crate::temporary;
use std::fs::{self, File, Metadata};
use std::io::{self, BufReader, Read};
use std::path::Path;
use tempfile::TempDir;

/// How two files share their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// Two names of one file. Writing to one changes the other.
    Hard,
    /// Two files that share blocks until one of them is written to. Requires support by the file
    /// system.
    Reflink,
}

/// Replaces each file that has the same bytes as its keeper by a link to the keeper. Does not
/// change files with other bytes, or files whose keeper is not a file. A hard link also requires
/// that file and keeper have the same owner and permissions. Replaces each file in one step, so
/// that its name always exists. Adds each hard link to `undo` before it makes the link. A reflink
/// needs no undo, since it is a separate file.
///
/// With `dry_run`, replaces nothing and reports the failures that can be foreseen.
pub fn link(
    found: &DuplicateFiles,
    kind: LinkKind,
    dry_run: bool,
    mut undo: Option<&mut UndoScript>,
) -> ActionCounts {
    let mut acted = ActionCounts::default();
    for file in &found.files {
        acted.add(file, link_file(file, kind, dry_run, undo.as_deref_mut()));
    }
    acted
}

fn link_file(
    file: &DuplicateFile,
    kind: LinkKind,
    dry_run: bool,
    undo: Option<&mut UndoScript>,
) -> Result<(), NotDone> {
    let unsuitable = |why: &str| Err(NotDone::Unsuitable(why.to_owned()));
    let Some(keeper) = &file.keeper_path else {
        return unsuitable(&format!("its keeper {} is not a file of the inputs", file.keeper));
    };
    file.check()?;
    let text = |error: io::Error| error.to_string();
    let duplicate = File::open(&file.path).map_err(text)?;
    let keeper_file = File::open(keeper).map_err(text)?;
    let before = duplicate.metadata().map_err(text)?;
    let kept = keeper_file.metadata().map_err(text)?;
    if is_same_file(&before, &kept) {
        return unsuitable("it is already a hard link to its keeper");
    }
    if kind == LinkKind::Hard {
        same_access(&before, &kept).map_err(NotDone::Unsuitable)?;
    }
    if before.len() != kept.len() || !equal_bytes(duplicate, &keeper_file).map_err(text)? {
        return unsuitable("its bytes differ from its keeper");
    }
    if dry_run {
        return Ok(());
    }
    let logged = match undo.filter(|_| kind == LinkKind::Hard) {
        Some(undo) => undo.add_link(&file.path, keeper, file.stamp.modified),
        None => Ok(()),
    };
    logged.and_then(|()| replace(file, keeper, &keeper_file, &before, kind)).map_err(|error| {
        NotDone::Failed(format!("cannot link it to {}: {error}", keeper.display()))
    })
}

/// Makes the link under a temporary name and renames it over the file.
fn replace(
    file: &DuplicateFile,
    keeper: &Path,
    keeper_file: &File,
    before: &Metadata,
    kind: LinkKind,
) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    let create = || builder.tempdir_in(folder_of(&file.path));
    // Both stay in one tuple, whose fields drop in order: the folder is removed before its
    // registration ends.
    let folder = temporary::register(create, TempDir::path)?;
    let link = folder.0.path().join("link");
    match kind {
        LinkKind::Hard => fs::hard_link(keeper, &link)?,
        LinkKind::Reflink => reflink(keeper_file, &link, before)?,
    }
    // The file may have changed since the comparison. Its new content must not be lost.
    file.check().map_err(io::Error::other)?;
    fs::rename(&link, &file.path)
}

/// Returns an error if the two files differ in owner or permissions.
#[cfg(unix)]
fn same_access(file: &Metadata, keeper: &Metadata) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    let access = |data: &Metadata| (data.uid(), data.gid(), data.mode() & 0o7777);
    if access(file) == access(keeper) {
        return Ok(());
    }
    let access_text = |data: &Metadata| {
        let (user, group, mode) = access(data);
        format!("user {user}, group {group}, mode {mode:o}")
    };
    Err(format!(
        "a hard link would change its owner or permissions: it has {}, its keeper has {}",
        access_text(file),
        access_text(keeper)
    ))
}

#[cfg(not(unix))]
fn same_access(file: &Metadata, keeper: &Metadata) -> Result<(), String> {
    if file.permissions() == keeper.permissions() {
        return Ok(());
    }
    Err("a hard link would change its permissions to the different ones of its keeper".to_owned())
}

#[cfg(unix)]
fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same_file(_: &Metadata, _: &Metadata) -> bool {
    false
}

fn equal_bytes(one: File, other: &File) -> io::Result<bool> {
    const BYTES: usize = 1 << 16;
    let mut one = BufReader::with_capacity(BYTES, one);
    let mut other = BufReader::with_capacity(BYTES, other);
    let mut left = vec![0; BYTES];
    let mut right = vec![0; BYTES];
    loop {
        let read = fill(&mut one, &mut left)?;
        if read != fill(&mut other, &mut right)? || left.get(..read) != right.get(..read) {
            return Ok(false);
        }
        if read == 0 {
            return Ok(true);
        }
    }
}

/// Reads until the buffer is full or the file ends.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while let Some(rest) = buffer.get_mut(read..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

/// Creates a file with the blocks of `keeper`, and the permissions, times and owner of the file
/// that it will replace.
#[cfg(target_os = "linux")]
fn reflink(keeper: &File, link: &Path, replaced: &Metadata) -> io::Result<()> {
    use std::fs::FileTimes;
    use std::os::unix::fs::{MetadataExt, fchown};
    let new = File::options().write(true).create_new(true).open(link)?;
    rustix::fs::ioctl_ficlone(&new, keeper)?;
    let own = new.metadata()?;
    if (own.uid(), own.gid()) != (replaced.uid(), replaced.gid()) {
        fchown(&new, Some(replaced.uid()), Some(replaced.gid()))?;
    }
    new.set_permissions(replaced.permissions())?;
    let times = FileTimes::new().set_modified(replaced.modified()?);
    new.set_times(times.set_accessed(replaced.accessed()?))
}

#[cfg(not(target_os = "linux"))]
fn reflink(_: &File, _: &Path, _: &Metadata) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "reflinks are made on Linux only"))
}
