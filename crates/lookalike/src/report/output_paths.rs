//! Checks the names of outputs and inputs, so that no output overwrites a document or another
//! output.

use super::own_outputs;
use std::fmt;
use std::path::{Path, PathBuf};

/// A name that an output must not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenPlace {
    /// The name as the user wrote it.
    pub path: PathBuf,
    /// The user of the name.
    pub by: PathUser,
}

/// The user of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathUser {
    /// Another output.
    Output,
    /// An output folder, which is created as a whole.
    OutputFolder(PathBuf),
    /// An input.
    Input,
    /// A file in an input folder that was not written by a run.
    InputFolder(PathBuf),
}

impl fmt::Display for TakenPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.by {
            PathUser::Output => {
                write!(f, "{path} is named for two outputs; use a separate file for each")
            }
            PathUser::OutputFolder(folder) => {
                write!(f, "{path} lies in the output {}; write next to it", folder.display())
            }
            PathUser::Input => {
                write!(f, "{path} is an input; write to another file, inputs are never changed")
            }
            PathUser::InputFolder(folder) => write!(
                f,
                "{path} is an input: it lies in {}, and no run wrote it; write to another file, \
                 inputs are never changed",
                folder.display()
            ),
        }
    }
}

impl std::error::Error for TakenPlace {}

/// Checks whether all `files` (tables, lists and reports) and `survivors` may be written. A file in
/// an input folder may be overwritten only if an earlier run wrote it as a file of these kinds.
/// Other rules apply to survivors in an input folder.
///
/// # Errors
/// [`TakenPlace`] for the first path that must not be written.
pub fn check_places<'a>(
    files: impl IntoIterator<Item = &'a Path>,
    survivors: Option<&'a Path>,
    inputs: &[PathBuf],
    reference: &[PathBuf],
) -> Result<(), TakenPlace> {
    let inputs: Vec<(&PathBuf, PathBuf)> = inputs
        .iter()
        .chain(reference)
        .filter(|input| *input != Path::new("-"))
        .map(|input| (input, same_name(input)))
        .collect();
    let mut places: Vec<PathBuf> = Vec::new();
    let files = files.into_iter().map(|path| (path, true));
    for (path, is_file) in files.chain(survivors.map(|path| (path, false))) {
        let place = same_name(path);
        let refused = |by| Err(TakenPlace { path: path.to_owned(), by });
        if places.contains(&place) {
            return refused(PathUser::Output);
        }
        if inputs.iter().any(|(_, input)| *input == place) {
            return refused(PathUser::Input);
        }
        let folder = inputs.iter().find(|(_, input)| place.starts_with(input));
        if let (true, Some((folder, _))) = (is_file, folder)
            && place.is_file()
            && !own_outputs::is_output(&place)
        {
            return refused(PathUser::InputFolder((*folder).clone()));
        }
        if let (false, Some(inside)) = (is_file, places.iter().find(|f| f.starts_with(&place))) {
            let by = PathUser::OutputFolder(path.to_owned());
            return Err(TakenPlace { path: inside.clone(), by });
        }
        places.push(place);
    }
    Ok(())
}

/// Returns a unique spelling of a path.
fn same_name(path: &Path) -> PathBuf {
    if let Ok(found) = path.canonicalize() {
        return found;
    }
    // The file does not exist, but its folder may, and the folder can have several spellings.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize();
    match (folder, path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests may stop at anything unexpected")]

    use super::*;

    fn taker(path: &Path, survivors: Option<&Path>, inputs: &[PathBuf]) -> Option<PathUser> {
        check_places([path], survivors, inputs, &[]).err().map(|place| place.by)
    }

    #[test]
    fn input_documents_are_not_overwritten() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("in");
        std::fs::create_dir(&folder).unwrap();
        let corpus = folder.join("a.jsonl");
        let new = folder.join("groups.jsonl");
        std::fs::write(&corpus, "{\"id\":\"a\",\"text\":\"b\"}\n").unwrap();
        let inputs = [folder.clone()];
        let by_folder = Some(PathUser::InputFolder(folder.clone()));
        assert_eq!(taker(&corpus, None, &inputs), by_folder);
        assert_eq!(taker(&folder, None, &inputs), Some(PathUser::Input));
        assert_eq!(taker(&new, None, &inputs), None);
        let link = temp.path().join("link.jsonl");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&corpus, &link).unwrap();
            assert_eq!(taker(&link, None, &inputs), by_folder);
        }
        let earlier = "{\"group\":1,\"keeper\":\"a\",\"size\":2,\"duplicates\":[]}\n";
        std::fs::write(&new, earlier).unwrap();
        assert_eq!(taker(&new, None, &inputs), None);
    }

    #[test]
    fn outputs_cannot_share_a_path() {
        let temp = tempfile::tempdir().unwrap();
        let (out, list) = (temp.path().join("out"), temp.path().join("out/gone.csv"));
        let by_folder = |place: &Path| Some(PathUser::OutputFolder(place.to_owned()));
        std::fs::create_dir(&out).unwrap();
        assert_eq!(taker(&list, Some(&out), &[]), by_folder(&out));
        assert_eq!(taker(&out, Some(&out), &[]), Some(PathUser::Output));
        let spelled = temp.path().join("out/../x.csv");
        let both = [temp.path().join("x.csv"), spelled];
        let both = both.iter().map(PathBuf::as_path);
        assert_eq!(check_places(both, None, &[], &[]).unwrap_err().by, PathUser::Output);
    }
}
