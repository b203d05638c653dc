//! Transfer encodings. Replaces the decoders of the crate mailparse, which drop every byte above
//! 126 from quoted-printable and reject a base64 text with one invalid character.

use crate::error::ExtractError;
use crate::limits::{CHECK_INTERVAL_BYTES, LimitTracker};
use memchr::memchr;
use std::borrow::Cow;

/// The encoding of the body of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransferEncoding {
    /// None.
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
        let mut out = Vec::new();
        match self {
            Self::Identity => return Ok(Cow::Borrowed(bytes)),
            Self::Base64 => {
                tracker.charge_bytes(bytes.len() / 4 * 3)?;
                out.reserve(bytes.len() / 4 * 3 + 3);
                let mut state = Base64Decoder::default();
                for block in bytes.chunks(CHECK_INTERVAL_BYTES) {
                    tracker.check_time()?;
                    if !state.block(block, &mut out) {
                        break;
                    }
                }
                state.end(&mut out);
            }
            Self::QuotedPrintable => {
                tracker.charge_bytes(bytes.len())?;
                out.reserve(bytes.len());
                quoted(bytes, &mut out, &mut || tracker.check_time())?;
            }
        }
        Ok(Cow::Owned(out))
    }
}

/// Values of the base64 alphabet; [`NONE`] for other bytes, [`PAD`] for `=`.
const VALUES: [u8; 256] = values();
const NONE: u8 = 64;
const PAD: u8 = 65;

const fn values() -> [u8; 256] {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut values = [NONE; 256];
    let mut i = 0;
    while i < letters.len() {
        values[letters[i] as usize] = i as u8;
        i += 1;
    }
    values[b'=' as usize] = PAD;
    values
}

/// The incomplete group of four letters.
#[derive(Default)]
struct Base64Decoder {
    bits: u32,
    count: u32,
}

impl Base64Decoder {
    /// Decodes a block; whether more may follow. Bytes outside the alphabet are skipped.
    fn block(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        let mut at = 0;
        while at < bytes.len() {
            if self.count == 0 {
                while let Some([a, b, c, d]) = bytes.get(at..at + 4) {
                    let [a, b, c, d] = [a, b, c, d].map(|byte| VALUES[*byte as usize]);
                    if (a | b | c | d) >= NONE {
                        break;
                    }
                    out.extend_from_slice(&[a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d]);
                    at += 4;
                }
            }
            let Some(byte) = bytes.get(at) else { break };
            at += 1;
            match VALUES[*byte as usize] {
                PAD if self.count >= 2 => return false,
                PAD | NONE => {}
                value => {
                    self.bits = self.bits << 6 | u32::from(value);
                    self.count += 1;
                    if self.count == 4 {
                        let [_, bytes @ ..] = self.bits.to_be_bytes();
                        out.extend_from_slice(&bytes);
                        *self = Self::default();
                    }
                }
            }
        }
        true
    }

    /// Decodes the last, truncated or padded group.
    fn end(&mut self, out: &mut Vec<u8>) {
        let whole = self.bits << (6 * (4 - self.count));
        let [_, bytes @ ..] = whole.to_be_bytes();
        out.extend_from_slice(&bytes[..self.count.saturating_sub(1) as usize]);
    }
}

/// Decodes base64 without time checks.
pub(super) fn base64_short(bytes: &[u8]) -> Vec<u8> {
    let (mut state, mut out) = (Base64Decoder::default(), Vec::new());
    state.block(bytes, &mut out);
    state.end(&mut out);
    out
}

/// Decodes a word of a header: quoted-printable in which `_` is a blank.
pub(super) fn quoted_word(bytes: &[u8]) -> Vec<u8> {
    let blanks: Vec<u8> = bytes.iter().map(|b| if *b == b'_' { b' ' } else { *b }).collect();
    let mut out = Vec::new();
    // Fails only if `check` does.
    let _ = quoted(&blanks, &mut out, &mut || Ok(()));
    out
}

/// Decodes quoted-printable. An invalid `=` is kept; `check` is called once per
/// [`CHECK_INTERVAL_BYTES`].
fn quoted(
    bytes: &[u8],
    out: &mut Vec<u8>,
    check: &mut dyn FnMut() -> Result<(), ExtractError>,
) -> Result<(), ExtractError> {
    let (mut at, mut checked) = (0, 0);
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
    Ok(())
}

fn hex(bytes: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*bytes.get(at)?).to_digit(16);
    Some((digit(0)? << 4 | digit(1)?) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::ExtractOptions;
    use proptest::prelude::*;

    fn decode(transfer: TransferEncoding, text: &[u8]) -> Vec<u8> {
        let options = ExtractOptions::default();
        transfer.decode(text, &LimitTracker::new(&options)).unwrap().into_owned()
    }

    #[test]
    fn damaged_encodings_give_what_there_is() {
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
        for (transfer, text, wanted) in cases {
            let got = decode(transfer, text.as_bytes());
            assert_eq!(str::from_utf8(&got).unwrap(), wanted, "{transfer:?} {text:?}");
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
        fn base64_is_that_of_others(bytes: Vec<u8>, width in 1_usize..80) {
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
