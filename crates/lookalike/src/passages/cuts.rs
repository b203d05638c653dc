//! Tokens that are left out of documents.

use lookalike_core::passage::maximal::TokenRange;

/// Ranges of tokens that do not touch, by document and position.
#[derive(Debug, Clone, Default)]
pub(crate) struct TokenCuts {
    ranges: Vec<TokenRange>,
}

impl TokenCuts {
    /// Those of a document.
    pub(crate) fn of(&self, document: u32) -> &[TokenRange] {
        let start = self.ranges.partition_point(|range| range.document < document);
        let rest = &self.ranges[start..];
        &rest[..rest.partition_point(|range| range.document == document)]
    }

    /// How many ranges there are.
    pub(super) fn len(&self) -> usize {
        self.ranges.len()
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
    pub(super) fn documents(&self) -> impl Iterator<Item = (u32, &[TokenRange])> {
        let chunks = self.ranges.chunk_by(|a, b| a.document == b.document);
        chunks.map(|ranges| (ranges[0].document, ranges))
    }

    /// A range of what the cuts leave of a document, as a range of the document.
    pub(super) fn whole(&self, range: TokenRange) -> TokenRange {
        let cuts = self.of(range.document);
        let whole = |position: u32| {
            let before = |at: u32, cut: &TokenRange| {
                if cut.start <= at { Ok(at + (cut.end - cut.start)) } else { Err(at) }
            };
            cuts.iter().try_fold(position, before).unwrap_or_else(|at| at)
        };
        TokenRange { start: whole(range.start), end: whole(range.end - 1) + 1, ..range }
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
