//! Determines which decisions are in force, from all decisions in the order of time.

use super::decision::{Judgment, ReviewDecision};
use crate::read::Content;
use lookalike_core::hash;
use std::collections::{BTreeMap, BTreeSet};

/// A pair with a judgment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedPair {
    /// The ids, the lesser first.
    pub documents: [String; 2],
    /// The hashes of their texts, if known.
    pub contents: [Option<Content>; 2],
    /// Whether they are duplicates.
    pub is_duplicate: bool,
    /// The line of the decision.
    pub line: u64,
    who: Option<String>,
}

/// A document that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptDocument {
    /// Its id.
    pub id: String,
    /// The hash of its text, if known.
    pub content: Option<Content>,
    /// The line of the decision.
    pub line: u64,
}

/// The decisions in force. If several decisions are about one pair or document, only the last is in
/// force.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decisions {
    /// The pairs, by ids.
    pub pairs: Vec<JudgedPair>,
    /// The kept documents, by id.
    pub kept: Vec<KeptDocument>,
    /// Judgments that another person contradicted later, each with the later judgment.
    pub(super) disputed: Vec<[JudgedPair; 2]>,
    /// The number of all decisions.
    pub read: u64,
}

impl Decisions {
    /// Applies decisions in the order of time.
    pub fn new(decisions: Vec<ReviewDecision>) -> Self {
        let read = decisions.len() as u64;
        let mut pairs: BTreeMap<[String; 2], JudgedPair> = BTreeMap::new();
        let mut kept = BTreeMap::new();
        let mut disputed = Vec::new();
        for decision in decisions {
            match (decision.judgment, &decision.documents[..]) {
                (Judgment::Undecided, [id]) => {
                    kept.remove(id);
                }
                (Judgment::Undecided, _) => {
                    pairs.remove(&judged_pair(decision).documents);
                }
                (Judgment::Keep | Judgment::KeepAll, _) => {
                    kept.extend(
                        kept_documents(decision).map(|document| (document.id.clone(), document)),
                    );
                }
                (Judgment::Duplicate | Judgment::NotDuplicate, _) => {
                    let pair = judged_pair(decision);
                    let earlier = pairs.insert(pair.documents.clone(), pair.clone());
                    let earlier = earlier.filter(|earlier| is_dispute(earlier, &pair));
                    disputed.extend(earlier.map(|earlier| [earlier, pair]));
                }
            }
        }
        let pairs = pairs.into_values().collect();
        let kept = kept.into_values().collect();
        Self { pairs, kept, disputed, read }
    }

    /// Whether no decision is in force.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.kept.is_empty()
    }

    /// A digest of the decisions in force. Different decisions have different digests.
    pub(crate) fn digest(&self) -> String {
        format!("{:016x}", hash::token_hash(format!("{:?} {:?}", self.pairs, self.kept).as_bytes()))
    }

    /// The number of decisions in force. A decision that keeps several documents counts once.
    pub fn len(&self) -> u64 {
        let lines: BTreeSet<u64> = self.kept.iter().map(|document| document.line).collect();
        (self.pairs.len() + lines.len()) as u64
    }

    /// Iterates over the judged pairs, including those whose judgment was replaced.
    pub(crate) fn judged_pairs(&self) -> impl Iterator<Item = &JudgedPair> {
        self.pairs.iter().chain(self.disputed.iter().flatten())
    }
}

/// Whether another person judged the pair differently before.
fn is_dispute(earlier: &JudgedPair, later: &JudgedPair) -> bool {
    let is_other = earlier.who.is_some() && later.who.is_some() && earlier.who != later.who;
    is_other && earlier.is_duplicate != later.is_duplicate
}

fn judged_pair(decision: ReviewDecision) -> JudgedPair {
    let ReviewDecision { judgment, documents, contents, who, line, .. } = decision;
    let mut contents = contents.into_iter();
    let mut documents =
        documents.into_iter().map(|id| (id, contents.next().flatten())).collect::<Vec<_>>();
    documents.sort_unstable();
    let mut documents = documents.into_iter();
    let [(first, a), (second, b)] = std::array::from_fn(|_| documents.next().unwrap_or_default());
    let is_duplicate = judgment == Judgment::Duplicate;
    JudgedPair { documents: [first, second], contents: [a, b], is_duplicate, line, who }
}

fn kept_documents(decision: ReviewDecision) -> impl Iterator<Item = KeptDocument> {
    let ReviewDecision { documents, contents, line, .. } = decision;
    let mut contents = contents.into_iter();
    documents.into_iter().map(move |id| KeptDocument {
        id,
        content: contents.next().flatten(),
        line,
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Decisions such as `ann: a = b`, `a ! b`, `a b kept`, `a b ?`, one per line.
    pub(crate) fn decisions(text: &str) -> Decisions {
        let decision = |(line, text): (u64, &str)| {
            let (who, rest) =
                text.split_once(": ").map_or((None, text), |(who, rest)| (Some(who), rest));
            let mut words: Vec<&str> = rest.split(' ').collect();
            let judgment = match words[1..] {
                ["=", _] => Judgment::Duplicate,
                ["!", _] => Judgment::NotDuplicate,
                [.., "kept"] => Judgment::KeepAll,
                _ => Judgment::Undecided,
            };
            words.retain(|word| !["=", "!", "kept", "?"].contains(word));
            ReviewDecision {
                judgment,
                documents: words.into_iter().map(str::to_owned).collect(),
                contents: Vec::new(),
                who: who.map(str::to_owned),
                when: None,
                note: None,
                line,
                seen: None,
            }
        };
        Decisions::new((1..).zip(text.lines()).map(decision).collect())
    }

    fn in_force(decisions: &Decisions) -> String {
        let sign = |pair: &JudgedPair| if pair.is_duplicate { '=' } else { '!' };
        let pairs = decisions
            .pairs
            .iter()
            .map(|pair| format!("{}{}{}", pair.documents[0], sign(pair), pair.documents[1]));
        let kept = decisions.kept.iter().map(|document| format!("{} kept", document.id));
        pairs.chain(kept).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn the_last_decision_is_in_force() {
        assert_eq!(in_force(&decisions("b = a\na ! b\nc d kept")), "a!b, c kept, d kept");
        assert_eq!(in_force(&decisions("a = b\na b ?\na b kept\nb ?")), "a kept");
        assert_eq!(in_force(&decisions("a b ?\na = c")), "a=c");
        let decisions = decisions("a = b\nb = a\na kept");
        assert_eq!((decisions.len(), decisions.read, decisions.pairs[0].line), (2, 3, 2));
    }

    #[test]
    fn keeping_several_documents_is_one_decision() {
        let decisions = decisions("a b c kept\nd = e\nb ?\nc kept");
        assert_eq!(in_force(&decisions), "d=e, a kept, c kept");
        assert_eq!((decisions.len(), decisions.read), (3, 4));
    }
}
