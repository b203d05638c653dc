//! Tests of `lookalike evaluate` as a process.

use crate::command::{Place, root, shared};

#[test]
fn evaluate_compares_reports_with_truth() {
    let place = Place::new();
    let root = root();
    let sample = root.join("fixtures/sample");
    let truth = root.join("fixtures/sample.truth.csv");
    let truth = truth.to_str().unwrap();
    place.run(&["find", sample.to_str().unwrap(), "-q", "--pairs", "p.csv"]).ok();
    let out = place.run(&["evaluate", "p.csv", truth, "--threshold", "0.8"]).ok();
    for line in ["false positives                   0", "recall                     1.000000"] {
        assert!(out.contains(line), "{out}");
    }
    let all = place.run(&["evaluate", "p.csv", truth]).ok();
    assert!(all.contains("missed:\n") || all.contains("missed, the first"), "{all}");
}

#[test]
fn clusters_have_an_index() {
    let place = Place::new();
    place
        .file("r.csv", "id_a,id_b,jaccard\na,b,0.9\n")
        .file("t.csv", "id,cluster\na,1\nb,1\nc,2\n");
    let out = place.run(&["evaluate", "r.csv", "t.csv"]).ok();
    assert!(out.contains("adjusted Rand index        1.000000"), "{out}");
}

#[test]
fn evaluate_rejects_unusable_files() {
    let place = Place::new();
    place.file("t", "a b\n").file("x.csv", "x,y\n1,2\n");
    let message = place.run(&["evaluate", "no.csv", "t"]).fails(1);
    assert!(message.contains("no.csv: no such file"), "{message}");
    let message = place.run(&["evaluate", "x.csv", "t"]).fails(1);
    assert!(message.contains("x.csv line 1: expected a header"), "{message}");
    place.run(&["evaluate", "t"]).fails(2);
}

#[test]
fn generated_corpus_matches_its_truth() {
    let Some(corpus) = shared("generated/corpus_3000.jsonl.gz") else { return };
    let truth = shared("generated/corpus_3000.truth.csv").unwrap();
    let clusters = shared("generated/corpus_3000.clusters.csv").unwrap();
    let place = Place::new();
    let rule = ["--tokens", "whitespace", "--case", "keep", "--pairs", "p.csv", "-o", "g.jsonl"];
    place.run(&[&["find", &corpus, "-q"][..], &rule].concat()).ok();
    let json = |args: &[&str]| {
        let all = [&["evaluate"][..], args, &["--json"]].concat();
        serde_json::from_str::<serde_json::Value>(&place.run(&all).ok()).unwrap()
    };
    let pairs = json(&["p.csv", &truth, "-t", "0.8"]);
    assert_eq!((&pairs["precision"], &pairs["different"]["count"]), (&1.0.into(), &0.into()));
    assert!(pairs["recall"].as_f64().unwrap() >= 0.99, "{pairs}");
    let groups = json(&["g.jsonl", &clusters]);
    assert!(groups["adjusted_rand_index"].as_f64().unwrap() > 0.5, "{groups}");
}

#[test]
fn parquet_and_csv_evaluate_alike() {
    let place = Place::new();
    let root = root();
    let sample = root.join("fixtures/sample");
    let truth = root.join("fixtures/sample.truth.csv");
    let (sample, truth) = (sample.to_str().unwrap(), truth.to_str().unwrap());
    for end in ["csv", "parquet"] {
        let (pairs, groups) = (format!("p.{end}"), format!("g.{end}"));
        place.run(&["find", sample, "-q", "--pairs", &pairs, "-o", &groups]).ok();
    }
    for (csv, parquet) in [("p.csv", "p.parquet"), ("g.csv", "g.parquet")] {
        let of = |report: &str| place.run(&["evaluate", report, truth, "--json"]).ok();
        assert_eq!(of(csv), of(parquet));
        let both = place.run(&["evaluate", parquet, csv, "--json"]).ok();
        let both: serde_json::Value = serde_json::from_str(&both).unwrap();
        assert_eq!(both["f1"], 1.0, "{both}");
        assert!(both["true_positives"].as_u64() > Some(0), "{both}");
    }
}

#[test]
fn estimates_are_listed_and_summarised() {
    let place = Place::new();
    place.file("d.jsonl", crate::command::jsonl(&crate::command::collection(60)));
    let find = ["find", "d.jsonl", "-q", "--threshold", "0.5", "--recall", "0.999", "--pairs"];
    let run = |extra: &[&str]| place.run(&[&find[..], extra].concat()).ok();
    run(&["plain.csv"]);
    run(&["p.csv", "--estimates", "--threads", "1"]);
    run(&["q.csv", "--estimates", "--threads", "4", "--memory", "256MiB"]);
    run(&["p.parquet", "--estimates"]);
    let (plain, pairs) = (place.read("plain.csv"), place.read("p.csv"));
    assert_eq!(pairs, place.read("q.csv"));
    assert!(pairs.starts_with("id_a,id_b,jaccard,estimated_jaccard,error,standard_error\n"));
    assert_eq!(plain.lines().count(), pairs.lines().count());
    let mut count = 0;
    for (plain, line) in plain.lines().zip(pairs.lines()).skip(1) {
        let numbers = line.strip_prefix(plain).unwrap().split(',').skip(1);
        let numbers: Vec<f64> = numbers.map(|number| number.parse().unwrap()).collect();
        let exact: f64 = plain.rsplit(',').next().unwrap().parse().unwrap();
        assert!((numbers[0] - exact - numbers[1]).abs() < 2e-6, "{line}");
        assert!(numbers[1].abs() <= 5.0 * numbers[2], "{line}");
        count += 1;
    }
    assert!(count > 15, "{pairs}");
    let json = |name: &str| {
        let out = place.run(&["evaluate", name, "plain.csv", "--json"]).ok();
        serde_json::from_str::<serde_json::Value>(&out).unwrap()
    };
    let (csv, parquet) = (json("p.csv"), json("p.parquet"));
    assert_eq!(csv["estimates"]["pairs"], count);
    assert_eq!(csv["estimates"], parquet["estimates"]);
    assert!(json("plain.csv").get("estimates").is_none());
    let text = place.run(&["evaluate", "p.csv", "plain.csv"]).ok();
    assert!(text.contains("expected RMS error"), "{text}");
    // Each pair counts in the range that contains its exact similarity.
    let ranges = csv["estimates"]["ranges"].as_array().unwrap();
    for range in ranges {
        let [from, to] = ["from", "to"].map(|name| range[name].as_f64().unwrap());
        let is_inside = |exact: f64| exact >= from && (exact < to || from >= 1.0);
        let mut errors = Vec::new();
        for line in pairs.lines().skip(1) {
            let fields: Vec<f64> =
                line.split(',').skip(2).map(|field| field.parse().unwrap()).collect();
            errors.extend(is_inside(fields[0]).then_some((fields[2], fields[3])));
        }
        let count = errors.len() as f64;
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| errors.iter().map(of).sum::<f64>() / count;
        assert_eq!(range["pairs"].as_u64(), Some(errors.len() as u64));
        for (name, expected) in [
            ("bias", mean(&|(error, _)| *error)),
            ("mean_absolute_error", mean(&|(error, _)| error.abs())),
            ("rms_error", mean(&|(error, _)| error * error).sqrt()),
            ("expected_rms_error", mean(&|(_, theory)| theory * theory).sqrt()),
        ] {
            assert!((range[name].as_f64().unwrap() - expected).abs() < 1e-9, "{name}: {range}");
        }
        let range_text =
            if from < to { format!("  {from:.1} to {to:.1} ") } else { "  1 ".to_owned() };
        assert!(text.contains(&range_text), "{range_text}: {text}");
    }
    let in_ranges: u64 = ranges.iter().map(|range| range["pairs"].as_u64().unwrap()).sum();
    assert_eq!(in_ranges, count);
    assert!(ranges.len() >= 2, "{ranges:?}");
}

#[test]
fn estimates_need_pairs_and_signatures() {
    let place = Place::new();
    place.file("d.jsonl", "{\"id\":\"a\",\"text\":\"one two three four five six\"}\n");
    let message = place.run(&["find", "d.jsonl", "--estimates"]).fails(2);
    assert!(message.contains("--pairs"), "{message}");
    for (extra, remedy) in
        [(&["--exact"][..], "leave out --exact"), (&["--measure", "containment"], "use --measure")]
    {
        let args = [&["find", "d.jsonl", "--estimates", "--pairs", "p.csv"][..], extra].concat();
        let message = place.run(&args).fails(2);
        assert!(message.contains(remedy), "{message}");
    }
}

#[test]
fn label_and_score_options_name_columns() {
    let place = Place::new();
    place.file("pairs.csv", "id_a,id_b,jaccard\na,b,0.9\nc,d,0.7\n");
    place.file("labels.csv", "id_a,id_b,is_copy\na,b,yes\nc,d,no\ne,f,0\ng,h,1\n");
    let counts = |args: &[&str]| {
        let args = [&["evaluate", "pairs.csv"], args, &["--json"]].concat();
        let value: serde_json::Value = serde_json::from_str(&place.run(&args).ok()).unwrap();
        [value["reported"].clone(), value["truth"].clone(), value["true_positives"].clone()]
    };
    assert_eq!(counts(&["labels.csv", "--label", "is_copy"]), [2, 2, 1]);
    let run = place.run(&["evaluate", "pairs.csv", "labels.csv"]);
    assert!(run.err.contains("the column \"is_copy\" is not read"), "{}", run.err);
    assert!(run.err.contains("--label NAME"), "{}", run.err);
    assert_eq!(counts(&["labels.csv"]), [2, 4, 2]);
    place.file("scores.csv", "id_a,id_b,cosine\na,b,0.95\nc,d,0.5\n");
    assert_eq!(counts(&["scores.csv", "--score", "cosine", "--threshold", "0.6"]), [2, 1, 1]);
    let message = place.run(&["evaluate", "pairs.csv", "labels.csv", "--label", "x"]).fails(1);
    assert!(message.contains("neither file has pairs with a column \"x\""), "{message}");
}

#[test]
fn clusters_are_compared_by_all_members() {
    let place = Place::new();
    place.file(
        "g.jsonl",
        "{\"keeper\":\"a\",\"duplicates\":[{\"id\":\"b\",\"jaccard\":0.9},\
         {\"id\":\"c\",\"jaccard\":0.9}]}\n",
    );
    place.file("clusters.csv", "id,cluster\na,1\nb,1\nc,1\n").file("pairs", "a b\na c\nb c\n");
    let reported = |options: &[&str]| {
        let run = place.run(&[&["evaluate", "g.jsonl"], options, &["--json"]].concat());
        serde_json::from_str::<serde_json::Value>(&run.ok()).unwrap()["reported"].clone()
    };
    assert_eq!(reported(&["clusters.csv"]), 3);
    assert_eq!(reported(&["pairs"]), 2);
    assert_eq!(reported(&["pairs", "--all-members"]), 3);
}

#[test]
fn json_reports_are_read() {
    let place = Place::new();
    let sample = root().join("fixtures/sample");
    let sample = sample.to_str().unwrap();
    place.run(&["find", sample, "-q", "--report", "r.json", "-o", "g.jsonl"]).ok();
    let of = |report: &str| place.run(&["evaluate", report, "g.jsonl", "--json"]).ok();
    assert_eq!(of("r.json"), of("g.jsonl"));
    assert!(of("r.json").contains("\"f1\":1"), "{}", of("r.json"));
    place.file("cut.json", &place.read("r.json")[..900]);
    let message = place.run(&["evaluate", "cut.json", "g.jsonl"]).fails(1);
    assert!(message.contains("expected a JSON report"), "{message}");
}
