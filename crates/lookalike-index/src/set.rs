//! Compressed shingle sets: lossless encoding of ascending 64-bit hashes.
//!
//! ```text
//! count (LEB128) · upper bits · lower bits
//! ```
//!
//! Each of n hashes is divided into its upper ⌈log₂ n⌉ bits (at least 0, at most 63) and the
//! remaining `low` bits. The upper parts are ascending and are written as a row of bits. For each
//! hash, the row has as many zeros as the difference from the previous upper part, then a one. The
//! row is padded with zeros to whole bytes. The lower parts follow, `low` bits each. Bits are
//! counted from the lowest of each byte. This is the code of Elias and Fano. It is within about a
//! bit per hash of the minimum for such sets: 58 bits per hash for 300 hashes.
//!
//! No library can replace this file, because these bytes are stored and specified
//! (`docs/reference/index-folder.md`). The crate `sucds` has Elias-Fano sequences in memory, and
//! its own form on disk.

use crate::error::IndexError;

/// Appends the code of a set: ascending, without repeats.
pub fn encode(set: &[u64], out: &mut Vec<u8>) {
    varint(set.len() as u64, out);
    let Some(last) = set.last() else { return };
    let low = low_bits(set.len());
    push_uppers(set, upper(*last, low), low, out);
    push_lowers(set, low, out);
}

/// Appends the row of upper bits. The 1 bit of hash `i` follows `i` other 1 bits, and as many 0
/// bits as the value of its upper part.
fn push_uppers(set: &[u64], last: u64, low: u32, out: &mut Vec<u8>) {
    let bits = last as usize + set.len();
    let start = out.len();
    out.resize(start + bits.div_ceil(8), 0);
    let row = &mut out[start..];
    for (i, hash) in set.iter().enumerate() {
        let at = upper(*hash, low) as usize + i;
        row[at / 8] |= 1 << (at % 8);
    }
}

/// Appends the `low` lower bits of each hash.
fn push_lowers(set: &[u64], low: u32, out: &mut Vec<u8>) {
    out.reserve((set.len() * low as usize).div_ceil(8));
    let mask = lower_mask(low);
    let mut word = 0;
    let mut filled = 0;
    for hash in set {
        let lower = hash & mask;
        word |= lower << filled;
        filled += low;
        if filled >= 64 {
            out.extend_from_slice(&word.to_le_bytes());
            filled -= 64;
            word = if filled == 0 { 0 } else { lower >> (low - filled) };
        }
    }
    out.extend_from_slice(&word.to_le_bytes()[..filled.div_ceil(8) as usize]);
}

/// The number of hashes of an encoded set, without decoding it.
///
/// # Errors
/// [`IndexError::Damaged`] for invalid bytes.
pub fn len(code: &[u8]) -> Result<usize, IndexError> {
    Ok(header(code)?.0)
}

/// Replaces the content of `set` by the decoded set.
///
/// # Errors
/// [`IndexError::Damaged`] for bytes that [`encode`] does not produce. Allocates no more than the
/// bytes can contain.
pub fn decode(code: &[u8], set: &mut Vec<u64>) -> Result<(), IndexError> {
    set.clear();
    let (count, rest) = header(code)?;
    if count == 0 {
        return if rest.is_empty() { Ok(()) } else { Err(damaged("bytes behind it")) };
    }
    let low = low_bits(count);
    let lower_bytes = (count as u64 * u64::from(low)).div_ceil(8);
    let lower_bytes = usize::try_from(lower_bytes).unwrap_or(usize::MAX);
    let upper_bytes = rest.len().checked_sub(lower_bytes).ok_or_else(|| damaged("cut short"))?;
    let (uppers, lowers) = rest.split_at(upper_bytes);
    if (count - 1) / 8 >= uppers.len() {
        return Err(damaged("cut short"));
    }
    set.reserve(count);
    decode_upper(uppers, count, low, set)?;
    let mut at = 0u64;
    let mut previous = None;
    for hash in set.iter_mut() {
        *hash |= bits_at(lowers, at, low);
        at += u64::from(low);
        if previous.is_some_and(|previous| previous >= *hash) {
            return Err(damaged("not ascending"));
        }
        previous = Some(*hash);
    }
    Ok(())
}

fn decode_upper(
    bytes: &[u8],
    count: usize,
    low: u32,
    set: &mut Vec<u64>,
) -> Result<(), IndexError> {
    let most = upper(u64::MAX, low);
    let mut zeros_before = 0u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let mut word = u64::from_le_bytes(word);
        let mut left = 8 * chunk.len() as u32;
        while word != 0 {
            let zeros = word.trailing_zeros();
            let value = zeros_before + u64::from(zeros);
            if set.len() == count || value > most {
                return Err(damaged("more upper bits than hashes"));
            }
            set.push(if low == 64 { 0 } else { value << low });
            zeros_before = value;
            left -= zeros + 1;
            word = if zeros == 63 { 0 } else { word >> (zeros + 1) };
        }
        zeros_before += u64::from(left);
    }
    if set.len() == count { Ok(()) } else { Err(damaged("fewer upper bits than hashes")) }
}

/// The number of bits of a hash below the upper ones.
fn low_bits(count: usize) -> u32 {
    64 - (count.max(1) as u64).next_power_of_two().trailing_zeros().min(63)
}

fn lower_mask(low: u32) -> u64 {
    if low == 64 { u64::MAX } else { (1 << low) - 1 }
}

fn upper(hash: u64, low: u32) -> u64 {
    if low == 64 { 0 } else { hash >> low }
}

/// `width` bits (at most 64) from bit `at` on; zeros after the end.
fn bits_at(bytes: &[u8], at: u64, width: u32) -> u64 {
    let first = (at / 8) as usize;
    let shift = (at % 8) as u32;
    let mut window = [0u8; 16];
    if let Some(full) = bytes.get(first..first + 16) {
        window.copy_from_slice(full);
    } else {
        let rest = bytes.get(first..).unwrap_or_default();
        window[..rest.len()].copy_from_slice(rest);
    }
    (u128::from_le_bytes(window) >> shift) as u64 & lower_mask(width)
}

fn header(code: &[u8]) -> Result<(usize, &[u8]), IndexError> {
    let mut value = 0u64;
    let mut shift = 0;
    for (i, byte) in code.iter().enumerate().take(9) {
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            let count = usize::try_from(value).map_err(|_| damaged("too many hashes"))?;
            return Ok((count, &code[i + 1..]));
        }
    }
    Err(damaged("no count"))
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn damaged(why: &str) -> IndexError {
    IndexError::damaged("a shingle set", why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_core::hash::mix64;
    use proptest::prelude::*;

    fn round_trip(set: &[u64]) -> usize {
        let mut code = Vec::new();
        encode(set, &mut code);
        assert_eq!(len(&code).unwrap(), set.len());
        let mut decoded = vec![7];
        decode(&code, &mut decoded).unwrap();
        assert_eq!(decoded, set);
        code.len()
    }

    #[test]
    fn sets_come_back() {
        round_trip(&[]);
        for hash in [0, 1, u64::MAX, 1 << 63] {
            round_trip(&[hash]);
        }
        round_trip(&[0, u64::MAX]);
        round_trip(&(0..1000).collect::<Vec<u64>>());
        round_trip(&(0..1000).map(|i| u64::MAX - 999 + i).collect::<Vec<u64>>());
    }

    #[test]
    fn known_answer() {
        let mut code = Vec::new();
        encode(&[1, 2, 1 << 63], &mut code);
        let mut expected = vec![3, 0b10011];
        let lower: u128 = 1 | 2 << 62;
        expected.extend_from_slice(&lower.to_le_bytes());
        expected.extend_from_slice(&[0; 8]);
        expected.truncate(2 + (3 * 62usize).div_ceil(8));
        assert_eq!(code, expected);
    }

    #[test]
    fn few_bytes_are_needed() {
        let mut set: Vec<u64> = (0..340).map(mix64).collect();
        set.sort_unstable();
        let bits = 8.0 * round_trip(&set) as f64 / 340.0;
        assert!(bits < 58.0, "{bits} bits a hash");
    }

    /// The code as specified at the top of the file, bit by bit.
    fn specified(set: &[u64]) -> Vec<u8> {
        let low = low_bits(set.len());
        let mut rows = [Vec::new(), Vec::new()];
        let mut before = 0;
        for hash in set {
            rows[0].resize(rows[0].len() + (upper(*hash, low) - before) as usize, false);
            rows[0].push(true);
            before = upper(*hash, low);
            rows[1].extend((0..low).map(|bit| hash >> bit & 1 == 1));
        }
        let mut code = Vec::new();
        varint(set.len() as u64, &mut code);
        for row in rows {
            let byte = |bits: &[bool]| bits.iter().rev().fold(0, |b, bit| b << 1 | u8::from(*bit));
            code.extend(row.chunks(8).map(byte));
        }
        code
    }

    proptest! {
        #[test]
        fn set_code_matches_the_specification(
            set in proptest::collection::btree_set(any::<u64>(), 0..300),
            shift in 0u32..64,
        ) {
            let set: std::collections::BTreeSet<u64> = set.iter().map(|h| h >> shift).collect();
            let set: Vec<u64> = set.into_iter().collect();
            let mut code = vec![9];
            encode(&set, &mut code);
            prop_assert_eq!(&code[1..], specified(&set));
        }

        #[test]
        fn sets_round_trip(set in proptest::collection::btree_set(any::<u64>(), 0..300),
                              shift in 0u32..64) {
            let set: std::collections::BTreeSet<u64> = set.iter().map(|h| h >> shift).collect();
            round_trip(&set.into_iter().collect::<Vec<u64>>());
        }

        #[test]
        fn set_decoder_never_panics(code in proptest::collection::vec(any::<u8>(), 0..64)) {
            let mut set = Vec::new();
            if decode(&code, &mut set).is_ok() {
                let mut encoded = Vec::new();
                encode(&set, &mut encoded);
                let mut decoded = Vec::new();
                decode(&encoded, &mut decoded).unwrap();
                prop_assert_eq!(set, decoded);
            }
        }

        #[test]
        fn a_cut_code_is_another(set in proptest::collection::btree_set(any::<u64>(), 1..40),
                                 cut in 1usize..8) {
            let mut code = Vec::new();
            encode(&set.into_iter().collect::<Vec<u64>>(), &mut code);
            let (mut set, end) = (Vec::new(), code.len().saturating_sub(cut));
            // If bytes are cut, zeros at the end of the upper bits may be read as lower bits.
            if decode(&code[..end], &mut set).is_ok() {
                let mut encoded = Vec::new();
                encode(&set, &mut encoded);
                prop_assert_ne!(encoded, code);
            }
        }
    }
}
