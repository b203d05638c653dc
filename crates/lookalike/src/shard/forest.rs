//! Reduces edges to a spanning forest, whose trees are stars around their smallest nodes.

use crate::engine::ids::Node;
use lookalike_core::disjoint_sets::DisjointSets;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Two connected documents. In a forest, one of them is the smallest node of the component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// The smallest node of the component, which identifies it.
    pub component: Node,
    /// Another node of the component.
    pub node: Node,
}

impl Edge {
    /// Creates an edge between the nodes with these bits.
    pub const fn new(component: u64, node: u64) -> Self {
        Self { component: Node(component), node: Node(node) }
    }
}

/// Joins edges, which may come from other forests, to one forest. The forest is sorted, and has an
/// [`Edge`] for each node that is not the smallest of its component. It depends only on the sets of
/// connected nodes, not on the edges between them. Takes O(edges + nodes · log(nodes)) time, and
/// some 60 bytes per node.
///
/// ```
/// use lookalike::shard::{Edge, merge};
///
/// let forest = merge([Edge::new(7, 3), Edge::new(9, 4), Edge::new(3, 9)]);
/// assert_eq!(forest, [Edge::new(3, 4), Edge::new(3, 7), Edge::new(3, 9)]);
/// ```
pub fn merge(edges: impl IntoIterator<Item = Edge>) -> Vec<Edge> {
    let mut forest = merge_with_roots(edges);
    forest.retain(|edge| edge.component != edge.node);
    forest
}

/// Like [`merge`], but also returns an edge from the smallest node of each component to itself. A
/// node whose only edge leads to itself is a component.
pub fn merge_with_roots(edges: impl IntoIterator<Item = Edge>) -> Vec<Edge> {
    let mut nodes = NodeNumbers::default();
    let numbered: Vec<(u32, u32)> = edges
        .into_iter()
        .map(|edge| (nodes.number(edge.component), nodes.number(edge.node)))
        .collect();
    let mut sets = DisjointSets::new(nodes.names.len());
    for (a, b) in numbered {
        sets.join(a, b);
    }
    let mut least = nodes.names.clone();
    for number in 0..nodes.names.len() as u32 {
        let first = sets.first(number) as usize;
        least[first] = least[first].min(nodes.names[number as usize]);
    }
    let edge = |number: u32| Edge {
        component: least[sets.first(number) as usize],
        node: nodes.names[number as usize],
    };
    let mut forest: Vec<Edge> = (0..nodes.names.len() as u32).map(edge).collect();
    forest.sort_unstable();
    forest
}

/// Numbers nodes in the order of their first occurrence.
#[derive(Default)]
struct NodeNumbers {
    numbers: HashMap<Node, u32, BuildHasherDefault<NodeHasher>>,
    names: Vec<Node>,
}

impl NodeNumbers {
    fn number(&mut self, node: Node) -> u32 {
        *self.numbers.entry(node).or_insert_with(|| {
            self.names.push(node);
            (self.names.len() - 1) as u32
        })
    }
}

/// Nodes are usually hashes. The multiplication also spreads the nodes of callers that number their
/// documents.
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

    /// Finds components by repeated relabelling.
    fn naive(edges: &[Edge]) -> Vec<Edge> {
        let nodes = edges.iter().flat_map(|edge| [edge.component, edge.node]);
        let mut names: BTreeMap<Node, Node> = nodes.map(|node| (node, node)).collect();
        for _ in 0..names.len() {
            for Edge { component, node } in edges {
                let least = names[component].min(names[node]);
                names.insert(*component, least);
                names.insert(*node, least);
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
        fn forest_keeps_edge_components(
            edges in prop::collection::vec((0..40u64, 0..40u64), 0..60),
            cut in 0..60usize,
        ) {
            let edges: Vec<Edge> = edges.iter().map(|(a, b)| Edge::new(*a, *b)).collect();
            let whole = merge(edges.iter().copied());
            prop_assert_eq!(&whole, &naive(&edges));
            let (left, right) = edges.split_at(cut.min(edges.len()));
            let parts = [left, right].map(|part| merge(part.iter().copied()));
            prop_assert_eq!(merge(parts.into_iter().flatten()), whole);
        }
    }
}
