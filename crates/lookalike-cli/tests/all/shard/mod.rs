//! A run that is divided into tasks gives the bytes of `find`. Killed and repeated tasks do not
//! change the result. Runs that cannot be divided are refused.
#![allow(clippy::unwrap_used, reason = "a test")]

mod files;
mod guide;

use crate::command::{Place, Run};
use crate::crash::{Random, end, names, short_documents, signal, start};
use lookalike_test_support::{gzip, is_soak};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

/// The numbers of tasks and parts of a job.
#[derive(Clone, Copy)]
pub(crate) struct Divided {
    pub(crate) tasks: u32,
    pub(crate) parts: u32,
}

impl Divided {
    /// Runs `shard plan` with these arguments of `find`.
    pub(crate) fn plan(self, place: &Place, args: &[&str]) -> Run {
        let (tasks, parts) = (self.tasks.to_string(), self.parts.to_string());
        let plan = ["shard", "plan", "job", "--tasks", &tasks, "--parts", &parts];
        place.run(&[&plan, args].concat())
    }

    /// Runs all stages, each with its tasks in descending order.
    pub(crate) fn run(self, place: &Place) {
        let status = place.run(&["shard", "status", "job"]).ok();
        let counted = if status.contains("rarity") { self.tasks } else { 0 };
        for task in (0..counted).rev() {
            place.run(&["shard", "count", "job", &task.to_string()]).ok();
        }
        if counted > 0 {
            place.run(&["shard", "rarity", "job"]).ok();
        }
        let stages = [
            ("keys", self.tasks),
            ("connect", self.parts),
            ("merge", self.parts.isqrt()),
            ("label", 0),
            ("components", self.tasks),
            ("decide", self.parts),
        ];
        for (stage, tasks) in stages {
            if tasks == 0 {
                place.run(&["shard", stage, "job"]).ok();
            }
            for task in (0..tasks).rev() {
                place.run(&["shard", stage, "job", &task.to_string()]).ok();
            }
        }
    }
}

/// Returns the output of `find` or `finish`: groups as CSV, pairs, skipped records, and the report
/// without its times.
fn outputs(place: &Place, command: &[&str]) -> (Vec<String>, Value) {
    let files = ["-o", "g.csv", "--pairs", "p.csv", "--skipped", "s.csv", "--report", "r.json"];
    place.run(&[command, &files, &["-q"]].concat()).ok();
    let mut report: Value = serde_json::from_str(&place.read("r.json")).unwrap();
    report["times"] = Value::Null;
    let found = ["g.csv", "p.csv", "s.csv"].map(|name| place.read(name)).to_vec();
    for name in ["g.csv", "p.csv", "s.csv", "r.json"] {
        fs::remove_file(place.path(name)).unwrap();
    }
    (found, report)
}

/// Runs `args` with `find` and as a divided run, and compares all outputs.
///
/// `other_counts` names the counts of the report that may differ.
fn compare(place: &Place, args: &[&str], divided: Divided, other_counts: &[&str]) {
    let (expected, mut report) = outputs(place, &[&["find"], args].concat());
    let _ = fs::remove_dir_all(place.path("job"));
    divided.plan(place, &[args, &["--pairs"]].concat()).ok();
    divided.run(place);
    let (found, divided_report) = outputs(place, &["shard", "finish", "job"]);
    for ((expected, found), name) in expected.iter().zip(&found).zip(["groups", "pairs", "skipped"])
    {
        assert!(expected == found, "{args:?}: {name} differ");
    }
    for name in other_counts {
        report["counts"][name] = divided_report["counts"][name].clone();
    }
    assert_eq!(report, divided_report, "{args:?}");
    assert!(report["counts"]["groups"].as_u64() > Some(3), "{args:?}: {}", report["counts"]);
}

/// Writes records, compressed records, and a folder with texts and pages.
fn inputs(place: &Place) {
    place.file("a.jsonl", short_documents(0, 300));
    place.file("b.jsonl.gz", gzip(short_documents(300, 300).as_bytes()));
    let bad =
        "{\"id\":\"bad\"}\n{\"id\":\"empty\",\"text\":\"...\"}\n{\"id\":\"blank\",\"text\":\"\"}\n";
    place.file("c.jsonl", short_documents(0, 200).replace("\"d", "\"c") + bad);
    for i in 0..150 {
        let text = short_documents(i % 60, 1);
        let text: Value = serde_json::from_str(&text).unwrap();
        let text = text["text"].as_str().unwrap().to_owned();
        if i % 3 == 0 {
            place.file(&format!("folder/{}/{i}.html", i % 4), format!("<p>{text}</p>"));
        } else {
            place.file(&format!("folder/{}/{i}.txt", i % 4), text);
        }
    }
    place.file("folder/none.bin", [0, 1, 2, 0]);
}

#[test]
fn shard_outputs_match_find() {
    let place = Place::new();
    inputs(&place);
    let all = ["a.jsonl", "b.jsonl.gz", "c.jsonl", "folder", "--skip-bad", "--threshold", "0.6"];
    let mut cases: Vec<(Vec<&str>, Divided)> = vec![
        (all.to_vec(), Divided { tasks: 3, parts: 4 }),
        (
            [&all[..], &["--keep", "newest", "--keep", "first"]].concat(),
            Divided { tasks: 7, parts: 1 },
        ),
        (
            vec![
                "a.jsonl",
                "folder",
                "--threshold",
                "0.5",
                "--reference",
                "b.jsonl.gz",
                "--keep",
                "last",
            ],
            Divided { tasks: 2, parts: 9 },
        ),
        (
            vec!["folder", "--threshold", "0.5", "--keep", "path:0/**", "--keep", "shortest"],
            Divided { tasks: 5, parts: 3 },
        ),
    ];
    if is_soak() {
        for (tasks, parts) in [(1, 1), (2, 64), (40, 2)] {
            let group = ["--group", "components", "--keep", "oldest", "--shingle", "chars:9"];
            cases.push(([&all[..], &group].concat(), Divided { tasks, parts }));
            let scheme = ["--scheme", "xor", "--seed", "7", "--id-field", ":line", "--frequencies"];
            cases.push(([&all[..], &scheme].concat(), Divided { tasks, parts }));
        }
    }
    for (args, divided) in cases {
        compare(&place, &args, divided, &[]);
    }
}

/// The candidates differ from the candidates of `find`, because a divided run counts shingles in
/// another way.
#[test]
fn exact_and_containment_shards_match_find() {
    let place = Place::new();
    inputs(&place);
    let inputs = ["a.jsonl", "b.jsonl.gz", "folder", "--threshold", "0.5"];
    let mut cases = vec![
        (vec!["--exact", "--reference", "c.jsonl", "--skip-bad"], Divided { tasks: 3, parts: 4 }),
        (vec!["--measure", "containment", "--keep", "shortest"], Divided { tasks: 2, parts: 3 }),
    ];
    if is_soak() {
        for (tasks, parts) in [(1, 1), (40, 2), (2, 64)] {
            let exact = vec!["--exact", "--shingle", "words:2", "--frequencies"];
            cases.push((exact, Divided { tasks, parts }));
            let contained = vec!["--measure", "containment", "--group", "components"];
            cases.push((contained, Divided { tasks, parts }));
        }
    }
    for (args, divided) in cases {
        compare(&place, &[&inputs, &args[..]].concat(), divided, &["candidates", "verified"]);
    }
    let message = place.run(&["shard", "status", "job"]).ok();
    assert!(
        message.starts_with("count: 2 of 2 tasks done\nrarity: 1 of 1 task done\n"),
        "{message}"
    );
    fs::remove_file(place.path("job/counted-00001.lks")).unwrap();
    fs::remove_file(place.path("job/rarity.lks")).unwrap();
    fs::remove_file(place.path("job/keys-00000.lks")).unwrap();
    let message = place.run(&["shard", "keys", "job"]).fails(1);
    assert!(message.contains("1 of the 1 tasks of the stage rarity are not done"), "{message}");
    let message = place.run(&["shard", "rarity", "job"]).fails(1);
    assert!(message.contains("1 of the 2 tasks of the stage count are not done: 1;"), "{message}");
}

#[test]
fn shard_outputs_ignore_memory_and_threads() {
    let place = Place::new();
    place.file("a.jsonl", short_documents(0, 3000));
    place.file("b.jsonl.gz", gzip(short_documents(3000, 3000).as_bytes()));
    let expected = outputs(&place, &["find", "a.jsonl", "b.jsonl.gz"]);
    Divided { tasks: 2, parts: 2 }.plan(&place, &["a.jsonl", "b.jsonl.gz", "--pairs"]).ok();
    let little = ["--memory", "64MiB", "--temp-dir", "."];
    place.run(&[&["shard", "keys", "job", "--threads", "2"][..], &little].concat()).ok();
    place.run(&["shard", "connect", "job"]).ok();
    place.run(&["shard", "components", "job", "--temp-dir", "."]).ok();
    place.run(&[&["shard", "decide", "job", "--threads", "2"][..], &little].concat()).ok();
    let found = outputs(&place, &[&["shard", "finish", "job"][..], &little].concat());
    assert_eq!(expected, found);
}

/// Two groups have the same size, and their keepers have the same id. Neither the document numbers
/// nor the division decides their order.
#[test]
fn reference_keepers_come_second() {
    let place = Place::new();
    let text = |word: &str| (0..30).map(|i| format!("{word}{i}")).collect::<Vec<_>>().join(" ");
    let line = |id: &str, text: &str| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n");
    let (first, second) = (text("a"), text("b"));
    let mut documents = short_documents(0, 130) + &line("k", &format!("{first} more"));
    documents += &(short_documents(200, 67) + &line("x1", &first) + &line("x2", &second));
    place.file("in.jsonl", documents);
    // The keepers have the numbers 130 and 256, whose order is reversed in a varint encoding.
    place.file("reference.jsonl", short_documents(500, 56) + &line("k", &second));
    let args = ["in.jsonl", "--reference", "reference.jsonl", "--threshold", "0.9"];
    place.run(&[&["find"], &args[..], &["-o", "g.csv", "-q"]].concat()).ok();
    let groups = place.read("g.csv");
    let order = [groups.find(",x1,duplicate,k,"), groups.find(",x2,duplicate,k,")];
    assert!(order[0].is_some() && order[0] < order[1], "{groups}");
    compare(&place, &args, Divided { tasks: 1, parts: 3 }, &[]);
}

/// A new document and a reference document share an id, so several pairs have the same two ids.
#[test]
fn pairs_with_repeated_ids_are_ordered() {
    let place = Place::new();
    let text = |side: usize, number: usize| {
        let word = |i: usize| {
            // Six topics. The documents of a topic differ in some words, depending on side and
            // number.
            let own = (i * 7 + side) % 23 < number % 5;
            if own { format!("own{side}x{number}x{i}") } else { format!("t{}w{i}", number % 6) }
        };
        (0..60).map(word).collect::<Vec<_>>().join(" ")
    };
    let lines = |side: usize| -> String {
        let line = |n| format!("{{\"id\":\"x{n:02}\",\"text\":\"{}\"}}\n", text(side, n));
        (0..36).map(line).collect()
    };
    place.file("in.jsonl", lines(0));
    place.file("reference.jsonl", lines(1));
    let args = ["in.jsonl", "--reference", "reference.jsonl", "--threshold", "0.3"];
    for (tasks, parts) in [(1, 1), (2, 3), (5, 7)] {
        compare(&place, &args, Divided { tasks, parts }, &[]);
    }
    place.run(&[&["find"], &args[..], &["--pairs", "p.csv", "-q", "-o", "g.csv"]].concat()).ok();
    let pairs = place.read("p.csv");
    let ids: Vec<Vec<&str>> = pairs.lines().map(|line| line.split(',').take(2).collect()).collect();
    assert!(ids[1..].is_sorted(), "{pairs}");
    assert!(ids.windows(2).filter(|pair| pair[0] == pair[1]).count() > 20, "{pairs}");
}

/// The tasks of each level of components wait for the level before. The number of levels does not
/// change the result.
#[test]
fn components_are_found_in_levels() {
    let place = Place::new();
    place.file("a.jsonl", short_documents(0, 300));
    place.file("b.jsonl.gz", gzip(short_documents(300, 300).as_bytes()));
    let args = ["a.jsonl", "b.jsonl.gz", "--threshold", "0.6"];
    let expected = outputs(&place, &[&["find"], &args[..]].concat());
    for (tasks, parts) in [(1, 1), (2, 17), (5, 100)] {
        let _ = fs::remove_dir_all(place.path("job"));
        Divided { tasks, parts }.plan(&place, &[&args[..], &["--pairs"]].concat()).ok();
        place.run(&["shard", "keys", "job"]).ok();
        let message = place.run(&["shard", "merge", "job", "0"]).fails(1);
        assert!(message.contains("tasks of the stage connect are not done"), "{message}");
        place.run(&["shard", "connect", "job"]).ok();
        let message = place.run(&["shard", "label", "job"]).fails(1);
        assert!(message.contains("tasks of the stage merge are not done: 0"), "{message}");
        if parts > 1 {
            let merges = parts.isqrt();
            place.run(&["shard", "merge", "job", &(merges - 1).to_string()]).ok();
            let status = place.run(&["shard", "status", "job"]).ok();
            let half = format!("merge: 1 of {merges} tasks done; missing: 0");
            assert!(status.contains(&half), "{status}");
            let message = place.run(&["shard", "label", "job"]).fails(1);
            assert!(message.contains("tasks of the stage merge are not done: 0"), "{message}");
        }
        let message = place.run(&["shard", "components", "job", "0"]).fails(1);
        assert!(message.contains("the stage label are not done: 0"), "{message}");
        place.run(&["shard", "components", "job"]).ok();
        let names = names(&place.path("job"));
        let left = |start: &str| names.iter().filter(|name| name.starts_with(start)).count();
        assert_eq!(
            (left("merged-"), left("components-")),
            (parts.isqrt() as usize, tasks as usize)
        );
        place.run(&["shard", "decide", "job"]).ok();
        assert_eq!(expected, outputs(&place, &["shard", "finish", "job"]), "{tasks} {parts}");
    }
}

#[test]
fn plan_help_mentions_repeated_ids() {
    let help = Place::new().run(&["shard", "plan", "--help"]).ok();
    assert!(help.contains("count bad records; repeated ids remain an error"), "{help}");
}

#[test]
fn ids_of_several_documents_are_named() {
    let place = Place::new();
    let text = "one two three four five six seven";
    place.file("in/a.jsonl", format!("{{\"id\":\"x\",\"text\":\"{text}\"}}\n"));
    let both = format!(
        "{{\"id\":\"y\",\"text\":\"other words\"}}\n{{\"id\":\"x\",\"text\":\"{text} eight\"}}\n"
    );
    place.file("in/b.jsonl", both);
    let divided = Divided { tasks: 2, parts: 3 };
    divided.plan(&place, &["in"]).ok();
    place.run(&["shard", "keys", "job"]).ok();
    place.run(&["shard", "connect", "job"]).ok();
    let message = place.run(&["shard", "components", "job", "--quiet"]).fails(1);
    assert!(message.contains("\"x\"") && message.contains("a.jsonl:1"), "{message}");
    assert!(message.contains("b.jsonl:2"), "{message}");
    assert!(
        message.contains("even with --skip-bad") && !message.contains("leaves out"),
        "{message}"
    );
    assert!(message.contains("make a new plan: --ids-by-file puts"), "{message}");
    let (expected, report) = outputs(&place, &["find", "in", "--threshold", "0.5"]);
    fs::remove_dir_all(place.path("job")).unwrap();
    divided.plan(&place, &["in", "--threshold", "0.5", "--ids-by-file", "--pairs"]).ok();
    divided.run(&place);
    assert_eq!((expected, report), outputs(&place, &["shard", "finish", "job"]));
}

/// The remedy for repeated ids in two files, `--ids-by-file`, does not help for two records of one
/// file.
#[test]
fn ids_repeated_within_files_are_errors() {
    let place = Place::new();
    let line = "{\"id\":\"x\",\"text\":\"one two three four five six seven\"}\n";
    place.file("in/a.jsonl", line.repeat(2));
    for option in ["--skip-bad", "--ids-by-file"] {
        let _ = fs::remove_dir_all(place.path("job"));
        Divided { tasks: 1, parts: 1 }.plan(&place, &["in", option]).ok();
        place.run(&["shard", "keys", "job"]).ok();
        place.run(&["shard", "connect", "job"]).ok();
        let message = place.run(&["shard", "components", "job", "-q"]).fails(1);
        assert!(message.contains("a.jsonl:2; ids must be unique in a job"), "{message}");
        assert!(message.contains("make a new plan: --id-field names"), "{message}");
        assert!(!message.contains("leaves out"), "{message}");
    }
}

/// Runs the text between backticks, with a number instead of `TASK`.
#[test]
fn printed_plan_commands_run() {
    let place = Place::new();
    place.file("a.jsonl", short_documents(0, 10));
    let plan = Divided { tasks: 3, parts: 1 }.plan(&place, &["a.jsonl"]).err;
    assert!(plan.contains("`lookalike shard keys job TASK` for TASK from 0 to 2\n"), "{plan}");
    for command in plan.split('`').skip(1).step_by(2) {
        let tasks = if command.ends_with("TASK") { &["0", "1", "2"][..] } else { &[""] };
        for task in tasks {
            let command = command.replace("TASK", task);
            place.run(&command.split_whitespace().skip(1).collect::<Vec<_>>()).ok();
        }
    }
    assert!(place.path("groups.csv").exists(), "{plan}");
}

#[test]
fn indivisible_jobs_are_errors() {
    let place = Place::new();
    place.file("in/a.jsonl", short_documents(0, 10));
    place.run(&["index", "create", "ix", "in/a.jsonl"]).ok();
    let divided = Divided { tasks: 1, parts: 1 };
    for (args, expected) in [
        (&["in", "--bands", "auto"][..], "--bands auto"),
        (&["-", "--format", "lines"], "each task reads the inputs from files"),
        (&["in", "--reference", "ix"], "ix is a stream or an index"),
        (&["--files-from", "-"], "write the list to a file"),
    ] {
        let run = divided.plan(&place, args);
        assert!(run.code == Some(2) && run.err.contains(expected), "{args:?}: {run:?}");
        assert!(!run.err.contains("--resume"), "{run:?}");
        assert!(!place.path("job/plan.json").exists(), "{args:?}");
    }
    for option in ["--decisions", "--audit", "--estimates", "--unit=line"] {
        let run = divided.plan(&place, &["in", option]);
        let name = option.split('=').next().unwrap();
        assert!(run.code == Some(2) && run.err.contains(name), "{run:?}");
        assert!(!place.path("job/plan.json").exists(), "{option}");
    }
    let message = place.run(&["shard", "plan", "in/job", "in"]).fails(2);
    assert!(message.contains("is in the input in"), "{message}");
    divided.plan(&place, &["in"]).ok();
    divided.run(&place);
    let message = place.run(&["shard", "finish", "job", "--pairs", "p.csv"]).fails(2);
    assert!(message.contains("the plan was made without pairs"), "{message}");
    let estimates = ["shard", "finish", "job", "--pairs", "p.csv", "--estimates"];
    let message = place.run(&estimates).fails(2);
    assert!(
        message.contains("--estimates: the tasks of a job do not keep signatures"),
        "{message}"
    );
    let message = place.run(&["shard", "finish", "job", "--report", "r.html"]).fails(2);
    assert!(message.contains("use FILE.json"), "{message}");
}

/// Removes the counts of work, which differ between `find` and divided exact runs.
fn without_work((files, mut report): (Vec<String>, Value)) -> (Vec<String>, Value) {
    for count in ["candidates", "verified"] {
        report["counts"][count] = Value::Null;
    }
    (files, report)
}

/// Returns true for files of a job that a stage creates, and for files that are being written.
fn is_known(name: &str) -> bool {
    let known = [
        "plan.json",
        "counted-",
        "rarity.lks",
        "keys-",
        "texts-",
        "connected-",
        "merged-",
        "labels.lks",
        "components-",
        "decided-",
        ".lookalike-",
    ];
    known.iter().any(|known| name.starts_with(known))
}

/// Kills a command twice while it works, then lets it end.
fn run_killed(place: &Place, args: &[&str], random: &mut Random, check: &dyn Fn()) {
    for _ in 0..2 {
        let child = start(&place.path(""), args);
        std::thread::sleep(Duration::from_micros(random.below(60_000)));
        signal(&child, "-KILL");
        end(child);
        check();
    }
    let (code, message) = end(start(&place.path(""), args));
    assert_eq!(code, Some(0), "{args:?}: {message}");
    check();
}

/// Returns the stages between `plan` and `finish`, each of which waits for the previous one.
fn stages(exact: bool) -> &'static [&'static str] {
    let all = &["count", "rarity", "keys", "connect", "merge", "label", "components", "decide"];
    if exact { all } else { &all[2..] }
}

/// A killed task leaves only complete files under their final names. It can run again.
#[test]
fn killed_tasks_are_run_again() {
    let place = Place::new();
    place.file("a.jsonl", short_documents(0, 4000));
    place.file("b.jsonl.gz", gzip(short_documents(4000, 4000).as_bytes()));
    let mut random = Random::new(11);
    let rounds = if is_soak() { [40, 10] } else { [2, 1] };
    for (rounds, exact) in rounds.into_iter().zip([false, true]) {
        let mut args = vec!["a.jsonl", "b.jsonl.gz", "--threshold", "0.6"];
        args.extend(exact.then_some("--exact"));
        let expected = without_work(outputs(&place, &[&["find"], &args[..]].concat()));
        for _ in 0..rounds {
            let _ = fs::remove_dir_all(place.path("job"));
            let plan = ["shard", "plan", "job", "--tasks", "2", "--pairs"];
            run_killed(&place, &[&plan, &args[..]].concat(), &mut random, &|| {
                let path = place.path("job/plan.json");
                let plan = path.exists().then(|| place.read("job/plan.json"));
                let is_whole = |text: &String| serde_json::from_str::<Value>(text).is_ok();
                assert!(plan.iter().all(is_whole), "{plan:?}");
            });
            for stage in stages(exact) {
                run_killed(&place, &["shard", stage, "job"], &mut random, &|| {
                    let names = names(&place.path("job"));
                    assert!(names.iter().all(|name| is_known(name)), "{names:?}");
                });
            }
            let finish = ["shard", "finish", "job", "-o", "g.csv", "--pairs", "p.csv", "-q"];
            run_killed(&place, &finish, &mut random, &|| {
                for (name, expected) in ["g.csv", "p.csv"].iter().zip(&expected.0) {
                    let is_there = place.path(name).exists();
                    assert!(!is_there || place.read(name) == *expected, "{name} is not whole");
                }
            });
            assert_eq!(expected, without_work(outputs(&place, &["shard", "finish", "job"])));
        }
    }
}

/// Several processes can run the same task or the same plan at once. All succeed with the same
/// result.
#[test]
fn concurrent_equal_tasks_succeed() {
    let place = Place::new();
    place.file("a.jsonl", short_documents(0, 1000));
    place.file("b.jsonl.gz", gzip(short_documents(1000, 1000).as_bytes()));
    let at_once = |args: &[&str]| {
        let children: Vec<_> = (0..3).map(|_| start(&place.path(""), args)).collect();
        for (code, message) in children.into_iter().map(end) {
            assert_eq!(code, Some(0), "{args:?}: {message}");
        }
    };
    for exact in [false, true] {
        let mut args = vec!["a.jsonl", "b.jsonl.gz", "--threshold", "0.6"];
        args.extend(exact.then_some("--exact"));
        let expected = without_work(outputs(&place, &[&["find"], &args[..]].concat()));
        let _ = fs::remove_dir_all(place.path("job"));
        at_once(&[&["shard", "plan", "job", "--tasks", "2", "--pairs"], &args[..]].concat());
        for stage in stages(exact) {
            at_once(&["shard", stage, "job"]);
        }
        at_once(&["shard", "finish", "job", "-o", "g.csv", "--pairs", "p.csv", "-q"]);
        let found = ["g.csv", "p.csv"].map(|name| place.read(name));
        assert!(found == expected.0[..2], "groups or pairs differ");
        assert_eq!(expected, without_work(outputs(&place, &["shard", "finish", "job"])));
        let left = names(&place.path("job"));
        assert!(!left.iter().any(|name| name.starts_with(".lookalike-")), "{left:?}");
    }
}

/// A limit on file sizes simulates a full disk. Every stage names the file that it cannot write,
/// leaves no such file, and succeeds when there is room.
#[cfg(unix)]
#[test]
fn every_stage_reports_a_full_disk() {
    use crate::faults::{NO_DISK, says, shell, with_small_disk};

    let place = Place::new();
    place.file("a.jsonl", short_documents(0, 300));
    place.file("b.jsonl.gz", gzip(short_documents(300, 300).as_bytes()));
    let find = ["find", "a.jsonl", "b.jsonl.gz", "--exact", "--threshold", "0.6"];
    let expected = without_work(outputs(&place, &find));
    fs::create_dir(place.path("job")).unwrap();
    let before = names(&place.path(""));
    let check = |stage: &str, args: &str| {
        let files = names(&place.path("job"));
        let command = format!("exec \"$0\" shard {stage} job {args}");
        let outcome = shell(&place, &format!("trap '' XFSZ; ulimit -f 0; {command}"));
        says(outcome, &["cannot write", "write to another place"]);
        assert_eq!(names(&place.path("job")), files, "{stage}");
        assert_eq!(names(&place.path("")), before, "{stage}");
        let (code, message) = shell(&place, &command);
        assert_eq!(code, Some(0), "{stage}: {message}");
    };
    check("plan", "a.jsonl b.jsonl.gz --exact --threshold 0.6 --tasks 2 --pairs");
    for stage in stages(true) {
        check(stage, "-q");
    }
    check("finish", "-o g.csv --pairs p.csv -q");
    assert_eq!(expected, without_work(outputs(&place, &["shard", "finish", "job"])));
    // A disk that is really full, if the system lets a test mount one.
    fs::create_dir(place.path("t")).unwrap();
    let keys = "\"$0\" shard plan t/job b.jsonl.gz 2>&- && \"$0\" shard keys t/job; code=$?; \
                [ \"$(ls -A t/job)\" = plan.json ] && exit $code";
    match with_small_disk(&place, "64k", keys) {
        Some(outcome) => says(outcome, &["cannot write t/job/", "No space left", "make room"]),
        None => lookalike_test_support::print_skipped(NO_DISK),
    }
}

#[test]
fn every_format_is_divided_alike() {
    let place = Place::new();
    let texts: Vec<String> = (0..40).map(|n| crate::command::words(n % 25 + 1, 40)).collect();
    let object = |(id, text): (usize, &String)| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}");
    let array: Vec<String> = texts.iter().enumerate().map(object).collect();
    let (mut lines, mut table) = (String::new(), String::new());
    for text in &texts {
        writeln!(lines, "{{\"text\":\"{text}\"}}").unwrap();
        writeln!(table, "c{};{text}", text.len()).unwrap();
    }
    place
        .file("in/a.json", format!("[{}]", array.join(",\n")))
        .file("in/b.jsonl", gzip(lines.as_bytes()))
        .file("c.csv", format!("id;text\n{}", table.lines().next().unwrap()));
    compare(&place, &["in", "c.csv", "./c.csv"], Divided { tasks: 3, parts: 4 }, &[]);
}
