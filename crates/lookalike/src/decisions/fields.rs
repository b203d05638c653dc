//! Converts the members of a decision to a decision.

use super::decision::{Judgment, ReviewDecision};
use super::error::DecisionProblem;
use crate::read::Content;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Number;
use std::collections::HashSet;

/// The most bytes of all ids of a decision.
pub const MAX_IDS_BYTES: usize = 1 << 20;
/// The most bytes of a note.
pub const MAX_NOTE_BYTES: usize = 64 << 10;
/// The most bytes of a name, and of a time.
const MAX_NAME_BYTES: usize = 1 << 10;

/// The members of a decision, as written in a file.
#[derive(Debug, Clone, Deserialize)]
pub struct DecisionFields {
    /// The name of the judgment.
    pub decision: String,
    /// The ids of the documents.
    pub documents: Vec<String>,
    /// The hashes of their texts.
    #[serde(default)]
    pub contents: Option<Vec<Option<String>>>,
    /// The person.
    pub who: Option<String>,
    /// The time.
    pub when: Option<String>,
    /// A note.
    pub note: Option<String>,
    /// The number of the last decision of an index that its author has seen.
    #[serde(default, deserialize_with = "whole_number")]
    pub seen: Option<u64>,
}

/// Reads a whole number, including `7.0`, as in JSON Schema.
fn whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let Some(number) = Option::<Number>::deserialize(deserializer)? else { return Ok(None) };
    // A double represents every integer below 2⁵³ exactly.
    let is_whole =
        |value: &f64| value.fract() == 0.0 && (0.0..=9_007_199_254_740_991.0).contains(value);
    let whole = number
        .as_u64()
        .or_else(|| number.as_f64().filter(is_whole).map(|value| value as u64))
        .ok_or_else(|| {
            D::Error::custom(format!("`seen` is {number}, not a whole number from 0"))
        })?;
    Ok(Some(whole))
}

impl DecisionFields {
    /// Checks the members, as for a line of a file.
    ///
    /// # Errors
    /// An unknown judgment, a number of documents or hashes that the judgment does not allow, and a
    /// member that is too long.
    pub fn check(self, line: u64) -> Result<ReviewDecision, DecisionProblem> {
        let Self { decision, documents, contents, who, when, note, seen } = self;
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let lengths = [
            ("documents", documents.iter().map(String::len).sum(), MAX_IDS_BYTES),
            ("who", length(&who), MAX_NAME_BYTES),
            ("when", length(&when), MAX_NAME_BYTES),
            ("note", length(&note), MAX_NOTE_BYTES),
        ];
        if let Some((member, got, most)) = lengths.into_iter().find(|(_, got, most)| got > most) {
            return Err(DecisionProblem::TooLong { member, got, most });
        }
        let judgment = Judgment::ALL.into_iter().find(|judgment| judgment.name() == decision);
        let judgment = judgment.ok_or(DecisionProblem::Judgment { got: decision })?;
        if let Some(expected) = judgment.other_count(documents.len()) {
            let got = documents.len();
            return Err(DecisionProblem::Documents { judgment, got, expected });
        }
        let mut known = HashSet::new();
        if let Some(id) = documents.iter().find(|id| !known.insert(id.as_str())) {
            return Err(DecisionProblem::RepeatedDocument { id: id.clone() });
        }
        let contents = contents.unwrap_or_default();
        if !contents.is_empty() && contents.len() != documents.len() {
            let got = contents.len();
            let expected = documents.len();
            return Err(DecisionProblem::Contents { got, expected });
        }
        let hash = |text: Option<String>| text.map(content).transpose();
        let contents = contents.into_iter().map(hash).collect::<Result<_, _>>()?;
        Ok(ReviewDecision { judgment, documents, contents, who, when, note, line, seen })
    }
}

fn content(text: String) -> Result<Content, DecisionProblem> {
    Content::of_hex(&text).ok_or(DecisionProblem::Hash { got: text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seen_is_a_whole_number() {
        let seen = |value: &str| {
            let json = format!("{{\"decision\":\"keep\",\"documents\":[\"a\"],\"seen\":{value}}}");
            serde_json::from_str::<DecisionFields>(&json).map(|fields| fields.seen).ok()
        };
        assert_eq!(
            [seen("7"), seen("7.0"), seen("null")],
            [Some(Some(7)), Some(Some(7)), Some(None)]
        );
        assert_eq!([seen("7.5"), seen("-1"), seen("1e300"), seen("\"7\"")], [None; 4]);
    }
}
