//! Errors of extraction.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The reason why a file, or a part of it, has no text. `Display` is a phrase to follow the name of
/// the file.
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
        /// A description of the damage.
        what: String,
    },
    /// Exceeds one of [`Limits`](crate::Limits), or a fixed limit.
    Limit {
        /// The kind of limit.
        kind: LimitKind,
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

/// The unit of one of [`Limits`](crate::Limits), or of a fixed limit. `Display` names the unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum LimitKind {
    /// [`Limits::bytes`](crate::Limits::bytes).
    Bytes,
    /// [`Limits::expanded`](crate::Limits::expanded).
    Expanded,
    /// [`Limits::held`](crate::Limits::held).
    Held,
    /// [`Limits::depth`](crate::Limits::depth).
    Depth,
    /// [`Limits::depth`](crate::Limits::depth), for the parts of a message.
    PartDepth,
    /// [`Limits::members`](crate::Limits::members).
    Members,
    /// [`Limits::members`](crate::Limits::members), for the parts of a message.
    Parts,
    /// [`Limits::pages`](crate::Limits::pages).
    Pages,
    /// Bytes of the shared texts of a sheet; a fixed limit.
    SharedTexts,
    /// Content encodings of a record of a crawl; a fixed limit.
    Encodings,
}

impl fmt::Display for LimitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bytes => "bytes",
            Self::Expanded => "expanded bytes",
            Self::Held => "bytes in memory",
            Self::Depth => "levels of files in files",
            Self::PartDepth => "levels of parts in a message",
            Self::Members => "members",
            Self::Parts => "parts of a message",
            Self::Pages => "pages",
            Self::SharedTexts => "bytes of shared texts",
            Self::Encodings => "encodings of a record",
        })
    }
}

impl ExtractError {
    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged { what: what.into() }
    }

    /// The error for more than `limit` of a kind.
    pub fn limited(kind: LimitKind, limit: impl Into<u64>) -> Self {
        Self::Limit { kind, limit: limit.into() }
    }

    /// Returns true if a limit was exceeded. An exceeded limit also applies to all following files.
    pub(crate) fn is_limit(&self) -> bool {
        matches!(self, Self::Limit { .. } | Self::TooSlow { .. })
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
            Self::Limit { kind, limit } => write!(f, "more than {limit} {kind}"),
            Self::TooSlow { seconds } => write!(f, "not read after {seconds} s"),
            Self::Crashed { what } => write!(f, "the reader failed: {what}"),
        }
    }
}

impl std::error::Error for ExtractError {}
