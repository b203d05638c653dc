//! Decodes values of header fields: encoded words (RFC 2047), folds, undeclared encodings.
//!
//! Used instead of mailparse, which decodes each word alone and so breaks characters that a sender
//! split between words. mailparse takes 1.8 times the CPU time for the same values (November 2026,
//! `contributing/libraries.md`).

use super::charset;
use super::transfer;
use memchr::memmem;
use std::borrow::Cow;

/// Maximum bytes of a value; the rest is dropped.
const VALUE_BYTES: usize = 64 << 10;
/// Maximum bytes of an encoded word; the standard allows 75, some senders use more.
const WORD_BYTES: usize = 4 << 10;

/// Decodes a raw value. Consecutive words of one encoding are decoded together, since some senders
/// split characters between words; white space between words is removed.
pub(super) fn text(raw: &[u8]) -> Cow<'_, str> {
    let raw = &raw[..raw.len().min(VALUE_BYTES)];
    let Some(first) = memmem::find(raw, b"=?") else { return charset::decoded(raw, None) };
    let mut value =
        ValueDecoder { out: String::with_capacity(raw.len()), label: "", bytes: Vec::new() };
    let mut at = first;
    let mut literal = 0;
    while let Some(found) = memmem::find(&raw[at..], b"=?") {
        at += found;
        let Some((label, bytes, length)) = word(&raw[at..]) else {
            at += 2;
            continue;
        };
        let between = &raw[literal..at];
        if literal == 0 || !between.iter().all(u8::is_ascii_whitespace) {
            value.literal(between);
        }
        value.word(label, &bytes);
        at += length;
        literal = at;
    }
    value.literal(&raw[literal..]);
    Cow::Owned(value.out)
}

struct ValueDecoder<'a> {
    out: String,
    /// Encoding of the pending bytes.
    label: &'a str,
    bytes: Vec<u8>,
}

impl<'a> ValueDecoder<'a> {
    fn word(&mut self, label: &'a str, bytes: &[u8]) {
        if !self.label.eq_ignore_ascii_case(label) {
            self.flush();
            self.label = label;
        }
        self.bytes.extend_from_slice(bytes);
    }

    fn literal(&mut self, raw: &[u8]) {
        self.flush();
        self.out.push_str(&charset::decoded(raw, None));
    }

    fn flush(&mut self) {
        self.out.push_str(&charset::decoded(&self.bytes, Some(self.label)));
        self.bytes.clear();
    }
}

/// The encoded word at the start: its encoding, its decoded bytes, and its length.
fn word(raw: &[u8]) -> Option<(&str, Vec<u8>, usize)> {
    let raw = &raw[..raw.len().min(WORD_BYTES)];
    let label = raw.get(2..)?;
    let label = &label[..label.iter().take(64).position(|byte| *byte == b'?')?];
    let start = 2 + label.len() + 3;
    let [b'?', method, b'?'] = *raw.get(start - 3..start)? else { return None };
    let length = memmem::find(&raw[start..], b"?=")?;
    let bytes = transfer::word(method, &raw[start..start + length])?;
    let label = str::from_utf8(label).ok()?;
    let label = label.split_once('*').map_or(label, |(label, _)| label);
    Some((label, bytes, start + length + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_words_are_decoded() {
        let cases = [
            ("plain", "plain"),
            ("=?utf-8?Q?a_b=C3=A9?=", "a bé"),
            ("=?UTF-8?B?w6k=?= =?utf-8?b?w6k=?=", "éé"),
            // One character in two words.
            ("=?utf-8?Q?=C3?=\r\n =?utf-8?Q?=A9?=", "é"),
            ("=?iso-8859-1?Q?=E9?= =?utf-8?Q?=C3=A9?=", "éé"),
            ("Re: =?iso-8859-1*en?q?=E9?= x", "Re: é x"),
            ("\"=?utf-8?Q?Jos=C3=A9?=\" <a@b>", "\"José\" <a@b>"),
            ("=?x-none?Q?a?=", "a"),
            ("=?utf-8?X?a?=", "=?utf-8?X?a?="),
            ("a =? b", "a =? b"),
            ("=?utf-8?Q?a", "=?utf-8?Q?a"),
            ("=?utf-8?Q?=3D?=", "="),
            ("=?utf-8?Q??=", ""),
            ("=?", "=?"),
        ];
        for (raw, expected) in cases {
            assert_eq!(text(raw.as_bytes()), expected, "{raw:?}");
        }
        assert_eq!(text(b"caf\xc3\xa9"), "café");
    }
}
