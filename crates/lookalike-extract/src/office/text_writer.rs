//! Output of the office readers, within the limits.

use crate::reading::{ExtractError, LimitTracker};

/// Appends text, which counts against the limits, and moves text boxes after their paragraph.
pub(super) struct TextWriter<'a> {
    pub(super) text: &'a mut String,
    pub(super) tracker: &'a LimitTracker<'a>,
    /// Nesting depth of text boxes.
    depth: u32,
    /// Start of the outermost text box.
    start: usize,
    /// Text set aside until the end of the paragraph.
    box_text: String,
}

impl<'a> TextWriter<'a> {
    pub(super) fn new(text: &'a mut String, tracker: &'a LimitTracker<'a>) -> Self {
        Self { text, tracker, depth: 0, start: 0, box_text: String::new() }
    }

    pub(super) fn push(&mut self, text: &str) -> Result<(), ExtractError> {
        self.tracker.charge_bytes(text.len())?;
        self.text.push_str(text);
        Ok(())
    }

    /// Ends a cell. The separator replaces the last line end of the cell.
    pub(super) fn end_cell(&mut self) -> Result<(), ExtractError> {
        if self.text.ends_with('\n') {
            self.text.pop();
        }
        self.push("\t")
    }

    /// Ends a row.
    pub(super) fn end_row(&mut self) -> Result<(), ExtractError> {
        if self.text.ends_with('\t') {
            self.text.pop();
            self.push("\n")?;
        }
        Ok(())
    }

    /// Begins a text box, which is within a paragraph but not part of it.
    pub(super) fn begin_box(&mut self) {
        if self.depth == 0 {
            self.start = self.text.len();
        }
        self.depth += 1;
    }

    /// Whether a text box is open.
    pub(super) fn is_in_box(&self) -> bool {
        self.depth > 0
    }

    /// Ends a text box. Nested boxes stay in the outermost box, so that the time is linear.
    pub(super) fn end_box(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            self.box_text.push_str(&self.text[self.start..]);
            self.text.truncate(self.start);
        }
    }

    /// Appends the text set aside in a paragraph that has ended.
    pub(super) fn append_box_text(&mut self) {
        if self.depth == 0 && !self.box_text.is_empty() {
            self.text.push_str(&self.box_text);
            self.box_text.clear();
        }
    }
}
