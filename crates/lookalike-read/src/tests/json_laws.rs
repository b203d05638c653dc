//! Compares the scanner with `serde_json`, on lines that are JSON, almost JSON, and not JSON.

use crate::format::{InvalidRecord, RecordDocument, jsonl};
use crate::options::ReadOptions;
use proptest::prelude::*;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The last `id` and `text` of an object, as `serde_json` reads them.
#[derive(Default)]
struct Oracle {
    id: Option<Value>,
    text: Option<Value>,
}

/// A value. Only strings and numbers can be an id or a text.
enum Value {
    String(String),
    Number,
    Other,
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Kind)
    }
}

struct Kind;

impl<'de> Visitor<'de> for Kind {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Value, E> {
        Ok(Value::Number)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Value, E> {
        Ok(Value::Number)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
        Ok(Value::Number)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Value, E> {
        Ok(Value::Other)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Other)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Oracle;

    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Oracle, A::Error> {
        let mut oracle = Oracle::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "id" => oracle.id = Some(map.next_value()?),
                "text" => oracle.text = Some(map.next_value()?),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(oracle)
    }
}

/// Returns the id and the text of a line. A numeric id is `None`, because the scanner returns it
/// verbatim.
fn oracle(line: &[u8]) -> Option<(Option<String>, String)> {
    // The scanner requires the whole line to be UTF-8, `serde_json` only the values that it builds.
    std::str::from_utf8(line).ok()?;
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    let found = deserializer.deserialize_map(Members).ok()?;
    deserializer.end().ok()?;
    let id = match found.id? {
        Value::String(id) if id.is_empty() => return None,
        Value::String(id) => Some(id),
        Value::Number => None,
        Value::Other => return None,
    };
    match found.text? {
        Value::String(text) => Some((id, text)),
        _ => None,
    }
}

fn check(line: &[u8]) {
    let options = ReadOptions::default();
    let (mut id, mut text) = ("stale".to_owned(), "stale".to_owned());
    let ours = jsonl::parse(line, &options, &mut id, &mut text);
    let line_text = String::from_utf8_lossy(line);
    match (oracle(line), ours) {
        (None, Err(_)) => {}
        (Some((id, text)), Ok(RecordDocument { id: Some(our_id), text: our_text })) => {
            assert_eq!(text, our_text, "{line_text}");
            assert!(id.as_deref().is_none_or(|id| id == our_id), "{line_text}");
        }
        (Some(_), Err(InvalidRecord { reason, .. })) => {
            panic!("{line_text}: serde_json accepts: {reason}")
        }
        // The oracle is stricter for an `id` or `text` that a later one replaces: it also rejects
        // invalid surrogates in the keys of such a value.
        (None, Ok(_)) if line_text.to_ascii_lowercase().contains("\\ud") => {}
        (_, Ok(_)) => panic!("{line_text}: serde_json refuses"),
    }
}

/// Generates texts that are nearly always valid between quotes.
fn string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z ,:{}\\[\\]]{0,9}",
        2 => prop::sample::select(vec![
            "\\n", "\\\"", "\\\\", "\\/", "\\b", "\\f", "\\r", "\\t", "\\u0041", "\\u00e9",
            "\\ud83d\\ude00", "\\u0000", "\\uFFFF",
        ]).prop_map(str::to_owned),
        1 => "[é語😀\u{7f}]{1,3}",
    ];
    let odd = prop::sample::select(vec![
        "\\ud83d",
        "\\ude00",
        "\\ud83d\\u0041",
        "\\q",
        "\\u12",
        "\t",
        "\u{1}",
        "\"",
        "\\",
        "\\U0041",
    ]);
    let piece = prop_oneof![60 => piece, 1 => odd.prop_map(str::to_owned)];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        6 => string(),
        2 => "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,2})?([eE][+-]?[0-9]{1,2})?",
        2 => prop::sample::select(vec!["true", "false", "null"]).prop_map(str::to_owned),
        1 => prop::sample::select(vec!["01", "1.", "-", "+1", ".5", "1e", "nul", "NaN", "'x'", ""])
            .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|v| format!("[{}]", v.join(" ,"))),
            prop::collection::vec((string(), inner), 0..3).prop_map(|v| {
                let members: Vec<_> = v.into_iter().map(|(k, v)| format!("{k} :{v}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let key = prop_oneof![
        3 => prop::sample::select(vec![
            "\"id\"", "\"text\"", "\"\\u0069d\"", "\"te\\u0078t\"", "\"ID\"", "\"\"", "\"te\"",
        ]).prop_map(str::to_owned),
        1 => string(),
    ];
    let blank = prop::sample::select(vec!["", "", "", " ", "\t", " \r "]);
    let member = (key, blank.clone(), value(), blank)
        .prop_map(|(key, before, value, after)| format!("{key}{before}:{after}{value}{before}"));
    let other = prop::collection::vec(member, 0..4);
    (string(), string(), other, 0..6usize, 0..40u8).prop_map(|(id, text, mut members, at, end)| {
        members.insert(at.min(members.len()), format!("\"text\":{text}"));
        members.insert(0, format!("\"id\": {id}"));
        let tail = match end {
            0 => ",}",
            1 => "} x",
            2 => "",
            3 => "}}",
            _ => "} ",
        };
        format!("{{{}{tail}", members.join(", ")).into_bytes()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn scanner_is_serde_json(line in line()) {
        check(&line);
    }

    #[test]
    fn damaged_lines_scan_like_serde_json(
        mut line in line(), at in any::<prop::sample::Index>(), byte in any::<u8>(),
        cut in any::<bool>(),
    ) {
        let at = at.index(line.len());
        if cut { line.truncate(at); } else { line[at] = byte; }
        line.retain(|&byte| byte != b'\n');
        check(&line);
    }
}

#[test]
fn known_lines() {
    for line in [
        r#"{"id":"a","text":"b","x":"\ud83d","y":{"\udc00":"\ud83d"}}"#,
        r#"{"id":"a","text":"b","\ud83d":1}"#,
        r#"{"id":"a","text":"\ud83d\ud83d"}"#,
        r#"{"id":"a","text":"\ud83d","text":"b"}"#,
        r#"{"id":"a","text":"b","n":1e400}"#,
        r#"{"id":{"id":"x","text":"y"},"text":"b"}"#,
        "{\"id\":\"a\",\"text\":\"\u{7f}\"}",
        "\t{\"id\":\"a\",\t\"text\":\"b\"}\r",
        "{\"id\":\"a\",\"text\":\"\u{1f}\"}",
    ] {
        check(line.as_bytes());
    }
}
