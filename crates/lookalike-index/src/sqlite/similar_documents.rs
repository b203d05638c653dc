//! The document that shares the most bucket keys with one that is added, whose original it may
//! become a difference from.

use super::posting::PostingList;
use super::posting_view::PostingView;
use crate::error::IndexError;
use std::collections::HashMap;

/// Documents that are counted for one that is added; more share a key with it only where a text is
/// repeated very often, and any of these is a good base then.
const MOST_COUNTED: usize = 1 << 16;

/// The bucket keys of the documents of one call, and of those before.
pub(super) struct SimilarDocuments<'a> {
    view: &'a PostingView,
    /// The last document of this call with a key.
    added: HashMap<u64, u32>,
}

impl<'a> SimilarDocuments<'a> {
    pub(super) fn new(view: &'a PostingView) -> Self {
        Self { view, added: HashMap::new() }
    }

    /// The document that shares the most of these keys, the latest of several, and adds the keys as
    /// those of the document `number`.
    ///
    /// # Errors
    /// Read errors of segments.
    pub(super) fn find_and_add(
        &mut self,
        keys: &[u64],
        number: u32,
    ) -> Result<Option<u32>, IndexError> {
        let mut counts: HashMap<u32, u32> = HashMap::new();
        let mut sorted = keys.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        self.view.find(PostingList::Bands, &sorted, |_, other| {
            if counts.len() < MOST_COUNTED || counts.contains_key(&other) {
                *counts.entry(other).or_default() += 1;
            }
        })?;
        for key in &sorted {
            if let Some(other) = self.added.insert(*key, number) {
                *counts.entry(other).or_default() += 1;
            }
        }
        let best = counts.into_iter().map(|(other, count)| (count, other)).max();
        Ok(best.map(|(_, other)| other))
    }
}
