//! The buckets of members, and the roles of members in the result.

use crate::verify::Overlap;

/// Represents "not compared yet" and the end of a list.
pub(super) const NONE: u32 = u32::MAX;

/// Properties of members that are known before they are compared. A `Fn(u32) -> bool` implements
/// [`is_fixed`](Self::is_fixed), without separated members.
pub trait MemberRules {
    /// Returns true if a member is kept whatever it resembles. Fixed members precede all others and
    /// probe no bucket.
    fn is_fixed(&self, member: u32) -> bool;

    /// The members that are never in a group with this one, in any order. Their own lists contain
    /// this member.
    fn separated(&self, member: u32) -> &[u32];
}

impl<F: Fn(u32) -> bool> MemberRules for F {
    fn is_fixed(&self, member: u32) -> bool {
        self(member)
    }

    fn separated(&self, _: u32) -> &[u32] {
        &[]
    }
}

/// The buckets that contain each member, and the buckets that it probes for earlier members. The
/// lists may be in any order and name a bucket twice; every number in them is below
/// [`bucket_count`](Self::bucket_count).
pub trait BucketMembership: MemberRules {
    /// The buckets in which this member looks for earlier ones.
    fn probed_buckets(&self, member: u32) -> &[u32];

    /// The buckets in which later members find this one.
    fn inserted_buckets(&self, member: u32) -> &[u32];

    /// The number of buckets. Buckets are numbered from 0.
    fn bucket_count(&self) -> usize;
}

/// A member that is not kept, and the kept member that it resembles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DuplicateMember {
    /// The duplicate.
    pub member: u32,
    /// The kept member, which comes earlier in the keep order.
    pub keeper: u32,
    /// The overlap: `left` is the keeper's set, `right` the duplicate's.
    pub overlap: Overlap,
}

/// A kept member without a duplicate of its own, and the most similar duplicate of another keeper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelatedMember {
    /// The kept member.
    pub member: u32,
    /// The duplicate that it resembles most.
    pub neighbour: u32,
    /// The overlap: `left` is the kept member's set, `right` the duplicate's.
    pub overlap: Overlap,
}

/// The buckets that a member probes: none if it is fixed, because all earlier members are fixed.
pub(super) fn probed_by(buckets: &impl BucketMembership, member: u32) -> &[u32] {
    if buckets.is_fixed(member) { &[] } else { buckets.probed_buckets(member) }
}
