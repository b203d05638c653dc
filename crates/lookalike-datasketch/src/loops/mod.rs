//! The loops over permutations of hash values.
//!
//! Each loop is written once in plain Rust and compiled once for each instruction set, so that all
//! variants return the same bits. 64-bit products, which AVX2 lacks, are in `avx2_products`.
//!
//! Measured as in `avx2_products`: `affine32` takes 30 ns a token compiled for AVX2, and 58 ns in
//! portable code.
#![expect(unsafe_code, reason = "instructions that not every processor has are called")]
#![expect(clippy::inline_always, reason = "loops are compiled with the caller's target features")]

#[cfg(target_arch = "x86_64")]
mod avx2_products;

use crate::instruction_set::{InstructionSet, Vectors};

/// Number of permutations whose parameters and minima stay in registers while hashes are read.
const BLOCK32: usize = 32;
/// Like [`BLOCK32`], for 64-bit values.
const BLOCK64: usize = 8;
/// 2⁶¹ − 1, the prime of the scheme `legacy`.
pub(crate) const MERSENNE: u64 = (1 << 61) - 1;

/// Declares a loop that is compiled for each instruction set, and the choice between the variants.
/// AVX2 and AVX-512 may have their own bodies.
macro_rules! dispatched {
    ($(#[$doc:meta])* $name:ident = $body:ident ($($arg:ident: $type:ty),*)) => {
        dispatched! { $(#[$doc])* $name = $body or $body ($($arg: $type),*) }
    };
    ($(#[$doc:meta])* $name:ident = $body:ident or $avx2:ident ($($arg:ident: $type:ty),*)) => {
        dispatched! { $(#[$doc])* $name = $body or $avx2 or $body ($($arg: $type),*) }
    };
    ($(#[$doc:meta])* $name:ident = $body:ident or $avx2:ident or $avx512:ident
        ($($arg:ident: $type:ty),*)) => {
        $(#[$doc])*
        pub fn $name(instructions: InstructionSet, $($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn avx2($($arg: $type),*) {
                $avx2($($arg),*);
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512dq")]
            fn avx512($($arg: $type),*) {
                $avx512($($arg),*);
            }
            match instructions.vectors {
                Vectors::Portable => $body($($arg),*),
                #[cfg(target_arch = "x86_64")]
                // SAFETY: an `InstructionSet` proves that the processor has these instructions.
                Vectors::Avx2 => unsafe { avx2($($arg),*) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: as above.
                Vectors::Avx512 => unsafe { avx512($($arg),*) },
                #[cfg(not(target_arch = "x86_64"))]
                _ => $body($($arg),*),
            }
        }
    };
}

dispatched! {
    /// Lowers `minima[k]` to the least `a[k]·h + b[k]` mod 2³² of `hashes`, which are mixed before.
    affine32 = affine32_body(a: &[u32], b: &[u32], hashes: &mut [u32], minima: &mut [u32])
}
dispatched! {
    /// Lowers `minima[k]` to the least `a[k]·h + b[k]` mod 2⁶⁴ of `hashes`, which are mixed before.
    affine64 = affine64_body or affine64_avx2
        (a: &[u64], b: &[u64], hashes: &mut [u64], minima: &mut [u64])
}
dispatched! {
    /// Lowers `minima[k]` to the least `((a[k]·h + b[k]) mod 2⁶⁴) mod (2⁶¹ − 1) mod 2³²`. 32-bit
    /// products are faster than 64-bit products even on processors with both: 17 and 27 ns a token,
    /// measured as above.
    legacy = legacy_body or legacy_avx2 or legacy_avx2
        (a: &[u64], b: &[u64], hashes: &[u64], minima: &mut [u64])
}
dispatched! {
    /// Lowers each of `minima` to the value in `others` if that is smaller.
    least32 = least_body(minima: &mut [u32], others: &[u32])
}
dispatched! {
    /// Computes a sample of consistent weighted sampling, see [`WeightSample`].
    sample = sample_body(sample: &mut WeightSample<'_>)
}

#[inline(always)]
fn affine32_body(a: &[u32], b: &[u32], hashes: &mut [u32], minima: &mut [u32]) {
    for hash in &mut *hashes {
        *hash = mix32(*hash);
    }
    let hashes: &[u32] = hashes;
    let mut a = a.chunks_exact(BLOCK32);
    let mut b = b.chunks_exact(BLOCK32);
    let mut least = minima.chunks_exact_mut(BLOCK32);
    for ((a, b), least) in (&mut a).zip(&mut b).zip(&mut least) {
        let (mut at, mut bt, mut lt) = ([0; BLOCK32], [0; BLOCK32], [0; BLOCK32]);
        at.copy_from_slice(a);
        bt.copy_from_slice(b);
        lt.copy_from_slice(least);
        for &hash in hashes {
            for k in 0..BLOCK32 {
                lt[k] = lt[k].min(at[k].wrapping_mul(hash).wrapping_add(bt[k]));
            }
        }
        least.copy_from_slice(&lt);
    }
    let rest = a.remainder().iter().zip(b.remainder());
    for ((&a, &b), least) in rest.zip(least.into_remainder()) {
        for &hash in hashes {
            *least = (*least).min(a.wrapping_mul(hash).wrapping_add(b));
        }
    }
}

#[inline(always)]
fn affine64_body(a: &[u64], b: &[u64], hashes: &mut [u64], minima: &mut [u64]) {
    for hash in &mut *hashes {
        *hash = mix64(*hash);
    }
    affine64_mixed(a, b, hashes, minima);
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn affine64_avx2(a: &[u64], b: &[u64], hashes: &mut [u64], minima: &mut [u64]) {
    for hash in &mut *hashes {
        *hash = mix64(*hash);
    }
    let processed = avx2_products::affine(a, b, hashes, minima);
    affine64_mixed(&a[processed..], &b[processed..], hashes, &mut minima[processed..]);
}

#[inline(always)]
fn affine64_mixed(a: &[u64], b: &[u64], hashes: &[u64], minima: &mut [u64]) {
    // Adding this number to unsigned values maps them to signed numbers in the same order.
    const BIAS: u64 = 1 << 63;
    blocks64::<BIAS>(a, b, hashes, minima, |a, b, hash| a.wrapping_mul(hash).wrapping_add(b));
}

#[inline(always)]
fn legacy_body(a: &[u64], b: &[u64], hashes: &[u64], minima: &mut [u64]) {
    if hashes.iter().all(|&hash| u32::try_from(hash).is_ok()) {
        // With a 32-bit factor, a part of the product can be omitted.
        blocks64::<0>(a, b, hashes, minima, |a, b, hash| legacy_value(a, b, hash & 0xffff_ffff));
    } else {
        blocks64::<0>(a, b, hashes, minima, legacy_value);
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn legacy_avx2(a: &[u64], b: &[u64], hashes: &[u64], minima: &mut [u64]) {
    let processed = avx2_products::legacy(a, b, hashes, minima, legacy_body);
    legacy_body(&a[processed..], &b[processed..], hashes, &mut minima[processed..]);
}

#[inline(always)]
fn legacy_value(a: u64, b: u64, hash: u64) -> u64 {
    let product = a.wrapping_mul(hash).wrapping_add(b);
    let folded = (product & MERSENNE) + (product >> 61);
    // Subtract the prime if the sum is not below it. In the low 32 bits, this adds one.
    (folded + ((folded + 1) >> 61)) & 0xffff_ffff
}

/// Lowers minima to the least values. Compares values as signed numbers, which AVX2 supports.
/// `BIAS` is added to each summand and to the minima, so that the signed numbers have the order of
/// the unsigned ones.
#[inline(always)]
fn blocks64<const BIAS: u64>(
    a: &[u64],
    b: &[u64],
    hashes: &[u64],
    minima: &mut [u64],
    value: impl Fn(u64, u64, u64) -> u64 + Copy,
) {
    let mut a = a.chunks_exact(BLOCK64);
    let mut b = b.chunks_exact(BLOCK64);
    let mut least = minima.chunks_exact_mut(BLOCK64);
    if hashes.is_empty() {
        return;
    }
    for ((a, b), least) in (&mut a).zip(&mut b).zip(&mut least) {
        let (mut at, mut bt, mut lt) = ([0; BLOCK64], [0; BLOCK64], [0; BLOCK64]);
        at.copy_from_slice(a);
        for k in 0..BLOCK64 {
            bt[k] = b[k].wrapping_add(BIAS);
            // Without a bias, every value is below 2³², so minima above `i64::MAX` can be lowered
            // to it.
            let most = if BIAS == 0 { i64::MAX.cast_unsigned() } else { u64::MAX };
            lt[k] = least[k].min(most).wrapping_add(BIAS).cast_signed();
        }
        for &hash in hashes {
            for k in 0..BLOCK64 {
                lt[k] = lt[k].min(value(at[k], bt[k], hash).cast_signed());
            }
        }
        for k in 0..BLOCK64 {
            least[k] = lt[k].cast_unsigned().wrapping_sub(BIAS);
        }
    }
    let rest = a.remainder().iter().zip(b.remainder());
    for ((&a, &b), least) in rest.zip(least.into_remainder()) {
        for &hash in hashes {
            *least = (*least).min(value(a, b, hash));
        }
    }
}

#[inline(always)]
fn least_body(minima: &mut [u32], others: &[u32]) {
    for (least, &other) in minima.iter_mut().zip(others) {
        *least = (*least).min(other);
    }
}

/// The finalizer of `MurmurHash3` for 32 bits.
#[inline(always)]
fn mix32(mut hash: u32) -> u32 {
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

/// The finalizer of `MurmurHash3` for 64 bits.
#[inline(always)]
fn mix64(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

/// A sample of a vector of weights. `levels` and `ln_as` receive `t` and `ln a` of each dimension.
pub struct WeightSample<'a> {
    /// Logarithms of the weights; NaN for a missing weight.
    pub logs: &'a [f32],
    /// The rates, one for each of `logs`.
    pub rates: &'a [f32],
    /// The betas, one for each of `logs`.
    pub betas: &'a [f32],
    /// The logarithms of c, one for each of `logs`.
    pub ln_cs: &'a [f32],
    /// Whether the rate is subtracted within the product, as `minhash_many` of datasketch does.
    pub is_many: bool,
    /// Output: the quantised logarithms.
    pub levels: &'a mut [f32],
    /// Output: the values whose minimum is the sample.
    pub ln_as: &'a mut [f32],
}

#[inline(always)]
fn sample_body(sample: &mut WeightSample<'_>) {
    let length = sample.logs.len();
    let (logs, rates) = (&sample.logs[..length], &sample.rates[..length]);
    let (betas, ln_cs) = (&sample.betas[..length], &sample.ln_cs[..length]);
    let (levels, ln_as) = (&mut sample.levels[..length], &mut sample.ln_as[..length]);
    for k in 0..length {
        levels[k] = (logs[k] / rates[k] + betas[k]).floor();
        ln_as[k] = if sample.is_many {
            ln_cs[k] - (levels[k] - betas[k] + 1.0) * rates[k]
        } else {
            ln_cs[k] - (levels[k] - betas[k]) * rates[k] - rates[k]
        };
    }
}
