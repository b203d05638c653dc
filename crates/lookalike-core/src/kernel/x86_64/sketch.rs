//! Truncated fast similarity sketches of shingle hashes.

use crate::kernel::buffers::HashParameters;
use crate::kernel::portable::{self, FEW};
use crate::kernel::scalar::{self, FALLBACK};
use std::arch::x86_64::*;

/// # Safety
/// [`has_avx2`](super::has_avx2).
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(in crate::kernel) unsafe fn sketch_avx2(
    parameters: &HashParameters,
    shingles: &[u32],
    out: &mut [u32],
) {
    portable::sketch(parameters, shingles, out);
}

/// The longest signature whose set of empty values fits in one register, with one bit per value.
const SKETCH_MAX: usize = 512;

/// Number of shingles that are hashed before their bins are lowered.
const HASHED: usize = 128;

/// Shingles per bin that [`lower_all`] handles, before comparisons with bounds pay off.
const DIRECT: usize = 4;

/// Number of groups of hashes with an upper bound, distinguished by their upper bits.
const GROUPS: usize = 128;

/// The numbers of the odd 16-bit lanes of two registers.
static ODD: [u16; 32] = {
    let mut odd = [0; 32];
    let mut lane = 0;
    while lane < 32 {
        odd[lane] = 2 * lane as u16 + 1;
        lane += 1;
    }
    odd
};

/// # Safety
/// [`has_avx512`](super::has_avx512).
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt"
)]
pub(in crate::kernel) unsafe fn sketch_avx512(
    parameters: &HashParameters,
    shingles: &[u32],
    out: &mut [u32],
) {
    let k = parameters.num_hashes;
    if k > SKETCH_MAX || !k.is_power_of_two() || k < 16 || shingles.is_empty() {
        return portable::sketch(parameters, shingles, out);
    }
    assert!(out.len() >= k && parameters.a.len() >= k && parameters.b.len() >= k);
    out.fill(u32::MAX);
    // SAFETY: the lengths were checked above. Bins of a power of two are the upper bits, below k.
    unsafe {
        first_round(parameters, shingles, out);
        let empty = second_round(parameters, shingles, out);
        if empty.iter().any(|w| *w != 0) {
            fill_empty(parameters, shingles, out, &empty);
        }
    }
}

/// The set of empty values: bit j is set if value j is empty.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn empty_values(out: &[u32], k: usize) -> [u32; 16] {
    let mut empty = [0u32; 16];
    for (i, values) in out[..k].as_chunks::<16>().0.iter().enumerate() {
        // SAFETY: sixteen values.
        let values = unsafe { _mm512_loadu_si512(values.as_ptr().cast()) };
        let bits = u32::from(_mm512_cmpeq_epi32_mask(values, _mm512_set1_epi32(-1)));
        empty[i / 2] |= bits << (16 * (i % 2));
    }
    empty
}

/// Lowers the value of a bin to `value` if that is smaller.
///
/// # Safety
/// `bin` is below the length of `out`.
#[inline(always)]
unsafe fn lower(out: &mut [u32], bin: usize, value: u32) {
    debug_assert!(bin < out.len());
    // SAFETY: the caller's promise.
    let least = unsafe { out.get_unchecked_mut(bin) };
    *least = if value < *least { value } else { *least };
}

/// Round 0 for the first shingles, many of which are the least of their bin so far.
///
/// The hashes of one bin have the same order as their values, so bins store whole hashes until the
/// end. The hashes are first written to an array. If one loop hashes shingles and lowers bins, the
/// compiler extracts bin and value of each shingle from the vectors, which takes three times as
/// long (`cargo x bench stages`, 1,000 shingles: 1.9 → 0.6 ns each).
///
/// # Safety
/// `out` has `num_hashes` values, a power of two from 16 to `SKETCH_MAX`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2")]
unsafe fn lower_all(parameters: &HashParameters, shingles: &[u32], out: &mut [u32]) {
    let k = parameters.num_hashes;
    let (a, b) = parameters.rounds[0];
    let (av, bv) = (_mm512_set1_epi32(a as i32), _mm512_set1_epi32(b as i32));
    let bits = k.trailing_zeros();
    let mut hashes = [0u32; HASHED];
    let mut greatest = _mm512_setzero_si512();
    for shingles in shingles.chunks(HASHED) {
        for (block, hashes) in shingles.chunks(16).zip(hashes.as_chunks_mut::<16>().0) {
            let used = u16::MAX >> (16 - block.len());
            // SAFETY: masked to the block; room for sixteen hashes.
            unsafe {
                let x = _mm512_maskz_loadu_epi32(used, block.as_ptr().cast());
                let z = _mm512_mullo_epi32(_mm512_xor_si512(x, bv), av);
                greatest = _mm512_mask_max_epu32(greatest, used, greatest, z);
                _mm512_storeu_si512(hashes.as_mut_ptr().cast(), z);
            }
        }
        for &z in &hashes[..shingles.len()] {
            // SAFETY: bins are below k.
            unsafe { lower(out, (z >> (32 - bits)) as usize, z) };
        }
    }
    let (empty, rest) = (_mm512_set1_epi32(-1), _mm_cvtsi32_si128(bits as i32));
    for values in out[..k].as_chunks_mut::<16>().0 {
        let values = values.as_mut_ptr();
        // SAFETY: sixteen values.
        unsafe {
            let z = _mm512_loadu_si512(values.cast());
            let value = _mm512_srli_epi32::<2>(_mm512_sll_epi32(z, rest));
            _mm512_mask_storeu_epi32(values.cast(), _mm512_cmpneq_epi32_mask(z, empty), value);
        }
    }
    // The greatest hash and an empty value have the same bits.
    if _mm512_reduce_max_epu32(greatest) == u32::MAX {
        out[k - 1] = out[k - 1].min(u32::MAX << bits >> 2);
    }
}

/// Round 0. After the first shingles, few shingles lower a value. Four registers hold the upper 16
/// bits of an upper bound for each of 128 groups of bins. Blocks of 32 hashes are compared with
/// these bounds, and the hits are packed, because a branch for each shingle would be mispredicted.
/// The first shingles are not compared, because many of them are hits.
///
/// # Safety
/// `out` has `num_hashes` values, a power of two from 16 to `SKETCH_MAX`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,popcnt")]
unsafe fn first_round(parameters: &HashParameters, shingles: &[u32], out: &mut [u32]) {
    let k = parameters.num_hashes;
    let (a, b) = parameters.rounds[0];
    let (av, bv) = (_mm512_set1_epi32(a as i32), _mm512_set1_epi32(b as i32));
    let rest = _mm_cvtsi32_si128(k.trailing_zeros() as i32);
    let group_bit = _mm512_set1_epi16((GROUPS / 2) as i16);
    let mut hits = [0u32; HASHED + 16];
    let mut at = shingles.len().min(DIRECT * k);
    // SAFETY: the caller's promise.
    unsafe { lower_all(parameters, &shingles[..at], out) };
    // SAFETY: `ODD` has 32 entries of 16 bits.
    let odd = unsafe { _mm512_loadu_si512(ODD.as_ptr().cast()) };
    while at < shingles.len() {
        let bounds = upper_bounds(&out[..k]);
        // SAFETY: 32 bounds each.
        let bounds =
            [0, 1, 2, 3].map(|i| unsafe { _mm512_loadu_si512(bounds[32 * i..].as_ptr().cast()) });
        // Values fall slowly: update the bounds after half as many shingles as there were so far.
        let end = (at + (at / 2).max(256)).min(shingles.len());
        for shingles in shingles[at..end].chunks(HASHED) {
            let mut count = 0;
            for block in shingles.chunks(32) {
                let used = u32::MAX >> (32 - block.len());
                // SAFETY: masked to the block; `hits` has room for sixteen more hashes.
                unsafe {
                    let hash = |used: u32, at: usize| {
                        let x = _mm512_maskz_loadu_epi32(
                            used as u16,
                            block.as_ptr().wrapping_add(at).cast(),
                        );
                        _mm512_mullo_epi32(_mm512_xor_si512(x, bv), av)
                    };
                    let halves = [hash(used, 0), hash(used >> 16, 16)];
                    let values = halves.map(|z| _mm512_sll_epi32(z, rest));
                    let value = _mm512_permutex2var_epi16(values[0], odd, values[1]);
                    let top = _mm512_permutex2var_epi16(halves[0], odd, halves[1]);
                    let group = _mm512_srli_epi16::<{ 16 - GROUPS.ilog2() }>(top);
                    let bound = _mm512_mask_blend_epi16(
                        _mm512_test_epi16_mask(group, group_bit),
                        _mm512_permutex2var_epi16(bounds[0], group, bounds[1]),
                        _mm512_permutex2var_epi16(bounds[2], group, bounds[3]),
                    );
                    let is_hit = _mm512_mask_cmple_epu16_mask(used, value, bound);
                    for (z, is_hit) in
                        halves.into_iter().zip([is_hit as u16, (is_hit >> 16) as u16])
                    {
                        let packed = _mm512_maskz_compress_epi32(is_hit, z);
                        _mm512_storeu_si512(hits.as_mut_ptr().add(count).cast(), packed);
                        count += is_hit.count_ones() as usize;
                    }
                }
            }
            for &z in &hits[..count] {
                let (bin, value) = scalar::bin(z, k, 0);
                // SAFETY: bins are below k.
                unsafe { lower(out, bin, value) };
            }
        }
        at = end;
    }
}

/// Returns a bound for each group of hashes with the same upper bits: the upper 16 of the 30 bits
/// of the greatest value in the group's bins. The bound of an empty bin admits every hash.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn upper_bounds(values: &[u32]) -> [u16; GROUPS] {
    let upper = |value: u32| (value >> 14).min(u32::from(u16::MAX)) as u16;
    let mut bounds = [0; GROUPS];
    if let Ok(values) = <&[u32; GROUPS]>::try_from(values) {
        bounds = values.map(upper);
    } else if values.len() < GROUPS {
        for (group, bound) in bounds.iter_mut().enumerate() {
            *bound = upper(values[group * values.len() / GROUPS]);
        }
    } else {
        for (bound, values) in bounds.iter_mut().zip(values.chunks_exact(values.len() / GROUPS)) {
            *bound = upper(values.iter().fold(0, |most, value| most.max(*value)));
        }
    }
    bounds
}

/// Round 1 for the empty values. Returns the set of values that are still empty. A filled value
/// cannot fall in a later round, so only shingles of empty bins matter. Looks up sixteen shingles
/// at a time and packs the hits, because a branch for each shingle would be mispredicted.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,popcnt")]
unsafe fn second_round(
    parameters: &HashParameters,
    shingles: &[u32],
    out: &mut [u32],
) -> [u32; 16] {
    let k = parameters.num_hashes;
    let empty = empty_values(out, k);
    if empty.iter().all(|w| *w == 0) {
        return empty;
    }
    let (a, b) = parameters.rounds[1];
    let (av, bv) = (_mm512_set1_epi32(a as i32), _mm512_set1_epi32(b as i32));
    let shift = _mm_cvtsi32_si128(32 - k.trailing_zeros() as i32);
    // SAFETY: the set has sixteen words.
    let set = unsafe { _mm512_loadu_si512(empty.as_ptr().cast()) };
    let mut hits = [0u32; HASHED + 16];
    for shingles in shingles.chunks(HASHED) {
        let mut count = 0;
        for block in shingles.chunks(16) {
            let used = u16::MAX >> (16 - block.len());
            // SAFETY: masked to the block; `hits` has room for sixteen more hashes.
            unsafe {
                let x = _mm512_maskz_loadu_epi32(used, block.as_ptr().cast());
                let z = _mm512_mullo_epi32(_mm512_xor_si512(x, bv), av);
                let bin = _mm512_srl_epi32(z, shift);
                let word = _mm512_permutexvar_epi32(_mm512_srli_epi32::<5>(bin), set);
                let place = _mm512_and_si512(bin, _mm512_set1_epi32(31));
                let bit = _mm512_srlv_epi32(word, place);
                let is_hit = _mm512_mask_test_epi32_mask(used, bit, _mm512_set1_epi32(1));
                let packed = _mm512_maskz_compress_epi32(is_hit, z);
                _mm512_storeu_si512(hits.as_mut_ptr().add(count).cast(), packed);
                count += is_hit.count_ones() as usize;
            }
        }
        for &z in &hits[..count] {
            let (bin, value) = scalar::bin(z, k, 1);
            // SAFETY: bins are below k.
            unsafe { lower(out, bin, value) };
        }
    }
    empty_values(out, k)
}

/// Computes the classic minimum for the empty values. Their parameters are packed, so that the work
/// depends only on the number of empty values, and the results are scattered to their places.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
unsafe fn fill_empty(
    parameters: &HashParameters,
    shingles: &[u32],
    out: &mut [u32],
    empty: &[u32; 16],
) {
    let k = parameters.num_hashes;
    let mask = |i: usize| (empty[i / 2] >> (16 * (i % 2))) as u16;
    let (mut a, mut b) = ([0u32; SKETCH_MAX + 64], [0u32; SKETCH_MAX + 64]);
    let mut least = [0u32; SKETCH_MAX + 64];
    let mut count = 0;
    for i in 0..k / 16 {
        // SAFETY: parameters have k entries; at most k are packed, the buffers hold 64 more.
        unsafe {
            let pack = |from: &[u32], to: &mut [u32]| {
                let values = _mm512_loadu_si512(from.as_ptr().add(16 * i).cast());
                let packed = _mm512_maskz_compress_epi32(mask(i), values);
                _mm512_storeu_si512(to.as_mut_ptr().add(count).cast(), packed);
            };
            pack(&parameters.a, &mut a);
            pack(&parameters.b, &mut b);
        }
        count += mask(i).count_ones() as usize;
    }
    let mut at = 0;
    while at < count {
        if count - at <= FEW {
            for i in at..count {
                least[i] = minimum(a[i], b[i], shingles) >> 2 | FALLBACK;
            }
            break;
        }
        let groups = (count - at).div_ceil(16).min(4);
        // SAFETY: groups of sixteen from `at` on end within the 64 spare entries.
        unsafe {
            let (a, b, out) = (a.as_ptr().add(at), b.as_ptr().add(at), least.as_mut_ptr().add(at));
            match groups {
                1 => packed_minima::<1>(a, b, shingles, out),
                2 => packed_minima::<2>(a, b, shingles, out),
                3 => packed_minima::<3>(a, b, shingles, out),
                _ => packed_minima::<4>(a, b, shingles, out),
            }
        }
        at += 16 * groups;
    }
    let mut count = 0;
    for i in 0..k / 16 {
        // SAFETY: `out` has k values; `count` stays below k.
        unsafe {
            let place = out.as_mut_ptr().add(16 * i);
            let packed = _mm512_loadu_si512(least.as_ptr().add(count).cast());
            let values = _mm512_loadu_si512(place.cast());
            let spread = _mm512_mask_expand_epi32(values, mask(i), packed);
            _mm512_storeu_si512(place.cast(), spread);
        }
        count += mask(i).count_ones() as usize;
    }
}

/// The least hash of one function, sixteen shingles at a time.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn minimum(a: u32, b: u32, shingles: &[u32]) -> u32 {
    let (a, b) = (_mm512_set1_epi32(a as i32), _mm512_set1_epi32(b as i32));
    let mut least = _mm512_set1_epi32(-1);
    for block in shingles.chunks(16) {
        let used = u16::MAX >> (16 - block.len());
        // SAFETY: masked to the block.
        let x = unsafe { _mm512_maskz_loadu_epi32(used, block.as_ptr().cast()) };
        let z = _mm512_mullo_epi32(_mm512_xor_si512(x, b), a);
        least = _mm512_mask_min_epu32(least, used, least, z);
    }
    _mm512_reduce_min_epu32(least)
}

/// Minima of `G` groups of sixteen functions over all shingles. Each step handles two shingles,
/// which keeps the multiplier busy even with one group.
///
/// # Safety
/// `16 · G` entries readable at `a` and `b` and writable at `out`; AVX-512.
#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "one index for four arrays, unrolled")]
unsafe fn packed_minima<const G: usize>(
    a: *const u32,
    b: *const u32,
    shingles: &[u32],
    out: *mut u32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let a: [__m512i; G] = std::array::from_fn(|g| _mm512_loadu_si512(a.add(16 * g).cast()));
        let b: [__m512i; G] = std::array::from_fn(|g| _mm512_loadu_si512(b.add(16 * g).cast()));
        let (mut even, mut odd) = ([_mm512_set1_epi32(-1); G], [_mm512_set1_epi32(-1); G]);
        let (pairs, last) = shingles.as_chunks::<2>();
        let hash = |x: u32, g: usize| {
            _mm512_mullo_epi32(_mm512_xor_si512(_mm512_set1_epi32(x as i32), b[g]), a[g])
        };
        for &[x, y] in pairs {
            for g in 0..G {
                even[g] = _mm512_min_epu32(even[g], hash(x, g));
                odd[g] = _mm512_min_epu32(odd[g], hash(y, g));
            }
        }
        for &x in last {
            for g in 0..G {
                even[g] = _mm512_min_epu32(even[g], hash(x, g));
            }
        }
        let tag = _mm512_set1_epi32(FALLBACK as i32);
        for g in 0..G {
            let least = _mm512_srli_epi32::<2>(_mm512_min_epu32(even[g], odd[g]));
            _mm512_storeu_si512(out.add(16 * g).cast(), _mm512_or_si512(least, tag));
        }
    }
}
