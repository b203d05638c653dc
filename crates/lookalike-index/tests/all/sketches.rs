//! An index of sketches is stored like an index of documents and finds sketches by their bands.
//! Users who ask for documents get an error.
#![cfg(feature = "sqlite")]
#![allow(clippy::unwrap_used, reason = "these are tests")]

use lookalike_core::hash::{mix64, token_hash};
use lookalike_index::IndexError;
use lookalike_index::backend::{Backend, Change, Snapshot, bucket_keys};
use lookalike_index::entry::{IndexEntry, IndexRecord, Metadata, RecordFields};
use lookalike_index::folder::{self, Tuning};
use lookalike_index::index::{self, Access, IndexLocation};
use lookalike_index::memory::MemoryBackend;
use lookalike_index::settings::IndexSettings;
use lookalike_index::sketches::SketchSettings;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

const WRITE: Access = Access::Write { wait: Duration::ZERO };
const TINY: Tuning = Tuning { tail: 20, fan_out: 3, background: false };

fn settings() -> IndexSettings {
    let sketches = SketchSettings {
        num_perm: 16,
        rows: 4,
        scheme: Some("affine32".to_owned()),
        band_bytes: 16,
        halved: false,
        prepickle: false,
        hashfunc: None,
    };
    IndexSettings::of_sketches(4, sketches)
}

/// Returns the signature of a sketch. Sketches with neighbouring numbers share bands.
fn signature(number: u32) -> Vec<u32> {
    (0..16).map(|at| if at / 4 == number % 4 { number } else { number / 4 * 64 + at }).collect()
}

fn ids(count: u32) -> Vec<String> {
    (0..count).map(|number| format!("s:{number}")).collect()
}

fn add<'a>(id: &'a str, signature: &'a [u32], metadata: &'a Metadata) -> Change<'a> {
    Change::Add(IndexEntry {
        id,
        fingerprint: 0,
        bytes: 0,
        signature,
        set: &[],
        text: None,
        original: None,
        metadata,
        added: 0,
        modified: None,
        expires: None,
    })
}

/// Adds sketches and removes every seventh.
fn fill(backend: &dyn Backend) {
    let (ids, metadata) = (ids(200), Metadata::default());
    let signatures: Vec<_> = (0..200).map(signature).collect();
    let all: Vec<_> = ids.iter().zip(&signatures).map(|(id, s)| add(id, s, &metadata)).collect();
    all.chunks(15).for_each(|part| drop(backend.write(part).unwrap()));
    let removals: Vec<_> = ids.iter().step_by(7).map(|id| Change::Remove(id)).collect();
    backend.write(&removals).unwrap();
}

/// Returns the ids that share a bucket with each sketch, and checks that their stored signatures
/// share a band with it.
fn answers(snapshot: &mut dyn Snapshot) -> Vec<BTreeSet<String>> {
    let (mut keys, mut numbers) = (Vec::new(), Vec::new());
    let wanted = RecordFields { signature: true, ..RecordFields::default() };
    let mut one = |number| {
        let probe = signature(number);
        bucket_keys(&settings(), &probe, &mut keys);
        snapshot.candidates(&keys, &mut numbers).unwrap();
        let mut found = BTreeSet::new();
        let each = &mut |record: &IndexRecord| {
            let bands = || probe.chunks(4).zip(record.signature.chunks(4));
            assert!(bands().any(|(a, b)| a == b), "{} shares no band", record.id);
            found.insert(record.id.clone());
            Ok(())
        };
        snapshot.records(&numbers, wanted, each).unwrap();
        found
    };
    (0..200).map(&mut one).collect()
}

fn now(backend: &dyn Backend) -> Vec<BTreeSet<String>> {
    answers(&mut *backend.snapshot().unwrap())
}

#[test]
fn sketches_are_found_as_in_memory() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("sketches");
    let model = MemoryBackend::new(settings());
    fill(&model);
    let expected = now(&model);
    assert!(expected.iter().any(|found| found.len() > 1));
    let backend = folder::create_with(&folder, &settings(), TINY).unwrap();
    fill(&*backend);
    assert!(backend.stats().unwrap().segments > 2);
    assert_eq!(now(&*backend), expected);
    backend.compact(0).unwrap();
    assert_eq!(now(&*backend), expected);
    assert_eq!(backend.check().unwrap(), []);
    drop(backend);
    assert_eq!(folder::settings(&folder).unwrap(), settings());
    for access in [Access::Read, WRITE] {
        assert_eq!(now(&*folder::open(&folder, access).unwrap()), expected);
    }
}

#[test]
fn sketches_are_repaired_and_copied() {
    let temp = tempfile::tempdir().unwrap();
    let (folder, copy) = (temp.path().join("sketches"), temp.path().join("copy"));
    let backend = folder::create_with(&folder, &settings(), TINY).unwrap();
    fill(&*backend);
    let expected = now(&*backend);
    backend.backup(&copy).unwrap();
    assert_eq!(now(&*folder::open(&copy, WRITE).unwrap()), expected);
    drop(backend);
    let segments = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let segment = segments.into_iter().find(|path| path.extension().is_some_and(|e| e == "seg"));
    let segment = segment.unwrap();
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes[4096] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    let backend = folder::open_with(&folder, WRITE, TINY).unwrap();
    let problems = backend.check().unwrap();
    assert!(!problems.is_empty() && problems.iter().all(|problem| problem.repairable));
    backend.repair().unwrap();
    assert_eq!(backend.check().unwrap(), []);
    assert_eq!(now(&*backend), expected);
}

#[test]
fn create_filled_is_all_or_nothing() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("sketches");
    let (metadata, one, wrong) = (Metadata::default(), signature(1), [1, 2, 3]);
    let error = folder::create_filled(&folder, &settings(), &[add("s:a", &wrong, &metadata)]);
    assert!(matches!(error, Err(IndexError::Document { .. })));
    assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 0);
    let changes = [add("s:a", &one, &metadata), add("s:b", &one, &metadata)];
    folder::create_filled(&folder, &settings(), &changes).unwrap();
    let backend = folder::open(&folder, WRITE).unwrap();
    assert_eq!(backend.snapshot().unwrap().len(), 2);
    assert_eq!(now(&*backend)[1], ["s:a", "s:b"].map(str::to_owned).into());
    let result = folder::create_filled(&folder, &settings(), &changes);
    assert!(matches!(result, Err(IndexError::Exists { .. })));
    let mut broken = settings();
    broken.rows = 5;
    let error = folder::create(&temp.path().join("other"), &broken);
    assert!(matches!(error.map(drop), Err(IndexError::NotAnIndex { .. })));
}

fn refuses(folder: &Path, access: Access) {
    let opened = index::open(&IndexLocation::Folder(folder.to_owned()), access).map(drop);
    assert!(matches!(&opened, Err(IndexError::OfSketches { .. })), "{opened:?}");
    let text = opened.unwrap_err().to_string();
    assert!(text.contains(&folder.display().to_string()) && text.contains("MinHashLSH"), "{text}");
}

#[test]
fn whoever_asks_for_documents_is_reported() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("sketches");
    let backend = folder::create(&folder, &settings()).unwrap();
    // Opening also fails while a writer has the index open.
    refuses(&folder, Access::Read);
    refuses(&folder, WRITE);
    drop(backend);
    refuses(&folder, WRITE);
    let place = IndexLocation::Folder(temp.path().join("new"));
    let result = index::create(&place, &settings()).map(drop);
    assert!(matches!(result, Err(IndexError::Params(_))), "{result:?}");
    let kept = index::Index::new(Box::new(MemoryBackend::new(settings()))).map(drop);
    assert!(matches!(kept, Err(IndexError::OfSketches { .. })), "{kept:?}");
}

#[test]
fn invalid_stored_settings_are_reported() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("sketches");
    drop(folder::create(&folder, &settings()).unwrap());
    let catalogue = rusqlite::Connection::open(folder.join("catalog.sqlite")).unwrap();
    let read = catalogue.query_row("SELECT json FROM settings", [], |row| row.get::<_, String>(0));
    let json = read.unwrap();
    let other = json.replace("\"rows\":4,\"threshold\"", "\"rows\":0,\"threshold\"");
    assert_ne!(json, other);
    let checksum = (token_hash(other.as_bytes()) ^ mix64(0)).cast_signed();
    let damage = "UPDATE settings SET json = ?1, checksum = ?2";
    assert_eq!(catalogue.execute(damage, rusqlite::params![other, checksum]).unwrap(), 1);
    drop(catalogue);
    for access in [Access::Read, WRITE] {
        let opened = folder::open(&folder, access).map(drop);
        assert!(matches!(opened, Err(IndexError::NotAnIndex { .. })), "{opened:?}");
    }
}

#[test]
fn document_settings_json_omits_sketches() {
    use lookalike_core::params::{Params, ParamsBuilder};
    use lookalike_index::settings::StoredContent;
    let params = Params::new(&ParamsBuilder::default()).unwrap();
    let settings = IndexSettings::new(&params, "", StoredContent::Sets).unwrap();
    assert!(
        !settings.to_json("x").unwrap().contains("sketches"),
        "{}",
        settings.to_json("x").unwrap()
    );
    assert!(
        settings.to_json("x").unwrap().ends_with("\"store\":\"sets\"}"),
        "{}",
        settings.to_json("x").unwrap()
    );
    assert_eq!(IndexSettings::from_json(&settings.to_json("x").unwrap(), "x").unwrap(), settings);
}
