//! Divides documents with equal shingles into several members of their component, if some of them
//! belong to a reference collection.
//!
//! * In components, documents of a reference collection are not joined with each other, but other
//!   documents with the same shingles are. So each of the two kinds is a member, and the two
//!   members are joined.
//! * In stars, documents that must not be duplicates of each other may have different keepers with
//!   the same shingles. So each of several documents of a reference collection is a keeper by
//!   itself.

use crate::engine::decide::batch::ComponentBatch;
use crate::engine::ids::BatchIndex;
use crate::engine::options::{FindOptions, Grouping};

/// The division of the classes of a component into members.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ClassDivision {
    /// A class is a member.
    Whole,
    /// Documents of a reference collection are one member, and all others are another one.
    References,
    /// Up to this many documents of a reference collection are a member each. The first of these
    /// members has all documents of the class.
    Keepers(usize),
}

impl ClassDivision {
    /// Chooses the division for a component. `representatives` are the documents of the batch that
    /// represent its classes.
    pub(crate) fn new(
        batch: &ComponentBatch,
        options: &FindOptions,
        representatives: &[u32],
    ) -> Self {
        // If the keepers are given, each document represents itself.
        if !batch.rows.has_reference() || options.keepers.is_given() {
            return Self::Whole;
        }
        match options.grouping {
            Grouping::Components => Self::References,
            Grouping::Stars => {
                let judged = |document: &u32| batch.judged.separated(BatchIndex(*document)).len();
                let separated = representatives.iter().map(judged);
                // At most this many keepers have a separated document as a duplicate, so one more
                // keeper is enough.
                match separated.max().unwrap_or(0) {
                    0 => Self::Whole,
                    most => Self::Keepers(most + 1),
                }
            }
        }
    }

    /// Whether classes may be more than one member.
    pub(crate) fn divides(self) -> bool {
        !matches!(self, Self::Whole)
    }

    /// Returns the documents of each member of a class. The first of them represents the member. A
    /// class is in keep order, in which documents of a reference collection come first.
    pub(crate) fn members<'c>(
        self,
        batch: &ComponentBatch,
        class: &'c [BatchIndex],
    ) -> Vec<&'c [BatchIndex]> {
        let count = class.partition_point(|document| batch.rows.is_reference(*document));
        match self {
            Self::References if count > 0 && count < class.len() => {
                let (references, others) = class.split_at(count);
                vec![references, others]
            }
            Self::Keepers(most) => {
                let further = class[..count.min(most)].chunks(1).skip(1);
                std::iter::once(class).chain(further).collect()
            }
            Self::References | Self::Whole => vec![class],
        }
    }
}
