use super::*;
use lookalike_test_support::gzip;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use tempfile::TempDir;

fn file(folder: &TempDir, name: &str, text: impl AsRef<[u8]>) -> std::path::PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn of(report: &str, truth: &str, options: EvaluateOptions) -> Result<Evaluation, Error> {
    let folder = tempfile::tempdir().unwrap();
    evaluate(&file(&folder, "report", report), &file(&folder, "truth", truth), &options)
}

fn plain(report: &str, truth: &str) -> Evaluation {
    of(report, truth, EvaluateOptions::default()).unwrap()
}

fn ids(kind: &PairExamples) -> Vec<(&str, &str)> {
    kind.examples.iter().map(|example| (example.a.as_str(), example.b.as_str())).collect()
}

const GROUPS: &str = concat!(
    r#"{"group":1,"keeper":"k","size":3,"duplicates":["#,
    r#"{"id":"a","jaccard":0.900000},{"id":"b","jaccard":0.850000}]}"#,
    "\n"
);

#[test]
fn pairs_against_pairs() {
    let result = plain(
        "id_a,id_b,jaccard\na,b,0.9\nc,d,0.85\ne,f,0.8\n",
        "id_a,id_b,jaccard\nd,c,0.850000\na,b,0.912000\nx,y,0.99\n",
    );
    assert_eq!((result.reported, result.expected, result.true_positives), (3, 3, 2));
    assert_eq!(ids(&result.false_positives), [("e", "f")]);
    assert_eq!(ids(&result.missed), [("x", "y")]);
    assert_eq!(result.missed.examples[0].expected, Some(0.99));
    assert_eq!(result.precision(), Some(2.0 / 3.0));
    assert_eq!(result.f1(), Some(2.0 / 3.0));
    let different = result.different.unwrap();
    assert_eq!((different.count, ids(&different)), (0, vec![]));
    assert_eq!(result.adjusted_rand_index, None);
}

#[test]
fn similarities_are_the_same_when_the_finer_rounds_to_the_coarser() {
    let count = |x: &str, y: &str| {
        let table = |value: &str| format!("id_a,id_b,jaccard\na,b,{value}\n");
        plain(&table(x), &table(y)).different.unwrap().count
    };
    assert_eq!(count("0.800000", "0.800001"), 1);
    assert_eq!(count("0.8", "0.849"), 0);
    assert_eq!(count("0.8", "0.851"), 1);
    assert_eq!(count("0.9140625", "0.914062"), 0);
    assert_eq!(count("0.666667", "0.66666666666666663"), 0);
    assert_eq!(count("1", "1.000000"), 0);
    assert_eq!(count("8e-1", "0.8"), 0);
}

#[test]
fn a_threshold_counts_for_both_files_of_pairs() {
    let options = EvaluateOptions { threshold: Some(0.8), ..Default::default() };
    let result = of(
        "id_a,id_b,jaccard\na,b,0.7\nc,d,0.800000\n",
        "id_a,id_b,jaccard\nc,d,0.800000\ne,f,0.799999\n",
        options,
    );
    let result = result.unwrap();
    assert_eq!((result.reported, result.expected, result.true_positives), (1, 1, 1));
}

#[test]
fn mccormicks_truth_is_two_ids_a_line() {
    let result = plain("id_a,id_b\nt1,t2\nt3,t4\n", "t2 t1\n\nt5\tt6\r\n");
    assert_eq!((result.true_positives, result.expected), (1, 2));
    assert_eq!(result.different, None);
}

#[test]
fn groups_stand_for_what_they_vouch_for_or_for_all_their_pairs() {
    let truth = "id_a,id_b,jaccard\nk,a,0.900000\nk,b,0.850001\na,b,0.82\n";
    let stars = plain(GROUPS, truth);
    assert_eq!((stars.reported, stars.true_positives), (2, 2));
    assert_eq!(ids(&stars.missed), [("a", "b")]);
    assert_eq!(ids(&stars.different.unwrap()), [("b", "k")]);
    let all = EvaluateOptions { all_members: true, threshold: None };
    let all = of(GROUPS, truth, all).unwrap();
    assert_eq!((all.reported, all.true_positives, all.missed.count), (3, 3, 0));
}

#[test]
fn both_kinds_of_group_reports_say_the_same() {
    let csv = "group,id,role,keeper,jaccard\n1,k,keeper,k,\n\
               1,a,duplicate,k,0.900000\n1,b,duplicate,k,0.850000\n";
    let truth = "id,cluster,kind\nk,c,x\na,c,x\nb,d,x\nz,d,x\n";
    let options = EvaluateOptions { all_members: true, threshold: None };
    for options in [EvaluateOptions::default(), options] {
        let result = of(GROUPS, truth, options).unwrap();
        assert_eq!(result, of(csv, truth, options).unwrap());
        assert!(result.adjusted_rand_index.is_some_and(|index| index < 1.0));
    }
}

#[test]
fn clusters_are_all_their_pairs_and_have_an_index() {
    let truth = "id,cluster\na,1\nb,1\nc,1\nd,2\ne,\nf,\n";
    let equal = plain("id_a,id_b\na,b\nb,c\n", truth);
    assert_eq!((equal.expected, equal.true_positives), (3, 2));
    assert_eq!(ids(&equal.missed), [("a", "c")]);
    assert_eq!(equal.adjusted_rand_index, Some(1.0));
    let wrong = plain("id_a,id_b\na,b\ne,f\n", truth);
    assert_eq!(ids(&wrong.false_positives), [("e", "f")]);
    assert!(wrong.adjusted_rand_index.is_some_and(|index| index < 0.5));
}

#[test]
fn nothing_against_nothing_is_undefined_and_not_perfect() {
    let result = plain("id_a,id_b,jaccard\n", "");
    assert_eq!((result.precision(), result.recall(), result.f1()), (None, None, None));
    assert_eq!(plain("", "a b\n").recall(), Some(0.0));
}

#[test]
fn files_that_make_no_sense_are_refused_with_file_and_line() {
    let refused = |report: &str| {
        let message = of(report, "a b\n", EvaluateOptions::default()).unwrap_err().to_string();
        assert!(message.contains("report"), "{message}");
        message
    };
    assert!(refused("x,y\n1,2\n").contains("line 1: expected a header"));
    assert!(refused("id_a,id_b,jaccard\na,b,0.9\na,c,NaN\n").contains("line 3: the similarity"));
    assert!(refused("id_a,id_b,jaccard\na,b,1.1\n").contains("from 0 to 1"));
    assert!(refused("id_a,id_b,jaccard\na,b\n").contains("at least 3 values, got 2"));
    assert!(refused("id_a,id_b\na,a\n").contains("with itself"));
    assert!(refused("a b\nc d e\n").contains("line 2: expected two ids"));
    assert!(refused("{\"keeper\":\"a\"}\n").contains("line 1: expected a group"));
    assert!(refused("id,cluster\na,1\na,2\n").contains("line 3: \"a\" is in a group already"));
    let folder = tempfile::tempdir().unwrap();
    let bytes = file(&folder, "bytes", b"id_a,id_b\na,\xFF\n");
    let truth = file(&folder, "truth", "a b\n");
    let options = EvaluateOptions::default();
    let error = evaluate(&bytes, &truth, &options).unwrap_err().to_string();
    assert!(error.contains("line 2: not UTF-8"), "{error}");
    let missing = evaluate(&folder.path().join("no.csv"), &truth, &options).unwrap_err();
    assert!(missing.to_string().contains("no such file"), "{missing}");
}

#[test]
fn compressed_files_and_byte_order_marks_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let text = "\u{feff}id_a,id_b\na,b\n";
    let report = file(&folder, "r.csv.gz", gzip(text.as_bytes()));
    let truth = file(&folder, "t.csv.zst", zstd::encode_all(text.as_bytes(), 1).unwrap());
    let result = evaluate(&report, &truth, &EvaluateOptions::default()).unwrap();
    assert_eq!(result.true_positives, 1);
}

#[test]
fn a_huge_cluster_is_counted_and_not_spelled_out() {
    let mut truth = "id,cluster\n".to_owned();
    let mut report = "id_a,id_b\n".to_owned();
    for i in 0..100_000 {
        writeln!(truth, "d{i:06},{}", i / 50_000).unwrap();
        writeln!(report, "d{:06},d{:06}", i, (i + 1) % 100_000).unwrap();
    }
    let result = plain(&report, &truth);
    assert_eq!(result.expected, 50_000 * 49_999);
    assert_eq!((result.true_positives, result.false_positives.count), (99_998, 2));
    assert_eq!(ids(&result.missed)[0], ("d000000", "d000002"));
}

/// Groups as a table, and all pairs in them.
fn spelled(labels: &[u8]) -> (String, BTreeSet<(usize, usize)>) {
    let mut table = "id,cluster\n".to_owned();
    let mut pairs = BTreeSet::new();
    for (i, label) in labels.iter().enumerate() {
        writeln!(table, "d{i:02},c{label}").unwrap();
        pairs.extend((0..i).filter(|j| labels[*j] == *label).map(|j| (j, i)));
    }
    (table, pairs)
}

proptest! {
    #[test]
    fn counts_are_those_of_sets_of_pairs(
        x in prop::collection::vec(0u8..4, 12),
        y in prop::collection::vec(0u8..4, 12),
    ) {
        let ((x, a), (y, b)) = (spelled(&x), spelled(&y));
        let mut table = "id_a,id_b\n".to_owned();
        for (i, j) in &a {
            writeln!(table, "d{j:02},d{i:02}").unwrap();
        }
        let only: Vec<_> = b.difference(&a).take(EXAMPLES).copied().collect();
        for report in [&x, &table] {
            let result = plain(report, &y);
            prop_assert_eq!(result.true_positives as usize, a.intersection(&b).count());
            prop_assert_eq!(result.false_positives.count as usize, a.difference(&b).count());
            prop_assert_eq!(result.missed.count as usize, b.difference(&a).count());
            let name = |i: usize| format!("d{i:02}");
            let missed: Vec<_> =
                result.missed.examples.iter().map(|e| (e.a.clone(), e.b.clone())).collect();
            let expected: Vec<_> = only.iter().map(|(i, j)| (name(*i), name(*j))).collect();
            prop_assert_eq!(missed, expected);
        }
    }
}
