//! Text as it grows, within the limits.

use crate::failure::Failure;
use crate::job::Job;

/// Where text goes. Each byte is taken from what the file may become.
pub(super) struct Out<'a> {
    pub(super) text: &'a mut String,
    pub(super) job: &'a Job<'a>,
    /// How many pieces that are set aside lie in each other at this place.
    depth: u32,
    /// Where the outermost of them began.
    start: usize,
    /// What was set aside and waits for the end of a paragraph.
    aside: String,
}

impl<'a> Out<'a> {
    pub(super) fn new(text: &'a mut String, job: &'a Job<'a>) -> Self {
        Self { text, job, depth: 0, start: 0, aside: String::new() }
    }

    pub(super) fn push(&mut self, text: &str) -> Result<(), Failure> {
        self.job.expand(text.len())?;
        self.text.push_str(text);
        Ok(())
    }

    /// A cell ends: what separates it from the next one takes the place of its last line's end.
    pub(super) fn end_cell(&mut self) -> Result<(), Failure> {
        if self.text.ends_with('\n') {
            self.text.pop();
        }
        self.push("\t")
    }

    /// A row ends.
    pub(super) fn end_row(&mut self) -> Result<(), Failure> {
        if self.text.ends_with('\t') {
            self.text.pop();
            self.push("\n")?;
        }
        Ok(())
    }

    /// A piece begins that stands within a paragraph, but is not part of it: a text box.
    pub(super) fn begin_aside(&mut self) {
        if self.depth == 0 {
            self.start = self.text.len();
        }
        self.depth += 1;
    }

    /// Whether this place is in such a piece.
    pub(super) fn is_aside(&self) -> bool {
        self.depth > 0
    }

    /// It ends. One in another one stays where it is, so that this is linear.
    pub(super) fn end_aside(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            self.aside.push_str(&self.text[self.start..]);
            self.text.truncate(self.start);
        }
    }

    /// A paragraph has ended: what was set aside in it follows.
    pub(super) fn give_aside(&mut self) {
        if self.depth == 0 && !self.aside.is_empty() {
            self.text.push_str(&self.aside);
            self.aside.clear();
        }
    }
}
