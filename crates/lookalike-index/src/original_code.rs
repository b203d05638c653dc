//! Encoding of originals: a Zstandard frame of the whole original, or of its difference from a
//! similar original.
//!
//! A difference is a frame whose prefix is the other original, like the output of `zstd
//! --patch-from`. Prefixes are part of the Zstandard library that already compresses texts; a
//! separate library for differences (bsdiff, xdelta) would add another format for sizes of the same
//! order.

use zstd::zstd_safe::{CCtx, CParameter, DCtx, compress_bound, get_error_name};

/// Maximum length of the chain of differences from an original to one that is stored as a whole.
pub(crate) const MAX_CHAIN: usize = 8;
/// The compression level: originals are written once, and rarely read.
const LEVEL: i32 = 9;
/// The least and the greatest logarithm of a window. 2³⁰ is more than two originals.
const WINDOW_LOGS: std::ops::RangeInclusive<u32> = 10..=30;
/// The least logarithm of a window for which long matches are searched separately.
const LONG_WINDOW_LOG: u32 = 23;

/// Encodes an original, as a difference from `base` if there is one.
///
/// # Errors
/// The error of the library, such as a lack of memory.
pub(crate) fn encode(bytes: &[u8], base: Option<&[u8]>) -> Result<Vec<u8>, String> {
    let failed = |code| format!("it cannot be compressed: {}", get_error_name(code));
    let window_log = window_log(bytes.len() + base.map_or(0, <[u8]>::len));
    let mut context = CCtx::create();
    context.set_parameter(CParameter::CompressionLevel(LEVEL)).map_err(failed)?;
    context.set_parameter(CParameter::WindowLog(window_log)).map_err(failed)?;
    let is_long = window_log >= LONG_WINDOW_LOG;
    context.set_parameter(CParameter::EnableLongDistanceMatching(is_long)).map_err(failed)?;
    if let Some(base) = base {
        context.ref_prefix(base).map_err(failed)?;
    }
    let mut code = Vec::with_capacity(compress_bound(bytes.len()));
    context.compress2(&mut code, bytes).map_err(failed)?;
    code.shrink_to_fit();
    Ok(code)
}

/// Decodes an original of `bytes` bytes. Takes no more memory, whatever size the frame declares.
///
/// # Errors
/// The reason why the frame is invalid.
pub(crate) fn decode(code: &[u8], base: Option<&[u8]>, bytes: usize) -> Result<Vec<u8>, String> {
    let failed = |code| format!("it cannot be decompressed: {}", get_error_name(code));
    let mut context = DCtx::create();
    if let Some(base) = base {
        context.ref_prefix(base).map_err(failed)?;
    }
    let mut original = Vec::new();
    let reserved = original.try_reserve_exact(bytes);
    reserved.map_err(|_| format!("not enough memory for its {bytes} bytes"))?;
    context.decompress(&mut original, code).map_err(failed)?;
    if original.len() == bytes {
        Ok(original)
    } else {
        Err(format!("it has {} bytes, expected {bytes}", original.len()))
    }
}

/// The logarithm of a window that covers this number of bytes.
fn window_log(bytes: usize) -> u32 {
    let log = bytes.max(1).next_power_of_two().trailing_zeros();
    log.clamp(*WINDOW_LOGS.start(), *WINDOW_LOGS.end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn originals_round_trip(
            bytes in proptest::collection::vec(any::<u8>(), 0..3000),
            base in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..3000)),
        ) {
            let code = encode(&bytes, base.as_deref()).unwrap();
            prop_assert_eq!(decode(&code, base.as_deref(), bytes.len()).unwrap(), bytes);
        }

        #[test]
        fn damaged_frames_never_panic(
            at in any::<proptest::sample::Index>(),
            flip in 1u8..,
        ) {
            let bytes = b"an original of some words, which repeat, which repeat".repeat(20);
            let mut code = encode(&bytes, None).unwrap();
            let at = at.index(code.len());
            code[at] ^= flip;
            // A hash check elsewhere detects changed bytes. Here, decoding must only not panic.
            let decoded = decode(&code, None, bytes.len());
            prop_assert!(decoded.is_err() || decoded.unwrap().len() == bytes.len());
        }
    }

    #[test]
    fn differences_from_similar_originals_are_small() {
        let base: Vec<u8> =
            (0..200_000u32).flat_map(|i| i.wrapping_mul(0x9e37_79b9).to_le_bytes()).collect();
        let mut bytes = base.clone();
        bytes.splice(400_000..400_010, *b"other words");
        let (full, difference) =
            (encode(&bytes, None).unwrap(), encode(&bytes, Some(&base)).unwrap());
        assert!(difference.len() * 100 < full.len(), "{} of {}", difference.len(), full.len());
        assert_eq!(decode(&difference, Some(&base), bytes.len()).unwrap(), bytes);
        assert!(decode(&difference, None, bytes.len()).map_or(true, |other| other != bytes));
    }

    #[test]
    fn wrong_declared_lengths_are_errors() {
        let code = encode(&vec![0; 1 << 20], None).unwrap();
        assert!(decode(&code, None, 1000).is_err());
        assert!(decode(&code, None, (1 << 20) + 1).is_err());
        assert!(decode(&code, None, usize::MAX).is_err());
        assert!(decode(b"", None, 5).is_err());
    }
}
