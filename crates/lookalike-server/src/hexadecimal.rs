//! Bytes in hexadecimal digits.

use std::fmt;

/// Shows bytes, each as two digits in lower case.
pub(crate) struct Hexadecimal<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Hexadecimal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Reads digits in lower or upper case, two for each byte; `None` for everything else.
pub(crate) fn read(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    // The standard library takes a sign, too.
    if !digits.len().is_multiple_of(2) || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.chunks_exact(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_as_they_are_shown() {
        let all: Vec<u8> = (0..=255).collect();
        let shown = Hexadecimal(&all).to_string();
        assert!(shown.starts_with("000102") && shown.ends_with("fdfeff"), "{shown}");
        assert_eq!(read(&shown), Some(all.clone()));
        assert_eq!(read(&shown.to_uppercase()), Some(all));
        assert_eq!(read(""), Some(Vec::new()));
        for wrong in ["0", "+1", "0g", " 0", "\u{e9}"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
