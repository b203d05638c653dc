//! Approximate counts of shingles in the documents of many tasks. Counters of the same size can be
//! added up.

use std::fmt;

/// The first bytes of encoded counters.
pub const COUNTERS_VERSION: [u8; 4] = *b"lkc1";

/// Counters for the upper halves of shingles' hashes. All shingles of a slot are counted together.
/// The counts affect the cost of [`KeyCollector::screening`](super::KeyCollector::screening), never
/// the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RarityCounters {
    slots: Vec<u32>,
}

impl RarityCounters {
    /// Creates `2^log2_slots` counters. The exponent is clamped to 1 to 28.
    pub fn new(log2_slots: u32) -> Self {
        Self { slots: vec![0; 1 << log2_slots.clamp(1, 28)] }
    }

    /// Counts the shingles of a document. Counters saturate.
    pub fn add(&mut self, hashes: &[u32]) {
        for hash in hashes {
            let slot = self.slot(*hash);
            self.slots[slot] = self.slots[slot].saturating_add(1);
        }
    }

    /// Returns the count of a shingle, including all shingles in the same slot.
    pub fn get(&self, hash: u32) -> u32 {
        self.slots[self.slot(hash)]
    }

    fn slot(&self, hash: u32) -> usize {
        let product = u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15) as u32;
        product as usize & (self.slots.len() - 1)
    }

    /// Adds other counters.
    ///
    /// # Errors
    /// [`CountersError::Sizes`] if the numbers of counters differ.
    pub fn merge(&mut self, other: &Self) -> Result<(), CountersError> {
        if self.slots.len() != other.slots.len() {
            let [expected, got] = [self.slots.len(), other.slots.len()];
            return Err(CountersError::Sizes { expected, got });
        }
        for (sum, count) in self.slots.iter_mut().zip(&other.slots) {
            *sum = sum.saturating_add(*count);
        }
        Ok(())
    }

    /// Encodes the counters: `lkc1` and the counters, little-endian.
    pub fn encode(&self) -> Vec<u8> {
        let counts = self.slots.iter().flat_map(|count| count.to_le_bytes());
        COUNTERS_VERSION.into_iter().chain(counts).collect()
    }

    /// Decodes counters.
    ///
    /// # Errors
    /// If the bytes are not an output of [`encode`](Self::encode) in this version.
    pub fn decode(bytes: &[u8]) -> Result<Self, CountersError> {
        let (version, counts) =
            bytes.split_first_chunk().ok_or(CountersError::Length { got: bytes.len() })?;
        if *version != COUNTERS_VERSION {
            return Err(CountersError::Version { got: *version });
        }
        let (counts, rest) = counts.as_chunks::<4>();
        if !rest.is_empty() || counts.len() < 2 || !counts.len().is_power_of_two() {
            return Err(CountersError::Length { got: bytes.len() });
        }
        Ok(Self { slots: counts.iter().map(|count| u32::from_le_bytes(*count)).collect() })
    }
}

/// Bytes that are not counters, or counters that cannot be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountersError {
    /// The bytes are not counters, or are counters of another version.
    Version {
        /// The first bytes.
        got: [u8; 4],
    },
    /// The length does not fit counters, whose number is a power of two.
    Length {
        /// The number of bytes.
        got: usize,
    },
    /// Two tasks have different numbers of counters.
    Sizes {
        /// Counters of the first task.
        expected: usize,
        /// Counters of the other task.
        got: usize,
    },
}

impl fmt::Display for CountersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { got } => write!(
                f,
                "the counters begin with {got:?}, expected {COUNTERS_VERSION:?}: they are of \
                 another version of lookalike, or not of its stage count; run all stages with \
                 one version"
            ),
            Self::Length { got } => write!(
                f,
                "the counters have {got} bytes, expected 4 and 4 for each of a power of two: they \
                 were cut short; run the stage count again"
            ),
            Self::Sizes { expected, got } => write!(
                f,
                "a task has {got} counters, expected {expected}; run the stage count with one \
                 size in all tasks"
            ),
        }
    }
}

impl std::error::Error for CountersError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_tasks_add_up() {
        let (mut whole, mut left, mut right) =
            (RarityCounters::new(8), RarityCounters::new(8), RarityCounters::new(8));
        let hashes: Vec<u32> = (0..900).map(|i| i * i).collect();
        whole.add(&hashes);
        left.add(&hashes[..400]);
        right.add(&hashes[400..]);
        left.merge(&right).unwrap();
        assert_eq!(left, whole);
        assert!(hashes.iter().all(|hash| whole.get(*hash) >= 1));
        let sizes = CountersError::Sizes { expected: 256, got: 512 };
        assert_eq!(left.merge(&RarityCounters::new(9)), Err(sizes));
    }

    #[test]
    fn counters_stay_at_the_greatest_number() {
        let mut counters = RarityCounters { slots: vec![u32::MAX; 2] };
        counters.add(&[1]);
        counters.merge(&counters.clone()).unwrap();
        assert_eq!(counters.get(1), u32::MAX);
    }

    #[test]
    fn rarity_counters_round_trip() {
        let mut counters = RarityCounters::new(2);
        counters.add(&[1, 2, 3]);
        let bytes = counters.encode();
        assert_eq!((bytes.len(), &bytes[..4]), (20, &b"lkc1"[..]));
        assert_eq!(RarityCounters::decode(&bytes), Ok(counters));
        for length in 0..bytes.len() {
            let cut = RarityCounters::decode(&bytes[..length]);
            assert!(cut.is_err() || length == 12, "{length}");
        }
        let mut other = bytes;
        other[3] = b'2';
        let version = CountersError::Version { got: *b"lkc2" };
        assert_eq!(RarityCounters::decode(&other), Err(version));
    }
}
