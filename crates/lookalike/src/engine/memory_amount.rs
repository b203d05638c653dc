//! Amounts of memory in readable notation.

use lookalike_core::error::ParamsError;
use lookalike_core::parameter::Parameter;

/// The description of a valid amount.
const EXPECTED: &str = "an amount of memory such as 512MiB, 4GiB, 1.5g (binary), 2GB (decimal), \
                        or a number of bytes, from 1 to 18446744073709551615 bytes";

/// Returns the bytes of an amount of memory: a number, with or without a fraction, and a unit in
/// any case. `KiB`, `MiB`, `GiB`, `TiB` and the single letters `k`, `m`, `g`, `t` count by 1024.
/// `kB`, `MB`, `GB`, `TB` count by 1000. `B` or no unit means bytes. Fractions of a byte are cut
/// off.
///
/// # Errors
/// [`ParamsError::Parse`] for [`Parameter::Memory`] if the text is anything else, or if the amount
/// is not from 1 to 2⁶⁴ − 1 bytes.
///
/// ```
/// use lookalike::find::parse_memory;
///
/// assert_eq!(parse_memory("1.5g").unwrap(), 1_610_612_736);
/// ```
pub fn parse_memory(text: &str) -> Result<u64, ParamsError> {
    let parameter = Parameter::Memory;
    let expected = EXPECTED;
    let refused = || ParamsError::Parse { parameter, got: text.to_owned(), expected };
    amount(text.trim()).filter(|&bytes| bytes > 0).ok_or_else(refused)
}

fn amount(text: &str) -> Option<u64> {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let (number, unit) = text.split_at(text.find(|c| !is_number(c)).unwrap_or(text.len()));
    let unit = factor(&unit.trim_start().to_ascii_lowercase())?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction_is_one = fraction.bytes().all(|digit| digit.is_ascii_digit());
    if whole.is_empty() || !fraction_is_one || (number.contains('.') && fraction.is_empty()) {
        return None;
    }
    let whole = whole.parse::<u64>().ok()?.checked_mul(unit)?;
    // Twelve decimals determine every byte of a tebibyte. Further ones are ignored.
    let digits = fraction.get(..12).unwrap_or(fraction);
    let numerator = digits.parse::<u128>().unwrap_or(0);
    let part = numerator * u128::from(unit) / 10u128.pow(digits.len() as u32);
    whole.checked_add(u64::try_from(part).ok()?)
}

fn factor(unit: &str) -> Option<u64> {
    Some(match unit {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_of_memory() {
        for (text, bytes) in [
            ("512MiB", 512 << 20),
            ("4GiB", 4 << 30),
            ("4 gib", 4 << 30),
            ("2GB", 2_000_000_000),
            ("1.5g", 3 << 29),
            ("1.5G", 3 << 29),
            ("0.1kb", 100),
            ("300000000", 300_000_000),
            ("1b", 1),
            ("7k", 7 << 10),
            ("2t", 2 << 40),
            ("3tib", 3 << 40),
            ("5MB", 5_000_000),
            ("18446744073709551615", u64::MAX),
            ("0.3333333333333333333333333333333333333333333333333g", 357_913_941),
        ] {
            assert_eq!(parse_memory(text), Ok(bytes), "{text}");
        }
        for text in [
            "",
            "0",
            "0.2",
            "-1",
            "g",
            ".5g",
            "1.g",
            "1..5g",
            "1.5.5g",
            "4 G i B",
            "4x",
            "1e9",
            "∞",
            "18446744073709551616",
            "16777216TiB",
            "0x10",
            "1,5g",
        ] {
            let message = parse_memory(text).unwrap_err().to_string();
            assert!(message.contains("memory") && message.contains("512MiB"), "{message}");
            assert!(message.contains(&format!("{text:?}")), "{message}");
        }
    }
}
