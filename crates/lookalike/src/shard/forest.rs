//! Connected documents: edges in, a spanning forest out, whose trees are stars around their least
//! nodes.

use lookalike_core::disjoint_sets::DisjointSets;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A document and the least node of its component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// The least node of the component, which names it.
    pub component: u64,
    /// Another node of the component.
    pub node: u64,
}

/// Joins edges, those of other forests among them, to one forest: an [`Edge`] for each node that
/// is not the least of its component, sorted. The same set of connected nodes gives the same
/// forest, whatever its edges. O(edges), some 60 bytes for each node.
///
/// ```
/// use lookalike::shard::{Edge, merge};
///
/// let forest = merge([(7, 3), (9, 4), (3, 9)]);
/// assert_eq!(forest.iter().map(|edge| (edge.component, edge.node)).collect::<Vec<_>>(),
///            [(3, 4), (3, 7), (3, 9)]);
/// ```
pub fn merge(edges: impl IntoIterator<Item = (u64, u64)>) -> Vec<Edge> {
    let mut forest = merge_with_roots(edges);
    forest.retain(|edge| edge.component != edge.node);
    forest
}

/// As [`merge`], with an edge from each component to itself. A node that has an edge to itself
/// alone is a component.
pub fn merge_with_roots(edges: impl IntoIterator<Item = (u64, u64)>) -> Vec<Edge> {
    let mut nodes = NodeNumbers::default();
    let numbered: Vec<(u32, u32)> =
        edges.into_iter().map(|(a, b)| (nodes.number(a), nodes.number(b))).collect();
    let mut sets = DisjointSets::new(nodes.names.len());
    for (a, b) in numbered {
        sets.join(a, b);
    }
    let mut least = nodes.names.clone();
    for number in 0..nodes.names.len() as u32 {
        let first = sets.first(number) as usize;
        least[first] = least[first].min(nodes.names[number as usize]);
    }
    let edge = |number: u32| {
        let (component, node) = (least[sets.first(number) as usize], nodes.names[number as usize]);
        Edge { component, node }
    };
    let mut forest: Vec<Edge> = (0..nodes.names.len() as u32).map(edge).collect();
    forest.sort_unstable();
    forest
}

/// Numbers nodes as they occur.
#[derive(Default)]
struct NodeNumbers {
    numbers: HashMap<u64, u32, BuildHasherDefault<NodeHasher>>,
    names: Vec<u64>,
}

impl NodeNumbers {
    fn number(&mut self, node: u64) -> u32 {
        *self.numbers.entry(node).or_insert_with(|| {
            self.names.push(node);
            (self.names.len() - 1) as u32
        })
    }
}

/// Nodes are hashes; one multiplication spreads those of callers that number their documents.
#[derive(Default)]
struct NodeHasher(u64);

impl Hasher for NodeHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(self.0 ^ u64::from(*byte));
        }
    }

    fn write_u64(&mut self, node: u64) {
        let product = u128::from(node) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Components by repeated relabelling.
    fn naive(edges: &[(u64, u64)]) -> Vec<Edge> {
        let mut names: BTreeMap<u64, u64> =
            edges.iter().flat_map(|(a, b)| [(*a, *a), (*b, *b)]).collect();
        for _ in 0..names.len() {
            for (a, b) in edges {
                let least = names[a].min(names[b]);
                names.insert(*a, least);
                names.insert(*b, least);
            }
        }
        let mut forest: Vec<Edge> = names
            .into_iter()
            .filter(|(node, component)| node != component)
            .map(|(node, component)| Edge { component, node })
            .collect();
        forest.sort_unstable();
        forest
    }

    proptest! {
        #[test]
        fn a_forest_has_the_components_of_its_edges(
            edges in prop::collection::vec((0..40u64, 0..40u64), 0..60),
            cut in 0..60usize,
        ) {
            let whole = merge(edges.iter().copied());
            prop_assert_eq!(&whole, &naive(&edges));
            let (left, right) = edges.split_at(cut.min(edges.len()));
            let parts = [left, right].map(|part| merge(part.iter().copied()));
            let pairs = parts.iter().flatten().map(|edge| (edge.component, edge.node));
            prop_assert_eq!(merge(pairs), whole);
        }
    }
}
