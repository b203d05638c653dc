//! Ids of files as paths that can be opened from the current folder.

use lookalike::find::Keeper;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// The folders that ids are relative to. In a run of one folder, the ids of files are their paths
/// below this folder, so that ids do not depend on the current folder. The ids of a single
/// reference folder are relative to that folder.
#[derive(Debug, Clone, Default)]
pub(crate) struct PrintedPaths {
    input: Option<PathBuf>,
    reference: Option<PathBuf>,
}

impl PrintedPaths {
    /// Paths of a run that reads these inputs and references.
    pub(crate) fn new(inputs: &[PathBuf], reference: &[PathBuf]) -> Self {
        let [input, reference] = [inputs, reference].map(|side| {
            let [folder] = side else { return None };
            let folder = folder.is_dir().then(|| folder.strip_prefix(".").unwrap_or(folder))?;
            (!folder.as_os_str().is_empty()).then(|| folder.to_owned())
        });
        Self { input, reference }
    }

    /// The path of a document of the input, if its id is the path of a file, or of a member of one.
    /// Any other id is returned unchanged.
    pub(crate) fn of_id<'a>(&self, id: &'a str) -> Cow<'a, str> {
        path_within(self.input.as_deref(), id)
    }

    /// Like [`of_id`](Self::of_id), for a keeper, which may belong to the reference.
    pub(crate) fn of_keeper<'a>(&self, keeper: &'a Keeper) -> Cow<'a, str> {
        let folder = if keeper.reference { &self.reference } else { &self.input };
        path_within(folder.as_deref(), &keeper.id)
    }
}

fn path_within<'a>(folder: Option<&Path>, id: &'a str) -> Cow<'a, str> {
    let Some(folder) = folder else { return Cow::Borrowed(id) };
    let path = folder.join(id);
    let mut within = path.ancestors().take_while(|path| *path != folder);
    match path.to_str() {
        Some(path) if within.any(Path::is_file) => Cow::Owned(path.to_owned()),
        _ => Cow::Borrowed(id),
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
        let paths = PrintedPaths::new(std::slice::from_ref(&folder), &[]);
        for (id, is_path) in
            [("sub/a.zip", true), ("sub/a.zip/b", true), ("sub", false), ("x", false)]
        {
            let expected = if is_path { folder.join(id) } else { PathBuf::from(id) };
            assert_eq!(Path::new(&*paths.of_id(id)), expected);
        }
        let several = PrintedPaths::new(&[folder.clone(), folder.join("sub")], &[]);
        assert_eq!(several.of_id("sub/a.zip"), "sub/a.zip");
    }
}
