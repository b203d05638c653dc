//! Decodes bytes with a declared encoding that may be wrong.

use crate::encoding::{self, declared};
use encoding_rs::Encoding;
use memchr::{memchr, memrchr};
use std::borrow::Cow;

/// Bytes examined by the encoding detector.
const EVIDENCE_BYTES: usize = 8 << 10;
/// Bytes before a non-ASCII character that are searched for the start of its line.
const BEFORE: usize = 256;

/// Decodes bytes in the declared encoding if nearly all are valid in it, or else in a detected one.
/// NUL bytes are removed.
pub(super) fn decoded<'a>(bytes: &'a [u8], label: Option<&str>) -> Cow<'a, str> {
    if let Some(encoding) = declared(bytes, label) {
        let (text, errors) = encoding.decode_with_bom_removal(bytes);
        if !errors || few_errors(&text) {
            return without_nul(text);
        }
    }
    if let Ok(text) = str::from_utf8(bytes) {
        return without_nul(Cow::Borrowed(text));
    }
    let (evidence, whole) = evidence(bytes);
    without_nul(encoding::detected(&evidence, whole).decode_with_bom_removal(bytes).0)
}

/// The first lines with non-ASCII characters, and whether they end with a whole character. Only
/// such lines distinguish encodings, and the detector is slow.
fn evidence(bytes: &[u8]) -> (Vec<u8>, bool) {
    let mut evidence = Vec::new();
    let mut at = 0;
    while evidence.len() < EVIDENCE_BYTES {
        let found = at + Encoding::ascii_valid_up_to(&bytes[at..]);
        if found == bytes.len() {
            break;
        }
        let near = at.max(found.saturating_sub(BEFORE));
        // No encoding has a line feed within a character, so a cut there splits no character.
        let start = memrchr(b'\n', &bytes[near..found]).map_or(found, |end| near + end + 1);
        let most = bytes.len().min(found + EVIDENCE_BYTES - evidence.len());
        let Some(end) = memchr(b'\n', &bytes[found..most]) else {
            evidence.extend_from_slice(&bytes[start..most]);
            return (evidence, most == bytes.len());
        };
        at = found + end + 1;
        evidence.extend_from_slice(&bytes[start..at]);
    }
    (evidence, true)
}

fn few_errors(text: &str) -> bool {
    let mut errors = 0_usize;
    let mut others = 0_usize;
    for char in text.chars().filter(|char| !char.is_ascii()) {
        *(if char == char::REPLACEMENT_CHARACTER { &mut errors } else { &mut others }) += 1;
    }
    errors * 8 <= others
}

fn without_nul(text: Cow<'_, str>) -> Cow<'_, str> {
    if memchr::memchr(0, text.as_bytes()).is_none() {
        return text;
    }
    Cow::Owned(text.replace('\0', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_labels_are_seen() {
        let cases: [(&[u8], Option<&str>, &str); 10] = [
            (b"caf\xe9", Some("iso-8859-1"), "café"),
            (b"caf\xc3\xa9", Some("iso-8859-1"), "café"),
            (b"caf\xc3\xa9", Some("us-ascii"), "café"),
            (b"caf\xc3\xa9", None, "café"),
            (b"caf\xc3\xa9", Some("x-unknown"), "café"),
            (b"\xcf\xf0\xe8\xe2\xe5\xf2", Some("windows-1251"), "Привет"),
            (b"\x1b$B%F%9%H\x1b(B", Some("ISO-2022-JP"), "テスト"),
            (b"a\0b", Some("utf-8"), "ab"),
            (b"a\0b", None, "ab"),
            (
                b"\xf0\xd2\xc9\xd7\xc5\xd4, \xcb\xc1\xcb \xc4\xc5\xcc\xc1",
                Some("utf-8"),
                "Привет, как дела",
            ),
        ];
        for (bytes, label, text) in cases {
            assert_eq!(decoded(bytes, label), text, "{label:?}");
        }
    }
}
