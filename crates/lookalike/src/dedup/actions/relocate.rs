//! Moves duplicates to another folder, under their paths below the input.

use super::{ActionCounts, DuplicateFile, DuplicateFiles, NotDone, UndoScript};
use crate::dedup::destination::{apart, base, relative_name};
use crate::dedup::error::DedupError;
use crate::report::part_file::PartFile;
use std::fs::{self, File, FileTimes};
use std::io;
use std::path::{Path, PathBuf};

/// Moves each file to `folder` and keeps its relative path: below the input if the only input is a
/// folder, otherwise below the common parent of all inputs. Overwrites nothing. If `folder` is on
/// another file system, copies the file and removes the original when the copy is on the disk. Adds
/// each move to `undo` before it makes the move.
///
/// With `dry_run`, moves nothing and reports the failures that can be foreseen.
///
/// # Errors
/// [`DedupError::Survivors`] if `folder` is an input, lies in one, or is a file. The result
/// contains the errors of single files.
pub fn move_to(
    found: &DuplicateFiles,
    folder: &Path,
    inputs: &[PathBuf],
    reference: &[PathBuf],
    dry_run: bool,
    mut undo: Option<&mut UndoScript>,
) -> Result<ActionCounts, DedupError> {
    check_folder(folder, inputs, reference)?;
    let base = base(inputs, &[]);
    let mut acted = ActionCounts::default();
    for file in &found.files {
        let place = relative_name(base.as_deref(), &file.path).map(|name| folder.join(name));
        let moved = place.and_then(|place| move_file(file, &place, dry_run, undo.as_deref_mut()));
        acted.add(file, moved.map_err(NotDone::Failed));
    }
    Ok(acted)
}

/// Checks that duplicates can be moved to the folder: it is not an input, does not lie in one, and
/// is not a file.
///
/// # Errors
/// [`DedupError::Survivors`].
pub fn check_folder(
    folder: &Path,
    inputs: &[PathBuf],
    reference: &[PathBuf],
) -> Result<(), DedupError> {
    let refused = |problem: String| {
        let path = folder.to_owned();
        let problem = problem.into();
        DedupError::Survivors { path, problem }
    };
    apart(folder, inputs).and_then(|()| apart(folder, reference)).map_err(refused)?;
    if folder.exists() && !folder.is_dir() {
        return Err(refused("it is not a folder; name one, or a new name".to_owned()));
    }
    Ok(())
}

fn move_file(
    file: &DuplicateFile,
    place: &Path,
    dry_run: bool,
    mut undo: Option<&mut UndoScript>,
) -> Result<(), String> {
    file.check()?;
    if place.symlink_metadata().is_ok() {
        return Err(format!("{} exists", place.display()));
    }
    if dry_run {
        return Ok(());
    }
    let failed = |error: io::Error| format!("cannot move it to {}: {error}", place.display());
    create_folders(place, undo.as_deref_mut()).map_err(failed)?;
    undo.map_or(Ok(()), |undo| undo.add_move(&file.path, place)).map_err(failed)?;
    match rename_new(&file.path, place) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            copy_and_remove(file, place).map_err(failed)
        }
        result => result.map_err(failed),
    }
}

/// Creates the folders above a file.
fn create_folders(place: &Path, undo: Option<&mut UndoScript>) -> io::Result<()> {
    let Some(folder) = place.parent().filter(|folder| !folder.exists()) else { return Ok(()) };
    if let Some(undo) = undo {
        // The script is in the folder of moved files, so creating the script creates this folder.
        undo.create()?;
        let missing: Vec<&Path> =
            folder.ancestors().take_while(|ancestor| !ancestor.exists()).collect();
        missing.into_iter().rev().try_for_each(|folder| undo.add_folder(folder))?;
    }
    fs::create_dir_all(folder)
}

/// Renames a file to a name that does not exist.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // The file system does not know the flag.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => link_and_remove(from, to),
        result => Ok(result?),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    link_and_remove(from, to)
}

/// Adds a second name to the file, which must not exist yet, and removes the first one.
fn link_and_remove(from: &Path, to: &Path) -> io::Result<()> {
    fs::hard_link(from, to)?;
    fs::remove_file(from)
}

/// Copies a file to another file system with its permissions and times. Removes the original when
/// the copy is on the disk and the original has not changed.
fn copy_and_remove(file: &DuplicateFile, place: &Path) -> io::Result<()> {
    let mut part = PartFile::create(place)?;
    let mut from = File::open(&file.path)?;
    let data = from.metadata()?;
    io::copy(&mut from, part.as_file_mut())?;
    part.as_file().set_permissions(data.permissions())?;
    let mut times = FileTimes::new().set_modified(data.modified()?);
    if let Ok(accessed) = data.accessed() {
        times = times.set_accessed(accessed);
    }
    part.as_file().set_times(times)?;
    part.as_file().sync_all()?;
    file.check().map_err(io::Error::other)?;
    part.persist_new(place)?;
    if cfg!(unix) {
        File::open(place.parent().unwrap_or(Path::new(".")))?.sync_all()?;
    }
    fs::remove_file(&file.path)
}
