//! The buffers of a reading thread.

use crate::document::extra_fields::ExtraFields;
use crate::document::parent_texts::ParentTexts;
use crate::document::part_texts::PartTexts;
use crate::format::separated_record::SeparatedRecord;
use crate::text::TextNormalizer;
use lookalike_extract::Extractor;

/// Buffers of a thread, which are reused for all blocks. They grow to the size of the longest
/// document.
#[derive(Default)]
pub struct ReadBuffers {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) line_id: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) values: SeparatedRecord,
    pub(crate) extra: ExtraFields,
    pub(crate) extractor: Option<Extractor>,
    pub(crate) part_texts: PartTexts,
    pub(crate) words: TextNormalizer,
    pub(crate) parent_texts: ParentTexts,
}

impl ReadBuffers {
    /// Buffers for a thread that retains every block it reads. They keep the texts of files with
    /// many documents for [`Block::retain`](crate::Block::retain), so that such a file is read only
    /// once.
    pub fn retaining() -> Self {
        let mut scratch = Self::default();
        scratch.part_texts.keep();
        scratch
    }
}
