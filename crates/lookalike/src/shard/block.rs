//! Packed rows of the stage `keys`: one block for each part and flush. A row for each bucket would
//! cost an engine more than the work on the row.

use super::forest::Edge;
use crate::engine::ids::Node;
use std::fmt;

/// The first bytes of a block.
pub const BLOCK_VERSION: [u8; 4] = *b"lkb1";

/// Bytes before the rows.
const HEADER: usize = 16;
/// Bytes of a membership and of an edge.
const PAIR: usize = 16;
/// Bytes of an identity.
const IDENTITY: usize = 24;

/// A document in a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Membership {
    /// The key of the bucket, which includes the number of its band.
    pub key: u64,
    /// The document.
    pub node: Node,
}

/// A document that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIdentity {
    /// The document.
    pub node: Node,
    /// The lower half of its fingerprint, which is compared in the second reading.
    pub check: u64,
    /// The length of its text in bytes.
    pub bytes: u64,
}

/// Rows of one part. The encoding consists of `lkb1`, the numbers of memberships, edges and
/// identities as `u32`, and then the fields of these rows as `u64`, all little-endian.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShardBlock {
    /// Memberships of documents in the buckets of the part.
    pub memberships: Vec<Membership>,
    /// Documents that share a bucket.
    pub edges: Vec<Edge>,
    /// Documents whose nodes belong to the part.
    pub identities: Vec<NodeIdentity>,
}

impl ShardBlock {
    /// Whether the block is empty.
    pub fn is_empty(&self) -> bool {
        self.memberships.is_empty() && self.edges.is_empty() && self.identities.is_empty()
    }

    /// Encodes the block in 16 bytes, plus 16 for each membership or edge and 24 for each identity.
    ///
    /// # Panics
    /// If one kind has 2³² rows or more. A flush never has that many.
    pub fn encode(&self) -> Vec<u8> {
        let counts = [self.memberships.len(), self.edges.len(), self.identities.len()];
        let rows = PAIR * (counts[0] + counts[1]) + IDENTITY * counts[2];
        let mut out = Vec::with_capacity(HEADER + rows);
        out.extend(BLOCK_VERSION);
        for count in counts {
            assert!(u32::try_from(count).is_ok(), "a flush has fewer than 2³² rows");
            out.extend((count as u32).to_le_bytes());
        }
        for Membership { key, node } in &self.memberships {
            put(&mut out, [*key, node.0]);
        }
        for Edge { component, node } in &self.edges {
            put(&mut out, [component.0, node.0]);
        }
        for NodeIdentity { node, check, bytes } in &self.identities {
            put(&mut out, [node.0, *check, *bytes]);
        }
        out
    }

    /// Adds the rows of an encoded block.
    ///
    /// # Errors
    /// If the bytes are not a complete block of this version.
    pub fn decode_into(&mut self, bytes: &[u8]) -> Result<(), BlockError> {
        let (header, rows) = bytes
            .split_at_checked(HEADER)
            .ok_or(BlockError::Length { got: bytes.len(), expected: HEADER as u64 })?;
        let (version, counts) = header.split_at(BLOCK_VERSION.len());
        if version != BLOCK_VERSION {
            let got = version.first_chunk().copied().unwrap_or_default();
            return Err(BlockError::Version { got });
        }
        let counts: Vec<usize> = counts
            .chunks_exact(4)
            .map(|count| u32::from_le_bytes(count.try_into().unwrap_or_default()) as usize)
            .collect();
        let ends =
            [counts[0] as u64 * PAIR as u64, (counts[0] as u64 + counts[1] as u64) * PAIR as u64];
        let expected = ends[1] + counts[2] as u64 * IDENTITY as u64;
        if rows.len() as u64 != expected {
            let got = bytes.len();
            let expected = expected + HEADER as u64;
            return Err(BlockError::Length { got, expected });
        }
        let (memberships, rest) = rows.split_at(ends[0] as usize);
        let (edges, identities) = rest.split_at((ends[1] - ends[0]) as usize);
        let membership = |[key, node]: [u64; 2]| Membership { key, node: Node(node) };
        self.memberships.extend(rows_of(memberships).map(membership));
        let edge = |[component, node]: [u64; 2]| Edge::new(component, node);
        self.edges.extend(rows_of(edges).map(edge));
        let identity =
            |[node, check, bytes]: [u64; 3]| NodeIdentity { node: Node(node), check, bytes };
        self.identities.extend(rows_of(identities).map(identity));
        Ok(())
    }
}

/// Bytes that are not a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockError {
    /// The bytes are not a block, or are a block of another version.
    Version {
        /// The first bytes.
        got: [u8; 4],
    },
    /// The length differs from the length in the header.
    Length {
        /// The number of bytes.
        got: usize,
        /// The number of bytes that the header states.
        expected: u64,
    },
}

impl fmt::Display for BlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { got } => write!(
                f,
                "the rows begin with {got:?}, expected {BLOCK_VERSION:?}: they are of another \
                 version of lookalike, or not of its stage keys; run all stages with one version"
            ),
            Self::Length { got, expected } => write!(
                f,
                "the rows have {got} bytes, expected {expected}: they were cut short; run the \
                 stage keys again"
            ),
        }
    }
}

impl std::error::Error for BlockError {}

fn put<const N: usize>(out: &mut Vec<u8>, values: [u64; N]) {
    for value in values {
        out.extend_from_slice(&value.to_le_bytes());
    }
}

/// Iterates over rows of `N` numbers. Ignores an incomplete row at the end.
fn rows_of<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u64; N]> {
    let (numbers, _) = bytes.as_chunks::<8>();
    let (rows, _) = numbers.as_chunks::<N>();
    rows.iter().map(|row| row.map(u64::from_le_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block() -> ShardBlock {
        ShardBlock {
            memberships: vec![
                Membership { key: 1, node: Node(u64::MAX) },
                Membership { key: 2, node: Node(3) },
            ],
            edges: vec![Edge::new(4, 5)],
            identities: vec![NodeIdentity { node: Node(6), check: 7, bytes: 8 }],
        }
    }

    #[test]
    fn shard_blocks_round_trip() {
        let bytes = block().encode();
        assert_eq!(bytes.len(), 16 + 3 * 16 + 24);
        assert_eq!(&bytes[..8], b"lkb1\x02\0\0\0");
        let mut read = ShardBlock::default();
        read.decode_into(&bytes).unwrap();
        assert_eq!(read, block());
        read.decode_into(&bytes).unwrap();
        assert_eq!((read.memberships.len(), read.edges.len(), read.identities.len()), (4, 2, 2));
    }

    #[test]
    fn invalid_shard_blocks_are_errors() {
        let bytes = block().encode();
        let mut block = ShardBlock::default();
        for length in 0..bytes.len() {
            assert!(block.decode_into(&bytes[..length]).is_err(), "{length}");
        }
        let mut other = bytes.clone();
        other[3] = b'2';
        assert_eq!(block.decode_into(&other), Err(BlockError::Version { got: *b"lkb2" }));
        let mut huge = bytes;
        huge[4..16].fill(0xff);
        assert!(matches!(block.decode_into(&huge), Err(BlockError::Length { .. })));
        assert!(block.is_empty());
    }
}
