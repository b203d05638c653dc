//! Components: everything that is connected through verified pairs.

use super::connected_runs::ConnectedRuns;
use super::membership::{BucketMembership, DuplicateMember, NONE, probed_by};
use crate::disjoint_sets::DisjointSets;
use crate::verify::Overlap;

/// The connected components of the verified pairs: every member but the first of its component
/// becomes a duplicate of that first one, except fixed members, which are never duplicates.
/// Arguments as for [`stars`](super::stars); pairs that are joined already are not verified, so
/// 10,000 copies in one bucket are 9,999 calls of `similarity`.
///
/// `overlap(keeper, duplicate)` is called once per duplicate and gives their overlap even where it
/// is below the threshold, which happens in chains; reports show it.
///
/// # Errors
/// The first error of `similarity` or `overlap`.
pub fn components<E>(
    members: usize,
    buckets: &impl BucketMembership,
    mut similarity: impl FnMut(u32, u32) -> Result<Option<Overlap>, E>,
    overlap: impl FnMut(u32, u32) -> Result<Overlap, E>,
) -> Result<Vec<DuplicateMember>, E> {
    let mut sets = DisjointSets::new(members);
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

/// The components of a graph whose verified pairs are known: the rule of [`components`] on `pairs`
/// of members below `members`, in any order, and `fixed` as for
/// [`stars_of_pairs`](super::stars_of_pairs).
///
/// # Errors
/// The first error of `overlap`.
pub fn components_of_pairs<E>(
    members: usize,
    pairs: &[(u32, u32, Overlap)],
    fixed: impl Fn(u32) -> bool,
    overlap: impl FnMut(u32, u32) -> Result<Overlap, E>,
) -> Result<Vec<DuplicateMember>, E> {
    let mut sets = DisjointSets::new(members);
    for &(a, b, _) in pairs.iter().filter(|(a, b, _)| !(fixed(*a) && fixed(*b))) {
        sets.join(a, b);
    }
    duplicates(sets, fixed, overlap)
}

/// Every member but the first of its set, as a duplicate of that first one.
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
