//! One decision: the judgment, the documents, its author and its time.

use crate::read::Content;
use serde::Serialize;

/// The most documents of a decision.
pub const MAX_DOCUMENTS: usize = 10_000;

/// The kind of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgment {
    /// The two documents are duplicates, regardless of their similarity.
    Duplicate,
    /// The two documents are not duplicates, regardless of their similarity.
    NotDuplicate,
    /// The document is kept.
    Keep,
    /// All of the documents are kept.
    KeepAll,
    /// Previous decisions about the document or the pair are revoked.
    Undecided,
}

impl Judgment {
    /// All judgments.
    pub const ALL: [Self; 5] =
        [Self::Duplicate, Self::NotDuplicate, Self::Keep, Self::KeepAll, Self::Undecided];

    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Duplicate => "duplicate",
            Self::NotDuplicate => "not_duplicate",
            Self::Keep => "keep",
            Self::KeepAll => "keep_all",
            Self::Undecided => "undecided",
        }
    }

    /// The allowed numbers of documents in words; `None` if `count` is allowed.
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
    /// The kind of the decision.
    pub judgment: Judgment,
    /// The ids of the documents, which are all different.
    pub documents: Vec<String>,
    /// The SHA-256 hash of the text of each document at the time of the decision, if it is known;
    /// empty, or one entry per document.
    pub contents: Vec<Option<Content>>,
    /// The person.
    pub who: Option<String>,
    /// The time, as written in the file.
    pub when: Option<String>,
    /// The note of the person.
    pub note: Option<String>,
    /// The line, from 1; in an index, the number.
    pub line: u64,
    /// For a decision to add to an index: the number of the last decision in that index that its
    /// author has seen. It is not stored.
    pub seen: Option<u64>,
}

/// The target of a decision: a document, or a pair with the lesser id first.
pub(super) type DecisionTarget<'d> = (&'d str, Option<&'d str>);

/// A line of a file. Its members are written in this order.
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
    /// Returns the pair of the decision, or each of its documents. The last decision about a target
    /// is in force.
    pub(super) fn targets(&self) -> Vec<DecisionTarget<'_>> {
        match (self.judgment, self.documents.as_slice()) {
            (Judgment::Keep | Judgment::KeepAll, ids) => {
                ids.iter().map(|id| (id.as_str(), None)).collect()
            }
            (_, [a, b]) => vec![(a.min(b).as_str(), Some(a.max(b).as_str()))],
            (_, ids) => ids.iter().map(|id| (id.as_str(), None)).collect(),
        }
    }

    /// Returns the line of a file of decisions, without its line end.
    pub fn to_json(&self) -> String {
        self.written(None)
    }

    /// Returns the line of a decision in an index, with its number. A later decision can have this
    /// number as `seen`.
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
        // Serializing texts and lists of texts cannot fail.
        serde_json::to_string(&line).unwrap_or_default()
    }
}
