//! Sorting of shingle hashes.

use crate::kernel::buffers::SortBuffers;
use crate::kernel::portable::{SMALL_BUCKET, sort_by_buckets};
use crate::kernel::scalar;
use std::arch::x86_64::*;

/// Hashes of a bucket that one register holds.
const SLOTS: usize = 8;

/// See [`Kernel::sort_set`](crate::kernel::Kernel::sort_set). The upper bits of uniform hashes
/// divide them into buckets of two to four on average, each with eight slots. A hash is compared
/// with all hashes of its bucket before it is added, which drops repeats. The few hashes whose
/// bucket is full are kept apart. Finally, each bucket is sorted in a register.
///
/// # Safety
/// [`has_avx512`](super::has_avx512).
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,popcnt,lzcnt")]
pub(in crate::kernel) unsafe fn sort_set_avx512(
    hashes: &[u64],
    out: &mut Vec<u64>,
    buffers: &mut SortBuffers,
) {
    if hashes.len() < 32 {
        scalar::sort(hashes, out);
        return scalar::drop_repeats(out);
    }
    let bits = hashes.len().ilog2() - 1;
    let shift = u64::BITS - bits;
    let SortBuffers { starts: counts, buckets: slots, overflow } = buffers;
    counts.clear();
    counts.resize(1 << bits, 0);
    if slots.len() < SLOTS << bits {
        slots.resize(SLOTS << bits, 0);
    }
    overflow.clear();
    for &hash in hashes {
        let bucket = (hash >> shift) as usize;
        // SAFETY: the upper `bits` bits of a hash are below the number of buckets, `slots` has
        // eight initialised entries for each bucket, and a bucket with room has fewer than eight
        // hashes.
        unsafe {
            let count = counts.get_unchecked_mut(bucket);
            let first = slots.as_mut_ptr().add(SLOTS * bucket);
            let used = _bzhi_u32(0xff, *count) as u8;
            let known = _mm512_loadu_si512(first.cast());
            let is_new =
                _mm512_mask_cmpeq_epi64_mask(used, known, _mm512_set1_epi64(hash as i64)) == 0;
            if *count == SLOTS as u32 {
                if is_new {
                    overflow.push(hash);
                }
            } else {
                first.add(*count as usize).write(hash);
                *count += u32::from(is_new);
            }
        }
    }
    overflow.sort_unstable();
    overflow.dedup();
    let mut overflow = overflow.as_slice();
    out.clear();
    out.reserve(hashes.len() + SLOTS);
    for (bucket, &count) in counts.iter().enumerate() {
        // SAFETY: as above. A bucket adds at most as many hashes as were put into it, and `out` has
        // room for all hashes and eight more.
        unsafe {
            let used = _bzhi_u32(0xff, count) as u8;
            let first = slots.as_ptr().add(SLOTS * bucket);
            let padded = _mm512_mask_loadu_epi64(_mm512_set1_epi64(-1), used, first.cast());
            _mm512_storeu_si512(out.as_mut_ptr().add(out.len()).cast(), sort_lanes(padded));
            out.set_len(out.len() + count as usize);
        }
        if count == SLOTS as u32
            && overflow.first().is_some_and(|hash| hash >> shift == bucket as u64)
        {
            let start = out.len() - SLOTS;
            let more = overflow.partition_point(|hash| hash >> shift == bucket as u64);
            out.extend_from_slice(&overflow[..more]);
            overflow = &overflow[more..];
            // The slots and `overflow` have no hash in common, and neither has repeats.
            out[start..].sort_unstable();
        }
    }
}

/// Sorts the lanes of a register with a bitonic network (Batcher, *Sorting networks and their
/// applications*, 1968).
#[inline]
#[target_feature(enable = "avx512f")]
fn sort_lanes(lanes: __m512i) -> __m512i {
    // Compares each lane with a partner. The lanes of `upper` keep the greater value.
    macro_rules! step {
        ($lanes:expr, $partners:expr, $upper:literal) => {{
            let (lanes, partners) = ($lanes, $partners);
            _mm512_mask_max_epu64(_mm512_min_epu64(lanes, partners), $upper, lanes, partners)
        }};
    }
    let reversed = _mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    let lanes = step!(lanes, _mm512_permutex_epi64::<0b10_11_00_01>(lanes), 0b1010_1010);
    let lanes = step!(lanes, _mm512_permutex_epi64::<0b00_01_10_11>(lanes), 0b1100_1100);
    let lanes = step!(lanes, _mm512_permutex_epi64::<0b10_11_00_01>(lanes), 0b1010_1010);
    let lanes = step!(lanes, _mm512_permutexvar_epi64(reversed, lanes), 0b1111_0000);
    let lanes = step!(lanes, _mm512_permutex_epi64::<0b01_00_11_10>(lanes), 0b1100_1100);
    step!(lanes, _mm512_permutex_epi64::<0b10_11_00_01>(lanes), 0b1010_1010)
}

/// Each hash is compared with its whole bucket at once, which shows its rank. Unlike the steps of
/// an insertion sort, ranks need no branch that could be mispredicted.
///
/// # Safety
/// [`has_avx512`](super::has_avx512).
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,popcnt,lzcnt")]
pub(in crate::kernel) unsafe fn sort_avx512(
    hashes: &[u64],
    out: &mut Vec<u64>,
    buffers: &mut SortBuffers,
) {
    sort_by_buckets(hashes, out, buffers, |buckets, out| {
        let first = buckets.hashes.as_ptr();
        for (i, &hash) in buckets.hashes.iter().enumerate() {
            let number = (hash >> buckets.shift) as usize;
            let start = buckets.starts[number];
            let end = buckets.starts[number + 1];
            let size = (end - start).min(SMALL_BUCKET as u32);
            let used = 0xff_u8 >> (SMALL_BUCKET as u32 - size);
            let value = _mm512_set1_epi64(hash as i64);
            // SAFETY: masked to the bucket.
            let bucket =
                unsafe { _mm512_maskz_loadu_epi64(used, first.add(start as usize).cast()) };
            let less = _mm512_mask_cmplt_epu64_mask(used, bucket, value);
            let equal = _mm512_mask_cmpeq_epu64_mask(used, bucket, value);
            let before = equal & _bzhi_u32(0xff, i as u32 - start) as u8;
            out[start as usize + (less | before).count_ones() as usize] = hash;
        }
    });
}

/// Like [`sort_avx512`], with two registers for a bucket. They may reach into the following
/// buckets, whose hashes are greater.
///
/// # Safety
/// [`has_avx2`](super::has_avx2).
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(in crate::kernel) unsafe fn sort_avx2(
    hashes: &[u64],
    out: &mut Vec<u64>,
    buffers: &mut SortBuffers,
) {
    sort_by_buckets(hashes, out, buffers, |buckets, out| {
        let sign = _mm256_set1_epi64x(i64::MIN);
        for (i, &hash) in buckets.hashes.iter().enumerate() {
            let start = buckets.starts[(hash >> buckets.shift) as usize] as usize;
            let value = _mm256_set1_epi64x(hash as i64);
            let signed = _mm256_xor_si256(value, sign);
            // SAFETY: a bucket starts at a hash, and eight numbers of padding follow the last hash.
            let (low, high) = unsafe {
                let bucket = buckets.padded.as_ptr().add(start);
                (_mm256_loadu_si256(bucket.cast()), _mm256_loadu_si256(bucket.add(4).cast()))
            };
            let bits = |low: __m256i, high: __m256i| {
                let four = |half| _mm256_movemask_pd(_mm256_castsi256_pd(half)) as u32;
                four(low) | four(high) << 4
            };
            let less = bits(
                _mm256_cmpgt_epi64(signed, _mm256_xor_si256(low, sign)),
                _mm256_cmpgt_epi64(signed, _mm256_xor_si256(high, sign)),
            );
            let equal = bits(_mm256_cmpeq_epi64(value, low), _mm256_cmpeq_epi64(value, high));
            let before = _bzhi_u32(equal, (i - start) as u32);
            out[start + (less | before).count_ones() as usize] = hash;
        }
    });
}
