//! Recall and precision of reported pairs against a truth, both CSV files with the columns
//! `id_a`, `id_b` and `jaccard`; compared as integer millionths. Written for this program alone,
//! so that it checks the library's own `evaluate` rather than repeats it.

use crate::options::Problem;
use std::collections::BTreeMap;
use std::path::Path;

/// What a run found and missed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Score {
    /// Pairs of the truth at or above the threshold.
    pub(crate) expected: u64,
    /// Pairs reported.
    pub(crate) reported: u64,
    /// Pairs in both.
    pub(crate) found: u64,
    /// Pairs in both whose similarities differ in the six decimals.
    pub(crate) differing: u64,
}

impl Score {
    /// Found of expected; 1 where nothing is expected.
    pub(crate) fn recall(&self) -> f64 {
        share(self.found, self.expected)
    }

    /// Found of reported; 1 where nothing is reported.
    pub(crate) fn precision(&self) -> f64 {
        share(self.found, self.reported)
    }
}

/// Compares the pairs reported in one file with the truth in another from `threshold` (in
/// millionths) on. A similarity is taken at its six decimals: one that differs from the threshold
/// by less than half a millionth counts as equal to it, which takes unions above 400,000 shingles.
///
/// # Errors
///
/// When a file cannot be read or is not such a CSV file.
pub(crate) fn score(reported: &Path, truth: &Path, threshold: u32) -> Result<Score, Problem> {
    let truth = pairs(truth)?;
    let reported = pairs(reported)?;
    let mut score = Score { reported: reported.len() as u64, ..Score::default() };
    for (ids, &expected) in truth.iter().filter(|&(_, &millionths)| millionths >= threshold) {
        score.expected += 1;
        if let Some(&similarity) = reported.get(ids) {
            score.found += 1;
            score.differing += u64::from(similarity != expected);
        }
    }
    Ok(score)
}

type Pairs = BTreeMap<(String, String), u32>;

fn pairs(path: &Path) -> Result<Pairs, Problem> {
    let text =
        std::fs::read_to_string(path).map_err(|error| Problem::new(path.display(), error))?;
    parse(&text).map_err(|problem| Problem::new(path.display(), problem))
}

fn parse(text: &str) -> Result<Pairs, Problem> {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let column = |name: &str| {
        header.iter().position(|&column| column == name).ok_or_else(|| {
            Problem(format!("no column {name} in the first line; id_a,id_b,jaccard are needed"))
        })
    };
    let (a, b, jaccard) = (column("id_a")?, column("id_b")?, column("jaccard")?);
    let mut pairs = BTreeMap::new();
    for (number, line) in lines.enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        let similarity = cells.get(jaccard).and_then(|cell| millionths(cell));
        let (Some(similarity), Some(&a), Some(&b)) = (similarity, cells.get(a), cells.get(b))
        else {
            return Err(Problem(format!(
                "line {}: {line:?} is not two ids without commas or quotes and a similarity",
                number + 2
            )));
        };
        pairs.insert((a.min(b).to_owned(), a.max(b).to_owned()), similarity);
    }
    Ok(pairs)
}

/// "0.815287" as 815287.
fn millionths(text: &str) -> Option<u32> {
    let (whole, decimals) = text.split_once('.')?;
    let digits = decimals.len() == 6 && decimals.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, part): (u32, u32) = (whole.parse().ok()?, decimals.parse().ok()?);
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
        let pairs = parse("id_b,jaccard,id_a\ny,0.800000,x\na,1.000000,b\n").expect("a CSV file");
        assert_eq!(pairs[&("x".to_owned(), "y".to_owned())], 800_000);
        assert_eq!(pairs[&("a".to_owned(), "b".to_owned())], 1_000_000);
    }

    #[test]
    fn what_is_not_such_a_file_is_refused() {
        for text in ["", "a,b\n", "id_a,id_b,jaccard\na,b\n", "id_a,id_b,jaccard\na,b,0.8\n"] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }
}
