//! The scripts that undo `dedup --move-to` and `dedup --link`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests may stop at anything unexpected")]

use crate::command::{Place, words};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

/// File names that a shell splits or interprets unless they are quoted.
const NAMES: [&str; 9] = [
    "-rf",
    "--help",
    "a b",
    "it's",
    "new\nline; touch hacked",
    "end\n",
    "$(touch hacked)",
    "*",
    "\"`x`\\",
];

/// Returns the bytes, modification time and mode of every file below a folder, by path.
fn files(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime, u32)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let data = path.metadata().unwrap();
            let value = (fs::read(&path).unwrap(), data.modified().unwrap(), data.mode());
            found.insert(path, value);
        }
    }
    found
}

/// Returns a folder with copies of a text under odd names, each with another modification time.
fn odd_folder() -> Place {
    let place = Place::new();
    let text = words(1, 90);
    for (number, name) in NAMES.iter().enumerate() {
        for name in [format!("in/{name}"), format!("in/sub '{name}'/{name}")] {
            place.file(&name, &text);
            let nanoseconds = 123_456_789 + u32::try_from(number).unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000, nanoseconds);
            let file = File::options().write(true).open(place.path(&name)).unwrap();
            file.set_modified(time).unwrap();
        }
    }
    place.file("in/other", words(2, 90));
    place
}

/// Runs a script from its own folder.
fn sh(script: &Path) -> Output {
    let folder = script.parent().unwrap();
    Command::new("sh").arg(script).current_dir(folder).output().unwrap()
}

#[test]
fn moved_files_return_to_their_places() {
    let place = odd_folder();
    let before = files(&place.path("in"));
    let run = place.run(&["dedup", "in", "--move-to", "it's gone"]);
    assert!(run.err.contains("moved to it's gone: 17 files"), "{}", run.err);
    assert!(run.err.contains("\nundo: sh 'it'\\''s gone/lookalike-undo.sh'\n"), "{}", run.err);
    run.ok();
    assert_eq!(files(&place.path("in")).len(), 2);
    // The script creates a removed folder again.
    let folder = place.path("in/sub '*'");
    if fs::read_dir(&folder).unwrap().next().is_none() {
        fs::remove_dir(&folder).unwrap();
    }
    let script = place.path("it's gone/lookalike-undo.sh");
    for count in [17, 0] {
        let output = sh(&script);
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        let message = format!("moved back {count} files\n");
        assert_eq!(String::from_utf8_lossy(&output.stdout), message);
        assert_eq!(files(&place.path("in")), before);
    }
    let left: Vec<_> = fs::read_dir(place.path("it's gone")).unwrap().collect();
    assert_eq!(left.len(), 1, "the script itself: {left:?}");
}

#[test]
fn linked_files_become_files_again() {
    let place = odd_folder();
    let before = files(&place.path("in"));
    let inodes = |place: &Place| {
        let mut inodes: Vec<u64> =
            files(&place.path("in")).keys().map(|path| path.metadata().unwrap().ino()).collect();
        inodes.sort_unstable();
        inodes.dedup();
        inodes.len()
    };
    let run = place.run(&["dedup", "in", "--link", "hard"]);
    assert!(run.err.contains("linked: 17 files"), "{}", run.err);
    assert!(run.err.contains("\nundo: sh lookalike-undo.sh\n"), "{}", run.err);
    run.ok();
    assert_eq!(inodes(&place), 2);
    let output = sh(&place.path("lookalike-undo.sh"));
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "restored 17 files\n");
    assert_eq!(files(&place.path("in")), before);
    assert_eq!(inodes(&place), 19);
}

#[test]
fn partial_failures_can_be_undone() {
    let place = Place::new();
    place.file("in/a", words(1, 90)).file("in/b", words(1, 90)).file("in/c", words(1, 90));
    place.file("gone/b", "precious");
    let before = files(&place.path("in"));
    let run = place.run(&["dedup", "in", "--move-to", "gone"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.err.contains("moved to gone: 1 file"), "{}", run.err);
    assert!(run.err.contains("\nundo: sh gone/lookalike-undo.sh\n"), "{}", run.err);
    let script = place.path("gone/lookalike-undo.sh");
    assert!(sh(&script).status.success());
    assert_eq!(files(&place.path("in")), before);
    assert_eq!(place.read("gone/b"), "precious");
    // The script keeps an earlier script, and a new file with the old name of a moved one.
    fs::remove_file(place.path("gone/b")).unwrap();
    let script = fs::read(script).unwrap();
    let run = place.run(&["dedup", "in", "--move-to", "gone"]);
    assert!(run.err.contains("\nundo: sh gone/lookalike-undo-2.sh\n"), "{}", run.err);
    assert_eq!(fs::read(place.path("gone/lookalike-undo.sh")).unwrap(), script);
    place.file("in/c", "new");
    let output = sh(&place.path("gone/lookalike-undo-2.sh"));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("a file has its name: /"));
    assert_eq!((place.read("in/b"), place.read("in/c")), (words(1, 90), "new".to_owned()));
}

#[test]
fn dry_runs_write_no_script() {
    let place = odd_folder();
    for action in [["--move-to", "gone"], ["--link", "hard"]] {
        let run = place.run(&["dedup", "in", action[0], action[1], "--dry-run"]);
        assert!(!run.err.contains("undo:"), "{}", run.err);
        run.ok();
    }
    assert!(!place.path("gone").exists() && !place.path("lookalike-undo.sh").exists());
}

#[test]
fn folders_of_the_user_stay() {
    let place = Place::new();
    place.file("in/sub/a", words(1, 90)).file("in/sub/b", words(1, 90));
    fs::create_dir_all(place.path("gone/sub")).unwrap();
    let run = place.run(&["dedup", "in", "--move-to", "gone"]);
    assert!(run.err.contains("moved to gone: 1 file"), "{}", run.err);
    let output = sh(&place.path("gone/lookalike-undo.sh"));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "moved back 1 file\n");
    assert!(place.path("gone/sub").is_dir());
}

#[test]
fn moving_nothing_creates_no_folder() {
    let place = Place::new();
    place.file("in/a", words(1, 90)).file("in/b", words(2, 90));
    let run = place.run(&["dedup", "in", "--move-to", "gone"]);
    assert!(run.err.contains("no file moved\n") && !run.err.contains("gone"), "{}", run.err);
    assert!(!place.path("gone").exists());
}
