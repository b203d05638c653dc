//! Counts of text removed from mail messages.

use lookalike_extract::Fields;
use serde::{Deserialize, Serialize};

/// Counts of text that was removed from mail messages because of options.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailRemovals {
    /// Messages from which quotations were removed.
    pub quoting_messages: u64,
    /// Messages from which a signature was removed.
    pub signed_messages: u64,
    /// Words of these signatures, separated by white space.
    pub signature_words: u64,
    /// Bytes of these signatures, in UTF-8.
    pub signature_bytes: u64,
}

impl MailRemovals {
    /// Counts one document.
    pub(crate) fn add(&mut self, fields: &Fields) {
        let cut = fields.cut();
        self.merge(Self {
            quoting_messages: u64::from(fields.has_cut_quotes()),
            signed_messages: u64::from(cut.bytes > 0),
            signature_words: cut.words,
            signature_bytes: cut.bytes,
        });
    }

    /// Adds the counts of other documents.
    pub(crate) fn merge(&mut self, other: Self) {
        self.quoting_messages += other.quoting_messages;
        self.signed_messages += other.signed_messages;
        self.signature_words += other.signature_words;
        self.signature_bytes += other.signature_bytes;
    }
}
