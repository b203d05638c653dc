//! Tokens: what a client may do, and who it is.

use crate::config_error::ConfigError;
use axum::extract::Request;
use std::fmt;
use std::hint::black_box;

/// Minimum length of a token, in bytes.
const MIN_BYTES: usize = 16;

/// A token, with what its client may do and who the client is.
#[derive(Clone)]
pub struct ClientToken {
    /// What it permits.
    pub right: Right,
    /// The name of the person or program, which decisions are recorded under.
    pub name: Option<String>,
    /// What the client sends.
    pub value: String,
}

/// What a client may do; each right includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Right {
    /// Query and read.
    Read,
    /// Record decisions about documents.
    Decide,
    /// Change documents.
    Write,
}

impl Right {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Read, Self::Decide, Self::Write];

    /// The name, as a file of tokens has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Decide => "decide",
            Self::Write => "write",
        }
    }
}

/// The tokens of clients. They are never printed.
#[derive(Clone, Default)]
pub struct Tokens(Vec<ClientToken>);

/// The client of a request: an extension of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Client {
    pub(crate) right: Right,
    pub(crate) name: Option<String>,
}

impl Client {
    /// One without a token.
    pub(crate) const fn unnamed(right: Right) -> Self {
        Self { right, name: None }
    }
}

/// The rights of the client of a request.
pub(crate) fn right(request: &Request) -> Right {
    request.extensions().get::<Client>().map_or(Right::Read, |client| client.right)
}

/// The name of the client of a request, if its token has one.
pub(crate) fn client_name(request: &Request) -> Option<String> {
    request.extensions().get::<Client>().and_then(|client| client.name.clone())
}

impl Tokens {
    /// The tokens that a server accepts.
    ///
    /// # Errors
    /// [`ConfigError::Token`] for one of less than 16 bytes or with bytes that are invalid in a
    /// header, and for an empty name.
    pub fn new(tokens: Vec<ClientToken>) -> Result<Self, ConfigError> {
        for ClientToken { name, value, .. } in &tokens {
            if value.len() < MIN_BYTES {
                let why = "has less than 16 characters: take a long random one, such as that of \
                           `openssl rand -hex 24`";
                return Err(ConfigError::Token { why });
            }
            let is_token = |b: u8| b.is_ascii_alphanumeric() || b"-._~+/=".contains(&b);
            if !value.bytes().all(is_token) {
                let why = "has a character that is none of A-Z a-z 0-9 - . _ ~ + / =";
                return Err(ConfigError::Token { why });
            }
            if name.as_ref().is_some_and(|name| name.trim().is_empty()) {
                return Err(ConfigError::Token { why: "has an empty name: leave it out" });
            }
        }
        Ok(Self(tokens))
    }

    /// Whether no token is required.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The client that shows a token: the first with the most rights. The time of the comparison
    /// does not depend on where a wrong token differs.
    pub(crate) fn client(&self, shown: Option<&str>) -> Option<Client> {
        if self.is_empty() {
            return Some(Client::unnamed(Right::Write));
        }
        let shown = shown?.as_bytes();
        let known = self.0.iter().fold(None::<&ClientToken>, |known, token| {
            let is_same = same(token.value.as_bytes(), shown);
            let is_more = known.is_none_or(|known| known.right < token.right);
            if is_same && is_more { Some(token) } else { known }
        });
        known.map(|token| Client { right: token.right, name: token.name.clone() })
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tokens", self.0.len())
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

    fn token(right: Right, name: Option<&str>, value: &str) -> ClientToken {
        ClientToken { right, name: name.map(str::to_owned), value: value.to_owned() }
    }

    #[test]
    fn a_token_gives_its_right_and_its_name() {
        let (read, decide, write) = ("r".repeat(16), "d".repeat(16), "w".repeat(20));
        let all = vec![
            token(Right::Read, None, &read),
            token(Right::Read, Some("ann"), &decide),
            token(Right::Decide, Some("ann"), &decide),
            token(Right::Write, Some("bob"), &write),
        ];
        let tokens = Tokens::new(all).unwrap();
        let client = |shown: &str| tokens.client(Some(shown));
        let named = |right, name: &str| Some(Client { right, name: Some(name.to_owned()) });
        assert_eq!(client(&read), Some(Client::unnamed(Right::Read)));
        assert_eq!(client(&decide), named(Right::Decide, "ann"));
        assert_eq!(client(&write), named(Right::Write, "bob"));
        for wrong in ["", "r", &read[1..], &format!("{read}r"), &"x".repeat(16), "\0"] {
            assert_eq!(client(wrong), None, "{wrong}");
        }
        assert_eq!(tokens.client(None), None);
        assert_eq!(Tokens::default().client(None), Some(Client::unnamed(Right::Write)));
        assert!(!format!("{tokens:?}").contains("rrr"));
    }

    #[test]
    fn weak_tokens_are_refused() {
        let refused =
            |name, value: &str| Tokens::new(vec![token(Right::Read, name, value)]).is_err();
        assert!(refused(None, "short"));
        assert!(refused(None, "with a blank in it"));
        assert!(refused(Some(" "), "long-enough-for-a-token"));
    }
}
