//! The values of the extra fields of one record, as text.

use std::ops::Range;

/// Values of one record, in the order of [`ReadOptions::fields`](crate::ReadOptions::fields).
#[derive(Debug, Default)]
pub(crate) struct ExtraFields {
    text: String,
    values: Vec<Option<Range<usize>>>,
}

impl ExtraFields {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.values.clear();
    }

    pub(crate) fn push(&mut self, value: Option<&str>) {
        let start = self.text.len();
        self.text.push_str(value.unwrap_or_default());
        self.values.push(value.map(|_| start..self.text.len()));
    }

    /// Sets `count` fields without a value.
    pub(crate) fn fill_empty(&mut self, count: usize) {
        self.clear();
        self.values.resize(count, None);
    }

    /// The values. Without fields, does not allocate.
    pub(crate) fn list(&self) -> Vec<Option<&str>> {
        let value = |range: &Range<usize>| self.text.get(range.clone()).unwrap_or_default();
        self.values.iter().map(|range| range.as_ref().map(value)).collect()
    }
}
