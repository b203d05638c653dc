//! Tests of `lookalike dedup` as a process.

#![allow(
    clippy::unwrap_used,
    clippy::format_collect,
    reason = "tests may stop at anything unexpected"
)]

use crate::command::{Place, collection, jsonl, words};
use lookalike_test_support::{gzip, tar};
use std::collections::BTreeSet;

/// Returns a folder with the collection of ten groups in `in.jsonl`.
fn place() -> Place {
    let place = Place::new();
    place.file("in.jsonl", jsonl(&collection(10)));
    place
}

/// Returns the ids of the duplicates that `find` reports.
fn duplicates(place: &Place, more: &[&str]) -> Vec<String> {
    let found = place.run(&[&["find", "in.jsonl", "--json"], more].concat()).ok();
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    let groups = found["groups"].as_array().unwrap().iter();
    let all = groups.flat_map(|group| group["duplicates"].as_array().unwrap());
    all.map(|duplicate| duplicate["id"].as_str().unwrap().to_owned()).collect()
}

fn id(line: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(line).unwrap();
    value["id"].as_str().unwrap().to_owned()
}

#[test]
fn dedup_removes_the_duplicates_of_find() {
    let place = place();
    for options in [
        &[][..],
        &["--keep", "shortest"],
        &["--exact", "--threshold", "0.7"],
        &["--keep", "last", "--memory", "64MiB"],
    ] {
        let duplicates = duplicates(&place, options);
        assert!(duplicates.len() >= 5, "{options:?}");
        let run = place.run(&[&["dedup", "in.jsonl", "-o", "out.jsonl"], options].concat());
        assert!(run.err.contains("written: out.jsonl"), "{}", run.err);
        assert_eq!(run.ok(), "");
        let all = place.read("in.jsonl");
        let kept: Vec<&str> = all.lines().filter(|line| !duplicates.contains(&id(line))).collect();
        assert_eq!(place.read("out.jsonl").lines().collect::<Vec<_>>(), kept);
    }
}

#[test]
fn annotations_agree_with_find() {
    let place = place();
    let duplicates = duplicates(&place, &[]);
    let args = ["dedup", "in.jsonl", "-o", "all.jsonl", "--annotate", "--removed", "gone.csv"];
    let run = place.run(&args);
    assert!(run.err.contains("annotated: all.jsonl: "), "{}", run.err);
    run.ok();
    let (all, before) = (place.read("all.jsonl"), place.read("in.jsonl"));
    assert_eq!(all.lines().count(), before.lines().count());
    let mut reasons = Vec::new();
    for (after, before) in all.lines().zip(before.lines()) {
        let value: serde_json::Value = serde_json::from_str(after).unwrap();
        let is_removed = duplicates.contains(&id(after));
        assert_eq!(value["lookalike_kept"], !is_removed);
        let similarity = value["lookalike_jaccard"].is_number();
        assert_eq!(similarity && value["lookalike_keeper"].is_string(), is_removed);
        assert!(after.starts_with(before.strip_suffix('}').unwrap()));
        reasons.push(value["lookalike_reason"].as_str().unwrap().to_owned());
    }
    for reason in ["unique", "keeper", "longest"] {
        assert!(reasons.iter().any(|r| r == reason), "{reasons:?}");
    }
    let removed = place.read("gone.csv");
    let listed: Vec<&str> = removed.lines().skip(1).map(|l| l.split(',').next().unwrap()).collect();
    let order: Vec<String> = before.lines().map(id).filter(|id| duplicates.contains(id)).collect();
    assert_eq!(listed, order);
    assert!(removed.starts_with("id,source,group,keeper,jaccard,reason\n"));
    let message = place.run(&["dedup", "all.jsonl", "-o", "b.jsonl", "--annotate"]).fails(1);
    assert!(message.contains("--annotate=NAME"), "{message}");
    assert!(!place.path("b.jsonl").exists());
}

/// A replaced output file keeps its owner, group and mode. Only the superuser can change an owner,
/// so the test checks a foreign owner only if it runs as superuser.
#[cfg(unix)]
#[test]
fn replaced_files_keep_owner_and_permissions() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    let place = place();
    place.file("out.jsonl", "what was there before");
    let path = place.path("out.jsonl");
    let is_superuser = chown(&path, Some(12_345), Some(12_346)).is_ok();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let of = |data: &std::fs::Metadata| (data.uid(), data.gid(), data.mode() & 0o7777);
    let before = of(&path.metadata().unwrap());
    place.run(&["dedup", "in.jsonl", "-o", "out.jsonl"]).ok();
    assert!(place.read("out.jsonl").starts_with('{'));
    assert_eq!(of(&path.metadata().unwrap()), before);
    assert_eq!(before.0 == 12_345, is_superuser);
}

/// In a chain a–b–c, a and c are not similar. If b is a duplicate of a, c belongs to no group, but
/// it is not unique.
#[test]
fn chain_ends_are_related_not_unique() {
    let place = Place::new();
    let all: Vec<String> = (0..140).map(|n| format!("word{n}")).collect();
    let line = |id: &str, words: &[String], rank: u32| {
        let text = words.join(" ");
        serde_json::json!({ "id": id, "text": text, "rank": rank }).to_string() + "\n"
    };
    // Each text has 96 shingles. Shifts of 10 and 20 words give 86/106 = 0.81 and 76/116 = 0.66.
    let other: Vec<String> = (0..90).map(|n| format!("other{n}")).collect();
    let (b, c) = (line("b", &all[10..110], 2), line("c", &all[20..120], 1));
    let (a, alone) = (line("a", &all[..100], 3), line("alone", &other, 4));
    place.file("in.jsonl", [b, c, a, alone].concat());
    let keep = ["--keep", "field:rank:desc"];
    for more in [
        &[][..],
        &["--exact"],
        &["--resume", "--temp-dir", "."],
        &["--threads", "1", "--memory", "64MiB"],
    ] {
        let args = [&["dedup", "in.jsonl", "-o", "all.jsonl", "--annotate"], &keep[..], more];
        place.run(&args.concat()).ok();
        let notes: Vec<serde_json::Value> = place
            .read("all.jsonl")
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let reasons: Vec<&str> =
            notes.iter().map(|n| n["lookalike_reason"].as_str().unwrap()).collect();
        assert_eq!(reasons, ["field:rank:desc", "related", "keeper", "unique"], "{more:?}");
        assert_eq!(notes[1]["lookalike_neighbour"], "b");
        assert_eq!(notes[1]["lookalike_neighbour_jaccard"], 0.811_321);
        assert_eq!(
            (&notes[1]["lookalike_kept"], notes[1]["lookalike_group"].is_null()),
            (&true.into(), true)
        );
        assert!(notes[3].get("lookalike_neighbour").is_none());
        // A removed document has no size. The sizes of the kept documents add up to the number of
        // documents.
        let sizes: Vec<Option<u64>> =
            notes.iter().map(|n| n["lookalike_group_size"].as_u64()).collect();
        assert_eq!(sizes, [None, Some(1), Some(2), Some(1)], "{more:?}");
    }
    let rows = place
        .read("in.jsonl")
        .lines()
        .map(|line| {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            format!(
                "{},{},{}\n",
                value["id"].as_str().unwrap(),
                value["text"].as_str().unwrap(),
                value["rank"]
            )
        })
        .collect::<String>();
    place.file("in.csv", "id,text,rank\n".to_owned() + &rows);
    place.run(&[&["dedup", "in.csv", "-o", "all.csv", "--annotate"], &keep[..]].concat()).ok();
    let table = place.read("all.csv");
    let ends: Vec<&str> = table.lines().map(|line| line.splitn(4, ',').last().unwrap()).collect();
    assert_eq!(
        ends[0],
        "lookalike_kept,lookalike_group,lookalike_keeper,lookalike_jaccard,\
        lookalike_reason,lookalike_neighbour,lookalike_neighbour_jaccard,lookalike_group_size"
    );
    assert_eq!(ends[2], "true,,,,related,b,0.811321,1");
    assert_eq!(ends[4], "true,,,,unique,,,1");
}

#[test]
fn dry_runs_report_and_write_nothing() {
    let place = place();
    let text = words(999, 100);
    let copies: String = (0..25)
        .map(|n| serde_json::json!({ "id": format!("c{n}"), "text": text }).to_string() + "\n")
        .collect();
    place.file("copies.jsonl", copies);
    let run = place.run(&["dedup", "in.jsonl", "copies.jsonl", "--dry-run", "-o", "x.jsonl"]);
    assert!(
        run.err.contains("warning: 96.00 % of copies.jsonl would be removed (24 of 25"),
        "{}",
        run.err
    );
    let find = |name: &str| {
        let line = run.err.lines().find(|line| line.ends_with(name)).unwrap();
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(find("  copies.jsonl")[..3], ["25", "24", "96.00"]);
    assert_eq!(find("  all")[0], "44");
    assert!(!place.path("x.jsonl").exists());
    // Each change has the values of its line in the list of removed documents.
    place.run(&["dedup", "in.jsonl", "copies.jsonl", "-o", "y.jsonl", "--removed", "y.csv"]).ok();
    let list = ["dedup", "in.jsonl", "copies.jsonl", "--dry-run", "--removed", "x.csv"];
    let changes = place.run(&list).ok();
    assert_eq!(place.read("x.csv"), place.read("y.csv"));
    let change = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let [id, _, _, keeper, similarity, reason] = cells.as_slice() else { panic!("{line}") };
        format!("     {}  {reason:<9}  {id} -> {keeper}", &similarity[..5])
    };
    let expected: BTreeSet<String> = place.read("x.csv").lines().skip(1).map(change).collect();
    let mut lines = changes.lines();
    assert_eq!(lines.next(), Some("similarity  reason     removed -> kept"));
    assert_eq!(lines.map(str::to_owned).collect::<BTreeSet<_>>(), expected);
    let code = place.run(&["dedup", "in.jsonl", "--dry-run", "--exit-code", "-q"]);
    assert_eq!(code.code, Some(3));
    let message = place.run(&["dedup", "in.jsonl"]).fails(2);
    for option in ["--dry-run", "-o OUT", "--move-to FOLDER", "--link hard", "--script FILE"] {
        assert!(message.contains(option), "{message}");
    }
}

#[test]
fn reference_documents_are_not_written() {
    let place = Place::new();
    let documents = collection(4);
    let (copies, originals): (Vec<_>, Vec<_>) =
        documents.into_iter().partition(|(id, _)| id.contains('-'));
    // The reference contains copies of all originals except `g1`.
    let short: Vec<_> =
        copies.iter().map(|(id, text)| (id.clone(), text.replace("and the end", ""))).collect();
    place.file("in.jsonl", jsonl(&originals)).file("test.jsonl", jsonl(&short));
    let args = ["dedup", "in.jsonl", "--reference", "test.jsonl", "-o", "out.jsonl"];
    place.run(&[&args[..], &["--removed", "gone.jsonl"]].concat()).ok();
    let kept: Vec<String> = place.read("out.jsonl").lines().map(id).collect();
    assert_eq!(kept, ["g1"]);
    let removed = place.read("gone.jsonl");
    assert_eq!(removed.lines().count(), 3);
    for line in removed.lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["reason"], "reference");
        assert!(value["keeper"].as_str().unwrap().starts_with(value["id"].as_str().unwrap()));
    }
    let message =
        place.run(&["dedup", "in.jsonl", "--reference", "test.jsonl", "-o", "test.jsonl"]);
    assert!(message.fails(2).contains("is an input"));
}

#[test]
fn only_bad_records_are_left_out() {
    let place = Place::new();
    place.file(
        "in.jsonl",
        "{\"id\":1,\"text\":\"\"}\nbroken\n{\"id\":2,\"text\":\"...\"}\n\
         {\"id\":1,\"text\":\"x y\"}\n",
    );
    place.run(&["dedup", "in.jsonl", "-o", "out.jsonl"]).fails(1);
    assert!(!place.path("out.jsonl").exists());
    let args = ["dedup", "in.jsonl", "-o", "out.jsonl", "--skip-bad", "--skipped", "bad.csv"];
    let run = place.run(&args);
    assert!(run.err.contains("2 skipped"), "{}", run.err);
    run.ok();
    assert_eq!(place.read("out.jsonl"), "{\"id\":1,\"text\":\"\"}\n{\"id\":2,\"text\":\"...\"}\n");
    assert!(place.read("bad.csv").contains("in.jsonl,2,"));
    place.run(&["dedup", "in.jsonl", "-o", "all.jsonl", "--skip-bad", "--annotate"]).ok();
    assert_eq!(place.read("all.jsonl").matches("\"lookalike_reason\":\"empty\"").count(), 2);
}

#[test]
fn kept_files_are_copied_or_listed() {
    let place = Place::new();
    for (id, text) in collection(3) {
        place.file(&format!("letters/{}/{id}.txt", &id[..2]), text);
    }
    place.run(&["dedup", "letters", "-o", "kept"]).ok();
    place.run(&["dedup", "letters", "-o", "kept.txt"]).ok();
    let list = place.read("kept.txt");
    assert_eq!(list.lines().count(), 3);
    for line in list.lines() {
        let name = line.strip_prefix("letters/").unwrap();
        assert_eq!(place.read(line), place.read(&format!("kept/{name}")));
    }
    let message = place.run(&["dedup", "letters", "-o", "kept"]).fails(2);
    assert!(message.contains("the folder is not empty"), "{message}");
    let message = place.run(&["dedup", "letters", "-o", "letters/kept"]).fails(2);
    assert!(message.contains("lies in the input letters"), "{message}");
}

#[test]
fn reference_keepers_show_their_path() {
    let place = Place::new();
    place.file("in/kept/a.txt", words(1, 90)).file("in/a.txt", words(1, 90) + " end");
    let run = place.run(&["dedup", "in", "--reference", "in/kept", "--dry-run"]);
    assert!(run.err.contains("also in the reference, read only as reference"), "{}", run.err);
    assert!(run.ok().contains("in/a.txt -> in/kept/a.txt"));
}

#[test]
fn record_files_are_written_once() {
    let place = place();
    place.file("in/a.jsonl", place.read("in.jsonl")).file("in/b.jsonl", place.read("in.jsonl"));
    let run = place.run(&["dedup", "in", "-o", "out/"]);
    assert!(run.err.contains("in 2 files"), "{}", run.err);
    assert!(!run.err.contains("copied unchanged"), "{}", run.err);
    run.ok();
}

#[test]
fn stdin_and_gzip_give_equal_outputs() {
    let place = place();
    place.run(&["dedup", "in.jsonl", "-o", "out.jsonl"]).ok();
    let input = place.read("in.jsonl");
    place.run_with_input(&["dedup", "-", "-o", "stdin.jsonl"], input.as_bytes()).ok();
    assert_eq!(place.read("stdin.jsonl"), place.read("out.jsonl"));
    place.file("in.jsonl.gz", gzip(input.as_bytes()));
    place.run(&["dedup", "in.jsonl.gz", "-o", "gz.jsonl.zst", "--memory", "64MiB"]).ok();
    let zst = std::fs::read(place.path("gz.jsonl.zst")).unwrap();
    assert_eq!(zstd::decode_all(&zst[..]).unwrap(), place.read("out.jsonl").as_bytes());
}

#[test]
fn stdout_contains_only_records() {
    let place = place();
    place.run(&["dedup", "in.jsonl", "-o", "out.jsonl"]).ok();
    let run = place.run(&["dedup", "in.jsonl", "-o", "-", "--removed", "gone.csv"]);
    assert!(run.err.contains("written: -: "), "{}", run.err);
    assert_eq!(run.ok(), place.read("out.jsonl"));
    assert_eq!(place.read("gone.csv").lines().count(), 10);
    assert!(!place.path("-").exists());
    let input = place.read("in.jsonl");
    let piped = place.run_with_input(&["dedup", "-", "-o", "-", "-q"], input.as_bytes());
    assert_eq!(piped.ok(), place.read("out.jsonl"));
    place.file("a/x.txt", words(1, 90)).file("a/y.txt", words(1, 90)).file("a/z.txt", words(2, 90));
    assert_eq!(place.run(&["dedup", "a", "-o", "-"]).ok(), "a/x.txt\na/z.txt\n");
    place.run(&["dedup", "a", "in.jsonl", "-o", "-"]).fails(2);
}

/// Returns the relative paths of everything below a folder, sorted.
fn tree(folder: &std::path::Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            names.push(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
            if path.symlink_metadata().unwrap().is_dir() {
                folders.push(path);
            }
        }
    }
    names.sort();
    names
}

/// Returns a folder `in` with documents, copies of two of them, and files without text.
fn place_with_folder() -> Place {
    let place = Place::new();
    let text = words(1, 90);
    place.file("in/a/keep.txt", format!("{text} and more")).file("in/b/copy.txt", &text);
    place.file("in/other.txt", words(2, 90)).file("in/.hidden/copy of other.txt", words(2, 90));
    place.file("in/photo.png", b"\x89PNG\r\n\x1a\n\0\0\0\0").file("in/.hidden/note.txt", "hello");
    place.file("in/out.log", words(3, 90)).file("in/.ignore", "*.log\n");
    std::fs::create_dir(place.path("in/empty")).unwrap();
    place
}

#[cfg(unix)]
#[test]
fn folder_copies_omit_only_duplicates() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let place = place_with_folder();
    symlink("a/keep.txt", place.path("in/link.txt")).unwrap();
    std::fs::set_permissions(place.path("in/photo.png"), PermissionsExt::from_mode(0o640)).unwrap();
    std::fs::set_permissions(place.path("in/empty"), PermissionsExt::from_mode(0o500)).unwrap();
    let before = tree(&place.path("in"));
    let run = place.run(&["dedup", "in", "-o", "kept/"]);
    assert!(run.err.contains("5 files without a document and 1 link"), "{}", run.err);
    run.ok();
    let without = |removed: &str| before.iter().filter(|name| *name != removed).cloned().collect();
    let expected: Vec<String> = without("b/copy.txt");
    assert_eq!(tree(&place.path("kept")), expected);
    assert_eq!(place.read("kept/.hidden/note.txt"), "hello");
    let link = std::fs::read_link(place.path("kept/link.txt")).unwrap();
    assert_eq!(link, std::path::Path::new("a/keep.txt"));
    for (name, mode) in [("photo.png", 0o640), ("empty", 0o500)] {
        let found = place.path("kept").join(name).metadata().unwrap().permissions();
        assert_eq!(found.mode() & 0o777, mode, "{name}");
    }
    assert_eq!(tree(&place.path("in")), before);
    let run = place.run(&["dedup", "in", "-o", "texts/", "--documents-only"]);
    assert!(run.err.contains("not copied: 6 files or parts of files without"), "{}", run.err);
    assert_eq!(run.ok(), "");
    assert_eq!(tree(&place.path("texts")), ["a", "a/keep.txt", "other.txt"]);
    let run = place.run(&["dedup", "in", "-o", "list.txt"]);
    assert!(run.err.contains("not written: 6 files or parts of files without"), "{}", run.err);
    std::fs::set_permissions(place.path("in/empty"), PermissionsExt::from_mode(0o700)).unwrap();
    std::fs::set_permissions(place.path("kept/empty"), PermissionsExt::from_mode(0o700)).unwrap();
}

#[cfg(unix)]
#[test]
fn uncopied_pipes_are_reported() {
    let place = place_with_folder();
    let status = std::process::Command::new("mkfifo").arg(place.path("in/pipe")).status().unwrap();
    assert!(status.success());
    let run = place.run(&["dedup", "in", "-o", "kept/", "-q"]);
    assert!(run.err.contains("not copied: in/pipe: it is neither a file nor a folder"), "{run:?}");
    run.ok();
}

#[test]
fn moves_never_overwrite_files() {
    let place = place_with_folder();
    let before = tree(&place.path("in"));
    let args = ["dedup", "in", "--all-files", "--move-to", "gone"];
    let run = place.run(&[&args[..], &["--dry-run"]].concat());
    assert!(run.err.contains("would be moved to gone: 2 files"), "{}", run.err);
    assert_eq!((tree(&place.path("in")), place.path("gone").exists()), (before, false));
    place.file("gone/b/copy.txt", "precious");
    let run = place.run(&args);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.err.contains("moved to gone: 1 file"), "{}", run.err);
    assert!(run.err.contains("not moved: in/b/copy.txt: gone/b/copy.txt exists"), "{}", run.err);
    assert_eq!(place.read("gone/b/copy.txt"), "precious");
    assert_eq!(place.read("in/b/copy.txt"), words(1, 90));
    std::fs::remove_file(place.path("gone/b/copy.txt")).unwrap();
    let run = place.run(&[&args[..], &["--removed", "gone.csv"]].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(place.read("gone/b/copy.txt"), words(1, 90));
    assert!(place.read("gone.csv").contains("b/copy.txt,"), "{}", place.read("gone.csv"));
    // The default keep rule `name` keeps the file whose name does not mark a copy.
    assert_eq!(place.read("in/other.txt"), words(2, 90));
    assert_eq!(place.read("gone/.hidden/copy of other.txt"), words(2, 90));
    let run = place.run(&args);
    assert!(run.err.contains("no file moved"), "{}", run.err);
    assert!(!run.err.contains("undo:"), "{}", run.err);
    run.ok();
    let message = place.run(&["dedup", "in", "--move-to", "in/gone"]).fails(2);
    assert!(message.contains("lies in the input in"), "{message}");
}

#[test]
fn record_files_are_not_moved() {
    let place = place_with_folder();
    place.file("in.jsonl", jsonl(&collection(3)));
    for action in [&["--move-to", "gone"][..], &["--link", "hard"], &["--script", "s.sh"]] {
        let message = place.run(&[&["dedup", "in.jsonl"], action].concat()).fails(2);
        let expected = format!("{} is for inputs that are files", action[0]);
        assert!(message.contains(&expected), "{message}");
        assert!(message.contains("in.jsonl holds records"), "{message}");
    }
    place.file("in/records.jsonl", jsonl(&collection(3)));
    let run = place.run(&["dedup", "in", "--move-to", "gone"]);
    let expected = "not moved: in/records.jsonl: 3 of its records are duplicates";
    assert!(run.err.contains(expected), "{}", run.err);
    run.ok();
    assert_eq!(place.read("gone/b/copy.txt"), words(1, 90));
    assert_eq!(place.read("in/records.jsonl"), jsonl(&collection(3)));
    let message = place.run(&["dedup", "in", "--move-to", "x", "-o", "y/"]);
    assert_eq!(message.code, Some(2), "{message:?}");
}

/// File names that a shell or `rm` misinterprets unless the script quotes them.
#[cfg(unix)]
const NAMES: [&str; 7] =
    ["-rf", "a b", "it's", "new\nline; touch hacked", "$(touch hacked)", "*", "\"`x`\\"];

#[cfg(unix)]
#[test]
fn scripts_remove_only_unchanged_duplicates() {
    let place = Place::new();
    let text = words(1, 90);
    for name in NAMES {
        place.file(&format!("in/{name}"), &text);
    }
    place.file("in/keep", format!("{text} and more")).file("in/other", words(2, 90));
    let args = ["dedup", "in", "--script", "remove.sh"];
    place.run(&[&args[..], &["--dry-run"]].concat()).ok();
    assert!(!place.path("remove.sh").exists());
    let run = place.run(&args);
    assert!(run.err.contains("script: remove.sh lists 7 files"), "{}", run.err);
    run.ok();
    assert_eq!(tree(&place.path("in")).len(), 9, "nothing is done yet");
    let script = place.read("remove.sh");
    assert!(script.contains("# jaccard 0."), "{script}");
    assert!(script.contains(" with keep (longest)\nduplicate '/"), "{script}");
    // The first check: a file changes before the script runs.
    place.file("in/a b", "something else");
    let sh = |name: &str| {
        let mut command = std::process::Command::new("sh");
        command.arg(place.path(name)).current_dir(place.path("in")).output().unwrap()
    };
    let output = sh("remove.sh");
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("it changed: /"), "{output:?}");
    assert_eq!(tree(&place.path("in")), ["a b", "keep", "other"]);
    // The second check: a link to a file of the same size replaces a file before the script runs.
    place.file("in/a b", &text).file("elsewhere", &text);
    place.run(&args).ok();
    std::fs::remove_file(place.path("in/a b")).unwrap();
    std::os::unix::fs::symlink(place.path("elsewhere"), place.path("in/a b")).unwrap();
    let output = sh("remove.sh");
    assert!(String::from_utf8_lossy(&output.stderr).contains("it changed: /"), "{output:?}");
    assert!(place.path("in/a b").symlink_metadata().unwrap().is_symlink());
    assert_eq!(place.read("elsewhere"), text);
    std::fs::remove_file(place.path("in/a b")).unwrap();
    // The third check: without the keeper, the script removes nothing.
    place.file("in/a b", &text);
    place.run(&args).ok();
    std::fs::remove_file(place.path("in/keep")).unwrap();
    let output = sh("remove.sh");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("its keeper is missing"),
        "{output:?}"
    );
    assert_eq!(tree(&place.path("in")), ["a b", "other"]);
}

#[cfg(unix)]
#[test]
fn only_equal_files_become_links() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let place = Place::new();
    let text = words(1, 90);
    let inode = |name: &str| place.path(name).metadata().unwrap().ino();
    place.file("in/a.txt", &text).file("in/b.txt", &text).file("in/sub/c.txt", &text);
    place.file("in/d.txt", text.to_uppercase()).file("in/secret.txt", &text);
    let secret = place.path("in/secret.txt");
    std::fs::set_permissions(&secret, PermissionsExt::from_mode(0o600)).unwrap();
    let args = ["dedup", "in", "--link", "hard"];
    let run = place.run(&[&args[..], &["--dry-run"]].concat());
    assert!(run.err.contains("would be linked: 2 files"), "{}", run.err);
    assert_ne!(inode("in/a.txt"), inode("in/b.txt"));
    let run = place.run(&args);
    assert!(run.err.contains("linked: 2 files"), "{}", run.err);
    assert!(
        run.err.contains("not linked: in/d.txt: its bytes differ from its keeper"),
        "{}",
        run.err
    );
    assert!(run.err.contains("not linked: in/secret.txt: a hard link would change"), "{}", run.err);
    run.ok();
    let linked = ["in/a.txt", "in/b.txt", "in/sub/c.txt"].map(inode);
    assert_eq!(linked, [linked[0]; 3]);
    assert_eq!(place.read("in/b.txt"), text);
    assert_eq!(secret.metadata().unwrap().mode() & 0o777, 0o600);
    assert_eq!(tree(&place.path("in")).len(), 6, "no temporary file is left");
    let run = place.run(&args);
    assert!(run.err.contains("no file linked"), "{}", run.err);
    assert!(run.err.contains("in/b.txt: it is already a hard link to its keeper"), "{}", run.err);
    run.ok();
    // Creates reflinks if the file system supports them. Otherwise every file stays, with a reason.
    std::fs::remove_file(place.path("in/b.txt")).unwrap();
    place.file("in/b.txt", &text);
    let run = place.run(&["dedup", "in", "--link", "reflink"]);
    if run.code == Some(1) {
        assert!(run.err.contains("not linked: in/b.txt: cannot link it to"), "{}", run.err);
    }
    assert_eq!(place.read("in/b.txt"), text);
    assert_ne!(inode("in/b.txt"), inode("in/a.txt"));
}

#[cfg(unix)]
#[test]
fn aliased_files_are_not_moved() {
    let place = Place::new();
    place.file("real/x.txt", words(1, 90)).file("real/y.txt", words(2, 90));
    std::os::unix::fs::symlink("real", place.path("alias")).unwrap();
    let run = place.run(&["dedup", "alias", "real", "--move-to", "gone"]);
    assert!(run.err.contains("2 found a second time, read once"), "{run:?}");
    assert_eq!(run.code, Some(0));
    assert_eq!(tree(&place.path("real")), ["x.txt", "y.txt"]);
    place.run(&["dedup", "alias", "real", "--script", "s.sh"]).ok();
    let output = std::process::Command::new("sh").arg(place.path("s.sh")).output().unwrap();
    assert!(output.status.success());
    assert_eq!(tree(&place.path("real")), ["x.txt", "y.txt"]);
}

#[test]
fn csv_safe_neutralises_formulas() {
    let place = Place::new();
    let text = words(1, 90);
    let documents =
        [("=cmd()", format!("{text} end")), ("+1", text.clone()), ("@x", words(2, 9)), ("-", text)];
    let documents = documents.map(|(id, text)| (id.to_owned(), text));
    place.file("in.jsonl", jsonl(&documents) + "{\"id\":\"-0\",\"text\":\"\"}\n");
    let find = ["find", "in.jsonl", "-o", "g.csv", "--pairs", "p.csv", "--skipped", "s.csv"];
    let dedup = ["dedup", "in.jsonl", "-o", "out.jsonl", "--removed", "r.csv"];
    let files = ["g.csv", "p.csv", "s.csv", "r.csv"];
    place.run(&find).ok();
    place.run(&dedup).ok();
    let plain = files.map(|name| place.read(name));
    assert!(plain[0].contains("1,=cmd(),keeper,=cmd(),\n"), "{}", plain[0]);
    place.run(&[&find[..], &["--csv-safe"]].concat()).ok();
    place.run(&[&dedup[..], &["--csv-safe"]].concat()).ok();
    for (name, plain) in files.iter().zip(plain) {
        let cells = plain.lines().map(|line| {
            let cells = line.split(',').map(|cell| match cell.chars().next() {
                Some('=' | '+' | '-' | '@') => format!("'{cell}"),
                _ => cell.to_owned(),
            });
            cells.collect::<Vec<_>>().join(",") + "\n"
        });
        assert_eq!(place.read(name), cells.collect::<String>(), "{name}");
        assert!(place.read(name).contains(",'") || place.read(name).contains("\n'"), "{name}");
    }
    assert!(place.read("out.jsonl").contains("\"=cmd()\""));
    // `--csv-safe` does not change records of the input, only the annotations that the program
    // adds.
    place.file("in.csv", format!("id,text\n=a,{t} end\n=b,{t}\n", t = words(5, 60)));
    place.run(&["dedup", "in.csv", "-o", "all.csv", "--annotate", "--csv-safe"]).ok();
    let all = place.read("all.csv");
    assert!(all.contains("\n=b,") && all.contains(",'=a,"), "{all}");
}

/// Runs that a signal ends, and their temporary files.
#[cfg(unix)]
mod signals {
    use super::*;
    use std::io::Read;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, ChildStdout, Command, Stdio};

    /// Starts a run and waits until its outputs are open. The run then blocks, because it writes
    /// more to its standard output than the pipe can hold.
    fn blocked(place: &Place) -> (Child, ChildStdout) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lookalike"))
            .args(["dedup", "in.jsonl", "-o", "-", "--removed", "out/gone.csv", "-q"])
            .current_dir(place.path(""))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut out = child.stdout.take().unwrap();
        out.read_exact(&mut [0]).unwrap();
        (child, out)
    }

    fn send(signal: &str, child: &Child) {
        let kill = format!("kill -{signal} {}", child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Returns a folder with more than a megabyte of records.
    fn place() -> Place {
        let place = Place::new();
        let mut documents: Vec<_> = (0..900).map(|n| (n.to_string(), words(n, 250))).collect();
        documents.push(("copy".to_owned(), words(7, 250)));
        place.file("in.jsonl", jsonl(&documents));
        std::fs::create_dir(place.path("out")).unwrap();
        place
    }

    #[test]
    fn a_signal_removes_the_temporary_files() {
        let place = place();
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = mask.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap());
        for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
            if ignored >> (number - 1) & 1 == 1 {
                // The program inherits the ignored signal, so the signal does not end it.
                let skipped = format!("SIG{name} is ignored, so it ends no program");
                lookalike_test_support::print_skipped(&skipped);
                continue;
            }
            let (mut child, _out) = blocked(&place);
            let names = tree(&place.path("out"));
            assert!(names.len() == 1 && names[0].starts_with(".lookalike-"), "{names:?}");
            send(name, &child);
            assert_eq!(child.wait().unwrap().signal(), Some(number), "{name}");
            assert_eq!(tree(&place.path("out")), [""; 0], "{name}");
        }
    }

    #[test]
    fn ignored_signals_stay_ignored() {
        let place = place();
        let program = env!("CARGO_BIN_EXE_lookalike");
        let script = format!("trap '' HUP; exec {program} dedup in.jsonl -o - -q");
        let mut child = Command::new("sh")
            .args(["-c", &script])
            .current_dir(place.path(""))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = child.stdout.take().unwrap();
        out.read_exact(&mut [0]).unwrap();
        send("HUP", &child);
        let mut rest = Vec::new();
        out.read_to_end(&mut rest).unwrap();
        assert!(child.wait().unwrap().success());
        assert_eq!(rest.split(|byte| *byte == b'\n').count(), 901);
    }

    #[test]
    fn only_abandoned_temporary_files_are_removed() {
        let place = place();
        let (mut killed, _pipe) = blocked(&place);
        killed.kill().unwrap();
        killed.wait().unwrap();
        let left = tree(&place.path("out"));
        assert_eq!(left.len(), 1, "{left:?}");
        let (mut live, mut pipe) = blocked(&place);
        // The second run has removed the temporary file of the killed run.
        let written = tree(&place.path("out"));
        assert!(written.len() == 1 && written != left, "{written:?}");
        place.file("out/.lookalike-a1B2c3.part", "left");
        let find = ["find", "in.jsonl", "-o", "out/groups.csv", "-q"];
        let run = place.run(&find);
        let message = "removed 1 temporary file of an interrupted run: out/.lookalike-a1B2c3.part";
        assert!(run.err.contains(message), "{}", run.err);
        run.ok();
        let names = tree(&place.path("out"));
        assert_eq!(names, [written[0].as_str(), "groups.csv"]);
        pipe.read_to_end(&mut Vec::new()).unwrap();
        assert!(live.wait().unwrap().success());
        assert_eq!(tree(&place.path("out")), ["gone.csv", "groups.csv"]);
        assert_eq!(place.run(&find).err, "");
    }
}

#[test]
fn damaged_archives_are_listed_and_copied() {
    let place = Place::new();
    let mut archive = tar("m.txt", b"a text of some words in an archive");
    archive.extend(tar("n.txt", b"another text of words, in the archive, too"));
    archive.resize(archive.len() + 1024, 0);
    let mut packed = gzip(&archive);
    let checksum = packed.len() - 8;
    packed[checksum] ^= 0xFF;
    let text = "five words of a text";
    place.file("d/bad.tar.gz", &packed).file("d/a.txt", text).file("d/b.txt", text);
    let run = place.run(&["dedup", "d", "--skip-bad", "-o", "out", "--skipped", "s.csv"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(place.read("s.csv").contains("matching checksum"), "{run:?}");
    assert_eq!(std::fs::read(place.path("out/bad.tar.gz")).unwrap(), packed);
    assert!(place.path("out/a.txt").exists() && !place.path("out/b.txt").exists());
}
