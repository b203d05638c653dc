//! A suffix array of several sequences, with the longest common prefixes of neighbours.
//!
//! Sorting doubles the compared length in each round and skips ranges that are already sorted
//! (Larsson, Sadakane, *Faster suffix sorting*, 2007). The computation of prefixes follows Kasai,
//! Lee, Arimura, Arikawa, Park, *Linear-Time Longest-Common-Prefix Computation in Suffix Arrays*,
//! 2001. Libraries sort the bytes of one text. Here, the input is several short sequences of
//! numbers, because runs were joined to unitigs before.
//!
//! No crate has been compared. `cargo x bench passages` measures the whole search;
//! `bench/others.md` compares it with suffix arrays of whole collections (November 2026).

use std::ops::Range;

/// Symbols in several sequences, concatenated.
pub trait Sequences {
    /// The number of symbols, below 2³².
    fn len(&self) -> usize;
    /// Returns true if the sequences have no symbol.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The symbol at a place.
    fn symbol(&self, at: usize) -> u32;
    /// Returns true if the sequence has another symbol after the one at `at`.
    fn continues(&self, at: usize) -> bool;
}

/// The suffixes of all sequences in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SuffixOrder {
    /// The starts of the suffixes, in ascending order of their symbols. Equal suffixes are ordered
    /// by their place.
    pub places: Vec<u32>,
    /// The number of symbols that each suffix shares with the previous one; 0 for the first.
    pub common: Vec<u32>,
}

impl SuffixOrder {
    /// Sorts the suffixes. Takes O(n · log n · log m) time for n symbols if sequences share at most
    /// m symbols in a row, and 24 bytes of memory per symbol.
    ///
    /// ```
    /// use lookalike_core::passage::suffix_order::{Sequences, SuffixOrder};
    ///
    /// struct Text(&'static [u8]);
    /// impl Sequences for Text {
    ///     fn len(&self) -> usize { self.0.len() }
    ///     fn symbol(&self, at: usize) -> u32 { u32::from(self.0[at]) }
    ///     fn continues(&self, at: usize) -> bool { at + 1 < self.0.len() }
    /// }
    /// let order = SuffixOrder::new(&Text(b"banana"));
    /// assert_eq!(order.places, [5, 3, 1, 0, 4, 2]);
    /// assert_eq!(order.common, [0, 1, 3, 0, 0, 2]);
    /// ```
    pub fn new(sequences: &impl Sequences) -> Self {
        let lengths = lengths(sequences);
        let places = sorted(sequences, &lengths);
        let common = common(sequences, &lengths, &places);
        Self { places, common }
    }
}

/// The number of symbols of each suffix.
fn lengths(sequences: &impl Sequences) -> Vec<u32> {
    let mut lengths = vec![1_u32; sequences.len()];
    for at in (0..lengths.len().saturating_sub(1)).rev() {
        if sequences.continues(at) {
            lengths[at] = lengths[at + 1] + 1;
        }
    }
    lengths
}

/// Sorts the places by their suffixes.
fn sorted(sequences: &impl Sequences, lengths: &[u32]) -> Vec<u32> {
    let n = lengths.len();
    let mut sorter = SuffixSorter {
        places: (0..n as u32).collect(),
        ranks: vec![0; n],
        keys: (0..n).map(|at| sequences.symbol(at).saturating_add(1)).collect(),
    };
    let all_places = 0..n;
    let mut unsorted = vec![all_places];
    let mut length = 0_u32;
    while !unsorted.is_empty() {
        let mut next = Vec::new();
        for range in unsorted {
            sorter.sort(range, &mut next);
        }
        unsorted = next;
        length = (2 * length).max(1);
        // A round uses the ranks of the previous round: set all keys before sorting any range.
        for range in &unsorted {
            sorter.set_keys(range.clone(), lengths, length);
        }
    }
    sorter.places
}

/// Places, sorted by their symbols up to the compared length.
struct SuffixSorter {
    places: Vec<u32>,
    /// For each place, the index of the last place that is equal so far.
    ranks: Vec<u32>,
    /// The keys of the next round; 0 for a suffix without more symbols.
    keys: Vec<u32>,
}

impl SuffixSorter {
    /// Sorts places that are equal so far, and appends the ranges that are still equal to
    /// `unsorted`.
    fn sort(&mut self, range: Range<usize>, unsorted: &mut Vec<Range<usize>>) {
        let keys = &self.keys;
        let places = &mut self.places[range.clone()];
        places.sort_unstable_by_key(|place| (keys[*place as usize], *place));
        let mut start = 0;
        while start < places.len() {
            let key = keys[places[start] as usize];
            let equal = places[start..].iter().take_while(|at| keys[**at as usize] == key);
            let end = start + equal.count();
            for &place in &places[start..end] {
                self.ranks[place as usize] = (range.start + end - 1) as u32;
            }
            // Suffixes without more symbols are equal, and already in the order of their places.
            if end - start > 1 && key > 0 {
                unsorted.push(range.start + start..range.start + end);
            }
            start = end;
        }
    }

    /// For places that are equal in their first `length` symbols, sets the keys to the ranks of the
    /// places after these symbols.
    fn set_keys(&mut self, range: Range<usize>, lengths: &[u32], length: u32) {
        for &place in &self.places[range] {
            let has_more = lengths[place as usize] > length;
            let next_place = place as usize + length as usize;
            self.keys[place as usize] = if has_more { self.ranks[next_place] + 1 } else { 0 };
        }
    }
}

/// The number of symbols that each place in the order shares with the previous one.
fn common(sequences: &impl Sequences, lengths: &[u32], places: &[u32]) -> Vec<u32> {
    let mut index_of = vec![0_u32; places.len()];
    for (index, &place) in places.iter().enumerate() {
        index_of[place as usize] = index as u32;
    }
    let mut common = vec![0_u32; places.len()];
    let mut shared = 0;
    for at in 0..places.len() {
        let index = index_of[at] as usize;
        let before = index.checked_sub(1).map(|index| places[index] as usize);
        shared = before.map_or(0, |before| {
            let most = lengths[at].min(lengths[before]) as usize;
            let agrees = |i: &usize| sequences.symbol(at + i) == sequences.symbol(before + i);
            (shared..most).take_while(agrees).count() + shared.min(most)
        });
        common[index] = shared as u32;
        // The next suffix lacks the first shared symbol. Nothing is known about a suffix of another
        // sequence.
        shared = if lengths[at] > 1 { shared.saturating_sub(1) } else { 0 };
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Concatenated texts.
    struct Texts(Vec<Vec<u32>>);

    impl Texts {
        fn find(&self, mut at: usize) -> (usize, usize) {
            let mut text = 0;
            while at >= self.0[text].len() {
                at -= self.0[text].len();
                text += 1;
            }
            (text, at)
        }

        fn end(&self, at: usize) -> &[u32] {
            let (text, at) = self.find(at);
            &self.0[text][at..]
        }
    }

    impl Sequences for Texts {
        fn len(&self) -> usize {
            self.0.iter().map(Vec::len).sum()
        }

        fn symbol(&self, at: usize) -> u32 {
            self.end(at)[0]
        }

        fn continues(&self, at: usize) -> bool {
            self.end(at).len() > 1
        }
    }

    proptest! {
        #[test]
        fn suffix_order_equals_naive_sort(
            texts in prop::collection::vec(prop::collection::vec(0_u32..3, 1..20), 0..6),
        ) {
            let texts = Texts(texts);
            let mut expected: Vec<u32> = (0..texts.len() as u32).collect();
            expected.sort_by_key(|place| (texts.end(*place as usize), *place));
            let order = SuffixOrder::new(&texts);
            prop_assert_eq!(&order.places, &expected);
            for (pair, common) in expected.windows(2).zip(order.common.iter().skip(1)) {
                let (a, b) = (texts.end(pair[0] as usize), texts.end(pair[1] as usize));
                let shared = a.iter().zip(b).take_while(|(a, b)| a == b).count();
                prop_assert_eq!(*common as usize, shared);
            }
        }
    }

    #[test]
    fn million_equal_symbols_are_ordered() {
        struct Same(usize);
        impl Sequences for Same {
            fn len(&self) -> usize {
                self.0
            }
            fn symbol(&self, _: usize) -> u32 {
                7
            }
            fn continues(&self, at: usize) -> bool {
                at + 1 < self.0
            }
        }
        let order = SuffixOrder::new(&Same(1_000_000));
        assert!(order.places.iter().rev().copied().eq(0..1_000_000));
        assert!(order.common.iter().copied().eq(0..1_000_000));
    }
}
