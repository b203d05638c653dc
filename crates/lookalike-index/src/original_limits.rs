//! Checks whether an index accepts the originals of documents.

use crate::entry::IndexEntry;
use crate::error::IndexError;
use crate::original::{MAX_DESCRIPTION_BYTES, OriginalEntry, original_hash};
use crate::settings::{IndexSettings, OriginalSettings};

/// The media type of a text without an original.
const TEXT_TYPE: &str = "text/plain; charset=utf-8";

/// Returns the original of a document, or its text if it has no original.
///
/// # Errors
/// [`IndexError::Document`] for a document with neither an original nor a text.
pub(crate) fn original_of<'a>(entry: &IndexEntry<'a>) -> Result<OriginalEntry<'a>, IndexError> {
    let of_text = |text: &'a str| {
        let bytes = text.as_bytes();
        OriginalEntry { bytes, media_type: TEXT_TYPE, name: "", sha256: original_hash(bytes) }
    };
    entry.original.or_else(|| entry.text.map(|text| of_text(text.text))).ok_or_else(|| {
        let why = "it has neither an original nor a text, and the index keeps originals";
        IndexError::document(entry.id, why)
    })
}

impl OriginalSettings {
    /// Checks the length in bytes of the original of the document with this id.
    ///
    /// # Errors
    /// [`IndexError::Document`] for an original over the limit.
    pub fn check_length(&self, id: &str, got: u64) -> Result<(), IndexError> {
        let most = self.max_bytes;
        if got <= most {
            return Ok(());
        }
        let why = format!(
            "its original has {got} bytes, the index keeps at most {most}: divide it, or create \
             an index with a greater limit on originals"
        );
        Err(IndexError::document(id, why))
    }
}

impl IndexSettings {
    /// Checks that a document meets the requirements of an index with these settings.
    ///
    /// # Errors
    /// [`IndexError::Document`] with the problem.
    pub fn check_entry(&self, entry: &IndexEntry<'_>) -> Result<(), IndexError> {
        entry.check(self.num_hashes)?;
        if self.originals.is_none() {
            return Ok(());
        }
        self.check_original(entry.id, &original_of(entry)?)
    }

    /// Checks that an index with these settings accepts the original of the document with this id.
    ///
    /// # Errors
    /// [`IndexError::Document`] with the problem.
    pub fn check_original(&self, id: &str, original: &OriginalEntry<'_>) -> Result<(), IndexError> {
        let Some(originals) = self.originals else { return Ok(()) };
        let wrong = |why: String| Err(IndexError::document(id, why));
        originals.check_length(id, original.bytes.len() as u64)?;
        for (label, text) in [("media type", original.media_type), ("file name", original.name)] {
            if text.len() > MAX_DESCRIPTION_BYTES {
                let got = text.len();
                return wrong(format!(
                    "the {label} of its original has {got} bytes, at most {MAX_DESCRIPTION_BYTES} \
                     are kept: shorten it"
                ));
            }
            if text.contains('\0') {
                let why = format!("the {label} of its original has a NUL character: leave it out");
                return wrong(why);
            }
        }
        Ok(())
    }
}
