//! Messages name the right cause, and the remedies that they name work.

use crate::command::{Place, jsonl, words};
use serde_json::Value;

const TABLE: &str = "question,answer\nwhat is this,a table of questions\n";

/// Returns a folder with a text and a file of three records.
fn place() -> Place {
    let place = Place::new();
    let record = |id: &str, text: &str| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n");
    let records = [
        record("a", "a cat sat on the mat in the sun"),
        record("b", "a cat sat on the mat in the sun"),
        record("c", "nothing in common with any of the others"),
    ];
    place.file("in.jsonl", records.concat()).file("d/a.txt", "some words of a text in a folder");
    place
}

/// A mailbox with one message.
const MAILBOX: &str = "From ann@example.org Thu Jan  1 00:00:00 2026\nFrom: ann@example.org\n\
    Message-ID: <1@example.org>\nSubject: one\n\nthe words of a message in a mailbox\n\n";

#[test]
fn unmatched_patterns_are_named() {
    let place = place();
    for args in [
        &["find", "d", "--include", "*.docx"][..],
        &["find", "d", "--include", "*.py"],
        &["find", "d", "--exclude", "*.txt"],
        &["index", "create", "x", "d", "--include", "*.docx"],
    ] {
        let message = place.run(args).fails(1);
        assert!(message.contains("1 left out by patterns (change --include"), "{message}");
        assert!(!message.contains("hidden"), "{message}");
    }
}

#[test]
fn files_left_out_name_their_option() {
    let place = Place::new();
    place.file("d/.hidden.txt", "x").file("empty/sub/.gitkeep", "");
    let message = place.run(&["find", "d"]).fails(1);
    assert!(message.contains("folder: 1 hidden (--all-files reads them)\n"), "{message}");
    std::fs::remove_file(place.path("empty/sub/.gitkeep")).unwrap();
    let message = place.run(&["find", "empty"]).fails(1);
    assert!(message.contains("in this folder; name a folder with documents"), "{message}");
}

#[test]
fn indexes_are_not_their_inputs() {
    let place = place();
    let message = place.run(&["index", "create", "d", "d"]).fails(2);
    assert!(message.contains("d: this is in the folder of the index d"), "{message}");
    place.run(&["index", "create", "d/x", "d"]).ok();
    for command in ["add", "update"] {
        let message = place.run(&["index", command, "d/x", "d/x"]).fails(2);
        assert!(message.contains("d/x: this is in the folder of the index d/x"), "{message}");
    }
    let message = place.run(&["watch", "d/x", "--index", "d/x", "--once"]).fails(2);
    assert!(message.contains("d/x: this is in the folder of the index d/x"), "{message}");
}

#[test]
fn tables_in_folders_name_options() {
    let place = place();
    place.file("d/qa.csv", TABLE);
    let found = place.run(&["find", "d"]).err;
    let added = place.run(&["index", "create", "x", "d"]).err;
    for err in [found, added] {
        assert!(
            err.contains("with --id-field, or use file and line as ids with --id-field :line"),
            "{err}"
        );
        assert!(!err.contains("id_field"), "{err}");
    }
}

#[test]
fn folder_outputs_reject_stdout() {
    let place = place();
    place.file("d/mail.mbox", MAILBOX);
    let message = place.run(&["dedup", "d", "-o", "-"]).fails(2);
    assert!(!message.contains("end the name"), "{message}");
    assert!(message.contains("an output such as survivors/"), "{message}");
    place.run(&["dedup", "d", "-o", "survivors/"]).ok();
    assert_eq!(place.read("survivors/mail.mbox"), MAILBOX);
}

/// Runs the first command of `docs/guides/choosing.md` that writes a folder.
#[test]
fn new_folders_take_every_kind() {
    let place = place();
    place.file("d/mail.mbox", MAILBOX);
    place.run(&["dedup", "d", "-t", "0.5", "--keep", "newest", "-o", "NEW-FOLDER"]).ok();
    assert_eq!(place.read("NEW-FOLDER/mail.mbox"), MAILBOX);
    assert!(place.read("NEW-FOLDER/a.txt").contains("some words"));
    place.file("e.csv", "id,text\nz,words\n");
    place.run(&["dedup", "in.jsonl", "e.csv", "-o", "both"]).ok();
    assert_eq!(place.read("both/e.csv"), place.read("e.csv"));
    let message = place.run(&["dedup", "in.jsonl", "e.csv", "-o", "both.jsonl"]).fails(2);
    assert!(message.contains("one file cannot hold both"), "{message}");
}

#[test]
fn certain_recall_takes_exact_runs() {
    let place = place();
    let refused = place.run(&["find", "in.jsonl", "--recall", "1"]).fails(2);
    assert!(refused.contains("a run with --exact misses none"), "{refused}");
    place.run(&["find", "in.jsonl", "--recall", "1", "--exact"]).ok();
    let refused = place.run(&["find", "in.jsonl", "--recall", "0"]).fails(2);
    assert!(!refused.contains("--exact"), "{refused}");
}

#[test]
fn nearest_takes_whole_numbers() {
    let place = place();
    place.run(&["index", "create", "x", "in.jsonl"]).ok();
    for value in ["0", "-1", "few"] {
        let message =
            place.run(&["query", "x", "in.jsonl", &format!("--nearest={value}")]).fails(2);
        assert!(message.contains("expected a whole number from 1, such as 5"), "{message}");
        assert!(!message.contains("non-zero type"), "{message}");
    }
}

#[test]
fn suggested_options_have_similar_names() {
    let place = place();
    let dedup = |option: &str| place.run(&["dedup", "in.jsonl", "-o", "o.jsonl", option, "3"]);
    let message = dedup("--limit").fails(2);
    assert!(message.contains("unexpected argument '--limit'"), "{message}");
    assert!(!message.contains("signatures") && !message.contains("similar"), "{message}");
    assert!(message.contains("Usage: lookalike dedup "), "{message}");
    for (typed, suggested) in [("--treshold", "--threshold"), ("--temp", "--temp-dir")] {
        let message = dedup(typed).fails(2);
        assert!(message.contains(&format!("'{suggested}'")), "{message}");
    }
    let message = place.run(&["index", "remove", "x", "--limit", "3"]).fails(2);
    assert!(message.contains("Usage: lookalike index remove "), "{message}");
}

#[test]
fn help_explains_escaped_commas() {
    let place = place();
    let help = place.run(&["index", "create", "--help"]).ok();
    assert!(help.contains("(a comma in its name is `\\,`)"), "{help}");
    place.file("e.jsonl", "{\"id\":\"a\",\"text\":\"b\",\"c,d\":\"e\"}\n");
    place.run(&["index", "create", "x", "e.jsonl", "--metadata", "c\\,d"]).ok();
    let line: Value = serde_json::from_str(&place.run(&["index", "export", "x"]).ok()).unwrap();
    assert_eq!(line["metadata"]["c,d"], "e");
}

#[test]
fn recall_of_nearest_needs_matches() {
    let place = place();
    place.run(&["index", "create", "x", "in.jsonl"]).ok();
    place.file("other.jsonl", "{\"id\":\"z\",\"text\":\"six words that are quite elsewhere\"}\n");
    let run = place.run(&["query", "x", "other.jsonl", "--nearest", "2"]);
    assert!(run.err.contains("0 of 1 queries have a match"), "{}", run.err);
    assert!(!run.err.contains(" % of documents"), "{}", run.err);
    let both = place.run(&["query", "x", "other.jsonl", "in.jsonl", "--nearest", "1"]);
    assert!(both.err.contains("100.00 % of documents as similar as the last"), "{}", both.err);
}

#[test]
fn unknown_ids_fail_removal() {
    let place = place();
    place.run(&["index", "create", "x", "in.jsonl"]).ok();
    let run = place.run(&["index", "remove", "x", "gone", "a", "lost"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    let expected = "x: 1 document removed\nerror: x: no document has these ids: gone, lost; ";
    assert!(run.err.starts_with(expected), "{}", run.err);
    let run = place.run(&["index", "remove", "x", "a", "--json"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    let value: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&value["removed"], &value["absent"][0]), (&0.into(), &"a".into()));
    place.run(&["index", "remove", "x", "b"]).ok();
}

#[test]
fn unit_removal_matches_the_guide() {
    let path = crate::command::root().join("docs/guides/units.md");
    let guide = std::fs::read_to_string(path).unwrap();
    let sentence = "`A⏎⏎B` without `A` is `⏎B` with `--unit line` and `B` with `--unit paragraph`";
    assert!(guide.contains(sentence));
    let place = Place::new();
    place.file("in.jsonl", "{\"id\":\"a\",\"text\":\"A\\n\\nB\"}\n{\"id\":\"k\",\"text\":\"A\"}\n");
    for (unit, left) in [("line", "\\nB"), ("sentence", "\\nB"), ("paragraph", "B")] {
        let options = ["--shingle", "bag", "--reference", "k.jsonl", "-o", "-"];
        place.file("k.jsonl", "{\"id\":\"r\",\"text\":\"A\"}\n");
        let run = place.run(&[&["dedup", "in.jsonl", "--unit", unit][..], &options].concat());
        let expected = format!("{{\"id\":\"a\",\"text\":\"{left}\"}}\n");
        assert_eq!(run.ok(), expected, "{unit}");
    }
}

/// A cut removes only the copied words if a text has no ASCII, also with a normal form.
#[test]
fn cuts_spare_text_without_ascii() {
    let place = Place::new();
    let copied = "这是一段在两个文件中重复出现的中文文字用来测试切割";
    let line = |id: &str, text: &str| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n");
    let first = line("a", &format!("开头的话。{copied}。结尾的话甲乙丙丁,一二三四五六。"));
    let second = |text: &str| line("b", &format!("别的开头，{text}别的结尾戊己庚辛。"));
    place.file("in.jsonl", first.clone() + &second(&format!("{copied}，")));
    for form in ["nfc", "nfkc", "fold", "unaccent"] {
        let options = ["--min-words", "10", "--normalize", form, "-o", "-", "-q"];
        let cut = place.run(&[&["cut", "in.jsonl"][..], &options].concat()).ok();
        assert_eq!(cut, first.clone() + &second(""), "{form}");
    }
}

#[test]
fn old_office_files_name_a_conversion() {
    let place = place();
    let mut bytes = vec![0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];
    bytes.resize(600, 0);
    for name in ["a.doc", "b.xls", "c.PPT"] {
        place.file(&format!("d/{name}"), &bytes);
    }
    place.run(&["find", "d", "--skipped", "s.csv"]).ok();
    let command = "soffice --headless --convert-to docx --outdir NEW FOLDER/*.doc";
    let run = place.run(&["find", "d"]);
    assert!(run.err.lines().any(|line| line == command), "{}", run.err);
    assert!(run.err.contains("3 old Office files, first d/a.doc"), "{}", run.err);
    let list = place.read("s.csv");
    for name in ["a.doc", "b.xls", "c.PPT"] {
        let line = list.lines().find(|line| line.contains(name)).unwrap();
        assert!(line.contains("soffice --headless --convert-to docx "), "{line}");
    }
}

#[test]
fn outlook_messages_name_a_conversion() {
    let place = place();
    let mut bytes = vec![0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];
    bytes.resize(600, 0);
    bytes.extend("__substg1.0_0037001F".encode_utf16().flat_map(u16::to_le_bytes));
    place.file("d/a.msg", &bytes);
    let run = place.run(&["find", "d"]);
    assert!(run.err.contains("d/a.msg: an Outlook message (`msgconvert"), "{}", run.err);
}

#[test]
fn pairs_replace_the_table() {
    let place = place();
    let text = words(1, 30);
    place.file("copies.jsonl", jsonl(&[("a".into(), text.clone()), ("b".into(), text)]));
    let run = place.run(&["find", "copies.jsonl", "--pairs", "p.csv"]);
    assert_eq!(run.out, "");
    assert!(run.err.contains("1 duplicate in 1 group"), "{}", run.err);
    let run = place.run(&["find", "copies.jsonl", "--pairs", "p.csv", "--limit", "0"]);
    assert!(run.out.contains("keeper"), "{}", run.out);
}

#[test]
fn unmatched_queries_show_nearest_documents() {
    let place = Place::new();
    let text = words(1, 60);
    let metadata = serde_json::json!({
        "id": "a", "text": text, "title": "A title", "date": "2024-05-06T07:08:09Z"
    });
    place.file("in.jsonl", format!("{metadata}\n"));
    let create = ["index", "create", "x", "in.jsonl", "--metadata", "title", "--metadata", "date"];
    place.run(&create).ok();
    let half: Vec<&str> = text.split(' ').take(40).collect();
    place.file("draft.txt", half.join(" ") + " and words of its own in the rest of this draft");
    let run = place.run(&["query", "x", "draft.txt", "--exit-code"]);
    assert_eq!((run.code, run.out.as_str()), (Some(0), ""), "{run:?}");
    assert!(run.err.contains("no match for draft.txt; the nearest documents:\n"), "{}", run.err);
    assert!(run.err.contains("A title · in.jsonl · 2024-05-06\n"), "{}", run.err);
    assert!(run.err.contains("--nearest 10") && run.err.contains("containment"), "{}", run.err);
    let found = place.run(&["query", "x", "draft.txt", "--nearest", "1"]);
    assert!(found.out.contains("  a\n            A title · in.jsonl · 2024-05-06\n"), "{found:?}");
    let quiet = place.run(&["query", "x", "draft.txt", "--quiet"]);
    assert_eq!((quiet.out, quiet.err), (String::new(), String::new()));
}

#[test]
fn suggested_thresholds_are_lower() {
    let place = Place::new();
    place.file("in.jsonl", jsonl(&[("a".into(), words(1, 60))]));
    place.run(&["index", "create", "x", "in.jsonl"]).ok();
    place.file("other.txt", words(2, 60));
    let run = place.run(&["query", "x", "other.txt"]);
    assert!(run.err.contains("no document of the index resembles other.txt\n"), "{}", run.err);
    assert!(!run.err.contains("--threshold"), "{}", run.err);
    let start: Vec<String> = words(1, 60).split(' ').take(40).map(str::to_owned).collect();
    // The bands of the index miss documents that share half of their shingles, whatever the
    // threshold.
    let mut missed = 0;
    for seed in 3..9 {
        place.file("half.txt", start.join(" ") + " " + &words(seed, 20));
        let run = place.run(&["query", "x", "half.txt", "-t", "0.4"]);
        assert!(!run.err.contains("--threshold"), "{}", run.err);
        missed += u64::from(run.err.contains("no match for half.txt"));
    }
    assert!(missed > 0);
    // The bands find a document that shares most of its shingles.
    let most: Vec<String> = words(1, 60).split(' ').take(53).map(str::to_owned).collect();
    place.file("most.txt", most.join(" ") + " " + &words(9, 7));
    let run = place.run(&["query", "x", "most.txt"]);
    assert!(run.err.contains(", or --threshold 0.7;"), "{}", run.err);
    let found = place.run(&["query", "x", "most.txt", "-t", "0.7"]);
    assert!(found.out.contains("  a\n"), "{}", found.out);
}

#[test]
fn set_indexes_list_missing_features() {
    let place = place();
    let run = place.run(&["index", "create", "x", "in.jsonl"]);
    assert!(!run.err.contains("--store"), "{}", run.err);
    assert!(place.run(&["index", "stats", "x", "--json"]).ok().contains("\"texts\""));
    let run = place.run(&["index", "create", "y", "in.jsonl", "--store", "sets"]);
    for lost in ["--store sets", "`index categorise`", "`query --text`", "`contamination`"] {
        assert!(run.err.contains(lost), "{}", run.err);
    }
}

#[test]
fn printed_paths_can_be_opened() {
    let place = place();
    let text = words(1, 60);
    place.file("in/a.txt", &text).file("in/sub/b.txt", &text).file("in/bad.bin", b"\0\0");
    for folder in ["in", "./in", "in/"] {
        let found = place.run(&["find", folder]);
        let changes = place.run(&["dedup", folder, "--dry-run"]).ok();
        let table = found.out.lines().skip(1).map(|line| line.split_whitespace().last());
        let changes = changes.lines().skip(1).flat_map(|line| line.split_whitespace().skip(2));
        let skipped = found
            .err
            .lines()
            .find_map(|line| line.trim().strip_suffix(": binary: it holds a NUL byte"));
        let paths = table.flatten().chain(changes.filter(|word| *word != "->")).chain(skipped);
        let paths: Vec<&str> = paths.collect();
        assert_eq!(paths.len(), 5, "{found:?}");
        for path in paths {
            assert!(place.path(path).is_file(), "{path}");
        }
    }
}

#[test]
fn path_arguments_suggest_find() {
    let place = Place::new();
    place.file("letters/a", "x");
    let message = place.run(&["letters"]).fails(2);
    assert!(message.contains("type `lookalike find letters`"), "{message}");
    let message = place.run(&["lettres"]).fails(2);
    assert!(!message.contains("lookalike find"), "{message}");
}

#[cfg(feature = "serve")]
#[test]
fn ports_are_parts_of_addresses() {
    let message = Place::new().run(&["serve", "x", "--port", "80"]).fails(2);
    assert!(message.contains("--listen"), "{message}");
}

#[test]
fn replaced_files_are_named() {
    let place = place();
    let text = words(1, 30);
    place.file("in.jsonl", jsonl(&[("a".into(), text.clone()), ("b".into(), text)]));
    let find = ["find", "in.jsonl", "-o", "g.csv", "--report", "r.json"];
    let dedup = ["dedup", "in.jsonl", "-o", "out.jsonl", "--removed", "removed.csv"];
    for replaced in ["", " (replaced)"] {
        let err = place.run(&find).err + &place.run(&dedup).err;
        for line in ["groups: g.csv", "report: r.json", "removed: removed.csv"] {
            assert!(err.contains(&format!("{line}{replaced}\n")), "{err}");
        }
        assert!(err.contains(&format!("written: out.jsonl{replaced}: ")), "{err}");
    }
}

#[test]
fn outputs_in_an_input_are_named() {
    let place = place();
    place.file("d/a.txt", words(1, 30)).file("d/b.txt", words(1, 30));
    let run = place.run(&["find", "d", "-o", "d/groups.csv"]);
    let note = "groups: d/groups.csv\n  it is in the input d: other runs read it as a document; \
                choose another folder\n";
    assert!(run.err.contains(note), "{}", run.err);
    assert!(place.run(&["find", "d", "-o", "d/groups.csv"]).err.contains("\n2 documents"));
}

#[test]
fn pairs_can_need_a_reference() {
    let place = place();
    let text = words(1, 60);
    let ids = ["a", "b"].map(|id| (id.to_owned(), text.clone()));
    place.file("new.jsonl", jsonl(&ids)).file("old.jsonl", jsonl(&[("o".into(), text)]));
    let find = ["find", "new.jsonl", "--reference", "old.jsonl", "--pairs", "p.csv"];
    place.run(&find).ok();
    assert_eq!(place.read("p.csv").lines().count(), 4);
    place.run(&[&find[..], &["--reference-pairs"]].concat()).ok();
    let pairs = "id_a,id_b,jaccard\na,o,1.000000\nb,o,1.000000\n";
    assert_eq!(place.read("p.csv"), pairs);
    place.run(&["find", "new.jsonl", "--pairs", "p.csv", "--reference-pairs"]).fails(2);
}

/// Without the pairs file, which lacks the pairs of two new documents, an audit judges the groups.
#[test]
fn audits_judge_groups_without_all_pairs() {
    let place = place();
    let texts =
        (0..20).flat_map(|seed| ["a", "b"].map(|id| (format!("{seed}{id}"), words(seed, 60))));
    let new: Vec<(String, String)> = texts.collect();
    place.file("new.jsonl", jsonl(&new)).file("old.jsonl", jsonl(&[("o".into(), words(0, 60))]));
    let find = "find new.jsonl --reference old.jsonl --pairs p.csv --report r.json --audit 40 \
                --reference-pairs";
    place.run(&find.split_whitespace().collect::<Vec<_>>()).ok();
    assert!(place.read("r.json").contains("\"recall\":1.0"), "{}", place.read("r.json"));
    let audit = ["audit", "r.json", "new.jsonl", "--reference", "old.jsonl"];
    place.run(&audit).ok();
    let run = place.run(&[&audit[..], &["--pairs", "p.csv"]].concat()).fails(1);
    assert!(
        run.contains("listed only pairs with a reference document; leave out --pairs"),
        "{run}"
    );
}

#[test]
fn empty_inputs_report_no_recall() {
    let place = Place::new();
    place.file("d/empty.txt", "");
    let run = place.run(&["find", "d"]);
    assert!(run.err.contains("no document has a token"), "{}", run.err);
    assert!(!run.err.contains("are found"), "{}", run.err);
}

#[test]
fn reports_name_the_folder_of_ids() {
    let place = place();
    place.file("d/sub/a.txt", words(1, 30)).file("d/b.txt", words(1, 30));
    let run = place.run(&["find", "d", "-o", "g.csv", "--report", "r.json"]);
    assert!(run.err.contains("\n  ids of files are paths below d\n"), "{}", run.err);
    let report: serde_json::Value = serde_json::from_str(&place.read("r.json")).unwrap();
    let folder = report["folder"].as_str().unwrap();
    let keeper = report["groups"][0]["keeper"].as_str().unwrap();
    assert!(place.path(folder).join(keeper).is_file(), "{report}");
    let run = place.run(&["find", "d", "--reference", "d/sub", "-o", "g.csv"]);
    assert!(run.err.contains(" paths below d, except in the reference\n"), "{}", run.err);
    let run = place.run(&["find", "d", "d/sub/../sub", "-o", "g.csv", "--report", "r.json"]);
    assert!(!run.err.contains("paths below"), "{}", run.err);
    assert!(!place.read("r.json").contains("\"folder\""));
}

#[test]
fn files_are_kept_by_name() {
    let place = place();
    let text = words(1, 60);
    place.file("d/report - Copy.txt", format!("{text} more words"));
    place.file("d/report.txt", &text);
    let run = place.run(&["find", "d"]);
    assert!(run.out.contains("keeper  d/report.txt"), "{}", run.out);
    assert!(run.err.contains("\nkeep rules: name decided 1\n"), "{}", run.err);
    let run = place.run(&["find", "d", "--keep", "longest"]);
    assert!(run.out.contains("keeper  d/report - Copy.txt"), "{}", run.out);
    // Jobs that are divided into tasks have the same default.
    place.run(&["shard", "plan", "job", "d"]).ok();
    assert!(place.read("job/plan.json").contains("--keep=name"), "{}", place.read("job/plan.json"));
    let ids = [("a draft", &text), ("b", &text)].map(|(id, text)| (id.to_owned(), text.clone()));
    place.file("in.jsonl", jsonl(&ids));
    let run = place.run(&["find", "in.jsonl", "--keep", "name"]);
    assert!(run.err.contains("--keep name decides nothing"), "{}", run.err);
    let run = place.run(&["find", "in.jsonl"]);
    assert!(run.err.contains("\nkeep rules: id decided 1\n"), "{}", run.err);
}
