//! Metadata of a PDF.

use super::objects::get;
use crate::date;
use crate::reading::Fields;
use lopdf::{Dictionary, Document, Object};

/// Sets title, author and date of the last change.
pub(super) fn fields(document: &Document, fields: &mut Fields) {
    let info = get(document, &document.trailer, b"Info").and_then(|info| info.as_dict().ok());
    let Some(info) = info else { return };
    let text = |key: &[u8]| string(document, info, key);
    for (field, key) in [("title", b"Title".as_slice()), ("author", b"Author")] {
        if let Some(text) = text(key) {
            fields.set(field, &text);
        }
    }
    let date = text(b"ModDate").or_else(|| text(b"CreationDate"));
    if let Some(date) = date.as_deref().and_then(utc) {
        fields.set("date", &date);
    }
}

fn string(document: &Document, info: &Dictionary, key: &[u8]) -> Option<String> {
    let value = get(document, info, key)?;
    if !matches!(value, Object::String(..)) {
        return None;
    }
    let text = lopdf::decode_text_string(value).ok()?;
    Some(text.chars().filter(|c| !c.is_control()).collect())
}

/// Converts a date `D:YYYYMMDDHHmmSS+HH'mm'` to UTC. Everything after the year is optional.
fn utc(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.strip_prefix("D:").unwrap_or(text);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count().min(14);
    let (digits, zone) = text.split_at(digits);
    let number = |from: usize, to: usize, missing: u32| match digits.get(from..to) {
        Some(digits) => digits.parse().ok(),
        None if digits.len() <= from => Some(missing),
        None => None,
    };
    let at = [
        number(0, 4, 0)?,
        number(4, 6, 1)?,
        number(6, 8, 1)?,
        number(8, 10, 0)?,
        number(10, 12, 0)?,
        number(12, 14, 0)?,
    ];
    date::iso(date::seconds(at)? - offset(zone))
}

/// Offset of a zone from UTC in seconds.
fn offset(zone: &str) -> i64 {
    let sign = match zone.bytes().next() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return 0,
    };
    let digits: String = zone.chars().filter(char::is_ascii_digit).take(4).collect();
    let part = |from: usize| digits.get(from..from + 2).and_then(|d| d.parse::<i64>().ok());
    let hours = part(0).unwrap_or(0);
    let minutes = part(2).unwrap_or(0);
    if hours > 23 || minutes > 59 { 0 } else { sign * (hours * 3600 + minutes * 60) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_in_utc() {
        let dates = [
            ("D:20240229233000-01'30'", Some("2024-03-01T01:00:00Z")),
            ("D:20000101000000+05'45", Some("1999-12-31T18:15:00Z")),
            ("D:19991231235959Z00'00'", Some("1999-12-31T23:59:59Z")),
            ("D:2010", Some("2010-01-01T00:00:00Z")),
            ("201005061122", Some("2010-05-06T11:22:00Z")),
            ("D:19700101", Some("1970-01-01T00:00:00Z")),
            ("D:20241301", None),
            ("yesterday", None),
            ("D:201", None),
            ("", None),
        ];
        for (date, expected) in dates {
            assert_eq!(utc(date).as_deref(), expected, "{date}");
        }
    }
}
