//! A version of a document in a line of an export.

use crate::index::original::OwnedOriginal;
use crate::index::prepare::FormerVersion;
use crate::index::time;
use lookalike_index::original::DocumentVersion;
use serde::{Deserialize, Serialize};

/// A version with its original.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct VersionMember {
    added: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<String>,
    #[serde(rename = "type")]
    media_type: String,
    name: String,
    /// The hash of its original in hexadecimal digits, to detect changes of the line.
    sha256: String,
    /// Its original in Base64.
    original: String,
    /// Its text, if it is a previous version.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl VersionMember {
    pub(super) fn new(version: &DocumentVersion, original: &[u8], text: Option<String>) -> Self {
        let original = OwnedOriginal::new(original, &version.media_type, &version.name);
        Self {
            added: time::format(version.added),
            ended: version.ended.map(time::format),
            modified: version.modified.map(time::format),
            media_type: version.media_type.clone(),
            name: version.name.clone(),
            sha256: version.sha256_hex(),
            original: original.to_base64(),
            text,
        }
    }

    /// Converts the member to the version to add.
    ///
    /// # Errors
    /// A text that describes the invalid member of the version.
    pub(super) fn read(self) -> Result<FormerVersion, String> {
        let original = OwnedOriginal::of_base64(&self.original, &self.media_type, &self.name)?;
        if original.sha256_hex() != self.sha256 {
            return Err("the SHA-256 of an original is not the one in its line".to_owned());
        }
        let time_of = |name: &str, text: &str| {
            time::parse(text).ok_or_else(|| {
                format!(
                    "{name} of a version is {text:?}: expected a time such as \
                     2026-11-21T10:00:00Z"
                )
            })
        };
        Ok(FormerVersion {
            added: time_of("added", &self.added)?,
            modified: self.modified.map(|at| time_of("modified", &at)).transpose()?,
            text: self.text.unwrap_or_default(),
            original,
        })
    }
}
