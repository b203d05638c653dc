//! The three permutation schemes of datasketch, and values in the types that they store.

use parking_lot::Mutex;
use std::sync::Arc;

use crate::allocation::{self, AllocationError};
use crate::instruction_set::InstructionSet;
use crate::loops::{self, MERSENNE};
use crate::mersenne_twister::MersenneTwister;

/// The permutation of token hashes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PermutationScheme {
    /// `a·h + b` mod 2³², the default since 2.0.0.
    Affine32,
    /// `a·h + b` mod 2⁶⁴.
    Affine64,
    /// The scheme of versions before 2.0.0.
    Legacy,
}

impl PermutationScheme {
    /// Returns the scheme called `name`, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "affine32" => Some(Self::Affine32),
            "affine64" => Some(Self::Affine64),
            "legacy" => Some(Self::Legacy),
            _ => None,
        }
    }

    /// The name of the scheme.
    pub fn name(self) -> &'static str {
        match self {
            Self::Affine32 => "affine32",
            Self::Affine64 => "affine64",
            Self::Legacy => "legacy",
        }
    }

    /// The value of a set without elements, the greatest possible value.
    pub fn empty(self) -> u64 {
        if self == Self::Affine64 { u64::MAX } else { u64::from(u32::MAX) }
    }

    /// Returns the `length` values of a set without elements.
    ///
    /// # Errors
    /// If the system has no memory for them.
    pub fn empty_values(self, length: usize) -> Result<HashValues, AllocationError> {
        Ok(match self {
            Self::Affine32 => HashValues::Narrow(allocation::filled(u32::MAX, length)?),
            _ => HashValues::Wide(allocation::filled(self.empty(), length)?),
        })
    }
}

/// Hash values, or parameters of permutations, in the type that a scheme stores.
#[derive(PartialEq, Eq, Debug)]
pub enum HashValues {
    /// Values of `affine32`.
    Narrow(Vec<u32>),
    /// Values of the other two schemes.
    Wide(Vec<u64>),
}

impl HashValues {
    /// Converts the bytes of a little-endian array to values.
    pub fn from_bytes(scheme: PermutationScheme, bytes: &[u8]) -> Self {
        if scheme == PermutationScheme::Affine32 {
            let words = bytes.as_chunks::<4>().0.iter();
            return Self::Narrow(words.map(|word| u32::from_le_bytes(*word)).collect());
        }
        let words = bytes.as_chunks::<8>().0.iter();
        Self::Wide(words.map(|word| u64::from_le_bytes(*word)).collect())
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::Narrow(values) => values.len(),
            Self::Wide(values) => values.len(),
        }
    }

    /// Returns true if the number of values is 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The size of an array of the values in bytes.
    pub fn size(&self) -> usize {
        self.len() * if matches!(self, Self::Narrow(_)) { 4 } else { 8 }
    }

    /// Copies the values.
    ///
    /// # Errors
    /// If the system has no memory for the copy.
    pub fn copied(&self) -> Result<Self, AllocationError> {
        fn copied<T: Copy>(values: &[T]) -> Result<Vec<T>, AllocationError> {
            let mut copy = allocation::with_capacity(values.len())?;
            copy.extend_from_slice(values);
            Ok(copy)
        }
        Ok(match self {
            Self::Narrow(values) => Self::Narrow(copied(values)?),
            Self::Wide(values) => Self::Wide(copied(values)?),
        })
    }

    /// Writes the values to a little-endian array of [`size`](Self::size) bytes.
    pub fn write_to(&self, bytes: &mut [u8]) {
        match self {
            Self::Narrow(values) => {
                for (four, value) in bytes.as_chunks_mut().0.iter_mut().zip(values) {
                    *four = value.to_le_bytes();
                }
            }
            Self::Wide(values) => {
                for (eight, value) in bytes.as_chunks_mut().0.iter_mut().zip(values) {
                    *eight = value.to_le_bytes();
                }
            }
        }
    }

    /// Appends the values as little-endian bytes.
    ///
    /// # Errors
    /// If the system has no memory for them.
    pub fn append_to(&self, bytes: &mut Vec<u8>) -> Result<(), AllocationError> {
        allocation::reserve(bytes, self.size())?;
        let start = bytes.len();
        bytes.resize(start + self.size(), 0);
        self.write_to(&mut bytes[start..]);
        Ok(())
    }

    /// Appends the values as big-endian bytes, the form of bucket keys.
    pub fn append_swapped(&self, bytes: &mut Vec<u8>) {
        bytes.reserve(self.len() * 8);
        match self {
            Self::Narrow(values) => {
                for value in values {
                    bytes.extend_from_slice(&value.to_be_bytes());
                }
            }
            Self::Wide(values) => {
                for value in values {
                    bytes.extend_from_slice(&value.to_be_bytes());
                }
            }
        }
    }

    /// The number of values that are equal at the same place. 0 if the widths differ, because the
    /// values belong to different schemes.
    pub fn equal_to(&self, other: &Self) -> usize {
        match (self, other) {
            (Self::Narrow(one), Self::Narrow(two)) => equal(one, two),
            (Self::Wide(one), Self::Wide(two)) => equal(one, two),
            (Self::Narrow(_), Self::Wide(_)) | (Self::Wide(_), Self::Narrow(_)) => 0,
        }
    }

    /// Lowers each value to the value of `other` if that is smaller. Does nothing if the widths
    /// differ, because the values belong to different schemes.
    pub fn lower_to(&mut self, other: &Self) {
        match (self, other) {
            (Self::Narrow(one), Self::Narrow(two)) => {
                loops::least32(InstructionSet::best(), one, two);
            }
            (Self::Wide(one), Self::Wide(two)) => {
                one.iter_mut().zip(two).for_each(|(least, &value)| *least = (*least).min(value));
            }
            (Self::Narrow(_), Self::Wide(_)) | (Self::Wide(_), Self::Narrow(_)) => {}
        }
    }

    /// Converts the values to 64-bit numbers.
    pub fn to_wide(&self) -> Vec<u64> {
        match self {
            Self::Narrow(values) => values.iter().copied().map(u64::from).collect(),
            Self::Wide(values) => values.clone(),
        }
    }
}

fn equal<T: PartialEq>(one: &[T], two: &[T]) -> usize {
    one.iter().zip(two).filter(|(a, b)| a == b).count()
}

/// The parameters of permutations.
#[derive(PartialEq, Eq, Debug)]
pub struct Permutations {
    /// The factors.
    pub a: HashValues,
    /// The summands.
    pub b: HashValues,
}

/// Scheme, seed and number of permutations.
type Drawing = (PermutationScheme, u32, usize);

/// The permutations drawn last. Drawing them takes longer than sketching a small set.
static DRAW_CACHE: Mutex<Vec<(Drawing, Arc<Permutations>)>> = Mutex::new(Vec::new());
/// Maximum number of entries of the cache.
const CACHE_ENTRIES: usize = 8;
/// Maximum number of permutations of an entry.
const LONGEST_CACHED: usize = 1 << 16;

impl Permutations {
    /// The permutations that `RandomState(seed)` draws, shared by all callers.
    ///
    /// # Errors
    /// If the system has no memory for them.
    pub fn drawn(
        scheme: PermutationScheme,
        seed: u32,
        length: usize,
    ) -> Result<Arc<Self>, AllocationError> {
        let mut drawn = DRAW_CACHE.lock();
        let drawing = (scheme, seed, length);
        if let Some((_, known)) = drawn.iter().find(|(known, _)| *known == drawing) {
            return Ok(Arc::clone(known));
        }
        let permutations = Arc::new(Self::draw(scheme, seed, length)?);
        if length > LONGEST_CACHED {
            return Ok(permutations);
        }
        if drawn.len() == CACHE_ENTRIES {
            drawn.remove(0);
        }
        drawn.push((drawing, Arc::clone(&permutations)));
        Ok(permutations)
    }

    fn draw(scheme: PermutationScheme, seed: u32, length: usize) -> Result<Self, AllocationError> {
        let mut twister = MersenneTwister::new(seed);
        if scheme == PermutationScheme::Affine32 {
            let mut a = allocation::with_capacity(length)?;
            let mut b = allocation::with_capacity(length)?;
            a.extend((0..length).map(|_| twister.next32() << 1 | 1));
            b.extend((0..length).map(|_| twister.next32()));
            return Ok(Self { a: HashValues::Narrow(a), b: HashValues::Narrow(b) });
        }
        let mut a = allocation::with_capacity(length)?;
        let mut b = allocation::with_capacity(length)?;
        if scheme == PermutationScheme::Affine64 {
            a.extend((0..length).map(|_| twister.next64() << 1 | 1));
            b.extend((0..length).map(|_| twister.next64()));
        } else {
            for _ in 0..length {
                a.push(twister.at_most(MERSENNE - 2) + 1);
                b.push(twister.at_most(MERSENNE - 1));
            }
        }
        Ok(Self { a: HashValues::Wide(a), b: HashValues::Wide(b) })
    }

    /// Applies each permutation to all `hashes`, and lowers its value in `minima` to the least
    /// result. `affine32` uses the low halves of the hashes.
    pub fn lower(
        &self,
        instructions: InstructionSet,
        scheme: PermutationScheme,
        hashes: &mut [u64],
        minima: &mut HashValues,
    ) {
        match (&self.a, &self.b, minima) {
            (HashValues::Narrow(a), HashValues::Narrow(b), HashValues::Narrow(minima)) => {
                let mut narrow = [0; 256];
                for hashes in hashes.chunks(narrow.len()) {
                    let narrow = &mut narrow[..hashes.len()];
                    narrow.iter_mut().zip(hashes).for_each(|(low, &hash)| *low = hash as u32);
                    loops::affine32(instructions, a, b, narrow, minima);
                }
            }
            (HashValues::Wide(a), HashValues::Wide(b), HashValues::Wide(minima)) => {
                if scheme == PermutationScheme::Affine64 {
                    loops::affine64(instructions, a, b, hashes, minima);
                } else {
                    loops::legacy(instructions, a, b, hashes, minima);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token_hasher::TokenHasher;
    use proptest::prelude::*;

    const SCHEMES: [PermutationScheme; 3] =
        [PermutationScheme::Affine32, PermutationScheme::Affine64, PermutationScheme::Legacy];

    fn lowered(
        instructions: InstructionSet,
        scheme: PermutationScheme,
        permutations: &Permutations,
        hashes: &[u64],
    ) -> Vec<u64> {
        let mut values = scheme.empty_values(permutations.a.len()).unwrap();
        permutations.lower(instructions, scheme, &mut hashes.to_vec(), &mut values);
        values.to_wide()
    }

    /// The formulas of the three schemes, one value at a time.
    fn naive(scheme: PermutationScheme, permutations: &Permutations, hashes: &[u64]) -> Vec<u64> {
        let mixed = |hash: u64| {
            let mut h = hash as u32;
            h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
            h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
            u64::from(h ^ (h >> 16))
        };
        let mixed64 = |mut h: u64| {
            h = (h ^ (h >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
            h = (h ^ (h >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
            h ^ (h >> 33)
        };
        let parameters = permutations.a.to_wide().into_iter().zip(permutations.b.to_wide());
        let value = |a: u64, b: u64, hash: u64| match scheme {
            PermutationScheme::Affine32 => {
                a.wrapping_mul(mixed(hash)).wrapping_add(b) & 0xffff_ffff
            }
            PermutationScheme::Affine64 => a.wrapping_mul(mixed64(hash)).wrapping_add(b),
            PermutationScheme::Legacy => {
                (a.wrapping_mul(hash).wrapping_add(b) % MERSENNE) & 0xffff_ffff
            }
        };
        let least = |(a, b)| hashes.iter().map(|&hash| value(a, b, hash)).min();
        parameters.map(|pair| least(pair).unwrap_or(scheme.empty())).collect()
    }

    #[test]
    fn scheme_values_match_datasketch() {
        // `MinHash(4, seed=1, scheme=scheme)` of datasketch 2.0.0 after `update_batch`.
        let known: [[u64; 4]; 3] = [
            [744_955_142, 114_300_300, 179_868_246, 387_055_626],
            [
                11_689_735_817_024_345_789,
                4_527_649_122_192_915_298,
                8_408_466_306_346_216_920,
                10_333_938_392_092_296_719,
            ],
            [297_616_339, 2_208_329_207, 55_835_420, 1_974_455_217],
        ];
        for (scheme, known) in SCHEMES.into_iter().zip(known) {
            let is_wide = scheme == PermutationScheme::Affine64;
            let hasher = if is_wide { TokenHasher::Sha64 } else { TokenHasher::Sha32 };
            let mut hashes = Vec::new();
            hasher.hash_all(&[b"a", b"bc", b"def"], &mut hashes);
            let permutations = Permutations::drawn(scheme, 1, 4).unwrap();
            let values = lowered(InstructionSet::best(), scheme, &permutations, &hashes);
            assert_eq!(values, known, "{}", scheme.name());
            assert_eq!(PermutationScheme::named(scheme.name()), Some(scheme));
        }
        assert_eq!(PermutationScheme::named("affine16"), None);
    }

    #[test]
    fn products_near_prime_multiples_are_reduced() {
        let scheme = PermutationScheme::Legacy;
        let permutations = Permutations::drawn(scheme, 7, 17).unwrap();
        let (a, b) = (permutations.a.to_wide(), permutations.b.to_wide());
        for k in (0..17).filter(|&k| a[k] & 1 == 1) {
            // The inverse of an odd number modulo 2⁶⁴, by Newton's iteration.
            let inverse =
                (0..6).fold(a[k], |x, _| x.wrapping_mul(2_u64.wrapping_sub(a[k].wrapping_mul(x))));
            for (multiple, near) in (0..9).flat_map(|m| (0..17_u64).map(move |near| (m, near))) {
                let product = MERSENNE.wrapping_mul(multiple).wrapping_add(near).wrapping_sub(8);
                let hash = product.wrapping_sub(b[k]).wrapping_mul(inverse);
                let hashes = [vec![5; 300], vec![hash]].concat();
                for hashes in [&hashes, &hashes[300..]] {
                    let expected = naive(scheme, &permutations, hashes);
                    for instructions in InstructionSet::available() {
                        let values = lowered(instructions, scheme, &permutations, hashes);
                        assert_eq!(values, expected, "{}", instructions.name());
                    }
                }
            }
        }
    }

    #[test]
    fn values_come_back_from_their_bytes() {
        for scheme in SCHEMES {
            let values = lowered(
                InstructionSet::best(),
                scheme,
                &Permutations::drawn(scheme, 3, 9).unwrap(),
                &[1, 2, 3],
            );
            let stored = match scheme {
                PermutationScheme::Affine32 => {
                    HashValues::Narrow(values.iter().map(|&value| value as u32).collect())
                }
                _ => HashValues::Wide(values),
            };
            let (mut bytes, mut swapped) = (Vec::new(), Vec::new());
            stored.append_to(&mut bytes).unwrap();
            stored.append_swapped(&mut swapped);
            assert_eq!(HashValues::from_bytes(scheme, &bytes), stored);
            let width = bytes.len() / 9;
            bytes.chunks_mut(width).for_each(<[u8]>::reverse);
            assert_eq!(bytes, swapped);
            assert_eq!(stored.equal_to(&stored.copied().unwrap()), 9);
        }
    }

    proptest! {
        #[test]
        fn instruction_sets_match_naive_values(
            hashes in prop::collection::vec(any::<u64>(), 0..600),
            is_narrow: bool,
            length in 1_usize..70,
            seed: u32,
        ) {
            let mask = if is_narrow { u64::from(u32::MAX) } else { u64::MAX };
            let hashes: Vec<u64> = hashes.into_iter().map(|hash| hash & mask).collect();
            for scheme in SCHEMES {
                let permutations = Permutations::drawn(scheme, seed, length).unwrap();
                let expected = naive(scheme, &permutations, &hashes);
                for instructions in InstructionSet::available() {
                    let values = lowered(instructions, scheme, &permutations, &hashes);
                    let name = instructions.name();
                    prop_assert_eq!(&values, &expected, "{} {}", scheme.name(), name);
                }
            }
        }
    }
}
