//! Which files were reached by an earlier input, whatever they were called.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Files of one side, by their canonical paths: `d/a.txt`, `./d//a.txt` and a symbolic link to it
/// are one file. Two names of one file (hard links) are two.
#[derive(Debug, Default)]
pub(crate) struct ReachedFiles {
    /// Whether a file can be reached twice at all.
    is_tracking: bool,
    paths: HashSet<PathBuf>,
    /// The last folder that was resolved, and its path without links.
    folder: Option<(PathBuf, PathBuf)>,
}

impl ReachedFiles {
    /// No files yet. `is_tracking` is false where each file is reached once: one input in which no
    /// link is followed.
    pub(crate) fn new(is_tracking: bool) -> Self {
        Self { is_tracking, ..Self::default() }
    }

    /// Returns whether the file was not reached before, and remembers it. `is_link` tells whether
    /// the last part of the path is a symbolic link; if it is `None`, the file system tells.
    pub(crate) fn is_new(&mut self, path: &Path, is_link: Option<bool>) -> bool {
        if !self.is_tracking {
            return true;
        }
        let is_link = is_link.unwrap_or_else(|| {
            fs::symlink_metadata(path).map_or(true, |metadata| metadata.is_symlink())
        });
        let real = if is_link { path.canonicalize().ok() } else { self.real(path) };
        // A path that the system does not resolve is reported when the file is read.
        real.is_none_or(|real| self.paths.insert(real))
    }

    /// The path without links of a file that is none. Files of a folder come one after the other,
    /// so that the folder is resolved once.
    fn real(&mut self, path: &Path) -> Option<PathBuf> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return path.canonicalize().ok();
        };
        let known = self.folder.as_ref().is_some_and(|(folder, _)| folder == parent);
        if !known {
            let named = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            self.folder = Some((parent.to_owned(), named.canonicalize().ok()?));
        }
        self.folder.as_ref().map(|(_, real)| real.join(name))
    }
}
