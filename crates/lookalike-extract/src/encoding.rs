//! Decodes bytes of unknown encoding.
//!
//! The crate `encoding_rs` decodes and chardetng guesses. This module adds UTF-32 and the detection
//! of UTF-16 without a byte order mark, which both crates lack (November 2026).

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use std::borrow::Cow;

/// Bytes examined by the encoding detector.
const EVIDENCE_BYTES: usize = 1 << 20;
/// Maximum and minimum bytes examined by the detector of UTF-16.
const UTF_16_BYTES: usize = 4096;
const MIN_UTF_16_BYTES: usize = 8;

/// The encoding of a byte order mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// UTF-32, which is not in the WHATWG Encoding Standard.
    Utf32 {
        /// The byte order.
        big_endian: bool,
    },
    /// Any other encoding.
    Other(&'static Encoding),
}

/// The byte order mark at the start of `bytes`.
pub fn mark(bytes: &[u8]) -> Option<Mark> {
    // UTF-32LE first: its mark begins with the mark of UTF-16LE.
    if bytes.starts_with(&[0xFF, 0xFE, 0, 0]) {
        Some(Mark::Utf32 { big_endian: false })
    } else if bytes.starts_with(&[0, 0, 0xFE, 0xFF]) {
        Some(Mark::Utf32 { big_endian: true })
    } else {
        Encoding::for_bom(bytes).map(|(encoding, _)| Mark::Other(encoding))
    }
}

/// Whether the first bytes of a file are binary: they contain a NUL, and neither a byte order mark
/// nor `forced` nor detection indicates UTF-16 or UTF-32.
pub fn is_binary(bytes: &[u8], forced: Option<&'static Encoding>) -> bool {
    if memchr::memchr(0, bytes).is_none() {
        return false;
    }
    !match mark(bytes) {
        Some(Mark::Utf32 { .. }) => true,
        Some(Mark::Other(encoding)) => encoding != UTF_8,
        None => match forced {
            Some(encoding) => encoding == UTF_16LE || encoding == UTF_16BE,
            None => unmarked_utf_16(bytes).is_some(),
        },
    }
}

/// Detects UTF-16 without a byte order mark by its Latin letters and blanks, whose upper byte is
/// zero. At least two in five of the first characters must have such a byte. None may be a control
/// character other than white space.
pub fn unmarked_utf_16(bytes: &[u8]) -> Option<&'static Encoding> {
    let sample = &bytes[..bytes.len().min(UTF_16_BYTES) / 2 * 2];
    if sample.len() < MIN_UTF_16_BYTES {
        return None;
    }
    let zeros = |offset: usize| sample.iter().skip(offset).step_by(2).filter(|b| **b == 0).count();
    // A character such as U+1F600 has a zero as a lower byte.
    let are_upper = |upper, lower| upper * 5 >= sample.len() && lower * 20 <= upper;
    let encoding = match (zeros(0), zeros(1)) {
        (lower, upper) if are_upper(upper, lower) => UTF_16LE,
        (upper, lower) if are_upper(upper, lower) => UTF_16BE,
        _ => return None,
    };
    let (text, _) = encoding.decode_without_bom_handling(sample);
    // The sample may end within a surrogate pair.
    let text = text.strip_suffix('\u{FFFD}').unwrap_or(&text);
    let is_text = |c: char| !c.is_control() || c.is_ascii_whitespace();
    text.chars().all(|c| is_text(c) && c != '\u{FFFD}').then_some(encoding)
}

/// Decodes a whole file. Invalid sequences become U+FFFD. `None` for a NUL byte outside UTF-16 and
/// UTF-32.
///
/// The encoding is the first of:
/// - `forced`
/// - the encoding of the byte order mark
/// - UTF-16 if detected
/// - UTF-8 if valid, except a truncated last character
/// - the guess of the detector from up to 1 MiB
pub fn decode<'a>(bytes: &'a [u8], forced: Option<&'static Encoding>) -> Option<Cow<'a, str>> {
    if is_binary(bytes, forced) {
        return None;
    }
    if let Some(encoding) = forced {
        return Some(encoding.decode_with_bom_removal(bytes).0);
    }
    match mark(bytes) {
        Some(Mark::Utf32 { big_endian }) => {
            let mut text = String::with_capacity(bytes.len() / 4);
            let chars = bytes.get(4..).unwrap_or_default().chunks(4);
            text.extend(chars.map(|unit| utf32(unit, big_endian)));
            return Some(Cow::Owned(text));
        }
        Some(Mark::Other(encoding)) => return Some(encoding.decode_with_bom_removal(bytes).0),
        None if memchr::memchr(0, bytes).is_some() => {
            let encoding = unmarked_utf_16(bytes)?;
            return Some(encoding.decode_without_bom_handling(bytes).0);
        }
        None => {}
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(Cow::Borrowed(text)),
        Err(error) if error.error_len().is_none() => Some(String::from_utf8_lossy(bytes)),
        Err(_) => {
            let evidence = &bytes[..bytes.len().min(EVIDENCE_BYTES)];
            let encoding = detected(evidence, evidence.len() == bytes.len());
            Some(encoding.decode_without_bom_handling(bytes).0)
        }
    }
}

/// The encoding declared by the sender of a page or text, unless the bytes contradict it.
pub(crate) fn declared(bytes: &[u8], label: Option<&str>) -> Option<&'static Encoding> {
    let label = label?.trim().trim_matches(['"', '\'']);
    let encoding = Encoding::for_label(label.as_bytes()).filter(|e| *e != REPLACEMENT)?;
    if encoding == WINDOWS_1252 || encoding == UTF_8 {
        if str::from_utf8(bytes).is_ok() {
            // Text that is valid UTF-8 by chance is rarer than a wrong label.
            return Some(UTF_8);
        }
        // Programs write this label for any text.
        if encoding == WINDOWS_1252 && label.to_ascii_lowercase().contains("ascii") {
            return None;
        }
    }
    Some(encoding)
}

/// Guesses the encoding of bytes that are not valid UTF-8. `whole` is true if the bytes do not end
/// within a character.
pub(crate) fn detected(evidence: &[u8], whole: bool) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(evidence, whole);
    detector.guess(None, Utf8Detection::Deny)
}

/// Like [`decode`], but skips the slow detector. Only ASCII characters are reliable.
pub(crate) fn glance(bytes: &[u8]) -> Option<Cow<'_, str>> {
    if mark(bytes).is_some() || memchr::memchr(0, bytes).is_some() {
        return decode(bytes, None);
    }
    Some(UTF_8.decode_without_bom_handling(bytes).0)
}

/// Decodes four bytes of UTF-32; U+FFFD if they are invalid.
pub fn utf32(unit: &[u8], big_endian: bool) -> char {
    let code = <[u8; 4]>::try_from(unit)
        .map(|unit| if big_endian { u32::from_be_bytes(unit) } else { u32::from_le_bytes(unit) });
    code.ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
}
