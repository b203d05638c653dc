//! Strict parsing of requests: an object with known members.

use crate::http::problem::{Code, Problem};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Number;
use serde_json::error::Category;
use std::fmt;
use std::marker::PhantomData;

/// A value that is parsed from an object only. (A derived implementation also accepts an array of
/// the members' values.)
#[derive(Debug)]
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for MembersVisitor<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }
        }
        deserializer.deserialize_map(MembersVisitor(PhantomData)).map(Object)
    }
}

/// A non-negative integer; `7.0` is one, as in JSON Schema.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "Number")]
pub(crate) struct WholeNumber(pub(crate) u64);

impl TryFrom<Number> for WholeNumber {
    type Error = String;

    fn try_from(number: Number) -> Result<Self, String> {
        // Up to 2⁵³ every integer is represented exactly.
        let is_whole = |value: &f64| value.fract() == 0.0 && (0.0..=9e15).contains(value);
        let of_fraction = || number.as_f64().filter(is_whole).map(|value| value as u64);
        number.as_u64().or_else(of_fraction).map(Self).ok_or_else(|| {
            format!("invalid value: `{number}`, expected a whole number, not negative")
        })
    }
}

/// A list of at most `MOST` values; further ones are not parsed.
#[derive(Debug)]
pub(crate) struct AtMost<T, const MOST: usize>(pub(crate) Vec<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for AtMost<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ArrayVisitor<T, const MOST: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for ArrayVisitor<T, MOST> {
            type Value = Vec<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a list of at most {MOST}")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Vec<T>, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = access.next_element()? {
                    if values.len() == MOST {
                        return Err(A::Error::invalid_length(MOST + 1, &self));
                    }
                    values.push(value);
                }
                Ok(values)
            }
        }
        deserializer.deserialize_seq(ArrayVisitor::<T, MOST>(PhantomData)).map(AtMost)
    }
}

/// A member that is a number from 1 to `most`, if it is present.
pub(crate) fn number_up_to(
    name: &str,
    number: Option<WholeNumber>,
    most: usize,
) -> Result<Option<usize>, Problem> {
    let Some(WholeNumber(number)) = number else { return Ok(None) };
    let is_within = (1..=most as u64).contains(&number);
    is_within.then_some(Some(number as usize)).ok_or_else(|| {
        let detail = format!("{name} is {number}: expected a number from 1 to {most}");
        Problem::new(Code::BAD_MEMBER, detail)
    })
}

/// The problem of a request with both a text and an id, or with neither.
pub(crate) fn text_or_id(has_both: bool) -> Problem {
    let detail = if has_both {
        "found both text and id: leave one out"
    } else {
        "expected text, or the id of an existing document"
    };
    Problem::new(Code::BAD_MEMBER, detail)
}

/// Parses one object without further input.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let text = str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        Problem::new(
            Code::INVALID_UTF8,
            format!("the body is not UTF-8 from byte {at} on: send it encoded as UTF-8"),
        )
    })?;
    if text.trim_ascii().is_empty() {
        let detail = "the body is empty, expected a JSON object such as {\"text\": \"…\"}";
        return Err(Problem::new(Code::INVALID_JSON, detail));
    }
    let Object(value) = serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        match error.classify() {
            Category::Data if message.starts_with("unknown field") => {
                let message = message.replacen("unknown field", "unknown member", 1);
                Problem::new(Code::UNKNOWN_MEMBER, format!("{message}; leave it out"))
            }
            Category::Data => {
                let message = message.replacen("missing field", "missing member", 1);
                Problem::new(Code::BAD_MEMBER, message.replacen("field", "member", 1))
            }
            _ => Problem::new(Code::INVALID_JSON, format!("expected one JSON object: {message}")),
        }
    })?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct TestBody {
        text: String,
        top: Option<u64>,
    }

    fn code(bytes: &[u8]) -> &'static str {
        parse::<TestBody>(bytes).unwrap_err().code.name
    }

    #[test]
    fn bodies_need_known_members() {
        let body = parse::<TestBody>(b" {\"text\":\"a\",\"top\":null} ").unwrap();
        assert_eq!((body.text.as_str(), body.top), ("a", None));
        for not_json in
            ["", " ", "{", "{\"text\":\"a\"}x", "{\"text\":\"a\"}{}", "\u{feff}{}", "NaN"]
        {
            assert_eq!(code(not_json.as_bytes()), "invalid-json", "{not_json}");
        }
        assert_eq!(code(&b"{\"text\":1e999}"[..]), "invalid-json");
        assert_eq!(code("[".repeat(100_000).as_bytes()), "bad-member");
        assert_eq!(code(b"{\"text\":\"\xff\"}"), "invalid-utf8");
        assert_eq!(code(b"{\"text\":\"a\",\"tex\":1}"), "unknown-member");
        for bad in ["[\"a\"]", "null", "{}", "{\"text\":1}", "{\"text\":\"a\",\"text\":\"b\"}"] {
            assert_eq!(code(bad.as_bytes()), "bad-member", "{bad}");
        }
        assert_eq!(code(b"{\"text\":\"a\",\"top\":-1}"), "bad-member");
    }
}
