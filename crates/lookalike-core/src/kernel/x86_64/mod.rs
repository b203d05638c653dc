//! x86-64: AVX2, and AVX-512 with byte compression (Ice Lake, Zen 4 and later).
//!
//! Results of measurements on a Zen 4 and a Zen 5 core:
//!
//! * If two 32-bit byte masks are joined to 64 bits, LLVM merges them into one wide comparison, and
//!   then takes it apart lane by lane (1.85 → 0.80 GB/s). An opaque `vpmovmskb` prevents this.
//! * Token bounds of 16 bits need one 32-bit load per token. `vpcompressb` writes all bounds of 64
//!   bytes of text in about ten instructions; extracting set bits one by one takes a dependent step
//!   for each bit.
//!
//! The crate `wide` has no byte compression, and `std::simd` is not stable; neither has been
//! compared. `cargo x bench stages` measures each stage, `lookalike find FILE --kernel avx2` a run
//! with one kernel (`bench/scale.md`).
#![allow(clippy::wildcard_imports, reason = "intrinsics are named as the manuals name them")]
#![allow(clippy::cast_possible_wrap, reason = "intrinsics take bit patterns as signed numbers")]

mod chars;
mod classic;
mod intersect;
mod scan;
mod sketch;
mod sort;

pub(super) use chars::{push_bytes_avx512, push_chars_avx512};
pub(super) use classic::{classic_avx2, classic_avx512};
pub(super) use intersect::{
    count_equal_avx2, count_equal_avx512, count_equal_rows_avx2, count_equal_rows_avx512,
    intersect_avx2, intersect_avx512,
};
pub(super) use scan::{collapse_avx2, collapse_avx512, scan_avx2, scan_avx512};
pub(super) use sketch::{sketch_avx2, sketch_avx512};
pub(super) use sort::{sort_avx2, sort_avx512, sort_set_avx512};

use super::buffers::ShingleBuffer;
use crate::hash;
use std::arch::x86_64::*;

pub(super) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("lzcnt")
}

pub(super) fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
}

/// Maximum number of shingles computed side by side: four registers of eight.
const BLOCK: usize = 32;

/// Returns pointers to the next `count` upper halves and whole hashes in `out`. The second pointer
/// is null if whole hashes are not kept. Checks that blocks which begin below `count` can be read
/// and written.
fn checked_places(
    tokens: &[u64],
    count: usize,
    size: usize,
    out: &mut ShingleBuffer,
) -> (*mut u32, *mut u64) {
    assert!(tokens.len() >= count + size - 1 + BLOCK, "token buffers are padded");
    let upper = out.upper[out.len..][..count + BLOCK].as_mut_ptr();
    let full_hashes = if out.has_full_hashes {
        out.full_hashes[out.len..][..count + BLOCK].as_mut_ptr()
    } else {
        std::ptr::null_mut()
    };
    (upper, full_hashes)
}

/// Like [`combine_avx512`], with four registers of four. The loop of `portable` is not vectorized
/// if the program is optimised as a whole.
///
/// # Safety
/// [`has_avx2`].
#[target_feature(enable = "avx2")]
pub(super) unsafe fn combine_avx2(
    tokens: &[u64],
    count: usize,
    size: usize,
    out: &mut ShingleBuffer,
) {
    let (upper, full_hashes) = checked_places(tokens, count, size, out);
    let odd = _mm256_setr_epi32(1, 3, 5, 7, 1, 3, 5, 7);
    let mut sum = _mm256_setzero_si256();
    let mut products = _mm256_setzero_si256();
    let mut at = 0;
    while at < count {
        // SAFETY: the last block begins below `count`, so it ends below `count + BLOCK` and reads
        // at most `size − 1` entries further; `checked_places` checked these bounds.
        unsafe {
            let first = tokens.as_ptr().add(at);
            let mut hashes: [__m256i; 4] =
                std::array::from_fn(|q| _mm256_loadu_si256(first.add(4 * q).cast()));
            for j in 1..size {
                for (q, hash) in hashes.iter_mut().enumerate() {
                    let token = _mm256_loadu_si256(first.add(4 * q + j).cast());
                    *hash = _mm256_add_epi64(times::<{ hash::P }>(*hash), token);
                }
            }
            let left = _mm256_set1_epi64x((count - at) as i64);
            for (q, hash) in hashes.iter_mut().enumerate() {
                let mixed = _mm256_xor_si256(*hash, _mm256_srli_epi64::<32>(*hash));
                *hash = times::<{ hash::FINISH }>(mixed);
                let lane = 4 * q as i64;
                let lanes = _mm256_setr_epi64x(lane, lane + 1, lane + 2, lane + 3);
                let used = _mm256_and_si256(*hash, _mm256_cmpgt_epi64(left, lanes));
                sum = _mm256_add_epi64(sum, used);
                let product = _mm256_mul_epu32(used, _mm256_srli_epi64::<32>(used));
                products = _mm256_add_epi64(products, product);
                let high = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(*hash, odd));
                _mm_storeu_si128(upper.add(at + 4 * q).cast(), high);
                if !full_hashes.is_null() {
                    _mm256_storeu_si256(full_hashes.add(at + 4 * q).cast(), *hash);
                }
            }
        }
        at += 16;
    }
    out.len += count;
    for (total, sum) in out.sums.iter_mut().zip([sum, products]) {
        let mut lanes = [0u64; 4];
        // SAFETY: four lanes.
        unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), sum) };
        *total = lanes.iter().fold(*total, |total, lane| total.wrapping_add(*lane));
    }
}

/// The lower 64 bits of the products with `FACTOR`.
#[inline]
#[target_feature(enable = "avx2")]
fn times<const FACTOR: u64>(values: __m256i) -> __m256i {
    let factor = _mm256_set1_epi64x(FACTOR as i64);
    let upper = _mm256_set1_epi64x((FACTOR >> 32) as i64);
    let low = _mm256_mul_epu32(values, factor);
    let cross = _mm256_add_epi64(
        _mm256_mul_epu32(_mm256_srli_epi64::<32>(values), factor),
        _mm256_mul_epu32(values, upper),
    );
    _mm256_add_epi64(low, _mm256_slli_epi64::<32>(cross))
}

/// # Safety
/// [`has_avx512`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) unsafe fn combine_avx512(
    tokens: &[u64],
    count: usize,
    size: usize,
    out: &mut ShingleBuffer,
) {
    let (upper, full_hashes) = checked_places(tokens, count, size, out);
    let (p, finish) = (_mm512_set1_epi64(hash::P as i64), _mm512_set1_epi64(hash::FINISH as i64));
    let (mut sum, mut products) = (_mm512_setzero_si512(), _mm512_setzero_si512());
    let mut at = 0;
    while at < count {
        // SAFETY: the last block begins below `count`, so it ends below `count + BLOCK` and reads
        // at most `size − 1` entries further; `checked_places` checked these bounds.
        unsafe {
            let first = tokens.as_ptr().add(at);
            let mut hashes: [__m512i; 4] =
                std::array::from_fn(|q| _mm512_loadu_si512(first.add(8 * q).cast()));
            for j in 1..size {
                for (q, hash) in hashes.iter_mut().enumerate() {
                    let token = _mm512_loadu_si512(first.add(8 * q + j).cast());
                    *hash = _mm512_add_epi64(_mm512_mullo_epi64(*hash, p), token);
                }
            }
            for (q, hash) in hashes.iter_mut().enumerate() {
                let mixed = _mm512_xor_si512(*hash, _mm512_srli_epi64::<32>(*hash));
                *hash = _mm512_mullo_epi64(mixed, finish);
                let high = _mm512_srli_epi64::<32>(*hash);
                let used = lanes(count - at, 8 * q);
                sum = _mm512_mask_add_epi64(sum, used, sum, *hash);
                products =
                    _mm512_mask_add_epi64(products, used, products, _mm512_mul_epu32(*hash, high));
                _mm256_storeu_si256(upper.add(at + 8 * q).cast(), _mm512_cvtepi64_epi32(high));
                if !full_hashes.is_null() {
                    _mm512_storeu_si512(full_hashes.add(at + 8 * q).cast(), *hash);
                }
            }
        }
        at += BLOCK;
    }
    out.len += count;
    out.sums[0] = out.sums[0].wrapping_add(_mm512_reduce_add_epi64(sum) as u64);
    out.sums[1] = out.sums[1].wrapping_add(_mm512_reduce_add_epi64(products) as u64);
}

/// The mask of eight lanes, numbered from `from` on, with the lanes below `left` set.
#[inline(always)]
fn lanes(left: usize, from: usize) -> u8 {
    match left.saturating_sub(from) {
        0 => 0,
        n if n >= 8 => 0xff,
        n => (1 << n) - 1,
    }
}
