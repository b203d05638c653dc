//! Several processes write at the same time, and some of them are killed.

use super::{WRITE, postgres_open};
use crate::conformance::documents::{Document, Maker, settings};
use crate::conformance::{assert_clean, decisions, now};
use lookalike_core::hash::SplitMix64;
use lookalike_index::IndexError;
use lookalike_index::backend::{Change, ChangeOutcome};
use lookalike_index::duplicate_table::DuplicateEntry;
use lookalike_index::postgres;
use lookalike_index::settings::StoredContent;
use lookalike_test_support::is_soak;
use lookalike_test_support::postgres_server::{drop_index, server};
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

const EACH: u64 = 9;

/// Creates the documents of one batch. All writers share the first three ids; the others are unique
/// to the writer and the round.
fn batch(maker: &mut Maker, name: &str, round: u64) -> Vec<Document> {
    let ids = (0..EACH).map(|i| match i {
        0..3 => format!("shared {}", (round + i) % 7),
        _ => format!("{name} {round} {i}"),
    });
    ids.map(|id| maker.document(&id, 1)).collect()
}

/// Returns the decision that follows a batch.
fn decision(name: &str, round: u64) -> String {
    format!("{{\"note\":\"{name} {round}\"}}")
}

/// The child process, which is this program. It reads its task from the environment, writes
/// batches, and prints each acknowledged batch with the number of added documents.
#[test]
#[ignore = "the other side of the tests below"]
#[expect(
    clippy::disallowed_methods,
    reason = "a child of this program reads its task from the environment"
)]
fn write_on_and_on() {
    let reported = |name: &str| std::env::var(format!("LOOKALIKE_TEST_{name}")).unwrap();
    let (url, name) = (reported("URL"), reported("NAME"));
    let rounds: u64 = reported("ROUNDS").parse().unwrap();
    let backend = postgres_open(&url, WRITE);
    let mut maker = Maker::new(backend.settings(), rounds);
    let mut out = std::io::stdout();
    for round in 0..rounds {
        let documents = batch(&mut maker, &name, round);
        let changes: Vec<Change<'_>> = documents.iter().map(Document::put).collect();
        let outcomes = backend.write(&changes).unwrap();
        let added = outcomes.iter().filter(|outcome| **outcome == ChangeOutcome::Added).count();
        // Duplicates of the first document that only this writer writes.
        let went: Vec<String> = (3..EACH).map(|i| format!("{name} {round} {i} copy")).collect();
        let entry = |id| DuplicateEntry { id, keeper: &documents[3].id };
        let entries: Vec<_> = went.iter().map(|id| entry(id)).collect();
        backend.add_duplicates(&entries).unwrap();
        backend.add_decisions(&[&decision(&name, round)], None).unwrap();
        writeln!(out, "\nstored {round} {added}").unwrap();
        out.flush().unwrap();
    }
}

fn child(url: &str, name: &str, rounds: u64) -> (Child, BufReader<ChildStdout>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "postgres::writers::write_on_and_on", "--ignored", "--nocapture"])
        .env("LOOKALIKE_TEST_URL", url)
        .env("LOOKALIKE_TEST_NAME", name)
        .env("LOOKALIKE_TEST_ROUNDS", rounds.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    (child, out)
}

/// Returns the round and the number of added documents of the next acknowledged batch.
fn next(out: &mut BufReader<ChildStdout>) -> Option<(u64, u64)> {
    let mut line = String::new();
    while out.read_line(&mut line).unwrap() > 0 {
        if let Some(numbers) = line.trim_end().strip_prefix("stored ") {
            let (round, added) = numbers.split_once(' ')?;
            return Some((round.parse().unwrap(), added.parse().unwrap()));
        }
        line.clear();
    }
    None
}

#[test]
fn concurrent_processes_lose_no_writes() {
    const ROUNDS: u64 = 40;
    let Some(server) = server() else { return };
    let url = server.fresh();
    let backend = postgres::create(&url, &settings(StoredContent::Sets)).unwrap();
    let names = ["p", "q", "r"];
    let children: Vec<_> = names.iter().map(|name| child(&url, name, ROUNDS)).collect();
    let mut added = 0;
    for (mut child, mut out) in children {
        while let Some((_, more)) = next(&mut out) {
            added += more;
        }
        assert!(child.wait().unwrap().success());
    }
    let records = now(&*backend);
    let ids: BTreeSet<&str> = records.iter().map(|record| &record.id[..]).collect();
    assert_eq!(ids.len(), records.len(), "no id twice");
    assert_eq!(records.len() as u64, 7 + 3 * ROUNDS * (EACH - 3));
    assert_eq!(records.len() as u64, added, "each was added once");
    let log = decisions(&*backend, 0);
    let expected: BTreeSet<String> =
        names.iter().flat_map(|name| (0..ROUNDS).map(|round| decision(name, round))).collect();
    assert_eq!(log.len(), expected.len(), "no decision twice");
    assert_eq!(log.into_iter().collect::<BTreeSet<_>>(), expected);
    assert_clean(&*backend);
    drop(backend);
    drop_index(server, &url);
}

#[test]
fn concurrent_adds_store_an_id_once() {
    let Some(server) = server() else { return };
    let url = server.fresh();
    let backend = postgres::create(&url, &settings(StoredContent::Sets)).unwrap();
    let mut maker = Maker::new(&settings(StoredContent::Sets), 1);
    let document = maker.document("a", 1);
    for _ in 0..10 {
        let results = std::thread::scope(|scope| {
            let (url, document) = (&url, &document);
            let add = move || postgres_open(url, WRITE).write(&[document.add()]);
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(add)).collect();
            threads.into_iter().map(|one| one.join().unwrap()).collect::<Vec<_>>()
        });
        let is_taken = |result: &&Result<_, _>| matches!(result, Err(IndexError::IdTaken { .. }));
        assert_eq!(results.iter().filter(is_taken).count(), 3);
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
        assert_eq!(now(&*backend).len(), 1);
        assert_eq!(backend.write(&[Change::Remove("a")]).unwrap(), [ChangeOutcome::Removed]);
    }
    assert_clean(&*backend);
    drop(backend);
    drop_index(server, &url);
}

#[test]
fn acknowledged_batches_survive_killed_processes() {
    let kills = if is_soak() { 300 } else { 50 };
    let Some(server) = server() else { return };
    let url = server.fresh();
    let backend = postgres::create(&url, &settings(StoredContent::Originals)).unwrap();
    let mut random = SplitMix64::new(17);
    let (mut acknowledged, mut decided) = (0, 0);
    for kill in 0..kills {
        let name = format!("k{kill}");
        let (mut child, mut out) = child(&url, &name, 1_000_000);
        let expected = random.below(6);
        let mut rounds = 0;
        while rounds < expected {
            rounds = next(&mut out).unwrap().0 + 1;
        }
        std::thread::sleep(Duration::from_micros(random.below(12_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        // Reads the output that the process wrote before it was killed.
        while let Some((round, _)) = next(&mut out) {
            rounds = round + 1;
        }
        acknowledged += rounds;
        // The server may still be committing the last batch. This write waits for it.
        backend.write(&[Change::Remove("nothing")]).unwrap();
        let mut snapshot = backend.snapshot().unwrap();
        let mut is_stored = |round: u64| {
            let ids = (3..EACH).map(|i| format!("{name} {round} {i}"));
            let count = ids.filter(|id| snapshot.number_of(id).unwrap().is_some()).count();
            assert!([0, 6].contains(&count), "half a batch");
            count == 6
        };
        assert!((0..rounds).all(&mut is_stored), "round {kill}: an acknowledged batch is lost");
        let is_extra_stored = is_stored(rounds);
        assert!(!is_stored(rounds + 1), "at most one is there that was not acknowledged");
        for round in 0..rounds + u64::from(is_extra_stored) {
            let keeper = format!("{name} {round} 3");
            let number = snapshot.number_of(&keeper).unwrap().unwrap();
            let size = snapshot.group_sizes(&[number]).unwrap()[0];
            assert!(size == 7 || (size == 1 && round == rounds), "round {kill}: {size}");
            let versions = snapshot.versions(&keeper).unwrap();
            assert_eq!(versions.len(), 1, "round {kill}");
            assert!(!snapshot.original(&versions[0]).unwrap().is_empty());
        }
        let log = decisions(&*backend, decided);
        decided += log.len() as u64;
        let expected: Vec<String> =
            (0..log.len() as u64).map(|round| decision(&name, round)).collect();
        assert_eq!(log, expected, "round {kill}");
        let is_extra_stored = (rounds..=rounds + 1).contains(&(log.len() as u64));
        assert!(is_extra_stored, "round {kill}: an acknowledged decision is lost");
        if kill % 10 == 9 {
            assert_clean(&*backend);
        }
    }
    assert!(acknowledged > kills, "the processes were killed while they wrote");
    assert_clean(&*backend);
    drop(backend);
    drop_index(server, &url);
}
