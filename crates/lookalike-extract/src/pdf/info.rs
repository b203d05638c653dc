//! What a PDF says about itself.

use super::font::get;
use crate::fields::Fields;
use lopdf::{Dictionary, Document, Object};

/// Title, author, and when it was last changed.
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

/// `D:YYYYMMDDHHmmSS+HH'mm'`, of which all behind the year may be missing, as a date in UTC.
fn utc(date: &str) -> Option<String> {
    let date = date.trim();
    let date = date.strip_prefix("D:").unwrap_or(date);
    let digits = date.bytes().take_while(u8::is_ascii_digit).count().min(14);
    let (digits, zone) = date.split_at(digits);
    let number = |from: usize, to: usize, missing: i64| match digits.get(from..to) {
        Some(digits) => digits.parse().ok(),
        None if digits.len() <= from => Some(missing),
        None => None,
    };
    let year = number(0, 4, -1).filter(|year| (1..=9999).contains(year))?;
    let month = number(4, 6, 1).filter(|month| (1..=12).contains(month))?;
    let day = number(6, 8, 1).filter(|day| (1..=31).contains(day))?;
    let hour = number(8, 10, 0).filter(|hour| (0..24).contains(hour))?;
    let minute = number(10, 12, 0).filter(|minute| (0..60).contains(minute))?;
    let second = number(12, 14, 0).filter(|second| (0..60).contains(second))?;
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    written(seconds - offset(zone))
}

/// Seconds that a zone is ahead of UTC.
fn offset(zone: &str) -> i64 {
    let sign = match zone.bytes().next() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return 0,
    };
    let digits: String = zone.chars().filter(char::is_ascii_digit).take(4).collect();
    let part = |from: usize| digits.get(from..from + 2).and_then(|d| d.parse::<i64>().ok());
    let (hours, minutes) = (part(0).unwrap_or(0), part(2).unwrap_or(0));
    if hours > 23 || minutes > 59 { 0 } else { sign * (hours * 3600 + minutes * 60) }
}

/// Days since 1970-01-01 (Gregorian, proleptic).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The inverse, with the time of the day.
fn written(seconds: i64) -> Option<String> {
    let (days, time) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let of_era_year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * of_era_year + of_era_year / 4 - of_era_year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = of_era_year + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60);
    (0..=9999)
        .contains(&year)
        .then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
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
