//! A journal returns all complete lines, wherever its end was truncated.

use crate::spill::error::SpillError;
use crate::spill::{Journal, TempSpace};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fs;
use std::path::Path;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Step {
    Read { blocks: u64, files: Vec<String> },
    Sorted(u64),
}

fn steps() -> Vec<Step> {
    vec![
        Step::Read { blocks: 7, files: vec!["a\nb".into(), "ü".into()] },
        Step::Sorted(12),
        Step::Read { blocks: 8, files: Vec::new() },
    ]
}

fn open(parent: &Path) -> Result<(Journal<Step>, Vec<Step>), SpillError> {
    Journal::open(&TempSpace::resumable(parent, "j", &json!({}))?, "journal")
}

/// Writes a journal of [`steps`]. Returns its folder, its file, and the content of the file.
fn written() -> (tempfile::TempDir, std::path::PathBuf, Vec<u8>) {
    let parent = tempfile::tempdir().unwrap();
    let (journal, found) = open(parent.path()).unwrap();
    assert_eq!(found, []);
    for step in steps() {
        journal.append(&step).unwrap();
    }
    let path = parent.path().join("lookalike-j.run/journal");
    let bytes = fs::read(&path).unwrap();
    (parent, path, bytes)
}

/// Returns the position after each line.
fn ends(bytes: &[u8]) -> Vec<usize> {
    let ends: Vec<usize> = (1..=bytes.len()).filter(|&end| bytes[end - 1] == b'\n').collect();
    assert_eq!(ends.len(), 3, "one line per step");
    ends
}

#[test]
fn torn_journal_ends_are_truncated() {
    let (parent, path, bytes) = written();
    let ends = ends(&bytes);
    for torn in 0..=bytes.len() {
        let complete = ends.iter().filter(|&&end| end <= torn).count();
        // Without and with trailing zeros, which a system may append.
        for zeros in [0, 5] {
            let mut content = bytes[..torn].to_vec();
            content.resize(torn + zeros, 0);
            fs::write(&path, content).unwrap();
            let (journal, found) = open(parent.path()).unwrap();
            assert_eq!(found, steps()[..complete], "{torn} bytes, {zeros} zeros");
            journal.append(&Step::Sorted(99)).unwrap();
            drop(journal);
            let (_, found) = open(parent.path()).unwrap();
            assert_eq!(found[..complete], steps()[..complete]);
            assert_eq!(found[complete..], [Step::Sorted(99)]);
        }
    }
}

#[test]
fn corrupted_last_line_is_truncated() {
    let (parent, path, bytes) = written();
    let before = ends(&bytes)[1];
    for at in before..bytes.len() {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            fs::write(&path, flipped).unwrap();
            assert_eq!(open(parent.path()).unwrap().1, steps()[..2], "byte {at}, bit {bit}");
            assert_eq!(fs::read(&path).unwrap(), bytes[..before]);
        }
    }
}

#[test]
fn corrupted_earlier_lines_are_errors() {
    let (parent, path, bytes) = written();
    // Without the end of the second line, that line would merge with the last one.
    for at in 0..ends(&bytes)[1] - 1 {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            fs::write(&path, &flipped).unwrap();
            let error = open(parent.path()).unwrap_err();
            assert!(matches!(error, SpillError::Damaged { .. }), "byte {at}, bit {bit}: {error}");
            let message = error.to_string();
            assert!(message.contains(&*path.to_string_lossy()), "{message}");
            assert!(message.contains("remove the folder"), "{message}");
            assert_eq!(fs::read(&path).unwrap(), flipped, "nothing is changed");
        }
    }
}

#[test]
fn foreign_journal_steps_are_errors() {
    let (parent, ..) = written();
    let temp = TempSpace::resumable(parent.path(), "j", &json!({})).unwrap();
    let error = Journal::<u64>::open(&temp, "journal").unwrap_err();
    assert!(error.to_string().contains("line 1 is not a step"), "{error}");
}

#[test]
fn threads_append_whole_lines() {
    let parent = tempfile::tempdir().unwrap();
    let (journal, _) = open(parent.path()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let journal = &journal;
            scope.spawn(move || {
                (0..5).for_each(|n| journal.append(&Step::Sorted(thread * 5 + n)).unwrap());
            });
        }
    });
    drop(journal);
    let mut found = open(parent.path()).unwrap().1;
    found.sort_by_key(|step| match step {
        Step::Sorted(n) => *n,
        Step::Read { .. } => u64::MAX,
    });
    assert_eq!(found, (0..20).map(Step::Sorted).collect::<Vec<_>>());
}

#[test]
fn unresumable_runs_write_no_journal() {
    let parent = tempfile::tempdir().unwrap();
    let temp = TempSpace::new(parent.path().to_owned());
    let (journal, found) = Journal::open(&temp, "journal").unwrap();
    assert!(found.is_empty() && !journal.is_active());
    journal.append(&Step::Sorted(1)).unwrap();
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
}
