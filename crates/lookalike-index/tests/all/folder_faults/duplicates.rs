//! Duplicates in the catalogue: its version, and damage that readers and `check` name.

use super::{WRITE, filled, open};
use crate::conformance::documents::settings;
use crate::conformance::{assert_clean, duplicates};
use lookalike_index::duplicate_table::DuplicateEntry;
use lookalike_index::error::IndexError;
use lookalike_index::index::Access;
use lookalike_index::settings::StoredContent;
use lookalike_index::sqlite;
use std::path::Path;

fn version(folder: &Path) -> u32 {
    let catalogue = rusqlite::Connection::open(folder.join("catalog.sqlite")).unwrap();
    catalogue.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

/// Whatever the catalogue had before.
#[test]
fn a_catalogue_has_version_6_from_its_first_duplicate_on() {
    for before in [2, 3, 4, 5] {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("index");
        let keeper = if before == 5 {
            let settings = settings(StoredContent::Originals);
            let mut maker = crate::conformance::documents::Maker::new(&settings, 1);
            let backend = sqlite::create(&folder, &settings).unwrap();
            backend.write(&[crate::conformance::page(&mut maker, "a", 1).put()]).unwrap();
            "a".to_owned()
        } else {
            filled(&folder).1.last().unwrap().id.clone()
        };
        let (writer, reader) =
            (open(&folder, WRITE).unwrap(), open(&folder, Access::Read).unwrap());
        match before {
            3 => drop(writer.add_decisions(&["{}"], None).unwrap()),
            4 => drop(writer.replace_categories(b"model", 0, &[]).unwrap()),
            _ => {}
        }
        assert_eq!(writer.add_duplicates(&[]).unwrap(), 0);
        assert_eq!(version(&folder), before);
        let entries = [DuplicateEntry { id: "copy", keeper: &keeper }];
        assert_eq!(writer.add_duplicates(&entries).unwrap(), 1);
        assert_eq!(version(&folder), 6);
        // One that was open before sees them, too, and nothing else changes the version.
        assert_eq!(duplicates(&*reader), [(keeper.clone(), vec!["copy".to_owned()])]);
        writer.add_decisions(&["{}"], None).unwrap();
        writer.replace_categories(b"model", 0, &[]).unwrap();
        assert_eq!(version(&folder), 6);
        drop((writer, reader));
        let again = open(&folder, WRITE).unwrap();
        assert_eq!(duplicates(&*again).len(), 1);
        assert_clean(&*again);
        drop(again);
        let error = sqlite::open(&folder, Access::Read).unwrap().snapshot().unwrap().versions("a");
        assert_eq!(matches!(error, Err(IndexError::NoOriginals { .. })), before != 5);
    }
}

#[test]
fn damage_of_duplicates_is_named() {
    let damages = [
        ("UPDATE duplicates SET id = 'other'", "the checksum of its row is wrong", false),
        ("UPDATE duplicates SET id_key = 7", "the checksum of its row is wrong", false),
        (
            "UPDATE duplicates SET keeper = 4000000",
            "1 rows have a keeper that is no document",
            true,
        ),
    ];
    for (sql, expected, repairable) in damages {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("index");
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
        let numbers: Vec<u64> = (1..=400).collect();
        let read = snapshot.duplicates(&numbers, &mut |_, _| Ok(()));
        assert_eq!(matches!(read, Err(IndexError::Damaged { .. })), !repairable, "{sql}");
        drop(snapshot);
        backend.repair().unwrap();
        assert_eq!(backend.check().unwrap().is_empty(), repairable, "{sql}");
    }
}
