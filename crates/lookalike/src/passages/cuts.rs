//! Tokens that are cut out of documents.

use crate::engine::DocumentNumber;
use lookalike_core::passage::maximal::TokenRange;

/// Disjoint ranges of tokens that do not touch, by document and position.
#[derive(Debug, Clone, Default)]
pub(crate) struct TokenCuts {
    ranges: Vec<TokenRange>,
}

impl TokenCuts {
    /// Returns the cuts of a document.
    pub(crate) fn of(&self, document: DocumentNumber) -> &[TokenRange] {
        let start = self.ranges.partition_point(|range| range.document < document.0);
        let rest = &self.ranges[start..];
        &rest[..rest.partition_point(|range| range.document == document.0)]
    }

    /// The number of ranges.
    pub(super) fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Bytes of memory.
    pub(super) fn held_bytes(&self) -> u64 {
        (self.ranges.len() * size_of::<TokenRange>()) as u64
    }

    /// Adds ranges. Returns whether `more` contains any.
    pub(super) fn add(&mut self, more: &[TokenRange]) -> bool {
        let mut all: Vec<TokenRange> = self.ranges.iter().chain(more).copied().collect();
        all.sort_unstable_by_key(|range| (range.document, range.start));
        self.ranges.clear();
        for range in all {
            range.join(&mut self.ranges);
        }
        !more.is_empty()
    }

    /// Iterates over all cuts, by document.
    pub(super) fn documents(&self) -> impl Iterator<Item = (DocumentNumber, &[TokenRange])> {
        let chunks = self.ranges.chunk_by(|a, b| a.document == b.document);
        chunks.map(|ranges| (DocumentNumber(ranges[0].document), ranges))
    }

    /// Converts ranges of the cut documents to ranges of the original documents. Both are ordered
    /// by document and position, and do not touch.
    pub(super) fn restore(&self, mut ranges: Vec<TokenRange>) -> Vec<TokenRange> {
        for ranges in ranges.chunk_by_mut(|a, b| a.document == b.document) {
            let mut cuts = self.of(DocumentNumber(ranges[0].document)).iter().peekable();
            let mut before = 0;
            let mut original = |position: u32| {
                while let Some(cut) = cuts.next_if(|cut| cut.start <= position + before) {
                    before += cut.end - cut.start;
                }
                position + before
            };
            for range in ranges {
                range.start = original(range.start);
                range.end = original(range.end - 1) + 1;
            }
        }
        ranges
    }

    /// Whether one of a document's ascending cuts contains all tokens from `start` to `end`.
    pub(super) fn contain(cuts: &[TokenRange], start: u32, end: u32) -> bool {
        let at = cuts.partition_point(|cut| cut.end < end);
        cuts.get(at).is_some_and(|cut| cut.start <= start)
    }

    /// Returns the tokens of a document without its cuts.
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
