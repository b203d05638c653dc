//! Errors of extraction.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The reason why a file, or a part of it, has no text. `Display` is a phrase that follows a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ExtractError {
    /// A kind of file without text, or without a reader.
    Unsupported {
        /// The kind with its article: `a PNG image`.
        kind: String,
    },
    /// Contains NUL bytes and is of no known kind.
    Binary,
    /// Requires a password.
    Encrypted,
    /// Valid, but without text: scanned pages, empty slides.
    NoText {
        /// The kind with its article: `a PDF of 12 pages`.
        kind: String,
    },
    /// Truncated or malformed.
    Damaged {
        /// What was expected, and what was found.
        what: String,
    },
    /// Exceeds one of [`Limits`](crate::Limits), or a fixed limit.
    Limit {
        /// What is counted, such as `bytes`, `expanded bytes`, `members` or `pages`.
        what: String,
        /// The maximum.
        limit: u64,
    },
    /// Exceeds [`Limits::time`](crate::Limits::time).
    TooSlow {
        /// The limit in seconds.
        seconds: u64,
    },
    /// The reader crashed.
    Crashed {
        /// The panic message, or how the worker process exited.
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
    /// [`Limits::held`](crate::Limits::held).
    Held,
    /// [`Limits::depth`](crate::Limits::depth).
    Depth,
    /// [`Limits::members`](crate::Limits::members).
    Members,
    /// [`Limits::pages`](crate::Limits::pages).
    Pages,
    /// [`Limits::time`](crate::Limits::time).
    Time,
}

impl ExtractError {
    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged { what: what.into() }
    }

    pub(crate) fn limited(what: &str, limit: impl Into<u64>) -> Self {
        Self::Limit { what: what.to_owned(), limit: limit.into() }
    }

    /// The error for a file, other than plain text, of more bytes.
    pub fn bytes(limit: u64) -> Self {
        Self::limited("bytes", limit)
    }

    /// The error for more decompressed bytes or a longer text.
    pub fn expanded(limit: u64) -> Self {
        Self::limited("expanded bytes", limit)
    }

    /// The error for more bytes in memory.
    pub fn held(limit: u64) -> Self {
        Self::limited("bytes in memory", limit)
    }

    /// The error for more members.
    pub fn members(limit: u32) -> Self {
        Self::limited("members", limit)
    }

    /// The limit exceeded; `None` for other errors and for fixed limits.
    pub fn limit(&self) -> Option<LimitKind> {
        match self {
            Self::TooSlow { .. } => Some(LimitKind::Time),
            Self::Limit { what, .. } => match what.as_str() {
                "bytes" => Some(LimitKind::Bytes),
                "expanded bytes" => Some(LimitKind::Expanded),
                "bytes in memory" => Some(LimitKind::Held),
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

impl fmt::Display for ExtractError {
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

impl std::error::Error for ExtractError {}
