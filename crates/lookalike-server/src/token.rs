//! Tokens: the rights to read and to write.

use crate::config_error::ConfigError;
use axum::extract::Request;
use std::fmt;
use std::hint::black_box;

/// Minimum length of a token, in bytes.
const MIN_BYTES: usize = 16;

/// The tokens of clients. They are never printed.
#[derive(Clone, Default)]
pub struct Tokens {
    read: Vec<String>,
    write: Vec<String>,
}

/// The rights of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Right {
    Read,
    Write,
}

/// The rights of the client of a request.
pub(crate) fn right(request: &Request) -> Right {
    request.extensions().get().copied().unwrap_or(Right::Read)
}

impl Tokens {
    /// Tokens that may read, and tokens that may read and write.
    ///
    /// # Errors
    /// [`ConfigError::Token`] for one of less than 16 bytes or with bytes that are invalid in a
    /// header.
    pub fn new(read: Vec<String>, write: Vec<String>) -> Result<Self, ConfigError> {
        for token in read.iter().chain(&write) {
            if token.len() < MIN_BYTES {
                let why = "has less than 16 characters: take a long random one, such as that of \
                           `openssl rand -hex 24`";
                return Err(ConfigError::Token { why });
            }
            let is_token = |b: u8| b.is_ascii_alphanumeric() || b"-._~+/=".contains(&b);
            if !token.bytes().all(is_token) {
                let why = "has a character that is none of A-Z a-z 0-9 - . _ ~ + / =";
                return Err(ConfigError::Token { why });
            }
        }
        Ok(Self { read, write })
    }

    /// Whether no token is required.
    pub fn is_empty(&self) -> bool {
        self.read.is_empty() && self.write.is_empty()
    }

    /// Number of tokens for reading only, and for writing.
    pub fn counts(&self) -> (usize, usize) {
        (self.read.len(), self.write.len())
    }

    /// The rights of a token. The time of the comparison does not depend on where a wrong token
    /// differs.
    pub(crate) fn right(&self, shown: Option<&str>) -> Option<Right> {
        if self.is_empty() {
            return Some(Right::Write);
        }
        let shown = shown?.as_bytes();
        let among = |tokens: &[String]| {
            tokens.iter().fold(false, |found, token| found | same(token.as_bytes(), shown))
        };
        let (read, write) = (among(&self.read), among(&self.write));
        if write { Some(Right::Write) } else { read.then_some(Right::Read) }
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tokens({} to read, {} to write)", self.read.len(), self.write.len())
    }
}

fn same(token: &[u8], shown: &[u8]) -> bool {
    let differs = token.iter().enumerate().fold(0, |differs, (i, byte)| {
        black_box(differs | (byte ^ shown.get(i).copied().unwrap_or(0)))
    });
    differs == 0 && token.len() == shown.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_gives_its_right() {
        let (read, write) = ("r".repeat(16), "w".repeat(20));
        let tokens = Tokens::new(vec![read.clone()], vec![write.clone()]).unwrap();
        assert_eq!(tokens.right(Some(&read)), Some(Right::Read));
        assert_eq!(tokens.right(Some(&write)), Some(Right::Write));
        for wrong in ["", "r", &read[1..], &format!("{read}r"), &"x".repeat(16), "\0"] {
            assert_eq!(tokens.right(Some(wrong)), None, "{wrong}");
        }
        assert_eq!(tokens.right(None), None);
        assert_eq!(Tokens::default().right(None), Some(Right::Write));
        assert!(!format!("{tokens:?}").contains("rrr"));
    }

    #[test]
    fn weak_tokens_are_refused() {
        assert!(Tokens::new(vec!["short".into()], vec![]).is_err());
        assert!(Tokens::new(vec![], vec!["with a blank in it".into()]).is_err());
    }
}
