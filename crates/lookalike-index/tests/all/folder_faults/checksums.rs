//! Damaged rows and truncated files are errors for every reader.

use super::{TINY, WRITE, filled, open, segments};
use crate::conformance::documents::{Maker, settings};
use crate::conformance::{assert_clean, everything, now};
use lookalike_core::hash::SplitMix64;
use lookalike_index::IndexError;
use lookalike_index::backend::{Backend, bucket_keys};
use lookalike_index::entry::DocumentNumber;
use lookalike_index::entry::{IndexRecord, RecordFields};
use lookalike_index::folder;
use lookalike_index::index::Access;
use lookalike_index::settings::StoredContent;
use std::path::Path;

fn with_texts(folder: &Path) -> Vec<IndexRecord> {
    let settings = settings(StoredContent::Texts);
    let backend = folder::create_with(folder, &settings, TINY).unwrap();
    let mut maker = Maker::new(&settings, 5);
    for i in 0..400 {
        let mut document = maker.document(&format!("d{i}"), i % 9);
        document.text = format!("{i} {}", document.text.repeat(30));
        document.metadata.insert("source".to_owned(), format!("letters/{i}").into());
        backend.write(&[document.add()]).unwrap();
    }
    now(&*backend)
}

/// Returns all documents as an export reads them.
fn exported(backend: &dyn Backend) -> Result<Vec<IndexRecord>, IndexError> {
    let mut snapshot = backend.snapshot()?;
    let wanted = RecordFields { signature: true, set: true, metadata: true, text: true };
    let mut records = Vec::new();
    let read = snapshot.scan(DocumentNumber(0), usize::MAX, wanted, &mut |record| {
        records.push(record.clone());
        Ok(())
    })?;
    if read as u64 == snapshot.len() { Ok(records) } else { Err(IndexError::Full { most: 0 }) }
}

#[test]
fn flipped_bytes_are_never_exported() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("index");
    let records = with_texts(&folder);
    let path = folder.join("catalog.sqlite");
    let sound = std::fs::read(&path).unwrap();
    let (mut refused, mut found, mut unused) = (0, 0, 0);
    for seed in 0..60 {
        let mut random = SplitMix64::new(seed);
        let mut bytes = sound.clone();
        for _ in 0..64 {
            let at = random.below(bytes.len() as u64) as usize;
            bytes[at] ^= 1 + random.below(255) as u8;
        }
        std::fs::write(&path, bytes).unwrap();
        for name in ["catalog.sqlite-wal", "catalog.sqlite-shm"] {
            let _ = std::fs::remove_file(folder.join(name));
        }
        let Ok(reader) = open(&folder, Access::Read) else {
            refused += 1;
            continue;
        };
        let export = exported(&*reader);
        if let Ok(export) = &export {
            assert_eq!(*export, records, "seed {seed}");
        }
        // The damage that `check` does not report is in unused bytes.
        let problems = reader.check().unwrap();
        assert!(!problems.is_empty() || export.is_ok(), "seed {seed}");
        *(if problems.is_empty() { &mut unused } else { &mut found }) += 1;
    }
    assert!(found > 20, "{refused} refused, {found} found, {unused} in unused bytes");
}

#[test]
fn every_stored_value_has_a_checksum() {
    let temp = tempfile::tempdir().unwrap();
    let damages = [
        "UPDATE texts SET zstd = (SELECT zstd FROM texts WHERE doc = 8) WHERE doc = 7",
        "UPDATE sets SET code = (SELECT code FROM sets WHERE doc = 8) WHERE doc = 7",
        "UPDATE docs SET metadata = replace(metadata, 'letters', 'lettres') WHERE doc = 7",
        "UPDATE docs SET id = 'other' WHERE doc = 7",
        "UPDATE docs SET bytes = bytes + 1 WHERE doc = 7",
        "UPDATE docs SET added = added + 1 WHERE doc = 7",
        "UPDATE docs SET modified = coalesce(modified, 0) + 1 WHERE doc = 7",
        "UPDATE docs SET expires = coalesce(expires, 0) + 1 WHERE doc = 7",
        "UPDATE docs SET fingerprint = zeroblob(16) WHERE doc = 7",
        "UPDATE docs SET signature = zeroblob(96) WHERE doc = 7",
    ];
    for (number, sql) in damages.iter().enumerate() {
        let folder = temp.path().join(number.to_string());
        let records = with_texts(&folder);
        let catalogue = rusqlite::Connection::open(folder.join("catalog.sqlite")).unwrap();
        assert_eq!(catalogue.execute(sql, []).unwrap(), 1);
        drop(catalogue);
        let reader = open(&folder, Access::Read).unwrap();
        let problems = reader.check().unwrap();
        assert!(problems.iter().any(|problem| !problem.repairable), "{sql}: {problems:?}");
        let error = exported(&*reader).unwrap_err();
        assert!(matches!(error, IndexError::Damaged { .. }), "{sql}: {error}");
        // A search for a damaged id fails instead of reporting an unknown id.
        if sql.contains("'other'") {
            let result = reader.snapshot().unwrap().number_of(&records[6].id);
            assert!(matches!(result, Err(IndexError::Damaged { .. })), "{result:?}");
        }
        if sql.contains("SET code") {
            let result = reader.snapshot().unwrap().sets(&[DocumentNumber(7)], &mut |_, _| Ok(()));
            assert!(matches!(result, Err(IndexError::Damaged { .. })), "{result:?}");
        }
    }
    let folder = temp.path().join("settings");
    with_texts(&folder);
    let catalogue = rusqlite::Connection::open(folder.join("catalog.sqlite")).unwrap();
    let sql = "UPDATE settings SET json = replace(json, '0.5', '0.6')";
    assert_eq!(catalogue.execute(sql, []).unwrap(), 1);
    let error = open(&folder, Access::Read).map(drop).unwrap_err();
    assert!(matches!(error, IndexError::DamagedCatalogue { .. }), "{error}");
}

#[test]
fn segments_truncated_in_use_are_errors() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("index");
    let (documents, _) = filled(&folder);
    let reader = open(&folder, Access::Read).unwrap();
    let writer = open(&folder, WRITE).unwrap();
    let mut keys = Vec::new();
    let mut ask = |backend: &dyn Backend| {
        let mut snapshot = backend.snapshot().unwrap();
        let mut numbers = Vec::new();
        documents.iter().try_for_each(|document| {
            bucket_keys(backend.settings(), &document.signature, &mut keys);
            snapshot.candidates(&keys, &mut numbers)
        })
    };
    ask(&*reader).unwrap();
    ask(&*writer).unwrap();
    for path in segments(&folder) {
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_len(4096).unwrap();
    }
    for backend in [&reader, &writer] {
        let error = ask(&**backend).unwrap_err();
        assert!(matches!(error, IndexError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains("ends before byte"), "{error}");
    }
    let error = writer.compact(0).unwrap_err();
    assert!(matches!(error, IndexError::Damaged { .. }), "{error}");
    // Reading rows needs no segments.
    let count = everything(&mut *reader.snapshot().unwrap()).len();
    drop((reader, writer));
    // The next writer creates the segments again.
    let writer = open(&folder, WRITE).unwrap();
    ask(&*writer).unwrap();
    assert_clean(&*writer);
    assert_eq!(now(&*writer).len(), count);
}
