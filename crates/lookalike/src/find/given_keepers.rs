//! Buckets where the keepers are given: those of the reference collection are in them, the others
//! look into them.

use lookalike_core::group::BucketMembership;

/// Some buckets in which no document finds another one that is not of the reference collection.
pub(super) struct GivenKeepers<'b, B>(pub(super) &'b B);

impl<B: BucketMembership> BucketMembership for GivenKeepers<'_, B> {
    fn probed_buckets(&self, member: u32) -> &[u32] {
        if self.0.is_fixed(member) { &[] } else { self.0.probed_buckets(member) }
    }

    fn inserted_buckets(&self, member: u32) -> &[u32] {
        if self.0.is_fixed(member) { self.0.inserted_buckets(member) } else { &[] }
    }

    fn bucket_count(&self) -> usize {
        self.0.bucket_count()
    }

    /// None: keepers may stand behind others in the keep order, and are kept since they probe no
    /// bucket.
    fn is_fixed(&self, _: u32) -> bool {
        false
    }
}
