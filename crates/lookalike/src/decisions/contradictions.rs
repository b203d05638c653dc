//! Finds contradictions among decisions that affect a run.

use super::in_force::{Decisions, JudgedPair};
use lookalike_core::disjoint_sets::DisjointSets;
use std::collections::HashMap;

/// The kind of a contradiction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContradictionKind {
    /// Two people judged a pair differently; the later decision is in force.
    TwoPeople,
    /// The documents of a pair are judged different, but pairs of duplicates connect them. The pair
    /// is not in the same group.
    Connected,
    /// Both documents of a pair of duplicates are kept, so neither is a duplicate of the other.
    BothKept,
}

impl ContradictionKind {
    /// The name in reports.
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
    /// The kind.
    pub kind: ContradictionKind,
    /// The ids of the pair, the lesser first.
    pub documents: [String; 2],
    /// The lines of the decisions, the lesser first.
    pub lines: [u64; 2],
}

/// The decisions in force that a run applies.
#[derive(Debug, Default)]
pub(crate) struct AppliedDecisions<'d> {
    /// The pairs, by ids.
    pub(crate) pairs: Vec<&'d JudgedPair>,
    /// The kept documents of these pairs, with the line of the decision; `None` for a document of a
    /// reference collection.
    pub(crate) kept: HashMap<&'d str, Option<u64>>,
}

impl AppliedDecisions<'_> {
    /// Returns the contradictions by line. `is_applicable` states whether the run could apply a
    /// judgment, even if another judgment has replaced it.
    pub(crate) fn contradictions<E>(
        &self,
        decisions: &Decisions,
        mut is_applicable: impl FnMut(&JudgedPair) -> Result<bool, E>,
    ) -> Result<Vec<Contradiction>, E> {
        let mut found = Vec::new();
        for [earlier, later] in &decisions.disputed {
            if is_applicable(earlier)? && is_applicable(later)? {
                let lines = [earlier.line, later.line];
                let kind = ContradictionKind::TwoPeople;
                found.push(contradiction(kind, &later.documents, lines));
            }
        }
        found.extend(self.connected());
        found.extend(self.both_kept());
        found.sort_by(|a, b| (a.lines, a.kind.name()).cmp(&(b.lines, b.kind.name())));
        Ok(found)
    }

    /// Finds pairs that are judged different but connected by pairs of duplicates.
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
        let distinct = self.pairs.iter().filter(|pair| !pair.is_duplicate);
        let mut contradiction = |pair: &JudgedPair| {
            let [a, b] = of(pair);
            sets.is_joined(a, b).then(|| {
                let lines = [pair.line, lines[&sets.first(a)]];
                contradiction(ContradictionKind::Connected, &pair.documents, lines)
            })
        };
        distinct.filter_map(|pair| contradiction(pair)).collect()
    }

    /// Finds pairs of duplicates whose documents are both kept. A document of a reference
    /// collection is kept without a decision, so the line of the pair replaces the missing line.
    fn both_kept(&self) -> Vec<Contradiction> {
        let kept = |id: &String| self.kept.get(id.as_str()).copied();
        let contradiction = |pair: &JudgedPair| {
            let [a, b] = pair.documents.each_ref().map(kept);
            let lines = [pair.line, a?.max(b?).unwrap_or(pair.line)];
            Some(contradiction(ContradictionKind::BothKept, &pair.documents, lines))
        };
        let duplicates = self.pairs.iter().filter(|pair| pair.is_duplicate);
        duplicates.filter_map(|pair| contradiction(pair)).collect()
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

#[cfg(test)]
mod tests {
    use super::super::in_force::tests::decisions;
    use super::*;
    use std::convert::Infallible;

    /// The contradictions of decisions that are all applied. Documents `r…` belong to a reference
    /// collection.
    fn contradictions(text: &str) -> Vec<(ContradictionKind, [u64; 2])> {
        let decisions = decisions(text);
        let ids = decisions.pairs.iter().flat_map(|pair| &pair.documents);
        let references = ids.filter(|id| id.starts_with('r'));
        let mut applied = AppliedDecisions {
            pairs: decisions.pairs.iter().collect(),
            kept: references.map(|id| (id.as_str(), None)).collect(),
        };
        for kept in &decisions.kept {
            applied.kept.insert(&kept.id, Some(kept.line));
        }
        let found = applied.contradictions(&decisions, |_| Ok::<_, Infallible>(true)).unwrap();
        found.iter().map(|it| (it.kind, it.lines)).collect()
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
        assert_eq!(contradictions("a = r\na kept"), [(BothKept, [1, 2])]);
        assert_eq!(contradictions("a ! b\nr = r2"), [(BothKept, [2, 2])]);
        assert_eq!(contradictions("a = r"), []);
    }
}
