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

/// One of [`Limits`](crate::Limits).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitKind {
    /// [`Limits::bytes`](crate::Limits::bytes).
    Bytes,
    /// [`Limits::expanded`](crate::Limits::expanded).
    Expanded,
    /// [`Limits::depth`](crate::Limits::depth).
    Depth,
    /// [`Limits::members`](crate::Limits::members).
    Members,
    /// [`Limits::pages`](crate::Limits::pages).
    Pages,
    /// [`Limits::time`](crate::Limits::time).
    Time,
}

impl Failure {
    /// Something is not as it must be.
    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged { what: what.into() }
    }

    /// A file that is not plain text has more bytes.
    pub fn bytes(limit: u64) -> Self {
        Self::Limit { what: "bytes".to_owned(), limit }
    }

    /// What is compressed, or the text, has more bytes.
    pub fn expanded(limit: u64) -> Self {
        Self::Limit { what: "expanded bytes".to_owned(), limit }
    }

    /// There are more files in a file.
    pub fn members(limit: u32) -> Self {
        Self::Limit { what: "members".to_owned(), limit: limit.into() }
    }

    /// Which limit was reached; `None` for other failures, and for limits that are fixed.
    pub fn limit(&self) -> Option<LimitKind> {
        match self {
            Self::TooSlow { .. } => Some(LimitKind::Time),
            Self::Limit { what, .. } => match what.as_str() {
                "bytes" => Some(LimitKind::Bytes),
                "expanded bytes" => Some(LimitKind::Expanded),
                "members" | "parts of a message" => Some(LimitKind::Members),
                "levels of files in files" | "levels of parts in a message" => {
                    Some(LimitKind::Depth)
                }
                "pages" => Some(LimitKind::Pages),
                _ => None,
            },
            _ => None,
        }
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
