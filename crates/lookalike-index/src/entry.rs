//! A document to add, and a stored document.

pub use crate::document_number::DocumentNumber;
use crate::error::IndexError;
use crate::original::{DocumentVersion, OriginalEntry};
pub use crate::shortened_id::shortened_id;
use serde_json::{Map, Value};

/// Maximum length of an id, in bytes of UTF-8.
pub const MAX_ID_BYTES: usize = 16 << 10;
/// Maximum size of metadata as JSON, in bytes.
pub const MAX_METADATA_BYTES: usize = 1 << 20;
/// Maximum size of a text, in bytes.
pub const MAX_TEXT_BYTES: usize = 1 << 30;

/// Metadata of a document: any JSON object. The members `source`, `language` and `time` have a
/// meaning elsewhere.
pub type Metadata = Map<String, Value>;

/// A document to add: shingled and signed.
#[derive(Debug, Clone, Copy)]
pub struct IndexEntry<'a> {
    /// Its id: not empty, at most [`MAX_ID_BYTES`], without NUL; other characters are allowed,
    /// including slashes and line ends.
    pub id: &'a str,
    /// The fingerprint of its shingles, see `docs/reference/signature.md`.
    pub fingerprint: u128,
    /// Length of its text in bytes.
    pub bytes: u64,
    /// `num_hashes` values. Empty for a document without shingles, which is similar to no document.
    pub signature: &'a [u32],
    /// Its shingle set, encoded by [`set::encode`](crate::set::encode). Ignored if the index stores
    /// no sets.
    pub set: &'a [u8],
    /// Its text. Ignored if the index stores no texts.
    pub text: Option<EntryText<'a>>,
    /// The bytes from which it was read, or `None` to use its text. Ignored if the index stores no
    /// originals.
    pub original: Option<OriginalEntry<'a>>,
    /// Its metadata.
    pub metadata: &'a Metadata,
    /// When it was added, in ns since 1970.
    pub added: i64,
    /// When its file was last changed, in ns since 1970.
    pub modified: Option<i64>,
    /// When it expires, in ns since 1970. From then on, it counts as removed.
    pub expires: Option<i64>,
}

/// The text of a document to add.
#[derive(Debug, Clone, Copy)]
pub struct EntryText<'a> {
    /// The text.
    pub text: &'a str,
    /// The text, encoded by [`text_code::encode`](crate::text_code::encode). With `None`, the index
    /// encodes it, in the thread that writes.
    pub code: Option<&'a [u8]>,
}

impl<'a> From<&'a str> for EntryText<'a> {
    fn from(text: &'a str) -> Self {
        Self { text, code: None }
    }
}

impl IndexEntry<'_> {
    /// The current version of the document, with the original under the key `stored`.
    pub(crate) fn version(
        &self,
        number: u64,
        document: DocumentNumber,
        stored: u64,
        original: &OriginalEntry<'_>,
    ) -> DocumentVersion {
        DocumentVersion {
            number,
            document,
            original: stored,
            sha256: original.sha256,
            bytes: original.bytes.len() as u64,
            media_type: original.media_type.to_owned(),
            name: original.name.to_owned(),
            added: self.added,
            ended: None,
            modified: self.modified,
        }
    }

    /// Checks the requirements of every index.
    ///
    /// # Errors
    /// [`IndexError::Document`] with the problem.
    pub fn check(&self, num_hashes: usize) -> Result<(), IndexError> {
        check_id(self.id)?;
        let wrong = |why: String| Err(IndexError::document(self.id, why));
        if !self.signature.is_empty() && self.signature.len() != num_hashes {
            let got = self.signature.len();
            return wrong(format!("its signature has {got} values, the index {num_hashes}"));
        }
        if self.text.is_some_and(|text| text.text.len() > MAX_TEXT_BYTES) {
            return wrong(format!("its text has more than {MAX_TEXT_BYTES} bytes"));
        }
        Ok(())
    }

    /// Its metadata as JSON.
    ///
    /// # Errors
    /// [`IndexError::Document`] for more than [`MAX_METADATA_BYTES`].
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn metadata_json(&self) -> Result<String, IndexError> {
        let wrong = |why: String| IndexError::document(self.id, why);
        let json = serde_json::to_string(self.metadata);
        let json = json.map_err(|error| wrong(format!("its metadata: {error}")))?;
        if json.len() > MAX_METADATA_BYTES {
            let got = json.len();
            return Err(wrong(format!(
                "its metadata has {got} bytes as JSON, at most {MAX_METADATA_BYTES} are kept: \
                 leave some out"
            )));
        }
        Ok(json)
    }
}

/// Checks an id.
///
/// # Errors
/// [`IndexError::Document`] with the problem.
pub fn check_id(id: &str) -> Result<(), IndexError> {
    let wrong = |why: &str| Err(IndexError::document(id, why));
    if id.is_empty() {
        return wrong("its id is empty; choose another id");
    }
    if id.len() > MAX_ID_BYTES {
        return wrong("its id has more than 16,384 bytes: shorten it, or put it into the metadata");
    }
    if id.contains('\0') {
        return wrong("its id has a NUL character; remove it");
    }
    Ok(())
}

/// The fields of a document to read, in addition to those that every row has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "any of them goes with any other")]
pub struct RecordFields {
    /// Its signature.
    pub signature: bool,
    /// Its shingle set.
    pub set: bool,
    /// Its metadata.
    pub metadata: bool,
    /// Its text.
    pub text: bool,
}

/// A stored document. Fields that were not requested are empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IndexRecord {
    /// Its number.
    pub number: DocumentNumber,
    /// Its id.
    pub id: String,
    /// The fingerprint of its shingles.
    pub fingerprint: u128,
    /// Length of its text in bytes.
    pub bytes: u64,
    /// Its signature; empty for a document without shingles.
    pub signature: Vec<u32>,
    /// Its encoded shingle set; `None` if the index stores none.
    pub set: Option<Vec<u8>>,
    /// Its metadata.
    pub metadata: Metadata,
    /// Its text; `None` if the index stores no texts.
    pub text: Option<String>,
    /// When it was added, in ns since 1970.
    pub added: i64,
    /// When its file was last changed.
    pub modified: Option<i64>,
    /// When it expires.
    pub expires: Option<i64>,
}

impl IndexRecord {
    /// Checks the number of values of a signature that is not empty.
    pub(crate) fn check_signature(&self, num_hashes: usize) -> Result<(), IndexError> {
        let got = self.signature.len();
        if got == 0 || got == num_hashes {
            return Ok(());
        }
        let what = format!("document {:?} (number {})", shortened_id(&self.id), self.number);
        let why = format!("its signature has {got} values, expected {num_hashes}");
        Err(IndexError::damaged(what, why))
    }

    /// Returns true if it counts as removed at a time, in ns since 1970.
    pub fn is_expired(&self, now: i64) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}
