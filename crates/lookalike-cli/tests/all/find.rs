//! Tests of `lookalike find` as a process: formats and outputs. Only the documents and the
//! parameters decide the result.

#![allow(clippy::unwrap_used, clippy::format_collect, reason = "this is a test")]
#![allow(clippy::print_stderr, reason = "skipped tests are reported")]

use crate::command::{Place, collection, jsonl, root, shared, words};
use lookalike_test_support::gzip;
use serde_json::Value;

fn pairs_of_sample(extra: &[&str]) -> String {
    let place = Place::new();
    let sample = root().join("fixtures/sample");
    let mut args = vec!["find", sample.to_str().unwrap(), "--pairs", "pairs.csv", "--quiet"];
    args.extend(extra);
    place.run(&args).ok();
    place.read("pairs.csv")
}

#[test]
fn the_sample_has_exactly_its_pairs() {
    let truth = std::fs::read_to_string(root().join("fixtures/sample.truth.csv")).unwrap();
    let at_least = |threshold: f64| {
        let reaches = |line: &&str| {
            let similarity = line.rsplit(',').next().unwrap();
            similarity.parse::<f64>().map_or(true, |similarity| similarity >= threshold)
        };
        truth.lines().filter(reaches).map(|line| format!("{line}\n")).collect::<String>()
    };
    assert_eq!(pairs_of_sample(&[]), at_least(0.8));
    assert_eq!(pairs_of_sample(&["--threshold", "0.5", "--recall", "0.999"]), at_least(0.5));
}

#[test]
fn find_prints_table_and_summary() {
    let sample = root().join("fixtures/sample");
    let run = Place::new().run(&["find", sample.to_str().unwrap(), "--verbose"]);
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines[0], "group  similarity  document");
    let office = sample.join("office");
    let line =
        |role: &str, name: &str| format!("    1  {role:>10}  {}", office.join(name).display());
    assert_eq!(lines[1], line("keeper", "heating-failure-reply.txt"));
    assert_eq!(lines[2], line("0.854", "heating-failure.txt"));
    for part in ["33 documents (1 empty", "candidates", "6 groups", "6 duplicates", "99.8"] {
        assert!(run.err.contains(part), "{part}: {}", run.err);
    }
    for part in ["--skipped FILE", "read and sign 0.", "words:5 threshold:0.8 recall:0.99"] {
        assert!(run.err.contains(part), "{part}: {}", run.err);
    }
    assert!(!run.err.contains('\u{1b}') && !run.out.contains('\u{1b}'));
}

#[test]
fn input_formats_give_equal_pairs() {
    let documents = collection(20);
    let place = Place::new();
    let lines: String = documents.iter().map(|(id, text)| format!("{id} {text}\n")).collect();
    let table = |separator: &str| {
        let mut table = format!("id{separator}text\n");
        for (id, text) in &documents {
            table += &[id, separator, text, "\n"].concat();
        }
        table
    };
    let json = jsonl(&documents);
    let (csv, tsv) = (table(","), table("\t"));
    for (id, text) in &documents {
        place.file(&format!("folder/deep/{id}"), text);
    }
    let pairs = |inputs: &[&str], stdin: &[u8]| {
        let mut args = vec!["find", "--pairs", "p.csv", "-q"];
        args.extend(inputs);
        place.run_with_input(&args, stdin).ok();
        place.read("p.csv")
    };
    place.file("d.jsonl", &json);
    let expected = pairs(&["d.jsonl"], b"");
    assert!(expected.lines().count() > 15, "{expected}");
    for (name, text) in [("d.train", &lines), ("d.csv", &csv), ("d.tsv", &tsv), ("d.ndjson", &json)]
    {
        let (gz, zst) = (format!("{name}.gz"), format!("{name}.zst"));
        let gzipped = gzip(text.as_bytes());
        place.file(name, text).file(&gz, &gzipped);
        place.file(&zst, zstd::encode_all(text.as_bytes(), 1).unwrap());
        for name in [name, &gz, &zst] {
            assert_eq!(pairs(&[name], b""), expected, "{name}");
        }
        let format = match name {
            "d.train" => "lines",
            "d.ndjson" => "jsonl",
            other => &other[2..],
        };
        assert_eq!(pairs(&["-", "--format", format], text.as_bytes()), expected, "{name}");
        assert_eq!(pairs(&["-", "--format", format], &gzipped), expected, "{name}");
    }
    assert_eq!(pairs(&["-"], json.as_bytes()), expected);
    assert_eq!(pairs(&["folder/deep"], b""), expected);
    let named = json.replace("\"id\":", "\"k\":{\"key\":").replace(",\"text\":", "},\"body\":");
    let fields = ["-", "--id-field", "k.key", "--text-field", "body"];
    assert_eq!(pairs(&fields, named.as_bytes()), expected);
}

#[test]
fn outputs_are_deterministic() {
    let documents = collection(40);
    let place = Place::new();
    place.file("a.jsonl", jsonl(&documents));
    let outputs = |args: &[&str]| {
        let mut all = vec!["find", "-q", "-o", "g.jsonl", "--pairs", "p.csv"];
        all.extend(args);
        place.run(&all).ok();
        (place.read("g.jsonl"), place.read("p.csv"))
    };
    let expected = outputs(&["a.jsonl"]);
    assert!(expected.0.lines().count() > 20);
    for threads in ["1", "2", "5"] {
        assert_eq!(outputs(&["a.jsonl", "--threads", threads]), expected, "{threads} threads");
    }
    for kernel in ["scalar", "portable", "neon", "avx2", "avx512"] {
        let known = place.run(&["find", "-q", "a.jsonl", "--kernel", kernel]).code == Some(0);
        if !known {
            assert!(!matches!(kernel, "scalar" | "portable"), "{kernel} must be there");
            lookalike_test_support::print_skipped(&format!("this processor has no {kernel}"));
            continue;
        }
        assert_eq!(outputs(&["a.jsonl", "--kernel", kernel]), expected, "{kernel}");
    }
    let mut shuffled = documents.clone();
    shuffled
        .sort_by_key(|(id, _)| id.bytes().rev().map(|b| b.wrapping_mul(37)).collect::<Vec<_>>());
    assert_ne!(shuffled, documents);
    place.file("b.jsonl", jsonl(&shuffled));
    assert_eq!(outputs(&["b.jsonl"]), expected, "another order");
    let mut names = Vec::new();
    for (i, part) in shuffled.chunks(7).enumerate() {
        names.push(format!("part-{i}.jsonl"));
        place.file(&names[i], jsonl(part));
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(outputs(&names), expected, "many files");
}

#[test]
fn output_formats_hold_equal_groups() {
    let place = Place::new();
    place.file("d.jsonl", jsonl(&collection(9)));
    place.run(&["find", "d.jsonl", "-q", "-o", "g.jsonl"]).ok();
    place.run(&["find", "d.jsonl", "-q", "-o", "g.csv"]).ok();
    place.run(&["find", "d.jsonl", "-q", "-o", "g.jsonl.zst"]).ok();
    let lines = place.read("g.jsonl");
    let unpacked = zstd::decode_all(&std::fs::read(place.path("g.jsonl.zst")).unwrap()[..]);
    assert_eq!(unpacked.unwrap(), lines.as_bytes());
    let mut rows = vec!["group,id,role,keeper,jaccard".to_owned()];
    for line in lines.lines() {
        let group: Value = serde_json::from_str(line).unwrap();
        let (number, keeper) = (&group["group"], group["keeper"].as_str().unwrap());
        rows.push(format!("{number},{keeper},keeper,{keeper},"));
        let duplicates = group["duplicates"].as_array().unwrap();
        assert_eq!(group["size"], duplicates.len() + 1);
        for duplicate in duplicates {
            let (id, jaccard) = (duplicate["id"].as_str(), duplicate["jaccard"].as_f64());
            let (id, jaccard) = (id.unwrap(), jaccard.unwrap());
            rows.push(format!("{number},{id},duplicate,{keeper},{jaccard:.6}"));
        }
    }
    assert_eq!(place.read("g.csv").lines().map(str::to_owned).collect::<Vec<_>>(), rows);
    let report: Value =
        serde_json::from_str(&place.run(&["find", "d.jsonl", "-q", "--json"]).ok()).unwrap();
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(report["groups"][0], first);
    assert_eq!(report["counts"]["groups"], lines.lines().count());
    assert_eq!(report["parameters"]["bands"], 21);
    assert_eq!(report["times"].as_array().unwrap().len(), 3);
}

#[test]
fn exit_code_option_reports_duplicates() {
    let place = Place::new();
    place.file("d.jsonl", jsonl(&collection(2)));
    place.file("one.txt", "a single text").file("two.txt", "another text");
    assert_eq!(place.run(&["find", "d.jsonl"]).code, Some(0));
    assert_eq!(place.run(&["find", "d.jsonl", "--exit-code"]).code, Some(3));
    let run = place.run(&["find", "one.txt", "two.txt", "--exit-code"]);
    assert_eq!((run.code, run.out.as_str()), (Some(0), ""));
    assert!(run.err.contains("no near-duplicates") && run.err.contains("--threshold"));
}

#[test]
fn limits_report_hidden_groups() {
    let place = Place::new();
    place.file("d.jsonl", jsonl(&collection(12)));
    let all = place.run(&["find", "d.jsonl", "-q"]).ok();
    let run = place.run(&["find", "d.jsonl", "-q", "--limit", "2"]);
    assert!(run.err.starts_with("not shown: ") && run.err.contains("--limit 0"), "{}", run.err);
    assert!(all.starts_with(&run.ok()));
    assert_eq!(place.run(&["find", "d.jsonl", "-q", "--limit", "0"]).ok(), all);
}

#[test]
fn only_case_keep_distinguishes_case() {
    let place = Place::new();
    let text = words(7, 40);
    place.file("d/a", &text).file("d/b", text.to_uppercase());
    let found = |args: &[&str]| {
        let mut all = vec!["find", "d", "-q", "--exit-code"];
        all.extend(args);
        place.run(&all).code == Some(3)
    };
    for args in [
        &[][..],
        &["--shingle", "chars:5"],
        &["--shingle", "bytes:5"],
        &["--shingle", "bag"],
        &["--tokens", "whitespace", "--frequencies", "--stop-words", "en"],
        &["--scheme", "xor-multiply", "--num-hashes", "64", "--bands", "16", "--rows", "4"],
        &["--scheme", "mod-prime", "--seed", "99", "--keep", "shortest", "--group", "components"],
        &["--threshold", "1"],
    ] {
        assert!(found(args), "{args:?}");
    }
    assert!(!found(&["--case", "keep"]));
}

#[test]
fn keepers_follow_the_policy() {
    let place = Place::new();
    let text = words(5, 90);
    place.file("1-short", &text).file("2-long", format!("{text} end")).file("3-last", &text);
    let keeper = |policy: &str| {
        let files = ["1-short", "2-long", "3-last"];
        let args = [&["find", "-q", "--keep", policy][..], &files].concat();
        let out = place.run(&args).ok();
        out.lines().nth(1).unwrap().rsplit(' ').next().unwrap().to_owned()
    };
    assert_eq!(keeper("longest"), "2-long");
    assert_eq!(keeper("shortest"), "1-short");
    assert_eq!(keeper("first"), "1-short");
    assert_eq!(keeper("last"), "3-last");
}

#[test]
fn piped_table_ids_take_one_line() {
    let place = Place::new();
    let text = words(3, 30);
    place.file("d.jsonl", jsonl(&[("a\u{1b}[2J".into(), text.clone()), ("b\nc".into(), text)]));
    let out = place.run(&["find", "d.jsonl", "-q"]).ok();
    // The tests in `terminal.rs` check the output on a terminal.
    assert!(out.contains("  a\u{1b}[2J\n") && out.contains("  b\\nc\n"), "{out}");
}

#[test]
fn closed_stdout_is_not_an_error() {
    let place = Place::new();
    place.file("d.jsonl", jsonl(&collection(3_000)));
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_lookalike"))
        .args(["find", "d.jsonl", "-q"])
        .current_dir(place.path(""))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn mccormick_articles_are_all_found() {
    for n in ["100", "1000", "2500"] {
        let Some(train) = shared(&format!("mccormick/articles_{n}.train")) else { return };
        let truth = shared(&format!("mccormick/articles_{n}.truth")).unwrap();
        let place = Place::new();
        place.run(&["find", &train, "--format", "lines", "-q", "--pairs", "p.csv"]).ok();
        let out = place.run(&["evaluate", "p.csv", &truth, "--json"]).ok();
        let result: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((&result["precision"], &result["recall"]), (&1.0.into(), &1.0.into()), "{n}");
        let exact = shared(&format!("mccormick/exact_{n}.w5.csv")).unwrap();
        let rule = ["--tokens", "whitespace", "--case", "keep", "--pairs", "w5.csv"];
        let args = [&["find", &train, "--format", "lines", "-q"][..], &rule].concat();
        place.run(&args).ok();
        let out = place.run(&["evaluate", "w5.csv", &exact, "-t", "0.8", "--json"]).ok();
        let result: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(result["different"]["count"], 0, "{out}");
        assert_eq!((&result["precision"], &result["recall"]), (&1.0.into(), &1.0.into()), "{n}");
    }
}

#[test]
fn reuters_pairs_reach_the_requested_recall() {
    let Some(stories) = shared("reuters/docs.jsonl.gz") else { return };
    let rules: [(&str, &[&str]); 4] = [
        ("w3", &["--shingle", "words:3", "--tokens", "whitespace", "--case", "keep"]),
        ("w5", &["--tokens", "whitespace", "--case", "keep"]),
        ("w5-lower", &["--tokens", "whitespace"]),
        ("w5-lower-words", &["--tokens", "word-runs"]),
    ];
    for (rule, flags) in rules {
        let truth = shared(&format!("reuters/truth.{rule}.csv")).unwrap();
        let place = Place::new();
        place.run(&[&["find", &stories, "-q", "--pairs", "p.csv"][..], flags].concat()).ok();
        let out = place.run(&["evaluate", "p.csv", &truth, "-t", "0.8", "--json"]).ok();
        let result: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(result["precision"], 1.0, "{rule}: {out}");
        assert_eq!(result["different"]["count"], 0, "{rule}: {out}");
        assert!(result["recall"].as_f64().unwrap() >= 0.99, "{rule}: {out}");
    }
}

#[test]
fn an_exact_run_predicts_nothing() {
    let place = Place::new();
    let sample = root().join("fixtures/sample");
    let reported = |more: &[&str]| {
        let run = place.run(&[&["find", sample.to_str().unwrap()], more].concat());
        assert_eq!(run.code, Some(0), "{}", run.err);
        run.err
    };
    assert!(reported(&[]).contains("are found (predicted)"));
    for exact in [&["--exact"][..], &["--measure", "containment"]] {
        let err = reported(exact);
        assert!(err.contains("every pair at similarity 0.8 is found (exact)"), "{err}");
        assert!(!err.contains("predicted"), "{err}");
    }
}

/// Returns documents of 60 words, drawn from a vocabulary of 40. Most pairs look alike without
/// being similar.
fn forms(count: u64) -> Vec<(String, String)> {
    let text = |number: u64| {
        let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut word = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            format!("w{}", state % 40)
        };
        (0..60).map(|_| word()).collect::<Vec<_>>().join(" ")
    };
    (0..count).map(|number| (format!("d{number}"), text(number))).collect()
}

#[test]
fn excess_candidates_get_a_warning() {
    let place = Place::new();
    place.file("in.jsonl", jsonl(&forms(2_500)));
    let find = ["find", "in.jsonl", "--shingle", "bag", "--threshold", "0.85"];
    let run = |more: &[&str]| place.run(&[&find[..], more].concat());
    let slow = run(&["-o", "slow.jsonl"]);
    assert_eq!(slow.code, Some(0), "{slow:?}");
    let warning = slow.err.lines().next().unwrap();
    assert!(warning.starts_with("warning: 2,500 documents look alike without"), "{warning}");
    assert!(warning.contains("--bands auto") && warning.contains("lookalike tune"), "{warning}");
    // The options that the warning names limit the number of candidates.
    let flags: Vec<&str> = warning
        .split(", or --bands")
        .next()
        .unwrap()
        .rsplit("; ")
        .next()
        .unwrap()
        .split(' ')
        .collect();
    assert_eq!(flags.len(), 6, "{warning}");
    let quick = run(&[&flags[..], &["-o", "quick.jsonl"]].concat());
    assert!(!quick.err.contains("warning"), "{}", quick.err);
    // The warning for an index names a new index, because an index keeps its bands.
    let create = ["index", "create", "ix", "in.jsonl"];
    place.run(&[&create[..], &["--shingle", "bag", "--threshold", "0.85"]].concat()).ok();
    let groups = place.run(&["index", "groups", "ix", "-o", "index.jsonl"]);
    let warning = groups.err.lines().next().unwrap();
    assert!(warning.contains("an index created with --num-hashes"), "{warning}");
    assert!(!warning.contains("--bands auto"), "{warning}");
    // Shingles that few documents share cause no warning.
    let words = place.run(&["find", "in.jsonl", "-o", "words.jsonl"]);
    assert!(!words.err.contains("warning"), "{}", words.err);
}

#[test]
fn auto_bands_use_a_document_sample() {
    let place = Place::new();
    let mut documents = forms(400);
    place.file("in.jsonl", jsonl(&documents));
    documents.reverse();
    place.file("turned/a.jsonl", jsonl(&documents[..150]));
    place.file("turned/b.jsonl", jsonl(&documents[150..]));
    let parameters = |input: &str, more: &[&str]| {
        let find = ["find", input, "--shingle", "bag", "--bands", "auto", "--json"];
        let run = place.run(&[&find[..], more].concat());
        let report: Value = serde_json::from_str(&run.out).unwrap();
        let [values, bands, rows] = ["num_hashes", "bands", "rows"]
            .map(|name| report["parameters"][name].as_u64().unwrap());
        let message =
            format!("400 documents drawn: --num-hashes {values} --bands {bands} --rows {rows}");
        assert!(run.err.contains(&message), "{}", run.err);
        assert_eq!(report["parameters"]["bands_sample"], 400);
        assert!(report["parameters"]["predicted_recall"].as_f64().unwrap() >= 0.99);
        (values, bands, rows)
    };
    let chosen = parameters("in.jsonl", &[]);
    assert_ne!(chosen, (128, 21, 6));
    assert_eq!(parameters("turned", &["--threads", "1"]), chosen);
    assert_eq!(parameters("in.jsonl", &["--num-hashes", "256"]).0, 256);
    let usual = place.run(&["find", "in.jsonl", "--json", "--quiet"]).ok();
    assert!(!usual.contains("bands_sample"));
    let removed = place.run(&["dedup", "in.jsonl", "--bands", "auto", "-o", "out.jsonl"]);
    assert!(removed.err.contains("bands chosen for 400 documents"), "{}", removed.err);
}

#[test]
fn auto_bands_reject_unsuitable_runs() {
    let place = Place::new();
    place.file("in.jsonl", jsonl(&forms(3)));
    for (more, reason) in [
        (&["-"][..], "can be read only once"),
        (&["in.jsonl", "--rows", "5"], "leave out --rows"),
        (&["in.jsonl", "--exact"], "nothing to choose"),
        (&["in.jsonl", "--measure", "containment"], "nothing to choose"),
    ] {
        for command in ["find", "dedup"] {
            let auto = [command, "--bands", "auto", "-o", "out.jsonl"];
            let message = place.run(&[&auto, more].concat()).fails(2);
            assert!(message.contains(reason), "{message}");
        }
    }
    let create = ["index", "create", "ix", "in.jsonl", "--bands", "auto"];
    assert!(place.run(&create).fails(2).contains("lookalike tune"));
}

#[test]
fn other_commands_reject_auto_bands() {
    let place = Place::new();
    place.file("in.jsonl", jsonl(&forms(3)));
    place.file("a.txt", "one two three four five six");
    for command in [&["index", "create", "new", "in.jsonl"][..], &["compare", "a.txt", "a.txt"]] {
        let error = place.run(&[command, &["--bands", "auto"]].concat()).fails(2);
        assert!(error.contains("--bands auto is for `find`, `dedup` and `tune`: "), "{error}");
        assert!(error.contains("leave it out") || error.contains("lookalike tune"), "{error}");
    }
}

/// A document that equals a reference document has its own pairs with other new documents and with
/// the rest of the reference collection.
#[test]
fn reference_copies_have_all_pairs() {
    let text = |last: &str| format!("{} {last}", words(1, 60));
    let place = Place::new();
    let record =
        |id: &str, text: &str| format!("{}\n", serde_json::json!({"id": id, "text": text}));
    let (first, second) = (text("one"), text("two"));
    place.file("references.jsonl", &(record("r1", &first) + &record("r2", &second)));
    place.file("documents.jsonl", &(record("d1", &first) + &record("d2", &second)));
    for group in ["stars", "components"] {
        let args =
            ["find", "documents.jsonl", "--reference", "references.jsonl", "--pairs", "p.csv"];
        place.run(&[&args[..], &["--group", group, "-o", "g.csv", "--quiet"]].concat()).ok();
        let pairs = place.read("p.csv");
        let found: Vec<&str> = pairs.lines().skip(1).map(|line| &line[..5]).collect();
        assert_eq!(found, ["d1,d2", "d1,r1", "d1,r2", "d2,r1", "d2,r2"], "{group}: {pairs}");
    }
    for exact in ["--exact", "--measure=containment"] {
        let args =
            ["find", "documents.jsonl", "--reference", "references.jsonl", "--pairs", "p.csv"];
        place.run(&[&args[..], &[exact, "--quiet"]].concat()).ok();
        assert_eq!(place.read("p.csv").lines().count(), 6, "{exact}");
    }
}
