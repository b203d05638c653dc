//! Detection of the encoding of a page.
//!
//! No library is used: html5gum accepts only UTF-8, and `encoding_rs` does not search for
//! declarations (November 2026). The pages in `bench/matrix.md` include its speed.

use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use memchr::{memchr, memmem};
use std::borrow::Cow;

/// Bytes examined for a declared encoding.
const HEAD_BYTES: usize = 4 << 10;
/// Minimum bytes per NUL byte. If NUL bytes are rarer, they are ignored, as in browsers.
const NULS: usize = 1 << 10;

/// Decodes a page by the first of: byte order mark, `declared`, its own declaration, UTF-8 if
/// valid, a guess. `None` for many NUL bytes.
pub(super) fn decode<'a>(
    bytes: &'a [u8],
    declared: Option<&'static Encoding>,
) -> Option<Cow<'a, str>> {
    let encoding = if Encoding::for_bom(bytes).is_some() {
        None
    } else {
        declared.filter(|encoding| *encoding != REPLACEMENT).or_else(|| declared_in(bytes))
    };
    if let Some(text) = crate::encoding::decode(bytes, encoding) {
        return Some(text);
    }
    let nuls = memchr::memchr_iter(0, bytes).count();
    if nuls > bytes.len() / NULS + 1 {
        return None;
    }
    let without_nul: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
    crate::encoding::decode(&without_nul, encoding).map(|text| Cow::Owned(text.into_owned()))
}

/// The encoding declared in an XML declaration or a `meta` (prescan of the HTML standard).
fn declared_in(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    if head.starts_with(b"<?xml") {
        let declaration = &head[..memchr(b'>', head).unwrap_or(head.len())];
        if let Some(at) = memmem::find(declaration, b"encoding") {
            return label(after_equals(&declaration[at + 8..])?);
        }
    }
    let mut rest = head;
    while let Some(at) = memchr(b'<', rest) {
        rest = &rest[at + 1..];
        if rest.starts_with(b"!--") {
            // `<!-->` is a comment.
            rest = &rest[memmem::find(&rest[1..], b"-->").map_or(rest.len(), |end| end + 4)..];
        } else if rest.get(..4).is_some_and(|name| name.eq_ignore_ascii_case(b"meta")) {
            let tag = &rest[4..memchr(b'>', rest).unwrap_or(rest.len())];
            if let Some(encoding) = declared_by(tag) {
                return Some(encoding);
            }
        }
    }
    None
}

/// The encoding in the attributes of a `meta`: `charset=x` as an attribute or within `content`.
fn declared_by(tag: &[u8]) -> Option<&'static Encoding> {
    let lower = tag.to_ascii_lowercase();
    let mut from = 0;
    while let Some(at) = memmem::find(&lower[from..], b"charset") {
        from += at + b"charset".len();
        if let Some(encoding) = after_equals(&lower[from..]).and_then(label) {
            return Some(encoding);
        }
    }
    None
}

/// The value after `=`, with or without quotes.
fn after_equals(rest: &[u8]) -> Option<&[u8]> {
    let value = rest.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    match value.first()? {
        quote @ (b'"' | b'\'') => value[1..].split(|byte| byte == quote).next(),
        _ => value.split(|byte| b";\"'> \t".contains(byte)).next(),
    }
}

/// The encoding of a label. A UTF-16 label that is readable as ASCII means UTF-8.
fn label(label: &[u8]) -> Option<&'static Encoding> {
    if label.trim_ascii().eq_ignore_ascii_case(b"x-user-defined") {
        return Some(WINDOWS_1252);
    }
    let encoding = Encoding::for_label(label)?;
    match encoding {
        _ if encoding == UTF_16LE || encoding == UTF_16BE => Some(UTF_8),
        _ if encoding == REPLACEMENT => None,
        _ => Some(encoding),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{BIG5, EUC_JP, ISO_8859_2, SHIFT_JIS, WINDOWS_1251};

    #[test]
    fn pages_declare_their_encoding() {
        let cases: &[(&str, Option<&'static Encoding>)] = &[
            ("<meta charset=utf-8>", Some(UTF_8)),
            ("<html><META CharSet = 'Shift_JIS' />", Some(SHIFT_JIS)),
            (
                "<meta http-equiv=Content-Type content=\"text/html; charset=windows-1251\">",
                Some(WINDOWS_1251),
            ),
            ("<meta content='text/html;charset=big5' http-equiv='content-type'>", Some(BIG5)),
            ("<meta charset=utf-16>", Some(UTF_8)),
            ("<meta charset=x-user-defined>", Some(WINDOWS_1252)),
            ("<meta charset=hz-gb-2312><meta charset=iso-8859-2>", Some(ISO_8859_2)),
            ("<!-- <meta charset=big5> --><meta charset=euc-jp>", Some(EUC_JP)),
            ("<!--><meta charset=euc-jp>", Some(EUC_JP)),
            ("<?xml version='1.0' encoding='ISO-8859-2'?><html>", Some(ISO_8859_2)),
            ("<meta name=charset><meta charset>", None),
            ("<meta charset=", None),
            ("<meta", None),
            ("<!--", None),
            ("charset=big5", None),
        ];
        for (page, expected) in cases {
            assert_eq!(declared_in(page.as_bytes()), *expected, "{page}");
        }
        let late = format!("{}<meta charset=big5>", " ".repeat(HEAD_BYTES));
        assert_eq!(declared_in(late.as_bytes()), None);
    }

    #[test]
    fn an_outer_declaration_takes_precedence() {
        let page = b"<meta charset=iso-8859-2>\xb1";
        assert!(decode(page, None).unwrap().ends_with('ą'));
        assert!(decode(page, Some(WINDOWS_1252)).unwrap().ends_with('±'));
        let marked = "\u{feff}<meta charset=iso-8859-2>ö";
        assert!(decode(marked.as_bytes(), Some(WINDOWS_1252)).unwrap().ends_with("2>ö"));
        assert!(decode("<p>ö".as_bytes(), None).unwrap().ends_with('ö'));
    }

    #[test]
    fn a_few_nul_bytes_are_ignored() {
        assert_eq!(decode(b"a\0b", None).unwrap(), "ab");
        assert!(decode(b"a\0b\0c", None).is_none());
        assert_eq!(decode(b"\xff\xfea\0b\0", None).unwrap(), "ab");
    }
}
