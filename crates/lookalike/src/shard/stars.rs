//! Finds components of a graph that is larger than a task, in rounds. Each round connects the
//! neighbours of a node with the smallest of them, and nodes with the neighbours of their
//! neighbours, until every component is a star around its smallest node (alternating stars, Kiveris
//! et al. 2014).
//!
//! An edge is in the part of its greater node, and its smaller node comes first. So a node with
//! many greater neighbours does not make a part large: each part requests that node's smallest
//! neighbour once.
//!
//! ```text
//! Request   edges             → edges, and a request to the part of each edge's smaller node
//! Reply     edges, requests   → edges, and the smallest neighbour of these nodes as replies
//! Join      edges, replies    → edges to these neighbours; neighbours of one node are connected
//! ```

use super::block::{Membership, ShardBlock};
use super::forest::Edge;
use super::keys::{PartBlock, part_of};
use crate::engine::ids::Node;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// A step of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StarStep {
    /// The first step.
    Request,
    /// The second step.
    Reply,
    /// The last step.
    Join,
}

/// The output of a task of a step.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct StarRows {
    /// The input of the next step, by part.
    pub blocks: Vec<PartBlock>,
    /// The number of edges that are not part of a star yet, after [`StarStep::Join`]. If it is 0 in
    /// all tasks, the edges of all tasks show the components: an edge leads from the smallest node
    /// of a component to each of its nodes, including itself. Some edges are repeated. A node that
    /// was connected only with itself is also a component.
    pub unsettled: u64,
}

/// Runs a task of a step on the rows of one or several parts. Takes O(n log n) time for n rows.
pub fn star_step(step: StarStep, mut rows: ShardBlock, parts: NonZeroU32) -> StarRows {
    let mut out = PartRows { parts, blocks: BTreeMap::new(), unsettled: 0 };
    for edge in &mut rows.edges {
        let Edge { component, node } = *edge;
        *edge = Edge { component: component.min(node), node: component.max(node) };
    }
    rows.edges.sort_unstable_by_key(|edge| (edge.node, edge.component));
    rows.edges.dedup();
    match step {
        StarStep::Request => out.request(&rows),
        StarStep::Reply => out.reply(rows),
        StarStep::Join => out.join(rows),
    }
    let encode = |(part, block): (u32, ShardBlock)| PartBlock { part, rows: block.encode() };
    let blocks = out.blocks.into_iter().map(encode).collect();
    StarRows { blocks, unsettled: out.unsettled }
}

struct PartRows {
    parts: NonZeroU32,
    blocks: BTreeMap<u32, ShardBlock>,
    unsettled: u64,
}

impl PartRows {
    fn push_edge(&mut self, edge: Edge) {
        let part = part_of(edge.node.0, self.parts);
        self.blocks.entry(part).or_default().edges.push(edge);
    }

    /// Sends a message about a node to a part. The message is a node, or the number of a part.
    fn push_message(&mut self, part: u32, about: Node, message: Node) {
        let membership = Membership { key: about.0, node: message };
        self.blocks.entry(part).or_default().memberships.push(membership);
    }

    fn request(&mut self, rows: &ShardBlock) {
        let mut questions = Vec::new();
        for edge in &rows.edges {
            self.push_edge(*edge);
            if edge.component != edge.node {
                questions.push((edge.component, part_of(edge.node.0, self.parts)));
            }
        }
        questions.sort_unstable();
        questions.dedup();
        for (node, part) in questions {
            self.push_message(part_of(node.0, self.parts), node, Node(part.into()));
        }
    }

    fn reply(&mut self, rows: ShardBlock) {
        for Membership { key, node: part } in rows.memberships {
            let about = Node(key);
            let first = rows.edges.partition_point(|edge| edge.node < about);
            let is_least = |edge: &&Edge| edge.node == about && edge.component < edge.node;
            if let Some(edge) = rows.edges.get(first).filter(is_least) {
                self.push_message(part.0 as u32, about, edge.component);
            }
        }
        for edge in rows.edges {
            self.push_edge(edge);
        }
    }

    fn join(&mut self, mut rows: ShardBlock) {
        rows.memberships.sort_unstable();
        let least_of = |node: Node| {
            let at = rows.memberships.binary_search_by_key(&node.0, |reply| reply.key);
            at.map_or(node, |at| rows.memberships[at].node)
        };
        for Edge { component: least, node } in &mut rows.edges {
            let further = if least == node { *least } else { least_of(*least) };
            self.unsettled += u64::from(further != *least);
            *least = further;
        }
        rows.edges.sort_unstable_by_key(|edge| (edge.node, edge.component));
        rows.edges.dedup();
        let mut roots = Vec::new();
        for edges in rows.edges.chunk_by(|a, b| a.node == b.node) {
            let root = edges[0].component;
            self.push_edge(edges[0]);
            roots.push(root);
            for other in edges[1..].iter().filter(|edge| edge.component != edge.node) {
                self.push_edge(Edge { component: root, node: other.component });
                self.unsettled += 1;
            }
        }
        roots.sort_unstable();
        roots.dedup();
        for root in roots {
            self.push_edge(Edge { component: root, node: root });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shard::forest::merge_with_roots;
    use proptest::prelude::*;

    /// Runs rounds until all edges are settled. Returns the number of rounds, and the edges.
    fn components(edges: &[Edge], parts: u32) -> (u32, Vec<Edge>) {
        let parts = NonZeroU32::new(parts).unwrap();
        let mut blocks: BTreeMap<u32, ShardBlock> = BTreeMap::new();
        for edge in edges {
            let greater = edge.component.max(edge.node);
            blocks.entry(part_of(greater.0, parts)).or_default().edges.push(*edge);
        }
        for round in 1.. {
            let mut unsettled = 0;
            for step in [StarStep::Request, StarStep::Reply, StarStep::Join] {
                let mut next: BTreeMap<u32, ShardBlock> = BTreeMap::new();
                for rows in blocks.into_values() {
                    let outcome = star_step(step, rows, parts);
                    unsettled += outcome.unsettled;
                    for PartBlock { part, rows } in outcome.blocks {
                        next.entry(part).or_default().decode_into(&rows).unwrap();
                    }
                }
                blocks = next;
            }
            if unsettled == 0 {
                let mut all: Vec<_> = blocks.into_values().flat_map(|block| block.edges).collect();
                all.sort_unstable();
                all.dedup();
                return (round, all);
            }
        }
        unreachable!("rounds have no end")
    }

    fn expected(edges: &[Edge]) -> Vec<Edge> {
        merge_with_roots(edges.iter().copied())
    }

    /// Spreads numbers over parts like hashes.
    fn spread(number: u64) -> u64 {
        number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    #[test]
    fn a_chain_takes_few_rounds() {
        let chain: Vec<_> = (0..2_000).map(|at| Edge::new(spread(at), spread(at + 1))).collect();
        let (rounds, edges) = components(&chain, 16);
        assert_eq!(edges, expected(&chain));
        assert!(rounds <= 14, "{rounds}");
        let ascending: Vec<_> = (0..2_000).map(|at| Edge::new(at << 50, (at + 1) << 50)).collect();
        let (rounds, edges) = components(&ascending, 16);
        assert_eq!(edges, expected(&ascending));
        assert!(rounds <= 14, "{rounds}");
    }

    #[test]
    fn hubs_make_no_part_large() {
        let parts = NonZeroU32::new(64).unwrap();
        let edges = (1..64_000).map(|at| Edge::new(7, spread(at) | 1 << 20)).collect();
        let rows = ShardBlock { edges, ..ShardBlock::default() };
        let outcome = star_step(StarStep::Request, rows, parts);
        let largest = outcome.blocks.iter().map(|block| block.rows.len()).max().unwrap();
        assert!(largest < 64_000 / 64 * 16 * 2, "{largest}");
    }

    proptest! {
        #[test]
        fn rounds_find_the_components(
            edges in prop::collection::vec((0..60u64, 0..60u64), 0..90),
            parts in 1..9u32,
        ) {
            let edge = |(a, b): &(u64, u64)| Edge::new(spread(*a), spread(*b));
            let edges: Vec<_> = edges.iter().map(edge).collect();
            let (_, found) = components(&edges, parts);
            prop_assert_eq!(found, expected(&edges));
        }
    }
}
