//! Names of indexes in addresses.

use crate::config::config_error::ConfigError;
use std::fmt;
use std::sync::Arc;

/// Maximum length of a name, in bytes.
const NAME_MAX: usize = 100;

/// The name of an index in `/v1/indexes/NAME`: 1 to 100 of `A-Z a-z 0-9 - _ .`, not beginning with
/// `.`. It can be a part of an address and the name of a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct IndexName(Arc<str>);

impl IndexName {
    /// Reads a name.
    ///
    /// # Errors
    /// [`ConfigError::IndexName`] for an invalid name.
    pub fn new(text: &str) -> Result<Self, ConfigError> {
        if is_name(text) {
            return Ok(Self(text.into()));
        }
        Err(ConfigError::IndexName { got: lookalike::store::entry::shortened_id(text) })
    }

    /// The name of an index that the user did not name: the last part of its place if that is a
    /// valid name, otherwise `index`.
    pub fn of_place(place: &str) -> Self {
        let last = place.rsplit(['/', '\\']).next().unwrap_or_default();
        Self(if is_name(last) { last.into() } else { "index".into() })
    }

    /// The text of the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IndexName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An extension of requests whose address had the name of an index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamedIndex;

/// Whether a text can be the name of an index, or of a backup.
pub(crate) fn is_name(text: &str) -> bool {
    let is_fit = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    (1..=NAME_MAX).contains(&text.len()) && !text.starts_with('.') && text.bytes().all(is_fit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_names_are_url_segments() {
        for name in ["news", "a", "2026-11-26", "A_b.c", &"x".repeat(100)] {
            assert_eq!(IndexName::new(name).unwrap().as_str(), name);
        }
        for wrong in ["", ".", "..", ".a", "a/b", "a b", "ä", "a%2F", &"x".repeat(101)] {
            assert!(IndexName::new(wrong).is_err(), "{wrong}");
        }
        assert_eq!(IndexName::of_place("srv/news.lookalike").as_str(), "news.lookalike");
        assert_eq!(IndexName::of_place("of the memory").as_str(), "index");
    }
}
