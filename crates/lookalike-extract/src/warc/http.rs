//! HTTP responses in WARC records.
//!
//! No library is used, because some crawlers decode a body but keep the field that names its
//! encoding. The crate flate2 inflates. No library has been compared (November 2026).

use super::header::{field, header_and_body};
use crate::reading::{ExtractError, LimitKind, LimitTracker};
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use memchr::memchr;
use std::borrow::Cow;

/// Maximum nested content encodings.
const ENCODINGS: usize = 4;

/// The content type and the content.
type TypedContent<'a> = (Cow<'a, str>, Cow<'a, [u8]>);

/// The content of a successful response.
pub(super) fn content<'a>(
    response: &'a [u8],
    tracker: &LimitTracker<'_>,
) -> Result<Option<TypedContent<'a>>, ExtractError> {
    let first = &response[..memchr(b'\n', response).unwrap_or(response.len())];
    let status = first.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).nth(1);
    if !status.is_some_and(|status| status.len() == 3 && status[0] == b'2') {
        return Ok(None);
    }
    let Some((header, body)) = header_and_body(response) else { return Ok(None) };
    let value = |name| String::from_utf8_lossy(field(header, name).unwrap_or_default());
    let mut bytes = Cow::Borrowed(&response[body..]);
    if value("transfer-encoding").to_ascii_lowercase().contains("chunked") {
        bytes = decode_chunks(&response[body..], tracker)?;
    }
    let encodings = value("content-encoding").to_ascii_lowercase();
    let encodings: Vec<_> = encodings.split(',').map(str::trim).collect();
    if encodings.len() > ENCODINGS {
        return Err(ExtractError::limited(LimitKind::Encodings, ENCODINGS as u64));
    }
    for encoding in encodings.iter().rev() {
        if let Some(plain) = decompress(encoding, &bytes, tracker)? {
            bytes = Cow::Owned(plain);
        }
    }
    Ok(Some((value("content-type"), bytes)))
}

/// Decodes chunked transfer encoding. Some crawlers decode it and keep the field, so a body that
/// does not begin with a chunk length is returned unchanged.
fn decode_chunks<'a>(
    bytes: &'a [u8],
    tracker: &LimitTracker<'_>,
) -> Result<Cow<'a, [u8]>, ExtractError> {
    let mut rest = bytes;
    let mut out = Vec::new();
    let mut first = true;
    loop {
        tracker.check_time()?;
        let Some((length, after)) = chunk(rest) else {
            if first {
                return Ok(Cow::Borrowed(bytes));
            }
            return Err(ExtractError::damaged("no length where a chunk must begin"));
        };
        first = false;
        if length == 0 {
            return Ok(Cow::Owned(out));
        }
        let Some(content) = usize::try_from(length).ok().and_then(|length| after.get(..length))
        else {
            let message = format!("a chunk of {length} bytes, of which {} are there", after.len());
            return Err(ExtractError::damaged(message));
        };
        tracker.charge_bytes(content.len())?;
        out.extend_from_slice(content);
        let after = &after[content.len()..];
        let after = after.strip_prefix(b"\r").unwrap_or(after);
        rest = after.strip_prefix(b"\n").unwrap_or(after);
    }
}

/// The length of a chunk and the bytes after its line.
fn chunk(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let digits = bytes.iter().take(17).take_while(|byte| byte.is_ascii_hexdigit()).count();
    let (number, rest) = bytes.split_at(digits);
    let length = u64::from_str_radix(str::from_utf8(number).ok()?, 16).ok();
    let line = &rest[..rest.len().min(1024)];
    let end = memchr(b'\n', line)?;
    let plain = matches!(line[..end].trim_ascii_start(), [] | [b';', ..]);
    // A length that overflows is valid, but too long.
    (digits > 0 && plain).then(|| (length.unwrap_or(u64::MAX), &rest[end + 1..]))
}

/// Decompresses a content; `None` if it is not compressed, even if its header declares an encoding.
fn decompress(
    encoding: &str,
    bytes: &[u8],
    tracker: &LimitTracker<'_>,
) -> Result<Option<Vec<u8>>, ExtractError> {
    let plain = match encoding {
        "" | "identity" | "none" | "utf-8" => return Ok(None),
        "gzip" | "x-gzip" if !bytes.starts_with(&[0x1F, 0x8B]) => return Ok(None),
        "gzip" | "x-gzip" => tracker.drain(MultiGzDecoder::new(bytes))?,
        "deflate" => match bytes {
            [a, b, ..] if a & 15 == 8 && (u32::from(*a) << 8 | u32::from(*b)) % 31 == 0 => {
                tracker.drain(ZlibDecoder::new(bytes))?
            }
            [b'<' | b'\r' | b'\n' | b' ', ..] | [] => return Ok(None),
            _ => tracker.drain(DeflateDecoder::new(bytes))?,
        },
        "zstd" => {
            let stream = zstd::stream::read::Decoder::with_buffer(bytes);
            tracker.drain(stream.map_err(|error| ExtractError::damaged(error.to_string()))?)?
        }
        other => {
            let name: String = other.chars().filter(char::is_ascii_graphic).take(20).collect();
            return Err(ExtractError::Unsupported {
                kind: format!("a page compressed with {name}"),
            });
        }
    };
    Ok(Some(plain))
}
