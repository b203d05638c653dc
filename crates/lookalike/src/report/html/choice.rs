//! Chooses, from a stream of pairs, the few pairs that a page shows side by side. The chosen pairs
//! are spread evenly over the similarities that occur. They do not depend on the order of the
//! stream.

use crate::engine::DocumentNumber;
use lookalike_core::hash;
use std::collections::BTreeMap;

/// The number of steps of similarity.
const STEPS: u32 = 100;

/// Collects pairs. Holds at most `most` pairs for each hundredth of similarity.
#[derive(Debug, Clone)]
pub(in crate::report) struct SampleChoice {
    most: usize,
    /// Pairs by hundredths of similarity. Each list is ordered by a hash of the ids, so that no
    /// pair is preferred, and then by the ids.
    steps: BTreeMap<u32, Vec<(u64, ChosenPair)>>,
}

/// A pair that was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::report) struct ChosenPair {
    /// The id of the keeper.
    pub(in crate::report) keeper: String,
    /// The id of the duplicate.
    pub(in crate::report) duplicate: String,
    /// Their similarity in millionths, 0 to 1,000,000.
    pub(in crate::report) similarity: u32,
    /// The numbers of both documents.
    pub(in crate::report) documents: [DocumentNumber; 2],
}

impl SampleChoice {
    /// Creates a collector that chooses `most` pairs.
    pub(in crate::report) fn new(most: usize) -> Self {
        Self { most, steps: BTreeMap::new() }
    }

    /// Considers a pair. Copies the ids only if the pair is held.
    pub(in crate::report) fn offer(
        &mut self,
        keeper: &str,
        duplicate: &str,
        similarity: u32,
        documents: [DocumentNumber; 2],
    ) {
        let ids = hash::mix64(hash::token_hash(keeper.as_bytes()));
        let hash = hash::mix64(ids ^ hash::token_hash(duplicate.as_bytes()));
        let step = self.steps.entry((similarity / (1_000_000 / STEPS)).min(STEPS)).or_default();
        let place = step.partition_point(|(other, pair)| {
            (*other, &*pair.keeper, &*pair.duplicate) < (hash, keeper, duplicate)
        });
        if place >= self.most {
            return;
        }
        let keeper = keeper.to_owned();
        let duplicate = duplicate.to_owned();
        step.insert(place, (hash, ChosenPair { keeper, duplicate, similarity, documents }));
        step.truncate(self.most);
    }

    /// Returns the chosen pairs, the least similar first. Pairs of similarity 1 show no difference,
    /// so they are chosen only in the absence of other pairs.
    pub(in crate::report) fn chosen(mut self) -> Vec<ChosenPair> {
        if self.steps.len() > 1 {
            self.steps.remove(&STEPS);
        }
        let mut steps: Vec<_> = self.steps.into_values().map(Vec::into_iter).collect();
        let mut chosen: Vec<ChosenPair> = Vec::new();
        while chosen.len() < self.most && !steps.is_empty() {
            let remaining = self.most - chosen.len();
            let count = steps.len();
            for at in 0..remaining.min(count) {
                // Spread evenly over the steps, including the first and the last.
                let place =
                    if remaining >= count { at } else { at * (count - 1) / (remaining - 1).max(1) };
                let next = steps.get_mut(place).and_then(Iterator::next);
                chosen.extend(next.map(|(_, pair)| pair));
            }
            steps.retain(|step| step.len() > 0);
        }
        let key = |pair: &ChosenPair| (pair.similarity, pair.keeper.clone());
        chosen.sort_by_cached_key(|pair| (key(pair), pair.duplicate.clone()));
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn choose(most: usize, pairs: &[(u32, u32)]) -> Vec<ChosenPair> {
        let mut choice = SampleChoice::new(most);
        for (id, similarity) in pairs {
            choice.offer(
                &format!("k{id}"),
                &format!("d{id}"),
                *similarity,
                [DocumentNumber(*id); 2],
            );
        }
        choice.chosen()
    }

    #[test]
    fn chosen_pairs_span_the_similarities() {
        let pairs: Vec<_> = (0..20_000).map(|id| (id, 800_000 + id * 10)).collect();
        let found: Vec<u32> = choose(5, &pairs).iter().map(|p| p.similarity / 10_000).collect();
        assert_eq!(found, [80, 84, 89, 94, 99]);
        assert_eq!(choose(3, &[(1, 1_000_000), (2, 1_000_000)]).len(), 2);
        assert_eq!(choose(3, &[(1, 1_000_000), (2, 900_000)]).len(), 1);
        assert!(choose(0, &pairs).is_empty() && choose(9, &[]).is_empty());
    }

    proptest! {
        #[test]
        fn the_order_does_not_matter(
            most in 0usize..9,
            pairs in prop::collection::btree_map(0u32..500, 0u32..=1_000_000, 0..60),
        ) {
            let pairs: Vec<(u32, u32)> = pairs.into_iter().collect();
            let backwards: Vec<_> = pairs.iter().rev().copied().collect();
            let found = choose(most, &pairs);
            prop_assert_eq!(&found, &choose(most, &backwards));
            let unequal = pairs.iter().filter(|pair| pair.1 < 1_000_000).count();
            let possible = if unequal == 0 { pairs.len() } else { unequal };
            prop_assert_eq!(found.len(), most.min(possible));
            prop_assert!(found.is_sorted_by_key(|pair| pair.similarity));
        }
    }
}
