//! The decisions in force, in memory: read from the log of the index before groups are shown.

use crate::problem::Problem;
use lookalike::core::hash::token_hash;
use lookalike::decisions::{self, Judgment, ReviewDecision};
use lookalike::error::Error;
use lookalike::store::{Index, IndexError};
use parking_lot::RwLock;
use std::collections::{HashMap, HashSet};

/// The decisions of an index.
#[derive(Default)]
pub(crate) struct DecisionCache(RwLock<DecisionsInForce>);

impl DecisionCache {
    /// Gives the decisions that are in the log now.
    pub(crate) fn read<T>(
        &self,
        index: &Index,
        work: impl FnOnce(&DecisionsInForce) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let last = self.0.read().last;
        let mut new = Vec::new();
        let mut take = |decision: ReviewDecision| {
            // Notes are in the log only.
            new.push(ReviewDecision { note: None, ..decision });
        };
        decisions::each_of_index(index, last, &mut take).map_err(problem)?;
        if !new.is_empty() {
            let mut in_force = self.0.write();
            in_force.apply(new);
        }
        work(&self.0.read())
    }
}

/// Of several decisions about one pair or document, the last.
#[derive(Default)]
pub(crate) struct DecisionsInForce {
    /// The number of the last decision.
    pub(crate) last: u64,
    /// Both documents of each judged pair → whether they are duplicates, and by which decision.
    judged: HashMap<String, HashMap<String, (bool, u64)>>,
    /// The decision by which a document is kept.
    kept: HashMap<String, u64>,
    /// The number of each decision, and the hash of a document that it is about.
    touched: Vec<(u64, u64)>,
}

impl DecisionsInForce {
    fn apply(&mut self, new: Vec<ReviewDecision>) {
        // Another thread may have applied some of them.
        let last = self.last;
        for decision in new.into_iter().filter(|decision| decision.line > last) {
            let number = decision.line;
            self.last = number;
            self.touched.extend(decision.documents.iter().map(|id| (number, id_hash(id))));
            match (decision.judgment, decision.documents.as_slice()) {
                (Judgment::Undecided, [id]) => drop(self.kept.remove(id)),
                (Judgment::Undecided, [a, b]) => self.forget(a, b),
                (Judgment::Duplicate, [a, b]) => self.judge(a, b, (true, number)),
                (Judgment::NotDuplicate, [a, b]) => self.judge(a, b, (false, number)),
                (Judgment::Keep | Judgment::KeepAll, ids) => {
                    self.kept.extend(ids.iter().map(|id| (id.clone(), number)));
                }
                _ => {}
            }
        }
    }

    fn judge(&mut self, a: &str, b: &str, judgment: (bool, u64)) {
        for (a, b) in [(a, b), (b, a)] {
            self.judged.entry(a.to_owned()).or_default().insert(b.to_owned(), judgment);
        }
    }

    fn forget(&mut self, a: &str, b: &str) {
        for (a, b) in [(a, b), (b, a)] {
            if let Some(others) = self.judged.get_mut(a) {
                others.remove(b);
            }
        }
    }

    /// What is decided about a keeper and a duplicate of it, without the decisions about texts that
    /// have changed since.
    pub(crate) fn of_pair(
        &self,
        keeper: &str,
        duplicate: &str,
        changed: &HashSet<u64>,
    ) -> Option<Judgment> {
        let judged = self.judged.get(keeper).and_then(|others| others.get(duplicate));
        match judged.filter(|(_, number)| !changed.contains(number)) {
            Some((true, _)) => Some(Judgment::Duplicate),
            Some((false, _)) => Some(Judgment::NotDuplicate),
            None => self.is_kept(duplicate, changed).then_some(Judgment::Keep),
        }
    }

    /// Whether a document is kept.
    pub(crate) fn is_kept(&self, id: &str, changed: &HashSet<u64>) -> bool {
        self.kept.get(id).is_some_and(|number| !changed.contains(number))
    }

    /// The hashes of documents that decisions after this one are about.
    pub(crate) fn touched_after(&self, last: u64) -> impl Iterator<Item = u64> {
        let from = self.touched.partition_point(|(number, _)| *number <= last);
        self.touched[from..].iter().map(|(_, hash)| *hash)
    }
}

/// The hash of an id.
pub(crate) fn id_hash(id: &str) -> u64 {
    token_hash(id.as_bytes())
}

fn problem(error: Error) -> Problem {
    match error {
        Error::Index(error) => error.into(),
        error => {
            IndexError::Damaged { what: "the log of decisions".to_owned(), why: error.to_string() }
                .into()
        }
    }
}
