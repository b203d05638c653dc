//! `lookalike evaluate` from start to exit.

mod command;

use command::{Place, root, shared};

#[test]
fn a_report_is_held_against_the_truth() {
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
fn files_that_cannot_be_used_are_errors() {
    let place = Place::new();
    place.file("t", "a b\n").file("x.csv", "x,y\n1,2\n");
    let message = place.run(&["evaluate", "no.csv", "t"]).fails(1);
    assert!(message.contains("no.csv: no such file"), "{message}");
    let message = place.run(&["evaluate", "x.csv", "t"]).fails(1);
    assert!(message.contains("x.csv line 1: expected a header"), "{message}");
    place.run(&["evaluate", "t"]).fails(2);
}

#[test]
fn the_generated_corpus_agrees_with_its_clusters() {
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
    let groups = json(&["g.jsonl", &clusters, "--all-members"]);
    assert!(groups["adjusted_rand_index"].as_f64().unwrap() > 0.5, "{groups}");
}

#[test]
fn parquet_tables_are_understood_as_csv_is() {
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
