//! User judgments about the members of one component.

use crate::engine::ids::{BatchIndex, IdVec, MemberNumber};
use crate::engine::link::judged_documents::JudgedDocuments;
use std::collections::{HashMap, HashSet};

/// Judgments about members.
#[derive(Debug, Default)]
pub(crate) struct ComponentJudgments {
    /// Pairs that are not duplicates, in the form for the core.
    separated: HashMap<MemberNumber, Vec<u32>>,
    /// Pairs of duplicates, the earlier member first.
    joined: HashSet<(MemberNumber, MemberNumber)>,
}

impl ComponentJudgments {
    /// Selects the judgments about the documents that represent members.
    pub(crate) fn new(
        judged: &JudgedDocuments<BatchIndex>,
        representatives: &IdVec<MemberNumber, BatchIndex>,
    ) -> Self {
        let mut found = Self::default();
        if judged.is_empty() {
            return found;
        }
        let members = representatives.entries().map(|(member, document)| (*document, member));
        let named: Vec<(BatchIndex, MemberNumber)> =
            members.filter(|(document, _)| judged.has(*document)).collect();
        let by_document: HashMap<BatchIndex, MemberNumber> = named.iter().copied().collect();
        let members_of = |documents: &[BatchIndex]| -> Vec<MemberNumber> {
            documents.iter().filter_map(|document| by_document.get(document).copied()).collect()
        };
        for (document, member) in &named {
            let separated = members_of(judged.separated(*document));
            if !separated.is_empty() {
                found.separated.insert(*member, separated.iter().map(|other| other.0).collect());
            }
            let later = members_of(judged.joined(*document)).into_iter();
            let later = later.filter(|other| member < other);
            found.joined.extend(later.map(|other| (*member, other)));
        }
        found
    }

    /// Returns the pairs of duplicates, the earlier member first, sorted.
    pub(crate) fn joined_pairs(&self) -> Vec<(MemberNumber, MemberNumber)> {
        let mut pairs: Vec<_> = self.joined.iter().copied().collect();
        pairs.sort_unstable();
        pairs
    }

    /// Returns the members that are not duplicates of this one, in the form for the core.
    pub(crate) fn separated(&self, member: MemberNumber) -> &[u32] {
        self.separated.get(&member).map_or(&[], Vec::as_slice)
    }

    /// Returns true if some members are not duplicates of each other.
    pub(crate) fn has_separated(&self) -> bool {
        !self.separated.is_empty()
    }

    /// Returns true if two members are not duplicates.
    pub(crate) fn are_separated(&self, a: MemberNumber, b: MemberNumber) -> bool {
        self.separated(a).contains(&b.0)
    }

    /// Returns true if two members, in any order, are duplicates.
    pub(crate) fn are_joined(&self, a: MemberNumber, b: MemberNumber) -> bool {
        self.joined.contains(&(a.min(b), a.max(b)))
    }
}
