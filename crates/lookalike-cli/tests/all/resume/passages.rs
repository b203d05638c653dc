//! Interrupted searches for passages resume and end with the same bytes, or report why they cannot.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::command::Place;
use crate::crash::{
    Random, change_unseen, end, halted, is_prepared, journal_named, start, stored_run,
};
use crate::resume::{Scenario, copy_folder, kill_and_resume};
use lookalike_test_support::{gzip, is_soak};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Name of the journal with the steps after the reading.
const STEPS: &str = "passage_steps";

/// A small memory limit, so that most data goes to files.
const WORK: [&str; 6] = ["--memory", "64MiB", "--threads", "1", "--min-words", "10"];

fn scenarios() -> Vec<Scenario> {
    let scenario = |name, args: &[&'static str], files: &[&'static str]| Scenario {
        name,
        args: [args, &WORK, &["-q"]].concat(),
        files: files.to_vec(),
    };
    let found = ["passages", "a.jsonl", "b.jsonl.gz", "-o", "p.jsonl", "--report", "r.json"];
    let cut = ["cut", "a.jsonl", "--keep", "first", "-o", "out.jsonl", "--removed", "gone.csv"];
    vec![
        scenario("passages", &found, &["p.jsonl", "r.json"]),
        scenario("cuts", &cut, &["out.jsonl", "gone.csv"]),
    ]
}

/// Returns families of documents with nested copies. After the inner part is cut out of the last
/// document of a family, the remaining parts on its two sides form a copy of another document. Each
/// further cut exposes the next copy.
fn nested_documents(first: u64, families: u64) -> String {
    let mut random = Random::new(first + 1);
    let mut out = String::new();
    for family in first..first + families {
        let mut words = |count: u64| {
            let words = (0..count).map(|_| format!("w{}", random.below(1 << 40)));
            words.collect::<Vec<_>>().join(" ")
        };
        let sides: [[String; 2]; 3] = std::array::from_fn(|_| [words(6), words(6)]);
        let inner = words(12);
        let mut text = inner.clone();
        let mut texts = vec![format!("{} {inner} {}", words(9), words(9))];
        for [left, right] in &sides {
            texts.push(format!("{} {left} {right} {}", words(15), words(15)));
            text = format!("{left} {text} {right}");
        }
        texts.push(format!("{} {text} {}", words(2), words(3)));
        for (i, text) in texts.iter().enumerate() {
            writeln!(out, "{{\"id\":\"f{family}-{i}\",\"text\":\"{text}\"}}").unwrap();
        }
    }
    out
}

fn place_with_inputs() -> Place {
    let place = Place::new();
    fs::create_dir(place.path("t")).unwrap();
    place.file("a.jsonl", nested_documents(0, 3_000));
    place.file("b.jsonl.gz", gzip(nested_documents(3_000, 1_500).as_bytes()));
    place
}

#[test]
fn killed_passage_runs_resume_correctly() {
    let place = place_with_inputs();
    let mut random = Random::new(11);
    let scenarios = scenarios();
    let expected: Vec<_> = scenarios.iter().map(|scenario| scenario.expected(&place)).collect();
    // Three rounds cut passages: each removes one part from every family.
    assert!(expected[1].0[1].lines().count() > 3_000, "{}", expected[1].0[1].lines().count());
    let (mut kills, enough) = (0, if is_soak() { 100 } else { 6 });
    while kills < enough {
        for (scenario, (expected, time)) in scenarios.iter().zip(&expected) {
            kills += kill_and_resume(scenario, &place, expected, *time, &mut random);
        }
    }
}

/// Kills a run after its first selection, or after the third cut if it cuts. Returns the steps.
fn killed_late(scenario: &Scenario, place: &Place) -> Vec<String> {
    let last = if scenario.name == "cuts" { 3 } else { 0 };
    let is_late = |_: &[String]| {
        let steps = journal_named(&place.path("t"), STEPS);
        let cuts = steps.iter().filter(|line| line.contains("\"Cut\"")).count();
        cuts >= last && steps.iter().any(|line| line.contains("\"Selected\""))
    };
    let mut child = halted(|| scenario.start(place), &place.path("t"), is_late);
    child.kill().unwrap();
    end(child);
    journal_named(&place.path("t"), STEPS)
}

/// A kill can leave any prefix of the journal, and other files that contain more than this prefix
/// lists.
#[test]
fn every_passage_journal_prefix_resumes_correctly() {
    let place = place_with_inputs();
    for scenario in scenarios() {
        let (expected, _) = scenario.expected(&place);
        let steps = killed_late(&scenario, &place);
        let run = stored_run(&place.path("t")).unwrap();
        fs::rename(&run, place.path("kept")).unwrap();
        for length in 0..=steps.len() {
            // No kill leaves this prefix. The copied file already contains the selection of a later
            // round. A run writes this selection only after the earlier round has ended.
            let is_selected = |step: &String| step.contains("\"Selected\"");
            let (before, after) = steps.split_at(length);
            if before.last().is_some_and(is_selected) && after.iter().any(is_selected) {
                continue;
            }
            copy_folder(&place.path("kept"), &run);
            let complete: String = steps[..length].iter().map(|step| step.clone() + "\n").collect();
            fs::write(run.join(STEPS), complete + "0123456789abcdef {\"Cut\"").unwrap();
            let (code, message) = end(start(&place.path(""), &scenario.resumed()));
            assert_eq!(code, Some(0), "{}, {length} steps: {message}", scenario.name);
            scenario.check(&place, &expected, &format!("{length} steps"));
        }
        fs::remove_dir_all(place.path("kept")).unwrap();
    }
}

/// The first step stores the texts of compressed input, so a resumed run does not read it again.
/// Here the input is unreadable by then.
#[test]
fn resumed_passages_skip_read_inputs() {
    let place = place_with_inputs();
    let scenario = &scenarios()[0];
    let (expected, _) = scenario.expected(&place);
    let mut child = halted(|| scenario.start(&place), &place.path("t"), is_prepared);
    child.kill().unwrap();
    end(child);
    change_unseen(&place.path("b.jsonl.gz"));
    let (code, message) = end(start(&place.path(""), &scenario.resumed()));
    assert_eq!(code, Some(0), "{message}");
    scenario.check(&place, &expected, "without its input");
}

#[test]
fn resume_rejects_a_different_passage_search() {
    let place = place_with_inputs();
    let scenario = &scenarios()[1];
    let (expected, _) = scenario.expected(&place);
    killed_late(scenario, &place);
    let refused = |more: &[&str], part: &str| {
        let message = place.run(&[&scenario.resumed()[..], more].concat()).fails(1);
        assert!(message.contains("is another one") && message.contains(part), "{message}");
    };
    refused(&["--at", "line"], "passages.cut.at was \"word\" and is \"line\"");
    refused(&["--min-documents", "3"], "passages.cut.rule was \"copies\"");
    refused(&["--case", "keep"], "parameters was");
    let other = ["passages", "a.jsonl", "--temp-dir", "t", "--resume", "--min-words", "10"];
    assert!(place.run(&other).fails(1).contains("passages.cut was"));
    let mut args = scenario.resumed();
    let at = args.iter().position(|arg| *arg == "--memory").unwrap();
    args.splice(at..at + 4, ["--threads", "2"]);
    let (code, message) = end(start(&place.path(""), &args));
    assert_eq!(code, Some(0), "{message}");
    scenario.check(&place, &expected, "with two threads");
}

#[test]
fn damaged_passage_run_files_are_errors() {
    let place = place_with_inputs();
    for (scenario, file) in scenarios().iter().zip(["unitigs", "cuts"]) {
        drop(scenario.expected(&place));
        killed_late(scenario, &place);
        let run = stored_run(&place.path("t")).unwrap();
        fs::rename(&run, place.path("kept")).unwrap();
        let refused = |damage: &dyn Fn(&Path)| {
            copy_folder(&place.path("kept"), &run);
            damage(&run);
            let message = place.run(&scenario.resumed()).fails(1);
            assert!(!fs::exists(place.path(scenario.files[0])).unwrap(), "{message}");
            fs::remove_dir_all(&run).unwrap();
            message
        };
        for name in ["anchors", "rows", file] {
            let message = refused(&|run| {
                let file = fs::File::options().write(true).open(run.join(name)).unwrap();
                file.set_len(10).unwrap();
            });
            assert!(message.contains(name) && message.contains(" bytes, found 10;"), "{message}");
        }
        let message = refused(&|run| {
            let mut bytes = fs::read(run.join(file)).unwrap();
            bytes[17] ^= 1;
            fs::write(run.join(file), bytes).unwrap();
        });
        assert!(message.contains("of an earlier run"), "{message}");
        fs::remove_dir_all(place.path("kept")).unwrap();
    }
}
