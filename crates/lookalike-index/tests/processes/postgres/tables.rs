//! Contents of the tables: names, versions, keys, damage, and the SQL of
//! `docs/reference/postgres.md`.

use super::{Postgres, WRITE, postgres_open};
use crate::conformance::documents::{Document, Maker, settings};
use crate::conformance::{assert_clean, candidates, now};
use ::postgres::Client;
use lookalike_index::IndexError;
use lookalike_index::backend::{Backend, Change, ChangeOutcome, bucket_keys};
use lookalike_index::entry::DocumentNumber;
use lookalike_index::entry::RecordFields;
use lookalike_index::index::Access;
use lookalike_index::postgres;
use lookalike_index::settings::StoredContent;
use lookalike_test_support::postgres_server::{PostgresServer, server};

/// Creates an index with a name and some documents. Also returns a connection whose search path has
/// the tables.
fn filled(
    server: &PostgresServer,
    name: &str,
    store: StoredContent,
) -> (Postgres, Box<dyn Backend>, Client) {
    let index = Postgres::named(server, name);
    let backend = postgres::create(&index.url, &settings(store)).unwrap();
    let mut maker = Maker::new(&settings(store), 11);
    let documents: Vec<_> = (0..60).map(|i| maker.document(&format!("d{i}"), i % 6)).collect();
    let changes: Vec<Change<'_>> = documents.iter().map(Document::add).collect();
    backend.write(&changes).unwrap();
    let mut client = server.client();
    let name = name.replace('"', "\"\"");
    client.batch_execute(&format!("SET search_path TO \"{name}\"")).unwrap();
    (index, backend, client)
}

#[test]
fn any_name_names_an_index() {
    let Some(server) = server() else { return };
    let long = "é".repeat(31);
    let names = ["it's \"quoted\"; DROP TABLE docs; --", "A b", "Ünï/..", "select", &long];
    for name in names {
        let (index, backend, _) = filled(server, name, StoredContent::Sets);
        assert!(backend.name().contains(name), "{}", backend.name());
        let result = postgres::create(&index.url, &settings(StoredContent::Sets));
        assert!(matches!(result, Err(IndexError::Exists { .. })));
        let other = server.index(&name.chars().skip(1).collect::<String>());
        assert!(matches!(postgres::open(&other, WRITE), Err(IndexError::Missing { .. })));
        drop(backend);
        assert_eq!(now(&*postgres_open(&index.url, Access::Read)).len(), 60);
        let url = index.url.clone();
        drop(index);
        assert!(matches!(postgres::open(&url, WRITE), Err(IndexError::Missing { .. })));
    }
}

#[test]
fn foreign_schemas_are_not_indexes() {
    let Some(server) = server() else { return };
    let mut client = server.client();
    let index = Postgres::named(server, "other");
    client.batch_execute("DROP SCHEMA IF EXISTS other CASCADE; CREATE SCHEMA other").unwrap();
    assert!(matches!(postgres::open(&index.url, WRITE), Err(IndexError::Missing { .. })));
    client.batch_execute("CREATE TABLE other.docs (a int)").unwrap();
    let opened = postgres::open(&index.url, WRITE);
    assert!(matches!(opened, Err(IndexError::NotAnIndex { .. })));
    let created = postgres::create(&index.url, &settings(StoredContent::Sets));
    assert!(matches!(created, Err(IndexError::Exists { .. })));
    // An index can be created in an empty schema.
    client.batch_execute("DROP TABLE other.docs").unwrap();
    drop(postgres::create(&index.url, &settings(StoredContent::Sets)).unwrap());
    assert!(now(&*postgres_open(&index.url, WRITE)).is_empty());
}

#[test]
fn concurrent_creation_makes_one_index() {
    let Some(server) = server() else { return };
    for round in 0..5 {
        let index = Postgres::named(server, &format!("made twice {round}"));
        let results = std::thread::scope(|scope| {
            let make = || postgres::create(&index.url, &settings(StoredContent::Sets)).map(drop);
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(make)).collect();
            threads.into_iter().map(|one| one.join().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(results.iter().filter(|one| one.is_ok()).count(), 1, "{results:?}");
        let exists = |one: &&Result<(), _>| matches!(one, Err(IndexError::Exists { .. }));
        assert_eq!(results.iter().filter(exists).count(), 2, "{results:?}");
    }
}

#[test]
fn another_version_is_refused() {
    let Some(server) = server() else { return };
    let (index, backend, mut client) = filled(server, "versions", StoredContent::Sets);
    drop(backend);
    let refused = |version: u32| {
        for access in [WRITE, Access::Read] {
            match postgres::open(&index.url, access).err() {
                Some(IndexError::Version { got, expected, .. }) => {
                    assert_eq!((got, expected), (version, 1));
                }
                other => panic!("{other:?}"),
            }
        }
    };
    for other in [0, 2] {
        client.batch_execute(&format!("UPDATE settings SET version = {other}")).unwrap();
        refused(other);
    }
    client.batch_execute("UPDATE settings SET version = 1").unwrap();
    let change =
        "UPDATE settings SET settings = replace(settings, '\"version\":1', '\"version\":7')";
    client.batch_execute(change).unwrap();
    refused(7);
    let restored =
        "UPDATE settings SET settings = replace(settings, '\"version\":7', '\"version\":1')";
    client.batch_execute(restored).unwrap();
    assert_clean(&*postgres_open(&index.url, WRITE));
    // Tables of earlier versions of lookalike.
    client.batch_execute("ALTER TABLE settings DROP COLUMN version").unwrap();
    let error = postgres::open(&index.url, WRITE).err().unwrap();
    assert!(matches!(error, IndexError::NotAnIndex { .. }), "{error}");
    assert!(error.to_string().contains("create it again"), "{error}");
}

#[test]
fn band_rows_match_the_signatures() {
    let Some(server) = server() else { return };
    let (_index, backend, mut client) = filled(server, "keys", StoredContent::Signatures);
    let settings = backend.settings().clone();
    let (mut keys, mut postings) = (Vec::new(), 0);
    for record in now(&*backend) {
        bucket_keys(&settings, &record.signature, &mut keys);
        let doc = record.number.0.cast_signed();
        let sql = "SELECT band, key FROM bands WHERE doc = $1 ORDER BY band";
        let rows = client.query(sql, &[&doc]).unwrap();
        let stored: Vec<u64> =
            rows.iter().map(|row| row.get::<_, i64>(1).cast_unsigned()).collect();
        assert_eq!(stored, keys);
        assert!(rows.iter().zip(0i16..).all(|(row, band)| row.get::<_, i16>(0) == band));
        let row = client.query_one("SELECT sig FROM docs WHERE doc = $1", &[&doc]).unwrap();
        let bytes: Vec<u8> = record.signature.iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(row.get::<_, Vec<u8>>(0), bytes);
        postings += keys.len() as u64;
    }
    assert_eq!(backend.stats().unwrap().postings, postings);
    let count = client.query_one("SELECT count(*) FROM bands", &[]).unwrap();
    assert_eq!(count.get::<_, i64>(0).cast_unsigned(), postings);
}

#[test]
fn damaged_tables_are_reported_and_repaired() {
    let Some(server) = server() else { return };
    let (_index, backend, mut client) = filled(server, "damage", StoredContent::Texts);
    let before = now(&*backend);
    let repairable = [
        ("DELETE FROM bands WHERE doc % 3 = 0", "are missing"),
        ("DELETE FROM bands", "are missing"),
        ("INSERT INTO bands SELECT * FROM bands WHERE doc < 9", "occur twice"),
        ("INSERT INTO bands VALUES (7, 100000, 0)", "belong to no document"),
        ("UPDATE bands SET key = key + 1 WHERE doc = 8", "are missing"),
        ("UPDATE bands SET band = 1 - band WHERE doc = 5 AND band < 2", "are missing"),
        ("UPDATE state SET documents = 3", "documents is 3"),
        ("UPDATE state SET without_shingles = 77", "without_shingles is 77"),
        ("UPDATE state SET last = 2", "last is 2"),
        ("UPDATE state SET set_bytes = 0, text_bytes = 0", "text_bytes is 0"),
        ("DROP INDEX bands_key", "the index is missing"),
    ];
    for (damage, says) in repairable {
        client.batch_execute(damage).unwrap();
        let problems = backend.check().unwrap();
        assert!(problems.iter().any(|one| one.what.contains(says)), "{damage}: {problems:?}");
        assert!(problems.iter().all(|one| one.repairable), "{damage}: {problems:?}");
        backend.repair().unwrap();
        assert_clean(&*backend);
        assert_eq!(now(&*backend), before, "{damage}");
    }
    client.batch_execute("DELETE FROM state").unwrap();
    assert!(matches!(backend.snapshot().err(), Some(IndexError::Damaged { .. })));
    backend.repair().unwrap();
    assert_clean(&*backend);
    assert_eq!(now(&*backend), before);

    let lasting = [
        ("UPDATE docs SET sig = '\\x00' WHERE doc = 1", "checksum of its signature"),
        ("UPDATE docs SET sig = '\\x00000000' WHERE doc = 2", "checksum of its signature"),
        ("UPDATE docs SET set = '\\x09' WHERE doc = 3", "checksum of its shingle set"),
        ("UPDATE docs SET set = NULL WHERE doc = 4", "checksum of its shingle set"),
        ("UPDATE docs SET text = '\\x00' WHERE doc = 5", "checksum of its text"),
        ("UPDATE docs SET metadata = '[]' WHERE doc = 6", "checksum of its metadata"),
    ];
    for (damage, says) in lasting {
        client.batch_execute(damage).unwrap();
        let problems = backend.check().unwrap();
        let found = problems.iter().find(|one| one.what.contains(says));
        let found = found.unwrap_or_else(|| panic!("{damage}: {problems:?}"));
        assert!(!found.repairable && found.place.contains("docs"), "{found:?}");
    }
    let wanted = RecordFields { text: true, ..RecordFields::default() };
    let read = backend.snapshot().unwrap().records(&[DocumentNumber(5)], wanted, &mut |_| Ok(()));
    assert!(matches!(read, Err(IndexError::Damaged { .. })), "{read:?}");
    // Damaged documents can be removed without a remainder.
    let removals = ["d0", "d1", "d2", "d3", "d4", "d5"].map(Change::Remove);
    assert!(
        backend.write(&removals).unwrap().iter().all(|outcome| *outcome == ChangeOutcome::Removed)
    );
    // The state counted the sizes before the damage, so only these counts are wrong.
    assert!(backend.check().unwrap().iter().all(|one| one.place == "state"));
    backend.repair().unwrap();
    assert_clean(&*backend);
    assert_eq!(now(&*backend), before[6..]);
}

#[test]
fn incomplete_copies_are_not_restored() {
    let Some(server) = server() else { return };
    let (index, backend, _) = filled(server, "copied", StoredContent::Sets);
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("copy");
    backend.backup(&to).unwrap();
    let target = Postgres::named(server, "copied back");
    let result = postgres::restore(&index.url, &to);
    assert!(matches!(result, Err(IndexError::Exists { .. })));
    let rows = std::fs::read(to.join("docs.copy")).unwrap();
    std::fs::write(to.join("docs.copy"), &rows[..rows.len() / 2]).unwrap();
    assert!(matches!(postgres::restore(&target.url, &to), Err(IndexError::Database { .. })));
    std::fs::write(to.join("docs.copy"), &rows).unwrap();
    std::fs::rename(to.join("index.json"), to.join("x")).unwrap();
    assert!(matches!(postgres::restore(&target.url, &to), Err(IndexError::NotAnIndex { .. })));
    assert!(matches!(postgres::open(&target.url, WRITE), Err(IndexError::Missing { .. })));
    std::fs::rename(to.join("x"), to.join("index.json")).unwrap();
    let manifest = std::fs::read_to_string(to.join("index.json")).unwrap();
    let other = manifest.replacen("\"version\": 1", "\"version\": 2", 1);
    std::fs::write(to.join("index.json"), other).unwrap();
    let result = postgres::restore(&target.url, &to);
    assert!(matches!(result, Err(IndexError::Version { got: 2, expected: 1, .. })));
    std::fs::write(to.join("index.json"), manifest).unwrap();
    let copy = postgres::restore(&target.url, &to).unwrap();
    assert_eq!(now(&*copy), now(&*backend), "numbers stay");
    assert_clean(&*copy);
}

#[test]
fn long_signatures_are_kept() {
    let Some(server) = server() else { return };
    let index = Postgres::named(server, "long signatures");
    let mut long = settings(StoredContent::Sets);
    (long.num_hashes, long.bands, long.rows) = (8192, 1000, 8);
    let backend = postgres::create(&index.url, &long).unwrap();
    let document = Maker::new(&long, 1).of_set("a", (1..500).collect());
    backend.write(&[document.add()]).unwrap();
    assert_eq!(now(&*backend)[0].signature, document.signature);
    backend.write(&[document.put()]).unwrap();
    assert_clean(&*backend);
}

/// Runs every example of the page on an index with known answers.
#[test]
fn the_examples_in_the_documentation_hold() {
    let Some(server) = server() else { return };
    let index = Postgres::named(server, "lookalike");
    let settings = settings(StoredContent::Sets);
    let backend = postgres::create(&index.url, &settings).unwrap();
    let mut maker = Maker::new(&settings, 1);
    let set: Vec<u64> = (0..40).map(|i| i * 0x0123_4567_89ab_cdef).collect();
    let mut near = set.clone();
    near[0] = 5;
    let [mut a, b, c, d] = [
        maker.of_set("a", set.clone()),
        maker.of_set("b", set),
        maker.of_set("c", near),
        maker.of_set("d", vec![9, 99]),
    ];
    a.metadata = serde_json::from_str(r#"{"source":"wire","language":"en"}"#).unwrap();
    a.expires = None;
    backend.write(&[a.add(), b.add(), c.add(), d.add()]).unwrap();
    let text = include_str!("../../../../../docs/reference/postgres.md");
    let examples: Vec<&str> = text
        .split("```sql\n")
        .skip(1)
        .map(|part| part.split_once("```").unwrap().0.trim().trim_end_matches(';'))
        .collect();
    let [path, shared, by_key, pairs, buckets, same, known] = examples[..] else {
        panic!("other examples than these: {examples:?}");
    };
    let mut client = server.client();
    client.batch_execute(path).unwrap();

    let mut snapshot = backend.snapshot().unwrap();
    let mut keys = Vec::new();
    let mut found_with = |document: &Document| {
        bucket_keys(&settings, &document.signature, &mut keys);
        candidates(&mut *snapshot, &keys)
    };
    let rows = client.query(shared, &[]).unwrap();
    let ids: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(ids, ["b", "c"]);
    assert_eq!(rows[0].get::<_, i64>(1), 8, "all bands");
    assert_eq!(found_with(&a), ["a", "b", "c"]);
    assert_eq!(found_with(&d), ["d"]);

    bucket_keys(&settings, &a.signature, &mut keys);
    let text: Vec<String> = keys.iter().map(|key| key.cast_signed().to_string()).collect();
    let rows = client.query(&by_key.replace("1, 2, 3", &text.join(", ")), &[]).unwrap();
    assert_eq!(rows.len(), 3);

    let rows = client.query(pairs, &[]).unwrap();
    let pairs: Vec<(i64, i64)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(pairs, [(1, 2), (1, 3), (2, 3)]);

    let rows = client.query(buckets, &[]).unwrap();
    assert_eq!(rows.len(), 8, "one a band");
    assert_eq!((rows[0].get::<_, i64>(2), rows[0].get::<_, i64>(3)), (3, 1));

    let rows = client.query(same, &[]).unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].get::<_, Vec<String>>(1), ["a", "b"]);

    let rows = client.query(known, &[]).unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].get::<_, &str>(0), rows[0].get::<_, &str>(1)), ("a", "wire"));
}

#[test]
fn columns_of_other_types_are_errors() {
    let Some(server) = server() else { return };
    let changes = [
        ("docs", "id", "text", "bytea", "bytea USING id::bytea"),
        ("docs", "sig", "bytea", "text", "text USING encode(sig, 'hex')"),
        ("docs", "expires", "int8", "text", "text"),
        ("bands", "doc", "int8", "text", "text"),
        ("bands", "band", "int2", "int4", "int"),
        ("state", "documents", "int8", "text", "text"),
        ("state", "last", "int8", "int4", "int"),
        ("settings", "settings", "text", "int4", "int USING 1"),
    ];
    for (table, column, expected, got, sql) in changes {
        let (index, backend, mut client) = filled(server, "types", StoredContent::Texts);
        client.batch_execute(&format!("ALTER TABLE {table} ALTER {column} TYPE {sql}")).unwrap();
        let wanted = RecordFields { signature: true, set: true, metadata: true, text: true };
        // No operation may panic. An operation that compares the column may fail on the server
        // instead.
        let folder = tempfile::tempdir().unwrap();
        let mut errors = vec![
            postgres::open(&index.url, WRITE).err(),
            backend.check().err(),
            backend.stats().err(),
            backend.write(&[Change::Remove("d1")]).err(),
            backend.repair().err(),
            backend.compact(1 << 40).err(),
            backend.backup(&folder.path().join("copy")).err(),
        ];
        if let Ok(mut snapshot) = backend.snapshot() {
            let mut numbers = Vec::new();
            errors.push(snapshot.number_of("d2").err());
            errors.push(snapshot.candidates(&[1, 2, 3], &mut numbers).err());
            errors
                .push(snapshot.scan(DocumentNumber(0), usize::MAX, wanted, &mut |_| Ok(())).err());
        }
        let message = format!(
            "column {column} of table {table}: expected {expected}, got {got}; restore a backup, \
             or undo the change of the table"
        );
        let errors: Vec<IndexError> = errors.into_iter().flatten().collect();
        let is_typed = |error: &IndexError| {
            matches!(error, IndexError::Column { .. }) && error.to_string() == message
        };
        assert!(errors.iter().any(is_typed), "{table}.{column}: {errors:?}");
    }
    // A column without a value.
    let (_index, backend, mut client) = filled(server, "types", StoredContent::Texts);
    client
        .batch_execute(
            "ALTER TABLE state ALTER set_bytes DROP NOT NULL; UPDATE state SET set_bytes = NULL",
        )
        .unwrap();
    let error = backend.stats().unwrap_err();
    assert!(matches!(&error, IndexError::Column { got, .. } if got == "NULL"), "{error}");
}

#[test]
fn every_stored_value_has_a_checksum() {
    let Some(server) = server() else { return };
    let other = "(SELECT {} FROM docs AS o WHERE o.id = 'd2')";
    let damages = [
        format!("text = {}", other.replace("{}", "text")),
        format!("set = {}", other.replace("{}", "set")),
        format!("sig = {}", other.replace("{}", "sig")),
        "metadata = '{\"other\": 1}'".to_owned(),
        "bytes = bytes + 1".to_owned(),
        "added = added + 1".to_owned(),
        "expires = coalesce(expires, 0) + 1".to_owned(),
        "fingerprint = gen_random_uuid()".to_owned(),
        "checksums = 'x'".to_owned(),
        "text = NULL".to_owned(),
        "set = NULL".to_owned(),
    ];
    for damage in damages {
        let (_index, backend, mut client) = filled(server, "checksums", StoredContent::Texts);
        assert_clean(&*backend);
        let sql = format!("UPDATE docs SET {damage} WHERE id = 'd1'");
        assert_eq!(client.execute(&sql, &[]).unwrap(), 1);
        let problems = backend.check().unwrap();
        assert!(problems.iter().any(|problem| !problem.repairable), "{damage}: {problems:?}");
        let wanted = RecordFields { signature: true, set: true, metadata: true, text: true };
        let mut snapshot = backend.snapshot().unwrap();
        let read = snapshot.scan(DocumentNumber(0), usize::MAX, wanted, &mut |_| Ok(()));
        assert!(matches!(read, Err(IndexError::Damaged { .. })), "{damage}: {read:?}");
    }
}
