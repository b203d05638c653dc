//! The pairs of documents that decisions in force separate, so that no run makes them duplicates.

use super::in_force::Decisions;
use std::collections::{HashMap, HashSet};

/// The pairs that a run separates: pairs that are judged different, and pairs of two kept
/// documents. A document is kept by a decision, or because it belongs to a reference collection.
#[derive(Debug, Clone, Default)]
pub struct SeparatedPairs {
    judged: HashMap<String, HashSet<String>>,
    kept: HashSet<String>,
}

impl SeparatedPairs {
    /// Creates the pairs of some decisions, regardless of the texts of their documents.
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

    /// Whether a pair is separated. Each document is given by its id, and by whether it belongs to
    /// a reference collection.
    pub fn contains(&self, a: (&str, bool), b: (&str, bool)) -> bool {
        let is_kept = |(id, reference): (&str, bool)| reference || self.kept.contains(id);
        is_kept(a) && is_kept(b) || self.judged.get(a.0).is_some_and(|others| others.contains(b.0))
    }
}
