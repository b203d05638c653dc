//! Parts of a file: one that is taken again, and how parts are named.

use lookalike_extract::{ExtractError, ExtractedPart, FailedPart, PartSink};

/// Gives the first part that it receives to a function.
pub(crate) struct OnePart<F> {
    take: Option<F>,
    failure: Option<ExtractError>,
}

impl<F: FnOnce(&ExtractedPart<'_>)> OnePart<F> {
    pub(crate) fn new(take: F) -> Self {
        Self { take: Some(take), failure: None }
    }

    /// Whether there was a part.
    ///
    /// # Errors
    /// Why there was none.
    pub(crate) fn result(self) -> Result<(), String> {
        match (self.take, self.failure) {
            (None, _) => Ok(()),
            (Some(_), Some(failure)) => Err(failure.to_string()),
            (Some(_), None) => Err("no such part".to_owned()),
        }
    }
}

impl<F: FnOnce(&ExtractedPart<'_>)> PartSink for OnePart<F> {
    fn part(&mut self, part: &ExtractedPart<'_>) {
        if let Some(take) = self.take.take() {
            take(part);
        }
    }

    fn failed(&mut self, failed: &FailedPart<'_>) {
        self.failure = Some(failed.failure.clone());
    }
}

/// Adds the name of a part in its file to the id of that: behind a slash, or as the line of a
/// mailbox, `:23`.
pub(crate) fn push_within(id: &mut String, within: &str) {
    if !within.is_empty() && !within.starts_with(':') {
        id.push('/');
    }
    id.push_str(within);
}
