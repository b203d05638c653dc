//! Documents in, packed rows for each part out.

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

/// What the keys of a document are.
enum KeyRule {
    /// The buckets of its signature.
    Bands(BandKeys),
    /// Its rarest shingles: as many that documents which reach the threshold share one.
    Rarest { counters: Arc<RarityCounters>, threshold: f64, ranked: Vec<u64>, rule: BucketRule },
}

/// Which documents that have a key are connected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BucketRule {
    /// All of them.
    #[default]
    Shared,
    /// All of them if one of them looks it up: the lowest bit of its key is 1. A document that is
    /// contained in another one has one of its rarest shingles in common with all that the other
    /// has, so all have all their keys, and look up those of their rarest shingles.
    Probed,
}

impl BucketRule {
    /// The rule of the rare shingles of a run.
    pub fn of_measure(measure: Measure) -> Self {
        match measure {
            Measure::Jaccard => Self::Shared,
            Measure::Containment => Self::Probed,
        }
    }

    /// The bucket of a key.
    fn bucket(self, key: u64) -> u64 {
        match self {
            Self::Shared => key,
            Self::Probed => key & !1,
        }
    }

    /// The buckets of sorted memberships, each with whether its documents are connected.
    pub(super) fn buckets(
        self,
        sorted: &[Membership],
    ) -> impl Iterator<Item = (&[Membership], bool)> {
        let buckets = sorted.chunk_by(move |a, b| self.bucket(a.key) == self.bucket(b.key));
        buckets.map(move |bucket| {
            // Those that look it up are the last.
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

    /// The keys of a document with these shingles, into `keys`.
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
                // Mixed, since ties leave the lesser hashes, which would all be in the first parts.
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

/// Finds the keys of documents that are their rarest shingles.
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

    /// Those of a document; one without a token has none.
    pub(crate) fn of(&mut self, document: &Document<'_>) -> &[u64] {
        self.rule.keys(self.cutter.shingles(document).hashes, &mut self.keys);
        &self.keys
    }
}

/// The bits of a rank that are the upper half of the shingle's hash.
const UPPER: u64 = u32::MAX as u64;

/// Puts different shingles into one order for all documents, the rarest first: by count, then by
/// hash. Shingles that share the upper half of their hashes have one place in it, so that a prefix
/// holds at least as many shingles as places.
fn rank(hashes: &[u32], counters: &RarityCounters, ranked: &mut Vec<u64>) {
    ranked.clear();
    let rank = |hash: &u32| u64::from(counters.get(*hash)) << 32 | u64::from(*hash);
    ranked.extend(hashes.iter().map(rank));
    ranked.sort_unstable();
    ranked.dedup();
}

/// What a [`KeyCollector`] finds a document to be.
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
    /// `2^log2_slots` counters.
    pub fn new(options: &FindOptions, log2_slots: u32) -> Self {
        let cutter = ShingleCutter::new(options);
        let counters = RarityCounters::new(log2_slots);
        Self { cutter, counters }
    }

    /// The counters of all documents that were read into it.
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

    /// The stage of the keys counts and lists what is skipped.
    fn skipped(&mut self, _: SkippedItem) -> Result<(), ReadError> {
        Ok(())
    }
}

/// Collects the bucket keys and identities of documents as rows for each part.
///
/// Where documents of one flush are connected by a bucket, one of them is a member of it and the
/// others are connected to it here. So a bucket whose documents are connected has at most one
/// membership of a flush, however many documents it has.
///
/// The edges of a bucket are in its part, as the membership is: an engine that runs a task again,
/// with its documents in another order, gives each part the rows of one attempt.
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

    /// Whether it is time to [`flush`](Self::flush).
    pub(crate) fn is_full(&self) -> bool {
        self.memberships.len() >= FLUSH || self.identities.len() >= FLUSH
    }

    /// The rows that were collected, for each part that has any.
    pub(crate) fn flush(&mut self) -> Vec<PartBlock> {
        let mut blocks = vec![ShardBlock::default(); self.parts.get() as usize];
        let mut memberships = std::mem::take(&mut self.memberships);
        memberships.sort_unstable();
        for (bucket, is_connected) in self.rule.buckets(&memberships) {
            let part = part_of(self.rule.bucket(bucket[0].key), self.parts);
            let here = &mut blocks[part as usize];
            if is_connected {
                let [others @ .., one] = bucket else { continue };
                here.memberships.push(*one);
                let others = others.iter().map(|member| member.node);
                let others = others.filter(|node| *node != one.node);
                here.edges.extend(others.map(|node| Edge { component: one.node, node }));
            } else {
                here.memberships.extend(bucket);
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

/// Shingles documents, finds their keys, and collects their rows. Documents of which one run makes
/// a pair share a key, whichever of the two kinds of keys it is. A key has at most one row of a
/// flush, however many documents have it.
pub struct KeyCollector {
    cutter: ShingleCutter,
    rule: KeyRule,
    /// The keys of the document at hand.
    keys: Vec<u64>,
    rows: MembershipCollector,
    documents: u64,
    empty: u64,
}

impl KeyCollector {
    /// Keys of signatures: a key for each band. `None` for an exact run, which has none.
    pub fn new(options: &FindOptions, parts: NonZeroU32) -> Option<Self> {
        let bands = BandKeys::new(options);
        (bands.count() > 0).then(|| Self::with(options, parts, KeyRule::Bands(bands)))
    }

    /// Keys of the rarest shingles, a share of 1 - threshold of them: templates that are filled in
    /// differently have none in common. Whatever the counters hold, documents that reach the
    /// threshold share a key (see [`prefix`]). For containment all shingles are keys, and
    /// [`BucketRule::Probed`] is the rule of their buckets.
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

    /// Adds a document; what is known of it. One without a token is known by its identity alone.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shard::connect::Connector;

    /// The rows of a task whose documents come in this order, a flush after `first` of them.
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
    fn parts_may_come_from_attempts_with_other_orders() {
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
    fn a_bucket_that_no_document_looks_up_connects_none() {
        for flushes in [1, 2] {
            let parts = NonZeroU32::MIN;
            let mut connector = Connector::new(BucketRule::Probed);
            let mut collector = MembershipCollector::new(parts, BucketRule::Probed);
            let rows = [(1, 20), (2, 20), (3, 20), (4, 20), (5, 30), (6, 31), (7, 41), (8, 41)];
            for (node, key) in rows {
                // The bucket 20 is not looked up, 30 is by one, 40 by both.
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
