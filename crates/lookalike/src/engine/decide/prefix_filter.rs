//! Ten thousand forms with different values share buckets but are not similar. Comparing all of
//! them with each other is quadratic and finds nothing. Such a component receives other buckets:
//! the rarest shingles (the prefix) of each member. Two similar members must share a shingle that
//! is in the longer prefix of the larger member and in the shorter prefix of the smaller one
//! ([`prefix`]). Pairs without such a shingle are not similar, so skipping them loses nothing.
//!
//! If all shingles are common, such as pairs of characters, members meet more often in these
//! buckets than in the buckets of their signatures ([`meetings`]). The buckets of signatures then
//! remain in use.
//!
//! The i-th shingle has two buckets, b = 2 · (number of joined pairs + i) and b + 1. Members with
//! the shingle in their longer prefix are inserted into b. Members with the shingle in their
//! shorter prefix are also inserted into b + 1, and probe b. The other members probe b + 1. So if
//! two members meet, one of them has the shingle in its shorter prefix. The first buckets belong to
//! joined pairs: both members of the n-th pair are inserted into 2n, and probe it.

use crate::engine::decide::ordered_component::OrderedComponent;
use crate::engine::decide::shingle_sets::ShingleSets;
use crate::engine::error::FindError;
use crate::engine::ids::{Id, MemberNumber};
use lookalike_core::group::{BucketMembership, MemberRules};
use lookalike_core::params::Params;
use lookalike_core::prefix::{self, Counters, SelectScratch};
use std::collections::HashMap;

/// Buckets of rare shingles.
pub(crate) struct PrefixFilter<'a> {
    component: &'a OrderedComponent<'a>,
    inserted: MemberBuckets,
    probed: MemberBuckets,
    count: usize,
}

/// A list of buckets for every member.
#[derive(Default)]
struct MemberBuckets {
    buckets: Vec<u32>,
    ends: Vec<usize>,
}

impl MemberBuckets {
    fn end_member(&mut self) {
        self.ends.push(self.buckets.len());
    }

    fn of(&self, member: MemberNumber) -> &[u32] {
        let member = member.index();
        let start = if member == 0 { 0 } else { self.ends[member - 1] };
        &self.buckets[start..self.ends[member]]
    }
}

impl<'a> PrefixFilter<'a> {
    /// Reads the sets of all members three times: for their total size, for the counts of shingles,
    /// and to choose the rarest.
    ///
    /// # Errors
    /// A shingle set cannot be computed.
    pub(crate) fn new(
        component: &'a OrderedComponent<'a>,
        params: &Params,
        sets: &mut ShingleSets<'_>,
    ) -> Result<Self, FindError> {
        let members = component.members();
        let mut shingles = 0;
        for member in members.clone() {
            shingles += component.set(member, sets)?.len();
        }
        let mut counters = Counters::new(log2_slots(shingles, sets.share));
        for member in members.clone() {
            component.set(member, sets)?.iter().for_each(|hash| counters.add(*hash));
        }
        let mut numbers = HashMap::new();
        let joined = component.judged.joined_pairs();
        let first_of_pairs = 2 * joined.len() as u32;
        let mut inserted = MemberBuckets::default();
        let mut probed = MemberBuckets::default();
        let mut counts = Vec::new();
        let mut long = Vec::new();
        let mut short = Vec::new();
        let mut scratch = SelectScratch::default();
        for member in members {
            let set = component.set(member, sets)?;
            counts.clear();
            counts.extend(set.iter().map(|hash| counters.get(*hash)));
            let length = prefix::prefix_length(set.len(), params.threshold());
            prefix::select(set, &counts, length, &mut scratch, &mut long);
            let length = prefix::short_prefix_length(set.len(), params.threshold());
            prefix::select(set, &counts, length, &mut scratch, &mut short);
            for hash in &long {
                let next = first_of_pairs + 2 * numbers.len() as u32;
                let bucket = *numbers.entry(*hash).or_insert(next);
                // Both prefixes are ascending, and the long one contains the short one.
                let in_short = short.binary_search(hash).is_ok();
                inserted.buckets.push(bucket);
                inserted.buckets.extend(in_short.then_some(bucket + 1));
                probed.buckets.push(if in_short { bucket } else { bucket + 1 });
            }
            // Pairs that the user declared duplicates need not share a shingle.
            let own = (0u32..).zip(&joined).filter(|(_, (a, b))| *a == member || *b == member);
            for (number, _) in own {
                inserted.buckets.push(2 * number);
                probed.buckets.push(2 * number);
            }
            inserted.end_member();
            probed.end_member();
        }
        Ok(Self { component, inserted, probed, count: 2 * (joined.len() + numbers.len()) })
    }
}

/// Counts how often members meet in buckets, including repeated meetings of two members. This is
/// the cost of visiting all buckets if all members are kept.
pub(crate) fn meetings(members: usize, buckets: &impl BucketMembership) -> u64 {
    let mut inserted = vec![0u64; buckets.bucket_count()];
    let mut meetings = 0;
    for member in 0..members as u32 {
        let probed = buckets.probed_buckets(member).iter().filter(|_| !buckets.is_fixed(member));
        meetings += probed.map(|bucket| inserted[*bucket as usize]).sum::<u64>();
        buckets.inserted_buckets(member).iter().for_each(|bucket| inserted[*bucket as usize] += 1);
    }
    meetings
}

/// Returns the binary logarithm of the number of slots: so many that few shingles share one, within
/// the share of memory.
fn log2_slots(shingles: usize, share: usize) -> u32 {
    let ideal = shingles.saturating_mul(4).next_power_of_two().ilog2();
    ideal.clamp(10, share.max(1 << 10).ilog2())
}

impl BucketMembership for PrefixFilter<'_> {
    fn probed_buckets(&self, member: u32) -> &[u32] {
        self.probed.of(MemberNumber(member))
    }

    fn inserted_buckets(&self, member: u32) -> &[u32] {
        self.inserted.of(MemberNumber(member))
    }

    fn bucket_count(&self) -> usize {
        self.count
    }
}

impl MemberRules for PrefixFilter<'_> {
    fn is_fixed(&self, member: u32) -> bool {
        self.component.is_fixed(member)
    }

    fn separated(&self, member: u32) -> &[u32] {
        self.component.separated(member)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct BucketMembers(Vec<Vec<u32>>);

    impl BucketMembership for BucketMembers {
        fn probed_buckets(&self, member: u32) -> &[u32] {
            &self.0[member as usize]
        }

        fn inserted_buckets(&self, member: u32) -> &[u32] {
            &self.0[member as usize]
        }

        fn bucket_count(&self) -> usize {
            3
        }
    }

    impl MemberRules for BucketMembers {
        fn is_fixed(&self, member: u32) -> bool {
            member == 0
        }

        fn separated(&self, _: u32) -> &[u32] {
            &[]
        }
    }

    #[test]
    fn meetings_count_probing_members_only() {
        let lists =
            |lists: &[&[u32]]| BucketMembers(lists.iter().map(|list| list.to_vec()).collect());
        // Member 2 meets 0 and 1 in bucket 0, and 1 in bucket 2.
        let three = lists(&[&[0], &[0, 2], &[0, 2]]);
        assert_eq!(meetings(3, &three), 1 + 3);
        // The first is fixed and probes no bucket.
        assert_eq!(meetings(1, &three), 0);
        let many = lists(&[&[1][..]; 100]);
        assert_eq!(meetings(100, &many), 100 * 99 / 2);
    }
}
