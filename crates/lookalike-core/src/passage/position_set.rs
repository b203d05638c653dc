//! A set of numbers below a limit. Stores one bit per possible number, and can number its members.

/// A set of numbers below a limit.
///
/// ```
/// use lookalike_core::passage::position_set::PositionSet;
///
/// let mut set = PositionSet::new(100);
/// [70, 3, 64].into_iter().for_each(|position| set.insert(position));
/// assert!(set.contains(3) && !set.contains(4));
/// assert_eq!(set.number_members(), 3);
/// assert_eq!([3, 64, 70].map(|position| set.number(position)), [0, 1, 2]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct PositionSet {
    words: Vec<u64>,
    /// The number of members before each word, once they are numbered.
    before: Vec<u32>,
}

impl PositionSet {
    /// Creates an empty set of numbers below `limit`. Takes one bit per possible number, and half a
    /// bit more once members are numbered.
    pub fn new(limit: u64) -> Self {
        let words = usize::try_from(limit.div_ceil(64)).unwrap_or(usize::MAX);
        Self { words: vec![0; words], before: Vec::new() }
    }

    /// Inserts a number. Ignores numbers that are not below the limit. O(1).
    #[inline]
    pub fn insert(&mut self, position: u64) {
        if let Some(word) = self.words.get_mut((position / 64) as usize) {
            *word |= 1 << (position % 64);
        }
    }

    /// Returns true if the number is in the set. O(1).
    #[inline]
    pub fn contains(&self, position: u64) -> bool {
        let word = self.words.get((position / 64) as usize).copied().unwrap_or(0);
        word >> (position % 64) & 1 == 1
    }

    /// Inserts all numbers of another set with the same limit. O(limit).
    pub fn unite(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    /// Numbers the members in ascending order, from 0. Returns their number, at most 2³² − 1.
    /// Members inserted later have no number. O(limit).
    pub fn number_members(&mut self) -> usize {
        let mut count = 0_u32;
        let before = self.words.iter().map(|word| {
            let before = count;
            count = count.saturating_add(word.count_ones());
            before
        });
        self.before = before.collect();
        count as usize
    }

    /// The number of a member. O(1).
    #[inline]
    pub fn number(&self, position: u64) -> u32 {
        let at = (position / 64) as usize;
        let (Some(word), Some(before)) = (self.words.get(at), self.before.get(at)) else {
            return 0;
        };
        before + (word & ((1 << (position % 64)) - 1)).count_ones()
    }
}
