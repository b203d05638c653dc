//! Packs documents into rows for each part.

use super::block::{Membership, NodeIdentity, ShardBlock};
use super::forest::{Edge, merge};
use super::rarity::RarityCounters;
use crate::engine::FindOptions;
use crate::engine::ids::Node;
use crate::engine::prepare::shingles::{BandKeys, ShingleCutter};
use crate::read::{Document, DocumentSink, ReadError, SkippedItem};
use lookalike_core::hash;
use lookalike_core::params::Measure;
use lookalike_core::prefix;
use std::num::NonZeroU32;
use std::sync::Arc;

/// The number of memberships or identities that requires a flush. The memberships take 16 MiB.
const FLUSH: usize = 1 << 20;

/// The part of a key or a node. The keys of a part form a range.
pub fn part_of(hash: u64, parts: NonZeroU32) -> u32 {
    ((u128::from(hash) * u128::from(parts.get())) >> 64) as u32
}

/// An encoded [`ShardBlock`] with its part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartBlock {
    /// The part, below the number of parts.
    pub part: u32,
    /// The block.
    pub rows: Vec<u8>,
}

/// The rule that determines the keys of a document.
enum KeyRule {
    /// The buckets of its signature.
    Bands(BandKeys),
    /// Its rarest shingles: enough that documents which reach the threshold share one.
    Rarest { counters: Arc<RarityCounters>, threshold: f64, ranked: Vec<u64>, rule: BucketRule },
}

/// The rule that determines which documents with a key are connected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BucketRule {
    /// All of them.
    #[default]
    Shared,
    /// All of them if at least one probes the key. The lowest bit of a key is 1 if its document
    /// probes the key. If a document is contained in another one, the other contains one of the
    /// first document's rarest shingles. So all shingles of a document are keys, and the rarest
    /// ones are probed.
    Probed,
}

impl BucketRule {
    /// The rule for the rare shingles of a run.
    pub fn of_measure(measure: Measure) -> Self {
        match measure {
            Measure::Jaccard => Self::Shared,
            Measure::Containment => Self::Probed,
        }
    }

    /// Returns the bucket of a key.
    fn bucket(self, key: u64) -> u64 {
        match self {
            Self::Shared => key,
            Self::Probed => key & !1,
        }
    }

    /// Iterates over the buckets of sorted memberships. Also returns whether the documents of each
    /// bucket are connected.
    pub(super) fn buckets(
        self,
        sorted: &[Membership],
    ) -> impl Iterator<Item = (&[Membership], bool)> {
        let buckets = sorted.chunk_by(move |a, b| self.bucket(a.key) == self.bucket(b.key));
        buckets.map(move |bucket| {
            // Probing members are last.
            let is_probed = bucket.last().is_some_and(|member| member.key & 1 == 1);
            (bucket, self == Self::Shared || is_probed)
        })
    }
}

impl KeyRule {
    fn rarest(options: &FindOptions, counters: Arc<RarityCounters>) -> Self {
        let threshold = options.params.threshold();
        let rule = BucketRule::of_measure(options.params.measure());
        Self::Rarest { counters, threshold, ranked: Vec::new(), rule }
    }

    /// Replaces the content of `keys` by the keys of a document with these shingles.
    fn keys(&mut self, hashes: &[u32], keys: &mut Vec<u64>) {
        keys.clear();
        match self {
            Self::Bands(bands) => {
                keys.resize(bands.count(), 0);
                bands.write(hashes, keys);
            }
            Self::Rarest { counters, threshold, ranked, rule } => {
                let length = prefix::prefix_length(hashes.len(), *threshold);
                rank(hashes, counters, ranked);
                // Among equal counts, smaller hashes come first. They would all fall into the first
                // parts, so mix the bits.
                let mut mixed = ranked.iter().map(|rank| hash::mix64(*rank & UPPER));
                match rule {
                    BucketRule::Shared => keys.extend(mixed.take(length)),
                    BucketRule::Probed => {
                        keys.extend(mixed.by_ref().take(length).map(|key| key | 1));
                        keys.extend(mixed.map(|key| key & !1));
                    }
                }
            }
        }
    }
}

/// Computes the keys of documents from their rarest shingles.
pub(crate) struct RareKeys {
    cutter: ShingleCutter,
    rule: KeyRule,
    keys: Vec<u64>,
}

impl RareKeys {
    pub(crate) fn new(options: &FindOptions, counters: Arc<RarityCounters>) -> Self {
        let rule = KeyRule::rarest(options, counters);
        Self { cutter: ShingleCutter::new(options), rule, keys: Vec::new() }
    }

    /// Returns the keys of a document, none for a document without a token.
    pub(crate) fn of(&mut self, document: &Document<'_>) -> &[u64] {
        self.rule.keys(self.cutter.shingles(document).hashes, &mut self.keys);
        &self.keys
    }
}

/// The bits of a rank that are the upper half of the shingle's hash.
const UPPER: u64 = u32::MAX as u64;

/// Ranks different shingles in the same order for all documents, the rarest first: by count, then
/// by hash. Shingles that share the upper half of their hashes share one place in the order, so a
/// prefix contains at least as many shingles as places.
fn rank(hashes: &[u32], counters: &RarityCounters, ranked: &mut Vec<u64>) {
    ranked.clear();
    let rank = |hash: &u32| u64::from(counters.get(*hash)) << 32 | u64::from(*hash);
    ranked.extend(hashes.iter().map(rank));
    ranked.sort_unstable();
    ranked.dedup();
}

/// The properties of a document that a [`KeyCollector`] determines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectedDocument {
    /// Whether it has no token.
    pub empty: bool,
    /// Its [`check`](NodeIdentity::check).
    pub check: u64,
}

/// Counts the shingles of documents, for [`KeyCollector::screening`].
pub struct RarityCounter {
    cutter: ShingleCutter,
    counters: RarityCounters,
}

impl RarityCounter {
    /// Creates `2^log2_slots` counters.
    pub fn new(options: &FindOptions, log2_slots: u32) -> Self {
        let cutter = ShingleCutter::new(options);
        let counters = RarityCounters::new(log2_slots);
        Self { cutter, counters }
    }

    /// Returns the counters of all documents so far.
    pub fn counters(&self) -> &RarityCounters {
        &self.counters
    }
}

impl DocumentSink for RarityCounter {
    type Error = ReadError;

    /// Counts the shingles of a document.
    fn document(&mut self, document: &Document<'_>) -> Result<(), ReadError> {
        self.counters.add(self.cutter.shingles(document).hashes);
        Ok(())
    }

    /// The stage `keys` counts and lists skipped items.
    fn skipped(&mut self, _: SkippedItem) -> Result<(), ReadError> {
        Ok(())
    }
}

/// Collects the bucket keys and identities of documents as rows for each part.
///
/// If a bucket connects documents of one flush, one of them is a member of the bucket, and edges
/// connect the others to it. So a flush has at most one membership of such a bucket, regardless of
/// the number of documents.
///
/// The edges and the membership of a bucket are in the same part. If an engine repeats a task with
/// its documents in another order, each part receives the rows of one attempt.
pub(crate) struct MembershipCollector {
    parts: NonZeroU32,
    rule: BucketRule,
    memberships: Vec<Membership>,
    identities: Vec<NodeIdentity>,
}

impl MembershipCollector {
    pub(crate) fn new(parts: NonZeroU32, rule: BucketRule) -> Self {
        Self { parts, rule, memberships: Vec::new(), identities: Vec::new() }
    }

    /// Adds a document.
    pub(crate) fn add(&mut self, identity: NodeIdentity) {
        self.identities.push(identity);
    }

    /// Adds the bucket keys of a document with a token.
    pub(crate) fn add_keys(&mut self, node: Node, keys: impl IntoIterator<Item = u64>) {
        self.memberships.extend(keys.into_iter().map(|key| Membership { key, node }));
    }

    /// Whether [`flush`](Self::flush) is due.
    pub(crate) fn is_full(&self) -> bool {
        self.memberships.len() >= FLUSH || self.identities.len() >= FLUSH
    }

    /// Returns the collected rows, for each part that has any.
    pub(crate) fn flush(&mut self) -> Vec<PartBlock> {
        let mut blocks = vec![ShardBlock::default(); self.parts.get() as usize];
        let mut memberships = std::mem::take(&mut self.memberships);
        memberships.sort_unstable();
        for (bucket, is_connected) in self.rule.buckets(&memberships) {
            let part = part_of(self.rule.bucket(bucket[0].key), self.parts);
            let target = &mut blocks[part as usize];
            if is_connected {
                let [others @ .., last] = bucket else { continue };
                target.memberships.push(*last);
                let others = others.iter().map(|member| member.node);
                let others = others.filter(|node| *node != last.node);
                target.edges.extend(others.map(|node| Edge { component: last.node, node }));
            } else {
                target.memberships.extend(bucket);
            }
        }
        for block in &mut blocks {
            block.edges = merge(std::mem::take(&mut block.edges));
        }
        for identity in self.identities.drain(..) {
            blocks[part_of(identity.node.0, self.parts) as usize].identities.push(identity);
        }
        let numbered = (0..).zip(blocks).filter(|(_, block)| !block.is_empty());
        numbered.map(|(part, block)| PartBlock { part, rows: block.encode() }).collect()
    }
}

/// Shingles documents, computes their keys, and collects their rows. Documents that a single run
/// would report as a pair share a key, for both kinds of keys. If a key connects documents, a flush
/// has only one membership of the key, regardless of the number of documents.
pub struct KeyCollector {
    cutter: ShingleCutter,
    rule: KeyRule,
    /// The keys of the current document.
    keys: Vec<u64>,
    rows: MembershipCollector,
    documents: u64,
    empty: u64,
}

impl KeyCollector {
    /// Creates a collector of keys from signatures: a key for each band. `None` for an exact run,
    /// which has no signatures.
    pub fn new(options: &FindOptions, parts: NonZeroU32) -> Option<Self> {
        let bands = BandKeys::new(options);
        (bands.count() > 0).then(|| Self::with(options, parts, KeyRule::Bands(bands)))
    }

    /// Creates a collector of keys from the rarest shingles, a share of 1 - threshold of them.
    /// Documents made from the same template, with different values, share none of these shingles.
    /// Documents that reach the threshold share a key for any values of the counters (see
    /// [`prefix`]). For containment all shingles are keys, and their buckets follow
    /// [`BucketRule::Probed`].
    pub fn screening(
        options: &FindOptions,
        parts: NonZeroU32,
        counters: Arc<RarityCounters>,
    ) -> Self {
        Self::with(options, parts, KeyRule::rarest(options, counters))
    }

    fn with(options: &FindOptions, parts: NonZeroU32, rule: KeyRule) -> Self {
        let buckets = match &rule {
            KeyRule::Bands(_) => BucketRule::Shared,
            KeyRule::Rarest { rule, .. } => *rule,
        };
        Self {
            cutter: ShingleCutter::new(options),
            rule,
            keys: Vec::new(),
            rows: MembershipCollector::new(parts, buckets),
            documents: 0,
            empty: 0,
        }
    }

    /// Adds a document and returns its properties. A document without a token has only an identity.
    pub fn add(&mut self, node: Node, document: &Document<'_>) -> CollectedDocument {
        let shingles = self.cutter.shingles(document);
        let check = shingles.fingerprint as u64;
        let empty = shingles.hashes.is_empty();
        self.rows.add(NodeIdentity { node, check, bytes: document.bytes() });
        self.documents += 1;
        if empty {
            self.empty += 1;
        } else {
            self.rule.keys(shingles.hashes, &mut self.keys);
            self.rows.add_keys(node, self.keys.iter().copied());
        }
        CollectedDocument { empty, check }
    }

    /// Whether [`flush`](Self::flush) is due.
    pub fn is_full(&self) -> bool {
        self.rows.is_full()
    }

    /// The number of added documents, and the number of documents without a token.
    pub fn counts(&self) -> (u64, u64) {
        (self.documents, self.empty)
    }

    /// Returns the collected rows, for each part that has any.
    pub fn flush(&mut self) -> Vec<PartBlock> {
        self.rows.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shard::connect::Connector;

    /// The rows of a task that adds its documents in this order, and flushes after the first
    /// `first` of them.
    fn attempt(documents: &[u64], first: usize, parts: NonZeroU32) -> Vec<PartBlock> {
        let mut collector = MembershipCollector::new(parts, BucketRule::Shared);
        let mut rows = Vec::new();
        for flush in [&documents[..first], &documents[first..]] {
            for node in flush {
                let node = Node(node << 60);
                collector.add(NodeIdentity { node, check: 0, bytes: 0 });
                collector.add_keys(node, [1 << 61, 7 << 61]);
            }
            rows.extend(collector.flush());
        }
        rows
    }

    #[test]
    fn parts_of_different_attempts_combine() {
        let parts = NonZeroU32::new(8).unwrap();
        let attempts = [attempt(&[1, 4, 9], 2, parts), attempt(&[4, 9, 1], 2, parts)];
        let edge = |node: u64| Edge::new(1 << 60, node << 60);
        for choice in 0..1 << 8 {
            let mut edges = Vec::new();
            for part in 0..8 {
                let rows = &attempts[(choice >> part) & 1];
                let mut connector = Connector::default();
                for block in rows.iter().filter(|block| block.part == part) {
                    connector.add(&block.rows).unwrap();
                }
                edges.extend(connector.finish().forest);
            }
            let forest = merge(edges);
            assert_eq!(forest, [edge(4), edge(9)], "{choice:b}");
        }
    }

    #[test]
    fn unprobed_buckets_connect_no_documents() {
        for flushes in [1, 2] {
            let parts = NonZeroU32::MIN;
            let mut connector = Connector::new(BucketRule::Probed);
            let mut collector = MembershipCollector::new(parts, BucketRule::Probed);
            let rows = [(1, 20), (2, 20), (3, 20), (4, 20), (5, 30), (6, 31), (7, 41), (8, 41)];
            for (node, key) in rows {
                // No member probes bucket 20, one probes 30, and both probe 40.
                collector.add_keys(Node(node), [key]);
                if flushes == 2 {
                    for block in collector.flush() {
                        connector.add(&block.rows).unwrap();
                    }
                }
            }
            for block in collector.flush() {
                connector.add(&block.rows).unwrap();
            }
            let forest = [Edge::new(5, 6), Edge::new(7, 8)];
            assert_eq!(connector.finish().forest, forest, "{flushes}");
        }
    }
}
