//! Errors of user decisions.

use super::{ConflictCause, DecisionConflict, Judgment};
use crate::error_macros::wraps_error;
use lookalike_index::IndexError;
use lookalike_index::entry::shortened_id;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// An error of reading or storing decisions.
#[derive(Debug)]
pub enum DecisionError {
    /// The index of the decisions cannot be read or written.
    Index(IndexError),
    /// The file cannot be read.
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A line does not contain a decision.
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The reason.
        problem: DecisionProblem,
    },
    /// Decisions were not added to an index: their author has not seen the last decisions about
    /// their documents, or the documents are not in the index.
    Conflicts {
        /// The first conflicts.
        conflicts: Vec<DecisionConflict>,
        /// The number of all conflicts.
        total: u64,
    },
    /// The keepers of the run are given, so decisions cannot affect them.
    GivenKeepers,
}

/// The reason why a line does not contain a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecisionProblem {
    /// It is not a JSON object with the members of a decision.
    Json {
        /// The message of the parser.
        error: String,
    },
    /// The name of the decision is unknown.
    Judgment {
        /// The name.
        got: String,
    },
    /// The number of documents is not allowed.
    Documents {
        /// The decision.
        judgment: Judgment,
        /// The number of documents.
        got: usize,
        /// The allowed numbers, in words.
        expected: &'static str,
    },
    /// A document occurs twice.
    RepeatedDocument {
        /// Its id.
        id: String,
    },
    /// The number of hashes differs from the number of documents.
    Contents {
        /// The number of hashes.
        got: usize,
        /// The number of documents.
        expected: usize,
    },
    /// A hash is not 64 hexadecimal digits.
    Hash {
        /// The text found instead.
        got: String,
    },
    /// A member is too long.
    TooLong {
        /// Its name.
        member: &'static str,
        /// Its bytes.
        got: usize,
        /// The largest number of bytes.
        most: usize,
    },
    /// The line is too long.
    LongLine {
        /// The largest number of bytes.
        most: u64,
    },
}

impl fmt::Display for DecisionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(error) => fmt::Display::fmt(error, f),
            Self::Read { path, source } => write!(
                f,
                "cannot read the decisions in {}: {source}; name a file that can be read",
                path.display()
            ),
            Self::Line { path, line, problem } => {
                write!(f, "{} line {line}: {problem}", path.display())
            }
            Self::Conflicts { conflicts, total } => fmt_conflicts(f, conflicts, *total),
            Self::GivenKeepers => f.write_str(
                "decisions cannot be combined with given keepers; leave out one of the two",
            ),
        }
    }
}

impl std::error::Error for DecisionError {}

wraps_error!(DecisionError::Index(IndexError));

fn fmt_conflicts(
    f: &mut fmt::Formatter<'_>,
    conflicts: &[DecisionConflict],
    total: u64,
) -> fmt::Result {
    f.write_str("no decision was added")?;
    let Some(DecisionConflict { position, documents, cause }) = conflicts.first() else {
        return Ok(());
    };
    let ids = documents.iter().map(|id| shortened_id(id)).collect::<Vec<_>>();
    write!(f, ": decision {} is about {:?}, ", position + 1, ids)?;
    match cause {
        ConflictCause::Decided(last) => {
            let number = last.line;
            let decision = last.judgment.name();
            let who = last.who.as_deref().map(|who| format!(" by {who:?}")).unwrap_or_default();
            write!(
                f,
                "but decision {number}{who} is newer: {decision}; look at it, then drop \
                 your decision, or add it with \"seen\":{number}"
            )?;
        }
        ConflictCause::Unknown => {
            f.write_str("and the index has no such document; drop the decision")?;
        }
    }
    if total > 1 {
        write!(f, " ({total} such conflicts)")?;
    }
    Ok(())
}

impl fmt::Display for DecisionProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json { error } => write!(
                f,
                "expected a decision such as {{\"decision\":\"not_duplicate\",\
                 \"documents\":[\"a.txt\",\"b.txt\"]}}: {error}"
            ),
            Self::Judgment { got } => {
                let names = Judgment::ALL.map(Judgment::name).join(", ");
                write!(f, "unknown decision {got:?}; expected one of {names}")
            }
            Self::Documents { judgment, got, expected } => {
                write!(f, "the decision {} needs {expected}, got {got}", judgment.name())
            }
            Self::RepeatedDocument { id } => {
                write!(f, "document {id:?} is named twice; name each document once")
            }
            Self::Contents { got, expected } => write!(
                f,
                "expected a hash or null for each of {expected} documents in \"contents\", got \
                 {got}"
            ),
            Self::Hash { got } => write!(
                f,
                "expected the SHA-256 hash of a text, 64 hexadecimal digits, in \"contents\", got \
                 {got:?}"
            ),
            Self::TooLong { member, got, most } => {
                write!(f, "{member} has {got} bytes, at most {most} are kept; shorten it")
            }
            Self::LongLine { most } => {
                write!(f, "the line has more than {most} bytes; shorten its note")
            }
        }
    }
}
