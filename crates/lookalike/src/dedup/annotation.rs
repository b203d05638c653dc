//! A decision as values that are written beside a document.

use super::Decision;

/// The member that annotated JSON objects get, and the beginning of the names of new columns.
pub const DEFAULT_FIELD: &str = "lookalike";

/// How documents are annotated: all are written, with what was decided about each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotate {
    /// The member of JSON objects, and the beginning of the names of columns: `FIELD_kept`, ….
    pub field: String,
    /// What the similarity is called: `jaccard` or `containment`.
    pub measure: &'static str,
}

impl Annotate {
    /// The names of the columns, in the order `kept`, `group`, `keeper`, similarity,
    /// `reason`.
    pub fn columns(&self) -> [String; 5] {
        ["kept", "group", "keeper", self.measure, "reason"]
            .map(|name| format!("{}_{name}", self.field))
    }
}

/// What is said about a document, value by value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Values<'a> {
    pub(super) kept: bool,
    /// None where it is in no group.
    pub(super) group: Option<u64>,
    /// None where it stays.
    pub(super) keeper: Option<&'a str>,
    /// Six decimals; none where it stays.
    pub(super) similarity: Option<&'a str>,
    pub(super) reason: &'a str,
}

impl<'a> Values<'a> {
    pub(super) fn of(decision: &Decision<'a>) -> Self {
        let stays =
            |group, reason| Self { kept: true, group, keeper: None, similarity: None, reason };
        match *decision {
            Decision::Unique => stays(None, "unique"),
            Decision::Empty => stays(None, "empty"),
            Decision::Keeper { group, .. } => stays(Some(group), "keeper"),
            Decision::Duplicate { group, keeper, similarity, reason } => Self {
                kept: false,
                group: Some(group),
                keeper: Some(keeper),
                similarity: Some(similarity),
                reason,
            },
        }
    }

    /// Values of a line, empty where there is none.
    pub(super) fn columns(&self) -> [String; 5] {
        [
            self.kept.to_string(),
            self.group.map(|group| group.to_string()).unwrap_or_default(),
            self.keeper.unwrap_or_default().to_owned(),
            self.similarity.unwrap_or_default().to_owned(),
            self.reason.to_owned(),
        ]
    }

    /// The members of an object, without its braces.
    pub(super) fn json(&self, measure: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("\"kept\":{},", self.kept).as_bytes());
        self.json_removed(measure, out);
    }

    /// The same of a document that is known to go.
    pub(super) fn json_removed(&self, measure: &str, out: &mut Vec<u8>) {
        let text = |text: &str| serde_json::Value::from(text).to_string();
        let or_null = |value: Option<String>| value.unwrap_or_else(|| "null".to_owned());
        let line = format!(
            "\"group\":{},\"keeper\":{},{}:{},\"reason\":{}",
            or_null(self.group.map(|group| group.to_string())),
            or_null(self.keeper.map(text)),
            text(measure),
            or_null(self.similarity.map(str::to_owned)),
            text(self.reason),
        );
        out.extend_from_slice(line.as_bytes());
    }
}
