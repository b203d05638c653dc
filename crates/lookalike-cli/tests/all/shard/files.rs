//! The files of a divided run. Errors name files that are missing, damaged, truncated, or from
//! another plan or task. Finished tasks stay finished.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::command::Place;
use crate::crash::{Random, names, short_documents};
use crate::shard::Divided;
use lookalike_test_support::is_soak;
use std::fs;

#[test]
fn missing_tasks_are_named() {
    let place = Place::new();
    place.file("a.jsonl", short_documents(0, 100));
    let message = place.run(&["shard", "keys", "job"]).fails(1);
    assert!(message.contains("the plan job/plan.json does not exist"), "{message}");
    let divided = Divided { tasks: 3, parts: 2 };
    divided.plan(&place, &["a.jsonl"]).ok();
    place.run(&["shard", "keys", "job", "1"]).ok();
    let message = place.run(&["shard", "connect", "job"]).fails(1);
    assert!(message.contains("2 of the 3 tasks of the stage keys are not done: 0 2;"), "{message}");
    assert_eq!(place.run(&["shard", "status", "job", "--missing", "keys"]).ok(), "0,2\n");
    let message = place.run(&["shard", "keys", "job", "3"]).fails(1);
    assert!(message.contains("the stage keys has no task 3, expected 0 to 2"), "{message}");
    place.run(&["shard", "keys", "job"]).ok();
    let message = place.run(&["shard", "decide", "job", "0"]).fails(1);
    assert!(message.contains("3 of the 3 tasks of the stage components"), "{message}");
    let message = place.run(&["shard", "finish", "job"]).fails(1);
    assert!(message.contains("2 of the 2 tasks of the stage connect"), "{message}");
    let status = place.run(&["shard", "status", "job"]).ok();
    assert!(
        status.starts_with("keys: 3 of 3 tasks done\nconnect: 0 of 2 tasks done; missing: 0,1")
    );
}

#[test]
fn finished_tasks_are_not_repeated() {
    let place = Place::new();
    place.file("a.jsonl", short_documents(0, 100));
    let divided = Divided { tasks: 2, parts: 2 };
    divided.plan(&place, &["a.jsonl"]).ok();
    divided.plan(&place, &["a.jsonl"]).ok();
    let message = divided.plan(&place, &["a.jsonl", "--threshold", "0.7"]).fails(1);
    assert!(message.contains("is the plan of another job:"), "{message}");
    assert!(message.contains("threshold:0.8") && message.contains("threshold:0.7"), "{message}");
    divided.run(&place);
    let before: Vec<_> =
        names(&place.path("job")).into_iter().map(|name| place.path("job").join(name)).collect();
    let modified = |path: &std::path::PathBuf| path.metadata().unwrap().modified().unwrap();
    let times: Vec<_> = before.iter().map(modified).collect();
    let second = place.run(&["shard", "keys", "job", "1"]);
    assert!(second.err.contains("keys 1: was done before"), "{second:?}");
    divided.run(&place);
    assert_eq!(times, before.iter().map(modified).collect::<Vec<_>>());
}

#[test]
fn damaged_task_files_are_errors() {
    let place = Place::new();
    place.file("a.jsonl", short_documents(0, 100));
    let divided = Divided { tasks: 1, parts: 1 };
    divided.plan(&place, &["a.jsonl"]).ok();
    place.run(&["shard", "keys", "job"]).ok();
    let file = place.path("job/keys-00000.lks");
    let intact = fs::read(&file).unwrap();
    let mut random = Random::new(5);
    for _ in 0..if is_soak() { 400 } else { 40 } {
        let mut damaged = intact.clone();
        let at = random.below(intact.len() as u64) as usize;
        if random.below(2) == 0 {
            damaged.truncate(at);
        } else {
            damaged[at] ^= 1 << random.below(8);
        }
        fs::write(&file, damaged).unwrap();
        let message = place.run(&["shard", "connect", "job"]);
        // This stage does not read all sections. A later stage reports damage in the others.
        if message.code == Some(0) {
            fs::remove_file(place.path("job/connected-00000.lks")).unwrap();
        } else {
            let message = message.fails(1);
            assert!(message.contains("keys-00000.lks: "), "{message}");
            assert!(message.contains("remove the file and run its task again"), "{message}");
        }
        let message = place.run(&["shard", "keys", "job", "0"]).fails(1);
        assert!(message.contains("remove the file and run its task again"), "{message}");
    }
    fs::write(&file, &intact).unwrap();
    fs::rename(place.path("job"), place.path("first")).unwrap();
    divided.plan(&place, &["a.jsonl", "--threshold", "0.6"]).ok();
    fs::copy(place.path("first/keys-00000.lks"), place.path("job/keys-00000.lks")).unwrap();
    let message = place.run(&["shard", "connect", "job"]).fails(1);
    assert!(message.contains("it is of another plan"), "{message}");
}

#[test]
fn copied_task_files_are_errors() {
    let place = Place::new();
    place.file("a.jsonl", short_documents(0, 100));
    Divided { tasks: 2, parts: 2 }.plan(&place, &["a.jsonl"]).ok();
    place.run(&["shard", "keys", "job"]).ok();
    place.run(&["shard", "connect", "job", "0"]).ok();
    let copied = |name: &str| place.path(&format!("job/{name}"));
    fs::copy(copied("connected-00000.lks"), copied("connected-00001.lks")).unwrap();
    for stage in [&["connect", "job", "1"][..], &["components", "job"]] {
        let message = place.run(&[&["shard"], stage].concat()).fails(1);
        let expected = "connected-00001.lks: it is a copy of connected-00000.lks, the file of \
                        another task; remove the file and run its task again";
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn changed_inputs_and_plans_are_errors() {
    let place = Place::new();
    place.file("a.jsonl", short_documents(0, 100));
    Divided { tasks: 1, parts: 1 }.plan(&place, &["a.jsonl"]).ok();
    place.file("a.jsonl", short_documents(0, 101));
    let message = place.run(&["shard", "keys", "job"]).fails(1);
    assert!(message.contains("the inputs differ from the plan: inputs.a.jsonl was"), "{message}");
    let plan = place.read("job/plan.json");
    let other = plan.replace("\"lookalike\": \"0.", "\"lookalike\": \"90.");
    place.file("job/plan.json", other);
    let message = place.run(&["shard", "keys", "job"]).fails(1);
    assert!(message.contains("is a plan of lookalike 90."), "{message}");
    let other = plan.replace("\"format_version\": 1", "\"format_version\": 2");
    assert_ne!(plan, other);
    place.file("job/plan.json", other);
    for stage in ["keys", "merge", "label", "components", "finish", "status"] {
        let message = place.run(&["shard", stage, "job"]).fails(1);
        assert!(
            message.contains("(format 2), this is") && message.contains("(format 1)"),
            "{message}"
        );
    }
}

/// Errors of tasks that run in another folder than the plan.
#[test]
fn missing_plan_inputs_name_a_remedy() {
    let place = Place::new();
    place.file("a.jsonl", short_documents(0, 10));
    place.file("list.txt", "a.jsonl\n");
    let absolute = place.path("a.jsonl").to_str().unwrap().to_owned();
    let divided = Divided { tasks: 1, parts: 1 };
    let message = divided.plan(&place, &["b.jsonl"]).fails(1);
    assert!(message.ends_with("b.jsonl: no such file or folder; check the name\n"), "{message}");
    let relative = "run tasks there, or make a new plan with absolute names";
    for (input, missing, expected) in [
        (&["a.jsonl"][..], "a.jsonl", relative),
        (&["--files-from", "list.txt"], "list.txt", relative),
        (&["--files-from", "list.txt"], "a.jsonl", relative),
        (&[&absolute], "a.jsonl", "tasks need it under this name on all machines"),
    ] {
        let _ = fs::remove_dir_all(place.path("job"));
        divided.plan(&place, input).ok();
        fs::rename(place.path(missing), place.path("moved")).unwrap();
        for stage in ["keys", "finish"] {
            let message = place.run(&["shard", stage, "job"]).fails(1);
            let start = format!("{missing}: no such file or folder; ");
            assert!(message.contains(&start) && message.contains(expected), "{message}");
        }
        fs::rename(place.path("moved"), place.path(missing)).unwrap();
    }
}

#[test]
fn truncated_task_files_are_unfinished() {
    let place = Place::new();
    place.file("a.jsonl", short_documents(0, 100));
    Divided { tasks: 4, parts: 1 }.plan(&place, &["a.jsonl"]).ok();
    place.run(&["shard", "keys", "job", "0", "1", "2"]).ok();
    let intact = fs::read(place.path("job/keys-00001.lks")).unwrap();
    for length in [0, 19, intact.len() / 2, intact.len() - 1] {
        place.file("job/keys-00001.lks", &intact[..length]);
        let status = place.run(&["shard", "status", "job"]).ok();
        let expected = "keys: 2 of 4 tasks done; missing: 3; cut short, remove their files: 1\n";
        assert!(status.starts_with(expected), "{length}: {status}");
        assert_eq!(place.run(&["shard", "status", "job", "--missing", "keys"]).ok(), "1,3\n");
    }
    // The end of a longer file is not a complete file: it states the length of that file.
    place.file("job/keys-00001.lks", &intact[intact.len() - 20..]);
    assert_eq!(place.run(&["shard", "status", "job", "--missing", "keys"]).ok(), "1,3\n");
    place.file("job/keys-00001.lks", &intact);
    assert_eq!(place.run(&["shard", "status", "job", "--missing", "keys"]).ok(), "3\n");
}
