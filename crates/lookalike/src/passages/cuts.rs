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
