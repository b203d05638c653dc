//! The files that an earlier input has reached, under any name.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Files of one side, by their canonical paths: `d/a.txt`, `./d//a.txt` and a symbolic link to them
/// are the same file. Hard links to one file count as different files.
#[derive(Debug, Default)]
pub(crate) struct ReachedFiles {
    /// Whether a file can be reached twice at all.
    is_tracking: bool,
    paths: HashSet<PathBuf>,
    /// The last resolved folder, and its path without links.
    folder: Option<(PathBuf, PathBuf)>,
}

impl ReachedFiles {
    /// Creates an empty set. `is_tracking` is false if each file is reached only once: for a single
    /// input in which links are not followed.
    pub(crate) fn new(is_tracking: bool) -> Self {
        Self { is_tracking, ..Self::default() }
    }

    /// Returns true if the file was not reached before, and stores it. `is_link` states whether the
    /// last part of the path is a symbolic link; `None` looks it up in the file system.
    pub(crate) fn is_new(&mut self, path: &Path, is_link: Option<bool>) -> bool {
        if !self.is_tracking {
            return true;
        }
        // A path that the system cannot resolve is reported when the file is read.
        self.canonical(path, is_link).is_none_or(|real| self.paths.insert(real))
    }

    /// Returns true if the file was reached before. `is_link` is as for [`is_new`](Self::is_new).
    pub(crate) fn contains(&mut self, path: &Path, is_link: Option<bool>) -> bool {
        !self.paths.is_empty()
            && self.canonical(path, is_link).is_some_and(|real| self.paths.contains(&real))
    }

    fn canonical(&mut self, path: &Path, is_link: Option<bool>) -> Option<PathBuf> {
        let is_link = is_link.unwrap_or_else(|| {
            fs::symlink_metadata(path).map_or(true, |metadata| metadata.is_symlink())
        });
        if is_link { path.canonicalize().ok() } else { self.real(path) }
    }

    /// Resolves the links in the path of a file that is not a link itself. Files of a folder are
    /// consecutive, so the folder is resolved only once.
    fn real(&mut self, path: &Path) -> Option<PathBuf> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return path.canonicalize().ok();
        };
        let is_known = self.folder.as_ref().is_some_and(|(folder, _)| folder == parent);
        if !is_known {
            let named = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            self.folder = Some((parent.to_owned(), named.canonicalize().ok()?));
        }
        self.folder.as_ref().map(|(_, real)| real.join(name))
    }
}
