//! Formats numbers for readers: thousands separators, shares, sizes with their units.

use crate::report::phrases;
use std::fmt::{self, Display, Formatter};

/// A count with commas between thousands.
pub(super) struct Count(pub(super) u64);

impl Display for Count {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&phrases::thousands(self.0))
    }
}

/// A count of things: `1 group`, `2 groups`.
pub(super) struct Plural(pub(super) u64, pub(super) &'static str);

impl Display for Plural {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&phrases::count(self.0, self.1))
    }
}

/// A number of bytes with its unit written out, in steps of 1,000, with three digits.
pub(super) struct ByteSize(pub(super) u64);

impl Display for ByteSize {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 5] = ["kilobytes", "megabytes", "gigabytes", "terabytes", "petabytes"];
        if self.0 < 1000 {
            return Plural(self.0, "byte").fmt(f);
        }
        let mut value = self.0 as f64 / 1000.0;
        let mut unit = UNITS[0];
        for larger in &UNITS[1..] {
            if value < 999.5 {
                break;
            }
            value /= 1000.0;
            unit = larger;
        }
        let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
        write!(f, "{value:.decimals$} {unit}")
    }
}

/// A part of a whole in percent, with one decimal. Only the whole is `100`, and only nothing is
/// `0`.
pub(super) struct Share(pub(super) u64, pub(super) u64);

impl Share {
    /// The share, 0 to 1; 0 if the whole is 0.
    pub(super) fn of_one(&self) -> f64 {
        if self.1 == 0 { 0.0 } else { self.0 as f64 / self.1 as f64 }
    }
}

impl Display for Share {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self(part, whole) = *self;
        if part == 0 || whole == 0 {
            return f.write_str("0\u{a0}%");
        }
        if part == whole {
            return f.write_str("100\u{a0}%");
        }
        match self.of_one() * 100.0 {
            percent if percent < 0.1 => f.write_str("less than 0.1\u{a0}%"),
            percent if percent > 99.9 && percent < 100.0 => f.write_str("more than 99.9\u{a0}%"),
            percent => write!(f, "{percent:.1}\u{a0}%"),
        }
    }
}

/// A probability in percent with at most two decimals. Only certainty is `100`.
pub(super) struct Probability(pub(super) f64);

impl Display for Probability {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let p = self.0;
        if p <= 0.0 || p >= 1.0 {
            return write!(f, "{}\u{a0}%", if p <= 0.0 { 0 } else { 100 });
        }
        if p > 0.9999 {
            return f.write_str(">\u{a0}99.99\u{a0}%");
        }
        if p < 0.0001 {
            return f.write_str("less than 0.01\u{a0}%");
        }
        // Near 0 and 1, the second decimal distinguishes probabilities.
        let decimals = if (0.001..=0.99).contains(&p) { 1 } else { 2 };
        let percentage = format!("{:.decimals$}", p * 100.0);
        write!(f, "{}\u{a0}%", percentage.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// A similarity, given in millionths and shown with six decimals, as in every report.
pub(super) struct ExactSimilarity(pub(super) u32);

impl Display for ExactSimilarity {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

/// A similarity, given in millionths and shown with three decimals. It is rounded down, so only 1
/// is shown as `1.000`. A similarity that reaches a threshold of at most three decimals is never
/// shown as less than the threshold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Thousandths(pub(super) u32);

impl Display for Thousandths {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1_000_000, self.0 % 1_000_000 / 1000)
    }
}

/// Seconds in a readable unit.
pub(super) struct Seconds(pub(super) f64);

impl Display for Seconds {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            s if s < 0.001 => f.write_str("less than 1 millisecond"),
            s if s < 0.9995 => write!(f, "{:.0} milliseconds", s * 1000.0),
            s if s < 59.95 => write!(f, "{s:.1} seconds"),
            s => {
                let whole = s.round() as u64;
                write!(f, "{} minutes {} seconds", Count(whole / 60), whole % 60)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_sizes() {
        assert_eq!(Count(1_234_567).to_string(), "1,234,567");
        assert_eq!(Plural(1, "group").to_string(), "1 group");
        assert_eq!(
            [0, 1, 999, 1000, 9_999, 999_499, 999_600, 2_137_000_000, u64::MAX]
                .map(|bytes| ByteSize(bytes).to_string())
                .join("; "),
            "0 bytes; 1 byte; 999 bytes; 1.00 kilobytes; 10.0 kilobytes; 999 kilobytes; \
             1.00 megabytes; 2.14 gigabytes; 18447 petabytes"
        );
    }

    #[test]
    fn shares_never_round_to_extremes() {
        let text = |part, whole| Share(part, whole).to_string();
        assert_eq!(text(0, 0), "0\u{a0}%");
        assert_eq!(text(1, 1_000_000), "less than 0.1\u{a0}%");
        assert_eq!(text(999_999, 1_000_000), "more than 99.9\u{a0}%");
        assert_eq!((text(5, 5), text(1, 3)), ("100\u{a0}%".into(), "33.3\u{a0}%".into()));
    }

    #[test]
    fn probabilities_never_round_to_extremes() {
        let text = |p| Probability(p).to_string();
        assert_eq!(text(0.998_281), "99.83\u{a0}%");
        assert_eq!((text(0.5), text(0.99)), ("50\u{a0}%".into(), "99\u{a0}%".into()));
        assert_eq!(text(0.9999), "99.99\u{a0}%");
        assert_eq!(text(0.999_999_983), ">\u{a0}99.99\u{a0}%");
        assert_eq!((text(1.0), text(0.0)), ("100\u{a0}%".into(), "0\u{a0}%".into()));
        assert_eq!((text(0.000_5), text(0.01)), ("0.05\u{a0}%".into(), "1\u{a0}%".into()));
        assert_eq!(text(0.000_01), "less than 0.01\u{a0}%");
    }

    #[test]
    fn three_decimals_are_rounded_down() {
        let text = |millionths| Thousandths(millionths).to_string();
        assert_eq!(
            [0, 800_000, 912_999, 999_999, 1_000_000].map(text).join(" "),
            "0.000 0.800 0.912 0.999 1.000"
        );
    }

    #[test]
    fn seconds_of_any_length() {
        let text = |s| Seconds(s).to_string();
        assert_eq!(text(0.0), "less than 1 millisecond");
        assert_eq!((text(0.25), text(59.9)), ("250 milliseconds".into(), "59.9 seconds".into()));
        assert_eq!(text(3_725.0), "62 minutes 5 seconds");
    }
}
