//! Removes decisions that are no longer in force from the log of an index.

use super::decision::{Judgment, ReviewDecision};
use super::error::DecisionError;
use super::log::each_of_index;
use lookalike_index::index::Index;
use std::collections::{BTreeSet, HashMap};

/// Counts of the entries of a compacted log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CompactedLog {
    /// Entries that were removed.
    pub removed: u64,
    /// Remaining entries.
    pub left: u64,
}

/// The last decisions about a pair.
#[derive(Debug, Default)]
struct PairEntries {
    /// The number of the last decision, and whether it is a judgment.
    last: (u64, bool),
    /// The number of the last judgment of each person who did not revoke it.
    people: HashMap<String, u64>,
}

/// The entries of a log that its readers need.
#[derive(Debug, Default)]
struct NeededEntries {
    pairs: HashMap<[String; 2], PairEntries>,
    /// The last decision about each document, and whether it is kept.
    documents: HashMap<String, (u64, bool)>,
}

/// Removes decisions from the log of an index if a later decision about the same pair or document
/// replaces or revokes them. Groups and agreement do not change, because the last judgment of each
/// person about each pair is kept. The remaining decisions keep their numbers. Memory: the ids of
/// the documents in the log.
///
/// # Errors
/// Read and write errors of the index, and an entry that is not a decision.
pub fn compact_log(index: &Index) -> Result<CompactedLog, DecisionError> {
    let mut all = Vec::new();
    let mut found = NeededEntries::default();
    each_of_index(index, 0, &mut |decision| {
        all.push(decision.line);
        found.add(decision);
    })?;
    let last = all.last().copied().unwrap_or(0);
    let mut needed = found.judgments();
    needed.extend(all.last());
    // A needed decision about several documents may be revoked for some of them. The log then also
    // needs the revocations. Entries added meanwhile are not removed.
    let mut revoked = Vec::new();
    each_of_index(index, 0, &mut |decision| {
        if decision.line <= last && needed.contains(&decision.line) {
            revoked.extend(found.revocations(&decision));
        }
    })?;
    needed.extend(revoked);
    let before = all.len() as u64;
    all.retain(|number| !needed.contains(number));
    let removed = if all.is_empty() { 0 } else { index.remove_decisions(&all)? };
    Ok(CompactedLog { removed, left: before - removed })
}

impl NeededEntries {
    /// Adds the next entry of the log.
    fn add(&mut self, decision: ReviewDecision) {
        let ReviewDecision { judgment, mut documents, who, line, .. } = decision;
        let is_judgment = judgment != Judgment::Undecided;
        let is_pair = !matches!(judgment, Judgment::Keep | Judgment::KeepAll);
        documents.sort_unstable();
        match <[String; 2]>::try_from(documents) {
            Ok(pair) if is_pair => {
                let entries = self.pairs.entry(pair).or_default();
                entries.last = (line, is_judgment);
                match who {
                    Some(who) if is_judgment => drop(entries.people.insert(who, line)),
                    Some(who) => drop(entries.people.remove(&who)),
                    None => {}
                }
            }
            Ok(documents) => self.documents.extend(documents.map(|id| (id, (line, true)))),
            Err(documents) => {
                self.documents.extend(documents.into_iter().map(|id| (id, (line, is_judgment))));
            }
        }
    }

    /// Returns the numbers of the entries in force, of each person's last judgment about each pair,
    /// and of the last entry about such a pair, even if it is a revocation.
    fn judgments(&self) -> BTreeSet<u64> {
        let mut needed = BTreeSet::new();
        #[expect(clippy::iter_over_hash_type, reason = "a sorted set is filled")]
        for PairEntries { last: (last, is_judgment), people } in self.pairs.values() {
            needed.extend(people.values());
            if *is_judgment || !people.is_empty() {
                needed.insert(*last);
            }
        }
        let kept = self.documents.values().filter(|(_, is_kept)| *is_kept);
        needed.extend(kept.map(|(number, _)| number));
        needed
    }

    /// The entries that revoke a part of a decision.
    fn revocations(&self, decision: &ReviewDecision) -> Vec<u64> {
        if !matches!(decision.judgment, Judgment::Keep | Judgment::KeepAll) {
            return Vec::new();
        }
        let last = decision.documents.iter().filter_map(|id| self.documents.get(id));
        let later = last.filter(|(number, is_kept)| !is_kept && *number > decision.line);
        later.map(|(number, _)| *number).collect()
    }
}
