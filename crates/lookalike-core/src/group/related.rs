//! Kept members that resemble duplicates of other keepers.

use super::bucket_chains::BucketChains;
use super::membership::{
    BucketMembership, DuplicateMember, MemberRules, NONE, RelatedMember, probed_by,
};
use crate::params::Measure;
use crate::verify::Overlap;
use std::cmp::Ordering;

/// The kept members without duplicates of their own that resemble a duplicate of another keeper.
/// `duplicates` is the result of [`stars`](super::stars) for the same arguments. Each entry names
/// the most similar duplicate, compared as exact fractions, and the earliest of equally similar
/// ones. Entries are in order. Fixed members are excluded.
///
/// `similarity(earlier, later)` is called at most once per pair, and only for candidate pairs of
/// such a member and a duplicate.
///
/// # Errors
/// The first error of `similarity`.
pub fn related<E>(
    members: usize,
    buckets: &impl BucketMembership,
    measure: Measure,
    duplicates: &[DuplicateMember],
    mut similarity: impl FnMut(u32, u32) -> Result<Option<Overlap>, E>,
) -> Result<Vec<RelatedMember>, E> {
    let mut nearest =
        NearestDuplicates::new(members, |member| buckets.is_fixed(member), duplicates);
    let mut ungrouped = BucketChains::new(buckets.bucket_count());
    let mut duplicates_by_bucket = BucketChains::new(buckets.bucket_count());
    let mut seen = vec![NONE; members];
    for member in 0..members as u32 {
        let (probed, inserted) = match nearest.roles[member as usize] {
            Role::Alone => (&duplicates_by_bucket, &mut ungrouped),
            Role::Duplicate => (&ungrouped, &mut duplicates_by_bucket),
            Role::Keeper => continue,
        };
        for &bucket in probed_by(buckets, member) {
            for earlier in probed.of(bucket) {
                if std::mem::replace(&mut seen[earlier as usize], member) == member {
                    continue;
                }
                if let Some(overlap) = similarity(earlier, member)? {
                    nearest.add_pair(earlier, member, overlap, measure);
                }
            }
        }
        inserted.push_all(buckets.inserted_buckets(member), member);
    }
    Ok(nearest.finish())
}

/// Like [`related`], from known verified pairs in any order. Takes O(members + pairs) time.
pub fn related_of_pairs(
    members: usize,
    pairs: &[(u32, u32, Overlap)],
    rules: &impl MemberRules,
    measure: Measure,
    duplicates: &[DuplicateMember],
) -> Vec<RelatedMember> {
    let mut nearest = NearestDuplicates::new(members, |member| rules.is_fixed(member), duplicates);
    for &(a, b, overlap) in pairs {
        nearest.add_pair(a, b, overlap, measure);
    }
    nearest.finish()
}

/// The role of a member in a result of [`stars`](super::stars).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Kept, without duplicates.
    Alone,
    /// Kept with a duplicate, or fixed.
    Keeper,
    Duplicate,
}

/// The most similar duplicate of every member that is alone, among the pairs so far.
struct NearestDuplicates {
    roles: Vec<Role>,
    best: Vec<Option<RelatedMember>>,
}

impl NearestDuplicates {
    fn new(members: usize, fixed: impl Fn(u32) -> bool, duplicates: &[DuplicateMember]) -> Self {
        let role = |member| if fixed(member) { Role::Keeper } else { Role::Alone };
        let mut roles: Vec<Role> = (0..members as u32).map(role).collect();
        for duplicate in duplicates {
            roles[duplicate.keeper as usize] = Role::Keeper;
            roles[duplicate.member as usize] = Role::Duplicate;
        }
        Self { roles, best: vec![None; members] }
    }

    /// Takes a verified pair of any two members; `left` is the set of `a`.
    fn add_pair(&mut self, a: u32, b: u32, overlap: Overlap, measure: Measure) {
        let role = |member: u32| self.roles[member as usize];
        let (member, neighbour, overlap) = match (role(a), role(b)) {
            (Role::Alone, Role::Duplicate) => (a, b, overlap),
            (Role::Duplicate, Role::Alone) => (b, a, overlap.swapped()),
            _ => return,
        };
        let best = &mut self.best[member as usize];
        let is_better = best.is_none_or(|old| match overlap.compare(&old.overlap, measure) {
            Ordering::Less => false,
            Ordering::Equal => neighbour < old.neighbour,
            Ordering::Greater => true,
        });
        if is_better {
            *best = Some(RelatedMember { member, neighbour, overlap });
        }
    }

    fn finish(self) -> Vec<RelatedMember> {
        self.best.into_iter().flatten().collect()
    }
}
