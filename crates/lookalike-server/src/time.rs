//! Points in time as RFC 3339 writes them, to ns since 1970 and back.

use std::time::{SystemTime, UNIX_EPOCH};

const NS: i64 = 1_000_000_000;

/// Now, in ns since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// Days from 1970-01-01 to a day of the Gregorian calendar (H. Hinnant, *chrono-compatible
/// low-level date algorithms*).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// `YYYY-MM-DDTHH:MM:SSZ`, with as many decimals as there are.
pub(crate) fn format(ns: i64) -> String {
    let (seconds, fraction) = (ns.div_euclid(NS), ns.rem_euclid(NS));
    let (day, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let shifted = day + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    let decimals = match fraction {
        0 => String::new(),
        _ => format!(".{fraction:09}").trim_end_matches('0').to_owned(),
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{decimals}Z")
}

/// Reads `2026-11-21T10:00:00Z`, with decimals and another offset if there are; `None` for what is
/// no such time, and for years that ns since 1970 do not reach (before 1678, after 2261).
pub(crate) fn parse(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let stands = |at: usize, what: &[u8]| bytes.get(at).is_some_and(|b| what.contains(b));
    let signs = [(4, b"-" as &[u8]), (7, b"-"), (10, b"Tt"), (13, b":"), (16, b":")];
    if !signs.iter().all(|(at, what)| stands(*at, what)) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let is_date = (1..=12).contains(&month) && (1..=length).contains(&day);
    if !is_date || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (mut end, mut fraction) = (19, 0);
    if stands(19, b".") {
        end = 20 + bytes[20..].iter().take_while(|b| b.is_ascii_digit()).count();
        let digits = text.get(20..end).filter(|digits| !digits.is_empty())?;
        fraction = format!("{digits:0<9}").get(..9)?.parse().ok()?;
    }
    let offset = match text.get(end..)? {
        "Z" | "z" => 0,
        zone if zone.len() == 6 && stands(end, b"+-") && stands(end + 3, b":") => {
            let (hours, minutes) = (number(end + 1, end + 3)?, number(end + 4, end + 6)?);
            let seconds = (hours < 24 && minutes < 60).then_some(hours * 3600 + minutes * 60)?;
            if stands(end, b"-") { -seconds } else { seconds }
        }
        _ => return None,
    };
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
    seconds.checked_mul(NS)?.checked_add(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_written() {
        let cases = [
            ("1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00Z"),
            ("2000-02-29T12:30:15.5Z", 951_827_415_500_000_000, "2000-02-29T12:30:15.5Z"),
            ("2026-11-21T10:00:00+02:00", 1_795_248_000_000_000_000, "2026-11-21T08:00:00Z"),
            ("1969-12-31t23:59:59.999999999z", -1, "1969-12-31T23:59:59.999999999Z"),
        ];
        for (text, ns, again) in cases {
            assert_eq!(parse(text), Some(ns), "{text}");
            assert_eq!(format(ns), again);
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        let wrong = [
            "", "2026", "2026-11-21", "2026-11-21T10:00:00", "2026-13-01T00:00:00Z",
            "2026-02-29T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T10:00:00.Z",
            "2026-11-21T10:00:00+2:00", "9999-01-01T00:00:00Z", "+026-11-21T10:00:00Z",
            "2026-11-21T10:00:00Zx", "２026-11-21T10:00:00Z",
        ];
        for text in wrong {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
