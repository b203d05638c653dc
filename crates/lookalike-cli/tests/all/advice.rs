//! Advice on settings: the notes of `find` and `dedup` about few results, `tune`, and the commands
//! of `docs/guides/choosing.md`.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "this is a test")]

use crate::command::{Place, collection, jsonl, root, shared, words};
use serde_json::Value;

const NOTE: &str = "have a near-duplicate here";

/// Returns texts, and copies of some of them in which every eighth word is replaced.
fn revised_copies(copies: u64, unrelated: u64) -> Vec<(String, String)> {
    let mut documents = Vec::new();
    for n in 0..copies {
        let text = words(n + 1, 160);
        let revise = |(i, word)| if i % 8 == 7 { format!("x{n}-{i}") } else { String::from(word) };
        let copy: Vec<String> = text.split(' ').enumerate().map(revise).collect();
        documents.push((format!("copy{n}"), copy.join(" ")));
        documents.push((format!("source{n}"), text));
    }
    documents.extend((0..unrelated).map(|n| (format!("other{n}"), words(1_000 + n, 160))));
    documents
}

fn note(err: &str) -> Option<&str> {
    err.lines().find(|line| line.contains(NOTE))
}

#[test]
fn few_results_advise_a_better_setting() {
    let place = Place::new();
    place.file("in.jsonl", jsonl(&revised_copies(20, 40)));
    let run = place.run(&["find", "in.jsonl", "--json", "--report", "page.html"]);
    let options = "--measure containment --shingle words:2 --threshold 0.3";
    let expected = format!(
        "note: 0 of 80 documents {NOTE}, and 40 with {options} (40 share a passage). Try these \
         options for copies with some words changed (docs/guides/choosing.md)"
    );
    assert_eq!(note(&run.err), Some(expected.as_str()), "{}", run.err);
    let on_page = format!("<p class=\"note\">{}.</p>", expected.strip_prefix("note: ").unwrap());
    assert!(place.read("page.html").contains(&on_page), "{on_page}");
    let report: Value = serde_json::from_str(&run.out).unwrap();
    let better = &report["better_setting"];
    assert_eq!(better["in_use"]["with_neighbour"], 0, "{better}");
    let figures = ["documents", "with_neighbour", "with_passage", "pairs"];
    assert_eq!(figures.map(|name| better["better"][name].as_u64()), [80, 40, 40, 20].map(Some));
    assert_eq!(better["better"]["shingle"], "words:2");
    // The named options find the promised documents, and their run prints no advice.
    let options: Vec<&str> = options.split(' ').collect();
    let named = place.run(&[&["find", "in.jsonl", "--json"][..], &options].concat());
    let report: Value = serde_json::from_str(&named.out).unwrap();
    assert_eq!(report["counts"]["duplicates"], 20, "{report}");
    assert_eq!((note(&named.err), &report["better_setting"]), (None, &Value::Null));
    let dedup = place.run(&["dedup", "in.jsonl", "-o", "out.jsonl"]);
    assert_eq!(note(&dedup.err), Some(expected.as_str()), "{}", dedup.err);
    let quiet = place.run(&["find", "in.jsonl", "--quiet"]);
    assert_eq!(quiet.err, "");
    // Similar documents within the reference collection are not a pair.
    place.file("drafts.jsonl", jsonl(&[("a".to_owned(), words(9_999, 160))]));
    let reference = place.run(&["find", "drafts.jsonl", "--reference", "in.jsonl"]);
    assert_eq!(note(&reference.err), None, "{}", reference.err);
}

/// Collections of fewer than 20 or more than 1,000 documents, or with more than 4 MiB of text, are
/// not measured.
#[test]
fn small_collections_alone_are_measured() {
    let place = Place::new();
    let is_noted = |documents: &[(String, String)]| {
        place.file("in.jsonl", jsonl(documents));
        note(&place.run(&["find", "in.jsonl"]).err).is_some()
    };
    assert!(is_noted(&revised_copies(5, 10)));
    assert!(!is_noted(&revised_copies(5, 9)));
    assert!(is_noted(&revised_copies(100, 800)));
    assert!(!is_noted(&revised_copies(100, 801)));
    let bytes = |documents: &[(String, String)]| -> usize {
        documents.iter().map(|(_, text)| text.len()).sum()
    };
    let mut documents = revised_copies(20, 40);
    let left = (4 << 20) - bytes(&documents);
    documents.push(("long".to_owned(), words(8_888, left / 4)[..left].to_owned()));
    assert_eq!(bytes(&documents), 4 << 20);
    assert!(is_noted(&documents));
    documents.last_mut().unwrap().1.push('x');
    assert!(!is_noted(&documents));
}

/// Returns pairs of English texts that differ in every second content word and in their stop words,
/// and three documents of stop words only.
fn rewritten_copies(copies: u64) -> Vec<(String, String)> {
    const STOP_WORDS: [&str; 12] = [
        "the", "of", "and", "to", "that", "with", "this", "from", "which", "have", "they", "would",
    ];
    let own = |seed: u64| words(seed, 60).split_whitespace().map(String::from).collect::<Vec<_>>();
    let mut documents = Vec::new();
    for n in 0..copies {
        let shared = own(n + 1);
        for copy in 0..2 {
            let mut text = shared[..8].join(" ");
            text.push_str(" this is a text that was written by one of us");
            for (i, (word, other)) in shared.iter().zip(own(1_000 + 2 * n + copy)).enumerate() {
                let number: usize = other[1..].parse().unwrap();
                let word = if i % 2 == 0 { word } else { &other };
                let (first, second) = (number % 12, number / 12 % 12);
                let stop_words = [STOP_WORDS[first], STOP_WORDS[second]].join(" ");
                text += &[" ", word, " ", &stop_words].concat();
            }
            documents.push((format!("d{n}-{copy}"), text));
        }
    }
    let only = ["this is of the and", "that was to be by us", "it has some of those in it"];
    documents.extend(only.map(|text| (text.to_owned(), text.to_owned())));
    documents
}

#[test]
fn find_and_tune_count_documents_alike() {
    let place = Place::new();
    place.file("in.jsonl", jsonl(&rewritten_copies(30)));
    let find = place.run(&["find", "in.jsonl", "--json"]);
    let tune = place.run(&["tune", "in.jsonl"]);
    assert!(find.err.contains("--shingle bag --stop-words en"), "{}", find.err);
    assert!(find.err.contains("0 of 63 documents have a near-duplicate"), "{}", find.err);
    assert!(tune.out.contains("60 of 63 documents have a neighbour by it"), "{}", tune.out);
    let report: Value = serde_json::from_str(&find.out).unwrap();
    for setting in ["in_use", "better"] {
        assert_eq!(report["better_setting"][setting]["documents"], 63, "{report}");
    }
}

#[test]
fn good_settings_get_no_advice() {
    let place = Place::new();
    let unrelated: Vec<_> = (0..60).map(|n| (format!("d{n}"), words(n + 1, 160))).collect();
    // Documents about one subject: the same few words in different orders.
    let alike = |n: u64| words(n + 1, 160).replace(char::is_numeric, "1");
    let subject: Vec<_> = (0..60).map(|n| (format!("d{n}"), alike(n))).collect();
    // A phrase that all documents contain is not a passage.
    let phrase = "the text of this file is free to use for any purpose with no warranty";
    let template = |n: u64| format!("{phrase} {}", words(n + 1, 12));
    let template: Vec<_> = (0..60).map(|n| (format!("d{n}"), template(n))).collect();
    for (name, documents) in [
        ("unrelated", unrelated),
        ("subject", subject),
        ("template", template),
        ("few documents", revised_copies(4, 11)),
        ("ordinary results", collection(30)),
    ] {
        place.file("in.jsonl", jsonl(&documents));
        let run = place.run(&["find", "in.jsonl", "--json"]);
        assert_eq!(note(&run.err), None, "{name}: {}", run.err);
        assert!(!run.out.contains("better_setting"), "{name}");
    }
}

const CAVEAT: &str = "the predicted recall does not hold for the scheme xor";

/// Returns the output and the files of every command that predicts a recall, run with `options`.
fn predictions(place: &Place, options: &[&str]) -> Vec<(String, String)> {
    let run = |args: &[&str], options: &[&str]| {
        let run = place.run(&[args, options].concat());
        assert!(run.code == Some(0), "{args:?}: {}", run.err);
        run.out + &run.err
    };
    let mut texts: Vec<(String, String)> = Vec::new();
    let mut predicts = |args: &str, options: &[&str], files: &[&str]| {
        let words: Vec<&str> = args.split(' ').collect();
        texts.push((args.to_owned(), run(&words, options)));
        texts.extend(files.iter().map(|file| (format!("{args}: {file}"), place.read(file))));
    };
    predicts("find in.jsonl --report report.html --json", options, &["report.html"]);
    predicts("find in.jsonl", options, &[]);
    predicts("dedup in.jsonl -o out.jsonl", options, &[]);
    predicts("tune", options, &[]);
    predicts("tune --json --svg curve.svg", options, &["curve.svg"]);
    predicts("tune in.jsonl", options, &[]);
    predicts("compare a.txt b.txt", options, &[]);
    predicts("index create store", options, &[]);
    run(&["index", "add", "store", "in.jsonl"], &[]);
    predicts("index stats store", &[], &[]);
    predicts("index stats store --json", &[], &[]);
    predicts("index groups store", &[], &[]);
    for args in ["query store a.txt", "query store a.txt --json", "query store a.txt --nearest 1"] {
        predicts(args, &[], &[]);
    }
    place.run(&[&["find", "in.jsonl", "-q", "--report", "report.json"], options].concat()).ok();
    predicts("audit report.json in.jsonl", &[], &[]);
    predicts("audit report.json in.jsonl --json", &[], &[]);
    texts
}

#[test]
fn xor_predictions_print_a_caveat() {
    for (scheme, has_caveat) in [("xor", true), ("fss", false)] {
        let place = Place::new();
        let documents = collection(30);
        place.file("in.jsonl", jsonl(&documents));
        place.file("a.txt", &documents[0].1).file("b.txt", &documents[1].1);
        for (label, text) in predictions(&place, &["--scheme", scheme]) {
            assert_eq!(text.contains(CAVEAT), has_caveat, "{scheme}, {label}: {text}");
        }
    }
}

#[test]
fn advised_setting_finds_rewritten_answers() {
    let Some(answers) = shared("plagiarism/docs.jsonl") else { return };
    let place = Place::new();
    let run = place.run(&["find", &answers, "--json"]);
    let note = note(&run.err).unwrap_or_else(|| panic!("{}", run.err));
    assert!(note.contains("--measure containment --shingle"), "{note}");
    let report: Value = serde_json::from_str(&run.out).unwrap();
    let of = |part: &str, name: &str| report["better_setting"][part][name].as_u64().unwrap();
    assert!(of("in_use", "with_neighbour") <= 8, "{report}");
    assert!(of("better", "with_passage") >= 57, "{report}");
    let tune = place.run(&["tune", &answers]);
    assert!(!tune.out.contains("Keep words:5"), "{}", tune.out);
    assert!(tune.out.contains("use --measure containment --shingle"), "{}", tune.out);
}

#[test]
fn tune_advises_measure_and_threshold() {
    let place = Place::new();
    place.file("in.jsonl", jsonl(&revised_copies(20, 40)));
    let run = place.run(&["tune", "in.jsonl"]);
    for part in [
        "For copies with some words changed, use --measure containment --shingle words:2 \
         --threshold 0.3:\n40 of 80 documents have a neighbour by it, 40 of them share a passage \
         with it; by the setting in use, 0 have one.",
        "Another setting than words:5 at 0.8 finds clearly more",
        "docs/guides/choosing.md",
    ] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    assert!(!run.out.contains("Keep"), "{}", run.out);
    let run = place.run(&["tune", "in.jsonl", "--json"]);
    let report: Value = serde_json::from_str(&run.out).unwrap();
    let measured = &report["measured"];
    assert_eq!(measured["settings"][0]["job"], "in use", "{measured}");
    assert_eq!(measured["better_setting"]["setting"]["with_neighbour"], 40, "{measured}");
    // `tune` recommends the setting in use if no other setting finds more.
    place.file("in.jsonl", jsonl(&collection(30)));
    let run = place.run(&["tune", "in.jsonl"]);
    assert!(run.out.contains("Keep words:5") && run.out.contains("Settings"), "{}", run.out);
    let run = place.run(&["tune", "in.jsonl", "--json"]);
    let report: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(report["measured"]["better_setting"], Value::Null);
}

#[test]
fn commands_in_guides_are_accepted() {
    let guides = ["choosing", "plagiarism"].map(|name| format!("docs/guides/{name}.md"));
    let guides = guides.map(|name| std::fs::read_to_string(root().join(name)).unwrap());
    let guide = guides.concat();
    let place = Place::new();
    let help = place.run(&["find", "--help"]).out;
    let (mut commands, mut options) = (0, 0);
    for span in guide.split('`').skip(1).step_by(2) {
        let mut words: Vec<&str> = span.split_whitespace().collect();
        match words.first() {
            Some(&"lookalike") if words.len() > 2 => {
                words.remove(0);
                commands += 1;
            }
            Some(option) if option.starts_with('-') && words.len() > 1 => {
                words.splice(0..0, ["find", "MISSING"]);
                options += 1;
            }
            Some(option) if option.starts_with("--") => {
                assert!(help.contains(*option), "no {option} in `find --help`");
                continue;
            }
            _ => continue,
        }
        let run = place.run(&words);
        // Exit code 2 would mean invalid arguments. Code 1 means that the arguments are accepted
        // and only the files are missing.
        assert_eq!(run.code, Some(1), "{span}: {}", run.err);
        let is_named = words.iter().any(|word| run.err.contains(word));
        let is_absent =
            ["no such file", "does not exist; create it first"].iter().any(|a| run.err.contains(a));
        assert!(is_named && is_absent, "{span}: {}", run.err);
    }
    assert!(commands >= 15 && options >= 15, "{commands} {options}");
}
