//! Originals and versions in PostgreSQL: differences, and damage that readers and `check` report.

use super::Postgres;
use crate::conformance::documents::{Maker, settings};
use crate::conformance::{assert_clean, known, page};
use ::postgres::Client;
use lookalike_index::IndexError;
use lookalike_index::backend::{Backend, Change};
use lookalike_index::postgres;
use lookalike_index::settings::StoredContent;
use lookalike_test_support::postgres_server::{PostgresServer, server};

const ID: &str = "https://e.example/";

/// Creates an index with twelve versions of one document, all except the first stored as
/// differences. Also returns a connection whose search path has the tables.
fn archive(server: &PostgresServer, name: &str) -> (Postgres, Box<dyn Backend>, Client) {
    let index = Postgres::named(server, name);
    let settings = settings(StoredContent::Originals);
    let backend = postgres::create(&index.url, &settings).unwrap();
    let mut maker = Maker::new(&settings, 5);
    for version in 0..12 {
        let mut document = page(&mut maker, ID, 3);
        document.original.as_mut().unwrap().extend_from_slice(format!(" {version}").as_bytes());
        document.added = version;
        backend.write(&[document.put()]).unwrap();
    }
    assert_clean(&*backend);
    let mut client = server.client();
    client.batch_execute(&format!("SET search_path TO {name}")).unwrap();
    (index, backend, client)
}

#[test]
fn postgres_difference_chains_are_bounded() {
    let Some(server) = server() else { return };
    let (_index, backend, mut client) = archive(server, "archive_chain");
    let stats = backend.stats().unwrap().originals.unwrap();
    assert_eq!((stats.versions, stats.originals, stats.differences), (12, 12, 11));
    assert!(stats.stored_bytes * 5 < stats.bytes, "{stats:?}");
    let sql = "WITH RECURSIVE chain(original, length) AS (
            SELECT original, 0 FROM originals WHERE base IS NULL UNION ALL
            SELECT o.original, length + 1 FROM originals o JOIN chain c ON o.base = c.original)
        SELECT max(length) FROM chain";
    assert_eq!(client.query_one(sql, &[]).unwrap().get::<_, i32>(0), 8);
    // Repeats this in one batch, whose originals are not stored yet when others refer to them.
    let mut maker = Maker::new(&settings(StoredContent::Originals), 5);
    let documents: Vec<_> = (0..30).map(|at| page(&mut maker, &format!("p{at}"), 4)).collect();
    let changes: Vec<Change<'_>> = documents.iter().map(|document| document.put()).collect();
    backend.write(&changes).unwrap();
    assert_eq!(client.query_one(sql, &[]).unwrap().get::<_, i32>(0), 8);
    let last = documents.last().unwrap();
    assert_eq!(known(&*backend, &last.id)[0].1, *last.original.as_ref().unwrap());
    let stats = backend.stats().unwrap().originals.unwrap();
    // Some documents have no shingles, so no similar document is found for them.
    assert!(stats.originals - stats.differences < 6, "{stats:?}");
    assert_clean(&*backend);
}

#[test]
fn damage_of_originals_is_named() {
    let Some(server) = server() else { return };
    let damages = [
        ("UPDATE originals SET zstd = 'x' WHERE original = 12", "the checksum of its bytes"),
        ("UPDATE originals SET sha256 = sha256(zstd) WHERE original = 12", "SHA-256 is wrong"),
        ("UPDATE originals SET sha256 = 'x' WHERE original = 12", "not 32 bytes"),
        ("UPDATE originals SET bytes = bytes + 1 WHERE original = 12", "bytes, expected"),
        ("UPDATE originals SET bytes = -1 WHERE original = 12", "out of range"),
        ("UPDATE originals SET base = NULL WHERE original = 12", "decompress"),
        ("DELETE FROM originals WHERE original = 1", "original 1, its base, is missing"),
        ("UPDATE originals SET base = 12 WHERE original = 1", "differences lead to it"),
        ("UPDATE originals SET base = 12 WHERE original = 12", "differences lead to it"),
        ("UPDATE versions SET added = 77 WHERE version = 12", "the checksum of its row"),
    ];
    for (sql, expected) in damages {
        let (_index, backend, mut client) = archive(server, "archive_damage");
        assert_eq!(client.execute(sql, &[]).unwrap(), 1, "{sql}");
        let mut snapshot = backend.snapshot().unwrap();
        let error = snapshot
            .versions(ID)
            .and_then(|versions| snapshot.original(versions.last().unwrap()))
            .unwrap_err();
        assert!(matches!(error, IndexError::Damaged { .. }), "{sql}: {error}");
        assert!(error.to_string().contains(expected), "{sql}: {error}");
        drop(snapshot);
        let problems = backend.check().unwrap();
        let named = problems.iter().any(|problem| {
            problem.what.contains(expected)
                && problem.what.contains("restore")
                && !problem.repairable
        });
        assert!(named, "{sql}: {problems:?}");
        // Damage does not prevent adding, removing and compacting.
        let mut maker = Maker::new(&settings(StoredContent::Originals), 5);
        let other = page(&mut maker, "other", 3);
        backend.write(&[other.put()]).unwrap();
        assert_eq!(known(&*backend, "other")[0].1, *other.original.as_ref().unwrap(), "{sql}");
        backend.write(&[Change::Remove(ID)]).unwrap();
        backend.compact(0).unwrap();
        assert_eq!(known(&*backend, "other")[0].1, other.original.unwrap(), "{sql}");
        assert_eq!(backend.stats().unwrap().originals.unwrap().versions, 1, "{sql}");
    }
}

/// The list of versions must not contain a hash that the original never had.
#[test]
fn postgres_reports_wrong_hash_length() {
    let Some(server) = server() else { return };
    let (_index, backend, mut client) = archive(server, "archive_hash_length");
    let sql = "UPDATE originals SET sha256 = '12345' WHERE original = 3";
    assert_eq!(client.execute(sql, &[]).unwrap(), 1);
    let error = backend.snapshot().unwrap().versions(ID).unwrap_err();
    assert!(matches!(error, IndexError::Damaged { .. }), "{error}");
    let message = error.to_string();
    assert!(message.contains("version 3 of document"), "{message}");
    assert!(message.contains("has 5 bytes, not 32 bytes"), "{message}");
}

#[test]
fn damaged_version_texts_are_detected() {
    let Some(server) = server() else { return };
    for damage in ["text = 'x'", "text_checksum = NULL", "text_checksum = 'x'"] {
        let (_index, backend, mut client) = archive(server, "archive_text");
        let sql = format!("UPDATE versions SET {damage} WHERE version = 3");
        assert_eq!(client.execute(&sql, &[]).unwrap(), 1);
        let mut snapshot = backend.snapshot().unwrap();
        let third = snapshot.versions(ID).unwrap().remove(2);
        let error = snapshot.version_text(&third).unwrap_err().to_string();
        assert!(error.contains("version 3") && error.contains("its text"), "{damage}: {error}");
        drop(snapshot);
        let problems = backend.check().unwrap();
        assert!(problems.iter().any(|one| one.what.contains("its text")), "{damage}: {problems:?}");
    }
}

#[test]
fn counts_of_versions_are_checked() {
    let Some(server) = server() else { return };
    let damages = [
        ("DELETE FROM versions WHERE ended IS NULL", "1 documents have no version"),
        ("DELETE FROM originals WHERE original = 12", "1 versions have no original"),
        ("DELETE FROM docs", "1 versions that have not ended have no document"),
    ];
    for (sql, expected) in damages {
        let (_index, backend, mut client) = archive(server, "archive_counts");
        client.batch_execute(sql).unwrap();
        let problems = backend.check().unwrap();
        assert!(problems.iter().any(|one| one.what.contains(expected)), "{sql}: {problems:?}");
    }
}

#[test]
fn removing_documents_leaves_no_originals() {
    let Some(server) = server() else { return };
    let (_index, backend, _) = archive(server, "archive_removed");
    let mut maker = Maker::new(&settings(StoredContent::Originals), 5);
    let other = page(&mut maker, "other", 3);
    backend.write(&[other.put()]).unwrap();
    backend.write(&[Change::Remove(ID)]).unwrap();
    assert_eq!(known(&*backend, "other")[0].1, *other.original.as_ref().unwrap());
    backend.compact(0).unwrap();
    let stats = backend.stats().unwrap().originals.unwrap();
    assert_eq!((stats.versions, stats.originals, stats.differences), (1, 1, 0));
    assert_eq!(known(&*backend, "other")[0].1, other.original.unwrap());
    assert_clean(&*backend);
}

/// Compaction finds the versions of an expired document by its id, even if the current version is
/// missing or damaged.
#[test]
fn compaction_removes_expired_damaged_versions() {
    let Some(server) = server() else { return };
    for sql in [
        "DELETE FROM versions WHERE ended IS NULL",
        "UPDATE versions SET id = 'damaged' WHERE ended IS NULL",
    ] {
        let (_index, backend, mut client) = archive(server, "archive_expired");
        client.batch_execute("UPDATE docs SET expires = 50").unwrap();
        assert_eq!(client.execute(sql, &[]).unwrap(), 1);
        backend.compact(100).unwrap();
        let left = backend.stats().unwrap().originals.unwrap();
        assert_eq!((left.versions, left.originals), (0, 0), "{sql}");
        assert_clean(&*backend);
    }
}

#[test]
fn postgres_rejects_replacing_damaged_ids() {
    let Some(server) = server() else { return };
    let (_index, backend, mut client) = archive(server, "archive_id");
    let sql = "UPDATE versions SET id = 'damaged' WHERE ended IS NULL";
    assert_eq!(client.execute(sql, &[]).unwrap(), 1);
    let mut maker = Maker::new(&settings(StoredContent::Originals), 5);
    let error = backend.write(&[page(&mut maker, ID, 3).put()]).unwrap_err();
    assert!(matches!(error, IndexError::Damaged { .. }), "{error}");
    backend.write(&[Change::Remove(ID)]).unwrap();
    assert_eq!(backend.stats().unwrap().originals.unwrap().versions, 0);
    assert_clean(&*backend);
}

#[test]
fn versions_with_negative_numbers_are_checked() {
    let Some(server) = server() else { return };
    let (_index, backend, mut client) = archive(server, "archive_negative");
    client.batch_execute("UPDATE versions SET doc = -5 WHERE version = 3").unwrap();
    let problems = backend.check().unwrap();
    let named = problems.iter().any(|one| one.what.contains("the checksum of its row is wrong"));
    assert!(named, "{problems:?}");
}

/// A new version of the index tells readers that the stored originals have changed.
#[test]
fn removing_unused_originals_changes_the_index() {
    let Some(server) = server() else { return };
    let (_index, backend, _) = archive(server, "archive_unused");
    let mut maker = Maker::new(&settings(StoredContent::Originals), 5);
    backend.write(&[page(&mut maker, "other", 3).put()]).unwrap();
    backend.write(&[Change::Remove(ID)]).unwrap();
    let before = backend.snapshot().unwrap().version();
    backend.compact(0).unwrap();
    assert!(backend.snapshot().unwrap().version() > before);
    let after = backend.snapshot().unwrap().version();
    backend.compact(0).unwrap();
    assert_eq!(backend.snapshot().unwrap().version(), after);
}
