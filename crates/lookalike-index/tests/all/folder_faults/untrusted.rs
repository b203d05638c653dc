//! A folder from an untrusted source. Commands read, write and delete nothing outside it, and
//! execute nothing in its catalogue.

use super::{TINY, WRITE, filled, open, segments};
use crate::conformance::documents::{Document, Maker, settings};
use lookalike_index::IndexError;
use lookalike_index::backend::Backend;
use lookalike_index::folder;
use lookalike_index::index::Access;
use lookalike_index::settings::StoredContent;
use std::path::Path;

const THESIS: &[u8] = b"years of work";

fn catalogue(folder: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(folder.join("catalog.sqlite")).unwrap()
}

/// Performs the operations of all commands until one fails.
fn use_all(folder: &Path, to: &Path) -> Result<(), IndexError> {
    let reader = open(folder, Access::Read)?;
    reader.check()?;
    reader.stats()?;
    reader.backup(to)?;
    drop(reader);
    let writer = open(folder, WRITE)?;
    let mut maker = Maker::new(&settings(StoredContent::Sets), 99);
    let documents: Vec<_> = (0..60).map(|i| maker.document(&format!("new{i}"), i)).collect();
    writer.write(&documents.iter().map(Document::add).collect::<Vec<_>>())?;
    writer.compact(0)?;
    writer.repair()
}

#[test]
fn invalid_segment_names_are_errors() {
    let temp = tempfile::tempdir().unwrap();
    let victim = temp.path().join("thesis.txt");
    let outside = temp.path().join("elsewhere.seg");
    let source = temp.path().join("source");
    filled(&source);
    std::fs::copy(&segments(&source)[0], &outside).unwrap();
    std::fs::write(&victim, THESIS).unwrap();
    let valid = std::fs::read(&outside).unwrap();
    let absolute = |path: &Path| path.display().to_string();
    let names = [
        absolute(&victim),
        absolute(&outside),
        "../thesis.txt".to_owned(),
        "../elsewhere.seg".to_owned(),
        "lock".to_owned(),
        "catalog.sqlite".to_owned(),
        "0000000001.SEG".to_owned(),
        "9999999999.seg".to_owned(),
        String::new(),
    ];
    for (number, name) in names.iter().enumerate() {
        let folder = temp.path().join(format!("index{number}"));
        filled(&folder);
        let sql = "UPDATE segments SET name = ?1 WHERE first = (SELECT min(first) FROM segments)";
        assert_eq!(catalogue(&folder).execute(sql, [name]).unwrap(), 1);
        for access in [Access::Read, WRITE] {
            let error = open(&folder, access).map(drop).unwrap_err();
            assert!(matches!(error, IndexError::DamagedCatalogue { .. }), "{name}: {error}");
            assert!(error.to_string().contains("segment"), "{error}");
        }
        use_all(&folder, &temp.path().join(format!("copy{number}"))).unwrap_err();
        assert!(folder.join("catalog.sqlite").exists());
    }
    assert_eq!(std::fs::read(&victim).unwrap(), THESIS);
    assert_eq!(std::fs::read(&outside).unwrap(), valid);
}

#[test]
fn impossible_catalogue_numbers_are_errors() {
    let damages = [
        "UPDATE segments SET first = last + 1",
        "UPDATE segments SET last = 4294967295",
        "UPDATE segments SET first = 1",
        "UPDATE segments SET level = 4294967295",
        "UPDATE segments SET dropped = 9223372036854775807",
        "UPDATE state SET next_segment = 1",
        "UPDATE state SET next_segment = -1",
        "UPDATE state SET documents = -1",
        "UPDATE state SET without_shingles = -1",
        "UPDATE state SET set_bytes = -1",
        "UPDATE state SET text_bytes = -1",
        "PRAGMA user_version = -1",
    ];
    let temp = tempfile::tempdir().unwrap();
    for (number, sql) in damages.iter().enumerate() {
        let folder = temp.path().join(number.to_string());
        filled(&folder);
        catalogue(&folder).execute_batch(sql).unwrap();
        for access in [Access::Read, WRITE] {
            let error = open(&folder, access).map(drop).unwrap_err();
            assert!(matches!(error, IndexError::DamagedCatalogue { .. }), "{sql}: {error}");
        }
    }
}

#[test]
fn schemas_of_others_are_refused() {
    let additions = [
        "CREATE TRIGGER t AFTER INSERT ON docs BEGIN DELETE FROM docs; END",
        "CREATE TRIGGER t AFTER UPDATE ON state BEGIN DELETE FROM sets; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TABLE more(x)",
        "CREATE INDEX more ON docs(id)",
        "DROP INDEX docs_expires",
        "ALTER TABLE docs ADD COLUMN more INTEGER",
        "ALTER TABLE docs RENAME TO papers; CREATE VIEW docs AS SELECT * FROM papers",
        "ALTER TABLE docs ADD COLUMN length INTEGER AS (length(id))",
        "ANALYZE",
    ];
    let temp = tempfile::tempdir().unwrap();
    for (number, sql) in additions.iter().enumerate() {
        let folder = temp.path().join(number.to_string());
        filled(&folder);
        let other = catalogue(&folder);
        let count = "SELECT count(*) FROM docs";
        let before: i64 = other.query_row(count, [], |row| row.get(0)).unwrap();
        other.execute_batch(sql).unwrap();
        for access in [Access::Read, WRITE] {
            let error = open(&folder, access).map(drop).unwrap_err();
            assert!(matches!(error, IndexError::NotAnIndex { .. }), "{sql}: {error}");
        }
        use_all(&folder, &temp.path().join("copy")).unwrap_err();
        let after: i64 = other.query_row(count, [], |row| row.get(0)).unwrap();
        assert_eq!(before, after, "{sql}");
    }
}

#[test]
fn a_rollback_journal_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("index");
    filled(&folder);
    let journal = folder.join("catalog.sqlite-journal");
    std::fs::write(&journal, "names a file that SQLite deletes").unwrap();
    for access in [Access::Read, WRITE] {
        let error = open(&folder, access).map(drop).unwrap_err();
        assert!(matches!(error, IndexError::NotAnIndex { .. }), "{error}");
        assert!(error.to_string().contains("catalog.sqlite-journal"), "{error}");
    }
    std::fs::remove_file(&journal).unwrap();
    catalogue(&folder).execute_batch("PRAGMA journal_mode = DELETE").unwrap();
    let error = open(&folder, WRITE).map(drop).unwrap_err();
    assert!(error.to_string().contains("write-ahead"), "{error}");
}

#[cfg(unix)]
#[test]
fn symbolic_links_are_not_followed() {
    let temp = tempfile::tempdir().unwrap();
    let victim = temp.path().join("thesis.txt");
    std::fs::write(&victim, THESIS).unwrap();
    let fixed =
        ["catalog.sqlite", "catalog.sqlite-wal", "catalog.sqlite-shm", "catalog.sqlite-journal"];
    for name in fixed.into_iter().chain(["lock", "reserve"]) {
        let folder = temp.path().join(format!("with-{name}"));
        filled(&folder);
        let _ = std::fs::remove_file(folder.join(name));
        std::os::unix::fs::symlink(&victim, folder.join(name)).unwrap();
        for access in [Access::Read, WRITE] {
            let error = open(&folder, access).map(drop).unwrap_err();
            assert!(matches!(error, IndexError::NotAnIndex { .. }), "{name}: {error}");
            assert!(error.to_string().contains("symbolic link"), "{error}");
        }
        assert_eq!(std::fs::read(&victim).unwrap(), THESIS, "{name}");
    }
    // Replaces a listed segment and all possible names of later ones by links.
    let folder = temp.path().join("segments");
    filled(&folder);
    let listed = segments(&folder);
    std::fs::remove_file(&listed[0]).unwrap();
    std::os::unix::fs::symlink(&victim, &listed[0]).unwrap();
    for number in 1..60 {
        let next = folder.join(format!("{number:010}.seg"));
        let _ = std::os::unix::fs::symlink(&victim, next);
    }
    std::os::unix::fs::symlink(&victim, folder.join("own.seg")).unwrap();
    let reader = open(&folder, Access::Read).unwrap();
    assert!(!reader.check().unwrap().is_empty());
    reader.backup(&temp.path().join("first copy")).unwrap();
    drop(reader);
    // A writer creates its own segments instead.
    drop(open(&folder, WRITE).unwrap());
    use_all(&folder, &temp.path().join("copy")).unwrap();
    assert_eq!(std::fs::read(&victim).unwrap(), THESIS);
    assert!(folder.join("own.seg").symlink_metadata().is_ok(), "no file of this program");
}

#[cfg(unix)]
#[test]
fn new_files_are_private_to_owner() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let files = |folder: &Path| -> Vec<u32> {
        let entries = std::fs::read_dir(folder).unwrap();
        entries.map(|entry| mode(&entry.unwrap().path())).collect()
    };
    let temp = tempfile::tempdir().unwrap();
    let (folder, copy) = (temp.path().join("index"), temp.path().join("copy"));
    filled(&folder);
    let writer = folder::open_with(&folder, WRITE, TINY).unwrap();
    writer.backup(&copy).unwrap();
    for path in [&folder, &copy] {
        assert_eq!(mode(path), 0o700);
        let modes = files(path);
        assert!(modes.len() > 4 && modes.iter().all(|mode| *mode == 0o600), "{modes:?}");
    }
    drop(writer);
    // Existing files keep their modes, and new files get the mode of the catalogue.
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o755)).unwrap();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o644)).unwrap();
    }
    let writer = open(&folder, WRITE).unwrap();
    writer.compact(i64::MAX).unwrap();
    writer.repair().unwrap();
    assert_eq!(mode(&folder), 0o755);
    let modes = files(&folder);
    assert!(modes.iter().all(|mode| *mode == 0o644), "{modes:?}");
    let second = temp.path().join("second");
    Backend::backup(&*writer, &second).unwrap();
    assert!(files(&second).iter().all(|mode| *mode == 0o600));
}
