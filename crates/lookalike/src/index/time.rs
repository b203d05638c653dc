//! Conversions between times in RFC 3339 and ns since 1970.

use lookalike_extract::date;
pub use lookalike_index::time::now;

const NS: i64 = 1_000_000_000;

/// Formats a time by RFC 3339 in UTC, with as many decimals of seconds as needed.
pub fn format(ns: i64) -> String {
    let seconds = ns.div_euclid(NS);
    let rest = ns.rem_euclid(NS);
    // 64 bits of ns cover only the years 1677 to 2262.
    let mut text = date::iso(seconds).unwrap_or_default();
    if rest > 0 {
        let digits = format!("{rest:09}");
        text.truncate(text.len() - 1);
        text.push('.');
        text.push_str(digits.trim_end_matches('0'));
        text.push('Z');
    }
    text
}

/// Parses `2026-11-21T10:00:00Z`, optionally with decimals and another offset. Returns `None` for
/// another format, and for times outside the range of ns since 1970 (before 1678, after 2261).
pub fn parse(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| -> Option<u32> {
        let digits = text.get(from..to)?;
        digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let is_at = |at: usize, expected: &[u8]| bytes.get(at).is_some_and(|b| expected.contains(b));
    let signs = [(4, b"-" as &[u8]), (7, b"-"), (10, b"Tt"), (13, b":"), (16, b":")];
    if !signs.iter().all(|(at, expected)| is_at(*at, expected)) {
        return None;
    }
    let fields = [
        number(0, 4)?,
        number(5, 7)?,
        number(8, 10)?,
        number(11, 13)?,
        number(14, 16)?,
        number(17, 19)?,
    ];
    let seconds = date::seconds(fields)?;
    let mut end = 19;
    let mut fraction = 0;
    if is_at(19, b".") {
        end = 20 + bytes[20..].iter().take_while(|b| b.is_ascii_digit()).count();
        let digits = text.get(20..end).filter(|digits| !digits.is_empty())?;
        fraction = format!("{digits:0<9}").get(..9)?.parse().ok()?;
    }
    let offset = match text.get(end..)? {
        "Z" | "z" => 0,
        zone if zone.len() == 6 && is_at(end, b"+-") && is_at(end + 3, b":") => {
            let hours = number(end + 1, end + 3)?;
            let minutes = number(end + 4, end + 6)?;
            let east = (hours < 24 && minutes < 60).then_some(hours * 3600 + minutes * 60)?;
            if is_at(end, b"-") { -i64::from(east) } else { i64::from(east) }
        }
        _ => return None,
    };
    (seconds - offset).checked_mul(NS)?.checked_add(fraction)
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
        for (text, ns, formatted) in cases {
            assert_eq!(parse(text), Some(ns), "{text}");
            assert_eq!(format(ns), formatted);
        }
        assert!(format(i64::MIN).starts_with("1677-") && format(i64::MAX).starts_with("2262-"));
    }

    #[test]
    fn invalid_times_return_none() {
        let wrong = [
            "",
            "2026",
            "2026-11-21",
            "2026-11-21T10:00:00",
            "2026-13-01T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "2026-11-21T24:00:00Z",
            "2026-11-21T10:00:00.Z",
            "2026-11-21T10:00:00+2:00",
            "9999-01-01T00:00:00Z",
            "+026-11-21T10:00:00Z",
            "2026-11-21T10:00:00Zx",
            "２026-11-21T10:00:00Z",
        ];
        for text in wrong {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
