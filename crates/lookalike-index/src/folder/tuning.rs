//! Sizes at which postings become segments and segments are merged.

/// Sizes at which postings become segments and segments are merged. Results do not depend on them,
/// and every handle may use its own. The defaults suit any number of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tuning {
    /// Maximum number of documents whose postings are only in memory; at least 1. Opening the index
    /// collects these postings again.
    pub tail: usize,
    /// Number of segments that are merged into one; at least 2.
    pub fan_out: usize,
    /// Whether a background thread merges segments; otherwise only `compact` does.
    pub background: bool,
}

impl Default for Tuning {
    fn default() -> Self {
        Self { tail: 16_384, fan_out: 8, background: true }
    }
}

impl Tuning {
    /// The level of a segment of `documents` documents: the number of merges that produce this
    /// size.
    pub(crate) fn level(&self, documents: u64) -> u32 {
        let mut size = (self.tail.max(1) as u64).saturating_mul(self.fan_out.max(2) as u64);
        let mut level = 0;
        while documents >= size {
            size = size.saturating_mul(self.fan_out.max(2) as u64);
            level += 1;
        }
        level
    }

    /// Limits the values to their ranges.
    pub(crate) fn in_range(self) -> Self {
        Self { tail: self.tail.max(1), fan_out: self.fan_out.max(2), ..self }
    }
}
