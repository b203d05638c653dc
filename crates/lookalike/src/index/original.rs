//! An original in memory before it is written.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lookalike_index::original::{OriginalEntry, OriginalHash, original_hash};
use std::sync::Arc;

/// The source bytes of a document, which several documents may share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedOriginal {
    bytes: Arc<[u8]>,
    media_type: Arc<str>,
    name: Arc<str>,
    sha256: OriginalHash,
}

impl OwnedOriginal {
    /// Creates an original with its media type and the name of its file, which may be empty.
    /// Computes its hash.
    pub fn new(bytes: &[u8], media_type: &str, name: &str) -> Self {
        let sha256 = original_hash(bytes);
        Self { bytes: bytes.into(), media_type: media_type.into(), name: name.into(), sha256 }
    }

    /// Decodes an original in Base64, as in a line of JSON.
    ///
    /// # Errors
    /// The problem of the data, as a text.
    pub fn of_base64(data: &str, media_type: &str, name: &str) -> Result<Self, String> {
        let bytes = STANDARD.decode(data);
        let bytes = bytes.map_err(|error| format!("its original is not valid Base64: {error}"))?;
        Ok(Self::new(&bytes, media_type, name))
    }

    /// Its bytes in Base64.
    pub fn to_base64(&self) -> String {
        STANDARD.encode(&self.bytes)
    }

    /// Its hash in hexadecimal digits.
    pub(super) fn sha256_hex(&self) -> String {
        use std::fmt::Write as _;
        self.sha256.iter().fold(String::with_capacity(64), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether both share their bytes in memory.
    pub(super) fn shares_bytes(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.bytes, &other.bytes)
    }

    /// The original in the form for the index.
    pub fn entry(&self) -> OriginalEntry<'_> {
        let Self { bytes, media_type, name, sha256 } = self;
        OriginalEntry { bytes, media_type, name, sha256: *sha256 }
    }
}
