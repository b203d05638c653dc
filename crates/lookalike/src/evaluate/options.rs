//! How files are evaluated, and the columns that options may name.

use std::path::PathBuf;

/// How the files are understood.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EvaluateOptions {
    /// Pairs below this similarity do not count in either file, as if their lines were missing. The
    /// similarity is the column `containment` of a file that has it, otherwise `jaccard`. Pairs
    /// without a similarity, and groups, always count. If `None`, all pairs count.
    pub threshold: Option<f64>,
    /// Whether a group of the report represents all pairs of its documents. Otherwise it represents
    /// only the pairs of the keeper and each duplicate, which are the verified pairs in a report of
    /// stars. If the truth has groups, a group always represents all pairs.
    pub all_members: bool,
    /// The column of a file of pairs that states whether a row is a pair. A row is not a pair if
    /// the value is empty, a number of at most 0, or one of `false`, `no`, `f` and `n` in any case.
    pub label: Option<String>,
    /// The column of a file of pairs that `threshold` applies to, instead of `containment` and
    /// `jaccard`.
    pub score: Option<String>,
}

/// The third column of a file of pairs, which may be a label or a score although no option names
/// it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadColumn {
    /// The file.
    pub path: PathBuf,
    /// The name of the column.
    pub name: String,
    /// Whether its first value is a number.
    pub is_number: bool,
}
