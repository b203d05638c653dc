//! Ids of files as paths that can be opened from the current folder.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// The folder that ids are relative to. A run of one folder calls its files by their paths below
/// it, so that ids do not depend on the current folder.
#[derive(Debug, Clone, Default)]
pub(crate) struct PrintedPaths {
    folder: Option<PathBuf>,
}

impl PrintedPaths {
    /// Paths of a run that reads these inputs.
    pub(crate) fn of_inputs(inputs: &[PathBuf]) -> Self {
        let folder = match inputs {
            [folder] if folder.is_dir() => Some(folder.strip_prefix(".").unwrap_or(folder)),
            _ => None,
        };
        Self { folder: folder.filter(|path| !path.as_os_str().is_empty()).map(Path::to_owned) }
    }

    /// The path of a document, if its id is the path of a file, or of a member of one. Any other id
    /// is returned unchanged.
    pub(crate) fn of_id<'a>(&self, id: &'a str) -> Cow<'a, str> {
        let Some(folder) = &self.folder else { return Cow::Borrowed(id) };
        let path = folder.join(id);
        let mut within = path.ancestors().take_while(|path| *path != folder.as_path());
        match path.to_str() {
            Some(path) if within.any(Path::is_file) => Cow::Owned(path.to_owned()),
            _ => Cow::Borrowed(id),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests may stop at anything unexpected")]

    use super::*;

    #[test]
    fn ids_of_files_become_paths() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("in");
        std::fs::create_dir_all(folder.join("sub")).unwrap();
        std::fs::write(folder.join("sub/a.zip"), "").unwrap();
        let paths = PrintedPaths::of_inputs(std::slice::from_ref(&folder));
        for (id, is_path) in
            [("sub/a.zip", true), ("sub/a.zip/b", true), ("sub", false), ("x", false)]
        {
            let expected = if is_path { folder.join(id) } else { PathBuf::from(id) };
            assert_eq!(Path::new(&*paths.of_id(id)), expected);
        }
        let several = PrintedPaths::of_inputs(&[folder.clone(), folder.join("sub")]);
        assert_eq!(several.of_id("sub/a.zip"), "sub/a.zip");
    }
}
