//! Members of a component that are of the reference collection, where pairs are listed, and buckets
//! where the keepers are given: members of the reference collection are inserted into them, the
//! others probe them.
//!
//! Two documents of the reference collection are not a pair. A document of the collection that is
//! equal to one of them is part of the same member, and has pairs with others of them.

use crate::engine::decide::ordered_component::OrderedComponent;
use crate::engine::ids::{IdVec, MemberNumber};
use lookalike_core::group::{BucketMembership, MemberRules};

/// The members of a component all of whose documents are of the reference collection.
pub(crate) struct ReferenceMembers {
    /// For the members whose first document is one of them, which come first.
    whole: IdVec<MemberNumber, bool>,
}

impl ReferenceMembers {
    /// Whether a member has documents of the reference collection and others.
    pub(crate) fn has_copies(&self) -> bool {
        self.whole.as_slice().contains(&false)
    }

    /// Whether all documents of a member are of the reference collection.
    pub(crate) fn has(&self, member: MemberNumber) -> bool {
        self.whole.get(member).copied().unwrap_or_default()
    }
}

impl OrderedComponent<'_> {
    /// The members that are of the reference collection.
    pub(crate) fn references(&self) -> ReferenceMembers {
        let records = &self.batch.rows;
        let fixed = self.members().take_while(|member| self.is_fixed(member.0));
        let is_whole =
            |member| self.class(member).iter().all(|document| records.is_reference(*document));
        ReferenceMembers { whole: fixed.map(is_whole).collect() }
    }
}

/// Some buckets that members of the reference collection also probe.
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

/// Some buckets in which no document finds another one that is not of the reference collection.
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
    /// None: keepers may come after others in the keep order, and are kept since they probe no
    /// bucket.
    fn is_fixed(&self, _: u32) -> bool {
        false
    }

    fn separated(&self, member: u32) -> &[u32] {
        self.0.separated(member)
    }
}
