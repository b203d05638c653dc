//! Comparison of sorted sets and of signatures.

use crate::kernel::{portable, scalar};
use std::arch::x86_64::*;

/// Compares blocks of four: each block of one set is compared with all rotations of a block of the
/// other. Then the block with the smaller last element is replaced by the next one.
///
/// # Safety
/// [`has_avx2`](super::has_avx2).
#[target_feature(enable = "avx2,popcnt")]
pub(in crate::kernel) unsafe fn intersect_avx2(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i + 4 <= a.len() && j + 4 <= b.len() {
        // SAFETY: four entries each.
        let (x, y) = unsafe {
            (
                _mm256_loadu_si256(a.as_ptr().add(i).cast()),
                _mm256_loadu_si256(b.as_ptr().add(j).cast()),
            )
        };
        let same = _mm256_or_si256(
            _mm256_or_si256(
                _mm256_cmpeq_epi64(x, y),
                _mm256_cmpeq_epi64(x, _mm256_permute4x64_epi64::<0b00_11_10_01>(y)),
            ),
            _mm256_or_si256(
                _mm256_cmpeq_epi64(x, _mm256_permute4x64_epi64::<0b01_00_11_10>(y)),
                _mm256_cmpeq_epi64(x, _mm256_permute4x64_epi64::<0b10_01_00_11>(y)),
            ),
        );
        shared += _mm256_movemask_pd(_mm256_castsi256_pd(same)).count_ones() as usize;
        let (x, y) = (a[i + 3], b[j + 3]);
        i += 4 * usize::from(x <= y);
        j += 4 * usize::from(y <= x);
    }
    shared + scalar::intersect(&a[i..], &b[j..])
}

/// Like [`intersect_avx2`], with blocks of eight.
///
/// # Safety
/// [`has_avx512`](super::has_avx512).
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
pub(in crate::kernel) unsafe fn intersect_avx512(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i + 8 <= a.len() && j + 8 <= b.len() {
        // SAFETY: eight entries each.
        let (x, y) = unsafe {
            (
                _mm512_loadu_si512(a.as_ptr().add(i).cast()),
                _mm512_loadu_si512(b.as_ptr().add(j).cast()),
            )
        };
        macro_rules! same {
            ($($by:literal)+) => {
                $(_mm512_cmpeq_epi64_mask(x, _mm512_alignr_epi64::<$by>(y, y)))|+
            };
        }
        shared += same!(0 1 2 3 4 5 6 7).count_ones() as usize;
        let (x, y) = (a[i + 7], b[j + 7]);
        i += 8 * usize::from(x <= y);
        j += 8 * usize::from(y <= x);
    }
    shared + scalar::intersect(&a[i..], &b[j..])
}

/// # Safety
/// [`has_avx2`](super::has_avx2).
#[target_feature(enable = "avx2")]
pub(in crate::kernel) unsafe fn count_equal_avx2(a: &[u32], b: &[u32]) -> usize {
    scalar::count_equal(a, b)
}

/// # Safety
/// [`has_avx512`](super::has_avx512).
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(in crate::kernel) unsafe fn count_equal_avx512(a: &[u32], b: &[u32]) -> usize {
    scalar::count_equal(a, b)
}

/// # Safety
/// [`has_avx2`](super::has_avx2).
#[target_feature(enable = "avx2")]
pub(in crate::kernel) unsafe fn count_equal_rows_avx2(
    probe: &[u8],
    rows: &[u8],
    counts: &mut [u16],
) {
    portable::count_equal_rows(probe, rows, counts);
}

/// A block is one register; the comparison returns a bit for each place.
///
/// # Safety
/// [`has_avx512`](super::has_avx512).
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
pub(in crate::kernel) unsafe fn count_equal_rows_avx512(
    probe: &[u8],
    rows: &[u8],
    counts: &mut [u16],
) {
    counts.fill(0);
    let probe_blocks = probe.as_chunks::<64>().0;
    let rows = rows.chunks_exact(probe.len().max(1));
    for (count, row) in counts.iter_mut().zip(rows) {
        for (a, b) in row.as_chunks::<64>().0.iter().zip(probe_blocks) {
            // SAFETY: 64 bytes each.
            let (x, y) = unsafe {
                (_mm512_loadu_si512(a.as_ptr().cast()), _mm512_loadu_si512(b.as_ptr().cast()))
            };
            *count += _mm512_cmpeq_epi8_mask(x, y).count_ones() as u16;
        }
    }
}
