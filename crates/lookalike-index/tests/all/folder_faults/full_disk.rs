//! On a full disk, documents can be removed and the index can be compacted.

use super::{Disk, TINY, WRITE, open};
use crate::conformance::documents::{Document, Maker, settings};
use crate::conformance::{assert_clean, now};
use lookalike_index::IndexError;
use lookalike_index::backend::Change;
use lookalike_index::folder;
use lookalike_index::settings::StoredContent;
use std::io::Write as _;

/// Fills the disk.
fn fill(path: &std::path::Path) {
    let mut file = std::fs::File::create(path).unwrap();
    for size in [1 << 16, 1 << 12, 1] {
        while file.write_all(&vec![7; size]).is_ok() {}
    }
}

#[test]
fn full_disk_allows_removal_and_compaction() {
    let temp = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::of(temp.path(), "size=16m") else { return };
    let folder = disk.0.join("index");
    let settings = settings(StoredContent::Texts);
    let backend = folder::create_with(&folder, &settings, TINY).unwrap();
    let mut maker = Maker::new(&settings, 7);
    let mut stored = 0;
    let error = loop {
        let mut documents: Vec<Document> =
            (stored..stored + 25).map(|i| maker.document(&format!("d{i}"), i)).collect();
        for document in &mut documents {
            // Random texts, which compression does not shrink much.
            let words = (0..300).map(|_| format!("{:x} ", maker.below(u64::MAX)));
            document.text = words.collect();
            document.expires = None;
        }
        match backend.write(&documents.iter().map(Document::add).collect::<Vec<_>>()) {
            Ok(_) => stored += 25,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, IndexError::DiskFull { .. }), "{error}");
    drop(backend);
    fill(&disk.0.join("filler"));
    // SQLite has no space for its own files when this process opens the index.
    let backend = open(&folder, WRITE).unwrap();
    for i in 0..stored / 2 {
        backend.write(&[Change::Remove(&format!("d{i}"))]).unwrap();
    }
    let length = || std::fs::metadata(folder.join("catalog.sqlite")).unwrap().len();
    let before = length();
    backend.compact(-1).unwrap();
    assert!(length() < before * 3 / 4, "{before} bytes, then {}", length());
    assert_eq!(now(&*backend).len() as u64, stored - stored / 2);
    assert_clean(&*backend);
    assert!(std::fs::metadata(folder.join("reserve")).unwrap().len() >= 1 << 20);
    backend.write(&[maker.document("one more", 1).add()]).unwrap();
}
