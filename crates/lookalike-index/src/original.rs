//! Originals: the bytes from which documents were read, and their versions.
//!
//! An index whose settings have [`originals`](crate::settings::IndexSettings::originals) stores the
//! original of each document. Equal originals are stored once. If a new document with a different
//! original replaces a document, the index keeps the replaced document as a former version.
//! `docs/reference/index-folder.md` specifies how originals and versions are stored.

use crate::document_number::DocumentNumber;
use sha2::{Digest, Sha256};

/// Greatest possible limit of the size of an original in bytes.
pub const MAX_ORIGINAL_BYTES: u64 = 512 << 20;
/// Default limit of the size of an original in bytes.
pub const DEFAULT_ORIGINAL_BYTES: u64 = 256 << 20;
/// Maximum size of a media type or of a name in bytes.
pub const MAX_DESCRIPTION_BYTES: usize = 4096;

/// An original to store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OriginalEntry<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Its media type, such as `text/html`; at most [`MAX_DESCRIPTION_BYTES`] bytes.
    pub media_type: &'a str,
    /// The name of its file; may be empty, at most [`MAX_DESCRIPTION_BYTES`] bytes.
    pub name: &'a str,
    /// The [`original_hash`] of its bytes. The index trusts this hash and does not check it.
    pub sha256: OriginalHash,
}

/// The SHA-256 of an original.
pub type OriginalHash = [u8; 32];

/// A version of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentVersion {
    /// Its number. The versions of an id are numbered from 1, in order of time.
    pub number: u64,
    /// The number of its document: the current one or, for a former version, the replaced one.
    pub document: DocumentNumber,
    /// The key of its original in the backend.
    pub original: u64,
    /// The SHA-256 of its original.
    pub sha256: OriginalHash,
    /// The length of its original in bytes.
    pub bytes: u64,
    /// The media type of its original.
    pub media_type: String,
    /// The name of its file; empty if it is unknown.
    pub name: String,
    /// When it was added, in ns since 1970.
    pub added: i64,
    /// When the next version replaced it, in ns since 1970; `None` for the current one.
    pub ended: Option<i64>,
    /// When its file was last changed, in ns since 1970.
    pub modified: Option<i64>,
}

impl DocumentVersion {
    /// Takes the name and the media type from an original with the same bytes.
    pub(crate) fn describe(&mut self, original: &OriginalEntry<'_>) {
        original.name.clone_into(&mut self.name);
        original.media_type.clone_into(&mut self.media_type);
    }

    /// The SHA-256 of its original in hexadecimal digits.
    pub fn sha256_hex(&self) -> String {
        use std::fmt::Write as _;
        self.sha256.iter().fold(String::with_capacity(64), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}

/// The hash that identifies an original.
pub fn original_hash(bytes: &[u8]) -> OriginalHash {
    Sha256::digest(bytes).into()
}
