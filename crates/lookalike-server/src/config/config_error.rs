//! Errors of the configuration.

use std::fmt;
use std::net::SocketAddr;

/// An invalid configuration of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigError {
    /// Other machines could access documents without a token.
    OpenToAll {
        /// The address.
        listen: SocketAddr,
    },
    /// A limit is too small.
    TooSmall {
        /// The limit.
        what: &'static str,
        /// The given value.
        got: u64,
        /// The minimum.
        least: u64,
    },
    /// The name of an index is invalid.
    IndexName {
        /// The given name, shortened.
        got: String,
    },
    /// Two indexes have the same name, or there is none at all.
    IndexNames {
        /// The repeated name; `None` without an index.
        twice: Option<String>,
    },
    /// The address of a webhook is invalid. The address is not shown, because it may contain a
    /// secret.
    Webhook,
    /// A token is too short, or cannot be sent in a header.
    Token {
        /// The problem, without the token.
        why: &'static str,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OpenToAll { listen } => write!(
                f,
                "without tokens the server only listens on this machine, not on {listen}: set \
                 read or write tokens (--token-file), or listen on 127.0.0.1"
            ),
            Self::TooSmall { what, got, least } => {
                write!(f, "{what} is {got}: expected at least {least}")
            }
            Self::IndexName { got } => write!(
                f,
                "the name of an index is {got:?}: expected 1 to 100 of A-Z a-z 0-9 - _ . and no . \
                 in front"
            ),
            Self::IndexNames { twice: Some(name) } => {
                write!(
                    f,
                    "two indexes have the name {name}, ignoring case; choose a different name for \
                     each"
                )
            }
            Self::IndexNames { twice: None } => f.write_str("expected at least one index"),
            Self::Webhook => {
                f.write_str("expected addresses of webhooks that begin with http:// or https://")
            }
            Self::Token { why } => write!(f, "a token {why}"),
        }
    }
}

impl std::error::Error for ConfigError {}
