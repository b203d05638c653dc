//! Nothing but the documents and the parameters decides the bytes of any output: not threads, how
//! many files the input is, their order, compression, memory or kernel.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "this is a test")]

mod command;

use command::{Place, collection, jsonl};
use std::io::Write;

/// Every output of a run, by name.
fn outputs(place: &Place, mode: &[&str], extra: &[&str], inputs: &[&str]) -> Vec<String> {
    let run = |groups: &str| {
        let files = ["-q", "-o", groups, "--pairs", "p.csv", "--skipped", "s.csv"];
        let args = ["find"].into_iter().chain(files);
        let args = args.chain([mode, extra, inputs].into_iter().flatten().copied());
        let args: Vec<&str> = args.collect();
        place.run(&args).ok();
        place.read(groups)
    };
    vec![run("g.jsonl"), run("g.csv"), place.read("p.csv"), place.read("s.csv")]
}

/// A limit on memory that five threads can just work in.
const LITTLE: &str = "128MiB";

fn same_bytes(mode: &[&str]) {
    let place = Place::new();
    let mut documents = collection(40);
    documents.push(("empty".to_owned(), " ".to_owned()));
    place.file("a.jsonl", jsonl(&documents));
    let expected = outputs(&place, mode, &[], &["a.jsonl"]);
    assert!(expected.iter().all(|output| output.lines().count() > 1), "{expected:?}");
    let same = |extra: &[&str], inputs: &[&str]| {
        assert_eq!(outputs(&place, mode, extra, inputs), expected, "{mode:?} {extra:?}");
    };
    for threads in ["1", "2", "5"] {
        same(&["--threads", threads], &["a.jsonl"]);
        same(&["--threads", threads, "--memory", LITTLE], &["a.jsonl"]);
    }
    for kernel in ["scalar", "portable", "avx2", "avx512"] {
        if place.run(&["find", "-q", "a.jsonl", "--kernel", kernel]).code == Some(0) {
            same(&["--kernel", kernel], &["a.jsonl"]);
        } else {
            writeln!(std::io::stderr(), "SKIPPED: this processor has no {kernel}").unwrap();
        }
    }
    documents.reverse();
    let text = jsonl(&documents);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    place.file("b.jsonl", &text).file("c.jsonl.gz", gzip.finish().unwrap());
    same(&[], &["b.jsonl"]);
    same(&[], &["c.jsonl.gz"]);
    same(&["--memory", LITTLE], &["c.jsonl.gz"]);
    let names: Vec<String> = (0..documents.len()).map(|i| format!("part-{i}.jsonl")).collect();
    for (name, document) in names.iter().zip(&documents) {
        place.file(name, jsonl(std::slice::from_ref(document)));
    }
    same(&[], &names.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn of_signatures() {
    same_bytes(&[]);
}

#[test]
fn of_exact_runs() {
    same_bytes(&["--exact"]);
}

#[test]
fn of_containment() {
    same_bytes(&["--measure", "containment"]);
}
