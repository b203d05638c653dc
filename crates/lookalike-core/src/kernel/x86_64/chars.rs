//! Hashes of single characters and bytes, 64 at a time. A hash has eight bytes. For each of them,
//! permutations look up its values for all 64 inputs.

use crate::kernel::buffers::TokenBuffer;
use crate::kernel::scalar::BYTES;
use std::arch::x86_64::*;

/// `PLANES[i][b]` is byte `i` of the hash of the byte `b`.
static PLANES: [[u8; 256]; 8] = {
    let mut planes = [[0; 256]; 8];
    let mut i = 0;
    while i < 8 * 256 {
        planes[i % 8][i / 8] = BYTES[i / 8].to_le_bytes()[i % 8];
        i += 1;
    }
    planes
};

/// The permutation of a block before its hashes are looked up. The interleaving in [`hash_block`]
/// works within quarters of a register and reorders the hashes; this order cancels that.
static ORDER: [u8; 64] = {
    let mut order = [0; 64];
    let mut i = 0;
    while i < 64 {
        let quarter = i / 16;
        let place = i % 16;
        order[i] = (place / 2 * 8 + quarter * 2 + place % 2) as u8;
        i += 1;
    }
    order
};

/// Shorter runs of ASCII characters are hashed one by one.
const LEAST_RUN: usize = 16;

/// # Safety
/// [`has_avx512`](super::has_avx512).
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi1,bmi2")]
pub(in crate::kernel) unsafe fn push_chars_avx512(text: &str, out: &mut TokenBuffer) {
    out.reserve(text.len());
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let (block, used) = load(&bytes[at..]);
        let ascii = (_mm512_movepi8_mask(block) | !used).trailing_zeros() as usize;
        if ascii >= LEAST_RUN {
            hash_block::<false>(block, out);
            out.len += ascii;
            at += ascii;
            continue;
        }
        for byte in &bytes[at..at + ascii] {
            out.push(BYTES[usize::from(*byte)]);
        }
        at = out.push_wide_chars(bytes, at + ascii);
    }
}

/// # Safety
/// [`has_avx512`](super::has_avx512).
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi1,bmi2")]
pub(in crate::kernel) unsafe fn push_bytes_avx512(bytes: &[u8], out: &mut TokenBuffer) {
    out.reserve(bytes.len());
    for block in bytes.chunks(64) {
        hash_block::<true>(load(block).0, out);
        out.len += block.len();
    }
}

/// Loads the first 64 bytes, or all. Returns the mask of loaded bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
fn load(bytes: &[u8]) -> (__m512i, u64) {
    let used = _bzhi_u64(u64::MAX, bytes.len().min(64) as u32);
    // SAFETY: masked to the bytes.
    (unsafe { _mm512_maskz_loadu_epi8(used, bytes.as_ptr().cast()) }, used)
}

/// Writes the hashes of 64 bytes after the used part of `out`. If `ALL` is false, the hashes of
/// bytes from 128 on are arbitrary.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn hash_block<const ALL: bool>(block: __m512i, out: &mut TokenBuffer) {
    // SAFETY: `ORDER` has 64 bytes.
    let order = unsafe { _mm512_loadu_si512(ORDER.as_ptr().cast()) };
    let block = _mm512_permutexvar_epi8(order, block);
    let is_high = _mm512_movepi8_mask(block);
    let [p0, p1, p2, p3, p4, p5, p6, p7]: [__m512i; 8] = std::array::from_fn(|i| {
        // SAFETY: a quarter of a plane has 64 bytes.
        let table = |quarter: usize| unsafe {
            _mm512_loadu_si512(PLANES[i].as_ptr().add(64 * quarter).cast())
        };
        let low = _mm512_permutex2var_epi8(table(0), block, table(1));
        if !ALL {
            return low;
        }
        let high = _mm512_permutex2var_epi8(table(2), block, table(3));
        _mm512_mask_blend_epi8(is_high, low, high)
    });
    let pair = |a, b| (_mm512_unpacklo_epi8(a, b), _mm512_unpackhi_epi8(a, b));
    let halves = |(a0, a1), (b0, b1)| {
        [
            _mm512_unpacklo_epi16(a0, b0),
            _mm512_unpackhi_epi16(a0, b0),
            _mm512_unpacklo_epi16(a1, b1),
            _mm512_unpackhi_epi16(a1, b1),
        ]
    };
    let low = halves(pair(p0, p1), pair(p2, p3));
    let high = halves(pair(p4, p5), pair(p6, p7));
    let target = out.hashes[out.len..][..64].as_mut_ptr();
    for i in 0..4 {
        // SAFETY: 16 of the 64 hashes.
        unsafe {
            let target = target.add(16 * i);
            _mm512_storeu_si512(target.cast(), _mm512_unpacklo_epi32(low[i], high[i]));
            _mm512_storeu_si512(target.add(8).cast(), _mm512_unpackhi_epi32(low[i], high[i]));
        }
    }
}
