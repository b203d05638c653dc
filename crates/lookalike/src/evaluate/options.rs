//! How files are evaluated, and the columns that options may name.

use std::path::PathBuf;

/// How the files are understood.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EvaluateOptions {
    /// Pairs below this similarity do not count, in either file: the result is the one for files
    /// without these lines. The similarity is the `containment` of a file that has it, else the
    /// `jaccard`. Pairs without a similarity, and groups, always count. If `None`, all pairs count.
    pub threshold: Option<f64>,
    /// A group of the report represents all pairs of its documents, as it always does if the truth
    /// has groups. Otherwise it represents the pairs of the keeper with each duplicate, which are
    /// the ones a report of stars vouches for.
    pub all_members: bool,
    /// The column of a file of pairs that tells pairs from other rows. The value of other rows is
    /// empty, a number of at most 0, or one of `false`, `no`, `f` and `n` in any case.
    pub label: Option<String>,
    /// The column of a file of pairs that `threshold` applies to, instead of `containment` and
    /// `jaccard`.
    pub score: Option<String>,
}

/// A column that may decide about pairs and that no option names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadColumn {
    /// The file.
    pub path: PathBuf,
    /// The name of the column.
    pub name: String,
    /// Whether its first value is a number.
    pub is_number: bool,
}
