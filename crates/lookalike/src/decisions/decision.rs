//! One decision: the judgment, the documents, who made it and when.

use crate::read::Content;
use serde::Serialize;

/// The most documents of a decision.
pub const MAX_DOCUMENTS: usize = 10_000;

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgment {
    /// The two documents are duplicates, whatever their similarity is.
    Duplicate,
    /// The two documents are no duplicates, whatever their similarity is.
    NotDuplicate,
    /// The document is kept.
    Keep,
    /// All of the documents are kept.
    KeepAll,
    /// What was decided about the document, or about the pair, is no longer decided.
    Undecided,
}

impl Judgment {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Duplicate, Self::NotDuplicate, Self::Keep, Self::KeepAll, Self::Undecided];

    /// The name, as files have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Duplicate => "duplicate",
            Self::NotDuplicate => "not_duplicate",
            Self::Keep => "keep",
            Self::KeepAll => "keep_all",
            Self::Undecided => "undecided",
        }
    }

    /// How many documents a decision may be about, in words; `None` where `count` is such a number.
    pub(super) fn other_count(self, count: usize) -> Option<&'static str> {
        let (is_right, expected) = match self {
            Self::Duplicate | Self::NotDuplicate => (count == 2, "two documents"),
            Self::Keep => (count == 1, "one document"),
            Self::KeepAll => ((1..=MAX_DOCUMENTS).contains(&count), "1 to 10,000 documents"),
            Self::Undecided => (matches!(count, 1 | 2), "one document or two"),
        };
        (!is_right).then_some(expected)
    }
}

/// A line of a file of decisions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewDecision {
    /// What was decided.
    pub judgment: Judgment,
    /// The ids of the documents, no two of them equal.
    pub documents: Vec<String>,
    /// The SHA-256 hash of the text of each document when it was decided about, where it is known;
    /// as many as there are documents, or none.
    pub contents: Vec<Option<Content>>,
    /// The person.
    pub who: Option<String>,
    /// The time, as it is written in the file.
    pub when: Option<String>,
    /// What the person noted.
    pub note: Option<String>,
    /// The line, from 1; in an index, the number.
    pub line: u64,
    /// For a decision that is to be added to an index: the number of the last decision of that
    /// index that its author has seen. It is not stored.
    pub seen: Option<u64>,
}

/// One thing that is decided about: a document, or a pair with the lesser id first.
pub(super) type DecisionTarget<'d> = (&'d str, Option<&'d str>);

/// A line, in the order of its members.
#[derive(Serialize)]
struct WrittenDecision<'d> {
    decision: &'static str,
    documents: &'d [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    contents: Vec<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    who: Option<&'d str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    when: Option<&'d str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'d str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
}

impl ReviewDecision {
    /// The pair that it is about, or each of its documents. The last decision about a target is
    /// in force.
    pub(super) fn targets(&self) -> Vec<DecisionTarget<'_>> {
        match (self.judgment, self.documents.as_slice()) {
            (Judgment::Keep | Judgment::KeepAll, ids) => {
                ids.iter().map(|id| (id.as_str(), None)).collect()
            }
            (_, [a, b]) => vec![(a.min(b).as_str(), Some(a.max(b).as_str()))],
            (_, ids) => ids.iter().map(|id| (id.as_str(), None)).collect(),
        }
    }

    /// The line of a file of decisions, without its end.
    pub fn to_json(&self) -> String {
        self.written(None)
    }

    /// The line of a decision of an index with its number, which a later decision may have `seen`.
    pub fn to_numbered_json(&self) -> String {
        self.written(Some(self.line))
    }

    fn written(&self, number: Option<u64>) -> String {
        let contents = self.contents.iter().map(|content| content.as_ref().map(Content::to_string));
        let line = WrittenDecision {
            decision: self.judgment.name(),
            documents: &self.documents,
            contents: contents.collect(),
            who: self.who.as_deref(),
            when: self.when.as_deref(),
            note: self.note.as_deref(),
            number,
        };
        // Texts and lists of texts are always written.
        serde_json::to_string(&line).unwrap_or_default()
    }
}
