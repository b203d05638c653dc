use super::*;
use crate::engine::FindError;
use lookalike_core::hash::SplitMix64;
use lookalike_test_support::gzip;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use tempfile::TempDir;

fn file(folder: &TempDir, name: &str, text: impl AsRef<[u8]>) -> std::path::PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn of(report: &str, truth: &str, options: &EvaluateOptions) -> Result<Evaluation, FindError> {
    let folder = tempfile::tempdir().unwrap();
    evaluate(&file(&folder, "report", report), &file(&folder, "truth", truth), options)
}

fn plain(report: &str, truth: &str) -> Evaluation {
    of(report, truth, &EvaluateOptions::default()).unwrap()
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
fn similarities_agree_after_rounding() {
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
fn threshold_filters_both_pair_files() {
    let options = EvaluateOptions { threshold: Some(0.8), ..Default::default() };
    let result = of(
        "id_a,id_b,jaccard\na,b,0.7\nc,d,0.800000\n",
        "id_a,id_b,jaccard\nc,d,0.800000\ne,f,0.799999\n",
        &options,
    );
    let result = result.unwrap();
    assert_eq!((result.reported, result.expected, result.true_positives), (1, 1, 1));
}

#[test]
fn containment_is_compared_with_the_threshold() {
    let options = EvaluateOptions { threshold: Some(0.8), ..Default::default() };
    let pairs = "id_a,id_b,jaccard,containment\na,b,0.1,0.9\nc,d,0.85,0.85\ne,f,0.5,0.7\n";
    let result = of(pairs, "id_a,id_b,jaccard\na,b,0.8\n", &options).unwrap();
    assert_eq!((result.reported, result.true_positives), (2, 1));
    // The Jaccard similarities are compared, since both files have them.
    let different = result.different.unwrap();
    assert_eq!(
        (different.examples[0].reported, different.examples[0].expected),
        (Some(0.1), Some(0.8))
    );
    let found = result.false_positives.examples.iter().map(|example| example.reported);
    assert_eq!(found.collect::<Vec<_>>(), [Some(0.85)]);
    let both = of(pairs, pairs, &options).unwrap();
    assert_eq!((both.true_positives, both.different.map(|it| it.count)), (2, Some(0)));
    let truth = "id_a,id_b,containment\na,b,0.9\ne,f,0.7\n";
    assert_eq!(of(pairs, truth, &options).unwrap().expected, 1);
}

#[test]
fn group_similarity_follows_the_measure() {
    let jsonl = concat!(
        r#"{"group":1,"keeper":"k","size":2,"duplicates":"#,
        r#"[{"id":"a","jaccard":0.1,"containment":0.900000}]}"#
    );
    let csv = "group,id,role,keeper,jaccard,containment\n1,k,keeper,k,,\n\
               1,a,duplicate,k,0.100000,0.900000\n";
    for groups in [jsonl, csv] {
        let result = plain(groups, "id_a,id_b,containment\na,k,0.900000\n");
        assert_eq!(result.different.unwrap().count, 0, "{groups}");
    }
}

/// Returns the header and the lines of a random file of pairs of twelve documents. Each line comes
/// with the similarity that a threshold applies to: the containment, or else the Jaccard
/// similarity. In a file without similarities, it is 1, so that every pair reaches any threshold.
fn drawn_pairs(random: &mut SplitMix64) -> (&'static str, Vec<(String, f64)>) {
    let headers = [
        "id_a,id_b,jaccard",
        "id_a,id_b,jaccard,containment",
        "id_b,id_a,containment,x",
        "id_a,id_b",
    ];
    let header = headers[random.below(4) as usize];
    let mut lines = Vec::new();
    for (a, b) in (0..12).flat_map(|b| (0..b).map(move |a| (a, b))) {
        if random.below(8) > 0 {
            continue;
        }
        let [low, high] = [random.below(11) as f64 / 10.0, random.below(11) as f64 / 10.0];
        lines.push(match header {
            "id_a,id_b" => (format!("d{a},d{b}"), 1.0),
            "id_a,id_b,jaccard" => (format!("d{a},d{b},{low}"), low),
            "id_b,id_a,containment,x" => (format!("d{a},d{b},{high},{low}"), high),
            _ => (format!("d{a},d{b},{low},{high}"), high),
        });
    }
    (header, lines)
}

/// The adjusted Rand index, computed from each pair of documents (Hubert and Arabie 1985).
fn naive_index(x: &BTreeMap<String, String>, y: &BTreeMap<String, String>) -> f64 {
    let ids: BTreeSet<&String> = x.keys().chain(y.keys()).collect();
    let is_joined = |groups: &BTreeMap<String, String>, a: &String, b: &String| {
        groups.get(a).is_some_and(|group| groups.get(b) == Some(group))
    };
    let [mut both, mut only_x, mut only_y, mut neither] = [0.0; 4];
    for (i, a) in ids.iter().enumerate() {
        for b in ids.iter().skip(i + 1) {
            *match (is_joined(x, a, b), is_joined(y, a, b)) {
                (true, true) => &mut both,
                (true, false) => &mut only_x,
                (false, true) => &mut only_y,
                (false, false) => &mut neither,
            } += 1.0;
        }
    }
    let expected = (both + only_x) * (only_x + neither) + (both + only_y) * (only_y + neither);
    if expected == 0.0 { 1.0 } else { 2.0 * (both * neither - only_x * only_y) / expected }
}

/// Joins documents to groups by pairs. The label of a document is the smallest connected id.
fn joined_groups(pairs: &[(String, String)]) -> BTreeMap<String, String> {
    let ids = pairs.iter().flat_map(|(a, b)| [a, b]);
    let mut groups: BTreeMap<String, String> = ids.map(|id| (id.clone(), id.clone())).collect();
    for _ in 0..pairs.len() {
        for (a, b) in pairs {
            let least = groups[a].clone().min(groups[b].clone());
            groups.insert(a.clone(), least.clone());
            groups.insert(b.clone(), least);
        }
    }
    groups
}

#[test]
fn threshold_equals_filtered_input() {
    let mut random = SplitMix64::new(31);
    for round in 0..400 {
        let least = random.below(11) as f64 / 10.0;
        let (header, report) = drawn_pairs(&mut random);
        let file = |lines: &[&(String, f64)]| {
            let lines = lines.iter().map(|(line, _)| format!("{line}\n"));
            format!("{header}\n{}", lines.collect::<String>())
        };
        let all: Vec<_> = report.iter().collect();
        let kept: Vec<_> = report.iter().filter(|(_, similarity)| *similarity >= least).collect();
        let mut clusters = BTreeMap::new();
        for i in 0..12 {
            if random.below(4) == 0 {
                continue;
            }
            clusters.insert(format!("d{i}"), format!("c{}", random.below(4)));
        }
        let rows = clusters.iter().map(|(id, cluster)| format!("{id},{cluster}\n"));
        let truth = format!("id,cluster\n{}", rows.collect::<String>());
        let options = EvaluateOptions { threshold: Some(least), ..Default::default() };
        let found = of(&file(&all), &truth, &options).unwrap();
        assert_eq!(found, plain(&file(&kept), &truth), "{round}");
        let pairs: Vec<(String, String)> = kept
            .iter()
            .map(|(line, _)| line.split(',').map(str::to_owned).collect::<Vec<_>>())
            .map(|ids| (ids[0].clone(), ids[1].clone()))
            .collect();
        assert_eq!(found.reported as usize, pairs.len(), "{round}");
        let index = naive_index(&joined_groups(&pairs), &clusters);
        let difference = found.adjusted_rand_index.unwrap() - index;
        assert!(difference.abs() < 1e-12, "{round}: {found:?} {index}");
    }
}

#[test]
fn lines_of_two_ids_are_pairs() {
    let result = plain("id_a,id_b\nt1,t2\nt3,t4\n", "t2 t1\n\nt5\tt6\r\n");
    assert_eq!((result.true_positives, result.expected), (1, 2));
    assert_eq!(result.different, None);
}

#[test]
fn groups_count_verified_or_all_pairs() {
    let truth = "id_a,id_b,jaccard\nk,a,0.900000\nk,b,0.850001\na,b,0.82\n";
    let stars = plain(GROUPS, truth);
    assert_eq!((stars.reported, stars.true_positives), (2, 2));
    assert_eq!(ids(&stars.missed), [("a", "b")]);
    assert_eq!(ids(&stars.different.unwrap()), [("b", "k")]);
    let all = EvaluateOptions { all_members: true, ..Default::default() };
    let all = of(GROUPS, truth, &all).unwrap();
    assert_eq!((all.reported, all.true_positives, all.missed.count), (3, 3, 0));
}

#[test]
fn csv_and_jsonl_groups_are_equal() {
    let csv = "group,id,role,keeper,jaccard\n1,k,keeper,k,\n\
               1,a,duplicate,k,0.900000\n1,b,duplicate,k,0.850000\n";
    let truth = "id,cluster,kind\nk,c,x\na,c,x\nb,d,x\nz,d,x\n";
    let options = EvaluateOptions { all_members: true, ..Default::default() };
    for options in [EvaluateOptions::default(), options] {
        let result = of(GROUPS, truth, &options).unwrap();
        assert_eq!(result, of(csv, truth, &options).unwrap());
        assert!(result.adjusted_rand_index.is_some_and(|index| index < 1.0));
    }
}

#[test]
fn clusters_become_pairs_and_an_index() {
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
fn empty_evaluations_are_undefined() {
    let result = plain("id_a,id_b,jaccard\n", "");
    assert_eq!((result.precision(), result.recall(), result.f1()), (None, None, None));
    assert_eq!(plain("", "a b\n").recall(), Some(0.0));
}

#[test]
fn invalid_files_report_path_and_line() {
    let refused = |report: &str| {
        let message = of(report, "a b\n", &EvaluateOptions::default()).unwrap_err().to_string();
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
fn compressed_files_with_bom_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let text = "\u{feff}id_a,id_b\na,b\n";
    let report = file(&folder, "r.csv.gz", gzip(text.as_bytes()));
    let truth = file(&folder, "t.csv.zst", zstd::encode_all(text.as_bytes(), 1).unwrap());
    let result = evaluate(&report, &truth, &EvaluateOptions::default()).unwrap();
    assert_eq!(result.true_positives, 1);
}

#[test]
fn huge_clusters_are_counted_without_enumeration() {
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

/// Returns a table of clusters with these labels, and the pairs of documents with equal labels.
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
    fn counts_equal_set_operations_on_pairs(
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
