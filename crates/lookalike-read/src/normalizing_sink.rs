//! A sink that normalizes texts before it passes them on.

use crate::document::{Document, Raw, RawSink};
use crate::normalize::{Normalization, Words};
use crate::scratch::ReadBuffers;
use crate::skipped::SkippedItem;

/// Passes documents on with normalized texts.
pub(crate) struct NormalizingSink<'a> {
    sink: &'a mut dyn RawSink,
    words: &'a mut Words,
    wording: Normalization,
}

impl NormalizingSink<'_> {
    /// Calls `read` with a sink that passes normalized documents on to `sink`.
    pub(crate) fn around<R>(
        sink: &mut dyn RawSink,
        wording: Normalization,
        scratch: &mut ReadBuffers,
        read: impl FnOnce(&mut ReadBuffers, &mut dyn RawSink) -> R,
    ) -> R {
        let mut words = std::mem::take(&mut scratch.words);
        let mut sink = NormalizingSink { sink, words: &mut words, wording };
        let result = read(scratch, &mut sink);
        scratch.words = words;
        result
    }
}

impl RawSink for NormalizingSink<'_> {
    fn record(&mut self, document: &Document<'_>, raw: Raw<'_>) {
        if document.shingled.is_some() {
            // The text was normalized before its set was stored.
            return self.sink.record(document, raw);
        }
        let text = self.words.of(document.text, self.wording);
        self.sink.record(&Document { text, ..*document }, raw);
    }

    fn skipped(&mut self, skipped: SkippedItem) {
        self.sink.skipped(skipped);
    }
}
