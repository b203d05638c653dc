//! What is judged about the members of one component, by their positions.

use crate::engine::link::judged_documents::JudgedDocuments;
use std::collections::{HashMap, HashSet};

/// Judgments about members.
#[derive(Debug, Default)]
pub(crate) struct ComponentJudgments {
    separated: HashMap<u32, Vec<u32>>,
    /// Pairs of duplicates, the earlier member first.
    joined: HashSet<(u32, u32)>,
}

impl ComponentJudgments {
    /// Of members whose documents are at these places.
    pub(crate) fn new(judged: &JudgedDocuments, members: &[u32]) -> Self {
        let mut found = Self::default();
        if judged.is_empty() {
            return found;
        }
        let all = members.iter().copied().zip(0u32..);
        let named: Vec<(u32, u32)> = all.filter(|(place, _)| judged.has(*place)).collect();
        let positions: HashMap<u32, u32> = named.iter().copied().collect();
        let at = |places: &[u32]| -> Vec<u32> {
            places.iter().filter_map(|place| positions.get(place).copied()).collect()
        };
        for (place, position) in named {
            let separated = at(judged.separated(place));
            if !separated.is_empty() {
                found.separated.insert(position, separated);
            }
            let later = at(judged.joined(place)).into_iter().filter(|other| position < *other);
            found.joined.extend(later.map(|other| (position, other)));
        }
        found
    }

    /// The pairs of duplicates, the earlier member first; sorted.
    pub(crate) fn joined_pairs(&self) -> Vec<(u32, u32)> {
        let mut pairs: Vec<(u32, u32)> = self.joined.iter().copied().collect();
        pairs.sort_unstable();
        pairs
    }

    /// The members that are no duplicates of this one.
    pub(crate) fn separated(&self, member: u32) -> &[u32] {
        self.separated.get(&member).map_or(&[], Vec::as_slice)
    }

    /// Whether some members are no duplicates of each other.
    pub(crate) fn has_separated(&self) -> bool {
        !self.separated.is_empty()
    }

    /// Whether two members are no duplicates.
    pub(crate) fn are_separated(&self, a: u32, b: u32) -> bool {
        self.separated(a).contains(&b)
    }

    /// Whether two members, in any order, are duplicates.
    pub(crate) fn are_joined(&self, a: u32, b: u32) -> bool {
        self.joined.contains(&(a.min(b), a.max(b)))
    }
}
