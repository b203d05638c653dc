//! Compares a report with a truth file: results found, results missed, and wrong results.
//!
//! ```text
//! report, truth  table::read → a table each: pairs, or documents with their groups
//!   two tables   evaluate    → counts, precision, recall, F1, adjusted Rand index, examples
//! ```
//!
//! Both files may be any of these, plain or compressed with gzip or zstd:
//!
//! | file | contents |
//! |---|---|
//! | CSV with the columns `id_a`, `id_b` and `jaccard` or `containment` | pairs |
//! | two ids per line with a blank between them | pairs |
//! | groups as JSON lines or CSV, as [`report`](crate::report) writes them | groups |
//! | the JSON report of a run | its groups |
//! | CSV with the header `id,cluster`, more columns ignored | groups |
//!
//! Columns of estimates ([`ESTIMATE_COLUMNS`](crate::find::ESTIMATE_COLUMNS)) are also read. Groups
//! are counted without listing their pairs, so a group of a million documents costs a million
//! steps. Everything is sorted once. Takes O(n log n) time for n lines, and about 60 bytes of
//! memory per line.

mod estimates;
mod options;
mod pair;
mod partition;
mod rows;
mod table;

use crate::engine::FindError;
pub use estimates::{EstimateRange, Estimates};
pub use options::{EvaluateOptions, UnreadColumn};
use pair::{FileSimilarity, NumberedPair, PairScore};
use partition::Partition;
use serde::Serialize;
use std::path::Path;
pub(crate) use table::open_table;

/// Pairs shown of each kind.
const EXAMPLES: usize = 5;

/// Two ids, and their similarity in each of the files.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Example {
    /// The lesser id.
    #[serde(rename = "id_a")]
    pub a: String,
    /// The greater id.
    #[serde(rename = "id_b")]
    pub b: String,
    /// The similarity in the report.
    pub reported: Option<f64>,
    /// The similarity in the truth.
    #[serde(rename = "truth")]
    pub expected: Option<f64>,
}

/// Pairs of one kind: their number, and the first few by id.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PairExamples {
    /// The number of pairs.
    pub count: u64,
    /// The first pairs.
    pub examples: Vec<Example>,
}

/// The result of an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// Pairs of the report.
    pub reported: u64,
    /// Pairs of the truth.
    #[serde(rename = "truth")]
    pub expected: u64,
    /// Pairs in both.
    pub true_positives: u64,
    /// Pairs of the report that the truth does not have.
    pub false_positives: PairExamples,
    /// Pairs of the truth that the report does not have.
    pub missed: PairExamples,
    /// Pairs in both whose similarities differ by more than half a unit of the last decimal. The
    /// similarity with fewer decimals determines the unit, so similarities with six decimals each
    /// must be equal. `None` unless both files have similarities of the same measure.
    pub different: Option<PairExamples>,
    /// The agreement of the groups (Hubert and Arabie 1985): 1 for equal groups, about 0 for random
    /// groups. `None` unless the truth has groups. Pairs of a report are joined into groups. A
    /// document that only one file names is alone in its group in the other file. Documents that
    /// neither file names do not count. 1 if both files put every document in its own group, or all
    /// documents in one group.
    pub adjusted_rand_index: Option<f64>,
    /// The errors of the signatures' estimates, if the report's pairs have estimates.
    #[serde(skip)]
    pub estimates: Option<Estimates>,
    /// The errors of the estimates by range of exact similarity, ascending.
    #[serde(skip)]
    pub estimate_ranges: Vec<EstimateRange>,
    /// Unread third columns of files of pairs.
    #[serde(skip)]
    pub unread: Vec<UnreadColumn>,
}

impl Evaluation {
    /// True positives / reported pairs; `None` if no pair was reported.
    pub fn precision(&self) -> Option<f64> {
        share(self.true_positives, self.reported)
    }

    /// True positives / pairs of the truth; `None` if the truth has no pairs.
    pub fn recall(&self) -> Option<f64> {
        share(self.true_positives, self.expected)
    }

    /// The harmonic mean of precision and recall, 2·TP / (reported + expected); `None` if both
    /// files have no pairs.
    pub fn f1(&self) -> Option<f64> {
        share(2 * self.true_positives, self.reported + self.expected)
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The content of one file. Pairs are sorted and distinct.
enum EvaluationFile {
    Pairs(Vec<NumberedPair>),
    Groups(Partition),
}

impl EvaluationFile {
    fn count(&self) -> u64 {
        match self {
            Self::Pairs(pairs) => pairs.len() as u64,
            Self::Groups(groups) => groups.pairs(),
        }
    }

    /// Returns the first similarity by each measure; `None` if no pair has one.
    fn scores(&self) -> PairScore {
        let pairs = match self {
            Self::Pairs(pairs) => &pairs[..],
            Self::Groups(_) => &[],
        };
        let first = |of: fn(&PairScore) -> Option<FileSimilarity>| {
            pairs.iter().find_map(|pair| of(&pair.score))
        };
        PairScore {
            jaccard: first(|score| score.jaccard),
            containment: first(|score| score.containment),
        }
    }
}

/// Whether two similarities differ by more than rounding: by more than half a unit of the last
/// decimal of the one with fewer decimals. With six decimals each they must be equal.
fn differ(x: FileSimilarity, y: FileSimilarity) -> bool {
    let decimals = x.decimals.min(y.decimals);
    let unit = (0..decimals).fold(1.0_f64, |unit, _| unit * 10.0).recip();
    (x.value - y.value).abs() > unit * 0.500_000_1
}

/// Reads both files and compares them.
///
/// # Errors
/// [`FindError::Table`] with file and line for a malformed file, or if no file has a column that
/// the options name. [`FindError::Read`] for a file that cannot be read.
pub fn evaluate(
    report: &Path,
    truth: &Path,
    options: &EvaluateOptions,
) -> Result<Evaluation, FindError> {
    let mut ids = table::IdNumbers::default();
    let mut found = table::read(report, options, &mut ids)?;
    let mut correct = table::read(truth, options, &mut ids)?;
    let columns = [
        (&options.label, found.has_label || correct.has_label),
        (&options.score, found.has_score || correct.has_score),
    ];
    for (name, is_read) in columns {
        if let Some(name) = name.as_ref().filter(|_| !is_read) {
            let problem = format!("neither file has pairs with a column {name:?}");
            return Err(FindError::Table { path: truth.to_owned(), line: 1, problem });
        }
    }
    let unread = found.unread.take().into_iter().chain(correct.unread.take()).collect();
    let ids = ids.sort();
    let errors = found.errors();
    let estimate_ranges = EstimateRange::all(&errors);
    let estimates = Estimates::of(errors);
    let found_groups = ids.partition(&found);
    let correct_groups = correct.has_groups().then(|| ids.partition(&correct));
    let rand = correct_groups.as_ref().map(|w| partition::adjusted_rand_index(&found_groups, w));
    // Clusters are compared as a whole. In a star, only the pairs with the keeper are verified.
    let is_whole = options.all_members || !found.has_pairs() || correct_groups.is_some();
    let found = if found.has_groups() && is_whole {
        EvaluationFile::Groups(found_groups)
    } else {
        EvaluationFile::Pairs(ids.pairs(found))
    };
    let correct = match correct_groups {
        Some(groups) => EvaluationFile::Groups(groups),
        None => EvaluationFile::Pairs(ids.pairs(correct)),
    };
    let mut evaluation = compare(&found, &correct, ids.names());
    evaluation.adjusted_rand_index = rand;
    evaluation.estimates = estimates;
    evaluation.estimate_ranges = estimate_ranges;
    evaluation.unread = unread;
    Ok(evaluation)
}

fn compare(found: &EvaluationFile, correct: &EvaluationFile, names: &[String]) -> Evaluation {
    let example = |pair: NumberedPair| Example {
        a: names[pair.a as usize].clone(),
        b: names[pair.b as usize].clone(),
        reported: None,
        expected: None,
    };
    let mut different = PairExamples::default();
    let both = shared(found, correct, |pair, other| {
        if let Some([reported, expected]) = pair.score.comparable(other.score)
            && differ(reported, expected)
        {
            different.count += 1;
            if different.examples.len() < EXAMPLES {
                let reported = Some(reported.value);
                let expected = Some(expected.value);
                different.examples.push(Example { reported, expected, ..example(pair) });
            }
        }
    });
    let only = |side: &EvaluationFile, other: &EvaluationFile, is_report: bool| {
        let count = side.count() - both;
        let pairs = if count == 0 { Vec::new() } else { first_only(side, other) };
        let examples = pairs.into_iter().map(|pair| {
            let score = pair.score.measured().map(|score| score.value);
            let (reported, expected) = if is_report { (score, None) } else { (None, score) };
            Example { reported, expected, ..example(pair) }
        });
        PairExamples { count, examples: examples.collect() }
    };
    Evaluation {
        reported: found.count(),
        expected: correct.count(),
        true_positives: both,
        false_positives: only(found, correct, true),
        missed: only(correct, found, false),
        different: found.scores().comparable(correct.scores()).map(|_| different),
        adjusted_rand_index: None,
        estimates: None,
        estimate_ranges: Vec::new(),
        unread: Vec::new(),
    }
}

/// Counts the pairs that both files have. Calls `each` for each of them if both files list pairs.
fn shared(
    x: &EvaluationFile,
    y: &EvaluationFile,
    mut each: impl FnMut(NumberedPair, NumberedPair),
) -> u64 {
    match (x, y) {
        (EvaluationFile::Pairs(x), EvaluationFile::Pairs(y)) => {
            let mut rest = y.iter().peekable();
            let mut count = 0;
            for pair in x {
                while rest.next_if(|other| other.key() < pair.key()).is_some() {}
                if let Some(other) = rest.next_if(|other| other.key() == pair.key()) {
                    each(*pair, *other);
                    count += 1;
                }
            }
            count
        }
        (EvaluationFile::Pairs(pairs), EvaluationFile::Groups(groups))
        | (EvaluationFile::Groups(groups), EvaluationFile::Pairs(pairs)) => {
            pairs.iter().filter(|pair| groups.joins(pair.a, pair.b)).count() as u64
        }
        (EvaluationFile::Groups(x), EvaluationFile::Groups(y)) => x.shared_pairs(y),
    }
}

/// The first pairs of `side`, by id, that `other` does not have.
fn first_only(side: &EvaluationFile, other: &EvaluationFile) -> Vec<NumberedPair> {
    let spelled: &[NumberedPair] = match other {
        EvaluationFile::Pairs(pairs) => pairs,
        EvaluationFile::Groups(_) => &[],
    };
    let missing = |a: u32, b: u32| match other {
        EvaluationFile::Pairs(_) => {
            spelled.binary_search_by_key(&(a, b), NumberedPair::key).is_err()
        }
        EvaluationFile::Groups(groups) => !groups.joins(a, b),
    };
    match side {
        EvaluationFile::Pairs(pairs) => {
            let only = pairs.iter().filter(|pair| missing(pair.a, pair.b));
            only.take(EXAMPLES).copied().collect()
        }
        EvaluationFile::Groups(groups) => {
            let within = match other {
                EvaluationFile::Pairs(_) => None,
                EvaluationFile::Groups(other) => Some(other),
            };
            groups.first_pairs(EXAMPLES, within, missing)
        }
    }
}

#[cfg(test)]
mod tests;
