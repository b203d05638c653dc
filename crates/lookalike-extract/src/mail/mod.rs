//! Messages and mailboxes.
//!
//! ```text
//! bytes ─ Header::cut ─► header, body ─ parts::list ─► parts ─ body::Reader ─┬─► text
//!                                                                            └─► attachments
//! ```
//!
//! The text of a message is what a mail program shows below its header:
//!
//! - of alternatives the plain text, unless it is empty or only says that there is a page;
//! - of related parts the first, of a report the part for people;
//! - of everything else all texts one after the other, also those of a message in the message,
//!   unless it is attached: then it is a file like any other attachment.
//!
//! Signatures of the whole (PGP, S/MIME) are neither text nor attachments.

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

use crate::encoding;
use crate::failure::Failure;
use crate::fields::Fields;
use crate::job::Job;
use header::Header;
use memchr::memchr;
use std::borrow::Cow;

/// Bytes after which the time is looked at.
const BLOCK: usize = 1 << 20;

/// The body of a message, and what is attached to it: name and decoded content. Attachments are
/// only decoded where options want them.
pub(crate) fn read<'a>(
    bytes: &'a [u8],
    job: &Job<'_>,
    out: &mut String,
    fields: &mut Fields,
    attachments: &mut Vec<(String, Cow<'a, [u8]>)>,
) -> Result<(), Failure> {
    job.in_time()?;
    let Cow::Owned(changed) = uniform(bytes) else {
        return read_uniform(unwrapped(bytes), job, out, fields, attachments);
    };
    let mut owned = Vec::new();
    read_uniform(unwrapped(&changed), job, out, fields, &mut owned)?;
    let owned = owned.into_iter().map(|(name, bytes)| (name, Cow::Owned(bytes.into_owned())));
    attachments.extend(owned);
    Ok(())
}

fn read_uniform<'a>(
    bytes: &'a [u8],
    job: &Job<'_>,
    out: &mut String,
    fields: &mut Fields,
    attachments: &mut Vec<(String, Cow<'a, [u8]>)>,
) -> Result<(), Failure> {
    let (header, body) = Header::cut(bytes, job)?;
    set_fields(&header, fields);
    let parts = parts::list(header, body, job)?;
    let (cut, cut_quotes) = body::Reader::new(job, &parts).read(out, attachments)?;
    fields.set_cut(cut, cut_quotes);
    Ok(())
}

/// A message in UTF-16 or UTF-32 as UTF-8, one with lone carriage returns with line feeds.
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

/// A message without what some programs put around it: a byte order mark, or its length in a
/// first line and a property list behind it.
fn unwrapped(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let Some(end) = memchr(b'\n', &bytes[..bytes.len().min(24)]) else { return bytes };
    let (length, rest) = (bytes[..end].trim_ascii(), &bytes[end + 1..]);
    if length.is_empty() || !length.iter().all(u8::is_ascii_digit) {
        return bytes;
    }
    let length = str::from_utf8(length).ok().and_then(|length| length.parse().ok());
    let message = length.and_then(|length: usize| rest.get(..length));
    message.filter(|message| header::colon(message).is_some()).unwrap_or(bytes)
}

fn set_fields(header: &Header<'_>, fields: &mut Fields) {
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
    if let Some(date) = header.date.and_then(date) {
        fields.set("date", &date);
    }
}

/// A date as `YYYY-MM-DDTHH:MM:SSZ`; none before 1970 or after 9999.
fn date(raw: &[u8]) -> Option<String> {
    let text = str::from_utf8(&raw[..raw.len().min(100)]).ok()?;
    // The parser wants a blank behind each word, and takes what holds no date for 1970.
    let text = text.replace(',', ", ").replace(['\t', '\r', '\n'], " ");
    let seconds = mailparse::dateparse(&text).ok()?;
    if seconds <= 0 && !text.contains("70") {
        return None;
    }
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    (1970..=9999)
        .contains(&year)
        .then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
}

/// Days since 1970-01-01 → year, month, day, by counting 400 years of 146,097 days from a first
/// of March.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests;
