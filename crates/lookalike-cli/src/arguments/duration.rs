//! Parsers of durations in options.

use std::time::Duration;

/// Parses `500ms`, `30s`, `5min` or `5m`, `12h`, `30d` or `8w`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "expected a number and a unit: ms, s, min, h, d or w, such as 30d".to_owned();
    let at = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
    let (number, unit) = text.split_at(at);
    let ms: u64 = match unit.trim() {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 604_800_000,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    number.checked_mul(ms).map(Duration::from_millis).ok_or_else(wrong)
}

/// The time after which a document counts as removed; not 0.
pub(crate) fn lifetime(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("expected a span of time above 0, such as 30d".to_owned()),
        lifetime => Ok(lifetime),
    }
}

/// The time to wait for something; a number without a unit is seconds.
pub(crate) fn patience(text: &str) -> Result<Duration, String> {
    let number = text.bytes().all(|b| b.is_ascii_digit()).then(|| format!("{text}s"));
    duration(number.as_deref().unwrap_or(text))
        .map_err(|_| "expected a span of time such as 500ms, 30s or 2min".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        assert_eq!(duration("30d"), Ok(Duration::from_secs(30 * 86_400)));
        assert_eq!(duration("90 s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("2m"), duration("2min"));
        for wrong in ["", "30", "d", "1y", "-1d", "1.5h", "99999999999999999999w"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
        assert!(lifetime("0d").is_err() && lifetime("1ms").is_ok());
    }

    #[test]
    fn waiting_times_default_to_seconds() {
        assert_eq!(patience("5"), Ok(Duration::from_secs(5)));
        assert_eq!(patience("0"), Ok(Duration::ZERO));
        assert_eq!(patience("250ms"), Ok(Duration::from_millis(250)));
        assert!(patience("").is_err() && patience("-1").is_err() && patience("5y").is_err());
    }
}
