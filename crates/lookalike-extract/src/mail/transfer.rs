//! Transfer encodings. Replaces the decoders of the crate mailparse, which drop every byte above
//! 126 from quoted-printable and reject a base64 text with one invalid character (according to its
//! source, November 2026). A property test compares both on valid base64.

use crate::reading::{CHECK_INTERVAL_BYTES, ExtractError, LimitTracker};
use data_encoding::BASE64;
use memchr::memchr;
use std::borrow::Cow;

/// The encoding of the body of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransferEncoding {
    /// No encoding.
    Identity,
    Base64,
    QuotedPrintable,
}

impl TransferEncoding {
    pub(super) fn of(value: Option<&[u8]>) -> Self {
        let value = value.unwrap_or_default();
        let end = value.iter().position(|b| !b.is_ascii_graphic() || *b == b';');
        let name = &value[..end.unwrap_or(value.len())];
        if name.eq_ignore_ascii_case(b"base64") {
            Self::Base64
        } else if name.eq_ignore_ascii_case(b"quoted-printable") {
            Self::QuotedPrintable
        } else {
            Self::Identity
        }
    }

    /// Decodes the body of a part, charged to the limits.
    pub(super) fn decode<'a>(
        self,
        bytes: &'a [u8],
        tracker: &LimitTracker<'_>,
    ) -> Result<Cow<'a, [u8]>, ExtractError> {
        let check = &mut || tracker.check_time();
        match self {
            Self::Identity => Ok(Cow::Borrowed(bytes)),
            Self::Base64 => {
                tracker.charge_bytes(bytes.len() / 4 * 3)?;
                base64(bytes, check).map(Cow::Owned)
            }
            Self::QuotedPrintable => {
                tracker.charge_bytes(bytes.len())?;
                quoted(bytes, check).map(Cow::Owned)
            }
        }
    }
}

/// Decodes an encoded word of a header. In the method Q, `_` is a blank. `None` for an unknown
/// method.
pub(super) fn word(method: u8, bytes: &[u8]) -> Option<Vec<u8>> {
    match method {
        b'B' | b'b' => base64(bytes, &mut || Ok(())).ok(),
        b'Q' | b'q' => {
            let blanks: Vec<u8> =
                bytes.iter().map(|b| if *b == b'_' { b' ' } else { *b }).collect();
            quoted(&blanks, &mut || Ok(())).ok()
        }
        _ => None,
    }
}

/// Called once per [`CHECK_INTERVAL_BYTES`].
type TimeCheck<'a> = &'a mut dyn FnMut() -> Result<(), ExtractError>;

/// Decodes base64. Bytes outside the alphabet are skipped, `=` ends the text, and the last group
/// may be truncated.
fn base64(bytes: &[u8], check: TimeCheck<'_>) -> Result<Vec<u8>, ExtractError> {
    let mut letters = Vec::with_capacity(bytes.len() + 3);
    'blocks: for block in bytes.chunks(CHECK_INTERVAL_BYTES) {
        check()?;
        for &byte in block {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' => letters.push(byte),
                b'=' if letters.len() % 4 >= 2 => break 'blocks,
                _ => {}
            }
        }
    }
    let missing = letters.len().wrapping_neg() % 4;
    letters.resize(letters.len() + missing, b'A');
    let decoded = BASE64.decode(&letters);
    let mut decoded = decoded.map_err(|error| ExtractError::damaged(error.to_string()))?;
    decoded.truncate(decoded.len() - missing);
    Ok(decoded)
}

/// Decodes quoted-printable. An invalid `=` is kept.
fn quoted(bytes: &[u8], check: TimeCheck<'_>) -> Result<Vec<u8>, ExtractError> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    let mut checked = 0;
    while let Some(found) = memchr(b'=', &bytes[at..]) {
        if at - checked >= CHECK_INTERVAL_BYTES {
            checked = at;
            check()?;
        }
        out.extend_from_slice(&bytes[at..at + found]);
        at += found + 1;
        let rest = &bytes[at..];
        if let Some(byte) = hex(rest) {
            out.push(byte);
            at += 2;
            continue;
        }
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        at += match &rest[blanks..] {
            [] | [b'\r'] => rest.len(),
            [b'\r', b'\n', ..] => blanks + 2,
            [b'\n' | b'\r', ..] => blanks + 1,
            _ => {
                out.push(b'=');
                0
            }
        };
    }
    out.extend_from_slice(&bytes[at..]);
    Ok(out)
}

fn hex(bytes: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*bytes.get(at)?).to_digit(16);
    Some((digit(0)? << 4 | digit(1)?) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::ExtractOptions;
    use proptest::prelude::*;

    fn decode(transfer: TransferEncoding, text: &[u8]) -> Vec<u8> {
        let options = ExtractOptions::default();
        transfer.decode(text, &LimitTracker::new(&options)).unwrap().into_owned()
    }

    #[test]
    fn damaged_encodings_decode_partially() {
        let cases: [(TransferEncoding, &str, &str); 15] = [
            (TransferEncoding::Base64, "aGVsbG8=", "hello"),
            (TransferEncoding::Base64, "aGVs\r\nbG8=\r\n", "hello"),
            (TransferEncoding::Base64, "aG!Vs bG8", "hello"),
            (TransferEncoding::Base64, "aGVsbG8=\nfooter", "hello"),
            (TransferEncoding::Base64, "aGVsbG", "hell"),
            (TransferEncoding::Base64, "aGVsb", "hel"),
            (TransferEncoding::Base64, "=aGVs", "hel"),
            (TransferEncoding::Base64, "", ""),
            (TransferEncoding::QuotedPrintable, "a=3Db =\r\nc=\nd= \ne", "a=b cde"),
            (TransferEncoding::QuotedPrintable, "a=zz=4", "a=zz=4"),
            (TransferEncoding::QuotedPrintable, "=c3=A9", "é"),
            (TransferEncoding::QuotedPrintable, "é=", "é"),
            (TransferEncoding::QuotedPrintable, "a=\r", "a"),
            (TransferEncoding::QuotedPrintable, "a==41", "a=A"),
            (TransferEncoding::Identity, "a=41", "a=41"),
        ];
        for (transfer, text, expected) in cases {
            let got = decode(transfer, text.as_bytes());
            assert_eq!(str::from_utf8(&got).unwrap(), expected, "{transfer:?} {text:?}");
        }
    }

    #[test]
    fn names_are_known() {
        assert_eq!(TransferEncoding::of(Some(b"Base64")), TransferEncoding::Base64);
        assert_eq!(
            TransferEncoding::of(Some(b"QUOTED-PRINTABLE ; x")),
            TransferEncoding::QuotedPrintable
        );
        assert_eq!(TransferEncoding::of(Some(b"8bit")), TransferEncoding::Identity);
        assert_eq!(TransferEncoding::of(None), TransferEncoding::Identity);
    }

    proptest! {
        /// Against the decoder of the crate `mailparse`, on what both take.
        #[test]
        fn base64_matches_mailparse(bytes: Vec<u8>, width in 1_usize..80) {
            let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
            let mut text = Vec::new();
            for (i, byte) in bytes.iter().enumerate() {
                if i % width == width - 1 {
                    text.extend_from_slice(b"\r\n");
                }
                text.push(letters[usize::from(*byte) % 64]);
            }
            let count = bytes.len();
            if count % 4 == 1 {
                text.push(b'A');
            }
            let letters = count + usize::from(count % 4 == 1);
            text.resize(text.len() + (4 - letters % 4) % 4, b'=');
            let mut message = b"Content-Transfer-Encoding: base64\n\n".to_vec();
            message.extend_from_slice(&text);
            let other = mailparse::parse_mail(&message).unwrap().get_body_raw().unwrap();
            prop_assert_eq!(decode(TransferEncoding::Base64, &text), other);
        }
    }
}
