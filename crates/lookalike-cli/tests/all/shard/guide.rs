//! The commands of `docs/guides/shard.md` run unchanged except for the numbers of tasks, and find
//! the groups of `find`.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::command::{Place, root};
use crate::crash::short_documents;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

/// Replaces Slurm's `sbatch`: runs each job at once, and its tasks in descending order. Accepts
/// only the options that the guide uses. A job fails if it depends on a job that has not run.
const SBATCH: &str = r#"#!/bin/sh
array= after= command=
while [ $# -gt 0 ]; do
    case $1 in
        --parsable | --requeue) ;;
        --array=*) array=${1#--array=} ;;
        -d) after=${2#afterok:}; shift ;;
        --wrap) command=$2; shift ;;
        *) echo "sbatch: unexpected $1" >&2; exit 2 ;;
    esac
    shift
done
[ -z "$after" ] || [ -e "done-$after" ] || { echo "sbatch: no job '$after'" >&2; exit 1; }
id=$(ls | grep -c '^done-')
case $array in
    '') sh -c "$command" >&2 || exit 1 ;;
    *) for SLURM_ARRAY_TASK_ID in $(seq "${array#*-}" -1 "${array%-*}"); do
           export SLURM_ARRAY_TASK_ID
           sh -c "$command" >&2 || exit 1
       done ;;
esac
: >"done-$id"
echo "$id"
"#;

fn guide() -> String {
    fs::read_to_string(root().join("docs/guides/shard.md")).unwrap()
}

/// Returns the blocks of a language, in the order of the guide.
fn blocks(guide: &str, language: &str) -> Vec<String> {
    let begin = format!("```{language}\n");
    let block = |rest: &str| rest.split("```").next().unwrap().to_owned();
    guide.split(&begin).skip(1).map(block).collect()
}

/// Returns the commands of a block: the lines with a prompt.
fn typed(block: &str) -> String {
    let lines = block.lines().filter_map(|line| line.strip_prefix("$ "));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Returns a folder with the inputs of the guide, and the groups that `find` finds in them.
fn place_with_pages(find: &[&str]) -> (Place, String) {
    let place = Place::new();
    let documents = short_documents(0, 200);
    for (number, document) in documents.lines().enumerate() {
        let document: serde_json::Value = serde_json::from_str(document).unwrap();
        place.file(&format!("pages/{number}.txt"), document["text"].as_str().unwrap());
    }
    let find = [&["find", "pages/", "-o", "expected.csv", "--quiet"], find].concat();
    place.run(&find).ok();
    let expected = place.read("expected.csv");
    assert!(expected.lines().count() > 10, "{expected}");
    (place, expected)
}

/// Runs a script with the program and the folder `bin` in the search path.
fn run_script(place: &Place, script: &str) {
    let program = Path::new(env!("CARGO_BIN_EXE_lookalike"));
    let path = format!(
        "{}:{}:/usr/local/bin:/usr/bin:/bin",
        place.path("bin").display(),
        program.parent().unwrap().display()
    );
    let mut command = Command::new("sh");
    command.args(["-e", "-c", script]).current_dir(place.path("")).env("PATH", path);
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}\n{message}");
}

/// Runs a script of the guide that performs a whole job, and compares its groups.
fn check(place: &Place, script: &str, expected: &str) {
    let _ = fs::remove_dir_all(place.path("job"));
    let _ = fs::remove_file(place.path("groups.csv"));
    run_script(place, script);
    assert_eq!(place.read("groups.csv"), expected, "{script}");
}

/// Replaces numbers of the guide. Each of them must occur.
fn scaled(script: &str, numbers: &[(&str, &str)]) -> String {
    numbers.iter().fold(script.to_owned(), |script, (from, to)| {
        assert!(script.contains(from), "{from} is not in\n{script}");
        script.replace(from, to)
    })
}

#[test]
fn guide_stages_match_find() {
    let guide = guide();
    let [stages, counted, shell_loop] = &blocks(&guide, "console")[..] else {
        panic!("three blocks are expected")
    };
    let (place, expected) = place_with_pages(&[]);
    check(&place, &typed(stages), &expected);
    // The guide has 64 tasks, numbered from 0, and 8 tasks of `merge`.
    let numbers = [("--tasks 64", "--tasks 9"), ("seq 0 63", "seq 0 8"), ("seq 0 7", "seq 0 2")];
    check(&place, &scaled(&typed(shell_loop), &numbers), &expected);
    assert_eq!(typed(shell_loop).matches("seq 0 63").count(), 4);
    let (place, expected) = place_with_pages(&["--exact", "--threshold", "0.6"]);
    // The guide shows the other stages only once, so this block continues with them.
    let stages = typed(stages);
    let rest = stages.lines().skip_while(|line| !line.contains("shard keys")).skip(1);
    let rest: String = rest.flat_map(|line| [line, "\n"]).collect();
    check(&place, &(typed(counted) + &rest), &expected);
}

#[test]
fn slurm_script_matches_find() {
    let guide = guide();
    let [script] = &blocks(&guide, "bash")[..] else { panic!("one block is expected") };
    let (place, expected) = place_with_pages(&[]);
    place.file("bin/sbatch", SBATCH);
    fs::set_permissions(place.path("bin/sbatch"), fs::Permissions::from_mode(0o755)).unwrap();
    // The guide has 1,000 tasks, 200 parts, and 14 tasks of `merge`.
    let numbers = [
        ("--tasks 1000", "--tasks 3"),
        ("--array=0-999", "--array=0-2"),
        ("--parts 200", "--parts 9"),
        ("--array=0-199", "--array=0-8"),
        ("--array=0-13", "--array=0-2"),
    ];
    check(&place, &scaled(script, &numbers), &expected);
}

#[test]
fn kubernetes_job_runs_every_task() {
    let guide = guide();
    let [job] = &blocks(&guide, "yaml")[..] else { panic!("one block is expected") };
    let command = job.lines().find_map(|line| line.trim().strip_prefix("command: [sh, -c, '"));
    let command = command.and_then(|rest| rest.strip_suffix("']")).unwrap();
    for line in ["completionMode: Indexed", "restartPolicy: OnFailure", "completions: 1000"] {
        assert!(job.lines().any(|job_line| job_line.trim() == line), "{line}");
    }
    let (place, _) = place_with_pages(&[]);
    place.run(&["shard", "plan", "job", "pages", "--tasks", "3"]).ok();
    for index in 0..3 {
        run_script(&place, &format!("export JOB_COMPLETION_INDEX={index}; {command}"));
    }
    assert_eq!(place.run(&["shard", "status", "job", "--missing", "keys"]).ok(), "\n");
}

/// The guide names the numbers of tasks that its plans create.
#[test]
fn the_scripts_name_every_task() {
    let guide = guide();
    let place = Place::new();
    place.file("pages/a.txt", "one text");
    let plans = guide.lines().filter(|line| line.contains("shard plan job pages/"));
    let tasks = |plan: &str| -> Vec<String> {
        let plan = plan.trim_start_matches("$ ").split(" #").next().unwrap();
        let _ = fs::remove_dir_all(place.path("job"));
        place.run(&plan.split_whitespace().skip(1).collect::<Vec<_>>()).ok();
        let status = place.run(&["shard", "status", "job"]).ok();
        // keys: 0 of 64 tasks done; …
        let number = |line: &str| line.split(' ').nth(3).unwrap().replace(',', "");
        status.lines().map(number).collect()
    };
    let all: Vec<_> = plans.map(tasks).collect();
    let [_, exact, shell_loop, slurm] = &all[..] else { panic!("four plans: {all:?}") };
    assert_eq!(exact[..3], ["8", "1", "8"]);
    // The stages keys, connect, merge, label, components and decide. Their tasks are numbered from
    // 0.
    assert_eq!(*shell_loop, ["64", "64", "8", "1", "64", "64"]);
    assert_eq!(*slurm, ["1000", "200", "14", "1", "1000", "200"]);
}

/// The program accepts commands within sentences, and reports only the missing plan.
#[test]
fn commands_in_sentences_are_accepted() {
    let guide = guide();
    let outside: String = guide.split("```").step_by(2).collect();
    let place = Place::new();
    let mut commands = 0;
    for span in outside.split('`').skip(1).step_by(2) {
        let start = span.find("lookalike shard").filter(|_| span.split(' ').count() > 2);
        let Some(start) = start else { continue };
        let command = span[start..].split(')').next().unwrap();
        let run = place.run(&command.split_whitespace().skip(1).collect::<Vec<_>>());
        // Exit code 2 would mean invalid arguments.
        assert_eq!(run.code, Some(1), "{span}: {}", run.err);
        assert!(run.err.contains("the plan job/plan.json does not exist"), "{span}: {}", run.err);
        commands += 1;
    }
    assert!(commands >= 1, "{commands}");
}
