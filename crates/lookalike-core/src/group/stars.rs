//! Stars: every duplicate resembles the kept member that it is a duplicate of.

use super::bucket_chains::BucketChains;
use super::membership::{BucketMembership, DuplicateMember, NONE, probed_by};
use crate::params::Measure;
use crate::verify::Overlap;
use std::cmp::Ordering;

/// Star groups of `members` members (fewer than 2³² − 1) that share buckets. A duplicate names its
/// best kept neighbour: the highest similarity in this measure, by exact fractions, then an equal
/// set, then the earliest. Duplicates come in order.
///
/// `similarity(earlier, later)` is called at most once per pair, and only for candidate pairs of a
/// kept and a later member: 10,000 copies in one bucket are 9,999 calls. It must depend on
/// nothing but the pair. Memory: 4 bytes per member and bucket, 8 per bucket of a kept member.
///
/// # Errors
/// The first error of `similarity`.
pub fn stars<E>(
    members: usize,
    buckets: &impl BucketMembership,
    measure: Measure,
    mut similarity: impl FnMut(u32, u32) -> Result<Option<Overlap>, E>,
) -> Result<Vec<DuplicateMember>, E> {
    let mut kept_by_bucket = BucketChains::new(buckets.bucket_count());
    let mut seen = vec![NONE; members];
    let mut duplicates = Vec::new();
    for member in 0..members as u32 {
        let mut best: Option<DuplicateMember> = None;
        for &bucket in probed_by(buckets, member) {
            for keeper in kept_by_bucket.of(bucket) {
                if std::mem::replace(&mut seen[keeper as usize], member) == member {
                    continue;
                }
                if let Some(overlap) = similarity(keeper, member)? {
                    replace_if_better(
                        &mut best,
                        DuplicateMember { member, keeper, overlap },
                        measure,
                    );
                }
            }
        }
        match best {
            Some(duplicate) => duplicates.push(duplicate),
            None => kept_by_bucket.push_all(buckets.inserted_buckets(member), member),
        }
    }
    Ok(duplicates)
}

/// Star groups of a graph whose verified pairs are known: the rule of [`stars`] on `pairs` of
/// members below `members`, in any order. `fixed` has the meaning of
/// [`BucketMembership::is_fixed`]; pairs of two fixed members are ignored. O(members + pairs).
pub fn stars_of_pairs(
    members: usize,
    pairs: &[(u32, u32, Overlap)],
    fixed: impl Fn(u32) -> bool,
    measure: Measure,
) -> Vec<DuplicateMember> {
    // The pairs of a member with earlier ones, by their index in `pairs`.
    let mut pairs_by_later = BucketChains::new(members);
    for (i, &(a, b, _)) in pairs.iter().enumerate().filter(|(_, (a, b, _))| a != b) {
        pairs_by_later.push(a.max(b), i as u32);
    }
    let mut is_kept = vec![true; members];
    let mut duplicates = Vec::new();
    for member in (0..members as u32).filter(|member| !fixed(*member)) {
        let mut best = None;
        for pair in pairs_by_later.of(member) {
            let (a, b, overlap) = pairs[pair as usize];
            let (keeper, overlap) = if a < b { (a, overlap) } else { (b, overlap.swapped()) };
            if is_kept[keeper as usize] {
                replace_if_better(&mut best, DuplicateMember { member, keeper, overlap }, measure);
            }
        }
        is_kept[member as usize] = best.is_none();
        duplicates.extend(best);
    }
    duplicates
}

/// Replaces the best keeper so far by a better one. Of equally similar ones an equal set is better:
/// in containment, sets that are not equal may have similarity 1.
fn replace_if_better(best: &mut Option<DuplicateMember>, new: DuplicateMember, measure: Measure) {
    let better = best.is_none_or(|old| match new.overlap.compare(&old.overlap, measure) {
        Ordering::Less => false,
        Ordering::Equal => {
            let rank = |it: &DuplicateMember| (!it.overlap.is_of_equal_sets(), it.keeper);
            rank(&new) < rank(&old)
        }
        Ordering::Greater => true,
    });
    if better {
        *best = Some(new);
    }
}
