//! Metadata of a document in a request. Its size is counted during parsing, so that metadata above
//! the limits is rejected before it fills the memory.

use lookalike::store::entry::{MAX_METADATA_BYTES, Metadata};
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Number, Value};
use std::cell::Cell;
use std::fmt;

/// Maximum memory of one document's metadata. Its JSON has at most 1 MiB, but a value of three
/// bytes, such as `{},`, takes many times its size.
const MAX_MEMORY: usize = 32 << 20;
/// Memory of a value in a list or an object, with the spare capacity of growing lists.
const VALUE_BYTES: usize = 64;
/// Memory of the first allocation of a list.
const LIST_BYTES: usize = 128;
/// Memory of the first node of an object.
const OBJECT_BYTES: usize = 640;

/// Metadata within the limits, and its memory use.
#[derive(Debug, Default)]
pub(crate) struct BoundedMetadata {
    pub(crate) metadata: Metadata,
    pub(crate) memory: usize,
}

impl<'de> Deserialize<'de> for BoundedMetadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let counts = MetadataSize::default();
        let metadata = deserializer.deserialize_map(MetadataVisitor(&counts))?;
        Ok(Self { metadata, memory: counts.memory.get() })
    }
}

/// Bytes so far.
#[derive(Default)]
struct MetadataSize {
    /// Bytes of the JSON that the index stores.
    json: Cell<usize>,
    memory: Cell<usize>,
}

impl MetadataSize {
    fn add<E: Error>(&self, json: usize, memory: usize) -> Result<(), E> {
        self.json.set(self.json.get() + json);
        self.memory.set(self.memory.get() + memory);
        if self.json.get() > MAX_METADATA_BYTES {
            return Err(E::custom(format_args!(
                "metadata has more than {MAX_METADATA_BYTES} bytes, which is the limit: leave out \
                 fields that no filter uses"
            )));
        }
        if self.memory.get() > MAX_MEMORY {
            return Err(E::custom(format_args!(
                "metadata has more lists and objects than fit into {MAX_MEMORY} bytes of memory: \
                 store nested lists and objects as one text"
            )));
        }
        Ok(())
    }

    fn add_text<E: Error>(&self, text: &str) -> Result<(), E> {
        let escaped = |byte: u8| match byte {
            b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 8 | 12 => 2,
            0..32 => 6,
            _ => 1,
        };
        self.add(2 + text.bytes().map(escaped).sum::<usize>(), text.len() + 16)
    }
}

struct MetadataVisitor<'a>(&'a MetadataSize);

impl<'de> Visitor<'de> for MetadataVisitor<'_> {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut map = Map::new();
        self.0.add(2, 0)?;
        while let Some(Value::String(key)) = access.next_key_seed(ValueSeed(self.0))? {
            let separators = if map.is_empty() { 1 } else { 2 };
            self.0.add(separators, if map.is_empty() { OBJECT_BYTES } else { VALUE_BYTES })?;
            let value = access.next_value_seed(ValueSeed(self.0))?;
            map.insert(key, value);
        }
        Ok(map)
    }
}

struct ValueSeed<'a>(&'a MetadataSize);

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.0.add(4, 0)?;
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        self.0.add(if value { 4 } else { 5 }, 0)?;
        Ok(Value::Bool(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.number(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        self.number(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value);
        self.number(number.ok_or_else(|| E::custom("a number is out of range"))?)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        self.0.add_text(text)?;
        Ok(Value::String(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        self.0.add_text(&text)?;
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        self.0.add(2, 0)?;
        while let Some(value) = access.next_element_seed(ValueSeed(self.0))? {
            let first = values.is_empty();
            self.0.add(usize::from(!first), if first { LIST_BYTES } else { VALUE_BYTES })?;
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<Value, A::Error> {
        MetadataVisitor(self.0).visit_map(access).map(Value::Object)
    }
}

impl ValueSeed<'_> {
    fn number<E: Error>(self, number: Number) -> Result<Value, E> {
        self.0.add(number.to_string().len(), 0)?;
        Ok(Value::Number(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<BoundedMetadata, serde_json::Error> {
        serde_json::from_str(text)
    }

    #[test]
    fn metadata_equals_serde_json_output() {
        for text in [
            "{}",
            r#" {"a" : [1, -2, 3.5e3, true, null, "x\u0001\n\"\\é"], "b": {"c": {}, "d": []}} "#,
            r#"{"a":1,"b":[[],[{}],{"x":[1]}],"18446744073709551615":18446744073709551615}"#,
            r#"{"a":1,"a":2}"#,
        ] {
            let expected: Metadata = serde_json::from_str(text).unwrap();
            assert_eq!(parse(text).unwrap().metadata, expected, "{text}");
        }
        for wrong in ["[]", "null", "1", "{1:2}", "{\"a\"}", "{\"a\":1e999}", "{\"a\":NaN}"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn metadata_sizes_match_their_json() {
        for text in
            ["{}", r#"{"a":[1,-2,3.5,true,false,null,"x\u0001\n\"\\é"],"b":{"c":{},"d":[]}}"#]
        {
            let counts = MetadataSize::default();
            let mut parser = serde_json::Deserializer::from_str(text);
            let metadata = parser.deserialize_map(MetadataVisitor(&counts)).unwrap();
            assert_eq!(counts.json.get(), Value::Object(metadata).to_string().len(), "{text}");
        }
    }

    #[test]
    fn metadata_limits_are_enforced() {
        let text = |bytes: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(bytes));
        assert!(parse(&text(MAX_METADATA_BYTES - 8)).is_ok());
        assert!(parse(&text(MAX_METADATA_BYTES - 7)).is_err());
        let objects = |count: usize| format!("{{\"a\":[{}0]}}", "{\"\":0},".repeat(count));
        assert!(parse(&objects(10_000)).is_ok());
        let error = parse(&objects(100_000)).unwrap_err().to_string();
        assert!(error.contains("bytes of memory"), "{error}");
        let numbers = format!("{{\"a\":[{}0]}}", "1.25,".repeat(200_000));
        assert!(parse(&numbers).is_ok());
    }
}
