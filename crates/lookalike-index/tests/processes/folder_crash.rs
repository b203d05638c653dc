//! A writer is killed at any moment, hundreds of times on one index: what it had acknowledged is
//! there, whole batches only.
#![cfg(all(unix, feature = "sqlite"))]
#![allow(clippy::unwrap_used, reason = "these are tests")]
#![allow(clippy::disallowed_methods, reason = "the test starts itself as the writer")]

use crate::conformance::documents::{Document, Maker, settings};
use crate::conformance::{assert_clean, candidates, decisions, now};
use lookalike_index::backend::{Backend, Change, bucket_keys};
use lookalike_index::index::Access;
use lookalike_index::settings::StoredContent;
use lookalike_index::sqlite::{self, Tuning};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const WRITE: Access = Access::Write { wait: Duration::from_secs(10) };
const TUNING: Tuning = Tuning { tail: 12, fan_out: 2, background: true };
const FOLDER: &str = "LOOKALIKE_TEST_FOLDER";
const ROUND: &str = "LOOKALIKE_TEST_ROUND";
const ROUNDS: u64 = 300;
const IDS: u64 = 60;

/// What batch `batch` of a round does: documents that are put, ids that are removed.
fn batch(round: u64, batch: u64) -> (Vec<Document>, Vec<String>) {
    let settings = settings(StoredContent::Sets);
    let mut maker = Maker::new(&settings, round << 20 | batch);
    let count = 1 + maker.below(9);
    let mut documents = Vec::new();
    for _ in 0..count {
        let (id, family) = (maker.below(IDS), maker.below(9));
        let mut document = maker.document(&format!("d{id}"), family);
        // Which batch wrote it.
        document.added = (round << 20 | batch).cast_signed();
        document.expires = None;
        documents.push(document);
    }
    let removed = (0..maker.below(3)).map(|_| format!("d{}", maker.below(IDS))).collect();
    (documents, removed)
}

fn changes(batch: &(Vec<Document>, Vec<String>)) -> Vec<Change<'_>> {
    let puts = batch.0.iter().map(Document::put);
    puts.chain(batch.1.iter().map(|id| Change::Remove(id))).collect()
}

/// The other process: writes and tells what is stored, until it is killed.
#[test]
fn writer() {
    let (Ok(folder), Ok(round)) = (std::env::var(FOLDER), std::env::var(ROUND)) else { return };
    let round: u64 = round.parse().unwrap();
    let backend = sqlite::open_with(Path::new(&folder), WRITE, TUNING).unwrap();
    let mut out = std::io::stdout();
    for number in 0.. {
        let batch = batch(round, number);
        backend.write(&changes(&batch)).unwrap();
        backend.add_decisions(&[&decision(round, number)]).unwrap();
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

/// The decision that follows a batch.
fn decision(round: u64, batch: u64) -> String {
    format!("{{\"note\":\"round {round}, batch {batch}\"}}")
}

/// What ids say, by fingerprint and batch.
type Contents = BTreeMap<String, (u128, i64)>;

fn apply(contents: &mut Contents, batch: &(Vec<Document>, Vec<String>)) {
    for document in &batch.0 {
        contents.insert(document.id.clone(), (document.fingerprint, document.added));
    }
    for id in &batch.1 {
        contents.remove(id);
    }
}

/// Runs a writer until it has reported `reported` batches as stored, and kills it a moment later;
/// how many it has reported by then.
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

fn contents(backend: &dyn Backend) -> Contents {
    let record = |r: lookalike_index::entry::IndexRecord| (r.id, (r.fingerprint, r.added));
    now(backend).into_iter().map(record).collect()
}

#[test]
fn what_was_acknowledged_outlives_a_kill() {
    if std::env::var(FOLDER).is_ok() {
        return;
    }
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("index");
    let settings = settings(StoredContent::Sets);
    drop(sqlite::create(&folder, &settings).unwrap());
    let mut maker = Maker::new(&settings, 77);
    let (mut wanted, mut batches) = (Contents::new(), 0);
    let mut decided = Vec::new();
    for round in 0..ROUNDS {
        // With none reported, it is killed while it starts and opens the index.
        let (reported, moment) = (maker.below(8), Duration::from_micros(maker.below(8_000)));
        let stored = killed(&folder, round, reported, moment);
        (0..stored).for_each(|number| apply(&mut wanted, &batch(round, number)));
        batches += stored;
        let backend = sqlite::open_with(&folder, WRITE, TUNING).unwrap();
        let there = contents(&*backend);
        if there != wanted {
            // The last one may be stored although there was no time to say so; then all of it.
            apply(&mut wanted, &batch(round, stored));
            assert_eq!(there, wanted, "round {round}");
        }
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
    assert!(batches > 2 * ROUNDS, "the writers were killed before they wrote: {batches}");
}
