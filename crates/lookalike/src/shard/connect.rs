//! Reduces all blocks of a part to a forest of its documents, their identities, and the nodes of
//! documents with repeated ids.

use super::block::{BlockError, NodeIdentity, ShardBlock};
use super::forest::{Edge, merge};
use super::keys::BucketRule;
use crate::engine::ids::Node;

/// Collects the blocks of a part. Takes 16 bytes of memory for each bucket of each document, and 24
/// bytes per document.
#[derive(Debug, Default)]
pub struct Connector {
    rows: ShardBlock,
    rule: BucketRule,
}

/// The result of connecting the documents in the blocks of a part.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ConnectedPart {
    /// Edges between documents that share buckets of the part. A node of several documents has an
    /// edge to itself, so that its documents are compared with each other.
    pub forest: Vec<Edge>,
    /// The documents whose nodes belong to the part, by node.
    pub identities: Vec<NodeIdentity>,
    /// Nodes of more than one document, ascending. The ids of these documents are equal, or their
    /// hashes collide.
    pub repeated: Vec<Node>,
}

impl Connector {
    /// Creates a connector for buckets with this rule. By default, all documents of a bucket are
    /// connected.
    pub fn new(rule: BucketRule) -> Self {
        Self { rows: ShardBlock::default(), rule }
    }

    /// Adds an encoded block.
    ///
    /// # Errors
    /// If the bytes are not a block.
    pub fn add(&mut self, block: &[u8]) -> Result<(), BlockError> {
        self.rows.decode_into(block)
    }

    /// Connects the documents of all added blocks. Takes O(n log n) time for n rows.
    pub fn finish(self) -> ConnectedPart {
        let ShardBlock { mut memberships, edges, mut identities } = self.rows;
        memberships.sort_unstable();
        let connected = self.rule.buckets(&memberships).filter(|(_, is_connected)| *is_connected);
        let shared = connected.flat_map(|(bucket, _)| {
            let component = bucket[0].node;
            bucket[1..].iter().map(move |member| Edge { component, node: member.node })
        });
        let shared = shared.filter(|edge| edge.component != edge.node);
        let mut forest = merge(edges.into_iter().chain(shared));
        identities.sort_unstable();
        let equal = identities.chunk_by(|a, b| a.node == b.node).filter(|same| same.len() > 1);
        let repeated: Vec<Node> = equal.map(|same| same[0].node).collect();
        forest.extend(repeated.iter().map(|node| Edge { component: *node, node: *node }));
        ConnectedPart { forest, identities, repeated }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shard::block::Membership;

    #[test]
    fn connector_reports_forest_and_repeated_nodes() {
        let member = |key, node| Membership { key, node: Node(node) };
        let identity = |node, check| NodeIdentity { node: Node(node), check, bytes: 1 };
        let first = ShardBlock {
            memberships: vec![member(1, 10), member(2, 30)],
            edges: vec![Edge::new(50, 40)],
            identities: vec![identity(10, 1), identity(30, 2)],
        };
        let second = ShardBlock {
            memberships: vec![member(1, 20), member(3, 60), member(2, 40)],
            edges: vec![],
            identities: vec![identity(10, 3), identity(20, 4)],
        };
        let mut connector = Connector::default();
        connector.add(&second.encode()).unwrap();
        connector.add(&first.encode()).unwrap();
        let connected = connector.finish();
        let forest = [Edge::new(10, 20), Edge::new(30, 40), Edge::new(30, 50), Edge::new(10, 10)];
        assert_eq!(connected.forest, forest);
        let identities = [identity(10, 1), identity(10, 3), identity(20, 4), identity(30, 2)];
        assert_eq!(connected.identities, identities);
        assert_eq!(connected.repeated, [Node(10)]);
    }
}
