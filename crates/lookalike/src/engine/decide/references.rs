//! Members of a component that belong to the reference collection, and buckets with special rules
//! for them.
//!
//! If pairs are listed, two documents of the reference collection are never a pair. An input
//! document that equals a document of the reference collection belongs to the same member, and
//! forms pairs with other documents of the reference collection. Such a member must therefore probe
//! buckets, as in [`ProbingReferences`].
//!
//! If the keepers are given, members of the reference collection are only inserted into buckets,
//! and the other members only probe them, as in [`GivenKeepers`].

use crate::engine::decide::ordered_component::OrderedComponent;
use crate::engine::ids::{IdVec, MemberNumber};
use lookalike_core::group::{BucketMembership, MemberRules};

/// The members of a component whose documents all belong to the reference collection.
pub(crate) struct ReferenceMembers {
    /// For each fixed member, whether all its documents belong to the reference collection. Fixed
    /// members come first in the component, so the others are not listed.
    is_whole: IdVec<MemberNumber, bool>,
}

impl ReferenceMembers {
    /// Whether a fixed member has documents that do not belong to the reference collection.
    pub(crate) fn has_copies(&self) -> bool {
        self.is_whole.as_slice().contains(&false)
    }

    /// Whether all documents of a member belong to the reference collection.
    pub(crate) fn has(&self, member: MemberNumber) -> bool {
        self.is_whole.get(member).copied().unwrap_or_default()
    }
}

impl OrderedComponent<'_> {
    /// Returns the members that belong to the reference collection.
    pub(crate) fn references(&self) -> ReferenceMembers {
        let records = &self.batch.rows;
        let fixed = self.members().take_while(|member| self.is_fixed(member.0));
        let is_whole =
            |member| self.class(member).iter().all(|document| records.is_reference(*document));
        ReferenceMembers { is_whole: fixed.map(is_whole).collect() }
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
    /// Returns false for every member. Fixed members precede all others, but given keepers may come
    /// later in the keep order. They are kept because they probe no bucket.
    fn is_fixed(&self, _: u32) -> bool {
        false
    }

    fn separated(&self, member: u32) -> &[u32] {
        self.0.separated(member)
    }
}
