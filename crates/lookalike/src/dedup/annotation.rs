//! The outcome of a document as values that are written next to it.

use crate::outcome::Outcome;
use crate::words::TextSpan;
use lookalike_core::params::Measure;

/// The default prefix of the names of new columns and of new members of JSON objects.
pub const DEFAULT_FIELD: &str = "lookalike";

/// The reason for removing a document that a list names.
pub(super) const DROPPED: &str = "dropped";

/// How to annotate documents. All documents are written, each with its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotate {
    /// The prefix of the names of columns and of members of JSON objects: `FIELD_kept`, ….
    pub field: String,
    /// The subject of the annotations.
    pub subject: AnnotationSubject,
}

/// The subject of an annotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnnotationSubject {
    /// The group of the document. One column or member is named after the similarity measure.
    Groups(Measure),
    /// The repeated passages of the document.
    Passages,
}

impl Annotate {
    /// Returns the names of the columns and members. For groups: `kept`, `group`, `keeper`, the
    /// similarity, `reason`, `neighbour`, the similarity with the neighbour, and `group_size`. For
    /// passages: `kept`, `cut_words`, `passages`.
    pub fn columns(&self) -> Vec<String> {
        let named = |name: &str| format!("{}_{name}", self.field);
        let AnnotationSubject::Groups(measure) = self.subject else {
            return ["kept", "cut_words", "passages"].map(named).to_vec();
        };
        let neighbour = format!("neighbour_{measure}");
        let measure = measure.to_string();
        let pair = ["neighbour", &neighbour];
        let all = ["kept", "group", "keeper", &measure, "reason", pair[0], pair[1], "group_size"];
        all.map(named).to_vec()
    }
}

/// The values of an annotation, one for each column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnnotationValues<'a> {
    /// Whether the document is kept.
    pub kept: bool,
    /// The number of its group, from 1.
    pub group: Option<u64>,
    /// The keeper of a removed document.
    pub keeper: Option<&'a str>,
    /// The similarity with the keeper, with six decimals.
    pub similarity: Option<&'a str>,
    /// Why the document is kept or removed.
    pub reason: &'a str,
    /// The id of the most similar document that has another keeper, and the similarity with six
    /// decimals. Only for a kept document without a group.
    pub neighbour: Option<(&'a str, &'a str)>,
    /// The number of documents in the group of a kept document, including itself; 1 without a
    /// group.
    pub group_size: Option<u64>,
    /// The number of repeated words and their spans. They replace all values except `kept`.
    pub(super) passages: Option<(u64, &'a [TextSpan])>,
}

impl<'a> AnnotationValues<'a> {
    /// Returns the values of an outcome.
    pub fn of(outcome: &Outcome<'a>) -> Self {
        let values = |group, reason| Self {
            kept: true,
            group,
            keeper: None,
            similarity: None,
            reason,
            neighbour: None,
            group_size: Some(1),
            passages: None,
        };
        match *outcome {
            Outcome::Unique => values(None, "unique"),
            Outcome::Related { neighbour, similarity } => {
                Self { neighbour: Some((neighbour, similarity)), ..values(None, "related") }
            }
            Outcome::Empty => values(None, "empty"),
            Outcome::Keeper { group, size } => {
                Self { group_size: Some(size), ..values(Some(group), "keeper") }
            }
            Outcome::Duplicate { group, keeper, similarity, reason } => Self {
                kept: false,
                group: Some(group),
                keeper: Some(keeper),
                similarity: Some(similarity),
                reason,
                group_size: None,
                ..values(None, "")
            },
            Outcome::RepeatedId => {
                Self { kept: false, group_size: None, ..values(None, "skipped") }
            }
            Outcome::Dropped => Self { kept: false, group_size: None, ..values(None, DROPPED) },
            Outcome::Repeated { kept, words, spans } => {
                Self { kept, passages: Some((words, spans)), ..values(None, "") }
            }
        }
    }

    /// Returns the cells of a row. Missing values are empty.
    pub(super) fn columns(&self) -> Vec<String> {
        if let Some((words, spans)) = self.passages {
            return vec![self.kept.to_string(), words.to_string(), json_spans(spans)];
        }
        let (neighbour, neighbour_similarity) = self.neighbour.unwrap_or_default();
        vec![
            self.kept.to_string(),
            self.group.map(|group| group.to_string()).unwrap_or_default(),
            self.keeper.unwrap_or_default().to_owned(),
            self.similarity.unwrap_or_default().to_owned(),
            self.reason.to_owned(),
            neighbour.to_owned(),
            neighbour_similarity.to_owned(),
            self.group_size.map(|size| size.to_string()).unwrap_or_default(),
        ]
    }

    /// Writes the members of an object without braces. Members of the neighbour appear only if the
    /// document has one.
    pub(super) fn json(&self, annotate: &Annotate, out: &mut Vec<u8>) {
        let mut members = vec![("kept".to_owned(), self.kept.to_string())];
        if let AnnotationSubject::Groups(measure) = annotate.subject {
            members.extend(self.removed_members(measure));
            let size = self.group_size.map_or_else(|| "null".to_owned(), |size| size.to_string());
            members.push(("group_size".to_owned(), size));
            if let Some((neighbour, similarity)) = self.neighbour {
                members
                    .push(("neighbour".to_owned(), serde_json::Value::from(neighbour).to_string()));
                members.push((format!("neighbour_{measure}"), similarity.to_owned()));
            }
        } else {
            let (words, spans) = self.passages.unwrap_or_default();
            members.push(("cut_words".to_owned(), words.to_string()));
            members.push(("passages".to_owned(), json_spans(spans)));
        }
        put_members(&format!("{}_", annotate.field), &members, out);
    }

    /// Writes the members of a document in a list of removed documents, without braces and prefix.
    pub(super) fn json_removed(&self, measure: Measure, out: &mut Vec<u8>) {
        put_members("", &self.removed_members(measure), out);
    }

    /// The names and JSON values that annotations and lists of removed documents have in common.
    fn removed_members(&self, measure: Measure) -> [(String, String); 4] {
        let text = |text: &str| serde_json::Value::from(text).to_string();
        let or_null = |value: Option<String>| value.unwrap_or_else(|| "null".to_owned());
        [
            ("group".to_owned(), or_null(self.group.map(|group| group.to_string()))),
            ("keeper".to_owned(), or_null(self.keeper.map(text))),
            (measure.to_string(), or_null(self.similarity.map(str::to_owned))),
            ("reason".to_owned(), text(self.reason)),
        ]
    }
}

/// Writes members of an object: names after `prefix`, values unchanged.
fn put_members(prefix: &str, members: &[(String, String)], out: &mut Vec<u8>) {
    for (place, (name, value)) in members.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        let name = serde_json::Value::from(format!("{prefix}{name}"));
        out.extend_from_slice(format!("{name}:{value}").as_bytes());
    }
}

/// Spans as a list of objects: `[{"bytes":[0,9],"chars":[0,8]}]`.
pub(super) fn json_spans(spans: &[TextSpan]) -> String {
    let spans = spans.iter().map(|span| format!("{{{}}}", json_span(span)));
    format!("[{}]", spans.collect::<Vec<_>>().join(","))
}

/// The members of a span.
pub(super) fn json_span(TextSpan { bytes, chars }: &TextSpan) -> String {
    format!("\"bytes\":[{},{}],\"chars\":[{},{}]", bytes.start, bytes.end, chars.start, chars.end)
}
