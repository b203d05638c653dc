//! Temporary files contain the appended data of all threads, and a full disk is an error.

use crate::read::Spool;
use crate::spill::TempSpace;
use crate::spill::error::SpillError;
use crate::spill::file::SpillFile;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

fn space() -> (tempfile::TempDir, TempSpace) {
    let parent = tempfile::tempdir().unwrap();
    let space = TempSpace::new(parent.path().to_owned());
    (parent, space)
}

#[test]
fn concurrent_appends_stay_whole() {
    let (_parent, space) = space();
    let file = space.open("pieces", 0).unwrap();
    let pieces = |thread: u8| (0..300usize).map(move |n| vec![thread + 1; 1 + n % 37]);
    let mut places = Vec::new();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8u8)
            .map(|thread| {
                let file = &file;
                scope.spawn(move || {
                    let append = |piece: Vec<u8>| file.append(&piece).unwrap();
                    pieces(thread).map(append).collect::<Vec<_>>()
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

#[test]
fn buffered_writes_leave_no_gaps() {
    let (_parent, space) = space();
    let file = space.scratch("buffered").unwrap();
    let mut expected = Vec::new();
    for capacity in [1, 7, 30, 1000] {
        let mut out = BufWriter::with_capacity(capacity, &file);
        for size in 0..40u8 {
            let piece = vec![size; size.into()];
            out.write_all(&piece).unwrap();
            expected.extend(piece);
        }
        out.flush().unwrap();
        assert_eq!(file.len(), expected.len() as u64);
    }
    let mut found = vec![0; expected.len()];
    file.read_at(&mut found, 0).unwrap();
    assert_eq!(found, expected);
}

#[test]
fn reading_past_end_names_the_file() {
    let (_parent, space) = space();
    let file = space.open("short", 0).unwrap();
    file.append(b"abc").unwrap();
    let error = file.read_at(&mut [0; 4], 0).unwrap_err();
    assert!(matches!(&error, SpillError::Io { path, .. } if path.ends_with("short")), "{error}");
    file.read_at(&mut [0; 3], 0).unwrap();
    file.read_at(&mut [], 3).unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn full_disk_errors_include_the_remedy() {
    let full = Path::new("/dev/full");
    let open = || {
        let file = File::options().read(true).write(true).open(full).unwrap();
        SpillFile::new(Spool::new(file, full.to_owned()).unwrap(), None)
    };
    let direct = open().append(b"x").unwrap_err();
    let file = open();
    let mut out = BufWriter::with_capacity(8, &file);
    out.write_all(b"1234").unwrap();
    let filled = file.error(out.write_all(b"56789").unwrap_err());
    drop(out);
    let mut out = BufWriter::with_capacity(8, &file);
    out.write_all(b"1234").unwrap();
    let flushed = file.error(out.flush().unwrap_err());
    for error in [direct, filled, flushed] {
        let message = error.to_string();
        assert!(message.contains("/dev/full"), "{message}");
        assert!(message.contains("disk is full: make room"), "{message}");
        assert!(message.contains("temp_dir") && message.contains("resume"), "{message}");
        assert!(std::error::Error::source(&error).is_some());
    }
}
