//! Moves duplicate files with the library: files that change after the run began, and a folder on
//! another file system.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test")]

use lookalike::core::params::{Params, ParamsBuilder};
use lookalike::dedup::actions::{ActionCounts, DuplicateFiles, move_to};
use lookalike::dedup::find_files;
use lookalike::find::{self, FindOptions};
use lookalike::progress::NoProgress;
use lookalike::read::{Collection, ReadOptions};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Modification time of the files, in Unix time.
const MODIFIED: Duration = Duration::from_secs(1_000_000_000);

const TEXT: &str = "these are the words of a text that two files of the folder have in common";

/// Finds the duplicate in a folder `in` with two files of the same text.
fn duplicate(folder: &Path) -> (DuplicateFiles, [PathBuf; 1]) {
    let inputs = [folder.join("in")];
    fs::create_dir(&inputs[0]).unwrap();
    for name in ["a.txt", "b.txt"] {
        let mut file = fs::File::create(inputs[0].join(name)).unwrap();
        file.write_all(TEXT.as_bytes()).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + MODIFIED).unwrap();
    }
    let collection = Collection::open(&inputs, &ReadOptions::default()).unwrap();
    let options = FindOptions::new(Params::new(&ParamsBuilder::default()).unwrap());
    let findings = find::in_collection(&collection, &options, &NoProgress).unwrap();
    let found = find_files(&findings, &collection, &options, None, &NoProgress).unwrap();
    assert_eq!(found.files.len(), 1);
    assert_eq!(found.files[0].path, inputs[0].join("b.txt"));
    (found, inputs)
}

fn moved(found: &DuplicateFiles, inputs: &[PathBuf], to: &Path) -> ActionCounts {
    move_to(found, to, inputs, &[], false, None).unwrap()
}

#[test]
fn changed_files_are_not_moved() {
    for changed in ["a.txt", "b.txt"] {
        let folder = tempfile::tempdir().unwrap();
        let (found, inputs) = duplicate(folder.path());
        fs::write(inputs[0].join(changed), "another text, and longer or shorter").unwrap();
        let acted = moved(&found, &inputs, &folder.path().join("moved"));
        assert_eq!((acted.done, acted.failed.len()), (0, 1), "{changed}");
        let (path, why) = &acted.failed[0];
        assert_eq!(path, &inputs[0].join("b.txt"));
        assert!(why.contains("it changed while it was compared"), "{why}");
        assert!(path.exists());
    }
}

#[cfg(unix)]
#[test]
fn linked_files_are_not_moved() {
    let folder = tempfile::tempdir().unwrap();
    let (found, inputs) = duplicate(folder.path());
    let path = &found.files[0].path;
    fs::remove_file(path).unwrap();
    std::os::unix::fs::symlink("a.txt", path).unwrap();
    let acted = moved(&found, &inputs, &folder.path().join("moved"));
    assert_eq!((acted.done, acted.failed.len()), (0, 1));
    assert!(acted.failed[0].1.contains("it is a link"), "{}", acted.failed[0].1);
}

#[cfg(target_os = "linux")]
#[test]
fn cross_device_moves_keep_the_time() {
    use std::os::unix::fs::MetadataExt;
    let folder = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir_in("/dev/shm").ok();
    let device = |path: &Path| path.metadata().unwrap().dev();
    let Some(other) = other.filter(|other| device(other.path()) != device(folder.path())) else {
        lookalike_test_support::print_skipped("there is no second file system at /dev/shm");
        return;
    };
    let (found, inputs) = duplicate(folder.path());
    let path = &found.files[0].path;
    let permissions = path.metadata().unwrap().permissions();
    let to = other.path().join("moved");
    let acted = moved(&found, &inputs, &to);
    assert_eq!((acted.done, acted.bytes), (1, TEXT.len() as u64), "{:?}", acted.failed);
    assert!(!path.exists());
    let data = to.join("b.txt").metadata().unwrap();
    assert_eq!(data.modified().unwrap(), SystemTime::UNIX_EPOCH + MODIFIED);
    assert_eq!(data.permissions(), permissions);
    assert_eq!(fs::read_to_string(to.join("b.txt")).unwrap(), TEXT);
    let names: Vec<_> = fs::read_dir(&to).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names, ["b.txt"]);
}
