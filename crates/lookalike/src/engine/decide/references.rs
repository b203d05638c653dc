//! Members of a component that belong to the reference collection, if pairs are listed; and buckets
//! for runs with given keepers. Members of the reference collection are inserted into these
//! buckets, and the others probe them.
//!
//! Two documents of the reference collection are not a pair. A document of the input that equals
//! one of them is part of the same member, and forms pairs with others of them.

use crate::engine::decide::ordered_component::OrderedComponent;
use crate::engine::ids::{IdVec, MemberNumber};
use lookalike_core::group::{BucketMembership, MemberRules};

/// The members of a component whose documents all belong to the reference collection.
pub(crate) struct ReferenceMembers {
    /// Whether each member has only such documents. Covers the members whose first document is one,
    /// which come first.
    whole: IdVec<MemberNumber, bool>,
}

impl ReferenceMembers {
    /// Whether a member has both documents of the reference collection and others.
    pub(crate) fn has_copies(&self) -> bool {
        self.whole.as_slice().contains(&false)
    }

    /// Whether all documents of a member belong to the reference collection.
    pub(crate) fn has(&self, member: MemberNumber) -> bool {
        self.whole.get(member).copied().unwrap_or_default()
    }
}

impl OrderedComponent<'_> {
    /// Returns the members that belong to the reference collection.
    pub(crate) fn references(&self) -> ReferenceMembers {
        let records = &self.batch.rows;
        let fixed = self.members().take_while(|member| self.is_fixed(member.0));
        let is_whole =
            |member| self.class(member).iter().all(|document| records.is_reference(*document));
        ReferenceMembers { whole: fixed.map(is_whole).collect() }
    }
}

/// Buckets that members of the reference collection also probe.
pub(crate) struct ProbingReferences<'b, B>(pub(crate) &'b B);

impl<B: BucketMembership> BucketMembership for ProbingReferences<'_, B> {
    fn probed_buckets(&self, member: u32) -> &[u32] {
        self.0.probed_buckets(member)
    }

    fn inserted_buckets(&self, member: u32) -> &[u32] {
        self.0.inserted_buckets(member)
    }

    fn bucket_count(&self) -> usize {
        self.0.bucket_count()
    }
}

impl<B: BucketMembership> MemberRules for ProbingReferences<'_, B> {
    fn is_fixed(&self, _: u32) -> bool {
        false
    }

    fn separated(&self, member: u32) -> &[u32] {
        self.0.separated(member)
    }
}

/// Buckets in which documents find only documents of the reference collection.
pub(crate) struct GivenKeepers<'b, B>(pub(crate) &'b B);

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
}

impl<B: BucketMembership> MemberRules for GivenKeepers<'_, B> {
    /// No bucket is fixed: keepers may come after others in the keep order, and are kept because
    /// they do not probe a bucket.
    fn is_fixed(&self, _: u32) -> bool {
        false
    }

    fn separated(&self, member: u32) -> &[u32] {
        self.0.separated(member)
    }
}
