//! Finds blocks that two texts contain at different places, among the words in which they differ.

use std::collections::HashMap;
use std::ops::Range;

/// The minimum number of words of a block.
pub const MIN_MOVED_WORDS: usize = 8;
/// The maximum number of places in the second text that are examined for a block of the first.
const MOST_PLACES: usize = 16;

/// A part of the first text that the second contains at another place. Ranges are in words or in
/// bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedBlock {
    /// The range in the first text.
    pub a: Range<usize>,
    /// The range in the second text.
    pub b: Range<usize>,
}

/// Returns the blocks of at least [`MIN_MOVED_WORDS`] words that are in `changed` parts of both
/// texts, in the order of the first text. Blocks do not overlap in either text. From its first
/// word, a block is as long as possible. If the second text contains the first words of a block at
/// several places, the first 16 are examined and the longest block is chosen. Equal words have
/// equal numbers in `a` and `b`. Takes O(n) time for n changed words.
pub(crate) fn moved_blocks(a: &[u32], b: &[u32], changed: &[[Range<usize>; 2]]) -> Vec<MovedBlock> {
    let mut places: HashMap<&[u32], Vec<Range<usize>>> = HashMap::new();
    for [_, run] in changed {
        for (offset, window) in b[run.clone()].windows(MIN_MOVED_WORDS).enumerate() {
            let list = places.entry(window).or_default();
            if list.len() < MOST_PLACES {
                list.push(run.start + offset..run.end);
            }
        }
    }
    let mut moved: Vec<MovedBlock> = Vec::new();
    let mut is_taken = vec![false; b.len()];
    for [run, _] in changed.iter().filter(|_| !places.is_empty()) {
        let mut at = run.start;
        while at + MIN_MOVED_WORDS <= run.end {
            let list = places.get(&a[at..at + MIN_MOVED_WORDS]).map_or(&[][..], Vec::as_slice);
            let free = list.iter().map(|place| {
                let pairs = a[at..run.end].iter().zip(place.clone());
                let same = pairs.take_while(|(word, to)| **word == b[*to] && !is_taken[*to]);
                (same.count(), place.start)
            });
            // Among blocks of equal length, choose the first place.
            let best = free.max_by(|(m, p), (n, q)| m.cmp(n).then(q.cmp(p)));
            match best.filter(|(length, _)| *length >= MIN_MOVED_WORDS) {
                Some((length, to)) => {
                    is_taken[to..to + length].fill(true);
                    moved.push(MovedBlock { a: at..at + length, b: to..to + length });
                    at += length;
                }
                None => at += 1,
            }
        }
    }
    moved
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "ranges of words")]
mod tests {
    use super::*;

    fn moved(a: &[u32], b: &[u32]) -> Vec<(Range<usize>, Range<usize>)> {
        let whole = [[0..a.len(), 0..b.len()]];
        moved_blocks(a, b, &whole).into_iter().map(|block| (block.a, block.b)).collect()
    }

    #[test]
    fn moved_blocks_are_maximal() {
        let block: Vec<u32> = (0..12).collect();
        let a = [&[90, 91][..], &block, &[92]].concat();
        let b = [&block[..], &[80, 81, 82]].concat();
        assert_eq!(moved(&a, &b), [(2..14, 0..12)]);
        assert_eq!(moved(&a[..9], &b), [], "seven words are too few");
    }

    #[test]
    fn moved_blocks_never_share_words() {
        let block: Vec<u32> = (0..8).collect();
        let twice = [&block[..], &[70], &block].concat();
        assert_eq!(moved(&twice, &block), [(0..8, 0..8)]);
        assert_eq!(moved(&block, &twice), [(0..8, 0..8)]);
        assert_eq!(moved(&twice, &twice), [(0..17, 0..17)]);
        // The place with the longer block is chosen.
        let longer: Vec<u32> = (0..10).collect();
        let b = [&block[..], &[70], &longer].concat();
        assert_eq!(moved(&longer, &b), [(0..10, 9..19)]);
    }

    #[test]
    fn moved_blocks_end_at_part_boundaries() {
        let words: Vec<u32> = (0..20).collect();
        let parts = [[0..10, 0..0], [10..20, 0..20]];
        let blocks = moved_blocks(&words, &words, &parts);
        let blocks: Vec<_> = blocks.into_iter().map(|block| (block.a, block.b)).collect();
        assert_eq!(blocks, [(0..10, 0..10), (10..20, 10..20)]);
    }

    #[test]
    fn large_repeated_texts_are_compared() {
        let same = vec![7; 200_000];
        assert_eq!(moved(&same, &same), [(0..200_000, 0..200_000)]);
        let [a, b] = [[1, 2, 3], [1, 2, 4]].map(|three| three.repeat(50_000));
        assert_eq!(moved(&a, &b), []);
    }
}
