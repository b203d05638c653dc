//! Output on a terminal. Names and texts can neither move the cursor nor change colours, the title
//! or the writing direction.

#![cfg(unix)]

mod command;

use command::{Place, words};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Sequences that terminals obey: colour, title, an eight-bit control sequence, a line that
/// imitates an error message, reversed writing, and an invisible space.
const HOSTILE: &str = "\u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}2Jc1\rback\nerror: \
                       forged\u{202e}\u{2066}\u{200b}\u{7f}x";

/// Runs the command on a terminal and checks its output.
fn run_checked(place: &Place, args: &[&str]) -> (Option<i32>, String) {
    let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
    let (code, text) = place.on_terminal(&args);
    check(&text, &args);
    (code, text)
}

/// Asserts that only line ends and the program's own styles and cursor movements take effect.
fn check(text: &str, args: &[&OsStr]) {
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let sequence = &rest[at + 1..];
        let parameters = sequence.trim_start_matches(|c: char| "[?;0123456789".contains(c));
        let is_own =
            sequence.starts_with('[') && parameters.starts_with(['m', 'A', 'B', 'K', 'h', 'l']);
        assert!(is_own, "{args:?}: {text:?}");
        assert!(!sequence.starts_with("[31mred"), "{args:?}: {text:?}");
        rest = sequence;
    }
    let is_control = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\r' | '\u{1b}')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}')
    };
    assert!(!text.contains(is_control), "{args:?}: {text:?}");
    // The terminal turns line ends into `\r\n`, and progress bars return to the start of a line.
    assert!(!text.contains("\rback"), "{args:?}: {text:?}");
    assert!(!text.contains("\nerror: forged"), "{args:?}: {text:?}");
}

/// Returns a folder with files and records that have hostile names.
fn hostile() -> Place {
    let place = Place::new();
    let text = words(1, 60);
    place.file(&format!("d/{HOSTILE}1"), &text).file(&format!("d/{HOSTILE}2"), &text);
    place.file("d/binary\u{1b}[31mred\u{9b}", b"\0\0\0");
    let ids = ["1", "2"].map(|n| (format!("{HOSTILE}{n}"), format!("{HOSTILE} {text}")));
    place.file("d.jsonl", command::jsonl(&ids));
    place.file("h.csv", format!("{HOSTILE},b\n1,2\n").replace('\n', "_") + "\n");
    place.file("o.jsonl", "{\"id\":\"a\",\"\u{9b}31m\u{202e}member\":1}\n");
    place.file("pairs.csv", "id_a,id_b,jaccard\na\u{1b}[31mred,b\u{9b},0.9\n");
    place.file("truth.csv", "id_a,id_b,jaccard\nc\u{202e},d\u{7f},0.9\n");
    place
}

#[test]
fn result_names_are_escaped() {
    let place = hostile();
    let commands: &[(&[&str], &str)] = &[
        (&["find", "d"], "\\u{1b}[31mred"),
        (&["find", "d.jsonl", "--quiet"], "\\u{1b}[31mred"),
        (&["find", "d.jsonl", "--quiet", "--json"], "\\u009b2Jc1"),
        (&["dedup", "d.jsonl", "-o", "kept\u{1b}[31mred.jsonl"], "\\u{1b}[31mred.jsonl"),
        (&["dedup", "d", "--dry-run"], "\\u{1b}[31mred"),
        (&["compare", &format!("d/{HOSTILE}1"), &format!("d/{HOSTILE}2")], "\\u{9b}2J"),
        (&["compare", "d.jsonl", "pairs.csv", "--json"], "\\u009b"),
        (&["compare", "d.jsonl", "pairs.csv"], "\\u{"),
        (&["tune", "d.jsonl", "--svg", "c\u{1b}[31mred.svg"], "c\\u{1b}[31mred.svg"),
        (&["evaluate", "pairs.csv", "truth.csv"], "a\\u{1b}[31mred"),
        (&["evaluate", "pairs.csv", "truth.csv", "--json"], "\\u009b"),
        (&["find", "d.jsonl", "-q", "--report", "r.json", "--limit", "1"], "keeper"),
        (&["audit", "r.json", "d.jsonl"], "Recall"),
        (&["index", "create", "i\u{1b}[31mred", "d.jsonl", "--store", "texts"], "2 documents"),
        (&["index", "stats", "i\u{1b}[31mred"], "i\\u{1b}[31mred"),
        (&["index", "check", "i\u{1b}[31mred"], "i\\u{1b}[31mred"),
        (&["index", "export", "i\u{1b}[31mred"], "\\u009b2Jc1"),
        (&["index", "groups", "i\u{1b}[31mred"], "\\u{1b}[31mred"),
        (&["query", "i\u{1b}[31mred", "d.jsonl", "--text"], "\\u{9b}2Jc1"),
        (&["query", "i\u{1b}[31mred", "d.jsonl", "--json"], "\\u009b2Jc1"),
        (&["index", "backup", "i\u{1b}[31mred", "copy\u{9b}"], "copy\\u{9b}"),
    ];
    for (args, part) in commands {
        let (code, text) = run_checked(&place, args);
        assert_eq!(code, Some(0), "{args:?}: {text}");
        assert!(text.contains(part), "{args:?}: {text}");
    }
    let remove = ["index", "remove", "i\u{1b}[31mred", "no\u{9b}ne\u{202e}"];
    for (more, part) in [(&[][..], "no\\u{9b}ne"), (&["--json"], "no\\u009bne")] {
        let (code, text) = run_checked(&place, &[&remove[..], more].concat());
        assert!(code == Some(1) && text.contains(part), "{text}");
    }
}

#[test]
fn error_names_are_escaped() {
    let place = hostile();
    place.file("e\u{1b}[31mred.toml", "a\u{9b} = \u{202e}");
    let errors: &[(&[&str], &str)] = &[
        (&["find", HOSTILE], "\\u{1b}[31mred"),
        (&["find", "o.jsonl"], "\\u{9b}31m\\u{202e}member"),
        (&["find", "h.csv"], "\\u{1b}[31mred"),
        (&["find", "d", "--output", "g\u{1b}[31mred.xml"], "g\\u{1b}[31mred.xml"),
        (&["find", "d", HOSTILE, "--shingle", HOSTILE], "\\u{9b}2J"),
        (&["find", "d", &format!("--{HOSTILE}")], "\\u{9b}2J"),
        (&[HOSTILE], "\\u{9b}2J"),
        (&["find", "d", "--group", HOSTILE], "\\u{9b}2J"),
        (&["find", "d", "--color", HOSTILE], "\\u{9b}2J"),
        (&["compare", "d", HOSTILE], "compare takes two files"),
        (&["index", "stats", HOSTILE], "\\u{9b}2J"),
        (&["evaluate", HOSTILE, "truth.csv"], "\\u{9b}2J"),
    ];
    for (args, part) in errors {
        let (code, text) = run_checked(&place, args);
        assert!(matches!(code, Some(1 | 2)), "{args:?}: {text}");
        assert!(text.contains("error:") && text.contains(part), "{args:?}: {text}");
    }
    let bytes = OsStr::from_bytes(b"no\x9b2J\xff");
    let (code, text) = place.on_terminal(&[OsStr::new("find"), bytes]);
    assert_eq!(code, Some(1), "{text}");
    check(&text, &[bytes]);
}

#[cfg(feature = "serve")]
#[test]
fn server_config_names_are_escaped() {
    let place = hostile();
    place.file("e\u{1b}[31mred.toml", "a\u{9b} = \u{202e}");
    place.file("f.toml", "host = \"a\\u009Bb\"\n");
    let args = ["serve", "i", "--config", "e\u{1b}[31mred.toml"];
    let (code, text) = run_checked(&place, &args);
    assert!(code == Some(2) && text.contains("e\\u{1b}[31mred.toml"), "{text}");
    let (code, text) = run_checked(&place, &["serve", "i", "--config", "f.toml", "--print-config"]);
    assert!(code == Some(0) && text.contains("a\\u{9b}b"), "{text}");
}

#[test]
fn pipes_get_names_unchanged() {
    let place = Place::new();
    let text = words(1, 60);
    let name = "a\u{1b}[31mb\u{9b}\u{202e}\u{7f}";
    place.file(&format!("d/{name}1"), &text).file(&format!("d/{name}2"), &text);
    let run = place.run(&["find", "d"]);
    assert!(run.out.contains(&format!("  d/{name}1\n")), "{run:?}");
    let run = place.run(&["find", name]);
    assert!(run.err.contains(&format!("error: {name}: ")), "{run:?}");
    let run = place.run(&["find", "d", "--group", name]);
    assert!(run.err.contains(&format!("'{name}'")), "{run:?}");
    place.file("d.jsonl", command::jsonl(&[(name.to_owned(), text)]));
    place.run(&["index", "create", "i", "d.jsonl"]).ok();
    let out = place.run(&["index", "export", "i"]).ok();
    let line: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(line["id"], name);
}

#[test]
fn colours_are_printed_on_request() {
    let sample = command::root().join("fixtures/sample");
    let sample = sample.to_str().unwrap();
    let place = Place::new();
    let args = |when| ["find", sample, "--quiet", "--color", when].map(OsStr::new);
    assert!(place.on_terminal(&args("auto")).1.contains("\u{1b}[1m"));
    assert!(place.on_terminal(&args("always")).1.contains("\u{1b}[1m"));
    assert!(!place.on_terminal(&args("never")).1.contains('\u{1b}'));
    let (_, text) = place.on_terminal_with(&args("auto"), &[("TERM", "xterm"), ("NO_COLOR", "1")]);
    assert!(!text.contains('\u{1b}'), "{text}");
    let piped = |when| place.run(&["find", sample, "--quiet", "--color", when]).ok();
    assert!(piped("always").contains("\u{1b}[1m"));
    assert!(!piped("auto").contains('\u{1b}') && !piped("never").contains('\u{1b}'));
    let help = |when| place.on_terminal(&["find", "--help", "--color", when].map(OsStr::new)).1;
    assert!(help("auto").contains("\u{1b}[1m") && !help("never").contains('\u{1b}'));
    let wrong = |when| place.run(&["find", "--threshold", "x", sample, "--color", when]).err;
    assert!(wrong("always").contains('\u{1b}') && !wrong("auto").contains('\u{1b}'));
}

#[test]
fn completions_and_man_pages_list_options() {
    let place = Place::new();
    for (shell, part) in
        [("bash", "complete -F"), ("zsh", "#compdef lookalike"), ("fish", "complete")]
    {
        let script = place.run(&["completions", shell]).ok();
        assert!(script.contains(part) && script.contains("skip-existing"), "{shell}: {script}");
        assert!(!script.contains("extract-worker"), "{shell}");
    }
    let page = place.run(&["man"]).ok();
    assert!(page.contains(".TH lookalike 1") && page.contains("lookalike\\-dedup(1)"), "{page}");
    assert!(!page.contains("extract"), "{page}");
    let page = place.run(&["man", "index", "add"]).ok();
    assert!(page.contains(".TH lookalike-index-add 1"), "{page}");
    assert!(page.contains("\\-\\-skip\\-existing"), "{page}");
    let error = place.run(&["man", "index", "ad"]).fails(2);
    assert!(error.contains("\"ad\": expected one of create, add,"), "{error}");
}

#[test]
fn summary_starts_with_duplicate_counts() {
    let sample = command::root().join("fixtures/sample");
    let sample = sample.to_str().unwrap();
    let place = Place::new();
    let summary = |verbose: &[&str]| {
        let args = [&["find", sample, "-o", "g.csv"], verbose].concat();
        let lines = place.run(&args).err;
        // Skips the lines about the output and its ids.
        lines.lines().skip(2).map(str::to_owned).collect::<Vec<_>>()
    };
    let brief = summary(&[]);
    assert_eq!(brief[0], "6 duplicates in 6 groups: one document of each group is kept");
    assert_eq!(brief[1], "keep rules: name decided 2, longest decided 3, id decided 1");
    assert!(brief[2].starts_with("33 documents (1 empty"), "{brief:?}");
    assert!(brief.last().unwrap().ends_with(" s; --verbose shows more figures"), "{brief:?}");
    let all = brief.join("\n");
    assert!(!all.contains("candidate") && !all.contains("words:5"), "{all}");
    let all = summary(&["-v"]).join("\n");
    for part in ["candidates, ", " compared", "read and sign 0.", "words:5 threshold:0.8"] {
        assert!(all.contains(part), "{part}: {all}");
    }
    place.run(&["find", sample, "--verbose", "--quiet"]).fails(2);
}
