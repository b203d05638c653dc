//! Permutations with 64-bit products by AVX2, which has no instruction for such products. Eight
//! products are computed in two vectors: one for the lower halves of the values, one for the upper
//! halves.
//!
//! Only the product of the lower halves has 64 bits. Products with an upper half only contribute to
//! the upper half: `a·h mod 2⁶⁴ = a₀·h₀ + 2³²·(a₁·h₀ + a₀·h₁)`. One instruction computes eight of
//! the products with an upper half; with 64-bit numbers in a vector, two instructions would be
//! necessary. Two groups of eight permutations share the values that depend on the hash alone. More
//! groups do not fit into the registers.
//!
//! No library has these permutations. datasketch computes them with `NumPy` and takes 1,500 to
//! 2,900 ns a token in all (`docs/guides/datasketch.md`). Measured with 128 values, the least of 40
//! rounds on two shared cores (`cargo run --release --package lookalike-datasketch --example
//! instruction_sets`, November 2026): `affine64` takes 109 ns a token with these products and 201
//! ns in portable code; `legacy` takes 77 and 250 ns.
#![expect(unsafe_code, reason = "vectors are loaded from arrays and stored to them")]

use std::arch::x86_64::{
    __m256i, _mm256_add_epi32, _mm256_add_epi64, _mm256_and_si256, _mm256_castps_si256,
    _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_loadu_si256, _mm256_max_epu32,
    _mm256_min_epu32, _mm256_mul_epu32, _mm256_mullo_epi32, _mm256_set1_epi32,
    _mm256_setzero_si256, _mm256_shuffle_ps, _mm256_slli_epi32, _mm256_srli_epi32,
    _mm256_storeu_si256, _mm256_unpackhi_epi32, _mm256_unpacklo_epi32,
};
use std::array::from_fn;

/// Number of permutations that are computed together: [`GROUPS`] times eight.
pub(super) const BLOCK: usize = 8 * GROUPS;
const GROUPS: usize = 2;
/// Number of hashes that are split into halves at a time.
const HASHES: usize = 256;

/// Eight numbers for each group.
type Numbers = [[u64; 8]; GROUPS];

/// Eight numbers, split into halves. Both vectors have the order 0, 1, 4, 5, 2, 3, 6, 7, which
/// results from instructions that work within 128 bits.
#[derive(Clone, Copy)]
struct Halves {
    lower: __m256i,
    upper: __m256i,
}

impl Halves {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn of([one, two]: [__m256i; 2]) -> Self {
        let (one, two) = (_mm256_castsi256_ps(one), _mm256_castsi256_ps(two));
        Self {
            lower: _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(one, two)),
            upper: _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(one, two)),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(numbers: &[u64; 8]) -> Self {
        Self::of(load(numbers))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn numbers(self) -> [u64; 8] {
        let mut numbers = [0; 8];
        let (quarters, _) = numbers.as_chunks_mut::<4>();
        let joined = [
            _mm256_unpacklo_epi32(self.lower, self.upper),
            _mm256_unpackhi_epi32(self.lower, self.upper),
        ];
        for (quarter, joined) in quarters.iter_mut().zip(joined) {
            // SAFETY: both have 256 bits; the store needs no alignment.
            unsafe { _mm256_storeu_si256(quarter.as_mut_ptr().cast(), joined) };
        }
        numbers
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(numbers: &[u64; 8]) -> [__m256i; 2] {
    let (quarters, _) = numbers.as_chunks::<4>();
    // SAFETY: both have 256 bits; the loads need no alignment.
    [0, 1].map(|at| unsafe { _mm256_loadu_si256(quarters[at].as_ptr().cast()) })
}

/// Eight permutations `a·h + b mod 2⁶⁴`.
struct PermutationVector {
    factors: [__m256i; 2],
    parts: Halves,
    summands: [__m256i; 2],
}

impl PermutationVector {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(a: &[u64; 8], b: &[u64; 8]) -> Self {
        Self { factors: load(a), parts: Halves::load(a), summands: load(b) }
    }

    /// Computes the values of a hash whose lower half fills `low` and whose upper half fills
    /// `high`. `high` is all zeros if the hash `IS_NARROW`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn values<const IS_NARROW: bool>(&self, low: __m256i, high: __m256i) -> Halves {
        let products = [0, 1].map(|at| {
            let product = _mm256_mul_epu32(self.factors[at], low);
            _mm256_add_epi64(product, self.summands[at])
        });
        let mut added = _mm256_mullo_epi32(self.parts.upper, low);
        if !IS_NARROW {
            added = _mm256_add_epi32(added, _mm256_mullo_epi32(self.parts.lower, high));
        }
        let values = Halves::of(products);
        Halves { upper: _mm256_add_epi32(values.upper, added), ..values }
    }
}

/// Calls `work` with the lower and the upper halves of `hashes`, some at a time.
#[inline]
fn in_halves(hashes: &[u64], mut work: impl FnMut(&[u32], &[u32])) {
    let (mut lows, mut highs) = ([0; HASHES], [0; HASHES]);
    for hashes in hashes.chunks(HASHES) {
        for ((low, high), &hash) in lows.iter_mut().zip(&mut highs).zip(hashes) {
            (*low, *high) = (hash as u32, (hash >> 32) as u32);
        }
        work(&lows[..hashes.len()], &highs[..hashes.len()]);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn filled(number: u32) -> __m256i {
    _mm256_set1_epi32(number.cast_signed())
}

/// The blocks of `numbers`, and the number of permutations in them.
fn blocks(numbers: &[u64]) -> (&[Numbers], usize) {
    let groups = numbers.as_chunks::<8>().0;
    let blocks = groups.as_chunks::<GROUPS>().0;
    (blocks, blocks.len() * BLOCK)
}

/// The mutable blocks of `numbers`.
fn blocks_mut(numbers: &mut [u64]) -> &mut [Numbers] {
    numbers.as_chunks_mut::<8>().0.as_chunks_mut::<GROUPS>().0
}

/// Lowers `minima[k]` to the least `a[k]·h + b[k]` mod 2⁶⁴ of `hashes`, for all whole blocks of
/// permutations. Returns the number of these permutations.
#[target_feature(enable = "avx2")]
pub(super) fn affine(a: &[u64], b: &[u64], hashes: &[u64], minima: &mut [u64]) -> usize {
    let (factors, processed) = blocks(a);
    in_halves(hashes, |lows, highs| {
        let least = blocks_mut(minima).iter_mut();
        for ((a, b), least) in factors.iter().zip(blocks(b).0).zip(least) {
            lower_affine(a, b, lows, highs, least);
        }
    });
    processed
}

#[target_feature(enable = "avx2")]
fn lower_affine(a: &Numbers, b: &Numbers, lows: &[u32], highs: &[u32], minima: &mut Numbers) {
    // The least value is the complement of the greatest complement. The complement of a·h + b is
    // −a·h + !b.
    let permutations: [_; GROUPS] = from_fn(|group| {
        let complements = b[group].map(|summand| !summand);
        PermutationVector::new(&a[group].map(u64::wrapping_neg), &complements)
    });
    let mut most: [_; GROUPS] = from_fn(|group| Halves::load(&minima[group].map(|least| !least)));
    for (&low, &high) in lows.iter().zip(highs) {
        let (low, high) = (filled(low), filled(high));
        for (permutations, most) in permutations.iter().zip(&mut most) {
            let values = permutations.values::<false>(low, high);
            let upper = _mm256_max_epu32(most.upper, values.upper);
            // Keep the lower half that belongs to the greater upper half. If the upper halves are
            // equal, keep the greater lower half.
            let old = _mm256_and_si256(most.lower, _mm256_cmpeq_epi32(most.upper, upper));
            let new = _mm256_and_si256(values.lower, _mm256_cmpeq_epi32(values.upper, upper));
            *most = Halves { lower: _mm256_max_epu32(old, new), upper };
        }
    }
    *minima = most.map(|most| most.numbers().map(|most| !most));
}

/// Lowers `minima[k]` to the least `((a[k]·h + b[k]) mod 2⁶⁴) mod (2⁶¹ − 1) mod 2³²` of `hashes`,
/// for all whole blocks of permutations. Returns the number of these permutations. If a value may
/// be wrong, which is the case for one value in 2²⁹, `plain` computes the block for the hashes of
/// this step instead.
#[target_feature(enable = "avx2")]
pub(super) fn legacy(
    a: &[u64],
    b: &[u64],
    hashes: &[u64],
    minima: &mut [u64],
    plain: impl Fn(&[u64], &[u64], &[u64], &mut [u64]),
) -> usize {
    let (factors, processed) = blocks(a);
    let mut start = 0;
    in_halves(hashes, |lows, highs| {
        let hashes = &hashes[start..start + lows.len()];
        start += lows.len();
        let is_narrow = highs.iter().all(|&high| high == 0);
        let least = blocks_mut(minima).iter_mut();
        for ((a, b), least) in factors.iter().zip(blocks(b).0).zip(least) {
            let is_right = if is_narrow {
                lower_legacy::<true>(a, b, lows, highs, least)
            } else {
                lower_legacy::<false>(a, b, lows, highs, least)
            };
            if !is_right {
                plain(a.as_flattened(), b.as_flattened(), hashes, least.as_flattened_mut());
            }
        }
    });
    processed
}

/// Returns `false` and changes nothing if a value may be wrong.
#[target_feature(enable = "avx2")]
fn lower_legacy<const IS_NARROW: bool>(
    a: &Numbers,
    b: &Numbers,
    lows: &[u32],
    highs: &[u32],
    minima: &mut Numbers,
) -> bool {
    let permutations: [_; GROUPS] = from_fn(|group| PermutationVector::new(&a[group], &b[group]));
    // Every value is below 2³², so a minimum above that can be lowered to `u32::MAX`.
    let bounded = minima.map(|eight| eight.map(|least| least.min(u64::from(u32::MAX))));
    let mut least = bounded.map(|eight| Halves::load(&eight).lower);
    let zero = _mm256_setzero_si256();
    let mut most = zero;
    for (&low, &high) in lows.iter().zip(highs) {
        let (low, high) = (filled(low), filled(high));
        for (permutations, least) in permutations.iter().zip(&mut least) {
            let values = permutations.values::<IS_NARROW>(low, high);
            // 2⁶¹ is 1 modulo the prime: the upper three bits are added to the other 61.
            let folded = _mm256_add_epi32(values.lower, _mm256_srli_epi32::<29>(values.upper));
            *least = _mm256_min_epu32(*least, folded);
            // The sum can reach the prime only if the upper 29 of the 61 bits are all set.
            most = _mm256_max_epu32(most, _mm256_slli_epi32::<3>(values.upper));
        }
    }
    let most = Halves { lower: most, upper: zero };
    if most.numbers().contains(&u64::from(u32::MAX << 3)) {
        return false;
    }
    *minima = least.map(|lower| Halves { lower, upper: zero }.numbers());
    true
}
