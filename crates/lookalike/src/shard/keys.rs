//! Documents in, packed rows for each part out.

use super::block::{Membership, NodeIdentity, ShardBlock};
use super::forest::merge;
use crate::find::FindOptions;
use crate::find::shingles::ShingleCutter;
use crate::read::Document;
use lookalike_core::band;
use lookalike_core::signature::Signer;
use std::num::NonZeroU32;

/// Memberships that are held before a flush: 16 MiB of them.
const FLUSH: usize = 1 << 20;

/// The part that a key or a node belongs to: those of one part are a range.
pub fn part_of(hash: u64, parts: NonZeroU32) -> u32 {
    ((u128::from(hash) * u128::from(parts.get())) >> 64) as u32
}

/// An encoded [`ShardBlock`], and the part that it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartBlock {
    /// The part, below the number of parts.
    pub part: u32,
    /// The block.
    pub rows: Vec<u8>,
}

/// Collects the bucket keys and identities of documents as rows for each part.
///
/// Where documents of one flush share a bucket, one of them is a member of it and the others are
/// connected to it here. So a bucket has at most one row of a flush, however many documents it has.
pub(crate) struct MembershipCollector {
    parts: NonZeroU32,
    memberships: Vec<Membership>,
    identities: Vec<NodeIdentity>,
}

impl MembershipCollector {
    pub(crate) fn new(parts: NonZeroU32) -> Self {
        Self { parts, memberships: Vec::new(), identities: Vec::new() }
    }

    /// Adds a document.
    pub(crate) fn add(&mut self, identity: NodeIdentity) {
        self.identities.push(identity);
    }

    /// Adds the bucket keys of a document with a token.
    pub(crate) fn add_keys(&mut self, node: u64, keys: impl IntoIterator<Item = u64>) {
        self.memberships.extend(keys.into_iter().map(|key| Membership { key, node }));
    }

    /// Whether it is time to [`flush`](Self::flush).
    pub(crate) fn is_full(&self) -> bool {
        self.memberships.len() >= FLUSH || self.identities.len() >= FLUSH
    }

    /// The rows that were collected, for each part that has any.
    pub(crate) fn flush(&mut self) -> Vec<PartBlock> {
        let mut blocks = vec![ShardBlock::default(); self.parts.get() as usize];
        let mut memberships = std::mem::take(&mut self.memberships);
        memberships.sort_unstable();
        let mut connected = Vec::new();
        for bucket in memberships.chunk_by(|a, b| a.key == b.key) {
            let part = part_of(bucket[0].key, self.parts);
            blocks[part as usize].memberships.push(bucket[0]);
            let others = bucket[1..].iter().map(|member| member.node);
            connected.extend(
                others.filter(|node| *node != bucket[0].node).map(|node| (bucket[0].node, node)),
            );
        }
        for edge in merge(connected) {
            let part = part_of(edge.component, self.parts);
            blocks[part as usize].edges.push((edge.component, edge.node));
        }
        for identity in self.identities.drain(..) {
            blocks[part_of(identity.node, self.parts) as usize].identities.push(identity);
        }
        let numbered = (0..).zip(blocks).filter(|(_, block)| !block.is_empty());
        numbered.map(|(part, block)| PartBlock { part, rows: block.encode() }).collect()
    }
}

/// Shingles, signs and bands documents, and collects their rows. A bucket has at most one row of a
/// flush, however many documents it has.
pub struct KeyCollector {
    cutter: ShingleCutter,
    signer: Signer,
    rows_per_band: usize,
    /// The keys of the document at hand.
    keys: Vec<u64>,
    rows: MembershipCollector,
    documents: u64,
    empty: u64,
}

impl KeyCollector {
    /// A collector for documents of a run by signatures; `None` for an exact one, which has none.
    pub fn new(options: &FindOptions, parts: NonZeroU32) -> Option<Self> {
        let (params, kernel) = (&options.params, options.kernel);
        if params.exact() {
            return None;
        }
        let (scheme, num_hashes, seed) = (params.scheme(), params.num_hashes(), params.seed());
        Some(Self {
            cutter: ShingleCutter::new(options),
            signer: Signer::with_kernel(scheme, num_hashes, seed, kernel),
            rows_per_band: params.rows(),
            keys: vec![0; params.bands()],
            rows: MembershipCollector::new(parts),
            documents: 0,
            empty: 0,
        })
    }

    /// Adds a document; whether it has a token. One without is known by its identity alone.
    pub fn add(&mut self, node: u64, document: &Document<'_>) -> bool {
        let shingles = self.cutter.shingles(document);
        let check = shingles.fingerprint as u64;
        self.rows.add(NodeIdentity { node, check, bytes: document.bytes() });
        self.documents += 1;
        if shingles.hashes.is_empty() {
            self.empty += 1;
            return false;
        }
        let signature = self.signer.sign(shingles.hashes);
        band::bucket_keys(signature, self.rows_per_band, &mut self.keys);
        self.rows.add_keys(node, self.keys.iter().copied());
        true
    }

    /// Whether it is time to [`flush`](Self::flush).
    pub fn is_full(&self) -> bool {
        self.rows.is_full()
    }

    /// Documents that were added, and how many of them have no token.
    pub fn counts(&self) -> (u64, u64) {
        (self.documents, self.empty)
    }

    /// The rows that were collected, for each part that has any.
    pub fn flush(&mut self) -> Vec<PartBlock> {
        self.rows.flush()
    }
}
