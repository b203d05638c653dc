//! Damaged originals and versions of an index in a folder. Every reader and `check` report them.

use crate::conformance::documents::{Maker, settings};
use crate::conformance::{assert_clean, known, page};
use lookalike_index::backend::{Backend, Change};
use lookalike_index::entry::DocumentNumber;
use lookalike_index::entry::RecordFields;
use lookalike_index::error::IndexError;
use lookalike_index::folder;
use lookalike_index::index::Access;
use lookalike_index::settings::StoredContent;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;
use tempfile::TempDir;

/// Creates an index with twelve versions of one document. All except the first are stored as
/// differences.
fn archive() -> (TempDir, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("archive");
    let settings = settings(StoredContent::Originals);
    let backend = folder::create(&folder, &settings).unwrap();
    let mut maker = Maker::new(&settings, 5);
    for version in 0..12 {
        let mut document = page(&mut maker, "https://e.example/", 3);
        document.original.as_mut().unwrap().extend_from_slice(format!(" {version}").as_bytes());
        document.added = version;
        backend.write(&[document.put()]).unwrap();
    }
    assert_clean(&*backend);
    (temp, folder)
}

fn open(folder: &std::path::Path) -> Box<dyn Backend> {
    folder::open(folder, Access::Read).unwrap()
}

/// Damages the catalogue. Both a reader of the last version and `check` must report the damage.
fn assert_named(sql: &str, expected: &str) {
    assert_both_named(sql, expected, expected);
}

/// Like [`assert_named`], with different messages of the reader and of `check`.
fn assert_both_named(sql: &str, expected: &str, expected_of_check: &str) {
    let (_above, folder) = archive();
    assert!(damage(&folder, sql) > 0, "{sql}");
    let backend = open(&folder);
    let mut snapshot = backend.snapshot().unwrap();
    let error = snapshot
        .versions("https://e.example/")
        .and_then(|versions| snapshot.original(versions.last().unwrap()))
        .unwrap_err();
    assert!(matches!(error, IndexError::Damaged { .. }), "{sql}: {error}");
    assert!(error.to_string().contains(expected), "{sql}: {error}");
    let problems = backend.check().unwrap();
    let named = problems.iter().any(|problem| {
        problem.what.contains(expected_of_check)
            && problem.what.contains("restore")
            && !problem.repairable
    });
    assert!(named, "{sql}: {problems:?}");
}

/// Runs `work` once for each sector of the catalogue, which is replaced by zeros. Each run must
/// end.
fn assert_ends(access: Access, work: fn(&dyn Backend)) {
    const SECTOR: usize = 512;
    let (_above, folder) = archive();
    let sound = std::fs::read(folder.join("catalog.sqlite")).unwrap();
    for at in (0..sound.len()).step_by(SECTOR) {
        let sector = at..(at + SECTOR).min(sound.len());
        if sound[sector.clone()].iter().all(|byte| *byte == 0) {
            continue;
        }
        let temp = tempfile::tempdir().unwrap();
        let copy = temp.path().join("archive");
        copy_folder(&folder, &copy);
        let mut damaged = sound.clone();
        damaged[sector].fill(0);
        std::fs::write(copy.join("catalog.sqlite"), damaged).unwrap();
        let (report, ended) = mpsc::channel();
        std::thread::spawn(move || {
            if let Ok(backend) = folder::open(&copy, access) {
                work(&*backend);
            }
            report.send(()).unwrap();
        });
        let ended = ended.recv_timeout(Duration::from_secs(120));
        assert!(ended.is_ok(), "zeros at byte {at}: it does not end");
    }
}

/// Executes a statement that damages the catalogue, and returns the number of changed rows.
fn damage(folder: &Path, sql: &str) -> usize {
    Connection::open(folder.join("catalog.sqlite")).unwrap().execute(sql, []).unwrap()
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn checks_of_damaged_sectors_end() {
    assert_ends(Access::Read, |backend| drop(backend.check()));
}

#[test]
fn compaction_of_damaged_sectors_ends() {
    assert_ends(Access::Write { wait: Duration::ZERO }, |backend| drop(backend.compact(1)));
}

#[test]
fn an_interrupted_index_ends_each_operation() {
    let (_above, folder) = archive();
    let backend = folder::open(&folder, Access::Write { wait: Duration::ZERO }).unwrap();
    let mut snapshot = backend.snapshot().unwrap();
    backend.interrupt();
    let ended = [
        backend.check().map(drop),
        backend.compact(1),
        backend.backup(&folder.with_extension("copy")),
        snapshot.versions("https://e.example/").map(drop),
        snapshot.scan(DocumentNumber(0), 9, RecordFields::default(), &mut |_| Ok(())).map(drop),
    ];
    for ended in ended {
        assert!(matches!(ended, Err(IndexError::Interrupted { .. })), "{ended:?}");
    }
}

#[test]
fn difference_chains_of_originals_are_bounded() {
    let (_above, folder) = archive();
    let stats = open(&folder).stats().unwrap().originals.unwrap();
    assert_eq!((stats.versions, stats.originals, stats.differences), (12, 12, 11));
    assert!(stats.stored_bytes * 5 < stats.bytes, "{stats:?}");
    let catalogue = Connection::open(folder.join("catalog.sqlite")).unwrap();
    let longest: i64 = catalogue
        .query_row(
            "WITH RECURSIVE chain(original, length) AS (
                SELECT original, 0 FROM originals WHERE base IS NULL UNION ALL
                SELECT o.original, length + 1 FROM originals o JOIN chain c ON o.base = c.original)
             SELECT max(length) FROM chain",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(longest, 8);
}

#[test]
fn a_damaged_original_is_named() {
    assert_named(
        "UPDATE originals SET zstd = zeroblob(20) WHERE original = 12",
        "the checksum of its bytes is wrong",
    );
    assert_named(
        "UPDATE originals SET sha256 = zeroblob(32) WHERE original = 12",
        "SHA-256 is wrong",
    );
    assert_named("UPDATE originals SET sha256 = zeroblob(5) WHERE original = 12", "not 32 bytes");
    assert_named("UPDATE originals SET bytes = bytes + 1 WHERE original = 12", "bytes, expected");
    assert_named("UPDATE originals SET bytes = bytes - 1 WHERE original = 12", "decompress");
    assert_named("UPDATE originals SET bytes = -1 WHERE original = 12", "out of range");
    assert_named("UPDATE originals SET base = NULL WHERE original = 12", "decompress");
}

/// The list of versions must not contain a hash that the original never had.
#[test]
fn wrong_hash_length_is_damage() {
    let (_above, folder) = archive();
    let catalogue = Connection::open(folder.join("catalog.sqlite")).unwrap();
    catalogue.execute("UPDATE originals SET sha256 = zeroblob(5) WHERE original = 3", []).unwrap();
    drop(catalogue);
    let listed = open(&folder).snapshot().unwrap().versions("https://e.example/");
    let error = listed.unwrap_err();
    assert!(matches!(error, IndexError::Damaged { .. }), "{error}");
    let message = error.to_string();
    assert!(message.contains("version 3 of document"), "{message}");
    assert!(message.contains("has 5 bytes, not 32 bytes"), "{message}");
}

#[test]
fn a_missing_base_is_named() {
    assert_named("DELETE FROM originals WHERE original = 1", "original 1, its base, is missing");
    assert_both_named(
        "DELETE FROM originals WHERE original = 12",
        "it is missing",
        "1 versions have no original",
    );
}

#[test]
fn bases_in_a_circle_are_named() {
    assert_named("UPDATE originals SET base = 12 WHERE original = 1", "differences lead to it");
    assert_named("UPDATE originals SET base = original WHERE original = 12", "differences lead");
}

#[test]
fn a_damaged_version_is_named() {
    assert_named("UPDATE versions SET added = 77 WHERE version = 12", "checksum of its row");
    assert_named(
        "UPDATE versions SET type = 'text/plain' WHERE version = 1",
        "checksum of its row",
    );
}

#[test]
fn compaction_deletes_originals_of_removed_documents() {
    let (_above, folder) = archive();
    let backend = folder::open(&folder, Access::Write { wait: Duration::ZERO }).unwrap();
    let mut maker = Maker::new(&settings(StoredContent::Originals), 5);
    let other = page(&mut maker, "other", 3);
    backend.write(&[other.put()]).unwrap();
    backend.write(&[Change::Remove("https://e.example/")]).unwrap();
    // The original that the other document's difference refers to may remain until the index is
    // compacted.
    assert_eq!(known(&*backend, "other")[0].1, other.original.clone().unwrap());
    backend.compact(0).unwrap();
    let stats = backend.stats().unwrap().originals.unwrap();
    assert_eq!((stats.versions, stats.originals, stats.differences), (1, 1, 0));
    assert_eq!(known(&*backend, "other")[0].1, other.original.unwrap());
    assert_clean(&*backend);
}

#[test]
fn damage_does_not_block_writes() {
    for sql in [
        "UPDATE originals SET zstd = zeroblob(20)",
        "UPDATE versions SET added = 77",
        "UPDATE versions SET name = CAST(x'ff' AS TEXT)",
        "UPDATE versions SET id = 'damaged' WHERE ended IS NULL",
        "UPDATE versions SET id_key = 7 WHERE ended IS NULL",
        "DELETE FROM versions WHERE ended IS NULL",
        "DELETE FROM originals WHERE original = 1",
    ] {
        let (_above, folder) = archive();
        assert!(damage(&folder, sql) > 0, "{sql}");
        let backend =
            folder::open(&folder, Access::Write { wait: std::time::Duration::ZERO }).unwrap();
        let mut maker = Maker::new(&settings(StoredContent::Originals), 5);
        let other = page(&mut maker, "other", 3);
        backend.write(&[other.put()]).unwrap();
        assert_eq!(known(&*backend, "other")[0].1, other.original.clone().unwrap(), "{sql}");
        backend.write(&[lookalike_index::backend::Change::Remove("https://e.example/")]).unwrap();
        backend.compact(0).unwrap();
        assert_eq!(known(&*backend, "other")[0].1, other.original.unwrap(), "{sql}");
        assert_eq!(backend.stats().unwrap().originals.unwrap().versions, 1, "{sql}");
    }
}

#[test]
fn damaged_version_ids_block_replacement() {
    let (_above, folder) = archive();
    let sql = "UPDATE versions SET id = 'damaged' WHERE ended IS NULL";
    assert_eq!(damage(&folder, sql), 1);
    let backend = folder::open(&folder, Access::Write { wait: Duration::ZERO }).unwrap();
    let mut maker = Maker::new(&settings(StoredContent::Originals), 5);
    let mut document = page(&mut maker, "https://e.example/", 3);
    let error = backend.write(&[document.put()]).unwrap_err();
    assert!(matches!(error, IndexError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("the checksum of its row is wrong"), "{error}");
    document.id = "other".to_owned();
    backend.write(&[Change::Remove("https://e.example/"), document.put()]).unwrap();
    assert_eq!(backend.stats().unwrap().originals.unwrap().versions, 1);
    assert_clean(&*backend);
}

#[test]
fn replacing_a_version_repairs_its_key() {
    let (_above, folder) = archive();
    let sql = "UPDATE versions SET id_key = 7 WHERE ended IS NULL";
    assert_eq!(damage(&folder, sql), 1);
    let backend = folder::open(&folder, Access::Write { wait: Duration::ZERO }).unwrap();
    let mut maker = Maker::new(&settings(StoredContent::Originals), 5);
    backend.write(&[page(&mut maker, "https://e.example/", 4).put()]).unwrap();
    let numbers = known(&*backend, "https://e.example/").into_iter().map(|known| known.0.number);
    assert!(numbers.eq(1..=13));
    assert_clean(&*backend);
}

/// A damaged version does not keep rows of its expired document.
#[test]
fn compaction_removes_damaged_versions() {
    for sql in [
        "UPDATE versions SET added = 77",
        "UPDATE versions SET name = CAST(x'ff' AS TEXT)",
        "UPDATE versions SET id = 'damaged' WHERE ended IS NULL",
        "UPDATE versions SET id_key = 7 WHERE ended IS NULL",
        "DELETE FROM versions WHERE ended IS NULL",
        "UPDATE docs SET id = 'damaged'",
        "UPDATE docs SET id = CAST(x'ff' AS TEXT)",
    ] {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join("archive");
        let settings = settings(StoredContent::Originals);
        let backend = folder::create(&folder, &settings).unwrap();
        let mut maker = Maker::new(&settings, 5);
        for version in 0..3 {
            let mut document = page(&mut maker, "https://e.example/", version);
            document.expires = Some(50);
            backend.write(&[document.put()]).unwrap();
        }
        assert!(damage(&folder, sql) > 0, "{sql}");
        backend.compact(100).unwrap();
        let left = backend.stats().unwrap().originals.unwrap();
        assert_eq!((left.versions, left.originals), (0, 0), "{sql}");
        assert_clean(&*backend);
    }
}

#[test]
fn unreadable_values_name_their_table() {
    let (_above, folder) = archive();
    let sql = "UPDATE versions SET name = CAST(x'ff' AS TEXT) WHERE version = 12";
    assert_eq!(damage(&folder, sql), 1);
    let error = open(&folder).snapshot().unwrap().versions("https://e.example/").unwrap_err();
    assert!(matches!(error, IndexError::DamagedCatalogue { .. }), "{error}");
    let message = error.to_string();
    assert!(message.contains("table `versions`, column `name`: "), "{message}");
    assert!(message.contains("invalid utf-8"), "{message}");
}
