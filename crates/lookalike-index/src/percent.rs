//! Strict decoding of percent-encoded text.

use percent_encoding::percent_decode_str;
use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};

/// The reason why a text is not percent-encoded. The message is a predicate that follows the name
/// of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PercentError {
    /// A `%` is not followed by two hexadecimal digits.
    Incomplete,
    /// The decoded bytes are not UTF-8.
    NotUtf8,
}

impl Display for PercentError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Incomplete => "has a % without two hexadecimal digits after it: write % as %25",
            Self::NotUtf8 => "is not UTF-8: encode the bytes of its UTF-8 form as %XX",
        })
    }
}

impl std::error::Error for PercentError {}

/// Decodes a text. A `+` stands for itself. Rejects a `%` without digits: the crate
/// `percent-encoding` would keep it, and a typing error would become another id.
///
/// # Errors
/// [`PercentError::Incomplete`] for an incomplete `%`, otherwise [`PercentError::NotUtf8`].
pub fn decode(encoded: &str) -> Result<Cow<'_, str>, PercentError> {
    let is_whole = |(at, _): (usize, &str)| {
        let digits = encoded.as_bytes().get(at + 1..at + 3);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    if !encoded.match_indices('%').all(is_whole) {
        return Err(PercentError::Incomplete);
    }
    percent_decode_str(encoded).decode_utf8().map_err(|_| PercentError::NotUtf8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
    use proptest::prelude::*;

    #[test]
    fn known_answers() {
        let cases = [
            ("", Ok("")),
            ("a+b", Ok("a+b")),
            ("a%2Fb%0a%c3%A4", Ok("a/b\nä")),
            ("%2541", Ok("%41")),
            ("ä%00", Ok("ä\0")),
            ("%", Err(PercentError::Incomplete)),
            ("a%2", Err(PercentError::Incomplete)),
            ("%zz", Err(PercentError::Incomplete)),
            ("%+1", Err(PercentError::Incomplete)),
            ("%2ä", Err(PercentError::Incomplete)),
            ("%ff%", Err(PercentError::Incomplete)),
            ("%ff", Err(PercentError::NotUtf8)),
            ("%c3", Err(PercentError::NotUtf8)),
        ];
        for (encoded, expected) in cases {
            assert_eq!(decode(encoded).as_deref(), expected.as_ref().copied(), "{encoded}");
        }
    }

    proptest! {
        #[test]
        fn percent_encoding_round_trips(text in any::<String>()) {
            let encoded = utf8_percent_encode(&text, NON_ALPHANUMERIC).to_string();
            prop_assert_eq!(decode(&encoded).unwrap(), text);
        }
    }
}
