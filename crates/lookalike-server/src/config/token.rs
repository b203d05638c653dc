//! Tokens: the right of a client, its name, and when the token expires.

use crate::config::config_error::ConfigError;
use crate::config::index_name::IndexName;
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use lookalike::index::time;
use sha2::{Digest, Sha256};
use std::fmt;
use std::hint::black_box;
use std::io;

/// Minimum length of a token, in bytes.
const MIN_BYTES: usize = 16;
/// Random bytes of a new token.
const RANDOM_BYTES: usize = 32;

/// A token, with the right and the name of its client. Only the hash of the token itself is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientToken {
    /// The right of the client.
    pub right: Right,
    /// The name of the person or program, which decisions are recorded under.
    pub name: Option<String>,
    /// When it expires, in ns since 1970; never if `None`.
    pub expires: Option<i64>,
    /// The indexes that it opens; all of the server if `None`.
    pub indexes: Option<Vec<IndexName>>,
    /// The hash of the text that the client sends.
    pub hash: TokenHash,
}

/// The SHA-256 of a token. Tokens are random and cannot be guessed, so a slow hash has no
/// benefit.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenHash([u8; 32]);

/// The right of a client; each right includes the ones before it.
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
    /// All rights.
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

impl TokenHash {
    /// The hash of a token.
    pub fn of(value: &str) -> Self {
        Self(Sha256::digest(value.as_bytes()).into())
    }

    /// Reads 64 hexadecimal digits; `None` for everything else.
    pub fn from_hex(text: &str) -> Option<Self> {
        HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()?.try_into().ok().map(Self)
    }

    /// Compares in a time that does not depend on where the hashes differ.
    fn is_same(self, other: Self) -> bool {
        let pairs = self.0.iter().zip(other.0);
        pairs.fold(0, |differs, (a, b)| black_box(differs | (a ^ b))) == 0
    }
}

impl fmt::Display for TokenHash {
    /// 64 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        HEXLOWER.encode_display(&self.0).fmt(f)
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash")
    }
}

/// A new token: `lookalike_` and 64 hexadecimal digits from the random source of the system.
///
/// # Errors
/// The system has no random bytes.
pub fn random_token() -> io::Result<String> {
    let mut bytes = [0; RANDOM_BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(format!("lookalike_{}", TokenHash(bytes)))
}

impl ClientToken {
    /// A token that the client sends as `value`.
    ///
    /// # Errors
    /// [`ConfigError::Token`] for a value of less than 16 bytes or with bytes that are invalid in a
    /// header, and for an empty name.
    pub fn new(right: Right, name: Option<&str>, value: &str) -> Result<Self, ConfigError> {
        if value.len() < MIN_BYTES {
            let why = "has fewer than 16 characters; use a long random token, such as `lookalike \
                       token` creates";
            return Err(ConfigError::Token { why });
        }
        let is_token = |b: u8| b.is_ascii_alphanumeric() || b"-._~+/=".contains(&b);
        if !value.bytes().all(is_token) {
            let why = "has a character other than A-Z a-z 0-9 - . _ ~ + / =";
            return Err(ConfigError::Token { why });
        }
        Self::hashed(right, name, TokenHash::of(value))
    }

    /// Whether it opens an index.
    fn opens(&self, index: &IndexName) -> bool {
        self.indexes.as_ref().is_none_or(|indexes| indexes.contains(index))
    }

    /// A token with this hash.
    ///
    /// # Errors
    /// [`ConfigError::Token`] for an empty name.
    pub fn hashed(right: Right, name: Option<&str>, hash: TokenHash) -> Result<Self, ConfigError> {
        if name.is_some_and(|name| name.trim().is_empty()) {
            return Err(ConfigError::Token { why: "has an empty name: leave it out" });
        }
        Ok(Self { right, name: name.map(str::to_owned), expires: None, indexes: None, hash })
    }
}

/// The tokens of clients.
#[derive(Clone, Default)]
pub struct Tokens(Vec<ClientToken>);

/// The client of a request. The request carries it as an extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Client {
    pub(crate) right: Right,
    pub(crate) name: Option<String>,
}

/// Why a request has no client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefusedToken {
    /// The token is missing or unknown.
    Unknown,
    /// The token expired at this time, in ns since 1970.
    Expired(i64),
    /// The token opens other indexes only.
    OtherIndex,
}

impl Client {
    /// A client without a token.
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

/// The token that a request shows.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

impl Tokens {
    /// The tokens that a server accepts.
    pub fn new(tokens: Vec<ClientToken>) -> Self {
        Self(tokens)
    }

    /// Whether no token is required.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the client with the token `bearer` at `now` (in ns since 1970). The token must open
    /// `index`; if `index` is `None`, the token may open any index. If several tokens match,
    /// returns the client of the first with the most rights. The time of the comparison does not
    /// depend on where a wrong token differs.
    pub(crate) fn client(
        &self,
        bearer: Option<&str>,
        now: i64,
        index: Option<&IndexName>,
    ) -> Result<Client, RefusedToken> {
        if self.is_empty() {
            return Ok(Client::unnamed(Right::Write));
        }
        let hash = TokenHash::of(bearer.ok_or(RefusedToken::Unknown)?);
        let mut known = None::<&ClientToken>;
        let mut refused = RefusedToken::Unknown;
        for token in &self.0 {
            match token.expires.filter(|at| *at <= now) {
                _ if !token.hash.is_same(hash) => {}
                Some(at) => refused = RefusedToken::Expired(at),
                None if index.is_some_and(|index| !token.opens(index)) => {
                    refused = RefusedToken::OtherIndex;
                }
                None if known.is_none_or(|known| known.right < token.right) => known = Some(token),
                None => {}
            }
        }
        let client = |token: &ClientToken| Client { right: token.right, name: token.name.clone() };
        known.map(client).ok_or(refused)
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tokens", self.0.len())
    }
}

/// The message to a client whose token has expired.
pub(crate) fn expired_detail(at: i64) -> String {
    let at = time::format(at);
    format!("the token expired at {at}: ask for another one (`lookalike token` makes it)")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(right: Right, name: Option<&str>, value: &str) -> ClientToken {
        ClientToken::new(right, name, value).unwrap()
    }

    #[test]
    fn tokens_grant_rights_and_names() {
        let read = "r".repeat(16);
        let decide = "d".repeat(16);
        let write = "w".repeat(20);
        let tokens = Tokens::new(vec![
            token(Right::Read, None, &read),
            token(Right::Read, Some("ann"), &decide),
            token(Right::Decide, Some("ann"), &decide),
            token(Right::Write, Some("bob"), &write),
        ]);
        let client = |bearer: &str| tokens.client(Some(bearer), 0, None);
        let named = |right, name: &str| Ok(Client { right, name: Some(name.to_owned()) });
        assert_eq!(client(&read), Ok(Client::unnamed(Right::Read)));
        assert_eq!(client(&decide), named(Right::Decide, "ann"));
        assert_eq!(client(&write), named(Right::Write, "bob"));
        for wrong in ["", "r", &read[1..], &format!("{read}r"), &"x".repeat(16), "\0"] {
            assert_eq!(client(wrong), Err(RefusedToken::Unknown), "{wrong}");
        }
        assert_eq!(tokens.client(None, 0, None), Err(RefusedToken::Unknown));
        assert_eq!(Tokens::default().client(None, 0, None), Ok(Client::unnamed(Right::Write)));
        assert!(!format!("{tokens:?}").contains("rrr"));
    }

    #[test]
    fn a_token_ends_when_it_expires() {
        let value = "v".repeat(16);
        let mut short = token(Right::Write, None, &value);
        short.expires = Some(100);
        let both = vec![short.clone(), token(Right::Read, None, &value)];
        let short = Tokens::new(vec![short]);
        let both = Tokens::new(both);
        let right = |tokens: &Tokens, now| {
            tokens.client(Some(&value), now, None).map(|client| client.right)
        };
        assert_eq!(right(&short, 99), Ok(Right::Write));
        assert_eq!(right(&short, 100), Err(RefusedToken::Expired(100)));
        assert_eq!(right(&both, 99), Ok(Right::Write));
        assert_eq!(right(&both, 100), Ok(Right::Read));
        assert_eq!(short.client(Some("x"), 100, None), Err(RefusedToken::Unknown));
    }

    #[test]
    fn tokens_open_only_named_indexes() {
        let [news, mail, rest] = ["news", "mail", "rest"].map(|name| IndexName::new(name).unwrap());
        let value = "v".repeat(16);
        let mut limited = token(Right::Write, None, &value);
        limited.indexes = Some(vec![news.clone()]);
        let mut further = token(Right::Read, None, &value);
        further.indexes = Some(vec![mail.clone()]);
        let tokens = Tokens::new(vec![limited, further]);
        let right = |index: Option<&IndexName>| {
            tokens.client(Some(&value), 0, index).map(|client| client.right)
        };
        assert_eq!(right(Some(&news)), Ok(Right::Write));
        assert_eq!(right(Some(&mail)), Ok(Right::Read));
        assert_eq!(right(Some(&rest)), Err(RefusedToken::OtherIndex));
        assert_eq!(right(None), Ok(Right::Write));
        assert_eq!(tokens.client(Some("x"), 0, Some(&news)), Err(RefusedToken::Unknown));
    }

    #[test]
    fn weak_tokens_are_refused() {
        let refused = |name, value: &str| ClientToken::new(Right::Read, name, value).is_err();
        assert!(refused(None, "short"));
        assert!(refused(None, "with a blank in it"));
        assert!(refused(Some(" "), "long-enough-for-a-token"));
    }

    /// Known answer of FIPS 180-2, appendix B.1.
    #[test]
    fn token_hashes_match_sha256() {
        let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(TokenHash::of("abc").to_string(), hex);
        assert_eq!(TokenHash::from_hex(hex), Some(TokenHash::of("abc")));
        for wrong in ["", "ba78", &hex[1..], &format!("{hex}0"), &hex.replace('b', "+")] {
            assert_eq!(TokenHash::from_hex(wrong), None);
        }
        assert!(!format!("{:?}", TokenHash::of("abc")).contains("ba78"));
    }

    #[test]
    fn new_tokens_are_random_and_accepted() {
        let a = random_token().unwrap();
        let b = random_token().unwrap();
        assert_ne!(a, b);
        assert_eq!(a.len(), 74);
        assert!(ClientToken::new(Right::Read, None, &a).is_ok());
    }
}
