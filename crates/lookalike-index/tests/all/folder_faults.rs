//! Faults of an index in a folder: damaged segments, other programs, full disks and several
//! writers.
#![cfg(feature = "sqlite")]
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod checksums;
mod duplicates;
mod full_disk;
mod originals;
mod untrusted;

use crate::conformance::documents::{Document, Maker, settings};
use crate::conformance::{assert_clean, candidates, decisions, everything, now};
use lookalike_index::IndexError;
use lookalike_index::backend::{Backend, Change, bucket_keys};
use lookalike_index::entry::DocumentNumber;
use lookalike_index::entry::{IndexRecord, MAX_METADATA_BYTES};
use lookalike_index::folder::{self, Tuning};
use lookalike_index::index::Access;
use lookalike_index::settings::StoredContent;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const WRITE: Access = Access::Write { wait: Duration::ZERO };
const LONG: Duration = Duration::from_secs(60);
const TINY: Tuning = Tuning { tail: 20, fan_out: 3, background: false };

fn open(folder: &Path, access: Access) -> Result<Box<dyn Backend>, IndexError> {
    folder::open_with(folder, access, TINY)
}

/// Creates an index of 300 documents, some of them removed, in several segments.
fn filled(folder: &Path) -> (Vec<Document>, Vec<IndexRecord>) {
    let settings = settings(StoredContent::Sets);
    let backend = folder::create_with(folder, &settings, TINY).unwrap();
    let mut maker = Maker::new(&settings, 7);
    let documents: Vec<_> = (0..300).map(|i| maker.document(&format!("d{i}"), i % 9)).collect();
    for part in documents.chunks(30) {
        backend.write(&part.iter().map(Document::add).collect::<Vec<_>>()).unwrap();
    }
    let removals: Vec<String> = (0..300).step_by(7).map(|i| format!("d{i}")).collect();
    backend.write(&removals.iter().map(|id| Change::Remove(id)).collect::<Vec<_>>()).unwrap();
    (documents, now(&*backend))
}

fn segments(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = entries.filter(|p| p.extension().is_some_and(|e| e == "seg")).collect();
    found.sort();
    found
}

/// Returns the ids that share a bucket with each document, calculated from the rows alone.
fn answers(documents: &[Document], records: &[IndexRecord]) -> Vec<Vec<String>> {
    let settings = settings(StoredContent::Sets);
    let keys = |signature: &[u32]| {
        let mut keys = Vec::new();
        bucket_keys(&settings, signature, &mut keys);
        keys
    };
    let all: Vec<_> = records.iter().map(|r| (r.id.clone(), keys(&r.signature))).collect();
    let one = |document: &Document| {
        let own = keys(&document.signature);
        let share = |keys: &[u64]| keys.iter().any(|key| own.contains(key));
        all.iter().filter(|(_, keys)| share(keys)).map(|(id, _)| id.clone()).collect()
    };
    documents.iter().map(one).collect()
}

fn assert_answers(backend: &dyn Backend, documents: &[Document], expected: &[Vec<String>]) {
    let mut snapshot = backend.snapshot().unwrap();
    let mut keys = Vec::new();
    for (document, expected) in documents.iter().zip(expected) {
        bucket_keys(backend.settings(), &document.signature, &mut keys);
        assert_eq!(candidates(&mut *snapshot, &keys), *expected);
    }
}

#[test]
fn missing_or_truncated_segments_are_rebuilt() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("index");
    let (documents, records) = filled(&folder);
    let expected = answers(&documents, &records);
    let files = segments(&folder);
    assert!(files.len() >= 5, "{files:?}");
    let mut maker = Maker::new(&settings(StoredContent::Sets), 1);
    for round in 0..12 {
        let files = segments(&folder);
        let file = &files[maker.below(files.len() as u64) as usize];
        let length = std::fs::metadata(file).unwrap().len();
        match round % 4 {
            0 => std::fs::remove_file(file).unwrap(),
            1 => std::fs::write(file, []).unwrap(),
            2 => {
                let cut = std::fs::File::options().write(true).open(file).unwrap();
                cut.set_len(maker.below(length)).unwrap();
            }
            // Copies one segment to the name of another.
            _ => drop(std::fs::copy(&files[0], &files[1]).unwrap()),
        }
        let reader = open(&folder, Access::Read).unwrap();
        let error = reader.snapshot().map(drop).unwrap_err();
        assert!(matches!(error, IndexError::Damaged { .. }), "{error}");
        let problems = reader.check().unwrap();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].repairable);
        drop(reader);
        let writer = open(&folder, WRITE).unwrap();
        assert_clean(&*writer);
        assert_eq!(now(&*writer), records);
        assert_answers(&*writer, &documents, &expected);
    }
}

#[test]
fn a_flipped_bit_is_never_believed() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("index");
    let (documents, records) = filled(&folder);
    let expected = answers(&documents, &records);
    let mut maker = Maker::new(&settings(StoredContent::Sets), 2);
    for _ in 0..25 {
        let files = segments(&folder);
        let file = &files[maker.below(files.len() as u64) as usize];
        let mut bytes = std::fs::read(file).unwrap();
        let at = maker.below(bytes.len() as u64) as usize;
        bytes[at] ^= 1 << maker.below(8);
        std::fs::write(file, &bytes).unwrap();

        // A reader gives the correct answer or reports the damage.
        let reader = open(&folder, Access::Read).unwrap();
        if let Ok(mut snapshot) = reader.snapshot() {
            let mut keys = Vec::new();
            for (document, expected) in documents.iter().zip(&expected) {
                bucket_keys(reader.settings(), &document.signature, &mut keys);
                let mut numbers = Vec::new();
                match snapshot.candidates(&keys, &mut numbers) {
                    Ok(()) => assert_eq!(candidates(&mut *snapshot, &keys), *expected),
                    Err(error) => assert!(matches!(error, IndexError::Damaged { .. }), "{error}"),
                }
                let stored = records.iter().find(|record| record.id == document.id);
                match snapshot.number_of(&document.id) {
                    Ok(number) => assert_eq!(number, stored.map(|record| record.number)),
                    Err(error) => assert!(matches!(error, IndexError::Damaged { .. }), "{error}"),
                }
            }
            assert_eq!(everything(&mut *snapshot), records, "rows are not concerned");
        }
        let problems = reader.check().unwrap();
        assert!(problems.len() == 1 && problems[0].repairable, "{problems:?}");
        drop(reader);
        let writer = open(&folder, WRITE).unwrap();
        writer.repair().unwrap();
        assert_clean(&*writer);
        assert_answers(&*writer, &documents, &expected);
    }
}

#[test]
fn unlisted_segments_are_removed_by_writers() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("index");
    filled(&folder);
    let orphan = folder.join("0000009999.seg");
    std::fs::write(&orphan, b"half a segment").unwrap();
    assert_clean(&*open(&folder, Access::Read).unwrap());
    assert!(orphan.exists());
    drop(open(&folder, WRITE).unwrap());
    assert!(!orphan.exists());
}

#[cfg(unix)]
#[test]
fn abandoned_unfinished_folders_are_removed() {
    let temp = tempfile::tempdir().unwrap();
    let named = |name: &str| temp.path().join(name);
    // Another process with the same process number may have been killed earlier.
    let own = named(&format!("index.unfinished-{}", std::process::id()));
    let left = [own, named("index.unfinished-4000000")];
    let kept = [named("other.unfinished-4000000"), named("index.unfinished-notes")];
    let filled_now = named("index.unfinished-4000001");
    for folder in left.iter().chain(&kept).chain([&filled_now]) {
        std::fs::create_dir(folder).unwrap();
        std::fs::write(folder.join("catalog.sqlite"), "half").unwrap();
    }
    let filling = std::fs::File::open(&filled_now).unwrap();
    filling.try_lock().unwrap();
    let backend = folder::create(&named("index"), &settings(StoredContent::Sets)).unwrap();
    assert!(left.iter().all(|folder| !folder.exists()));
    assert!(kept.iter().chain([&filled_now]).all(|folder| folder.exists()));
    std::fs::create_dir(named("copy.unfinished-4000000")).unwrap();
    backend.backup(&named("copy")).unwrap();
    assert!(!named("copy.unfinished-4000000").exists());
}

/// The error names a service while it holds the lock, but not afterwards.
#[test]
fn lock_errors_name_the_service() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("index");
    let service_of = |folder: &Path| match open(folder, Access::Write { wait: Duration::ZERO }) {
        Err(IndexError::InUse { service, .. }) => service,
        other => panic!("{:?}", other.map(drop)),
    };
    let writer = folder::create(&folder, &settings(StoredContent::Sets)).unwrap();
    assert_eq!(service_of(&folder), None);
    writer.announce_service("http://127.0.0.1:65535").unwrap();
    writer.announce_service("http://127.0.0.1:1").unwrap();
    assert_eq!(service_of(&folder).as_deref(), Some("http://127.0.0.1:1"));
    drop(writer);
    let _other = open(&folder, Access::Write { wait: Duration::ZERO }).unwrap();
    assert_eq!(service_of(&folder), None);
}

#[test]
fn second_writer_waits_for_the_lock() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("index");
    let writer = folder::create(&folder, &settings(StoredContent::Sets)).unwrap();
    let wait = Duration::from_millis(150);
    let started = Instant::now();
    let error = open(&folder, Access::Write { wait }).map(drop).unwrap_err();
    assert!(matches!(error, IndexError::InUse { .. }), "{error}");
    assert!(started.elapsed() >= wait);
    let snapshot = writer.snapshot().unwrap();
    std::thread::scope(|scope| {
        let second = scope.spawn(|| open(&folder, Access::Write { wait: LONG }).map(drop));
        std::thread::sleep(Duration::from_millis(30));
        drop(writer);
        second.join().unwrap().unwrap();
    });
    // A snapshot may live longer than its writer.
    assert_eq!(snapshot.len(), 0);
}

#[test]
fn concurrently_replaced_document_is_found_once() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("index");
    let settings = settings(StoredContent::Sets);
    let writer = folder::create(&folder, &settings).unwrap();
    let document = Maker::new(&settings, 1).of_set("a", (1..40).collect());
    writer.write(&[document.put()]).unwrap();
    let reader = folder::open(&folder, Access::Read).unwrap();
    let mut keys = Vec::new();
    bucket_keys(&settings, &document.signature, &mut keys);
    let (done, started) = (AtomicBool::new(false), Barrier::new(5));
    let look = || {
        started.wait();
        while !done.load(Ordering::Acquire) {
            let mut snapshot = reader.snapshot().unwrap();
            assert_eq!(candidates(&mut *snapshot, &keys), ["a"]);
            assert!(snapshot.number_of("a").unwrap().is_some());
        }
    };
    std::thread::scope(|scope| {
        let looks: Vec<_> = (0..4).map(|_| scope.spawn(look)).collect();
        started.wait();
        for _ in 0..600 {
            writer.write(&[document.put()]).unwrap();
        }
        done.store(true, Ordering::Release);
        for look in looks {
            look.join().unwrap();
        }
    });
}

#[test]
fn missing_and_foreign_paths_are_errors() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("index");
    for access in [Access::Read, WRITE] {
        assert!(matches!(open(&folder, access), Err(IndexError::Missing { .. })));
    }
    let file = temp.path().join("file");
    std::fs::write(&file, "x").unwrap();
    std::fs::create_dir(&folder).unwrap();
    for (place, content) in [(&file, None), (&folder, None), (&folder, Some("no database at all"))]
    {
        if let Some(content) = content {
            std::fs::write(folder.join("catalog.sqlite"), content.repeat(1000)).unwrap();
        }
        for access in [Access::Read, WRITE] {
            let error = open(place, access).map(drop).unwrap_err();
            assert!(matches!(error, IndexError::NotAnIndex { .. }), "{error}");
        }
    }
    assert!(!folder.join("lock").exists(), "nothing is written");
    let error = folder::create(&folder, &settings(StoredContent::Sets)).map(drop).unwrap_err();
    assert!(matches!(error, IndexError::Exists { .. }), "{error}");
    std::fs::remove_file(folder.join("catalog.sqlite")).unwrap();
    let other = rusqlite::Connection::open(folder.join("catalog.sqlite")).unwrap();
    other.execute_batch("CREATE TABLE settings(json TEXT)").unwrap();
    let error = open(&folder, WRITE).map(drop).unwrap_err();
    assert!(matches!(error, IndexError::NotAnIndex { .. }), "{error}");
}

#[test]
fn another_version_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("index");
    drop(folder::create(&folder, &settings(StoredContent::Sets)).unwrap());
    let catalogue = rusqlite::Connection::open(folder.join("catalog.sqlite")).unwrap();
    for version in [0, 2] {
        catalogue.execute_batch(&format!("PRAGMA user_version = {version}")).unwrap();
        for access in [Access::Read, WRITE] {
            match open(&folder, access).map(drop).unwrap_err() {
                IndexError::Version { got, expected, .. } => {
                    assert_eq!((got, expected), (version, 1));
                }
                error => panic!("{error}"),
            }
        }
    }
}

#[test]
fn damage_of_decisions_is_named() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("index");
    filled(&folder);
    let (writer, reader) = (open(&folder, WRITE).unwrap(), open(&folder, Access::Read).unwrap());
    assert_eq!(decisions(&*reader, 0), [""; 0]);
    let first = ["{\"a\":1}", "{\"b\":2}"];
    assert_eq!(writer.add_decisions(&first, None).unwrap(), Some(2));
    assert_eq!(decisions(&*reader, 0).len(), 2);
    drop(writer);
    assert_eq!(decisions(&*open(&folder, WRITE).unwrap(), 1), ["{\"b\":2}"]);

    let catalogue = rusqlite::Connection::open(folder.join("catalog.sqlite")).unwrap();
    catalogue.execute_batch("UPDATE decisions SET json = '{}' WHERE number = 2").unwrap();
    let problems = reader.check().unwrap();
    assert_eq!(problems.len(), 1);
    assert_eq!((&problems[0].place[..], problems[0].repairable), ("decision 2", false));
    let read = reader.snapshot().unwrap().decisions(0, 9, &mut |_, _| Ok(()));
    assert!(matches!(read, Err(IndexError::Damaged { .. })));
}

#[test]
fn damage_of_categories_is_named() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("index");
    filled(&folder);
    let (writer, reader) = (open(&folder, WRITE).unwrap(), open(&folder, Access::Read).unwrap());
    assert_eq!(reader.snapshot().unwrap().categories().unwrap(), None);
    assert_eq!(writer.replace_categories(b"model", DocumentNumber(0), &[]).unwrap(), 1);
    assert!(reader.snapshot().unwrap().categories().unwrap().is_some());
    drop(writer);
    assert_clean(&*open(&folder, WRITE).unwrap());

    let catalogue = rusqlite::Connection::open(folder.join("catalog.sqlite")).unwrap();
    catalogue.execute_batch("UPDATE categories SET model = x'00', through = 4000000").unwrap();
    catalogue.execute_batch("INSERT INTO category_members VALUES(4000000, 1)").unwrap();
    let problems = reader.check().unwrap();
    let places: Vec<_> = problems.iter().map(|problem| problem.place.as_str()).collect();
    assert_eq!(places, ["model 1 of categories", "category_members", "category_members"]);
    let read = reader.snapshot().unwrap().category_model();
    assert!(matches!(read, Err(IndexError::Damaged { .. })));
}

#[test]
fn damaged_rows_are_reported() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("index");
    let (_, records) = filled(&folder);
    let catalogue = rusqlite::Connection::open(folder.join("catalog.sqlite")).unwrap();
    let damages = [
        "UPDATE sets SET code = x'ff00ff' WHERE doc = ?1",
        "UPDATE docs SET signature = zeroblob(96) WHERE doc = ?1",
        "UPDATE docs SET fingerprint = x'00' WHERE doc = ?1",
        "UPDATE docs SET id = 'other' WHERE doc = ?1",
        "UPDATE state SET documents = documents + ?1",
    ];
    let full = records.iter().filter(|record| !record.signature.is_empty());
    for (sql, record) in damages.iter().zip(full.step_by(9)) {
        catalogue.execute(sql, [record.number.0.cast_signed()]).unwrap();
    }
    drop(catalogue);
    let reader = open(&folder, Access::Read).unwrap();
    let problems = reader.check().unwrap();
    // The first damage also makes a byte count wrong.
    assert_eq!(problems.len(), damages.len() + 1, "{problems:?}");
    assert_eq!(problems.iter().filter(|problem| problem.repairable).count(), 2);
    drop(reader);
    let writer = open(&folder, WRITE).unwrap();
    writer.repair().unwrap();
    let left = writer.check().unwrap();
    assert_eq!(left.len(), 4, "{left:?}");
    assert!(left.iter().all(|problem| !problem.repairable));
}

#[test]
fn damaged_catalogue_pages_are_not_repairable() {
    const PAGE: usize = 16 << 10;
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("index");
    filled(&folder);
    let path = folder.join("catalog.sqlite");
    let sound = std::fs::read(&path).unwrap();
    let mut opened = 0;
    for page in 1..sound.len() / PAGE {
        let mut bytes = sound.clone();
        bytes[page * PAGE..(page + 1) * PAGE].fill(0xa5);
        std::fs::write(&path, bytes).unwrap();
        match open(&folder, Access::Read) {
            Ok(reader) => {
                let problems = reader.check().unwrap();
                let lost = problems.iter().any(|problem| !problem.repairable);
                assert!(lost, "page {page}: {problems:?}");
                opened += 1;
            }
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains("backup") && !text.contains("check"), "{text}");
            }
        }
    }
    assert!(opened > 3, "{opened} could be opened");
}

#[test]
fn metadata_has_a_limit() {
    let temp = tempfile::tempdir().unwrap();
    let settings = settings(StoredContent::Sets);
    let backend = folder::create(&temp.path().join("index"), &settings).unwrap();
    let mut document = Maker::new(&settings, 1).document("a", 1);
    document.metadata.insert("much".to_owned(), "x".repeat(MAX_METADATA_BYTES).into());
    let mut later = document.clone();
    later.metadata.clear();
    // A later change of the same id or a later error does not hide an invalid document.
    for changes in [
        vec![document.add()],
        vec![document.put(), later.put()],
        vec![document.add(), Change::Remove("a")],
        vec![document.put(), later.add()],
    ] {
        let error = backend.write(&changes).unwrap_err();
        assert!(matches!(error, IndexError::Document { .. }), "{error}");
        assert_eq!(now(&*backend), []);
    }
}

#[test]
fn readers_cannot_write() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("index");
    filled(&folder);
    let reader = open(&folder, Access::Read).unwrap();
    let errors =
        [reader.write(&[Change::Remove("d1")]).map(drop), reader.compact(0), reader.repair()];
    for error in errors {
        assert!(matches!(error, Err(IndexError::ReadOnly { .. })), "{error:?}");
    }
}

/// A separate in-memory file system. If none can be mounted, `of` prints this and returns `None`.
struct Disk(PathBuf);

impl Disk {
    fn of(parent: &Path, options: &str) -> Option<Self> {
        let at = parent.join("disk");
        std::fs::create_dir_all(&at).unwrap();
        let mount = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "none"])
            .arg(&at)
            .output();
        if mount.is_ok_and(|output| output.status.success()) {
            return Some(Self(at));
        }
        let skipped = "no file system can be mounted here, which takes a privilege";
        lookalike_test_support::print_skipped(skipped);
        None
    }

    fn remount(&self, options: &str) {
        let mut mount = std::process::Command::new("mount");
        assert!(mount.args(["-o", options]).arg(&self.0).status().unwrap().success());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn full_disk_keeps_acknowledged_writes() {
    let temp = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::of(temp.path(), "size=3m") else { return };
    let folder = disk.0.join("index");
    let settings = settings(StoredContent::Sets);
    let backend = folder::create_with(&folder, &settings, TINY).unwrap();
    let mut maker = Maker::new(&settings, 7);
    let mut stored = 0;
    let error = loop {
        let documents: Vec<_> =
            (stored..stored + 25).map(|i| maker.document(&format!("d{i}"), i)).collect();
        match backend.write(&documents.iter().map(Document::add).collect::<Vec<_>>()) {
            Ok(_) => stored += 25,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, IndexError::DiskFull { .. }), "{error}");
    assert!(stored > 100);
    assert_eq!(now(&*backend).len() as u64, stored);
    let compacted = backend.compact(-1);
    assert!(matches!(compacted, Ok(()) | Err(IndexError::DiskFull { .. })), "{compacted:?}");
    drop(backend);
    disk.remount("remount,size=20m");
    let backend = open(&folder, WRITE).unwrap();
    assert_eq!(now(&*backend).len() as u64, stored);
    assert_clean(&*backend);
    backend.write(&[maker.document("one more", 1).add()]).unwrap();
}

#[test]
fn read_only_folders_can_be_read() {
    let temp = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::of(temp.path(), "size=20m") else { return };
    let folder = disk.0.join("index");
    let (documents, records) = filled(&folder);
    assert!(!folder.join("catalog.sqlite-wal").exists(), "the last one leaves no log");
    disk.remount("remount,ro");
    let error = open(&folder, WRITE).map(drop).unwrap_err();
    assert!(matches!(error, IndexError::ReadOnly { .. }), "{error}");
    let error =
        folder::create(&disk.0.join("new"), &settings(StoredContent::Sets)).map(drop).unwrap_err();
    assert!(matches!(error, IndexError::ReadOnly { .. }), "{error}");
    assert!(error.to_string().contains("its file system"), "{error}");
    let reader = open(&folder, Access::Read).unwrap();
    assert_eq!(now(&*reader), records);
    assert_answers(&*reader, &documents, &answers(&documents, &records));
    // The reader notices a writer that opens the index after the file system becomes writable.
    disk.remount("remount,rw");
    let writer = open(&folder, WRITE).unwrap();
    writer.write(&[Change::Remove("d1")]).unwrap();
    assert_eq!(now(&*reader).len() + 1, records.len());
}

/// Runs a test of this file again as a user without rights to the folder.
#[cfg(unix)]
fn as_another(test: &str, folder: &Path) {
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::process::CommandExt;
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", test, "--nocapture"]).env(FOLDER, folder);
    if folder.metadata().unwrap().uid() == 0 {
        child.uid(65_534).gid(65_534);
    }
    let Ok(output) = child.output() else {
        let skipped = "this test cannot be run as another user here";
        lookalike_test_support::print_skipped(skipped);
        return;
    };
    let reported = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && reported.contains("1 passed"), "{output:?}");
}

#[cfg(unix)]
const FOLDER: &str = "LOOKALIKE_TEST_FOLDER";

#[cfg(unix)]
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test starts itself with a task in the environment"
)]
fn permission_errors_report_the_remedy() {
    use std::os::unix::fs::PermissionsExt;
    if let Ok(folder) = std::env::var(FOLDER) {
        let error = open(Path::new(&folder), Access::Read).map(drop).unwrap_err().to_string();
        assert!(error.contains("let this user write to the folder"), "{error}");
        let error = folder::create(&Path::new(&folder).join("new"), &settings(StoredContent::Sets));
        let error = error.map(drop).unwrap_err().to_string();
        assert!(error.contains("no right to write"), "{error}");
        return;
    }
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("index");
    filled(&folder);
    // Makes the files readable by everyone, unlike those of a new index.
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o644)).unwrap();
    }
    for place in [temp.path(), &folder] {
        std::fs::set_permissions(place, PermissionsExt::from_mode(0o555)).unwrap();
    }
    as_another("folder_faults::permission_errors_report_the_remedy", &folder);
    for place in [temp.path(), &folder] {
        std::fs::set_permissions(place, PermissionsExt::from_mode(0o755)).unwrap();
    }
}
