//! Only the documents and the parameters decide the bytes of an output. The number of threads, the
//! number and order of the input files, their compression, the memory limit and the kernel do not.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "this is a test")]

use crate::command::{Place, collection, jsonl};
use crate::crash::short_documents;
use lookalike_test_support::gzip;
use std::fs;

/// The standard output of a run and the files that it wrote.
struct Outputs {
    /// The groups as JSON lines and as CSV, the pairs, and the skipped records.
    tables: Vec<String>,
    /// The reports of `--json` and `--report` without the times, which come last.
    reports: [String; 2],
}

impl Outputs {
    fn of(place: &Place, args: &[&[&str]]) -> Self {
        let args = args.concat();
        let run = |files: &[&str]| place.run(&[&["find", "-q"], files, &args[..]].concat()).ok();
        let lists = ["--pairs", "p.csv", "--skipped", "s.csv", "--report", "r.json", "--json"];
        let printed = run(&[&["-o", "g.jsonl"], &lists[..]].concat());
        assert_eq!(run(&["-o", "g.csv"]), "");
        let timeless = |text: String| text.rsplit_once("\"times\":").unwrap().0.to_owned();
        let tables = ["g.jsonl", "g.csv", "p.csv", "s.csv"];
        Self {
            tables: tables.iter().map(|name| place.read(name)).collect(),
            reports: [printed, place.read("r.json")].map(timeless),
        }
    }

    /// Checks that all outputs are equal, for the same inputs.
    fn same(&self, expected: &Self, label: &str) {
        self.same_but_sources(expected, label);
        assert!(self.reports == expected.reports, "{label}: another report");
    }

    /// Checks that the outputs are equal except the names of sources, for the same documents in
    /// other files.
    fn same_but_sources(&self, expected: &Self, label: &str) {
        for (found, expected) in self.tables.iter().zip(&expected.tables) {
            assert!(found == expected, "{label}: {found} is not {expected}");
        }
        for (found, expected) in self.reports.iter().zip(&expected.reports) {
            let [found, expected] =
                [found, expected].map(|report| report.rsplit_once("\"sources\":").unwrap().0);
            assert!(found == expected, "{label}: {found} is not {expected}");
        }
    }

    /// Checks that no output is empty.
    fn are_there(&self) {
        assert!(self.tables.iter().all(|table| table.lines().count() > 1), "{:?}", self.tables);
        assert_eq!(self.reports[0], self.reports[1]);
        assert!(self.reports[0].contains("\"sources\":["), "{}", self.reports[0]);
    }
}

/// A memory limit that is just enough for five threads.
const LITTLE: &str = "128MiB";

fn same_bytes(mode: &[&str]) {
    let place = Place::new();
    let mut documents = collection(40);
    documents.push(("empty".to_owned(), " ".to_owned()));
    place.file("a.jsonl", jsonl(&documents));
    let expected = Outputs::of(&place, &[mode, &["a.jsonl"]]);
    expected.are_there();
    let same = |extra: &[&str]| {
        let found = Outputs::of(&place, &[mode, extra, &["a.jsonl"]]);
        found.same(&expected, &format!("{mode:?} {extra:?}"));
    };
    for threads in ["1", "2", "5"] {
        same(&["--threads", threads]);
        same(&["--threads", threads, "--memory", LITTLE]);
    }
    for kernel in ["scalar", "portable", "neon", "avx2", "avx512"] {
        if place.run(&["find", "-q", "a.jsonl", "--kernel", kernel]).code == Some(0) {
            same(&["--kernel", kernel]);
        } else {
            lookalike_test_support::print_skipped(&format!("this processor has no {kernel}"));
        }
    }
    documents.reverse();
    let text = jsonl(&documents);
    place.file("b.jsonl", &text).file("c.jsonl.gz", gzip(text.as_bytes()));
    for inputs in [&["b.jsonl"][..], &["c.jsonl.gz"], &["c.jsonl.gz", "--memory", LITTLE]] {
        let found = Outputs::of(&place, &[mode, inputs]);
        found.same_but_sources(&expected, &format!("{mode:?} {inputs:?}"));
    }
}

#[test]
fn bytes_agree_for_signatures() {
    same_bytes(&[]);
}

#[test]
fn bytes_agree_for_exact_runs() {
    same_bytes(&["--exact"]);
}

#[test]
fn bytes_agree_for_containment() {
    same_bytes(&["--measure", "containment"]);
}

/// The number of files that the input is divided into.
const FILES: usize = 1000;

/// Compares the documents in one file, in a thousand files named in any order, and in a folder.
#[test]
fn bytes_agree_for_a_thousand_files() {
    let place = Place::new();
    let mut documents = collection(700);
    documents.push(("empty".to_owned(), " ".to_owned()));
    place.file("all.jsonl", jsonl(&documents));
    // Moves neighbours of the collection apart.
    documents.sort_by_cached_key(|(id, _)| id.bytes().rev().collect::<Vec<_>>());
    let names: Vec<String> = (0..FILES).map(|i| format!("in/{}/{i}.jsonl", i % 7)).collect();
    for (i, name) in names.iter().enumerate() {
        let some: Vec<_> = documents.iter().skip(i).step_by(FILES).cloned().collect();
        assert!(!some.is_empty());
        place.file(name, jsonl(&some));
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for mode in [&[][..], &["--exact"]] {
        let expected = Outputs::of(&place, &[mode, &["all.jsonl"]]);
        expected.are_there();
        let limited = ["--threads", "5", "--memory", LITTLE];
        let divided = [
            [&names, &["--threads", "5"][..]].concat(),
            [&names, &limited[..]].concat(),
            vec!["in", "--threads", "1"],
            [&["in"], &limited[..]].concat(),
        ];
        for inputs in divided {
            let found = Outputs::of(&place, &[mode, &inputs]);
            found.same_but_sources(&expected, &format!("{mode:?} {:?}", &inputs[..1]));
        }
    }
}

/// Runs with the least memory that the message names, which makes heavy use of temporary files.
#[test]
fn bytes_agree_in_the_least_memory() {
    let place = Place::new();
    let documents = short_documents(0, 30_000) + "{\"id\":\"empty\",\"text\":\" \"}\nnone\n";
    place.file("a.jsonl", &documents);
    fs::create_dir(place.path("t")).unwrap();
    let mode = ["a.jsonl", "--skip-bad", "--threads", "2", "--bands", "64", "--rows", "4"];
    let expected = Outputs::of(&place, &[&mode]);
    expected.are_there();
    let with = |memory: &str, folder: &str| {
        let limit = ["--memory", memory, "--temp-dir", folder];
        place.run(&[&["find", "-q", "-o", "g.csv"], &mode[..], &limit].concat())
    };
    let reported = |message: &str| {
        let least = message.split("needs at least ").nth(1).unwrap().trim();
        least.to_owned()
    };
    // A limit that is lower by one MiB and one byte is refused, and the message names the same one.
    let least = reported(&with("1", "t").fails(1));
    let mib: u64 = least.strip_suffix("MiB").unwrap().parse().unwrap();
    assert_eq!(reported(&with(&(((mib - 1) << 20) - 1).to_string(), "t").fails(1)), least);
    let limit = ["--memory", &least, "--temp-dir", "t"];
    Outputs::of(&place, &[&mode, &limit]).same(&expected, &least);
    let message = with(&least, "missing").fails(1);
    assert!(message.contains("temporary files in missing"), "{message}");
}
