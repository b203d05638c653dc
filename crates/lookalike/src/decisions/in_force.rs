//! Decisions in the order in which they were made in, what they come to out.

use super::decision::{Judgment, ReviewDecision};
use crate::read::Content;
use lookalike_core::disjoint_sets::DisjointSets;
use lookalike_core::hash;
use std::collections::{BTreeMap, HashMap};

/// A pair of documents that is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedPair {
    /// The ids, the lesser first.
    pub documents: [String; 2],
    /// The hashes of their texts, where they are known.
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
    /// The hash of its text, where it is known.
    pub content: Option<Content>,
    /// The line of the decision.
    pub line: u64,
}

/// How two decisions contradict each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContradictionKind {
    /// Two people judged a pair differently; the later decision is in force.
    TwoPeople,
    /// A pair is judged to be no duplicates, and is connected by pairs that are: it is in no group
    /// together.
    Connected,
    /// Both documents of a pair of duplicates are kept: neither is the duplicate of the other.
    BothKept,
}

impl ContradictionKind {
    /// The name, as reports have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TwoPeople => "two_people",
            Self::Connected => "connected",
            Self::BothKept => "both_kept",
        }
    }
}

/// Two decisions that contradict each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// How.
    pub kind: ContradictionKind,
    /// The ids of the pair, the lesser first.
    pub documents: [String; 2],
    /// The lines of the decisions, the lesser first.
    pub lines: [u64; 2],
}

/// The decisions that are in force: of several about one pair or document, the last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decisions {
    /// By ids.
    pub pairs: Vec<JudgedPair>,
    /// By id.
    pub kept: Vec<KeptDocument>,
    /// By lines.
    pub contradictions: Vec<Contradiction>,
    /// How many decisions there were.
    pub read: u64,
}

impl Decisions {
    /// What is in force after some decisions, the first made first.
    pub fn new(decisions: Vec<ReviewDecision>) -> Self {
        let read = decisions.len() as u64;
        let mut pairs: BTreeMap<[String; 2], JudgedPair> = BTreeMap::new();
        let mut kept = BTreeMap::new();
        let mut contradictions = Vec::new();
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
                    contradictions
                        .extend(earlier.as_ref().and_then(|earlier| two_people(earlier, &pair)));
                }
            }
        }
        let mut decisions = Self {
            pairs: pairs.into_values().collect(),
            kept: kept.into_values().collect(),
            contradictions,
            read,
        };
        decisions.contradictions.extend(decisions.connected());
        decisions.contradictions.extend(decisions.both_kept());
        decisions
            .contradictions
            .sort_by(|a, b| (a.lines, a.kind.name()).cmp(&(b.lines, b.kind.name())));
        decisions
    }

    /// Whether nothing is decided.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.kept.is_empty()
    }

    /// A number that is another one where other decisions are in force.
    pub(crate) fn digest(&self) -> String {
        format!("{:016x}", hash::token_hash(format!("{:?} {:?}", self.pairs, self.kept).as_bytes()))
    }

    /// How many are in force.
    pub fn len(&self) -> u64 {
        (self.pairs.len() + self.kept.len()) as u64
    }

    /// Pairs that are judged to be no duplicates, and are connected by pairs that are.
    fn connected(&self) -> Vec<Contradiction> {
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        for id in self.pairs.iter().flat_map(|pair| &pair.documents) {
            let next = numbers.len() as u32;
            numbers.entry(id).or_insert(next);
        }
        let mut sets = DisjointSets::new(numbers.len());
        let mut lines: HashMap<u32, u64> = HashMap::new();
        let of = |pair: &JudgedPair| pair.documents.each_ref().map(|id| numbers[id.as_str()]);
        for pair in self.pairs.iter().filter(|pair| pair.is_duplicate) {
            let [a, b] = of(pair);
            sets.join(a, b);
            lines.entry(a).or_insert(pair.line);
        }
        for pair in self.pairs.iter().filter(|pair| pair.is_duplicate) {
            let line = lines.entry(sets.first(of(pair)[0])).or_insert(pair.line);
            *line = (*line).min(pair.line);
        }
        let others = self.pairs.iter().filter(|pair| !pair.is_duplicate);
        let contradiction = |pair: &JudgedPair| {
            let [a, b] = of(pair);
            sets.is_joined(a, b).then(|| {
                let lines = [pair.line, lines[&sets.first(a)]];
                contradiction(ContradictionKind::Connected, &pair.documents, lines)
            })
        };
        others.filter_map(contradiction).collect()
    }

    /// Pairs of duplicates of which both are kept.
    fn both_kept(&self) -> Vec<Contradiction> {
        let kept: HashMap<&str, u64> =
            self.kept.iter().map(|document| (document.id.as_str(), document.line)).collect();
        let contradiction = |pair: &JudgedPair| {
            let [a, b] = pair.documents.each_ref().map(|id| kept.get(id.as_str()));
            let later = (*a?).max(*b?);
            let lines = [pair.line, later];
            Some(contradiction(ContradictionKind::BothKept, &pair.documents, lines))
        };
        self.pairs.iter().filter(|pair| pair.is_duplicate).filter_map(contradiction).collect()
    }
}

fn contradiction(
    kind: ContradictionKind,
    documents: &[String; 2],
    mut lines: [u64; 2],
) -> Contradiction {
    lines.sort_unstable();
    Contradiction { kind, documents: documents.clone(), lines }
}

/// The contradiction where another person judged a pair in another way before.
fn two_people(earlier: &JudgedPair, later: &JudgedPair) -> Option<Contradiction> {
    let is_other = earlier.who.is_some() && later.who.is_some() && earlier.who != later.who;
    let lines = [earlier.line, later.line];
    (is_other && earlier.is_duplicate != later.is_duplicate)
        .then(|| contradiction(ContradictionKind::TwoPeople, &later.documents, lines))
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
mod tests {
    use super::*;

    /// Decisions such as `ann: a = b`, `a ! b`, `a b kept`, `a b ?`, one per line.
    fn decisions(text: &str) -> Decisions {
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

    fn contradictions(text: &str) -> Vec<(ContradictionKind, [u64; 2])> {
        decisions(text).contradictions.iter().map(|it| (it.kind, it.lines)).collect()
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
    fn contradictions_are_found() {
        use ContradictionKind::{BothKept, Connected, TwoPeople};
        assert_eq!(contradictions("ann: a = b\nbob: a ! b"), [(TwoPeople, [1, 2])]);
        assert_eq!(contradictions("ann: a = b\nann: a ! b\na ! b\nbob: b ! a"), []);
        assert_eq!(contradictions("a ! c\na = b\nc = b"), [(Connected, [1, 2])]);
        assert_eq!(contradictions("a ! d\na = b\nc = d"), []);
        assert_eq!(contradictions("a = b\na b kept"), [(BothKept, [1, 2])]);
        assert_eq!(contradictions("a = b\na b kept\nb ?"), []);
        assert_eq!(contradictions("a = b\na b ?\na b kept"), []);
    }
}
