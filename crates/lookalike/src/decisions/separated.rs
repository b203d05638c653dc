//! Decisions in force in, the pairs of documents that no run makes duplicates of each other out.

use super::in_force::Decisions;
use std::collections::{HashMap, HashSet};

/// The pairs that decisions keep apart: those that are judged to be no duplicates, and those of two
/// documents that are kept.
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

    /// Whether a pair is kept apart.
    pub fn contains(&self, a: &str, b: &str) -> bool {
        self.judged.get(a).is_some_and(|others| others.contains(b))
            || self.kept.contains(a) && self.kept.contains(b)
    }
}
