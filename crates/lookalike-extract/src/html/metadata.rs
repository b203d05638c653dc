//! Metadata of a page.

use crate::date;
use crate::fields::Fields;

/// Names of dates in order of preference: modified, published, unspecified.
const DATES: [&[u8]; 10] = [
    b"article:modified_time",
    b"dcterms.modified",
    b"dc.date.modified",
    b"datemodified",
    b"og:updated_time",
    b"last-modified",
    b"article:published_time",
    b"dc.date",
    b"dcterms.date",
    b"date",
];

/// Metadata collected while a page is read.
#[derive(Debug, Default)]
pub(super) struct PageMetadata {
    /// May end within a character.
    pub(super) title: Vec<u8>,
    pub(super) language: Vec<u8>,
    author: Vec<u8>,
    canonical: Vec<u8>,
    url: Vec<u8>,
    /// With its index in [`DATES`].
    date: Option<(usize, String)>,
}

impl PageMetadata {
    /// Reads a `meta` element with a name or property and a content.
    pub(super) fn meta(&mut self, key: &[u8], content: &[u8]) {
        let key = key.trim_ascii().to_ascii_lowercase();
        match &*key {
            b"author" | b"dc.creator" => first(&mut self.author, content),
            b"og:url" => first(&mut self.url, content),
            b"content-language" => first(&mut self.language, content),
            _ => {
                let Some(rank) = DATES.iter().position(|date| *date == &*key) else { return };
                if self.date.as_ref().is_none_or(|(known, _)| rank < *known)
                    && let Some(date) = std::str::from_utf8(content).ok().and_then(utc)
                {
                    self.date = Some((rank, date));
                }
            }
        }
    }

    /// Reads a `link` element with its relations and URL.
    pub(super) fn relation(&mut self, relations: &[u8], address: &[u8]) {
        let mut relations = relations.split(u8::is_ascii_whitespace);
        if relations.any(|relation| relation.eq_ignore_ascii_case(b"canonical")) {
            first(&mut self.canonical, address);
        }
    }

    /// Sets the fields. Relative URLs are ignored.
    pub(super) fn write_fields(&self, fields: &mut Fields) {
        let mut set = |name, value: &[u8]| fields.set(name, &String::from_utf8_lossy(value));
        set("title", &self.title);
        set("author", &self.author);
        set("language", &self.language);
        if let Some((_, date)) = &self.date {
            set("date", date.as_bytes());
        }
        for url in [&self.canonical, &self.url] {
            let url = url.trim_ascii();
            if url.starts_with(b"http://") || url.starts_with(b"https://") {
                set("url", url);
            }
        }
    }
}

/// Sets a value if it is empty.
fn first(value: &mut Vec<u8>, new: &[u8]) {
    if value.is_empty() {
        value.extend_from_slice(new.trim_ascii());
    }
}

/// A date in ISO 8601, optionally with time, fraction of a second and UTC offset, as
/// `YYYY-MM-DDTHH:MM:SSZ`. Without an offset, it is taken as UTC.
fn utc(text: &str) -> Option<String> {
    let text = text.trim();
    let date = text.get(..10)?;
    let day = [digits(date, 0, 4)?, digits(date, 5, 2)?, digits(date, 8, 2)?];
    if date.as_bytes()[4] != b'-' || date.as_bytes()[7] != b'-' {
        return None;
    }
    let ([hour, minute, second], offset) = match text.get(10..)? {
        "" => ([0; 3], 0),
        time => time_of_day(time.strip_prefix(['T', 't', ' '])?)?,
    };
    let at = [day[0], day[1], day[2], hour, minute, second];
    date::iso(date::seconds(at)? - offset * 60)
}

/// Hour, minute and second, and the offset from UTC in minutes.
fn time_of_day(time: &str) -> Option<([u32; 3], i64)> {
    let (hour, minute) = (digits(time, 0, 2)?, digits(time, 3, 2)?);
    let mut rest = time.get(5..)?;
    let mut second = 0;
    if let Some(seconds) = rest.strip_prefix(':') {
        second = digits(seconds, 0, 2)?;
        rest = seconds.get(2..)?;
        if let Some(fraction) = rest.strip_prefix(['.', ',']) {
            rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
        }
    }
    // A leap second is not valid here.
    if time.as_bytes()[2] != b':' || second > 59 {
        return None;
    }
    let rest = rest.trim_start();
    let sign = match rest.as_bytes().first() {
        None | Some(b'Z' | b'z') if rest.len() <= 1 => return Some(([hour, minute, second], 0)),
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return None,
    };
    let zone = rest[1..].replacen(':', "", 1);
    let minutes = if zone.len() == 2 { 0 } else { digits(&zone, 2, 2)? };
    let offset = i64::from(digits(&zone, 0, 2)? * 60 + minutes);
    (zone.len() <= 4).then_some(([hour, minute, second], sign * offset))
}

fn digits(text: &str, start: usize, length: usize) -> Option<u32> {
    let part = text.get(start..start + length)?;
    part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_in_utc() {
        let cases = [
            ("2023-05-01", Some("2023-05-01T00:00:00Z")),
            ("2023-05-01T10:20:30Z", Some("2023-05-01T10:20:30Z")),
            ("2023-05-01T10:20", Some("2023-05-01T10:20:00Z")),
            (" 2023-12-31T23:30:00.123-01:00 ", Some("2024-01-01T00:30:00Z")),
            ("2024-03-01 00:10:00 +0200", Some("2024-02-29T22:10:00Z")),
            ("1900-03-01T00:00:00+05", Some("1900-02-28T19:00:00Z")),
            ("2023-02-29", None),
            ("2023-13-01", None),
            ("2023/05/01", None),
            ("1. Mai 2023", None),
            ("2023-05-01T24:00", None),
            ("2023-05-01T10:20:30 CET", None),
            ("2023-05-01T10:20+01:00x", None),
            ("", None),
            ("２０２３-05-01", None),
        ];
        for (text, expected) in cases {
            assert_eq!(utc(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn the_better_date_and_address_win() {
        let mut metadata = PageMetadata::default();
        metadata.meta(b"DC.date", b"2020-01-01");
        metadata.meta(b"article:modified_time", b"2021-01-01");
        metadata.meta(b"article:published_time", b"2019-01-01");
        metadata.meta(b"og:url", b"https://example.org/og");
        metadata.relation(b"alternate", b"https://example.org/no");
        metadata.relation(b"x Canonical", b"https://example.org/a");
        metadata.meta(b"Author", b"  A.  Writer");
        metadata.title.extend_from_slice(b" A\n title ");
        let mut fields = Fields::default();
        metadata.write_fields(&mut fields);
        assert_eq!(fields.get("date"), Some("2021-01-01T00:00:00Z"));
        assert_eq!(fields.get("url"), Some("https://example.org/a"));
        assert_eq!(fields.get("author"), Some("A. Writer"));
        assert_eq!(fields.get("title"), Some("A title"));
        let mut metadata = PageMetadata::default();
        metadata.relation(b"canonical", b"/a");
        metadata.meta(b"og:url", b"http://example.org/og");
        let mut fields = Fields::default();
        metadata.write_fields(&mut fields);
        assert_eq!(fields.get("url"), Some("http://example.org/og"));
    }
}
