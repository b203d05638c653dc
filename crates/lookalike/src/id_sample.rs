//! Simple random samples by the hashes of ids. The smallest hashes are drawn, so a sample does not
//! depend on the order of the documents, on threads or on files.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The values with the smallest hashes so far, up to a maximum number. Values with the same hash
/// are ordered by their keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IdSample<K, V> {
    most: usize,
    drawn: BTreeMap<(u64, K), V>,
    /// The largest hash that can be drawn.
    limit: u64,
}

impl<K: Ord, V> IdSample<K, V> {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, drawn: BTreeMap::new(), limit: if most == 0 { 0 } else { u64::MAX } }
    }

    /// Whether a value with this hash may be among the smallest.
    pub(crate) fn wants(&self, hash: u64) -> bool {
        hash <= self.limit
    }

    /// Adds a value. Replaces a value with the same hash and key if the new one `precedes` it.
    pub(crate) fn insert(
        &mut self,
        hash: u64,
        key: K,
        value: V,
        precedes: impl Fn(&V, &V) -> bool,
    ) {
        match self.drawn.entry((hash, key)) {
            Entry::Vacant(entry) => {
                entry.insert(value);
            }
            Entry::Occupied(mut entry) => {
                if precedes(&value, entry.get()) {
                    entry.insert(value);
                }
            }
        }
        if self.drawn.len() > self.most {
            self.drawn.pop_last();
        }
        if self.is_full()
            && let Some(((hash, _), _)) = self.drawn.last_key_value()
        {
            self.limit = *hash;
        }
    }

    /// Adds the values of another sample.
    pub(crate) fn merge(&mut self, other: Self, precedes: impl Fn(&V, &V) -> bool) {
        for ((hash, key), value) in other.drawn {
            self.insert(hash, key, value, &precedes);
        }
    }

    /// Whether the sample has the requested number of values.
    pub(crate) fn is_full(&self) -> bool {
        self.drawn.len() >= self.most
    }

    /// Hashes and keys, in the order of the hashes.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (u64, &K)> {
        self.drawn.keys().map(|(hash, key)| (*hash, key))
    }

    /// Keys and values, in the order of the hashes.
    pub(crate) fn into_values(self) -> impl Iterator<Item = (K, V)> {
        self.drawn.into_iter().map(|((_, key), value)| (key, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_keeps_the_smallest_hashes() {
        let hashes: Vec<u64> = (0..50).map(|n| n * 7_919 % 101).collect();
        let mut whole = IdSample::new(10);
        let mut parts = [IdSample::new(10), IdSample::new(10)];
        for (n, hash) in hashes.iter().rev().enumerate() {
            whole.insert(*hash, hash.to_string(), n, |_, _| false);
            parts[n % 2].insert(*hash, hash.to_string(), n, |_, _| false);
        }
        let [mut merged, other] = parts;
        merged.merge(other, |_, _| false);
        let mut least = hashes;
        least.sort_unstable();
        assert!(whole.is_full() && whole.wants(least[9]) && !whole.wants(least[10]));
        let keys = |sample: IdSample<String, usize>| sample.into_values().map(|(key, _)| key);
        let expected: Vec<String> = least[..10].iter().map(u64::to_string).collect();
        assert_eq!(keys(whole).collect::<Vec<_>>(), expected);
        assert_eq!(keys(merged).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn sample_keeps_preceding_value_per_key() {
        let mut sample = IdSample::new(5);
        for value in [3, 1, 2] {
            sample.insert(9, "a", value, |new, old| new < old);
        }
        sample.insert(9, "b", 7, |new, old| new < old);
        assert_eq!(sample.into_values().collect::<Vec<_>>(), [("a", 1), ("b", 7)]);
        let empty = IdSample::<u8, u8>::new(0);
        assert!(empty.is_full() && !empty.wants(1));
    }
}
