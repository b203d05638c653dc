//! The groups of a list that are decided about, kept up to date with new decisions.

use crate::caches::decision_cache::{DecisionsInForce, id_hash};
use crate::caches::group::DocumentGroup;
use std::collections::HashSet;

/// The state of the groups of a list. A group is decided about if something is decided about each
/// of its duplicates.
#[derive(Debug)]
pub(crate) struct ReviewProgress {
    /// The last decision that is applied; `None` before the first look.
    last: Option<u64>,
    decided: Vec<bool>,
    /// Groups that are decided about.
    pub(crate) count: usize,
    /// Groups that the list no longer has, because decisions have separated them.
    pub(crate) dissolved: usize,
    /// The number of former keepers among the documents of each group, and their sum.
    former_keepers: Vec<u32>,
    listed_former_keepers: usize,
    /// The hash of the id of each document, and the place of its group; sorted.
    places: Vec<(u64, u32)>,
    /// The decisions about texts that have changed since.
    pub(crate) changed: HashSet<u64>,
}

impl ReviewProgress {
    /// The state of groups of which nothing is known yet.
    pub(crate) fn new(groups: &[DocumentGroup], changed: HashSet<u64>) -> Self {
        let place = |(place, group): (u32, &DocumentGroup)| {
            let ids = group.duplicates.iter().map(|(member, _)| &member.id);
            let hashes = ids.chain([&group.keeper.id]).map(|id| (id_hash(id), place));
            hashes.collect::<Vec<_>>()
        };
        let mut places: Vec<(u64, u32)> = (0..).zip(groups).flat_map(place).collect();
        places.sort_unstable();
        let decided = vec![false; groups.len()];
        Self {
            last: None,
            decided,
            count: 0,
            dissolved: 0,
            former_keepers: vec![0; groups.len()],
            listed_former_keepers: 0,
            places,
            changed,
        }
    }

    /// Applies the decisions that came in since the last look.
    pub(crate) fn update(&mut self, groups: &[DocumentGroup], in_force: &DecisionsInForce) {
        let last = self.last.replace(in_force.last);
        match last.and_then(|last| in_force.touched_after(last)) {
            None => (0..groups.len()).for_each(|place| self.look(place, groups, in_force)),
            Some(hashes) => {
                for place in self.touched(hashes) {
                    self.look(place as usize, groups, in_force);
                }
            }
        }
        self.dissolved = in_force.former_keepers().saturating_sub(self.listed_former_keepers);
    }

    /// Returns the places of the groups of documents, each once. Looking at a group takes time for
    /// each of its duplicates, and many decisions may be about one group.
    fn touched(&self, hashes: impl Iterator<Item = u64>) -> Vec<u32> {
        let mut touched = Vec::new();
        for hash in hashes {
            let from = self.places.partition_point(|(other, _)| *other < hash);
            let own = self.places[from..].iter().take_while(|(other, _)| *other == hash);
            touched.extend(own.map(|(_, place)| *place));
        }
        touched.sort_unstable();
        touched.dedup();
        touched
    }

    fn look(&mut self, place: usize, groups: &[DocumentGroup], in_force: &DecisionsInForce) {
        let Some(group) = groups.get(place) else { return };
        let judgments = in_force.of_group(&group.keeper.id, &self.changed);
        let is_decided =
            group.duplicates.iter().all(|(duplicate, _)| judgments.of(&duplicate.id).is_some());
        let members =
            group.duplicates.iter().map(|(duplicate, _)| duplicate).chain([&group.keeper]);
        let former_keepers =
            members.filter(|member| in_force.is_former_keeper(&member.id)).count() as u32;
        let before = std::mem::replace(&mut self.former_keepers[place], former_keepers);
        self.listed_former_keepers =
            self.listed_former_keepers + former_keepers as usize - before as usize;
        if self.decided[place] != is_decided {
            self.decided[place] = is_decided;
            self.count = if is_decided { self.count + 1 } else { self.count - 1 };
        }
    }

    /// Whether a group is decided about.
    pub(crate) fn is_decided(&self, place: usize) -> bool {
        self.decided.get(place).copied().unwrap_or(false)
    }

    /// Memory in bytes.
    pub(crate) fn memory(&self) -> u64 {
        (self.places.capacity() * size_of::<(u64, u32)>()
            + self.decided.capacity()
            + self.former_keepers.capacity() * size_of::<u32>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touched_groups_are_listed_once() {
        let places = vec![(1, 0), (2, 0), (3, 1), (3, 2), (4, 1)];
        let progress = ReviewProgress { places, ..ReviewProgress::new(&[], HashSet::new()) };
        assert_eq!(progress.touched([2, 1, 1, 2].into_iter()), [0]);
        assert_eq!(progress.touched([4, 3, 9, 2].into_iter()), [0, 1, 2]);
        assert_eq!(progress.touched(std::iter::empty()), [0; 0]);
    }
}
