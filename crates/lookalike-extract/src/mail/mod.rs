//! Messages and mailboxes.
//!
//! The crate mailparse parses dates and the parameters of header fields. Own code reads header,
//! parts and transfer encodings: hostile messages take linear time and memory within the limits,
//! and damaged encodings are decoded as far as possible (see `transfer.rs`). The reason is damage,
//! not speed: of 3,249 messages, mailparse refuses six bodies. It reads 208 to 487 MB/s without the
//! texts of pages. This module reads 211 and 271 MB/s with them, measured on another day (November
//! 2026, `bench/matrix.md`).
//!
//! ```text
//! bytes ─ MailHeader::split ─► header, body ─ parts::list ─► parts ─ BodyReader ─┬─► text
//!                                                                                └─► attachments
//! ```
//!
//! The text of a message is the text that a mail program shows below its header:
//!
//! - the plain text of alternatives, unless it is empty or only refers to the HTML;
//! - the first of related parts, and the part of a report that is for people;
//! - otherwise all texts in order, including inline messages. An attached message is a file like
//!   any other attachment.
//!
//! Cryptographic signatures (PGP, S/MIME) are neither text nor attachments.

mod attachment;
mod body;
mod charset;
mod header;
mod html;
mod mbox;
mod parts;
mod plain;
mod quotes;
mod signature;
mod transfer;
mod words;

pub use mbox::next_message;

use crate::date;
use crate::encoding;
use crate::reading::{ExtractError, Fields, TextOutput};
use header::MailHeader;
use memchr::memchr;
use std::borrow::Cow;

/// Reads the body of a message, and its attachments as name and decoded content if requested.
pub(crate) fn read<'a>(
    bytes: &'a [u8],
    out: &mut TextOutput<'_>,
    attachments: &mut Vec<(String, Cow<'a, [u8]>)>,
) -> Result<(), ExtractError> {
    out.tracker.check_time()?;
    let Cow::Owned(changed) = uniform(bytes) else {
        return read_uniform(unwrapped(bytes), out, attachments);
    };
    let mut owned = Vec::new();
    read_uniform(unwrapped(&changed), out, &mut owned)?;
    let owned = owned.into_iter().map(|(name, bytes)| (name, Cow::Owned(bytes.into_owned())));
    attachments.extend(owned);
    Ok(())
}

fn read_uniform<'a>(
    bytes: &'a [u8],
    out: &mut TextOutput<'_>,
    attachments: &mut Vec<(String, Cow<'a, [u8]>)>,
) -> Result<(), ExtractError> {
    let (header, body) = MailHeader::split(bytes, out.tracker)?;
    set_fields(&header, out.fields);
    let parts = parts::list(header, body, out.tracker)?;
    let reader = body::BodyReader::new(out.tracker, &parts);
    let (cut, cut_quotes) = reader.read(out.text, attachments)?;
    out.fields.set_cut(cut, cut_quotes);
    Ok(())
}

/// Converts a message in UTF-16 or UTF-32 to UTF-8, and lone carriage returns to line feeds.
fn uniform(bytes: &[u8]) -> Cow<'_, [u8]> {
    let wide = [&[0xFF, 0xFE][..], &[0xFE, 0xFF], &[0, 0, 0xFE, 0xFF]];
    if wide.iter().any(|mark| bytes.starts_with(mark))
        && let Some(text) = encoding::decode(bytes, None)
    {
        return Cow::Owned(text.into_owned().into_bytes());
    }
    if memchr(b'\n', bytes).is_some() || memchr(b'\r', bytes).is_none() {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned(bytes.iter().map(|byte| if *byte == b'\r' { b'\n' } else { *byte }).collect())
}

/// Removes the additions of some programs around a message: a byte order mark, or a first line with
/// the length and a property list after the message.
fn unwrapped(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let Some(end) = memchr(b'\n', &bytes[..bytes.len().min(24)]) else { return bytes };
    let length = bytes[..end].trim_ascii();
    let rest = &bytes[end + 1..];
    if length.is_empty() || !length.iter().all(u8::is_ascii_digit) {
        return bytes;
    }
    let length = str::from_utf8(length).ok().and_then(|length| length.parse().ok());
    let message = length.and_then(|length: usize| rest.get(..length));
    message.filter(|message| header::colon(message).is_some()).unwrap_or(bytes)
}

fn set_fields(header: &MailHeader<'_>, fields: &mut Fields) {
    let mut set = |name, value: Option<&[u8]>| {
        if let Some(value) = value {
            fields.set(name, &words::text(value));
        }
    };
    set("subject", header.subject);
    set("from", header.from);
    set("to", header.to);
    if let Some(id) = header.message_id {
        let id = words::text(id);
        let inner = id.split_once('<').and_then(|(_, rest)| Some(rest.split_once('>')?.0));
        fields.set("message-id", inner.unwrap_or(&id));
    }
    if let Some(date) = header.date.and_then(parse_date) {
        fields.set("date", &date);
    }
}

/// A date as `YYYY-MM-DDTHH:MM:SSZ`, from 1970 to 9999.
fn parse_date(raw: &[u8]) -> Option<String> {
    let text = str::from_utf8(&raw[..raw.len().min(100)]).ok()?;
    // The parser requires a blank after each word, and returns 1970 for text without a date.
    let text = text.replace(',', ", ").replace(['\t', '\r', '\n'], " ");
    let seconds = mailparse::dateparse(&text).ok()?;
    if seconds <= 0 && !text.contains("70") {
        return None;
    }
    (seconds >= 0).then(|| date::iso(seconds))?
}

#[cfg(test)]
mod tests;
