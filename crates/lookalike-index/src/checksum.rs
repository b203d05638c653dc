//! Checksums of the stored data of a document, verified at every read.
//! `docs/reference/index-folder.md` and `docs/reference/postgres.md` specify them.

use crate::entry::IndexEntry;
use crate::original::DocumentVersion;
use lookalike_core::hash::{mix64, token_hash};

/// The checksum of bytes that belong to a document: their [`token_hash`], combined with the
/// document's number, so that the bytes of another document are not accepted.
pub(crate) fn content(number: u64, bytes: &[u8]) -> u64 {
    token_hash(bytes) ^ mix64(number)
}

/// The checksum of a version of the document `id`. Excludes the hash and the length of its
/// original, which are stored with the original.
pub(crate) fn version(id: &str, version: &DocumentVersion) -> i64 {
    let DocumentVersion { number, document, original, added, ended, modified, .. } = *version;
    let mut bytes = Vec::new();
    bytes.extend_from_slice(&number.to_le_bytes());
    bytes.extend_from_slice(&original.to_le_bytes());
    bytes.extend_from_slice(&added.to_le_bytes());
    for time in [ended, modified] {
        bytes.push(u8::from(time.is_some()));
        bytes.extend_from_slice(&time.unwrap_or(0).to_le_bytes());
    }
    for text in [id, &version.media_type, &version.name] {
        bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
    }
    content(document.0, &bytes).cast_signed()
}

/// The fields of a row except signature, set and text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowFields<'a> {
    pub(crate) number: u64,
    pub(crate) id: &'a [u8],
    /// 16 bytes, little-endian.
    pub(crate) fingerprint: &'a [u8],
    pub(crate) bytes: u64,
    pub(crate) added: i64,
    pub(crate) modified: Option<i64>,
    pub(crate) expires: Option<i64>,
    pub(crate) metadata: &'a [u8],
}

impl<'a> RowFields<'a> {
    /// The fields of a document stored under a number; `fingerprint` as 16 bytes.
    pub(crate) fn of_entry(
        number: u64,
        entry: &IndexEntry<'a>,
        fingerprint: &'a [u8],
        metadata: &'a [u8],
    ) -> Self {
        let IndexEntry { id, bytes, added, modified, expires, .. } = *entry;
        let id = id.as_bytes();
        Self { number, id, fingerprint, bytes, added, modified, expires, metadata }
    }

    /// The checksum of all fields. `buffer` is used for their bytes.
    pub(crate) fn checksum(&self, buffer: &mut Vec<u8>) -> u64 {
        buffer.clear();
        buffer.extend_from_slice(&self.bytes.to_le_bytes());
        buffer.extend_from_slice(&self.added.to_le_bytes());
        for time in [self.modified, self.expires] {
            buffer.push(u8::from(time.is_some()));
            buffer.extend_from_slice(&time.unwrap_or(0).to_le_bytes());
        }
        buffer.extend_from_slice(self.fingerprint);
        buffer.extend_from_slice(&(self.id.len() as u32).to_le_bytes());
        buffer.extend_from_slice(self.id);
        buffer.extend_from_slice(self.metadata);
        content(self.number, buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_have_the_specified_values() {
        let fields = RowFields {
            number: 7,
            id: b"a/b",
            fingerprint: &[0x11; 16],
            bytes: 1234,
            added: 1_700_000_000_000_000_000,
            modified: None,
            expires: Some(-1),
            metadata: br#"{"source":"x"}"#,
        };
        let mut bytes = Vec::new();
        let sum = fields.checksum(&mut bytes);
        assert_eq!(bytes.len(), 8 + 8 + 9 + 9 + 16 + 4 + 3 + 14);
        assert_eq!(sum, token_hash(&bytes) ^ mix64(7));
        assert_eq!((content(1, b""), sum), (0x9c13_2de9_d7a0_f54c, 0x1f99_719e_9797_3cf6));
        let other = RowFields { expires: None, ..fields };
        assert_ne!(other.checksum(&mut bytes), sum);
    }
}
