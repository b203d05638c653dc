//! A file of tokens. Each line has a right and the hash of the token. Between them, it may have the
//! client's name, an expiry and the indexes that the token opens.
//!
//! ```text
//! read sha256:5e88…
//! write importer expires=2027-01-31T00:00:00Z sha256:2bb8…
//! read partner indexes=news,mail sha256:7d86…
//! decide Ann Lee sha256:9f86…
//! ```
//!
//! A line may also contain the token itself instead of `sha256:` and its hash. Empty lines and
//! lines that begin with `#` are comments.

use crate::config::config_error::ConfigError;
use crate::config::index_name::IndexName;
use crate::config::token::{ClientToken, Right, TokenHash};
use lookalike::index::time;
use std::fmt;

/// The prefix of a hash.
const HASHED: &str = "sha256:";
/// The prefix of the time at which a token expires.
const EXPIRES: &str = "expires=";

/// The prefix of the names of the indexes that a token opens.
const INDEXES: &str = "indexes=";

/// An invalid line. The message does not quote the line, because it may contain a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenFileError {
    /// The number of the line, from 1.
    pub line: usize,
    /// The problem.
    pub problem: TokenProblem,
}

/// The problem of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenProblem {
    /// The line does not begin with a known right, or has nothing after it.
    Line,
    /// The text after `sha256:` is not 64 hexadecimal digits.
    Hash,
    /// The time after `expires=` is invalid.
    Expires,
    /// An index name is invalid, or a limit is repeated.
    Limits,
    /// The token or the name is invalid.
    Token(ConfigError),
}

impl fmt::Display for TokenFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            TokenProblem::Line => f.write_str(
                "expected `read TOKEN`, `decide TOKEN` or `write TOKEN`, with the NAME of the \
                 client between them if it has one, as `lookalike token` writes it",
            ),
            TokenProblem::Hash => f.write_str("expected 64 hexadecimal digits after `sha256:`"),
            TokenProblem::Expires => {
                f.write_str("expected a time such as 2027-01-31T00:00:00Z after `expires=`")
            }
            TokenProblem::Limits => f.write_str(
                "expected names of indexes, separated by commas, after `indexes=`, and each of \
                 `expires=` and `indexes=` once at most",
            ),
            TokenProblem::Token(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TokenFileError {}

/// The tokens in the text of a file.
///
/// # Errors
/// [`TokenFileError`] for the first invalid line.
pub fn parse(text: &str) -> Result<Vec<ClientToken>, TokenFileError> {
    let lines = text.lines().map(str::trim).zip(1..);
    let tokens = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    tokens
        .map(|(line, number)| {
            token_of(line).map_err(|problem| TokenFileError { line: number, problem })
        })
        .collect()
}

fn token_of(line: &str) -> Result<ClientToken, TokenProblem> {
    let (right, rest) = line.split_once(char::is_whitespace).ok_or(TokenProblem::Line)?;
    let right = Right::ALL.into_iter().find(|known| known.name() == right);
    let right = right.ok_or(TokenProblem::Line)?;
    let (before, value) = match rest.trim().rsplit_once(char::is_whitespace) {
        Some((before, value)) => (before.trim(), value),
        None => ("", rest.trim()),
    };
    let TokenLimits { name, expires, indexes } = limits(before)?;
    let name = Some(name).filter(|name| !name.is_empty());
    let token = match value.strip_prefix(HASHED) {
        Some(hex) => {
            ClientToken::hashed(right, name, TokenHash::from_hex(hex).ok_or(TokenProblem::Hash)?)
        }
        None => ClientToken::new(right, name, value),
    };
    Ok(ClientToken { expires, indexes, ..token.map_err(TokenProblem::Token)? })
}

/// The parts between the right and the token.
struct TokenLimits<'a> {
    name: &'a str,
    expires: Option<i64>,
    indexes: Option<Vec<IndexName>>,
}

/// Splits the text between the right and the token into the client's name and the limits that
/// follow it.
fn limits(before: &str) -> Result<TokenLimits<'_>, TokenProblem> {
    let mut limits = TokenLimits { name: before, expires: None, indexes: None };
    loop {
        let cut = limits.name.rsplit_once(char::is_whitespace);
        let (rest, last) = cut.unwrap_or(("", limits.name));
        if let Some(at) = last.strip_prefix(EXPIRES) {
            let at = time::parse(at).ok_or(TokenProblem::Expires)?;
            if limits.expires.replace(at).is_some() {
                return Err(TokenProblem::Limits);
            }
        } else if let Some(names) = last.strip_prefix(INDEXES) {
            let names = names.split(',').map(IndexName::new).collect::<Result<Vec<_>, _>>();
            let names = names.ok().filter(|_| limits.indexes.is_none());
            limits.indexes = Some(names.ok_or(TokenProblem::Limits)?);
        } else {
            return Ok(limits);
        }
        limits.name = rest.trim_end();
    }
}

/// The line of a token, without a line end. [`parse`] reads it.
///
/// # Errors
/// [`ConfigError::Token`] if the name contains a line end, or if its last word begins with
/// `expires=` or `indexes=`, which [`parse`] would read as a limit.
pub fn line(token: &ClientToken) -> Result<String, ConfigError> {
    let mut words = vec![token.right.name().to_owned()];
    if let Some(name) = &token.name {
        let last = name.split_whitespace().next_back().unwrap_or_default();
        if name.contains(['\n', '\r']) || last.starts_with(EXPIRES) || last.starts_with(INDEXES) {
            let why = "has a name with a line end, or that ends like a limit of a token";
            return Err(ConfigError::Token { why });
        }
        words.push(name.trim().to_owned());
    }
    words.extend(token.expires.map(|at| format!("{EXPIRES}{}", time::format(at))));
    words.extend(token.indexes.as_ref().map(|names| {
        let names: Vec<_> = names.iter().map(IndexName::as_str).collect();
        format!("{INDEXES}{}", names.join(","))
    }));
    words.push(format!("{HASHED}{}", token.hash));
    Ok(words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_lines_round_trip() {
        let at = time::parse("2027-01-31T00:00:00Z");
        for name in [None, Some("importer"), Some("Ann Lee"), Some("sha256:x"), Some("expires")] {
            let names = ["news", "mail"].map(|name| IndexName::new(name).unwrap()).to_vec();
            for (expires, indexes) in
                [(None, None), (at, None), (None, Some(names.clone())), (at, Some(names))]
            {
                let token = ClientToken::new(Right::Decide, name, "0123456789abcdef").unwrap();
                let token = ClientToken { expires, indexes, ..token };
                let text = line(&token).unwrap();
                assert!(!text.contains("0123456789abcdef"), "{text}");
                assert_eq!(parse(&format!("# tokens\n\n {text} \r\n")).unwrap(), [token]);
            }
        }
        let token = |name| ClientToken::new(Right::Read, Some(name), "0123456789abcdef").unwrap();
        for wrong in ["a\nb", "a expires=b", "indexes=b"] {
            assert!(line(&token(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn tokens_themselves_are_accepted() {
        let text = "read 0123456789abcdef\nwrite  Ann Lee\texpires=2027-01-31T00:00:00Z \
                    fedcba9876543210\n";
        let tokens = parse(text).unwrap();
        assert_eq!(tokens[0], ClientToken::new(Right::Read, None, "0123456789abcdef").unwrap());
        assert_eq!(tokens[1].name.as_deref(), Some("Ann Lee"));
        assert_eq!(tokens[1].expires, time::parse("2027-01-31T00:00:00Z"));
        assert_eq!(tokens[1].hash, TokenHash::of("fedcba9876543210"));
    }

    #[test]
    fn invalid_token_lines_are_numbered() {
        let cases = [
            ("0123456789abcdef", TokenProblem::Line),
            ("admin 0123456789abcdef", TokenProblem::Line),
            ("read sha256:12", TokenProblem::Hash),
            ("read expires=tomorrow 0123456789abcdef", TokenProblem::Expires),
            ("read indexes= 0123456789abcdef", TokenProblem::Limits),
            ("read ann indexes=a,../b 0123456789abcdef", TokenProblem::Limits),
            ("read indexes=a indexes=b 0123456789abcdef", TokenProblem::Limits),
            (
                "read ann expires=2027-01-31T00:00:00Z expires=2028-01-31T00:00:00Z \
                 0123456789abcdef",
                TokenProblem::Limits,
            ),
        ];
        for (text, problem) in cases {
            let error = parse(&format!("# one\n{text}\n")).unwrap_err();
            assert_eq!(error, TokenFileError { line: 2, problem });
            assert!(!error.to_string().contains("0123456789abcdef"), "{error}");
        }
        assert!(matches!(parse("read short").unwrap_err().problem, TokenProblem::Token(_)));
    }
}
