//! Bytes of unknown encoding → text.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use std::borrow::Cow;

/// Bytes that the detector of encodings looks at.
const EVIDENCE_BYTES: usize = 1 << 20;

/// What a byte order mark says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// UTF-32, which the WHATWG Encoding Standard does not know.
    Utf32 {
        /// The byte order.
        big_endian: bool,
    },
    /// Any other.
    Other(&'static Encoding),
}

/// The byte order mark at the start.
pub fn mark(bytes: &[u8]) -> Option<Mark> {
    // UTF-32LE first: its mark begins with that of UTF-16LE.
    if bytes.starts_with(&[0xFF, 0xFE, 0, 0]) {
        Some(Mark::Utf32 { big_endian: false })
    } else if bytes.starts_with(&[0, 0, 0xFE, 0xFF]) {
        Some(Mark::Utf32 { big_endian: true })
    } else {
        Encoding::for_bom(bytes).map(|(encoding, _)| Mark::Other(encoding))
    }
}

/// Whether the first bytes of a file promise that it is binary: a NUL where no byte order mark
/// and no forced UTF-16 explains it.
pub fn is_binary(bytes: &[u8], forced: Option<&'static Encoding>) -> bool {
    let wide = match mark(bytes) {
        Some(Mark::Utf32 { .. }) => true,
        Some(Mark::Other(encoding)) => encoding != UTF_8,
        None => forced.is_some_and(|e| e == UTF_16LE || e == UTF_16BE),
    };
    !wide && memchr::memchr(0, bytes).is_some()
}

/// The text of a whole file. The encoding is, in this order: the forced one; that of the byte
/// order mark; UTF-8 if the bytes are valid (a character cut at the very end is forgiven); what
/// the detector makes of up to 1 MiB. What has no meaning in it becomes U+FFFD.
/// `None` where there is a NUL byte outside of UTF-16 and UTF-32.
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

/// The encoding that a page or a text has according to its sender, unless its bytes say that this
/// is wrong.
pub(crate) fn declared(bytes: &[u8], label: Option<&str>) -> Option<&'static Encoding> {
    let label = label?.trim().trim_matches(['"', '\'']);
    let encoding = Encoding::for_label(label.as_bytes()).filter(|e| *e != REPLACEMENT)?;
    if encoding == WINDOWS_1252 || encoding == UTF_8 {
        if str::from_utf8(bytes).is_ok() {
            // What is valid UTF-8 by chance is very rare, what is mislabelled is not.
            return Some(UTF_8);
        }
        // Programs write these without looking at the text.
        if encoding == WINDOWS_1252 && label.to_ascii_lowercase().contains("ascii") {
            return None;
        }
    }
    Some(encoding)
}

/// The encoding that bytes seem to have that are no valid UTF-8, and `whole` if they do not end
/// within a character.
pub(crate) fn detected(evidence: &[u8], whole: bool) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(evidence, whole);
    detector.guess(None, Utf8Detection::Deny)
}

/// As [`decode`] for the ASCII in a text, without the detector, which is slow.
pub(crate) fn glance(bytes: &[u8]) -> Option<Cow<'_, str>> {
    if mark(bytes).is_some() {
        return decode(bytes, None);
    }
    (!is_binary(bytes, None)).then(|| UTF_8.decode_without_bom_handling(bytes).0)
}

/// The character of four bytes of UTF-32, or U+FFFD.
pub fn utf32(unit: &[u8], big_endian: bool) -> char {
    let code = <[u8; 4]>::try_from(unit)
        .map(|unit| if big_endian { u32::from_be_bytes(unit) } else { u32::from_le_bytes(unit) });
    code.ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
}
