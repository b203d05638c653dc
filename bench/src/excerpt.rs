//! Planted excerpts: runs of 20 to 120 words of documents outside the clusters. Every second
//! excerpt is edited. The document that contains an excerpt is its host.

use crate::corpus::Corpus;
use crate::vocabulary::Token;
use std::path::{Path, PathBuf};

/// A host has at least this many times the words of its excerpt. Their Jaccard similarity is then
/// too low for the truth of near-duplicates.
const TIMES: usize = 4;
/// The number of words of an excerpt.
const WORDS: std::ops::Range<u64> = 20..121;
/// Every second excerpt has one edit for each run of this many words. A shorter run at the end
/// counts.
const EDITED: usize = 33;
/// Maximum number of documents to try as the host. If none is long enough, the
/// longest becomes the host.
const TRIED: u64 = 16;
/// The `kind` for [`Corpus::random`].
const KIND: u64 = 10;

/// Returns the path of the truth of the excerpts, next to the truth of near-duplicates.
pub(crate) fn file(truth: &Path) -> PathBuf {
    truth.with_extension("excerpts.csv")
}

impl Corpus {
    /// Returns the words of excerpt `number`.
    pub(crate) fn excerpt(&self, number: u64) -> Vec<Token> {
        let host = self.single(self.host(number));
        let mut random = self.random(KIND, number, 0);
        let drawn = WORDS.start + random.below(WORDS.end - WORDS.start);
        let length = (drawn as usize).min(host.len() / TIMES);
        let start = random.below((host.len() - length + 1) as u64) as usize;
        let words = &host[start..start + length];
        if number.is_multiple_of(2) {
            return words.to_vec();
        }
        // `replace_words` takes a number of shingles. Each edit replaces as many shingles as a
        // shingle has words.
        let shingles = length.div_ceil(EDITED) * crate::corpus::SHINGLE;
        self.replace_words(&mut random, words, shingles as u64)
    }

    /// Returns the places of excerpt `number` and of its host.
    pub(crate) fn excerpt_and_host(&self, number: u64) -> (u64, u64) {
        let [.., excerpts, _] = self.ends();
        (self.place(excerpts + number), self.place(self.host(number)))
    }

    /// Returns the number in the plan of the host of excerpt `number`. Each excerpt has its own
    /// stretch of the single documents. Its host is the first document there that is long enough
    /// for any excerpt.
    fn host(&self, number: u64) -> u64 {
        let [.., singles] = self.ends();
        let stretch = (self.request().docs - singles) / self.request().excerpts.max(1);
        let first = singles + number * stretch;
        let tried = (first..first + stretch.clamp(1, TRIED)).map(|host| {
            let length = self.single(host).len();
            (length.min(TIMES * WORDS.end as usize), std::cmp::Reverse(host))
        });
        tried.max().map_or(first, |(_, host)| host.0)
    }
}
