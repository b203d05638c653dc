//! Computes the recall and precision of reported pairs against a truth. Both are CSV files with the
//! columns `id_a`, `id_b` and a similarity. Similarities are compared as whole millionths. Does not
//! use the library's `evaluate`, so that it can check `evaluate`.

use crate::options::BenchError;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The numbers of pairs that a run found and missed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FoundScore {
    /// Number of pairs of the truth at or above the threshold.
    pub(crate) expected: u64,
    /// Number of reported pairs.
    pub(crate) reported: u64,
    /// Number of pairs that are expected and reported.
    pub(crate) found: u64,
    /// Number of found pairs whose similarities differ in the six decimals.
    pub(crate) differing: u64,
}

impl FoundScore {
    /// The share of the expected pairs that were reported, or 1 if no pair is expected.
    pub(crate) fn recall(&self) -> f64 {
        share(self.found, self.expected)
    }

    /// The share of the reported pairs that are expected, or 1 if no pair is reported.
    pub(crate) fn precision(&self) -> f64 {
        share(self.found, self.reported)
    }
}

/// Compares the pairs of `reported` with the pairs of `truth` whose similarity is at least
/// `threshold` (in millionths). `column` names the similarity in both files. Keeps the truth
/// in memory, but not the report. Similarities have six decimals, so a similarity within
/// half a millionth of the threshold counts as equal to it. This only happens for unions
/// above 400,000 shingles.
///
/// # Errors
///
/// If a file cannot be read or is not such a CSV file.
pub(crate) fn score(
    reported: &Path,
    truth: &Path,
    column: &str,
    threshold: u32,
) -> Result<FoundScore, BenchError> {
    let mut expected: SimilarityByPair = HashMap::new();
    read(truth, column, |a, b, similarity| {
        if similarity >= threshold {
            expected.insert(key(a, b), similarity);
        }
    })?;
    let mut score = FoundScore { expected: expected.len() as u64, ..FoundScore::default() };
    read(reported, column, |a, b, similarity| {
        score.reported += 1;
        // Removes the pair, so that a pair that is reported twice is found once.
        if let Some(expected) = expected.remove(&key(a, b)) {
            score.found += 1;
            score.differing += u64::from(similarity != expected);
        }
    })?;
    Ok(score)
}

/// The similarity of each pair. The key is both ids, the smaller first, with a comma between them.
type SimilarityByPair = HashMap<String, u32>;

fn key(a: &str, b: &str) -> String {
    [a.min(b), ",", a.max(b)].concat()
}

fn read(path: &Path, column: &str, each: impl FnMut(&str, &str, u32)) -> Result<(), BenchError> {
    let file = File::open(path).map_err(|error| BenchError::new(path.display(), error))?;
    parse(BufReader::new(file), column, each)
        .map_err(|problem| BenchError::new(path.display(), problem))
}

/// Calls `each` with the ids and the similarity of every line.
fn parse(
    mut file: impl BufRead,
    similarity: &str,
    mut each: impl FnMut(&str, &str, u32),
) -> Result<(), BenchError> {
    let failed = |error| BenchError::new("cannot be read", error);
    let mut line = String::new();
    file.read_line(&mut line).map_err(failed)?;
    let header: Vec<&str> = line.trim_end().split(',').collect();
    let column = |name: &str| {
        header.iter().position(|&column| column == name).ok_or_else(|| {
            BenchError(format!(
                "no column {name} in the first line; id_a,id_b,{similarity} are needed"
            ))
        })
    };
    let a = column("id_a")?;
    let b = column("id_b")?;
    let similarity = column(similarity)?;
    for number in 2u64.. {
        line.clear();
        if file.read_line(&mut line).map_err(failed)? == 0 {
            break;
        }
        let line = line.trim_end();
        let cell = |position| line.split(',').nth(position);
        let (Some(a), Some(b), Some(value)) =
            (cell(a), cell(b), cell(similarity).and_then(millionths))
        else {
            return Err(BenchError(format!(
                "line {number}: {line:?} is not two ids without commas or quotes and a similarity"
            )));
        };
        each(a, b, value);
    }
    Ok(())
}

/// Parses a similarity with six decimals as millionths: 815287 for "0.815287".
fn millionths(text: &str) -> Option<u32> {
    let (whole, decimals) = text.split_once('.')?;
    let digits = decimals.len() == 6 && decimals.bytes().all(|byte| byte.is_ascii_digit());
    let whole: u32 = whole.parse().ok()?;
    let part: u32 = decimals.parse().ok()?;
    (digits && whole <= 1).then_some(whole * 1_000_000 + part)
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_in_either_order() {
        let text = "id_b,jaccard,id_a\ny,0.800000,x\na,1.000000,b\n";
        let mut pairs = SimilarityByPair::new();
        parse(text.as_bytes(), "jaccard", |a, b, value| {
            pairs.insert(key(a, b), value);
        })
        .expect("a CSV file");
        assert_eq!((pairs["x,y"], pairs["a,b"]), (800_000, 1_000_000));
    }

    #[test]
    fn malformed_pair_files_are_errors() {
        for text in ["", "a,b\n", "id_a,id_b,jaccard\na,b\n", "id_a,id_b,jaccard\na,b,0.8\n"] {
            let read = parse(text.as_bytes(), "jaccard", |_, _, _| {});
            assert!(read.is_err(), "{text:?}");
        }
    }
}
