//! Why there is no text.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a file, or a part of it, has no text that could be compared. `Display` is a phrase that
/// follows a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Failure {
    /// A kind of file that has no text, or whose text cannot be read here.
    Unsupported {
        /// What it is: `a PNG image`.
        kind: String,
    },
    /// Holds NUL bytes and is nothing that is known.
    Binary,
    /// Can be read with a password only.
    Encrypted,
    /// Is what it says, but has no text: scanned pages, empty slides.
    NoText {
        /// What it is: `a PDF of 12 pages`.
        kind: String,
    },
    /// Cut off, or not what its name or first bytes promise.
    Damaged {
        /// What was expected as what, and what stands there.
        what: String,
    },
    /// Above one of [`Limits`](crate::Limits).
    Limit {
        /// Which: `bytes`, `expanded bytes`, `depth`, `members`, `pages`.
        what: String,
        /// The most there may be.
        limit: u64,
    },
    /// Took longer than [`Limits::time`](crate::Limits::time).
    TooSlow {
        /// Seconds that were given.
        seconds: u64,
    },
    /// The program that reads it failed.
    Crashed {
        /// What is known about it.
        what: String,
    },
}

impl Failure {
    /// Something is not as it must be.
    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged { what: what.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported { kind } => write!(f, "{kind}: its text cannot be read"),
            Self::Binary => f.write_str("binary: it holds a NUL byte"),
            Self::Encrypted => f.write_str("encrypted: it opens with a password only"),
            Self::NoText { kind } => write!(f, "{kind} without text"),
            Self::Damaged { what } => write!(f, "damaged: {what}"),
            Self::Limit { what, limit } => write!(f, "more than {limit} {what}"),
            Self::TooSlow { seconds } => write!(f, "not read after {seconds} s"),
            Self::Crashed { what } => write!(f, "the reader failed: {what}"),
        }
    }
}

impl std::error::Error for Failure {}
