//! Keeps the texts of long documents whose units are read again. Each document is then read once,
//! not once for each unit.

use crate::document::{BlockNumber, DocumentPosition};
use crate::options::SourceInfo;
use std::sync::Arc;

/// Documents of fewer bytes are read again for each unit.
pub(crate) const KEPT_BYTES: u32 = 4096;
/// Number of kept texts: two units are compared at a time.
const KEPT_TEXTS: usize = 2;

/// The texts that a thread has read most recently.
#[derive(Default)]
pub(crate) struct ParentTexts {
    /// The texts, the most recent one first.
    texts: Vec<ParentText>,
}

struct ParentText {
    source: Arc<SourceInfo>,
    block: BlockNumber,
    place: DocumentPosition,
    text: String,
}

impl ParentTexts {
    /// The text of a document of a block, if it is kept.
    pub(crate) fn get(
        &mut self,
        source: &Arc<SourceInfo>,
        block: BlockNumber,
        place: DocumentPosition,
    ) -> Option<&str> {
        let at = self.texts.iter().position(|entry| {
            entry.block == block && entry.place == place && Arc::ptr_eq(&entry.source, source)
        })?;
        self.texts[..=at].rotate_right(1);
        self.texts.first().map(|entry| entry.text.as_str())
    }

    /// Keeps the text of a document.
    pub(crate) fn insert(
        &mut self,
        source: &Arc<SourceInfo>,
        block: BlockNumber,
        place: DocumentPosition,
        text: String,
    ) {
        self.texts.truncate(KEPT_TEXTS - 1);
        let source = Arc::clone(source);
        self.texts.insert(0, ParentText { source, block, place, text });
    }
}
