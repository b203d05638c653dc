//! Minima of the classic families. Only functions modulo a prime need intrinsics: their portable
//! loop is not vectorized if the program is optimised as a whole.

use crate::kernel::buffers::HashParameters;
use crate::kernel::portable;
use std::arch::x86_64::*;

/// # Safety
/// [`has_avx2`](super::has_avx2).
#[target_feature(enable = "avx2")]
pub(in crate::kernel) unsafe fn classic_avx2(
    parameters: &HashParameters,
    shingles: &[u32],
    out: &mut [u32],
) {
    portable::classic_by(parameters, shingles, out, |factors, addends, shingles| {
        least_sums_avx2(factors, addends, shingles)
    });
}

/// # Safety
/// [`has_avx512`](super::has_avx512).
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(in crate::kernel) unsafe fn classic_avx512(
    parameters: &HashParameters,
    shingles: &[u32],
    out: &mut [u32],
) {
    portable::classic_by(parameters, shingles, out, |factors, addends, shingles| {
        least_sums_avx512(factors, addends, shingles)
    });
}

/// Computes two registers of four functions. All factors, their upper halves, addends and minima
/// fit in the registers.
#[target_feature(enable = "avx2")]
fn least_sums_avx2(factors: &[u64; 8], addends: &[u64; 8], shingles: &[u32]) -> [i64; 8] {
    // SAFETY: four of eight numbers each.
    let load =
        |from: &[u64; 8], g: usize| unsafe { _mm256_loadu_si256(from.as_ptr().add(4 * g).cast()) };
    let factor: [__m256i; 2] = std::array::from_fn(|g| load(factors, g));
    let upper = factor.map(|factor| _mm256_srli_epi64::<32>(factor));
    let addend: [__m256i; 2] = std::array::from_fn(|g| load(addends, g));
    let mut least = [_mm256_set1_epi64x(i64::MAX); 2];
    for &x in shingles {
        let x = _mm256_set1_epi64x(i64::from(x));
        for (g, least) in least.iter_mut().enumerate() {
            let cross = _mm256_slli_epi64::<32>(_mm256_mul_epu32(upper[g], x));
            let low = _mm256_add_epi64(_mm256_mul_epu32(factor[g], x), addend[g]);
            let sum = _mm256_add_epi64(low, cross);
            *least = _mm256_blendv_epi8(*least, sum, _mm256_cmpgt_epi64(*least, sum));
        }
    }
    let mut sums = [0; 8];
    for (g, least) in least.into_iter().enumerate() {
        // SAFETY: four of eight numbers.
        unsafe { _mm256_storeu_si256(sums.as_mut_ptr().add(4 * g).cast(), least) };
    }
    sums
}

/// Four registers of eight functions.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn least_sums_avx512(factors: &[u64; 32], addends: &[u64; 32], shingles: &[u32]) -> [i64; 32] {
    // SAFETY: eight of 32 numbers each.
    let load =
        |from: &[u64; 32], g: usize| unsafe { _mm512_loadu_si512(from.as_ptr().add(8 * g).cast()) };
    let factor: [__m512i; 4] = std::array::from_fn(|g| load(factors, g));
    let addend: [__m512i; 4] = std::array::from_fn(|g| load(addends, g));
    let mut least = [_mm512_set1_epi64(i64::MAX); 4];
    for &x in shingles {
        let x = _mm512_set1_epi64(i64::from(x));
        for (g, least) in least.iter_mut().enumerate() {
            let sum = _mm512_add_epi64(_mm512_mullo_epi64(factor[g], x), addend[g]);
            *least = _mm512_min_epi64(*least, sum);
        }
    }
    let mut sums = [0; 32];
    for (g, least) in least.into_iter().enumerate() {
        // SAFETY: eight of 32 numbers.
        unsafe { _mm512_storeu_si512(sums.as_mut_ptr().add(8 * g).cast(), least) };
    }
    sums
}
