//! Kills writers of one index at random moments. Every acknowledged batch must be in the index, and
//! no call may be stored in part.
#![cfg(all(unix, feature = "sqlite"))]
#![allow(clippy::unwrap_used, reason = "these are tests")]
#![allow(clippy::disallowed_methods, reason = "the test starts itself as the writer")]

use crate::conformance::documents::{Document, Maker, settings};
use crate::conformance::{assert_clean, candidates, decisions, duplicates, known, now, unnumbered};
use lookalike_index::backend::{Backend, Change, SideTableChanges as _, bucket_keys};
use lookalike_index::duplicate_table::DuplicateEntry;
use lookalike_index::folder::{self, Tuning};
use lookalike_index::index::Access;
use lookalike_index::memory::MemoryBackend;
use lookalike_index::settings::StoredContent;
use lookalike_test_support::is_soak;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const WRITE: Access = Access::Write { wait: Duration::from_secs(10) };
const TUNING: Tuning = Tuning { tail: 12, fan_out: 2, background: true };
const FOLDER: &str = "LOOKALIKE_TEST_FOLDER";
const ROUND: &str = "LOOKALIKE_TEST_ROUND";
const IDS: u64 = 60;

/// The changes of one batch.
struct Batch {
    documents: Vec<Document>,
    removed: Vec<String>,
    /// Ids of duplicates, each with the id of its keeper.
    duplicates: Vec<(String, String)>,
}

/// Creates batch `batch` of a round. Equal numbers create equal batches.
fn batch(round: u64, batch: u64) -> Batch {
    let settings = settings(StoredContent::Sets);
    let mut maker = Maker::new(&settings, round << 20 | batch);
    let count = 1 + maker.below(9);
    let mut documents = Vec::new();
    for _ in 0..count {
        let (id, family) = (maker.below(IDS), maker.below(9));
        let mut document = maker.document(&format!("d{id}"), family);
        // The time identifies the batch that wrote the document.
        document.added = (round << 20 | batch).cast_signed();
        document.expires = None;
        documents.push(document);
    }
    let removed = (0..maker.below(3)).map(|_| format!("d{}", maker.below(IDS))).collect();
    let duplicates = (0..maker.below(4))
        .map(|_| (format!("c{}", maker.below(IDS)), format!("d{}", maker.below(IDS))))
        .collect();
    Batch { documents, removed, duplicates }
}

impl Batch {
    fn changes(&self) -> Vec<Change<'_>> {
        let puts = self.documents.iter().map(Document::put);
        puts.chain(self.removed.iter().map(|id| Change::Remove(id))).collect()
    }

    fn duplicates(&self) -> Vec<DuplicateEntry<'_>> {
        self.duplicates.iter().map(|(id, keeper)| DuplicateEntry { id, keeper }).collect()
    }
}

/// The child process: writes batches and prints the number of each stored batch, until the test
/// kills it.
#[test]
fn writer() {
    let (Ok(folder), Ok(round)) = (std::env::var(FOLDER), std::env::var(ROUND)) else { return };
    let round: u64 = round.parse().unwrap();
    let backend = folder::open_with(Path::new(&folder), WRITE, TUNING).unwrap();
    let mut out = std::io::stdout();
    for number in 0.. {
        let batch = batch(round, number);
        backend.write(&batch.changes()).unwrap();
        backend.add_duplicates(&batch.duplicates()).unwrap();
        backend.add_decisions(&[&decision(round, number)], None).unwrap();
        out.write_all(format!("\nstored {number}\n").as_bytes()).unwrap();
        out.flush().unwrap();
        if round % 5 == 4 && number % 4 == 3 {
            backend.compact(-1).unwrap();
        }
        if round % 11 == 10 && number % 6 == 5 {
            backend.repair().unwrap();
        }
    }
}

/// Returns the decision that follows a batch.
fn decision(round: u64, batch: u64) -> String {
    format!("{{\"note\":\"round {round}, batch {batch}\"}}")
}

/// Returns true if an index has the documents of the model, with their versions and duplicates.
fn is_same(backend: &dyn Backend, model: &MemoryBackend) -> bool {
    let has_originals = model.settings().store == StoredContent::Originals;
    let same_versions = |id: u64| {
        let id = format!("d{id}");
        known(backend, &id) == known(model, &id)
    };
    unnumbered(now(backend)) == unnumbered(now(model))
        && duplicates(backend) == duplicates(model)
        && (!has_originals || (0..IDS).all(same_versions))
}

/// Runs a writer until it has reported `reported` batches as stored, and kills it after `moment`.
/// Returns the number of batches that it has reported by then.
fn killed(folder: &Path, round: u64, reported: u64, moment: Duration) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "folder_crash::writer", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .env(ROUND, round.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut stored = lines.filter(|line| line.starts_with("stored "));
    let seen = stored.by_ref().take(reported as usize).count() as u64;
    assert_eq!(seen, reported, "the writer ended by itself");
    std::thread::sleep(moment);
    child.kill().unwrap();
    child.wait().unwrap();
    reported + stored.count() as u64
}

/// Kills several writers of one index in succession, and checks the index after each kill.
fn kill_writers(store: StoredContent, rounds: u64) {
    if std::env::var(FOLDER).is_ok() {
        return;
    }
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("index");
    let settings = settings(store);
    drop(folder::create(&folder, &settings).unwrap());
    let model = MemoryBackend::new(settings.clone());
    let mut maker = Maker::new(&settings, 77);
    let (mut batches, mut decided) = (0, Vec::new());
    for round in 0..rounds {
        // If `reported` is 0, the writer may die while it starts or opens the index.
        let (reported, moment) = (maker.below(8), Duration::from_micros(maker.below(8_000)));
        let stored = killed(&folder, round, reported, moment);
        for number in 0..stored {
            let batch = batch(round, number);
            model.write(&batch.changes()).unwrap();
            model.add_duplicates(&batch.duplicates()).unwrap();
        }
        batches += stored;
        let backend = folder::open_with(&folder, WRITE, TUNING).unwrap();
        // The writer may have died before it reported its last batch. Each call for this batch has
        // stored everything or nothing.
        let last = batch(round, stored);
        if !is_same(&*backend, &model) {
            model.write(&last.changes()).unwrap();
        }
        if !is_same(&*backend, &model) {
            model.add_duplicates(&last.duplicates()).unwrap();
        }
        assert!(is_same(&*backend, &model), "round {round}");
        decided.extend((0..stored).map(|number| decision(round, number)));
        let log = decisions(&*backend, 0);
        if log != decided {
            decided.push(decision(round, stored));
            assert_eq!(log, decided, "round {round}");
        }
        assert_clean(&*backend);
        let mut snapshot = backend.snapshot().unwrap();
        for record in now(&*backend) {
            assert_eq!(snapshot.number_of(&record.id).unwrap(), Some(record.number));
            let mut keys = Vec::new();
            bucket_keys(&settings, &record.signature, &mut keys);
            let found = candidates(&mut *snapshot, &keys);
            assert!(keys.is_empty() || found.contains(&record.id), "round {round}");
        }
    }
    assert!(batches > 2 * rounds, "the writers were killed before they wrote: {batches}");
    assert!(!duplicates(&model).is_empty());
}

#[test]
fn acknowledged_writes_survive_a_kill() {
    kill_writers(StoredContent::Sets, if is_soak() { 300 } else { 60 });
}

/// Repeats the test above for an index with originals and versions.
#[test]
fn archived_writes_survive_a_kill() {
    kill_writers(StoredContent::Originals, if is_soak() { 100 } else { 30 });
}
