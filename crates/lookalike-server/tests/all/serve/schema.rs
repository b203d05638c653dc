//! Compares answers with `openapi.json`: their status must be described, and their body must match
//! the schema.

use crate::serve::client::Answer;
use serde_json::Value;
use std::sync::LazyLock;

pub(crate) static DESCRIPTION: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../src/openapi.json")).unwrap());

/// Checks an answer, if its path and method are described.
pub(crate) fn check(method: &str, path: &str, answer: &Answer) {
    let path = path.split('?').next().unwrap_or_default();
    let (is_named, path) = (path.starts_with("/v1/indexes/"), &without_name(path));
    let template = template(path);
    let method = method.to_ascii_lowercase();
    let Some(operation) = DESCRIPTION["paths"][template].get(&method) else { return };
    let responses = &operation["responses"];
    let status = answer.status;
    // A path with an index name may also answer 401 or 404, which the description of an operation
    // need not list. Such an answer has the form of the answer 400.
    let described = match status {
        401 | 404 if is_named => &responses["400"],
        _ => &responses[status.to_string()],
    };
    assert!(!described.is_null(), "{method} {template} answers {status}, which is not described");
    let described = followed(described);
    let kind = answer.header("content-type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    let Some(content) = described.get("content").filter(|_| status != 304) else {
        assert!(answer.body.is_empty(), "{method} {template} {status} has a body");
        return;
    };
    if content.get("*/*").is_some() {
        return;
    }
    let schema = &content[kind]["schema"];
    assert!(!schema.is_null(), "{method} {template} {status} is {kind:?}, expected {content}");
    if kind.ends_with("json")
        && !kind.ends_with("ndjson")
        && answer.header("content-encoding").is_none()
        && let Err(why) = meets(&answer.json(), schema)
    {
        panic!("{method} {template} {status}: {why} in {}", answer.json());
    }
}

/// Removes the index name from a path. Paths with and without a name have the same description.
fn without_name(path: &str) -> String {
    match path.strip_prefix("/v1/indexes/").map(|rest| rest.split_once('/')) {
        Some(Some((_, rest))) => format!("/v1/{rest}"),
        Some(None) => "/v1/indexes/{index}".to_owned(),
        None => path.to_owned(),
    }
}

/// Returns the path template that describes a path.
fn template(path: &str) -> &str {
    let pieces = path.strip_prefix("/v1/documents/").unwrap_or_default();
    match pieces.split('/').collect::<Vec<_>>()[..] {
        [""] => path,
        [_] => "/v1/documents/{id}",
        [_, "original"] => "/v1/documents/{id}/original",
        [_, "versions"] => "/v1/documents/{id}/versions",
        [_, "versions", _, "original"] => "/v1/documents/{id}/versions/{version}/original",
        _ => path,
    }
}

pub(crate) fn followed(schema: &Value) -> &Value {
    match schema["$ref"].as_str() {
        Some(place) => {
            let found = DESCRIPTION.pointer(place.trim_start_matches('#'));
            found.unwrap_or_else(|| panic!("{place} is not there"))
        }
        None => schema,
    }
}

/// Checks a value against a schema. Supports only the keywords that this description uses.
pub(crate) fn meets(value: &Value, schema: &Value) -> Result<(), String> {
    let schema = followed(schema);
    let is_type = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("unknown type {other}"),
    };
    let fits = match &schema["type"] {
        Value::String(name) => is_type(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is_type),
        _ => true,
    };
    if !fits {
        return Err(format!("{value} is no {}", schema["type"]));
    }
    if let Some(values) = schema["enum"].as_array()
        && !values.contains(value)
    {
        return Err(format!("{value} is none of {values:?}"));
    }
    if let Some(number) = value.as_f64() {
        let (least, most) = (&schema["minimum"], &schema["maximum"]);
        let is_below = least.as_f64().is_some_and(|least| number < least);
        if is_below || most.as_f64().is_some_and(|most| number > most) {
            return Err(format!("{value} is out of range"));
        }
    }
    for item in value.as_array().into_iter().flatten() {
        if let Some(items) = schema.get("items") {
            meets(item, items)?;
        }
    }
    let Some(members) = value.as_object() else { return Ok(()) };
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !members.contains_key(name) {
            return Err(format!("{name} is missing"));
        }
    }
    for (name, member) in members {
        match schema["properties"].get(name) {
            Some(schema) => meets(member, schema).map_err(|why| format!("{name}: {why}"))?,
            None if schema["additionalProperties"] == false => {
                return Err(format!("{name} is not described"));
            }
            None => {}
        }
    }
    Ok(())
}

#[test]
fn a_wrong_answer_is_reported() {
    let schema = &DESCRIPTION["components"]["schemas"]["Done"];
    let good = serde_json::json!({ "id": "a", "done": "added", "shingles": 3 });
    meets(&good, schema).unwrap();
    let changes = [
        ("id", Value::Null),
        ("done", "removed".into()),
        ("shingles", (-1).into()),
        ("more", 1.into()),
    ];
    for (name, value) in changes {
        let mut bad = good.clone();
        bad[name] = value;
        assert!(meets(&bad, schema).is_err(), "{name}");
    }
    assert!(meets(&serde_json::json!({ "id": "a", "done": "added" }), schema).is_err());
}
