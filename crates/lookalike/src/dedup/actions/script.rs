//! Writes a shell script that removes the duplicates, for the user to review and run.

use super::{DuplicateFile, DuplicateFiles};
use crate::report::{Output, OutputError};
use lookalike_core::params::Measure;
use std::io::{self, Write};
use std::path::Path;

/// The part before the files. `$1` is the duplicate, `$2` its size in bytes and `$3` the file of
/// the keeper, if the keeper is a file.
const HEAD: &str = r#"#!/bin/sh
# Files that `lookalike dedup` found to be duplicates. No file was changed.
# Read the list, delete the lines of files to keep, then run: sh THIS_FILE
#
# To move them instead of removing them, change the line that begins with `rm`, for example to
#     mv -i -- "$1" /some/folder/
set -u

duplicate() {
    if [ -L "$1" ] || [ ! -f "$1" ] || [ "$(wc -c < "$1")" -ne "$2" ]; then
        printf 'kept, because it changed: %s\n' "$1" >&2
    elif [ "$#" -gt 2 ] && [ ! -f "$3" ]; then
        printf 'kept, because its keeper is missing: %s\n' "$1" >&2
    else
        rm -- "$1"
    fi
}

"#;

/// Writes the script. The file appears only when it is complete. Paths are absolute, so that the
/// script can be run from any folder, and are quoted byte by byte.
///
/// # Errors
/// [`OutputError::Write`].
pub fn write_script(
    found: &DuplicateFiles,
    path: &Path,
    measure: Measure,
) -> Result<(), OutputError> {
    let output = Output::named(path)?;
    output.finish(|out| {
        out.write_all(HEAD.as_bytes())?;
        for file in &found.files {
            entry(out, file, measure)?;
        }
        for (file, why) in &found.refused {
            writeln!(out, "# not in the list: {}: {}", comment(file), comment(Path::new(why)))?;
        }
        Ok(())
    })
}

fn entry(out: &mut dyn Write, file: &DuplicateFile, measure: Measure) -> io::Result<()> {
    let DuplicateFile { path, keeper, keeper_path, similarity, reason, .. } = file;
    if let Err(why) = file.check() {
        return writeln!(out, "# not in the list: {}: {}", comment(path), comment(Path::new(&why)));
    }
    let keeper = comment(Path::new(keeper));
    writeln!(out, "# {measure} {similarity} with {keeper} ({})", comment(Path::new(reason)))?;
    out.write_all(b"duplicate ")?;
    quoted(out, path)?;
    write!(out, " {}", file.stamp.bytes)?;
    if let Some(keeper) = keeper_path {
        out.write_all(b" ")?;
        quoted(out, keeper)?;
    }
    out.write_all(b"\n\n")
}

/// Writes the absolute path in single quotes. Only a single quote ends quoted text, so only single
/// quotes are escaped.
pub(super) fn quoted(out: &mut dyn Write, path: &Path) -> io::Result<()> {
    let path = std::path::absolute(path)?;
    out.write_all(b"'")?;
    for (at, part) in path.as_os_str().as_encoded_bytes().split(|byte| *byte == b'\'').enumerate() {
        if at > 0 {
            out.write_all(br"'\''")?;
        }
        out.write_all(part)?;
    }
    out.write_all(b"'")
}

/// A text for a comment: one line, without control characters.
fn comment(text: &Path) -> String {
    let text = text.to_string_lossy();
    text.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect()
}
