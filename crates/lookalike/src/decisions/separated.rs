//! Decisions in force in, the pairs of documents that no run makes duplicates of each other out.

use super::in_force::Decisions;
use std::collections::{HashMap, HashSet};

/// The pairs that a run keeps apart: pairs that are judged to be no duplicates, and pairs of two
/// documents that are kept, by a decision or since they belong to a reference collection.
#[derive(Debug, Clone, Default)]
pub struct SeparatedPairs {
    judged: HashMap<String, HashSet<String>>,
    kept: HashSet<String>,
}

impl SeparatedPairs {
    /// The pairs of some decisions, whatever the texts of their documents are.
    pub fn new(decisions: &Decisions) -> Self {
        let mut judged: HashMap<String, HashSet<String>> = HashMap::new();
        for pair in decisions.pairs.iter().filter(|pair| !pair.is_duplicate) {
            let [a, b] = &pair.documents;
            judged.entry(a.clone()).or_default().insert(b.clone());
            judged.entry(b.clone()).or_default().insert(a.clone());
        }
        let kept = decisions.kept.iter().map(|document| document.id.clone()).collect();
        Self { judged, kept }
    }

    /// Whether a pair is kept apart. Each document is its id, and whether it is of a reference
    /// collection.
    pub fn contains(&self, a: (&str, bool), b: (&str, bool)) -> bool {
        let is_kept = |(id, reference): (&str, bool)| reference || self.kept.contains(id);
        is_kept(a) && is_kept(b) || self.judged.get(a.0).is_some_and(|others| others.contains(b.0))
    }
}
