//! Stars: every duplicate resembles its keeper.

use super::bucket_chains::BucketChains;
use super::membership::{BucketMembership, DuplicateMember, MemberRules, NONE, probed_by};
use crate::params::Measure;
use crate::verify::Overlap;
use std::cmp::Ordering;
use std::ops::Range;

/// Forms star groups of `members` members (fewer than 2³² − 1) that share buckets. Returns the
/// duplicates in keep order. The keeper of a duplicate is the kept member with the highest
/// similarity in `measure`, compared as exact fractions. Among equally similar members, it is one
/// with an equal set, otherwise the earliest.
///
/// `similarity(earlier, later)` is called at most once per pair, and only for candidate pairs of a
/// kept and a later member, so 10,000 copies in one bucket cost 9,999 calls. The result must depend
/// only on the pair. Takes 8 bytes of memory per member, 4 per bucket, and 8 for each bucket of
/// each kept member.
///
/// A member does not become a duplicate of a keeper if the keeper or one of its duplicates is
/// [`separated`](MemberRules::separated) from the member.
///
/// # Errors
/// The first error of `similarity`.
pub fn stars<E>(
    members: usize,
    buckets: &impl BucketMembership,
    measure: Measure,
    similarity: impl FnMut(u32, u32) -> Result<Option<Overlap>, E>,
) -> Result<Vec<DuplicateMember>, E> {
    stars_in_blocks(members, buckets, measure, members, |_, _| Ok(Vec::new()), similarity)
}

/// The best keeper of each member of a block, `None` for members without one.
pub type BestKeepers = Vec<Option<DuplicateMember>>;

/// Like [`stars`], in blocks of `size` members, so that a caller can compare on several threads.
///
/// `best_kept` is called for each block after the first. It receives the members that were kept
/// before the block. For each member of the block, it returns the best of these keepers, see
/// [`KeptMembers::best`]. Afterwards, `similarity` is called only for pairs within the block. With
/// several blocks, no member may be separated from another one: `best_kept` does not know the
/// duplicates that the block adds to a group.
///
/// # Errors
/// The first error of `best_kept` or `similarity`.
pub fn stars_in_blocks<B: BucketMembership, E>(
    members: usize,
    buckets: &B,
    measure: Measure,
    size: usize,
    mut best_kept: impl FnMut(&KeptMembers<'_, B>, Range<u32>) -> Result<BestKeepers, E>,
    mut similarity: impl FnMut(u32, u32) -> Result<Option<Overlap>, E>,
) -> Result<Vec<DuplicateMember>, E> {
    let mut kept = KeptMembers {
        buckets,
        measure,
        by_bucket: BucketChains::new(buckets.bucket_count()),
        keepers: (0..members as u32).collect(),
    };
    let mut seen = SeenMembers::new(members);
    let mut duplicates = Vec::new();
    for start in (0..members).step_by(size.max(1)) {
        let block = start as u32..members.min(start + size) as u32;
        let mut found = if start == 0 { Vec::new() } else { best_kept(&kept, block.clone())? };
        found.resize(block.len(), None);
        for (member, found) in block.clone().zip(found) {
            match kept.best_since(block.start, member, found, &mut seen, &mut similarity)? {
                Some(duplicate) => {
                    kept.keepers[member as usize] = duplicate.keeper;
                    duplicates.push(duplicate);
                }
                None => kept.by_bucket.push_all(buckets.inserted_buckets(member), member),
            }
        }
    }
    Ok(duplicates)
}

/// The members that were kept so far, by bucket.
pub struct KeptMembers<'a, B> {
    buckets: &'a B,
    measure: Measure,
    by_bucket: BucketChains,
    /// The keeper of each member. A member is its own keeper until it becomes a duplicate.
    keepers: Vec<u32>,
}

/// The last member that each kept member was compared with. Prevents a second comparison of members
/// with several common buckets. Use one list per thread.
pub struct SeenMembers(Vec<u32>);

impl SeenMembers {
    /// Creates a list for this many members.
    pub fn new(members: usize) -> Self {
        Self(vec![NONE; members])
    }
}

impl<B: BucketMembership> KeptMembers<'_, B> {
    /// Compares a later member with all kept members that it meets in a bucket, and returns the
    /// best of them, if any is similar.
    ///
    /// # Errors
    /// The first error of `similarity`, which is called as in [`stars`].
    pub fn best<E>(
        &self,
        member: u32,
        seen: &mut SeenMembers,
        similarity: impl FnMut(u32, u32) -> Result<Option<Overlap>, E>,
    ) -> Result<Option<DuplicateMember>, E> {
        self.best_since(0, member, None, seen, similarity)
    }

    /// Like [`best`](Self::best), but compares only the kept members from number `start` on.
    /// Returns the given `best` unless one of them is better.
    fn best_since<E>(
        &self,
        start: u32,
        member: u32,
        mut best: Option<DuplicateMember>,
        seen: &mut SeenMembers,
        mut similarity: impl FnMut(u32, u32) -> Result<Option<Overlap>, E>,
    ) -> Result<Option<DuplicateMember>, E> {
        let separated = self.buckets.separated(member);
        for &bucket in probed_by(self.buckets, member) {
            // The latest member of a bucket comes first.
            for keeper in self.by_bucket.of(bucket).take_while(|keeper| *keeper >= start) {
                let is_seen = std::mem::replace(&mut seen.0[keeper as usize], member) == member;
                if is_seen || is_separated(separated, keeper, &self.keepers) {
                    continue;
                }
                if let Some(overlap) = similarity(keeper, member)? {
                    let duplicate = DuplicateMember { member, keeper, overlap };
                    replace_if_better(&mut best, duplicate, self.measure);
                }
            }
        }
        Ok(best)
    }
}

/// Forms star groups by the rule of [`stars`] from verified pairs that are already known. `pairs`
/// may be in any order, and contains numbers below `members`. Ignores pairs of two fixed members.
/// Takes O(members + pairs) time.
pub fn stars_of_pairs(
    members: usize,
    pairs: &[(u32, u32, Overlap)],
    rules: &impl MemberRules,
    measure: Measure,
) -> Vec<DuplicateMember> {
    // For each member, the indices of its `pairs` with earlier members.
    let mut pairs_by_later = BucketChains::new(members);
    for (i, &(a, b, _)) in pairs.iter().enumerate().filter(|(_, (a, b, _))| a != b) {
        pairs_by_later.push(a.max(b), i as u32);
    }
    let mut keepers: Vec<u32> = (0..members as u32).collect();
    let mut duplicates = Vec::new();
    for member in (0..members as u32).filter(|member| !rules.is_fixed(*member)) {
        let separated = rules.separated(member);
        let mut best: Option<DuplicateMember> = None;
        for pair in pairs_by_later.of(member) {
            let (a, b, overlap) = pairs[pair as usize];
            let (keeper, overlap) = if a < b { (a, overlap) } else { (b, overlap.swapped()) };
            let is_kept = keepers[keeper as usize] == keeper;
            if is_kept && !is_separated(separated, keeper, &keepers) {
                replace_if_better(&mut best, DuplicateMember { member, keeper, overlap }, measure);
            }
        }
        keepers[member as usize] = best.map_or(member, |duplicate| duplicate.keeper);
        duplicates.extend(best);
    }
    duplicates
}

/// Returns true if a keeper or one of its duplicates is among the `separated` members.
fn is_separated(separated: &[u32], keeper: u32, keepers: &[u32]) -> bool {
    separated.iter().any(|other| keepers[*other as usize] == keeper)
}

/// Replaces the best keeper so far by a better one. Among equally similar keepers, one with an
/// equal set is better, because unequal sets may also have a containment of 1.
fn replace_if_better(best: &mut Option<DuplicateMember>, new: DuplicateMember, measure: Measure) {
    let is_better = best.is_none_or(|old| match new.overlap.compare(&old.overlap, measure) {
        Ordering::Less => false,
        Ordering::Equal => {
            let rank = |pair: &DuplicateMember| (!pair.overlap.is_of_equal_sets(), pair.keeper);
            rank(&new) < rank(&old)
        }
        Ordering::Greater => true,
    });
    if is_better {
        *best = Some(new);
    }
}
