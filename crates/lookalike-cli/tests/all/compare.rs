//! Tests of `lookalike compare`: figures calculated by hand, and messages for inputs without
//! figures.

#![allow(clippy::unwrap_used, reason = "a test")]

use lookalike_test_support::gzip;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const FOX: &str = "The quick brown fox jumps over the lazy dog";

fn compare(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lookalike"))
        .arg("compare")
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its input closes the pipe, so writing may fail.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// Returns the output and the exit code for two texts in files named `a` and `b`.
fn printed(a: impl AsRef<[u8]>, b: impl AsRef<[u8]>, arguments: &[&str]) -> (String, i32) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), a).unwrap();
    fs::write(folder.path().join("b"), b).unwrap();
    let output = compare(folder.path(), &[&["a", "b"], arguments].concat(), b"");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    (String::from_utf8(output.stdout).unwrap(), output.status.code().unwrap())
}

fn json(a: &str, b: &str, arguments: &[&str]) -> serde_json::Value {
    let (text, _) = printed(a, b, &[&["--json"], arguments].concat());
    serde_json::from_str(&text).unwrap()
}

#[track_caller]
fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn word_bags_share_three_of_five() {
    let (a, b) = ("chair desk rug keyboard mouse", "chair rug keyboard");
    let (text, code) = printed(a, b, &["--shingle", "bag"]);
    assert_has(
        &text,
        &[
            "0.600000  60.0 %; 3 of 5 shingles",
            "60.0 % of A is in B",
            "100.0 % of B is in A",
            "Not similar: 0.600000 is below the threshold of 0.8.",
            "All of B is in A",
            "2 differences, 3 words shared, 2 only in A, 0 only in B",
            "chair [-desk-] rug keyboard [-mouse-]\n",
        ],
    );
    assert_eq!(code, 0);
    let value = json(a, b, &["--shingle", "bag", "--no-diff"]);
    assert_eq!(value["jaccard"], 0.6);
    assert_eq!((&value["shared"], &value["union"]), (&3.into(), &5.into()));
    assert_eq!((&value["containment_a"], &value["containment_b"]), (&0.6.into(), &1.0.into()));
    assert!(value.get("differences").is_none());
}

#[test]
fn s2_nine_words_are_five_shingles() {
    let value = json(FOX, &FOX.replace("brown", "red"), &[]);
    // The third word is changed. The shingles that start at words 1, 2 and 3 contain it.
    assert_eq!((&value["shingles_a"], &value["shingles_b"]), (&5.into(), &5.into()));
    assert_eq!((&value["shared"], &value["union"]), (&2.into(), &8.into()));
    assert_eq!(value["jaccard"], 0.25);
    let [change] = value["differences"].as_array().unwrap().as_slice() else { panic!("{value}") };
    assert_eq!((&change["a"], &change["b"]), (&"brown".into(), &"red".into()));
    assert_eq!((&change["word_a"], &change["word_b"]), (&2.into(), &2.into()));
}

#[test]
fn the_threshold_is_reached_at_equality() {
    let arguments = ["--shingle", "bag", "--exit-code", "--no-diff", "--threshold"];
    for (threshold, code) in [("0.8", 3), ("0.81", 0)] {
        let (text, found) =
            printed("a b c d e", "a b c d", &[&arguments[..], &[threshold]].concat());
        assert_eq!(found, code, "{text}");
        assert_eq!(text.contains("Similar: 0.800000 reaches"), code == 3);
    }
    assert_eq!(printed("a b", "a b", &[]).1, 0);
}

#[test]
fn equal_empty_short_texts_are_explained() {
    let (text, _) = printed(FOX, FOX, &[]);
    assert_has(
        &text,
        &["Similar: 1.000000", "The texts are equal.", "21 of 21", "1.0000 ± 0.0000"],
    );
    assert!(!text.contains("difference"), "{text}");
    let (text, _) = printed(FOX, FOX.to_uppercase() + "!", &[]);
    assert_has(&text, &["Similar: 1.000000", "same shingles", "No word differs"]);
    let (text, code) = printed("", FOX, &["--exit-code"]);
    assert_has(&text, &["0.000000", "a has no token; an empty document resembles nothing."]);
    assert!(!text.contains("Estimate"), "{text}");
    assert_eq!(code, 0);
    let (text, code) = printed("", " -- ", &["--exit-code"]);
    assert_has(&text, &["Not similar", "Both texts have no token"]);
    assert_eq!(code, 0);
    let (text, _) = printed("one two three", "one two four", &[]);
    assert_has(&text, &["1 shingle\n", "These texts are short", "one two [-three-] {+four+}"]);
}

/// The output shows both original texts, including characters that the rule ignores.
#[test]
fn case_punctuation_and_blanks_are_counted() {
    let a = "Paid FOR the room\n-5.20 EUR on Monday";
    let b = "paid for the room 5,20 EUR on Tuesday";
    let (text, _) = printed(a, b, &[]);
    assert_has(
        &text,
        &[
            "1 difference, 8 words shared, 1 only in A, 1 only in B",
            "3 places with the same words written differently (case 1, punctuation 2, white space \
             1)  (-A-)(+B+)",
            "(-Paid FOR-)(+paid for+) the room",
            "5(-.-)(+,+)20 EUR on [-Monday-]",
            "{+Tuesday+}",
        ],
    );
    let value = json(a, b, &[]);
    let found = value["same_words_differences"].as_array().unwrap();
    assert_eq!(found.len(), 3, "{value}");
    assert_eq!((&found[0]["a"], &found[0]["b"]), (&"Paid FOR".into(), &"paid for".into()));
    assert_eq!((&found[1]["a"], &found[1]["b"]), (&"\n-".into(), &" ".into()));
    assert_eq!((&found[2]["word_a"], &found[2]["word_b"]), (&5.into(), &5.into()));
    let counts = serde_json::json!({
        "words": 1, "same_words": 3, "case": 1, "punctuation": 2, "white_space": 1
    });
    assert_eq!(value["difference_counts"], counts);
    assert_eq!(value["differences"].as_array().unwrap().len(), 1);
    let (text, _) = printed("one two", "one two\n", &[]);
    assert_has(&text, &["No word differs; 1 place with the same words", "one two(+↵+)"]);
}

#[test]
fn any_encoding_any_compression_any_stream() {
    let folder = tempfile::tempdir().unwrap();
    let text = "naïve café déjà vu crème brûlée façade";
    let latin: Vec<u8> = text.chars().map(|c| c as u8).collect();
    let file = |name: &str| fs::File::create(folder.path().join(name)).unwrap();
    file("latin.txt").write_all(&latin).unwrap();
    file("a.txt.gz").write_all(&gzip(text.as_bytes())).unwrap();
    file("b.txt.zst").write_all(&zstd::encode_all(text.as_bytes(), 1).unwrap()).unwrap();
    for arguments in [
        ["a.txt.gz", "b.txt.zst", "--no-diff"],
        ["-", "a.txt.gz", "--no-diff"],
        ["b.txt.zst", "-", "--no-diff"],
        ["latin.txt", "-", "--encoding=windows-1252"],
    ] {
        let input = if arguments[0] == "latin.txt" { &latin[..] } else { text.as_bytes() };
        let output = compare(folder.path(), &arguments, input);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        // `--encoding` applies to files only. The encoding of standard input is detected.
        assert_has(&text, &["Similar: 1.000000"]);
    }
}

#[test]
fn incomparable_files_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), FOX).unwrap();
    fs::write(folder.path().join("nul"), b"a\0b").unwrap();
    for (arguments, code, message) in [
        (["a", "missing"], 1, "missing: no such file"),
        (["a", "."], 2, ". is a folder; compare takes two files"),
        (["-", "-"], 2, "twice"),
        (["a", "nul"], 1, "nul"),
    ] {
        let output = compare(folder.path(), &arguments, b"");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{error}");
        assert!(error.starts_with("error: ") && error.contains(message), "{error}");
    }
    let output = compare(folder.path(), &["a", "a", "--threshold", "1.1"], b"");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn long_comparisons_are_cut_short() {
    let words = |seed: u64| -> String {
        let mut state = seed;
        let mut word = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            format!("word{} ", (state >> 33) % 3_000)
        };
        (0..600_000).map(|_| word()).collect()
    };
    let start = Instant::now();
    let (text, _) = printed(words(1), words(2), &[]);
    // A quadratic algorithm would take hours.
    assert!(start.elapsed() < Duration::from_secs(300), "{:?}", start.elapsed());
    // The number of differences found before the cut depends on the machine.
    assert_has(&text, &["Not similar", " words …", "cut short"]);
    assert!(text.len() < 200_000, "{}", text.len());
}

#[test]
fn estimates_need_signatures() {
    let other = FOX.replace("brown", "red");
    for arguments in [&["--exact"][..], &["--measure", "containment"]] {
        let value = json(FOX, &other, &[arguments, &["--threshold", "0.1"]].concat());
        assert!(value["estimate"].is_null() && value["similar"] == true, "{value}");
    }
    assert!(json(FOX, &other, &[])["estimate"]["bands_shared"].is_u64());
}
