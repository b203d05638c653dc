//! Components: members that are connected through verified pairs.

use super::all_pairs::all_pairs;
use super::connected_runs::ConnectedRuns;
use super::membership::{BucketMembership, DuplicateMember, MemberRules, NONE, probed_by};
use crate::disjoint_sets::DisjointSets;
use crate::params::Measure;
use crate::verify::Overlap;
use std::collections::HashMap;

/// The connected components of the verified pairs. Every member except the first of its component
/// becomes a duplicate of that first one. Fixed members are never duplicates. The arguments are as
/// for [`stars`](super::stars). Pairs that are already joined are not verified, so 10,000 copies in
/// one bucket cost 9,999 calls of `similarity`.
///
/// `known` contains pairs that are already verified, with the earlier member first. They need not
/// share a bucket.
///
/// `overlap(keeper, duplicate)` is called once per duplicate and returns their overlap for reports.
/// In chains, the overlap may be below the threshold.
///
/// If members are separated, all candidate pairs are compared. Pairs of equal similarity in this
/// measure are joined in the order of their members ([`components_of_pairs`]).
///
/// # Errors
/// The first error of `similarity` or `overlap`.
pub fn components<E>(
    members: usize,
    buckets: &impl BucketMembership,
    measure: Measure,
    known: &[(u32, u32, Overlap)],
    mut similarity: impl FnMut(u32, u32) -> Result<Option<Overlap>, E>,
    overlap: impl FnMut(u32, u32) -> Result<Overlap, E>,
) -> Result<Vec<DuplicateMember>, E> {
    if (0..members as u32).any(|member| !buckets.separated(member).is_empty()) {
        let mut pairs = all_pairs(members, buckets, similarity)?;
        pairs.extend(known);
        return components_of_pairs(members, &pairs, buckets, measure, overlap);
    }
    let mut sets = DisjointSets::new(members);
    for (a, b, _) in known {
        sets.join(*a, *b);
    }
    let mut runs = ConnectedRuns::new(buckets.bucket_count());
    let mut seen = vec![NONE; members];
    for member in 0..members as u32 {
        for &bucket in probed_by(buckets, member) {
            runs.join_similar(bucket, member, &mut sets, |earlier| {
                let is_new = std::mem::replace(&mut seen[earlier as usize], member) != member;
                Ok(is_new && similarity(earlier, member)?.is_some())
            })?;
        }
        for &bucket in buckets.inserted_buckets(member) {
            runs.insert(bucket, member);
        }
    }
    duplicates(sets, |member| buckets.is_fixed(member), overlap)
}

/// The components of a graph whose verified pairs are known. `pairs` contains pairs of members
/// below `members`, in any order. If members are separated, joins the most similar pairs first, and
/// equally similar pairs in the order of their members. Skips a pair that would bring separated
/// members together. Takes O(pairs · log(pairs)) time.
///
/// # Errors
/// The first error of `overlap`.
pub fn components_of_pairs<E>(
    members: usize,
    pairs: &[(u32, u32, Overlap)],
    rules: &impl MemberRules,
    measure: Measure,
    overlap: impl FnMut(u32, u32) -> Result<Overlap, E>,
) -> Result<Vec<DuplicateMember>, E> {
    let is_open = |(a, b, _): &&(u32, u32, Overlap)| !(rules.is_fixed(*a) && rules.is_fixed(*b));
    let pairs = pairs.iter().filter(is_open);
    let mut separated = SeparatedSets::new(members, rules);
    let mut sets = DisjointSets::new(members);
    if separated.is_empty() {
        pairs.for_each(|(a, b, _)| sets.join(*a, *b));
    } else {
        let mut pairs: Vec<_> = pairs.collect();
        pairs.sort_unstable_by(|(a, b, left), (c, d, right)| {
            let members = (a.min(b), a.max(b)).cmp(&(c.min(d), c.max(d)));
            right.compare(left, measure).then(members)
        });
        for (a, b, _) in pairs {
            separated.join(&mut sets, *a, *b);
        }
    }
    duplicates(sets, |member| rules.is_fixed(member), overlap)
}

/// The sets that contain separated members.
struct SeparatedSets<'r, R> {
    rules: &'r R,
    /// The first member of a set → the members of the set that are separated from others.
    members: HashMap<u32, Vec<u32>>,
}

impl<'r, R: MemberRules> SeparatedSets<'r, R> {
    /// Creates a set for each separated member.
    fn new(members: usize, rules: &'r R) -> Self {
        let separated = (0..members as u32).filter(|member| !rules.separated(*member).is_empty());
        Self { rules, members: separated.map(|member| (member, vec![member])).collect() }
    }

    fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Joins the sets of two members unless that brings separated members together.
    fn join(&mut self, sets: &mut DisjointSets, a: u32, b: u32) {
        let a = sets.first(a);
        let b = sets.first(b);
        if a == b || self.is_separated(sets, a, b) {
            return;
        }
        let joined = [a, b].into_iter().filter_map(|set| self.members.remove(&set)).reduce(
            |mut all, more| {
                all.extend(more);
                all
            },
        );
        sets.join(a, b);
        self.members.extend(joined.map(|members| (sets.first(a), members)));
    }

    fn is_separated(&self, sets: &mut DisjointSets, a: u32, b: u32) -> bool {
        let (Some(of_a), Some(of_b)) = (self.members.get(&a), self.members.get(&b)) else {
            return false;
        };
        let (members, other) = if of_a.len() < of_b.len() { (of_a, b) } else { (of_b, a) };
        let mut separated = members.iter().flat_map(|member| self.rules.separated(*member));
        separated.any(|member| sets.first(*member) == other)
    }
}

/// Returns every member that is neither fixed nor the first of its set, as a duplicate of the
/// first.
fn duplicates<E>(
    mut sets: DisjointSets,
    fixed: impl Fn(u32) -> bool,
    mut overlap: impl FnMut(u32, u32) -> Result<Overlap, E>,
) -> Result<Vec<DuplicateMember>, E> {
    let mut duplicates = Vec::new();
    for member in (0..sets.len() as u32).filter(|member| !fixed(*member)) {
        let keeper = sets.first(member);
        if keeper != member {
            let overlap = overlap(keeper, member)?;
            duplicates.push(DuplicateMember { member, keeper, overlap });
        }
    }
    Ok(duplicates)
}
