//! Winnowing: selects a few positions of a document by the tokens around them, so that equal runs
//! select equal positions (Schleimer, Wilkerson, Aiken, *Winnowing: Local Algorithms for Document
//! Fingerprinting*, SIGMOD 2003, section 3).
//!
//! The anchor of a run of `n` tokens is its window of `k` tokens with the least hash, or the first
//! of several such windows. Every run has an anchor, which depends only on the tokens of the run.
//! Neighbouring runs mostly share their anchor: one position in (n − k + 2) / 2 is an anchor.

use crate::hash::mix64;

/// Finds the anchor of every run of `n` tokens.
#[derive(Debug, Clone)]
pub struct AnchorFinder {
    /// The number of tokens of a window.
    window: usize,
    /// The number of windows of a run.
    per_run: usize,
    hashes: Vec<u64>,
}

/// The anchor of consecutive runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    /// The hash of the tokens of the window.
    pub hash: u64,
    /// Position of the first run that has this anchor.
    pub first_run: usize,
    /// The number of consecutive runs with this anchor.
    pub runs: usize,
}

impl AnchorFinder {
    /// Creates a finder for runs of `length` tokens (1 or more). A window has half as many.
    pub fn new(length: usize) -> Self {
        let window = length.div_ceil(2).max(1);
        let per_run = length.max(1) - window + 1;
        Self { window, per_run, hashes: Vec::new() }
    }

    /// Passes the anchors of a document to `take`, in ascending order of their runs. Every run has
    /// exactly one. There are none if the document has fewer tokens than a run. Takes O(tokens)
    /// time for texts whose windows differ, and at most O(tokens · n) comparisons.
    ///
    /// ```
    /// use lookalike_core::passage::anchors::AnchorFinder;
    ///
    /// let (mut first, mut second) = (Vec::new(), Vec::new());
    /// let mut finder = AnchorFinder::new(4);
    /// finder.find(&[1, 2, 3, 4], |anchor| first.push(anchor.hash));
    /// finder.find(&[9, 1, 2, 3, 4, 7], |anchor| second.push(anchor.hash));
    /// assert!(second.contains(&first[0]));
    /// ```
    pub fn find(&mut self, tokens: &[u64], mut take: impl FnMut(Anchor)) {
        self.hash_windows(tokens);
        let hashes = &self.hashes;
        let mut anchor: Option<(usize, Anchor)> = None;
        for first_run in 0..(hashes.len() + 1).saturating_sub(self.per_run) {
            let last = first_run + self.per_run - 1;
            let at = match anchor {
                // The first of equal windows is the anchor, so a later equal one does not replace
                // it.
                Some((at, found)) if at >= first_run && hashes[last] >= found.hash => at,
                Some((at, _)) if at >= first_run => last,
                _ => first_least(&hashes[first_run..=last]) + first_run,
            };
            match &mut anchor {
                Some((old, found)) if *old == at => found.runs += 1,
                _ => {
                    let next = Anchor { hash: hashes[at], first_run, runs: 1 };
                    if let Some((_, found)) = anchor.replace((at, next)) {
                        take(found);
                    }
                }
            }
        }
        if let Some((_, found)) = anchor {
            take(found);
        }
    }

    /// Hashes all windows with cyclic polynomials (Cohen, *Recursive hashing functions for
    /// n-grams*, 1997), four times as fast as a polynomial modulo a prime. On periodic texts they
    /// have more collisions, which cost time but change no result.
    fn hash_windows(&mut self, tokens: &[u64]) {
        self.hashes.clear();
        let Some((first, rest)) = tokens.split_at_checked(self.window) else { return };
        let mut hash = first.iter().fold(0_u64, |hash, token| hash.rotate_left(1) ^ token);
        self.hashes.reserve(rest.len() + 1);
        self.hashes.push(mix64(hash));
        let turns = self.window as u32 % u64::BITS;
        self.hashes.extend(tokens.iter().zip(rest).map(|(old, new)| {
            hash = hash.rotate_left(1) ^ old.rotate_left(turns) ^ new;
            mix64(hash)
        }));
    }
}

/// Index of the first minimum; 0 without hashes.
fn first_least(hashes: &[u64]) -> usize {
    let mut least = 0;
    for (at, hash) in hashes.iter().enumerate() {
        if *hash < hashes[least] {
            least = at;
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn anchors(tokens: &[u64], length: usize) -> Vec<Anchor> {
        let mut anchors = Vec::new();
        AnchorFinder::new(length).find(tokens, |anchor| anchors.push(anchor));
        anchors
    }

    proptest! {
        #[test]
        fn anchors_depend_on_run_tokens_only(
            tokens in prop::collection::vec(0_u64..3, 0..60),
            length in 1_usize..12,
        ) {
            let mut run = 0;
            for anchor in anchors(&tokens, length) {
                prop_assert_eq!(anchor.first_run, run);
                for at in run..run + anchor.runs {
                    let run_anchors = anchors(&tokens[at..at + length], length);
                    prop_assert_eq!(run_anchors.len(), 1);
                    prop_assert_eq!(run_anchors[0].hash, anchor.hash);
                }
                run += anchor.runs;
            }
            prop_assert_eq!(run, (tokens.len() + 1).saturating_sub(length));
        }

        #[test]
        fn equal_runs_have_different_anchors(
            tokens in prop::collection::vec(0_u64..2, 0..60),
            length in 1_usize..12,
        ) {
            // Otherwise a run that overlaps an equal run would be found only once.
            let mut anchor_of = Vec::new();
            for (number, anchor) in anchors(&tokens, length).iter().enumerate() {
                anchor_of.extend(std::iter::repeat_n(number, anchor.runs));
            }
            let run = |at: usize| &tokens[at..at + length];
            for i in 0..anchor_of.len() {
                for j in i + 1..anchor_of.len() {
                    prop_assert!(run(i) != run(j) || anchor_of[i] != anchor_of[j]);
                }
            }
        }
    }

    #[test]
    fn few_positions_are_anchors() {
        let tokens: Vec<u64> = (0..100_000).map(crate::hash::mix64).collect();
        let found = anchors(&tokens, 50).len() as f64;
        let expected = 100_000.0 * 2.0 / 27.0;
        assert!((found / expected - 1.0).abs() < 0.02, "{found}, expected {expected}");
    }
}
