//! Duplicates in the catalogue, and damage that readers and `check` name.

use super::{WRITE, filled, open};
use crate::conformance::{assert_clean, duplicates};
use lookalike_index::duplicate_table::DuplicateEntry;
use lookalike_index::entry::DocumentNumber;
use lookalike_index::error::IndexError;
use lookalike_index::index::Access;

#[test]
fn an_open_reader_sees_duplicates() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("index");
    let keeper = filled(&folder).1.last().unwrap().id.clone();
    let (writer, reader) = (open(&folder, WRITE).unwrap(), open(&folder, Access::Read).unwrap());
    assert_eq!(writer.add_duplicates(&[]).unwrap(), 0);
    let entries = [DuplicateEntry { id: "copy", keeper: &keeper }];
    assert_eq!(writer.add_duplicates(&entries).unwrap(), 1);
    assert_eq!(duplicates(&*reader), [(keeper.clone(), vec!["copy".to_owned()])]);
    writer.add_decisions(&["{}"], None).unwrap();
    writer.replace_categories(b"model", DocumentNumber(0), &[]).unwrap();
    drop((writer, reader));
    let reopened = open(&folder, WRITE).unwrap();
    assert_eq!(duplicates(&*reopened).len(), 1);
    assert_clean(&*reopened);
    let versions = reopened.snapshot().unwrap().versions("a");
    assert!(matches!(versions, Err(IndexError::NoOriginals { .. })));
}

#[test]
fn damage_of_duplicates_is_named() {
    let damages = [
        ("UPDATE duplicates SET id = 'other'", "the checksum of its row is wrong", false),
        ("UPDATE duplicates SET id_key = 7", "the checksum of its row is wrong", false),
        (
            "UPDATE duplicates SET keeper = 4000000",
            "1 rows have a keeper that does not exist",
            true,
        ),
    ];
    for (sql, expected, repairable) in damages {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("index");
        let keeper = filled(&folder).1.last().unwrap().id.clone();
        let backend = open(&folder, WRITE).unwrap();
        backend.add_duplicates(&[DuplicateEntry { id: "copy", keeper: &keeper }]).unwrap();
        let catalogue = rusqlite::Connection::open(folder.join("catalog.sqlite")).unwrap();
        assert_eq!(catalogue.execute(sql, []).unwrap(), 1);
        drop(catalogue);
        let problems = backend.check().unwrap();
        let named = problems.iter().any(|one| {
            (one.place == "duplicates")
                && one.what.contains(expected)
                && one.repairable == repairable
        });
        assert!(named, "{sql}: {problems:?}");
        let mut snapshot = backend.snapshot().unwrap();
        let numbers: Vec<DocumentNumber> = (1..=400).map(DocumentNumber).collect();
        let read = snapshot.duplicates(&numbers, &mut |_, _| Ok(()));
        assert_eq!(matches!(read, Err(IndexError::Damaged { .. })), !repairable, "{sql}");
        drop(snapshot);
        backend.repair().unwrap();
        assert_eq!(backend.check().unwrap().is_empty(), repairable, "{sql}");
    }
}
