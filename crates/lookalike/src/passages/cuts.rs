//! Tokens that are left out of documents.

use crate::engine::DocumentNumber;
use lookalike_core::passage::maximal::TokenRange;

/// Ranges of tokens that do not touch, by document and position.
#[derive(Debug, Clone, Default)]
pub(crate) struct TokenCuts {
    ranges: Vec<TokenRange>,
}

impl TokenCuts {
    /// Those of a document.
    pub(crate) fn of(&self, document: DocumentNumber) -> &[TokenRange] {
        let start = self.ranges.partition_point(|range| range.document < document.0);
        let rest = &self.ranges[start..];
        &rest[..rest.partition_point(|range| range.document == document.0)]
    }

    /// How many ranges there are.
    pub(super) fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Bytes of memory.
    pub(super) fn held(&self) -> u64 {
        (self.ranges.len() * size_of::<TokenRange>()) as u64
    }

    /// Adds ranges, which are by document and position; whether there are any.
    pub(super) fn add(&mut self, more: &[TokenRange]) -> bool {
        let mut all: Vec<TokenRange> = self.ranges.iter().chain(more).copied().collect();
        all.sort_unstable_by_key(|range| (range.document, range.start));
        self.ranges.clear();
        for range in all {
            range.join(&mut self.ranges);
        }
        !more.is_empty()
    }

    /// All of them, by document.
    pub(super) fn documents(&self) -> impl Iterator<Item = (DocumentNumber, &[TokenRange])> {
        let chunks = self.ranges.chunk_by(|a, b| a.document == b.document);
        chunks.map(|ranges| (DocumentNumber(ranges[0].document), ranges))
    }

    /// Ranges of what the cuts leave of documents, as ranges of the documents. Both are by document
    /// and position, and do not touch.
    pub(super) fn whole(&self, mut ranges: Vec<TokenRange>) -> Vec<TokenRange> {
        for ranges in ranges.chunk_by_mut(|a, b| a.document == b.document) {
            let mut cuts = self.of(DocumentNumber(ranges[0].document)).iter().peekable();
            let mut before = 0;
            let mut whole = |position: u32| {
                while let Some(cut) = cuts.next_if(|cut| cut.start <= position + before) {
                    before += cut.end - cut.start;
                }
                position + before
            };
            for range in ranges {
                range.start = whole(range.start);
                range.end = whole(range.end - 1) + 1;
            }
        }
        ranges
    }

    /// Whether one of these cuts of one document, which ascend, contains the tokens.
    pub(super) fn contain(cuts: &[TokenRange], start: u32, end: u32) -> bool {
        let at = cuts.partition_point(|cut| cut.end < end);
        cuts.get(at).is_some_and(|cut| cut.start <= start)
    }

    /// What is left of the tokens of a document.
    pub(super) fn without<T>(cuts: &[TokenRange], tokens: Vec<T>) -> Vec<T> {
        if cuts.is_empty() {
            return tokens;
        }
        let mut cuts = cuts.iter().peekable();
        let mut position = 0;
        let mut tokens = tokens;
        tokens.retain(|_| {
            let at = position;
            position += 1;
            while cuts.next_if(|cut| cut.end <= at).is_some() {}
            cuts.peek().is_none_or(|cut| cut.start > at)
        });
        tokens
    }
}
