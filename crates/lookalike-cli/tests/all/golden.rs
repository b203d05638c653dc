//! Golden checksums of everything that the program writes for fixed collections. They show whether
//! a code change alters an output.
//!
//! `fixtures/golden.tsv` has a line for each output: the command, the output, its number of bytes
//! and their CRC-32. Times are masked. A failing test writes all lines to `golden.tsv` in the
//! temporary folder of the build. If the change is intended, copy this file to `fixtures`.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "this is a test")]

use crate::command::{Place, collection, jsonl, root};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// Commands with the files that each writes in addition to its standard output.
const COMMANDS: &[(&str, &[&str])] = &[
    ("find sample", &[]),
    ("find sample --json", &[]),
    ("find sample -t 0.5 -o g.csv --pairs p.csv --report r.json", &["g.csv", "p.csv", "r.json"]),
    ("find sample -t 0.5 -o g.jsonl --pairs p.csv --csv-safe", &["g.jsonl", "p.csv"]),
    ("find sample -t 0.5 -o g.parquet --pairs p.parquet", &["g.parquet", "p.parquet"]),
    ("find sample -t 0.5 --report r.html", &["r.html"]),
    ("find sample -t 0.5 --report r.json --audit 20", &["r.json"]),
    ("find sample -t 0.4 --exact --json", &[]),
    ("find sample -t 0.6 --measure containment --json", &[]),
    ("find sample -t 0.5 --group components --keep shortest --json", &[]),
    ("find sample -t 0.4 --shingle words:3 --scheme multiply-shift --seed 7 --json", &[]),
    ("find sample -t 0.6 --shingle chars:5 --scheme mod-prime --json", &[]),
    ("find sample -t 0.7 --shingle bytes:6 --scheme xor --json", &[]),
    ("find sample -t 0.5 --shingle bag --stop-words en --frequencies --json", &[]),
    ("find sample -t 0.7 --tokens word-runs --case keep --normalize fold --json", &[]),
    ("find sample -t 0.7 --normalize language:auto,segment:dictionary --json", &[]),
    ("find sample/press --reference sample/office -t 0.3 --json", &[]),
    ("find c.jsonl --memory 128MiB --threads 2 --json", &[]),
    ("find c.jsonl --bands auto --json", &[]),
    (
        "find extract -t 0.3 --skipped s.csv --pairs p.csv -o g.jsonl",
        &["s.csv", "p.csv", "g.jsonl"],
    ),
    ("find extract/mail --quotes keep --mail-signatures cut --attachments --json", &[]),
    ("find extract/html --html all -t 0.3 --json", &[]),
    ("dedup c.jsonl -o d.jsonl", &["d.jsonl"]),
    ("dedup c.jsonl --annotate -o d.jsonl", &["d.jsonl"]),
    ("dedup c.csv --annotate -o d.csv", &["d.csv"]),
    ("dedup sample --dry-run", &[]),
    ("dedup sample --script s.sh", &["s.sh"]),
    ("audit r.json sample --json", &[]),
    ("tune sample", &[]),
    ("tune c.jsonl --json", &[]),
    ("evaluate p.csv sample.truth.csv --json", &[]),
    ("compare sample/recipe-lentil-soup.txt sample/recipe-lentil-soup-copy.txt", &[]),
    ("compare sample/recipe-lentil-soup.txt sample/recipe-lentil-soup-copy.txt --json", &[]),
    ("index create ix c.jsonl -t 0.5", &[]),
    ("index create ic sample --measure containment -t 0.5", &[]),
    ("index add ix sample", &[]),
    ("index remove ix g1", &[]),
    ("index stats ix --json", &[]),
    ("index groups ix", &[]),
    ("index export ix -o e.jsonl", &["e.jsonl"]),
    ("query ix sample/lost-cat.txt --json", &[]),
    ("query ix sample/recipe-lentil-soup.txt --nearest 5", &[]),
    ("query ic sample/recipe-lentil-soup.txt --json", &[]),
    ("dedup c.jsonl -o d.jsonl --removed gone.csv", &["d.jsonl", "gone.csv"]),
    ("passages sample --min-words 10 --json", &[]),
    ("passages sample --min-words 10 -o p.csv --report p.html", &["p.csv", "p.html"]),
    ("passages sample --min-words 10 -o p.jsonl", &["p.jsonl"]),
    (
        "contamination sample --against items.jsonl -o i.jsonl --drop drop.jsonl --report i.html",
        &["i.jsonl", "drop.jsonl", "i.html"],
    ),
    ("shard plan job c.jsonl --tasks 3", &[]),
    ("shard keys job", &[]),
    ("shard connect job", &[]),
    ("shard components job", &[]),
    ("shard decide job", &[]),
    ("shard finish job -o s.csv", &["s.csv"]),
    ("index create iw c.jsonl -t 0.5", &[]),
    ("index compact iw", &["iw/0000000001.seg"]),
    ("watch sample --index iw --once --json --settle 0s", &[]),
];

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).unwrap();
            let file = fs::File::options().write(true).open(to).unwrap();
            file.set_modified(UNIX_EPOCH + Duration::from_secs(1_700_000_000)).unwrap();
        }
    }
}

/// Removes run-specific values: the folder, the times of stages, and time stamps such as
/// `2026-01-02T03:04:05.6Z`.
fn masked(bytes: &[u8], folder: &str) -> Vec<u8> {
    let Ok(text) = str::from_utf8(bytes) else { return bytes.to_vec() };
    let mut text = text.replace(folder, "FOLDER");
    if let Some((report, _)) = text.rsplit_once("\"times\":") {
        text = report.to_owned();
    }
    // Rows of the HTML page that show the time of a stage.
    let is_time = |line: &str| {
        ["second</td></tr>", "seconds</td></tr>"].iter().any(|end| line.ends_with(end))
    };
    text = text.split_inclusive('\n').filter(|line| !is_time(line.trim_end())).collect();
    let mut masked = String::new();
    for (i, piece) in text.split("\"20").enumerate() {
        let moment = piece.split('"').next().unwrap();
        let is_moment = i > 0 && moment.contains('T') && moment.ends_with('Z');
        if i > 0 {
            masked.push_str(if is_moment { "\"MOMENT" } else { "\"20" });
        }
        masked.push_str(if is_moment { &piece[moment.len()..] } else { piece });
    }
    masked.into_bytes()
}

#[test]
fn every_output_has_its_golden_bytes() {
    let place = Place::new();
    for folder in ["sample", "extract"] {
        copy(&root().join("fixtures").join(folder), &place.path(folder));
    }
    place.file("sample.truth.csv", fs::read(root().join("fixtures/sample.truth.csv")).unwrap());
    let documents = collection(30);
    place.file("c.jsonl", jsonl(&documents));
    let soup = fs::read_to_string(place.path("sample/recipe-lentil-soup.txt")).unwrap();
    place.file("items.jsonl", jsonl(&[("soup".to_owned(), soup)]));
    let rows = documents.iter().map(|(id, text)| format!("{id},{text}\n"));
    place.file("c.csv", format!("id,text\n{}", rows.collect::<String>()));
    let folder = fs::canonicalize(place.path("")).unwrap().to_str().unwrap().to_owned();
    let mut found = String::new();
    let mut line = |command: &str, output: &str, bytes: &[u8]| {
        let bytes = masked(bytes, &folder);
        let mut crc = flate2::Crc::new();
        crc.update(&bytes);
        writeln!(found, "{command}\t{output}\t{}\t{:08x}", bytes.len(), crc.sum()).unwrap();
    };
    for (command, outputs) in COMMANDS {
        let run = place.run(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(run.code, Some(0), "{command}: {run:?}");
        line(command, "-", run.out.as_bytes());
        for output in *outputs {
            line(command, output, &fs::read(place.path(output)).unwrap());
        }
    }
    let expected = fs::read_to_string(root().join("fixtures/golden.tsv")).unwrap_or_default();
    if found != expected {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden.tsv");
        fs::write(&path, &found).unwrap();
        let other = found.lines().filter(|line| !expected.lines().any(|golden| golden == *line));
        let other: Vec<&str> = other.collect();
        panic!("other bytes than in fixtures/golden.tsv:\n{}\nall: {path:?}", other.join("\n"));
    }
}
