//! Documents with equal shingles that are not one member of their component, since some of them are
//! of a reference collection.
//!
//! * In components, documents of a reference collection join nothing among themselves, and others
//!   with the same shingles do: the two kinds are a member each, which are joined.
//! * In stars, documents that must not be duplicates of each other may have keepers with the same
//!   shingles: each of several documents of a reference collection is a keeper by itself.

use crate::engine::decide::batch::ComponentBatch;
use crate::engine::ids::BatchIndex;
use crate::engine::options::{FindOptions, Grouping};

/// How the classes of one component are divided.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ClassDivision {
    /// A class is a member.
    Whole,
    /// Documents of a reference collection are a member, the others another one.
    References,
    /// As many documents of a reference collection are a member each; a class, with all of its
    /// documents, is the first of them.
    Keepers(usize),
}

impl ClassDivision {
    /// Chooses the division for a component with these representatives of its classes, which are
    /// documents of the batch.
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
                // At most this number of keepers has one of these documents among their duplicates.
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

    /// The documents of each member that a class is, the first of which represents it. A class is
    /// in the keep order, in which documents of a reference collection come first.
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
