//! WARC files (ISO 28500): records of a crawl.
//!
//! Used instead of the crate `warc`, because this reader splits a prefix of a file, and skips only
//! the damaged records (`contributing/libraries.md`).

mod header;
mod http;

use crate::reading::{ExtractError, LimitTracker};
use encoding_rs::Encoding;
use header::{field, header_and_body};
use memchr::{memchr, memmem};
use std::borrow::Cow;

/// Maximum header of a record.
const HEADER_BYTES: usize = 1 << 20;
/// First bytes of a record.
const MARK: &[u8] = b"WARC/";

/// A WARC record.
#[derive(Debug, Clone, Copy)]
pub struct WarcRecord<'a> {
    /// Header fields, without the version line.
    header: &'a [u8],
    /// The content below the header.
    pub block: &'a [u8],
}

impl<'a> WarcRecord<'a> {
    /// The value of a header field, such as `WARC-Type`, in any case.
    pub fn field(&self, name: &str) -> Option<Cow<'a, str>> {
        field(self.header, name).map(String::from_utf8_lossy)
    }
}

/// Splits off the first record of a WARC file, or of a prefix of one. Returns the number of bytes
/// consumed, and the record. `None` if the record is incomplete (`at_end` is false) or missing.
///
/// Malformed data is an error that consumes everything up to the next start of a record after a
/// blank line. After `None`, the caller retries with at least twice as many bytes. With `at_end`,
/// an incomplete record is damaged and skipped.
pub fn next_record(
    bytes: &[u8],
    at_end: bool,
) -> Option<(usize, Result<WarcRecord<'_>, ExtractError>)> {
    let start = bytes.iter().position(|byte| !matches!(byte, b'\r' | b'\n'))?;
    let rest = &bytes[start..];
    if !rest.starts_with(MARK) {
        if !at_end && MARK.starts_with(rest) {
            return None;
        }
        return damaged(bytes, start, at_end, "other data at the start of a record".into());
    }
    let window = &rest[..rest.len().min(HEADER_BYTES)];
    let Some((header, block)) = header_and_body(window).map(|(h, b)| (h, start + b)) else {
        if !at_end && window.len() < HEADER_BYTES {
            return None;
        }
        return damaged(bytes, start + 1, at_end, "a record whose header does not end".into());
    };
    let fields = &header[memchr(b'\n', header).map_or(header.len(), |end| end + 1)..];
    let length = field(fields, "content-length").and_then(|value| str::from_utf8(value).ok());
    let Some(length) = length.and_then(|length| length.parse::<u64>().ok()) else {
        return damaged(bytes, block - 1, at_end, "a record that does not say its length".into());
    };
    let end = usize::try_from(length).ok().and_then(|length| block.checked_add(length));
    let Some(end) = end.filter(|end| *end <= bytes.len()) else {
        if !at_end {
            return None;
        }
        let message =
            format!("a record of {length} bytes, of which {} are there", bytes.len() - block);
        return damaged(bytes, block - 1, at_end, message);
    };
    let after = &bytes[end..];
    if !at_end && after.len() < 4 + MARK.len() {
        return None;
    }
    let line_ends = after.iter().take(4).take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let next = &after[line_ends..];
    if !next.is_empty() && !next.starts_with(MARK) && !after.starts_with(b"\r\n\r\n") {
        let message = format!("a record of {length} bytes that does not end there");
        return damaged(bytes, block - 1, at_end, message);
    }
    Some((end + line_ends, Ok(WarcRecord { header: fields, block: &bytes[block..end] })))
}

/// Length of the first record in bytes, counted from the start of `bytes`, as its header states.
/// `None` if no complete header states the length.
pub fn record_length(bytes: &[u8]) -> Option<u64> {
    let start = bytes.iter().position(|byte| !matches!(byte, b'\r' | b'\n'))?;
    let rest = bytes.get(start..).filter(|rest| rest.starts_with(MARK))?;
    let (header, block) = header_and_body(&rest[..rest.len().min(HEADER_BYTES)])?;
    let length = str::from_utf8(field(header, "content-length")?).ok()?;
    length.parse::<u64>().ok()?.checked_add((start + block) as u64)
}

/// An error that consumes everything up to the first record after `from` that follows a blank line.
fn damaged(
    bytes: &[u8],
    from: usize,
    at_end: bool,
    message: String,
) -> Option<(usize, Result<WarcRecord<'_>, ExtractError>)> {
    let next =
        memmem::find_iter(&bytes[from..], b"\nWARC/1.").map(|found| from + found).find(|found| {
            let before = &bytes[..*found];
            before.strip_suffix(b"\r").unwrap_or(before).ends_with(b"\n")
        });
    let consumed = match next {
        Some(next) => next + 1,
        None if at_end => bytes.len(),
        None => return None,
    };
    Some((consumed, Err(ExtractError::damaged(message))))
}

/// Metadata of the file in a record.
#[derive(Debug, Default)]
pub(crate) struct WarcMetadata {
    /// `url`, `record-id` and `date`.
    pub(crate) fields: Vec<(&'static str, String)>,
    /// The encoding that the server declared, unless the content contradicts it.
    pub(crate) encoding: Option<&'static Encoding>,
}

/// The file in a record.
#[derive(Debug)]
pub(crate) struct WarcFile<'a> {
    /// The last segment of its URL, or a name with the extension of the declared type.
    pub(crate) name: String,
    pub(crate) bytes: Cow<'a, [u8]>,
    pub(crate) metadata: WarcMetadata,
}

/// The file in a record: a successful response with a content, a resource, or a converted text.
pub(crate) fn file<'a>(
    record: &WarcRecord<'a>,
    tracker: &LimitTracker<'_>,
) -> Result<Option<WarcFile<'a>>, ExtractError> {
    let kind = record.field("WARC-Type").unwrap_or_default().to_ascii_lowercase();
    let url = record.field("WARC-Target-URI").unwrap_or_default();
    let url = url.trim_start_matches('<').trim_end_matches('>');
    let (media, bytes) = match &*kind {
        "response" if record.block.starts_with(b"HTTP/") => {
            match http::content(record.block, tracker)? {
                Some((media, bytes)) => (media, bytes),
                None => return Ok(None),
            }
        }
        "response" | "resource" if !url.starts_with("dns:") => {
            (record.field("Content-Type").unwrap_or_default(), Cow::Borrowed(record.block))
        }
        "conversion" => ("text/plain; charset=utf-8".into(), Cow::Borrowed(record.block)),
        // Lookups of names, and records about other records.
        "response" | "resource" | "warcinfo" | "request" | "metadata" | "revisit" => {
            return Ok(None);
        }
        "continuation" => {
            let kind = "a continuation of a record in segments".to_owned();
            return Err(ExtractError::Unsupported { kind });
        }
        "" => return Err(ExtractError::damaged("a record without its WARC-Type")),
        other => {
            let message = format!("a record of the type {other:?}, which WARC does not have");
            return Err(ExtractError::damaged(message));
        }
    };
    if bytes.is_empty() {
        return Ok(None);
    }
    let (media, parameters) = media.split_once(';').unwrap_or((&media, ""));
    let media = media.trim().to_ascii_lowercase();
    let name = match &*media {
        // URLs of pages end with `.php` and the like.
        "text/html" | "application/xhtml+xml" => "page.html".to_owned(),
        _ if kind == "conversion" => "text.md".to_owned(),
        _ => last_part(url).to_owned(),
    };
    let label = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim())
    });
    let encoding = crate::encoding::declared(&bytes, label);
    let mut fields = vec![("url", url.to_owned())];
    if let Some(id) = record.field("WARC-Record-ID") {
        fields.push(("record-id", id.trim_matches(['<', '>']).to_owned()));
    }
    if let Some(date) = record.field("WARC-Date").as_deref().and_then(to_second) {
        fields.push(("date", date));
    }
    Ok(Some(WarcFile { name, bytes, metadata: WarcMetadata { fields, encoding } }))
}

/// Whether the first record of `bytes` may hold a file, by its type.
pub fn holds_file(bytes: &[u8]) -> bool {
    let Some((_, Ok(record))) = next_record(bytes, true) else { return false };
    let kind = record.field("WARC-Type").unwrap_or_default().to_ascii_lowercase();
    matches!(&*kind, "response" | "resource" | "conversion")
}

/// A date without fraction of a second.
fn to_second(date: &str) -> Option<String> {
    let form = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        10 => byte == b'T',
        13 | 16 => byte == b':',
        _ => byte.is_ascii_digit(),
    };
    let second = date.get(..19).filter(|date| date.bytes().enumerate().all(form))?;
    date.ends_with('Z').then(|| format!("{second}Z"))
}

/// The last segment of the path of a URL.
fn last_part(url: &str) -> &str {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let path = url
        .split_once("://")
        .map_or(url, |(_, rest)| rest.split_once('/').map_or("", |(_, path)| path));
    path.rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
