//! The numbers that a document has in the course of a run. Each kind has its own type.
//!
//! ```text
//! RowIndex in a block → DocumentNumber in the run → BatchIndex in a batch of components
//!   → ComponentIndex of its class in the component → MemberNumber in keep order
//! ```
//!
//! [`lookalike_core`] takes plain numbers. Ids are converted to them only in calls of its
//! functions.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut, Range};

/// A number that selects a value of an [`IdVec`].
pub(crate) trait Id: Copy + Ord {
    /// Creates the number with this index. Callers have fewer than 2³² values.
    fn new(index: usize) -> Self;

    /// The index into the values of this kind.
    fn index(self) -> usize;
}

macro_rules! ids {
    ($($(#[$doc:meta])* $visibility:vis struct $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize,
            Deserialize,
        )]
        #[serde(transparent)]
        #[repr(transparent)]
        $visibility struct $name(
            /// The number, from 0.
            pub u32,
        );

        impl From<u32> for $name {
            #[inline]
            fn from(number: u32) -> Self {
                Self(number)
            }
        }

        impl From<$name> for u32 {
            #[inline]
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl Id for $name {
            #[inline]
            fn new(index: usize) -> Self {
                Self(index as u32)
            }

            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// The number of a document in a run, in reading order.
    pub struct DocumentNumber;

    /// The index of a document in its block.
    pub(crate) struct RowIndex;

    /// The index of a document in a [`ComponentBatch`](super::decide::batch::ComponentBatch).
    pub(crate) struct BatchIndex;

    /// The index of a class, two or more documents of a batch with equal shingles.
    pub(crate) struct ClassIndex;

    /// The index of a class in a component, in the list of its representatives from the core.
    pub(crate) struct ComponentIndex;

    /// The number of a member of a component in keep order. The core calls this number a member.
    pub(crate) struct MemberNumber;

    /// The rank of a document of a batch by its id. If two have the same id, the document of a
    /// reference collection is the later.
    pub(crate) struct IdRank;

    /// The number of the source for the counts of a document, in the order in which threads first
    /// met it. In a divided run, its index in the table stored with the rows.
    pub(crate) struct SourceNumber;

    /// The index of a source in reading order, as in [`Findings::sources`](crate::Findings).
    pub(crate) struct SourceIndex;
}

/// The identity of a document in a divided run: 64 bits that the caller chooses, such as
/// [`node_of`](crate::shard::node_of).
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
#[repr(transparent)]
pub struct Node(
    /// The bits.
    pub u64,
);

impl DocumentNumber {
    /// Returns the index of this document in the block whose first document is `start`.
    pub(crate) fn row_after(self, start: Self) -> RowIndex {
        RowIndex(self.0 - start.0)
    }
}

impl RowIndex {
    /// Returns the document with this index in the block whose first document is `start`.
    pub(crate) fn document_after(self, start: DocumentNumber) -> DocumentNumber {
        DocumentNumber(start.0 + self.0)
    }
}

impl fmt::Display for DocumentNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Iterates over the ids of a range, ascending.
pub(crate) fn each<K: Id>(range: Range<K>) -> impl Iterator<Item = K> + Clone {
    (range.start.index()..range.end.index()).map(K::new)
}

/// Iterates over the ids from `first` on.
#[inline]
pub(crate) fn from<K: Id>(first: K) -> impl Iterator<Item = K> {
    (first.index()..).map(K::new)
}

/// Iterates over the first `count` ids.
pub(crate) fn first<K: Id>(count: usize) -> impl DoubleEndedIterator<Item = K> + Clone {
    (0..count).map(K::new)
}

/// A vector whose indices are ids of one kind.
#[derive(Debug, Clone)]
pub(crate) struct IdVec<K, T> {
    values: Vec<T>,
    key: PhantomData<fn(K)>,
}

impl<K, T> Default for IdVec<K, T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<K, T> From<Vec<T>> for IdVec<K, T> {
    fn from(values: Vec<T>) -> Self {
        Self { values, key: PhantomData }
    }
}

impl<K, T> FromIterator<T> for IdVec<K, T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Vec::from_iter(values).into()
    }
}

impl<K: Id, T> IdVec<K, T> {
    /// Appends a value, and returns its id.
    pub(crate) fn push(&mut self, value: T) -> K {
        self.values.push(value);
        K::new(self.values.len() - 1)
    }

    /// Replaces all values by `count` new ones.
    pub(crate) fn reset(&mut self, count: usize, value: impl FnMut() -> T) {
        self.values.clear();
        self.values.resize_with(count, value);
    }

    /// The number of values.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// The values in the order of their ids.
    pub(crate) fn as_slice(&self) -> &[T] {
        &self.values
    }

    /// The values with their ids, ascending.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (K, &T)> {
        (0..).map(K::new).zip(&self.values)
    }

    /// The value with an id, if there is one.
    pub(crate) fn get(&self, id: K) -> Option<&T> {
        self.values.get(id.index())
    }
}

impl<K: Id, T> Index<K> for IdVec<K, T> {
    type Output = T;

    #[inline]
    fn index(&self, id: K) -> &T {
        &self.values[id.index()]
    }
}

impl<K: Id, T> IndexMut<K> for IdVec<K, T> {
    #[inline]
    fn index_mut(&mut self, id: K) -> &mut T {
        &mut self.values[id.index()]
    }
}
