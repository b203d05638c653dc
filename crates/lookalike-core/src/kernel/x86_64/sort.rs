//! Sorting of shingle hashes.

use crate::kernel::buffers::SortBuffers;
use crate::kernel::portable::{SMALL_BUCKET, sort_by_buckets};
use std::arch::x86_64::*;

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
