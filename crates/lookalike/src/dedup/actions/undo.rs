//! Writes a shell script that undoes moves and links of files.

use super::script::quoted;
use crate::index::time;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The part before the actions. Every path is absolute, so none begins with a dash. The script may
/// end after any action, so a trap reports the result and sets the exit code.
const HEAD: &str = r#"#!/bin/sh
# Undoes what `lookalike dedup` did with duplicate files. Run: sh THIS_FILE
# It overwrites no file, and can be run again. At the end it removes folders that `lookalike`
# created and that are empty.
set -u
# The parameters are the folders that were created.
set --
status=0
count=0
action='moved back'

finish() {
    for folder do rmdir "$folder" 2>/dev/null; done
    files=files
    if [ "$count" -eq 1 ]; then files=file; fi
    printf '%s %s %s\n' "$action" "$count" "$files"
    exit "$status"
}
trap 'finish "$@"' EXIT

problem() {
    printf '%s: %s\n' "$1" "$2" >&2
    status=1
}

# Moves the file $1 back to $2.
moved() {
    if [ -e "$2" ] || [ -L "$2" ]; then
        if [ -e "$1" ]; then problem 'not moved back, a file has its name' "$2"; fi
    elif [ ! -f "$1" ]; then
        problem 'not moved back, it is missing' "$1"
    else
        if mkdir -p "${2%/*}/" && mv "$1" "$2"; then count=$((count + 1)); else status=1; fi
    fi
}

# Replaces the link $1 to the file $2 by a copy, which was changed at $3.
linked() {
    action=restored
    copy="${1%/*}/.lookalike-undo.$$"
    if [ ! -f "$1" ] || [ ! "$1" -ef "$2" ]; then return; fi
    if [ -e "$copy" ]; then
        problem 'not copied, a file has the name of the copy' "$copy"
    elif cp -p "$1" "$copy"; then
        if [ "$#" -gt 2 ]; then touch -m -d "$3" "$copy" || status=1; fi
        if mv -f "$copy" "$1"; then count=$((count + 1)); else status=1; fi
    else
        rm -f "$copy"
        status=1
    fi
}

"#;

/// A script that grows by a line before each action, so that it also covers a run that fails or is
/// stopped. The first action creates it.
#[derive(Debug)]
pub struct UndoScript {
    folder: PathBuf,
    script: Option<(PathBuf, File)>,
}

impl UndoScript {
    /// A script in `folder`: the first unused name of `lookalike-undo.sh`, `lookalike-undo-2.sh`, …
    pub fn in_folder(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), script: None }
    }

    /// The file, if there was an action.
    pub fn into_path(self) -> Option<PathBuf> {
        self.script.map(|(path, _)| path)
    }

    /// Adds a folder that is about to be created. The script removes later folders first.
    pub(super) fn add_folder(&mut self, folder: &Path) -> io::Result<()> {
        let mut line = b"set -- ".to_vec();
        quoted(&mut line, folder)?;
        line.extend(b" \"$@\"");
        self.add(line)
    }

    /// Adds a file that is about to be moved.
    pub(super) fn add_move(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let mut line = b"moved ".to_vec();
        quoted(&mut line, to)?;
        line.push(b' ');
        quoted(&mut line, from)?;
        self.add(line)
    }

    /// Adds a file that is about to become a hard link. `modified` is its modification time in ns
    /// since 1970.
    pub(super) fn add_link(
        &mut self,
        path: &Path,
        keeper: &Path,
        modified: Option<u64>,
    ) -> io::Result<()> {
        let mut line = b"linked ".to_vec();
        quoted(&mut line, path)?;
        line.push(b' ');
        quoted(&mut line, keeper)?;
        if let Some(ns) = modified.and_then(|ns| i64::try_from(ns).ok()) {
            line.extend(format!(" {}", time::format(ns)).bytes());
        }
        self.add(line)
    }

    fn add(&mut self, mut line: Vec<u8>) -> io::Result<()> {
        line.push(b'\n');
        self.create()?.write_all(&line)
    }

    /// Creates the file, unless it exists.
    pub(super) fn create(&mut self) -> io::Result<&mut File> {
        let script = if let Some(script) = self.script.take() {
            script
        } else {
            let (path, mut file) = create(&self.folder)?;
            file.write_all(HEAD.as_bytes())?;
            (path, file)
        };
        Ok(&mut self.script.insert(script).1)
    }
}

/// Creates a new file. Keeps existing files, which contain the actions of other runs.
fn create(folder: &Path) -> io::Result<(PathBuf, File)> {
    fs::create_dir_all(folder)?;
    let mut name = "lookalike-undo.sh".to_owned();
    for number in 2_u64.. {
        let path = folder.join(&name);
        match File::create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return Ok((path, created?)),
        }
        name = format!("lookalike-undo-{number}.sh");
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
