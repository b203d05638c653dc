//! AArch64: the operations of the scan with NEON, 64 bytes in four registers. The compiler turns
//! the loops of `portable.rs` into NEON instructions.
#![allow(clippy::wildcard_imports, reason = "intrinsics are named as the manuals name them")]

use super::beyond_ascii::{FlagMasks, FlagScanner, flags_by_page};
use super::blocks::{self, BlockScanner, PLACES};
use super::buffers::{ScanRule, TokenBuffer};
use std::arch::aarch64::*;
use std::arch::is_aarch64_feature_detected;

/// False on a big-endian processor, where masks would have another order.
pub(super) fn has_neon() -> bool {
    cfg!(target_endian = "little") && is_aarch64_feature_detected!("neon")
}

struct Neon;

impl FlagScanner for Neon {
    unsafe fn flags(block: &[u8; 64], left: &mut u64) -> FlagMasks {
        // SAFETY: the caller's promise.
        unsafe { flags_neon(block, left) }
    }
}

impl BlockScanner for Neon {
    #[inline(always)]
    unsafe fn classify<const SPACES: bool, const FOLD: bool>(
        source: *const u8,
        target: *mut u8,
    ) -> (u64, u64) {
        // SAFETY: the caller's promise.
        unsafe { classify_neon::<SPACES, FOLD>(source, target) }
    }

    #[inline(always)]
    unsafe fn blanks<const FOLD: bool>(source: *const u8, target: *mut u8) -> (u64, u64) {
        // SAFETY: the caller's promise.
        unsafe { blanks_neon::<FOLD>(source, target) }
    }

    #[inline(always)]
    unsafe fn positions(bits: u64, base: u16, out: *mut u16) {
        // SAFETY: the caller's promise.
        unsafe { positions_neon(bits, base, out) }
    }
}

/// See [`BlockScanner::positions`].
///
/// # Safety
/// As there.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn positions_neon(bits: u64, base: u16, mut out: *mut u16) {
    for (byte, bits) in (0..).zip(bits.to_le_bytes()) {
        // SAFETY: each step writes eight entries, beginning at entry 56 or earlier.
        unsafe {
            let places = vmovl_u8(vld1_u8(PLACES[usize::from(bits)].as_ptr()));
            vst1q_u16(out, vaddq_u16(places, vdupq_n_u16(base.wrapping_add(8 * byte))));
            out = out.add(bits.count_ones() as usize);
        }
    }
}

/// A mask of the bytes that are all ones. The others are all zeros.
#[inline]
#[target_feature(enable = "neon")]
fn mask(bytes: [uint8x16_t; 4]) -> u64 {
    let bit = vcombine_u8(vcreate_u8(0x8040_2010_0804_0201), vcreate_u8(0x8040_2010_0804_0201));
    let [a, b, c, d] = bytes.map(|bytes| vandq_u8(bytes, bit));
    let sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
}

/// The bytes from `lo` to `lo + n − 1`, all ones.
#[inline]
#[target_feature(enable = "neon")]
fn within(bytes: uint8x16_t, lo: u8, n: u8) -> uint8x16_t {
    vcltq_u8(vsubq_u8(bytes, vdupq_n_u8(lo)), vdupq_n_u8(n))
}

/// ASCII white space, all ones.
#[inline]
#[target_feature(enable = "neon")]
fn spaces(bytes: uint8x16_t) -> uint8x16_t {
    vorrq_u8(within(bytes, 0x09, 5), within(bytes, 0x1c, 5))
}

/// Lower-cases ASCII.
#[inline]
#[target_feature(enable = "neon")]
fn folded(bytes: uint8x16_t) -> uint8x16_t {
    vorrq_u8(bytes, vandq_u8(within(bytes, b'A', 26), vdupq_n_u8(32)))
}

/// # Safety
/// 64 bytes are readable.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn load(source: *const u8) -> [uint8x16_t; 4] {
    // SAFETY: the caller's promise.
    [0, 16, 32, 48].map(|at| unsafe { vld1q_u8(source.add(at)) })
}

/// # Safety
/// 64 bytes are writable.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn store(target: *mut u8, bytes: [uint8x16_t; 4]) {
    for (i, bytes) in bytes.into_iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { vst1q_u8(target.add(16 * i), bytes) }
    }
}

/// See [`BlockScanner::classify`].
///
/// # Safety
/// As there.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn classify_neon<const SPACES: bool, const FOLD: bool>(
    source: *const u8,
    target: *mut u8,
) -> (u64, u64) {
    // SAFETY: the caller's promise.
    let bytes = unsafe { load(source) };
    let folded = bytes.map(|bytes| folded(bytes));
    // SAFETY: the caller's promise.
    unsafe { store(target, if FOLD { folded } else { bytes }) };
    let high = bytes.map(|bytes| vcltzq_s8(vreinterpretq_s8_u8(bytes)));
    if SPACES {
        return (!mask(bytes.map(|bytes| spaces(bytes))), mask(high));
    }
    let tokens = std::array::from_fn(|i| {
        vorrq_u8(vorrq_u8(within(folded[i], b'a', 26), within(bytes[i], b'0', 10)), high[i])
    });
    (mask(tokens), mask(high))
}

/// See [`BlockScanner::blanks`].
///
/// # Safety
/// As there.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn blanks_neon<const FOLD: bool>(source: *const u8, target: *mut u8) -> (u64, u64) {
    // SAFETY: the caller's promise.
    let [a, b, c] = [0, 1, 2].map(|at| unsafe { load(source.add(at)) });
    let blanks = a.map(|bytes| spaces(bytes));
    let copied = std::array::from_fn(|i| {
        let bytes = if FOLD { folded(a[i]) } else { a[i] };
        vbslq_u8(blanks[i], vdupq_n_u8(b' '), bytes)
    });
    // SAFETY: the caller's promise.
    unsafe { store(target, copied) };
    let is = |bytes, byte| vceqq_u8(bytes, vdupq_n_u8(byte));
    let wide = std::array::from_fn(|i| {
        let [a, b, c] = [a[i], b[i], c[i]];
        let latin = vandq_u8(is(a, 0xc2), vorrq_u8(is(b, 0x85), is(b, 0xa0)));
        let ogham = vandq_u8(is(a, 0xe1), is(b, 0x9a));
        let general = vandq_u8(is(a, 0xe2), vorrq_u8(is(b, 0x80), is(b, 0x81)));
        let ideographic = vandq_u8(is(a, 0xe3), vandq_u8(is(b, 0x80), is(c, 0x80)));
        vorrq_u8(vorrq_u8(latin, ogham), vorrq_u8(general, ideographic))
    });
    (mask(blanks), mask(wide))
}

/// # Safety
/// [`has_neon`].
#[target_feature(enable = "neon")]
unsafe fn flags_neon(block: &[u8; 64], left: &mut u64) -> FlagMasks {
    // SAFETY: 64 bytes are readable.
    let bytes = unsafe { load(block.as_ptr()) };
    let matching = |byte: u8, bits: u8| {
        let bits = vdupq_n_u8(bits);
        let byte = vandq_u8(vdupq_n_u8(byte), bits);
        mask(bytes.map(|bytes| vceqq_u8(vandq_u8(bytes, bits), byte)))
    };
    let look_up = |page: &[u8; 64]| {
        // SAFETY: 64 bytes are readable.
        let [a, b, c, d] = unsafe { load(page.as_ptr()) };
        let page = uint8x16x4_t(a, b, c, d);
        let flags = bytes.map(|bytes| vqtbl4q_u8(page, vandq_u8(bytes, vdupq_n_u8(0x3f))));
        FlagMasks::of(|bit| mask(flags.map(|flags| vtstq_u8(flags, vdupq_n_u8(bit)))))
    };
    flags_by_page(block, left, matching, look_up)
}

/// # Safety
/// [`has_neon`]; `text` has at most [`PIECE`](super::PIECE) bytes.
#[target_feature(enable = "neon")]
pub(super) unsafe fn scan_neon(text: &str, rule: ScanRule, out: &mut TokenBuffer) {
    // SAFETY: the caller's promise.
    unsafe { blocks::scan_by_rule::<Neon>(text, rule, out) }
}

/// # Safety
/// [`has_neon`].
#[target_feature(enable = "neon")]
pub(super) unsafe fn collapse_neon(text: &str, fold: bool, out: &mut String) {
    // SAFETY: the caller's promise.
    unsafe { blocks::collapse::<Neon>(text, fold, out) }
}
