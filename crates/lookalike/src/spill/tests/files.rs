//! Spill files: what threads append is there, and a full disk is an error.

use crate::error::Error;
use crate::spill::{BufferedAppend, SpillFile, Workspace};
use proptest::prelude::*;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

fn workspace() -> (tempfile::TempDir, Workspace) {
    let parent = tempfile::tempdir().unwrap();
    let workspace = Workspace::temporary(parent.path()).unwrap();
    (parent, workspace)
}

fn content(file: &SpillFile) -> Vec<u8> {
    let mut bytes = vec![0; file.len() as usize];
    file.read_at(&mut bytes, 0).unwrap();
    bytes
}

#[test]
fn threads_append_pieces_that_stay_whole() {
    let (_parent, workspace) = workspace();
    let file = workspace.create("pieces").unwrap();
    let pieces = |thread: u8| (0..300usize).map(move |n| vec![thread + 1; 1 + n % 37]);
    let mut places = Vec::new();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8u8)
            .map(|thread| {
                let file = &file;
                scope.spawn(move || {
                    // Half of them through a buffer.
                    let mut buffered = BufferedAppend::new(file, 100);
                    let mut places = Vec::new();
                    for piece in pieces(thread) {
                        places.push(if thread % 2 == 0 {
                            file.append(&piece).unwrap()
                        } else {
                            buffered.append(&piece).unwrap()
                        });
                    }
                    buffered.flush().unwrap();
                    places
                })
            })
            .collect();
        places.extend(threads.into_iter().map(|thread| thread.join().unwrap()));
    });
    let mut covered = vec![false; file.len() as usize];
    for (thread, places) in (0..).zip(places) {
        for (piece, place) in pieces(thread).zip(places) {
            let mut found = vec![0; piece.len()];
            file.read_at(&mut found, place).unwrap();
            assert_eq!(found, piece);
            for byte in &mut covered[place as usize..place as usize + piece.len()] {
                assert!(!std::mem::replace(byte, true), "two pieces at one place");
            }
        }
    }
}

proptest! {
    #[test]
    fn one_buffer_leaves_no_gaps(
        sizes in prop::collection::vec((0..40usize, any::<bool>()), 0..60),
        capacity in 0..30usize,
    ) {
        let (_parent, workspace) = workspace();
        let file = Arc::new(workspace.create("buffered").unwrap());
        let mut buffered = BufferedAppend::new(Arc::clone(&file), capacity);
        let mut expected = Vec::new();
        for (number, (size, flush)) in (1u8..).zip(sizes) {
            let piece = vec![number; size];
            prop_assert_eq!(buffered.append(&piece).unwrap(), expected.len() as u64);
            expected.extend(piece);
            if flush {
                buffered.flush().unwrap();
                prop_assert_eq!(file.len(), expected.len() as u64);
            }
        }
        buffered.flush().unwrap();
        prop_assert_eq!(content(&file), expected);
    }
}

#[test]
fn reading_past_the_end_is_an_error_that_names_the_file() {
    let (_parent, workspace) = workspace();
    let file = workspace.create("short").unwrap();
    file.append(b"abc").unwrap();
    let error = file.read_at(&mut [0; 4], 0).unwrap_err();
    assert!(matches!(&error, Error::Spill { path, .. } if path.ends_with("short")), "{error}");
    file.read_at(&mut [0; 3], 0).unwrap();
    file.read_at(&mut [], 3).unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error_with_its_remedy() {
    let full = Path::new("/dev/full");
    let open = || {
        let file = File::options().read(true).write(true).open(full).unwrap();
        SpillFile::new(file, full.to_owned(), 0, None)
    };
    let direct = open().append(b"x").unwrap_err();
    let file = open();
    let mut buffered = BufferedAppend::new(&file, 8);
    buffered.append(b"1234").unwrap();
    let filled = buffered.append(b"56789").unwrap_err();
    let file = open();
    let mut buffered = BufferedAppend::new(&file, 8);
    buffered.append(b"1234").unwrap();
    let flushed = buffered.flush().unwrap_err();
    for error in [direct, filled, flushed] {
        let message = error.to_string();
        assert!(message.contains("/dev/full"), "{message}");
        assert!(message.contains("disk is full: make room"), "{message}");
        assert!(message.contains("temp_dir") && message.contains("resume"), "{message}");
        assert!(std::error::Error::source(&error).is_some());
    }
}
