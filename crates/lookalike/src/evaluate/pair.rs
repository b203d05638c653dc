//! A pair of a report or a truth file.

/// A similarity of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FileSimilarity {
    pub(super) value: f64,
    /// Digits after the decimal point.
    pub(super) decimals: u8,
}

/// Two documents by number, the lesser first; numbers are in the order of the ids.
#[derive(Debug, Clone, Copy)]
pub(super) struct NumberedPair {
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) score: Option<FileSimilarity>,
}

impl NumberedPair {
    pub(super) fn key(&self) -> (u32, u32) {
        (self.a, self.b)
    }
}
