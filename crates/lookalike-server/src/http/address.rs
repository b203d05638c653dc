//! Parses the URL of a request: an id in its path, and its parameters.

use crate::http::problem::{Code, Problem};
use lookalike::store::IndexError;
use lookalike::store::entry::check_id;
use lookalike::store::filter::MetadataFilter;
use lookalike::store::percent::{self, PercentError};
use std::borrow::Cow;
use std::str::FromStr;

/// Maximum number of conditions on metadata in a request.
pub(crate) const FILTERS_MAX: usize = 100;

/// The id in a path after `/v1/documents/`.
pub(crate) fn id(path: &str) -> Result<String, Problem> {
    let raw = path.rsplit('/').next().unwrap_or_default();
    let id = percent::decode(raw)
        .map_err(|why| Problem::new(Code::BAD_ID, format!("the id in the address {why}")))?;
    check_id(&id)?;
    Ok(id.into_owned())
}

/// The id in a path `/v1/documents/{id}/…`, and the number in a following `/versions/{number}`.
pub(crate) fn id_and_version(path: &str) -> Result<(String, Option<u64>), Problem> {
    let rest = path.strip_prefix("/v1/documents/").unwrap_or_default();
    let (raw, rest) = rest.split_once('/').unwrap_or((rest, ""));
    let id = id(raw)?;
    let number = rest.strip_prefix("versions/").and_then(|rest| rest.split('/').next());
    let number = number.map(|text| {
        let number = text.parse().ok().filter(|number| *number >= 1);
        number.ok_or_else(|| {
            invalid_value("the version in the address", text, "expected a number from 1")
        })
    });
    Ok((id, number.transpose()?))
}

/// Decodes a part of a query, in which `+` is a space.
fn decode_form(text: &str) -> Result<String, PercentError> {
    percent::decode(&text.replace('+', " ")).map(Cow::into_owned)
}

/// The parameters of a URL: known ones, each at most once.
pub(crate) struct QueryParameters(Vec<(String, String)>);

impl QueryParameters {
    /// Reads `a=1&b=2`.
    pub(crate) fn read(query: Option<&str>, known: &[&str]) -> Result<Self, Problem> {
        Self::read_repeating(query, known, &[])
    }

    /// Like [`read`](Self::read), with `repeated` parameters that may be present several times.
    pub(crate) fn read_repeating(
        query: Option<&str>,
        known: &[&str],
        repeated: &[&str],
    ) -> Result<Self, Problem> {
        let wrong = |detail: String| Err(Problem::new(Code::BAD_PARAMETER, detail));
        let mut all: Vec<(String, String)> = Vec::new();
        for part in query.unwrap_or_default().split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let [name, value] = [name, value].map(decode_form);
            let (Ok(name), Ok(value)) = (name, value) else {
                return wrong(format!("{part:?} is not UTF-8, each byte but letters as %XX"));
            };
            if !known.contains(&name.as_str()) {
                let expected = match known {
                    [] => "none".to_owned(),
                    known => known.join(", "),
                };
                return wrong(format!("unknown parameter {name:?}, expected {expected}"));
            }
            if !repeated.contains(&name.as_str()) && all.iter().any(|(other, _)| *other == name) {
                return wrong(format!("{name} is present twice: leave one out"));
            }
            all.push((name, value));
        }
        Ok(Self(all))
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// All values of a parameter that may be present several times.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// One of several values, by name.
    pub(crate) fn choice<T: Copy>(
        &self,
        name: &str,
        values: &[(&str, T)],
        default: T,
    ) -> Result<T, Problem> {
        let Some(text) = self.text(name) else { return Ok(default) };
        let found = values.iter().find(|(value, _)| *value == text).map(|(_, value)| *value);
        found.ok_or_else(|| {
            let names: Vec<_> = values.iter().map(|(name, _)| *name).collect();
            invalid_value(name, text, &format!("expected {}", names.join(" or ")))
        })
    }

    /// Whether a parameter is `true`; false if it is missing.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, Problem> {
        self.choice(name, &[("true", true), ("false", false)], false)
    }

    /// The parameter `after`: the `next` of the previous page, which `read` parses.
    pub(crate) fn cursor<T>(
        &self,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Problem> {
        let wrong = |text| {
            invalid_value("after", text, "expected the `next` of an answer, or nothing to begin")
        };
        self.text("after").map(|text| read(text).ok_or_else(|| wrong(text))).transpose()
    }

    /// The conditions on metadata in the parameters `filter`.
    pub(crate) fn conditions(&self) -> Result<Vec<MetadataFilter>, Problem> {
        let wrong = |detail| Problem::new(Code::BAD_PARAMETER, detail);
        if self.all("filter").count() > FILTERS_MAX {
            return Err(wrong(format!(
                "there are more than {FILTERS_MAX} filters: leave some out"
            )));
        }
        let read = |text: &str| text.parse().map_err(|error: IndexError| wrong(error.to_string()));
        self.all("filter").map(read).collect()
    }

    /// A whole number in a range.
    pub(crate) fn number(&self, name: &str, most: usize, default: usize) -> Result<usize, Problem> {
        let Some(text) = self.text(name) else { return Ok(default) };
        let number = text.parse().ok().filter(|number| (1..=most).contains(number));
        number.ok_or_else(|| {
            invalid_value(name, text, &format!("expected a number from 1 to {most}"))
        })
    }

    /// A share.
    pub(crate) fn share(&self, name: &str, default: f64) -> Result<f64, Problem> {
        let Some(text) = self.text(name) else { return Ok(default) };
        let value = f64::from_str(text).ok().filter(|value| (0.0..=1.0).contains(value));
        value.ok_or_else(|| invalid_value(name, text, "expected a number from 0 to 1"))
    }

    /// The threshold of a query.
    pub(crate) fn threshold(&self, default: f64) -> Result<f64, Problem> {
        let Some(text) = self.text("threshold") else { return Ok(default) };
        let value = f64::from_str(text).ok().filter(|value| *value > 0.0 && *value <= 1.0);
        value
            .ok_or_else(|| invalid_value("threshold", text, "expected a number above 0, at most 1"))
    }
}

/// The problem of an invalid value. `expected` begins with the word "expected", so that the source
/// contains the words of the message.
pub(crate) fn invalid_value(name: &str, got: &str, expected: &str) -> Problem {
    let got = lookalike::store::entry::shortened_id(got);
    Problem::new(Code::BAD_PARAMETER, format!("{name} is {got:?}: {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_decoded() {
        assert_eq!(id("/v1/documents/a%2Fb%0Ac+%C3%A4").unwrap(), "a/b\nc+ä");
        for wrong in ["%", "%2", "%zz", "%ff", "", "%00", &"x".repeat(20_000)] {
            let problem = id(&format!("/v1/documents/{wrong}")).unwrap_err();
            assert_eq!(problem.code, Code::BAD_ID, "{wrong}");
        }
    }

    #[test]
    fn versions_are_numbers_behind_an_id() {
        let read = |rest: &str| id_and_version(&format!("/v1/documents/{rest}"));
        assert_eq!(read("a%2Fb/original").unwrap(), ("a/b".to_owned(), None));
        assert_eq!(read("a/versions").unwrap(), ("a".to_owned(), None));
        assert_eq!(read("a/versions/12/original").unwrap(), ("a".to_owned(), Some(12)));
        for wrong in ["/original", "%/original", "a/versions/0/original", "a/versions/x/original"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn parameters_are_known_and_unique() {
        let known = ["limit", "threshold", "mode"];
        let read = |query: &str| QueryParameters::read(Some(query), &known);
        let all = read("limit=7&threshold=0.5&&mode=a+b%26").unwrap();
        assert_eq!(all.number("limit", 10, 1).unwrap(), 7);
        assert_eq!(all.text("mode"), Some("a b&"));
        assert!(all.choice("mode", &[("put", 1)], 1).is_err());
        for wrong in ["x=1", "limit=1&limit=2", "limit=%ff", "=1"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        for wrong in ["limit=0", "limit=11", "limit=-1", "limit=1e3", "limit=", "limit"] {
            assert!(read(wrong).unwrap().number("limit", 10, 1).is_err(), "{wrong}");
        }
        for wrong in ["NaN", "inf", "0", "-0.5", "1.0001", "1e999", "x", ""] {
            let query = format!("threshold={wrong}");
            assert!(read(&query).unwrap().threshold(0.8).is_err(), "{wrong}");
        }
    }
}
