//! Every verified pair.

use super::bucket_chains::BucketChains;
use super::membership::{BucketMembership, NONE, probed_by};
use crate::verify::Overlap;

/// Returns every verified pair once, as (earlier, later, overlap), sorted. The arguments are as for
/// [`stars`](super::stars). Calls `similarity` once per candidate pair, so a bucket of n members
/// costs n(n−1)/2 calls, minus the pairs of two fixed members.
///
/// # Errors
/// The first error of `similarity`.
pub fn all_pairs<E>(
    members: usize,
    buckets: &impl BucketMembership,
    mut similarity: impl FnMut(u32, u32) -> Result<Option<Overlap>, E>,
) -> Result<Vec<(u32, u32, Overlap)>, E> {
    let mut earlier_members = BucketChains::new(buckets.bucket_count());
    let mut seen = vec![NONE; members];
    let mut pairs = Vec::new();
    for member in 0..members as u32 {
        for &bucket in probed_by(buckets, member) {
            for earlier in earlier_members.of(bucket) {
                if std::mem::replace(&mut seen[earlier as usize], member) == member {
                    continue;
                }
                pairs.extend(similarity(earlier, member)?.map(|o| (earlier, member, o)));
            }
        }
        // Inserted after the probe, so that the member does not find itself.
        earlier_members.push_all(buckets.inserted_buckets(member), member);
    }
    pairs.sort_unstable_by_key(|&(a, b, _)| (a, b));
    Ok(pairs)
}
