//! What a page says about itself.

use crate::fields::Fields;

/// Dates in the order in which they are wanted: last changed, published, whatever.
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

/// What was found so far.
#[derive(Debug, Default)]
pub(super) struct About {
    /// In characters that may be cut off at the end.
    pub(super) title: Vec<u8>,
    pub(super) language: Vec<u8>,
    author: Vec<u8>,
    canonical: Vec<u8>,
    url: Vec<u8>,
    /// With its place in [`DATES`].
    date: Option<(usize, String)>,
}

impl About {
    /// A `meta` element, by its name or property, and its content.
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

    /// An element `link`, by its relations and its address.
    pub(super) fn relation(&mut self, relations: &[u8], address: &[u8]) {
        let mut relations = relations.split(u8::is_ascii_whitespace);
        if relations.any(|relation| relation.eq_ignore_ascii_case(b"canonical")) {
            first(&mut self.canonical, address);
        }
    }

    /// Sets the fields. Addresses must be absolute.
    pub(super) fn tell(&self, fields: &mut Fields) {
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

/// The first value that is not blank stays.
fn first(value: &mut Vec<u8>, new: &[u8]) {
    if value.is_empty() {
        value.extend_from_slice(new.trim_ascii());
    }
}

/// A time in ISO 8601 as `YYYY-MM-DDTHH:MM:SSZ`: a date, perhaps with a time, perhaps with a
/// fraction of a second and the distance from UTC. Without one, UTC is taken.
fn utc(text: &str) -> Option<String> {
    let text = text.trim();
    let date = text.get(..10)?;
    let day = days(digits(date, 0, 4)?, digits(date, 5, 2)?, digits(date, 8, 2)?)?;
    if date.as_bytes()[4] != b'-' || date.as_bytes()[7] != b'-' {
        return None;
    }
    let (minutes, second) = match text.get(10..)? {
        "" => (0, 0),
        time => time_of_day(time.strip_prefix(['T', 't', ' '])?)?,
    };
    let minutes = day * 1440 + minutes;
    let (year, month, day) = date_of(minutes.div_euclid(1440));
    let (hour, minute) = (minutes.rem_euclid(1440) / 60, minutes.rem_euclid(60));
    (1..=9999)
        .contains(&year)
        .then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
}

/// Minutes in UTC, perhaps of the day before or after, and seconds.
fn time_of_day(time: &str) -> Option<(i64, i64)> {
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
    if time.as_bytes()[2] != b':' || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let rest = rest.trim_start();
    let sign = match rest.as_bytes().first() {
        None | Some(b'Z' | b'z') if rest.len() <= 1 => return Some((hour * 60 + minute, second)),
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return None,
    };
    let zone = rest[1..].replacen(':', "", 1);
    let away = digits(&zone, 0, 2)? * 60 + if zone.len() == 2 { 0 } else { digits(&zone, 2, 2)? };
    (zone.len() <= 4).then_some((hour * 60 + minute - sign * away, second))
}

fn digits(text: &str, start: usize, length: usize) -> Option<i64> {
    let part = text.get(start..start + length)?;
    part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())?
}

/// Days since 1970-01-01 of a date in the Gregorian calendar, years from 1 (H. Hinnant,
/// chrono-Compatible Low-Level Date Algorithms).
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if year < 1 || !(1..=12).contains(&month) || !(1..=longest).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// The date of a number of days, as [`days`] counts them.
fn date_of(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_told_in_utc() {
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
    fn days_and_dates_agree() {
        assert_eq!(days(1970, 1, 1), Some(0));
        assert_eq!(days(2000, 3, 1), Some(11_017));
        let mut next = days(1, 1, 1).unwrap();
        for year in 1..2500 {
            for month in 1..=12 {
                for day in 1..=31 {
                    let Some(number) = days(year, month, day) else { continue };
                    assert_eq!((number, date_of(number)), (next, (year, month, day)));
                    next += 1;
                }
            }
        }
    }

    #[test]
    fn the_better_date_and_address_win() {
        let mut about = About::default();
        about.meta(b"DC.date", b"2020-01-01");
        about.meta(b"article:modified_time", b"2021-01-01");
        about.meta(b"article:published_time", b"2019-01-01");
        about.meta(b"og:url", b"https://example.org/og");
        about.relation(b"alternate", b"https://example.org/no");
        about.relation(b"x Canonical", b"https://example.org/a");
        about.meta(b"Author", b"  A.  Writer");
        about.title.extend_from_slice(b" A\n title ");
        let mut fields = Fields::default();
        about.tell(&mut fields);
        assert_eq!(fields.get("date"), Some("2021-01-01T00:00:00Z"));
        assert_eq!(fields.get("url"), Some("https://example.org/a"));
        assert_eq!(fields.get("author"), Some("A. Writer"));
        assert_eq!(fields.get("title"), Some("A title"));
        let mut about = About::default();
        about.relation(b"canonical", b"/a");
        about.meta(b"og:url", b"http://example.org/og");
        let mut fields = Fields::default();
        about.tell(&mut fields);
        assert_eq!(fields.get("url"), Some("http://example.org/og"));
    }
}
