//! Conditions on metadata, which exclude documents from a query.
//!
//! The form is `MEMBER OPERATOR VALUE` without blanks around the operator, such as `language=en`,
//! `author.name!=Ann`, `pages>=10`, `time<2024-06`, `title~budget`. A member alone, such as
//! `checked`, must exist and not be `null`. Dots name members of members.

use crate::entry::Metadata;
use crate::error::IndexError;
use serde_json::Value;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A condition. An array meets it if one of its values does, except for `!=`, which all values must
/// meet. A missing member meets only `!=`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MetadataFilter {
    member: String,
    test: ConditionTest,
    hides_folders: bool,
}

/// The member with the path or address from which a document was read.
pub const SOURCE: &str = "source";

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum ConditionTest {
    There,
    Holds(ComparisonOperator, String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum ComparisonOperator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Contains,
}

const OPERATORS: [(&str, ComparisonOperator); 7] = [
    ("!=", ComparisonOperator::NotEqual),
    ("<=", ComparisonOperator::LessOrEqual),
    (">=", ComparisonOperator::GreaterOrEqual),
    ("=", ComparisonOperator::Equal),
    ("<", ComparisonOperator::Less),
    (">", ComparisonOperator::Greater),
    ("~", ComparisonOperator::Contains),
];

impl FromStr for MetadataFilter {
    type Err = IndexError;

    fn from_str(text: &str) -> Result<Self, IndexError> {
        let at = text.find(['=', '!', '<', '>', '~']).unwrap_or(text.len());
        let (member, rest) = text.split_at(at);
        let wrong = || IndexError::Filter {
            got: text.to_owned(),
            expected: "MEMBER, or MEMBER=VALUE with one of = != < <= > >= ~, such as language=en",
        };
        if member.is_empty() {
            return Err(wrong());
        }
        let test = if rest.is_empty() {
            ConditionTest::There
        } else {
            let found = OPERATORS.iter().find_map(|(sign, operator)| {
                rest.strip_prefix(sign).map(|value| (*operator, value.to_owned()))
            });
            let (operator, value) = found.ok_or_else(wrong)?;
            ConditionTest::Holds(operator, value)
        };
        Ok(Self { member: member.to_owned(), test, hides_folders: false })
    }
}

impl fmt::Display for MetadataFilter {
    /// Writes the form that [`FromStr`] parses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.member)?;
        let ConditionTest::Holds(operator, value) = &self.test else { return Ok(()) };
        let sign =
            OPERATORS.iter().find(|(_, known)| known == operator).map_or("", |(sign, _)| sign);
        write!(f, "{sign}{value}")
    }
}

impl MetadataFilter {
    /// Returns this condition for a client that must not see folders. It compares the [file
    /// name](file_name) of a source, so that matches reveal no folder.
    #[must_use]
    pub fn without_folders(self) -> Self {
        Self { hides_folders: true, ..self }
    }

    /// Returns true if a document's metadata meets the condition.
    pub fn matches(&self, metadata: &Metadata) -> bool {
        let value = member(metadata, &self.member).filter(|value| !value.is_null());
        let name = value.filter(|_| self.hides_folders && self.member == SOURCE);
        let name = name.and_then(Value::as_str).and_then(file_name).map(Value::from);
        let value = name.as_ref().or(value);
        let ConditionTest::Holds(operator, operand) = &self.test else { return value.is_some() };
        let negative = *operator == ComparisonOperator::NotEqual;
        match value {
            None => negative,
            Some(Value::Array(values)) if negative => {
                values.iter().all(|value| holds(*operator, value, operand))
            }
            Some(Value::Array(values)) => {
                values.iter().any(|value| holds(*operator, value, operand))
            }
            Some(value) => holds(*operator, value, operand),
        }
    }
}

/// The last part of an absolute path or of a path with `..`; `None` for a source without a folder
/// to hide, such as a web address.
pub fn file_name(source: &str) -> Option<&str> {
    let path = source.strip_prefix("file:").unwrap_or(source);
    let is_drive = path.as_bytes().get(1) == Some(&b':')
        && matches!(path.as_bytes().get(2), Some(b'/' | b'\\'));
    let hides = is_drive || path.starts_with(['/', '\\']) || path.starts_with("..");
    hides.then(|| path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default())
}

/// A member, or a member of a member, named with dots. A member whose own name contains dots takes
/// precedence.
pub fn member<'a>(metadata: &'a Metadata, name: &str) -> Option<&'a Value> {
    if let Some(value) = metadata.get(name) {
        return Some(value);
    }
    let dots = name.match_indices('.').map(|(at, _)| at);
    dots.rev().find_map(|at| {
        let inner = metadata.get(&name[..at])?.as_object()?;
        member(inner, &name[at + 1..])
    })
}

fn holds(operator: ComparisonOperator, value: &Value, operand: &str) -> bool {
    let text = match value {
        Value::String(text) => text.as_str().into(),
        other => std::borrow::Cow::Owned(other.to_string()),
    };
    if operator == ComparisonOperator::Contains {
        return text.to_lowercase().contains(&operand.to_lowercase());
    }
    // Digits in a string may not be a number: the postal codes 01234 and 1234 differ.
    let ordering = match (operator, value) {
        (ComparisonOperator::Equal | ComparisonOperator::NotEqual, Value::String(text)) => {
            text.as_str().cmp(operand)
        }
        _ => compare(value, &text, operand),
    };
    match operator {
        ComparisonOperator::Equal => ordering.is_eq(),
        ComparisonOperator::NotEqual => ordering.is_ne(),
        ComparisonOperator::Less => ordering.is_lt(),
        ComparisonOperator::LessOrEqual => ordering.is_le(),
        ComparisonOperator::Greater => ordering.is_gt(),
        ComparisonOperator::GreaterOrEqual | ComparisonOperator::Contains => ordering.is_ge(),
    }
}

/// Compares numbers if both sides are numbers, otherwise bytes. The order of bytes also orders
/// times in the format of RFC 3339.
fn compare(value: &Value, text: &str, operand: &str) -> Ordering {
    let number = match value {
        Value::Number(_) | Value::String(_) => FilterNumber::of(text),
        _ => None,
    };
    match (number, FilterNumber::of(operand)) {
        (Some(a), Some(b)) => a.compare(b),
        _ => text.cmp(operand),
    }
}

/// A number, exact if it is an integer: identifiers and times in ns have more digits than a
/// floating-point number.
#[derive(Clone, Copy)]
enum FilterNumber {
    Whole(i128),
    Other(f64),
}

impl FilterNumber {
    fn of(text: &str) -> Option<Self> {
        let other = || text.parse().ok().filter(|number: &f64| !number.is_nan()).map(Self::Other);
        text.parse().ok().map(Self::Whole).or_else(other)
    }

    fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => a.cmp(&b),
            _ => self.rounded().partial_cmp(&other.rounded()).unwrap_or(Ordering::Equal),
        }
    }

    fn rounded(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Other(number) => number,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata() -> Metadata {
        let json = r#"{"language":"en","pages":12,"time":"2024-05-31T10:00:00Z","tags":["a","b"],
            "author":{"name":"Ann","mail.home":"ann@example.org"},"none":null,"yes":true,
            "number":"7","code":"01234","version":"1.10","id":12345678901234567890,
            "ns":1700000000000000001}"#;
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn conditions_hold_or_not() {
        let cases = [
            ("language=en", true),
            ("language=EN", false),
            ("language!=de", true),
            ("pages>=12", true),
            ("pages>9", true),
            ("pages<12", false),
            ("pages<=12.0", true),
            ("number>=10", false),
            ("number=7.0", false),
            ("code=01234", true),
            ("code=1234", false),
            ("code!=1234", true),
            ("code<=1234", true),
            ("version=1.1", false),
            ("id=12345678901234567890", true),
            ("id=12345678901234567891", false),
            ("id<12345678901234567891", true),
            ("ns>1700000000000000000", true),
            ("ns>1700000000000000001", false),
            ("ns=1700000000000000001.0", true),
            ("pages=12.0", true),
            ("pages=1.2e1", true),
            ("yes>1", true),
            ("time<2024-06", true),
            ("time>=2024-06", false),
            ("time~05-31", true),
            ("author.name~ANN", true),
            ("author.mail.home=ann@example.org", true),
            ("tags=b", true),
            ("tags=c", false),
            ("tags!=a", false),
            ("tags!=c", true),
            ("yes=true", true),
            ("yes", true),
            ("none", false),
            ("gone", false),
            ("gone=1", false),
            ("gone!=1", true),
        ];
        for (text, expected) in cases {
            let filter: MetadataFilter = text.parse().unwrap();
            assert_eq!(filter.matches(&metadata()), expected, "{text}");
            assert_eq!(filter.to_string(), text);
        }
    }

    #[test]
    fn malformed_metadata_filters_are_errors() {
        for text in ["", "=en", "language!en", "~x"] {
            assert!(text.parse::<MetadataFilter>().is_err(), "{text}");
        }
    }

    #[test]
    fn filters_ignore_hidden_source_folders() {
        let json = r#"{"source":"/srv/secret/a.txt","origin":"/srv/secret"}"#;
        let metadata: Metadata = serde_json::from_str(json).unwrap();
        let cases = [
            ("source~secret", false),
            ("source=/srv/secret/a.txt", false),
            ("source>/srv/s", true),
            ("source=a.txt", true),
            ("source", true),
            ("origin~secret", true),
        ];
        for (text, expected) in cases {
            let filter: MetadataFilter = text.parse().unwrap();
            assert_eq!(filter.without_folders().matches(&metadata), expected, "{text}");
        }
    }
}
