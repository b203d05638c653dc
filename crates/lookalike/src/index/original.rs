//! An original that is kept until it is written.

use lookalike_index::original::{OriginalEntry, OriginalHash, original_hash};
use std::sync::Arc;

/// What a document was read from; several documents may share the bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedOriginal {
    bytes: Arc<[u8]>,
    media_type: Arc<str>,
    name: Arc<str>,
    sha256: OriginalHash,
}

impl OwnedOriginal {
    /// An original with its media type and the name of its file, which may be empty. Its hash is
    /// computed here.
    pub fn new(bytes: &[u8], media_type: &str, name: &str) -> Self {
        let sha256 = original_hash(bytes);
        Self { bytes: bytes.into(), media_type: media_type.into(), name: name.into(), sha256 }
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether the bytes of both are the same memory.
    pub(super) fn shares_bytes(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.bytes, &other.bytes)
    }

    /// The original as an index takes it.
    pub fn entry(&self) -> OriginalEntry<'_> {
        let Self { bytes, media_type, name, sha256 } = self;
        OriginalEntry { bytes, media_type, name, sha256: *sha256 }
    }
}
