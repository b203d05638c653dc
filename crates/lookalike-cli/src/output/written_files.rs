//! The lines of a summary that name written files.

use lookalike::report::phrases::one_line;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The output files of a command that existed before it.
#[derive(Debug, Default)]
pub(crate) struct WrittenFiles {
    /// Files that the command replaces.
    existing: Vec<PathBuf>,
    /// Folders that it reads, with their absolute paths.
    folders: Vec<(PathBuf, PathBuf)>,
}

impl WrittenFiles {
    /// Looks at `files` before a command that reads `inputs` writes them.
    pub(crate) fn new<'a>(files: impl Iterator<Item = &'a Path>, inputs: &[PathBuf]) -> Self {
        let existing = files.filter(|path| path.is_file()).map(Path::to_owned).collect();
        let folders = inputs.iter().filter(|input| input.is_dir());
        let folders = folders.filter_map(|path| Some((path.clone(), path.canonicalize().ok()?)));
        Self { existing, folders: folders.collect() }
    }

    /// A note after the name of a file that the command replaces.
    pub(crate) fn replaced(&self, path: &Path) -> &'static str {
        if self.existing.iter().any(|existing| existing == path) { " (replaced)" } else { "" }
    }

    /// Writes the line about a file, and a note if the file is in an input.
    pub(crate) fn line(&self, out: &mut impl Write, kind: &str, path: &Path) -> io::Result<()> {
        let name = path.to_string_lossy();
        let name = one_line(&name);
        writeln!(out, "{kind}: {name}{}", self.replaced(path))?;
        let Ok(absolute) = path.canonicalize() else { return Ok(()) };
        match self.folders.iter().find(|(_, folder)| absolute.starts_with(folder)) {
            Some((input, _)) => writeln!(
                out,
                "  it is in the input {}: other runs read it as a document; choose another folder",
                one_line(&input.to_string_lossy())
            ),
            None => Ok(()),
        }
    }
}
