//! Planted excerpts: runs of 20 to 120 words of documents outside the clusters, every second one
//! edited. Takes the number of an excerpt, returns its words and the places of the excerpt and its
//! host.

use crate::corpus::Corpus;
use crate::vocabulary::Token;
use std::path::{Path, PathBuf};

/// A host has at least this many times the words of its excerpt. Their Jaccard similarity is then
/// too low for the truth of near-duplicates.
const TIMES: usize = 4;
/// Words of an excerpt.
const WORDS: std::ops::Range<u64> = 20..121;
/// One word in this many is edited, in every second excerpt.
const EDITED: usize = 33;
/// Documents that are tried as hosts. If none is long enough, the longest is used.
const TRIED: u64 = 16;
/// The `kind` for [`Corpus::random`].
const KIND: u64 = 10;

/// The path of the truth of the excerpts, next to the truth of near-duplicates.
pub(crate) fn file(truth: &Path) -> PathBuf {
    truth.with_extension("excerpts.csv")
}

impl Corpus {
    /// The words of excerpt `number`.
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

    /// The places of excerpt `number` and of its host.
    pub(crate) fn excerpt_and_host(&self, number: u64) -> (u64, u64) {
        let [.., excerpts, _] = self.ends();
        (self.place(excerpts + number), self.place(self.host(number)))
    }

    /// Returns the plan's number of the host of excerpt `number`. Each excerpt has its own stretch
    /// of the single documents. Its host is the first document there that is long enough for any
    /// excerpt.
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
