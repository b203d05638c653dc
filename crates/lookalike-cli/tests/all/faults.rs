//! Full disks, read-only folders, changing inputs and too little memory. Every error names the
//! place and the remedy, and leaves no file behind.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::command::Place;
use crate::crash::{end, halted, is_prepared, names, short_documents, signal, start, stored_run};
use lookalike_test_support::{gzip, is_soak};
use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

const BINARY: &str = env!("CARGO_BIN_EXE_lookalike");

/// Runs a shell script in the folder; `$0` is the program. Returns its exit code and standard
/// error.
pub(crate) fn shell(place: &Place, script: &str) -> (Option<i32>, String) {
    let command = Command::new("sh")
        .args(["-c", script, BINARY])
        .current_dir(place.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    end(command.unwrap())
}

/// Checks an error: exit code 1, and a message with these parts.
pub(crate) fn says(outcome: (Option<i32>, String), parts: &[&str]) {
    let (code, message) = outcome;
    assert_eq!(code, Some(1), "{message}");
    assert!(message.starts_with("error: ") && !message.contains("panicked"), "{message}");
    for part in parts {
        assert!(message.contains(part), "{part}: {message}");
    }
}

/// Returns a folder with an input, plain and compressed. The texts of compressed input also go to a
/// temporary file.
fn place_with_input() -> Place {
    let place = Place::new();
    fs::create_dir(place.path("t")).unwrap();
    let documents = short_documents(0, 30_000);
    place.file("a.jsonl", &documents).file("a.jsonl.gz", gzip(documents.as_bytes()));
    place
}

#[test]
fn unusable_temp_folders_are_errors() {
    let place = place_with_input();
    place.file("file", "");
    let limited = ["find", "a.jsonl.gz", "--memory", "60MiB", "--threads", "1", "-o", "g.csv"];
    for (folder, problem) in [("no/such", "No such file"), ("file", "Not a directory")] {
        for resume in [&[][..], &["--resume"]] {
            let args = [&limited[..], &["--temp-dir", folder], resume].concat();
            let message = place.run(&args).fails(1);
            assert!(message.contains(&format!("temporary files in {folder}")), "{message}");
            assert!(message.contains(problem) && message.contains("--temp-dir names"), "{message}");
        }
    }
    assert_eq!(names(&place.path("")), ["a.jsonl", "a.jsonl.gz", "file", "t"]);
}

/// A limit on file sizes simulates a full disk, whichever file reaches it.
#[test]
fn full_temp_disks_fail_cleanly() {
    let place = place_with_input();
    let find = "exec \"$0\" find a.jsonl.gz --memory 60MiB --threads 1 --temp-dir t -q -o g.csv";
    // `ulimit -f` counts blocks of 512 bytes. The texts take more than 4 MiB, which is 8,192
    // blocks.
    for blocks in [1, 100, 2_000, 8_000] {
        let limit = format!("trap '' XFSZ; ulimit -f {blocks}; {find}");
        let outcome = shell(&place, &limit);
        says(outcome, &["temporary file", "t/lookalike-", "--temp-dir"]);
        assert_eq!(names(&place.path("")), ["a.jsonl", "a.jsonl.gz", "t"]);
        assert_eq!(names(&place.path("t")), [""; 0], "{blocks}");
    }
    let (code, message) = shell(&place, find);
    assert_eq!(code, Some(0), "{message}");
    let expected = place.read("g.csv");
    fs::remove_file(place.path("g.csv")).unwrap();

    // With --resume, the folder remains. The run resumes when there is enough room for its files.
    for blocks in [1, 100, 8_000] {
        let limit = format!("trap '' XFSZ; ulimit -f {blocks}; {find} --resume");
        says(shell(&place, &limit), &["temporary file", "--temp-dir"]);
        assert_eq!(names(&place.path("t")).len(), 1);
        assert_eq!(names(&place.path("")), ["a.jsonl", "a.jsonl.gz", "t"]);
    }
    let (code, message) = shell(&place, &format!("{find} --resume"));
    assert_eq!(code, Some(0), "{message}");
    assert!(place.read("g.csv") == expected, "another result");
    assert_eq!(names(&place.path("t")), [""; 0]);
}

#[test]
fn full_disks_keep_old_outputs() {
    let place = place_with_input();
    place.file("g.csv", "old").file("p.csv", "old");
    let find = "exec \"$0\" find a.jsonl -q";
    for output in ["-o g.csv", "-o g.jsonl", "--pairs p.csv", "-o g.parquet"] {
        let name = output.split(' ').nth(1).unwrap();
        let limited = format!("trap '' XFSZ; ulimit -f 8; {find} {output}");
        says(shell(&place, &limited), &["cannot write", name, "unchanged"]);
    }
    assert_eq!(place.read("g.csv") + &place.read("p.csv"), "oldold");
    assert_eq!(names(&place.path("")), ["a.jsonl", "a.jsonl.gz", "g.csv", "p.csv", "t"]);
}

/// Printed by tests if no disk can be mounted.
pub(crate) const NO_DISK: &str = "no disk can be mounted here, so that a full one is not tried";

/// Runs a script with a disk of this size mounted at `t`. Returns `None` if the system does not let
/// a test mount one. The script must end with exit code 1.
pub(crate) fn with_small_disk(
    place: &Place,
    size: &str,
    script: &str,
) -> Option<(Option<i32>, String)> {
    let script = format!("mount -t tmpfs -o size={size} none t || exit 77\n{script}");
    let inner = Command::new("unshare")
        .args(["-rm", "sh", "-c", &script, BINARY])
        .current_dir(place.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    inner
        .ok()
        .map(end)
        .filter(|(code, message)| *code == Some(1) && !message.starts_with("unshare:"))
}

/// Runs on a disk that is really full, if the system lets a test mount one.
#[test]
fn a_small_disk() {
    let place = place_with_input();
    let find = "exec \"$0\" find a.jsonl.gz --memory 60MiB --threads 1 -q";
    let full = ["No space left", "make room"];
    let mounted = |size, script: &str| with_small_disk(&place, size, script);
    let Some(outcome) = mounted("1m", &format!("{find} --temp-dir t -o g.csv")) else {
        lookalike_test_support::print_skipped(NO_DISK);
        return;
    };
    says(outcome, &full);
    says(mounted("1m", &format!("{find} --temp-dir t --resume -o g.csv")).unwrap(), &full);
    says(mounted("64k", &format!("{find} --temp-dir . -o t/g.csv")).unwrap(), &full);
    assert_eq!(names(&place.path("")), ["a.jsonl", "a.jsonl.gz", "t"]);
}

/// The input changes between the passes of a run. Each change causes an error that names the file.
#[test]
fn changed_inputs_fail_the_run() {
    let place = place_with_input();
    let args = [
        "find",
        "b.jsonl",
        "--memory",
        "60MiB",
        "--threads",
        "1",
        "-q",
        "-o",
        "g.csv",
        "--temp-dir",
        "t",
        "--resume",
    ];
    let path = place.path("b.jsonl");
    let shorter = || fs::File::options().write(true).open(&path).unwrap().set_len(1 << 20).unwrap();
    let newer = || {
        let file = fs::File::options().append(true).open(&path).unwrap();
        let time = file.metadata().unwrap().modified().unwrap();
        file.set_modified(time + Duration::from_secs(3)).unwrap();
    };
    let changes: [(&dyn Fn(), &[&str]); 4] = [
        (&shorter, &["b.jsonl"]),
        (&|| crate::crash::change_unseen(&path), &["b.jsonl"]),
        (&newer, &["b.jsonl", "bytes, changed 20"]),
        (&|| fs::remove_file(&path).unwrap(), &["b.jsonl"]),
    ];
    let between = |steps: &[String]| {
        is_prepared(steps) && !steps.iter().any(|line| line.contains("\"Batch\""))
    };
    for (change, parts) in changes {
        fs::copy(place.path("a.jsonl"), &path).unwrap();
        let begin = || {
            drop(fs::remove_file(place.path("g.csv")));
            start(&place.path(""), &args)
        };
        let child = halted(begin, &place.path("t"), between);
        change();
        signal(&child, "-CONT");
        says(end(child), parts);
        assert!(!fs::exists(place.path("g.csv")).unwrap());
        let run = stored_run(&place.path("t")).unwrap();
        fs::remove_dir_all(run).unwrap();
    }
}

/// Returns the least memory limit that works, in MiB, and the peak of that run, in KiB. Follows the
/// limits that the messages name. `limit` is the first one, and must not exceed the result.
fn least(place: &Place, args: &[&str], mut limit: u64) -> (u64, u64) {
    loop {
        let memory = format!("{limit}MiB");
        let (peak, code, message) = measured(place, &[args, &["--memory", &memory]].concat());
        if code == Some(0) {
            return (limit, peak);
        }
        assert!(code == Some(1) && message.starts_with("error: "), "{code:?} {message}");
        let reported = message.split("needs at least ").nth(1).unwrap().trim();
        let more = reported.trim_end_matches("MiB").parse().unwrap();
        assert!(more > limit, "{message}");
        limit = more;
    }
}

#[test]
fn reported_least_memory_suffices() {
    let place = place_with_input();
    let args = ["find", "a.jsonl", "--threads", "1", "-q", "-o", "g.csv", "--temp-dir", "t"];
    let (memory, _) = least(&place, &args, 1);
    let memory_text = format!("{}MiB", memory - 1);
    let message = place.run(&[&args[..], &["--memory", &memory_text]].concat()).fails(1);
    assert!(message.contains(&format!("at least {memory}MiB")), "{message}");
    assert_eq!(names(&place.path("t")), [""; 0]);
}

/// Memory of the program file in a release build that has run all stages, in KiB. A test build maps
/// 17 to 24 MiB, depending on the state of its file in the page cache.
const PROGRAM_KIB: u64 = 12 << 10;

/// Returns the peak memory of a run that must succeed, in KiB. Linux reports it during the run. The
/// mapped file pages of this build are replaced by [`PROGRAM_KIB`].
fn peak(place: &Place, args: &[&str]) -> u64 {
    let (peak, code, message) = measured(place, args);
    assert_eq!(code, Some(0), "{message}");
    peak
}

/// Returns the [`peak`] of a run, its exit code and its message.
fn measured(place: &Place, args: &[&str]) -> (u64, Option<i32>, String) {
    let mut child = start(&place.path(""), args);
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let kib = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().trim_end_matches(" kB").parse::<u64>().ok()
        };
        if let Some((all, files)) = kib("VmHWM:").zip(kib("RssFile:")) {
            peak = peak.max(PROGRAM_KIB + all.saturating_sub(files));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let (code, message) = end(child);
    (peak, code, message)
}

/// Returns five documents of some MiB each, two pairs of which are near-duplicates.
fn long_documents() -> String {
    let mut lines = String::new();
    for i in 0..5u64 {
        let text = crate::command::words(i / 2 + 1, 400_000);
        writeln!(lines, "{{\"id\":\"long{i}\",\"text\":\"{text}{i}\"}}").unwrap();
    }
    lines
}

#[cfg(target_os = "linux")]
#[test]
fn the_limit_holds() {
    let place = Place::new();
    let documents = short_documents(0, 60_000) + &long_documents();
    place.file("a.jsonl", &documents).file("a.jsonl.gz", gzip(documents.as_bytes()));
    fs::create_dir(place.path("t")).unwrap();
    let variants: [&[&str]; 5] = [
        &["a.jsonl"],
        &["a.jsonl.gz", "--threads", "1"],
        &["a.jsonl.gz", "--pairs", "p.csv"],
        &["a.jsonl", "--exact", "--threads", "1"],
        &["a.jsonl", "--measure", "containment", "--threads", "1"],
    ];
    for variant in variants {
        let args = [&["find"], variant, &["-q", "-o", "g.csv", "--temp-dir", "t"]].concat();
        // The least limit leaves the least room.
        let (mib, kib) = least(&place, &args, 1);
        assert!(kib <= mib * 1024 * 11 / 10, "{variant:?}: {kib} KiB with {mib}MiB");
        if is_soak() {
            let mib = 128.max(mib);
            let limit = format!("{mib}MiB");
            let kib = peak(&place, &[&args[..], &["--memory", &limit]].concat());
            assert!(kib <= mib * 1024 * 11 / 10, "{variant:?}: {kib} KiB with {limit}");
        }
    }
}

/// Skipped lines do not have to fit in memory, but all of them are listed.
#[cfg(target_os = "linux")]
#[test]
fn skipped_records_respect_memory_limit() {
    let place = Place::new();
    fs::create_dir(place.path("t")).unwrap();
    // When these documents come again, their ids are repeated and the records are skipped.
    let documents = short_documents(0, 10_000);
    let mut lines = documents.clone();
    for i in 0..300_000 {
        let id = if i % 2 == 0 { "id" } else { "key" };
        writeln!(lines, "{{\"{id}\":\"bad{i}\",\"words{}\":0}}", i % 1000).unwrap();
    }
    lines += &documents;
    place.file("a.jsonl", &lines);
    let args = ["find", "a.jsonl", "--skip-bad", "--skipped", "s.csv", "--report", "r.json"];
    let args = [&args[..], &["-q", "-o", "g.csv", "--temp-dir", "t", "--threads", "2"]].concat();
    let written = || {
        let report = place.read("r.json").rsplit_once("\"times\":").unwrap().0.to_owned();
        [place.read("g.csv"), place.read("s.csv"), report]
    };
    peak(&place, &args);
    let expected = written();
    assert_eq!(expected[1].lines().count(), 1 + 300_000 + 10_000);
    let (mib, kib) = least(&place, &args, 1);
    let holds = |kib: u64, extra: &str| {
        assert!(kib <= mib * 1024 * 11 / 10, "{kib} KiB with {mib}MiB {extra}");
        assert!(written() == expected, "{mib}MiB {extra}: other bytes");
        assert_eq!(names(&place.path("t")), [""; 0]);
    };
    holds(kib, "");
    let limit = format!("{mib}MiB");
    let resumable = ["--memory", &limit, "--resume"];
    holds(peak(&place, &[&args[..], &resumable].concat()), "--resume");
}

/// Returns `count` documents from `sources` sources with long names, as JSONL.
#[cfg(target_os = "linux")]
fn with_sources(count: u64, sources: u64) -> String {
    let mut lines = String::new();
    for i in 0..count {
        let (source, text) = (i * 7 % sources, i / 2);
        writeln!(lines, "{{\"id\":\"d{i}\",\"text\":\"w{text}\",\"from\":\"{source:0300}\"}}")
            .unwrap();
    }
    lines
}

/// The memory limit includes the names of sources.
#[cfg(target_os = "linux")]
#[test]
fn source_names_respect_memory_limit() {
    let place = Place::new();
    fs::create_dir(place.path("t")).unwrap();
    place.file("a.jsonl", with_sources(60_000, 50_000));
    let args = ["find", "a.jsonl", "--source-field", "from", "--report", "r.json", "-q"];
    let args = [&args[..], &["-o", "g.csv", "--temp-dir", "t", "--threads", "2"]].concat();
    let written = || place.read("r.json").rsplit_once("\"times\":").unwrap().0.to_owned();
    peak(&place, &args);
    let expected = written();
    let sources = expected.rsplit_once("\"sources\":[\n").unwrap().1;
    assert_eq!(sources.lines().count(), 50_000);
    for (i, line) in (0u64..).zip(sources.lines().take(9)) {
        let counts = "\"documents\":2,\"bytes\":";
        let named = format!("{{\"name\":\"{:0300}\",{counts}", i * 7);
        assert!(line.starts_with(&named), "{line}");
    }
    // Without the names, the least limit is 57 MiB. Each of the 50,000 names adds at least 600
    // bytes.
    let named = 50_000 * 600 / (1 << 20);
    let (mib, kib) = least(&place, &args, 57 + named);
    assert!(mib > 57 + named, "names of 300 bytes are not counted");
    let holds = |kib: u64, extra: &str| {
        assert!(kib <= mib * 1024 * 11 / 10, "{kib} KiB with {mib}MiB {extra}");
        assert!(written() == expected, "{mib}MiB {extra}: other bytes");
    };
    holds(kib, "");
    let limit = format!("{mib}MiB");
    let resumable = ["--memory", &limit, "--resume"];
    holds(peak(&place, &[&args[..], &resumable].concat()), "--resume");
}

/// A source field with more than 100,000 values is an error.
#[test]
fn too_many_source_values_are_errors() {
    let place = Place::new();
    let mut lines = String::new();
    for i in 0..100_000 {
        writeln!(lines, "{{\"id\":\"d{i}\",\"text\":\"w\",\"from\":\"s{i}\"}}").unwrap();
    }
    place.file("most.jsonl", &lines);
    lines += "{\"id\":\"d\",\"text\":\"w\",\"from\":\"s\"}\n";
    place.file("more.jsonl", &lines);
    let args = ["--source-field", "from", "-q", "-o", "g.csv"];
    let message = place.run(&[&["find", "more.jsonl"], &args[..]].concat()).fails(1);
    let parts = ["\"from\" has at least 100001 values", "at most 100000", "with fewer values"];
    for part in parts {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert_eq!(names(&place.path("")), ["more.jsonl", "most.jsonl"]);
    place.run(&[&["find", "most.jsonl"], &args[..]].concat()).ok();
}

/// Returns JSONL of a record with this many words, and of short records.
#[cfg(target_os = "linux")]
fn with_long_record(words: usize) -> String {
    let text = crate::command::words(7, words);
    format!("{{\"id\":\"long\",\"text\":\"{text}\"}}\n") + &short_documents(0, 1_000)
}

/// Runs with a limit of 1 MiB, which is refused. The run must accept the limit that the message
/// names, and keep to it. Returns this limit in MiB.
#[cfg(target_os = "linux")]
fn named_memory(place: &Place, args: &[&str]) -> u64 {
    let output = if args[0] == "contamination" { "out.jsonl" } else { "out.csv" };
    let args = [args, &["-q", "-o", output, "--temp-dir", "t"]].concat();
    let message = place.run(&[&args[..], &["--memory", "1MiB"]].concat()).fails(1);
    let named = message.split("needs at least ").nth(1).unwrap().trim().to_owned();
    let (kib, code, message) = measured(place, &[&args[..], &["--memory", &named]].concat());
    assert_eq!(code, Some(0), "{args:?} with {named}: {message}");
    let mib = named.trim_end_matches("MiB").parse::<u64>().unwrap();
    assert!(kib <= mib * 1024 * 11 / 10, "{args:?}: {kib} KiB with {named}");
    mib
}

/// Checks that the named limit is at most 1.3 times the memory that a run takes without a limit.
#[cfg(target_os = "linux")]
fn is_near_need(place: &Place, args: &[&str]) {
    let mib = named_memory(place, args);
    let kib = peak(place, &[args, &["-q", "-o", "out.csv"]].concat());
    assert!(mib * 1024 <= kib * 13 / 10, "{args:?}: {mib} MiB named, {kib} KiB taken");
}

#[cfg(target_os = "linux")]
fn place_with_folder() -> Place {
    let place = Place::new();
    fs::create_dir(place.path("t")).unwrap();
    place
}

#[cfg(target_os = "linux")]
#[test]
fn named_memory_suffices_for_long_records() {
    let place = place_with_folder();
    place.file("a.jsonl", with_long_record(6_000_000));
    is_near_need(&place, &["find", "a.jsonl"]);
    is_near_need(&place, &["find", "a.jsonl", "--frequencies"]);
}

/// Returns JSONL of records with this many words each.
#[cfg(target_os = "linux")]
fn unequal_records(count: u64, words: usize) -> String {
    let mut lines = String::new();
    for i in 0..count {
        let text = crate::command::words(i + 1, words);
        writeln!(lines, "{{\"id\":\"d{i}\",\"text\":\"{text}\"}}").unwrap();
    }
    lines
}

#[cfg(target_os = "linux")]
#[test]
fn memory_for_long_counted_repeats() {
    let place = place_with_folder();
    place.file("a.jsonl", unequal_records(4, 3_000_000));
    // Each thread reads two long records, one after the other.
    named_memory(&place, &["find", "a.jsonl", "--frequencies", "--threads", "2"]);
}

#[cfg(target_os = "linux")]
#[test]
fn memory_for_long_passages() {
    let place = place_with_folder();
    place.file("a.jsonl", unequal_records(2, 1_000_000));
    // Memory is highest when both threads read a long record at the same time.
    named_memory(&place, &["passages", "a.jsonl", "--threads", "2"]);
    is_near_need(&place, &["passages", "a.jsonl", "--threads", "1"]);
}

#[cfg(target_os = "linux")]
#[test]
fn named_memory_for_contamination() {
    let place = place_with_folder();
    let lines = with_long_record(400_000) + &with_long_record(300_000).replace("long", "longer");
    place.file("items.jsonl", &lines).file("corpus.jsonl", lines + &short_documents(2_000, 10));
    let args = ["contamination", "corpus.jsonl", "--against", "items.jsonl", "--threads", "2"];
    named_memory(&place, &args);
}

#[cfg(target_os = "linux")]
#[test]
fn named_memory_for_each_format() {
    let place = place_with_folder();
    let text = crate::command::words(7, 1_500_000);
    let records = |begin: &str, end: &str| {
        let mut all = String::new();
        for text in ["one short text of five words", &text, "another short text of words"] {
            all += begin;
            all += text;
            all += end;
        }
        all
    };
    let message = "From a@b.c Sat Jan  3 01:05:34 1996\nSubject: s\n\n";
    let warc = |text: &str| {
        let length = text.len();
        let kind = "WARC-Type: conversion\r\nContent-Type: text/plain";
        format!("WARC/1.0\r\n{kind}\r\nContent-Length: {length}\r\n\r\n{text}\r\n\r\n")
    };
    let values = format!("id,text\na,\"short \"\"text\"\"\"\nb,\"{text}\"\nc,text\n");
    place
        .file("v.csv.gz", gzip(values.as_bytes()))
        .file("m.mbox.gz", gzip(records(message, "\n\n").as_bytes()))
        .file("w.warc.gz", gzip((warc("short") + &warc(&text) + &warc("short, too")).as_bytes()))
        .file("t.txt.gz", gzip(text.as_bytes()))
        .file("t.txt", &text)
        .file("l.jsonl", with_long_record(1_500_000))
        .file("a.json", format!("[{}]", with_long_record(1_500_000).trim().replace('\n', ",")));
    for name in ["v.csv.gz", "m.mbox.gz", "w.warc.gz", "t.txt.gz", "t.txt"] {
        named_memory(&place, &["find", name, "--threads", "2"]);
    }
    let of_lines = named_memory(&place, &["find", "l.jsonl", "--threads", "2"]);
    let of_array = named_memory(&place, &["find", "a.json", "--threads", "2"]);
    assert!(of_array <= of_lines + 1, "{of_array} for an array, {of_lines} for lines");
}

#[cfg(target_os = "linux")]
#[test]
fn named_memory_suffices_for_lines() {
    let place = place_with_folder();
    let text = crate::command::words(7, 1_500_000);
    let words: Vec<&str> = text.split(' ').collect();
    let lines = words.chunks(50).map(|line| line.join(" ")).collect::<Vec<_>>().join("\\n");
    place.file("a.jsonl", format!("{{\"id\":\"a\",\"text\":\"{lines}\"}}\n"));
    named_memory(&place, &["find", "a.jsonl", "--unit", "line", "--threads", "2"]);
}

/// An archive within an archive inflates to more than twice the memory limit.
#[cfg(target_os = "linux")]
#[test]
fn nested_archives_respect_memory_limit() {
    let place = place_with_folder();
    let zeros = gzip(&vec![b'a'; 200 << 20]);
    place.file("d/a.txt.gz.gz", gzip(&zeros)).file("d/b.txt", "some words in a text");
    let args = ["find", "d", "-o", "out.csv", "-q", "--temp-dir", "t", "--memory", "80MiB"];
    let (kib, _, message) = measured(&place, &args);
    assert!(kib <= 80 * 1024 * 11 / 10, "{kib} KiB");
    assert!(message.contains("--memory allows more"), "{message}");
}
