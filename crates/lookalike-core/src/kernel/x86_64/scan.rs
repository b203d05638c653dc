//! The operations of the scan for AVX2 and AVX-512.

use crate::kernel::beyond_ascii::{FlagMasks, FlagScanner, flags_by_page};
use crate::kernel::blocks::{self, BlockScanner, PLACES};
use crate::kernel::buffers::{ScanRule, TokenBuffer};
use std::arch::asm;
use std::arch::x86_64::*;

struct Avx2;
struct Avx512;

impl FlagScanner for Avx2 {
    unsafe fn flags(block: &[u8; 64], left: &mut u64) -> FlagMasks {
        // SAFETY: the caller's promise.
        unsafe { flags_avx2(block, left) }
    }
}

impl BlockScanner for Avx2 {
    #[inline(always)]
    unsafe fn classify<const SPACES: bool, const FOLD: bool>(
        source: *const u8,
        target: *mut u8,
    ) -> (u64, u64) {
        // SAFETY: the caller's promise covers both halves.
        unsafe {
            let (low, low_high) = half::<SPACES, FOLD>(source, target);
            let (high, high_high) = half::<SPACES, FOLD>(source.add(32), target.add(32));
            (
                u64::from(low) | u64::from(high) << 32,
                u64::from(low_high) | u64::from(high_high) << 32,
            )
        }
    }

    #[inline(always)]
    unsafe fn blanks<const FOLD: bool>(source: *const u8, target: *mut u8) -> (u64, u64) {
        // SAFETY: the caller's promise covers both halves.
        unsafe {
            let (low, low_wide) = half_blanks::<FOLD>(source, target);
            let (high, high_wide) = half_blanks::<FOLD>(source.add(32), target.add(32));
            (
                u64::from(low) | u64::from(high) << 32,
                u64::from(low_wide) | u64::from(high_wide) << 32,
            )
        }
    }

    #[inline(always)]
    unsafe fn low_bits(value: u64, bits: u32) -> u64 {
        // SAFETY: AVX2 processors of this variant have BMI2.
        unsafe { _bzhi_u64(value, bits) }
    }

    #[inline(always)]
    unsafe fn positions(bits: u64, base: u16, mut out: *mut u16) {
        for (byte, bits) in (0..).zip(bits.to_le_bytes()) {
            // SAFETY: each step writes eight entries, beginning at entry 56 or earlier.
            unsafe {
                let places = PLACES[usize::from(bits)].as_ptr().cast();
                let places = _mm_cvtepu8_epi16(_mm_loadl_epi64(places));
                let base = _mm_set1_epi16(base.wrapping_add(8 * byte) as i16);
                _mm_storeu_si128(out.cast(), _mm_add_epi16(places, base));
                out = out.add(bits.count_ones() as usize);
            }
        }
    }
}

/// A mask of the bytes from `lo` to `lo + n − 1`.
#[inline]
#[target_feature(enable = "avx2")]
fn within(bytes: __m256i, lo: u8, n: i8) -> __m256i {
    // One signed comparison tests a range: c in [lo, lo + n) ⇔ c − lo − 128 < n − 128.
    let shifted = _mm256_add_epi8(bytes, _mm256_set1_epi8(128u8.wrapping_sub(lo) as i8));
    _mm256_cmpgt_epi8(_mm256_set1_epi8(-128 + n), shifted)
}

/// 32 bytes of [`BlockScanner::blanks`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn half_blanks<const FOLD: bool>(source: *const u8, target: *mut u8) -> (u32, u32) {
    // SAFETY: 34 bytes are readable.
    let [a, b, c] = [0, 1, 2].map(|i| unsafe { _mm256_loadu_si256(source.add(i).cast()) });
    let upper = within(a, b'A', if FOLD { 26 } else { 0 });
    let folded = _mm256_add_epi8(a, _mm256_and_si256(upper, _mm256_set1_epi8(32)));
    let spaces = _mm256_or_si256(within(a, 0x09, 5), within(a, 0x1c, 5));
    let blanked = _mm256_blendv_epi8(folded, _mm256_set1_epi8(b' ' as i8), spaces);
    // SAFETY: 32 bytes are writable.
    unsafe { _mm256_storeu_si256(target.cast(), blanked) };
    let is = |bytes, byte: u8| _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte as i8));
    let latin = _mm256_and_si256(is(a, 0xc2), _mm256_or_si256(is(b, 0x85), is(b, 0xa0)));
    let ogham = _mm256_and_si256(is(a, 0xe1), is(b, 0x9a));
    let general = _mm256_and_si256(is(a, 0xe2), _mm256_or_si256(is(b, 0x80), is(b, 0x81)));
    let ideographic = _mm256_and_si256(is(a, 0xe3), _mm256_and_si256(is(b, 0x80), is(c, 0x80)));
    let wide =
        _mm256_or_si256(_mm256_or_si256(latin, ogham), _mm256_or_si256(general, ideographic));
    (movemask(spaces), movemask(wide))
}

/// 32 bytes of [`BlockScanner::classify`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn half<const SPACES: bool, const FOLD: bool>(
    source: *const u8,
    target: *mut u8,
) -> (u32, u32) {
    // SAFETY: 32 bytes are readable.
    let bytes = unsafe { _mm256_loadu_si256(source.cast()) };
    let upper = within(bytes, b'A', 26);
    let folded = _mm256_add_epi8(bytes, _mm256_and_si256(upper, _mm256_set1_epi8(32)));
    // SAFETY: 32 bytes are writable.
    unsafe { _mm256_storeu_si256(target.cast(), if FOLD { folded } else { bytes }) };
    if SPACES {
        let spaces = _mm256_or_si256(within(bytes, 0x09, 5), within(bytes, 0x1c, 5));
        (!movemask(spaces), movemask(bytes))
    } else {
        let letters_digits = _mm256_or_si256(within(folded, b'a', 26), within(bytes, b'0', 10));
        (movemask(_mm256_or_si256(letters_digits, bytes)), movemask(bytes))
    }
}

/// `vpmovmskb`, hidden from the optimiser (see the top of `mod.rs`).
#[inline]
#[target_feature(enable = "avx2")]
fn movemask(bytes: __m256i) -> u32 {
    let mask: u32;
    // SAFETY: one register-to-register instruction without side effects.
    unsafe {
        asm!("vpmovmskb {0:e}, {1}", out(reg) mask, in(ymm_reg) bytes,
            options(pure, nomem, nostack, preserves_flags));
    }
    mask
}

/// 0, 1, 2 … 63.
static IOTA: [u8; 64] = {
    let mut iota = [0; 64];
    let mut i = 0;
    while i < 64 {
        iota[i] = i as u8;
        i += 1;
    }
    iota
};

impl FlagScanner for Avx512 {
    unsafe fn flags(block: &[u8; 64], left: &mut u64) -> FlagMasks {
        // SAFETY: the caller's promise.
        unsafe { flags_avx512(block, left) }
    }
}

impl BlockScanner for Avx512 {
    #[inline(always)]
    unsafe fn classify<const SPACES: bool, const FOLD: bool>(
        source: *const u8,
        target: *mut u8,
    ) -> (u64, u64) {
        // SAFETY: the caller's promise.
        unsafe {
            let within = |bytes, lo: u8, n: i8| {
                let shifted = _mm512_sub_epi8(bytes, _mm512_set1_epi8(lo as i8));
                _mm512_cmplt_epu8_mask(shifted, _mm512_set1_epi8(n))
            };
            let bytes = _mm512_loadu_si512(source.cast());
            let upper = within(bytes, b'A', 26);
            let folded = _mm512_mask_add_epi8(bytes, upper, bytes, _mm512_set1_epi8(32));
            _mm512_storeu_si512(target.cast(), if FOLD { folded } else { bytes });
            let high = _mm512_movepi8_mask(bytes);
            if SPACES {
                (!(within(bytes, 0x09, 5) | within(bytes, 0x1c, 5)), high)
            } else {
                (within(folded, b'a', 26) | within(bytes, b'0', 10) | high, high)
            }
        }
    }

    #[inline(always)]
    unsafe fn blanks<const FOLD: bool>(source: *const u8, target: *mut u8) -> (u64, u64) {
        // SAFETY: the caller's promise.
        unsafe {
            let within = |bytes, lo: u8, n: i8| {
                let shifted = _mm512_sub_epi8(bytes, _mm512_set1_epi8(lo as i8));
                _mm512_cmplt_epu8_mask(shifted, _mm512_set1_epi8(n))
            };
            let is = |bytes, byte: u8| _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8));
            let a = _mm512_loadu_si512(source.cast());
            let upper = if FOLD { within(a, b'A', 26) } else { 0 };
            let folded = _mm512_mask_add_epi8(a, upper, a, _mm512_set1_epi8(32));
            let spaces = within(a, 0x09, 5) | within(a, 0x1c, 5);
            let blanked = _mm512_mask_mov_epi8(folded, spaces, _mm512_set1_epi8(b' ' as i8));
            _mm512_storeu_si512(target.cast(), blanked);
            if _mm512_movepi8_mask(a) == 0 {
                return (spaces, 0);
            }
            let b = _mm512_loadu_si512(source.add(1).cast());
            let c = _mm512_loadu_si512(source.add(2).cast());
            let wide = is(a, 0xc2) & (is(b, 0x85) | is(b, 0xa0))
                | is(a, 0xe1) & is(b, 0x9a)
                | is(a, 0xe2) & (is(b, 0x80) | is(b, 0x81))
                | is(a, 0xe3) & is(b, 0x80) & is(c, 0x80);
            (spaces, wide)
        }
    }

    #[inline(always)]
    unsafe fn compress(bytes: *mut u8, kept: u64) {
        // SAFETY: the caller's promise.
        unsafe {
            let all = _mm512_loadu_si512(bytes.cast());
            _mm512_storeu_si512(bytes.cast(), _mm512_maskz_compress_epi8(kept, all));
        }
    }

    #[inline(always)]
    unsafe fn low_bits(value: u64, bits: u32) -> u64 {
        // SAFETY: the processor has BMI2.
        unsafe { _bzhi_u64(value, bits) }
    }

    #[inline(always)]
    unsafe fn positions(bits: u64, base: u16, out: *mut u16) {
        // SAFETY: the caller's promise; 64 entries are written at most.
        unsafe {
            let iota = _mm512_loadu_si512(IOTA.as_ptr().cast());
            let places = _mm512_maskz_compress_epi8(bits, iota);
            let base = _mm512_set1_epi16(base as i16);
            let low = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(places));
            _mm512_storeu_si512(out.cast(), _mm512_add_epi16(low, base));
            if bits.count_ones() > 32 {
                let high = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64::<1>(places));
                _mm512_storeu_si512(out.add(32).cast(), _mm512_add_epi16(high, base));
            }
        }
    }
}

/// # Safety
/// [`has_avx2`](super::has_avx2).
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
unsafe fn flags_avx2(block: &[u8; 64], left: &mut u64) -> FlagMasks {
    // SAFETY: 64 bytes are readable in both halves.
    let halves = [0, 32].map(|at| unsafe { _mm256_loadu_si256(block.as_ptr().add(at).cast()) });
    let mask = |half: &dyn Fn(__m256i) -> __m256i, halves: [__m256i; 2]| {
        u64::from(movemask(half(halves[0]))) | u64::from(movemask(half(halves[1]))) << 32
    };
    let matching = |byte: u8, bits: u8| {
        let (byte, bits) = [byte & bits, bits].map(|byte| _mm256_set1_epi8(byte as i8)).into();
        mask(&|half| _mm256_cmpeq_epi8(_mm256_and_si256(half, bits), byte), halves)
    };
    let look_up = |page: &[u8; 64]| {
        let flags = halves.map(|half| {
            let low = _mm256_and_si256(half, _mm256_set1_epi8(0x3f));
            let (quarters, _) = page.as_chunks::<16>();
            let mut flags = _mm256_setzero_si256();
            for (number, quarter) in (0..).zip(quarters) {
                // SAFETY: 16 bytes are readable.
                let quarter = unsafe { _mm_loadu_si128(quarter.as_ptr().cast()) };
                // Indices into other quarters have the top bit set, so they look up zeros.
                let index = _mm256_xor_si256(low, _mm256_set1_epi8(number << 4));
                let index = _mm256_add_epi8(index, _mm256_set1_epi8(0x70));
                let found = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(quarter), index);
                flags = _mm256_or_si256(flags, found);
            }
            flags
        });
        FlagMasks::of(|bit| {
            let bit = _mm256_set1_epi8(bit as i8);
            mask(&|half| _mm256_cmpeq_epi8(_mm256_and_si256(half, bit), bit), flags)
        })
    };
    flags_by_page(block, left, matching, look_up)
}

/// # Safety
/// [`has_avx512`](super::has_avx512).
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt"
)]
unsafe fn flags_avx512(block: &[u8; 64], left: &mut u64) -> FlagMasks {
    // SAFETY: 64 bytes are readable.
    let bytes = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
    let matching = |byte: u8, bits: u8| {
        let differing = _mm512_xor_si512(bytes, _mm512_set1_epi8(byte as i8));
        _mm512_testn_epi8_mask(differing, _mm512_set1_epi8(bits as i8))
    };
    let look_up = |page: &[u8; 64]| {
        // SAFETY: 64 bytes are readable. The index is the lower six bits of each byte.
        let page = unsafe { _mm512_loadu_si512(page.as_ptr().cast()) };
        let flags = _mm512_permutexvar_epi8(bytes, page);
        FlagMasks::of(|bit| _mm512_test_epi8_mask(flags, _mm512_set1_epi8(bit as i8)))
    };
    flags_by_page(block, left, matching, look_up)
}

/// # Safety
/// [`has_avx2`](super::has_avx2); `text` has at most [`PIECE`] bytes.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(in crate::kernel) unsafe fn scan_avx2(text: &str, rule: ScanRule, out: &mut TokenBuffer) {
    // SAFETY: the caller's promise.
    unsafe { blocks::scan_by_rule::<Avx2>(text, rule, out) }
}

/// # Safety
/// [`has_avx512`](super::has_avx512); `text` has at most [`PIECE`] bytes.
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt"
)]
pub(in crate::kernel) unsafe fn scan_avx512(text: &str, rule: ScanRule, out: &mut TokenBuffer) {
    // SAFETY: the caller's promise.
    unsafe { blocks::scan_by_rule::<Avx512>(text, rule, out) }
}

/// # Safety
/// [`has_avx2`](super::has_avx2).
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(in crate::kernel) unsafe fn collapse_avx2(text: &str, fold: bool, out: &mut String) {
    // SAFETY: the caller's promise.
    unsafe { blocks::collapse::<Avx2>(text, fold, out) }
}

/// # Safety
/// [`has_avx512`](super::has_avx512).
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt"
)]
pub(in crate::kernel) unsafe fn collapse_avx512(text: &str, fold: bool, out: &mut String) {
    // SAFETY: the caller's promise.
    unsafe { blocks::collapse::<Avx512>(text, fold, out) }
}
