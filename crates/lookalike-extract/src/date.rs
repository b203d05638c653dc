//! All date formats of the workspace.
//!
//! The calendar comes from the crate chrono, which Parquet also needs. ISO 8601 is parsed here
//! because chrono has no parser for all forms that files use.

use chrono::{DateTime, Datelike, NaiveDate, SecondsFormat};

/// Seconds since 1970 of `[year, month, day, hour, minute, second]`; `None` if a number is out of
/// range. Years are 1 to 9999. Second 60 counts as the first second of the next minute.
pub fn seconds([year, month, day, hour, minute, second]: [u32; 6]) -> Option<i64> {
    let year = i32::try_from(year).ok().filter(|year| (1..=9999).contains(year))?;
    let leap = i64::from(second == 60);
    let second = if leap == 1 { 59 } else { second };
    let time = NaiveDate::from_ymd_opt(year, month, day)?.and_hms_opt(hour, minute, second)?;
    Some(time.and_utc().timestamp() + leap)
}

/// A time in seconds since 1970 as `YYYY-MM-DDTHH:MM:SSZ`; `None` outside of the years 1 to 9999.
pub fn iso(seconds: i64) -> Option<String> {
    let time = DateTime::from_timestamp(seconds, 0)?;
    let is_written = (1..=9999).contains(&time.year());
    is_written.then(|| time.to_rfc3339_opts(SecondsFormat::Secs, true))
}

/// Seconds since 1970 of a date in ISO 8601, such as `2024-05-06`, `2024-05-06T07:08:09.5Z`,
/// `…+02:00` or `… +0200`. The default zone is UTC. `None` for anything else, including a year
/// alone.
#[cfg(any(feature = "html", feature = "office"))]
pub(crate) fn parse_iso(text: &str) -> Option<i64> {
    let has_byte = |text: &str, at: usize, allowed: &[u8]| {
        text.as_bytes().get(at).is_some_and(|byte| allowed.contains(byte))
    };
    let (date, time) = text.trim().split_at_checked(10)?;
    if !has_byte(date, 4, b"-") || !has_byte(date, 7, b"-") {
        return None;
    }
    let mut at = [digits(date, 0, 4)?, digits(date, 5, 7)?, digits(date, 8, 10)?, 0, 0, 0];
    if time.is_empty() {
        return seconds(at);
    }
    if !has_byte(time, 0, b"Tt ") || !has_byte(time, 3, b":") {
        return None;
    }
    at[3] = digits(time, 1, 3)?;
    at[4] = digits(time, 4, 6)?;
    let mut rest = time.get(6..)?;
    if let Some(second) = rest.strip_prefix(':') {
        at[5] = digits(second, 0, 2)?;
        rest = second.get(2..)?;
        if let Some(fraction) = rest.strip_prefix(['.', ',']) {
            rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
        }
    }
    Some(seconds(at)? - offset(rest.trim_start())?)
}

/// Parses a zone as seconds east of UTC: empty, `Z`, `+02`, `+0200` or `+02:00`.
#[cfg(any(feature = "html", feature = "office"))]
fn offset(zone: &str) -> Option<i64> {
    let sign = match zone.as_bytes() {
        [] | [b'Z' | b'z'] => return Some(0),
        [b'+', ..] => 1,
        [b'-', ..] => -1,
        _ => return None,
    };
    let minutes = zone.get(3..)?;
    let minutes = minutes.strip_prefix(':').unwrap_or(minutes);
    let minutes = match minutes.len() {
        0 => 0,
        2 => digits(minutes, 0, 2)?,
        _ => return None,
    };
    Some(sign * (i64::from(digits(zone, 1, 3)?) * 3600 + i64::from(minutes) * 60))
}

/// Parses a part of a text as a number.
#[cfg(any(feature = "html", feature = "office"))]
fn digits(text: &str, from: usize, to: usize) -> Option<u32> {
    let digits = text.get(from..to)?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_seconds() {
        // From `date -u -d … +%s`.
        let known = [
            ([1970, 1, 1, 0, 0, 0], 0, "1970-01-01T00:00:00Z"),
            ([2000, 2, 29, 23, 59, 59], 951_868_799, "2000-02-29T23:59:59Z"),
            ([2024, 3, 1, 12, 0, 0], 1_709_294_400, "2024-03-01T12:00:00Z"),
            ([1601, 1, 1, 0, 0, 0], -11_644_473_600, "1601-01-01T00:00:00Z"),
            ([1900, 3, 1, 0, 0, 0], -2_203_891_200, "1900-03-01T00:00:00Z"),
        ];
        for (at, second, text) in known {
            assert_eq!(seconds(at), Some(second), "{text}");
            assert_eq!(iso(second).as_deref(), Some(text));
        }
    }

    #[test]
    fn seconds_and_iso_agree_every_day() {
        let mut next = seconds([1, 1, 1, 0, 0, 0]);
        for year in 1..2500 {
            for (month, day) in (1..=12).flat_map(|month| (1..=31).map(move |day| (month, day))) {
                let Some(second) = seconds([year, month, day, 0, 0, 0]) else { continue };
                assert_eq!(Some(second), next);
                let text = format!("{year:04}-{month:02}-{day:02}T00:00:00Z");
                assert_eq!(iso(second), Some(text));
                next = Some(second + 86_400);
            }
        }
    }

    #[test]
    fn impossible_dates_are_rejected() {
        for at in [[2023, 2, 29, 0, 0, 0], [2023, 13, 1, 0, 0, 0], [2023, 1, 1, 24, 0, 0]] {
            assert_eq!(seconds(at), None);
        }
        assert_eq!(iso(i64::MAX), None);
        assert_eq!(iso(i64::MIN), None);
    }

    #[cfg(any(feature = "html", feature = "office"))]
    #[test]
    fn iso_dates_parse_with_optional_zone() {
        let known = [
            ("2024-05-06", Some("2024-05-06T00:00:00Z")),
            ("2024-05-06T07:08", Some("2024-05-06T07:08:00Z")),
            ("2023-05-01T10:20:30Z", Some("2023-05-01T10:20:30Z")),
            (" 2024-05-06T07:08:09.123456789 ", Some("2024-05-06T07:08:09Z")),
            ("2024-01-01T00:30:00+02:00", Some("2023-12-31T22:30:00Z")),
            ("2024-12-31T23:30:00-0130", Some("2025-01-01T01:00:00Z")),
            (" 2023-12-31T23:30:00.123-01:00 ", Some("2024-01-01T00:30:00Z")),
            ("2024-03-01 00:10:00 +0200", Some("2024-02-29T22:10:00Z")),
            ("1900-03-01T00:00:00+05", Some("1900-02-28T19:00:00Z")),
            ("2024", None),
            ("2024-05-06T07:08:09+2", None),
            ("2024-05-06 at noon", None),
            ("é024-05-06T07:08:09Z", None),
            ("2024-05-06T07:08:09é", None),
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
        for (text, date) in known {
            assert_eq!(parse_iso(text).and_then(iso).as_deref(), date, "{text}");
        }
    }
}
