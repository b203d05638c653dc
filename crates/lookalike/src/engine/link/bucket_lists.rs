//! Lists of documents that are candidates of each other, in a log.
//!
//! A list consists of its length and its documents. Neither their order nor the order of lists
//! matters.

use crate::engine::checkpoint::{BandStep, Checkpoint, Step};
use crate::engine::error::FindError;
use crate::engine::ids::DocumentNumber;
use crate::engine::memory::Budget;
use crate::spill::{SpillError, SpillLog, TempSpace};
use lookalike_core::candidate::BandBuckets;
use std::sync::Arc;

/// A list of stored document numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DocumentList<'a>(&'a [u32]);

impl<'a> DocumentList<'a> {
    /// The number of documents.
    pub(crate) fn len(self) -> usize {
        self.0.len()
    }

    /// The first document.
    pub(crate) fn first(self) -> Option<DocumentNumber> {
        self.0.first().copied().map(DocumentNumber)
    }

    /// The documents in order.
    pub(crate) fn iter(self) -> impl Iterator<Item = DocumentNumber> + 'a {
        self.0.iter().copied().map(DocumentNumber)
    }

    /// Returns the inserted and the probing documents of a list from
    /// [`DocumentLists::push_directed`].
    pub(crate) fn split_directed(self) -> Option<(Self, Self)> {
        let (inserted, documents) = self.0.split_first()?;
        let (inserted, probing) = documents.split_at((*inserted as usize).min(documents.len()));
        Some((Self(inserted), Self(probing)))
    }
}

/// Lists of documents, one after the other.
#[derive(Debug, Default)]
pub(crate) struct DocumentLists {
    values: Vec<u32>,
    count: usize,
}

impl DocumentLists {
    /// The number of values.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Appends a list.
    pub(crate) fn push(&mut self, documents: impl Iterator<Item = DocumentNumber>) {
        self.push_values(documents.map(|document| document.0));
    }

    /// Appends a directed list: the number of inserted documents, the inserted documents, and those
    /// of them that probe the bucket.
    pub(crate) fn push_directed(
        &mut self,
        inserted: impl ExactSizeIterator<Item = DocumentNumber>,
        probing: impl Iterator<Item = DocumentNumber>,
    ) {
        let count = std::iter::once(inserted.len() as u32);
        self.push_values(count.chain(inserted.chain(probing).map(|document| document.0)));
    }

    fn push_values(&mut self, values: impl Iterator<Item = u32>) {
        let head = self.values.len();
        self.values.push(0);
        self.values.extend(values);
        self.values[head] = (self.values.len() - head - 1) as u32;
        self.count += 1;
    }

    /// Creates the lists of one band, whose members are indices of `documents`.
    pub(crate) fn of_band(buckets: &BandBuckets, documents: &[DocumentNumber]) -> Self {
        let memberships = buckets.memberships();
        let count = buckets.leaders().len();
        // The start of each list, then the index of its next document.
        let mut next = vec![0u32; count];
        for (_, bucket) in memberships {
            next[*bucket as usize] += 1;
        }
        let mut values = vec![0; memberships.len() + count];
        let mut start = 0;
        for next in &mut next {
            let length = *next;
            values[start as usize] = length;
            *next = start + 1;
            start += length + 1;
        }
        for (member, bucket) in memberships {
            let next = &mut next[*bucket as usize];
            values[*next as usize] = documents[*member as usize].0;
            *next += 1;
        }
        Self { values, count }
    }
}

/// The lists of a whole run.
pub(crate) struct BucketLists {
    log: SpillLog<u32>,
    memberships: u64,
}

impl BucketLists {
    /// Creates lists of equal documents, which a resumed run computes again.
    pub(crate) fn of_equal(temp: &Arc<TempSpace>, budget: &Budget) -> Self {
        Self { log: SpillLog::scratch(temp, "equal", budget.buckets()), memberships: 0 }
    }

    /// Creates lists of buckets, beginning with those that an earlier run finished.
    pub(crate) fn of_buckets(
        temp: &Arc<TempSpace>,
        budget: &Budget,
        checkpoint: &Checkpoint,
    ) -> Result<Self, FindError> {
        let last = checkpoint.done.bands.last();
        let (len, memberships) = last.map_or((0, 0), |step| (step.lists, step.memberships));
        Ok(Self { log: SpillLog::stored(temp, "buckets", budget.buckets(), len)?, memberships })
    }

    /// Adds lists.
    pub(crate) fn add(&mut self, lists: DocumentLists) -> Result<(), FindError> {
        self.memberships += (lists.values.len() - lists.count) as u64;
        self.log.append(lists.values)?;
        Ok(())
    }

    /// Records that the lists of a band and of all bands before it are complete.
    pub(crate) fn end_band(
        &mut self,
        band: u32,
        checkpoint: &Checkpoint,
    ) -> Result<(), SpillError> {
        self.log.sync()?;
        let lists = self.log.len();
        let memberships = self.memberships;
        checkpoint.append(Step::Band(BandStep { band, lists, memberships }))
    }

    /// The sum of the lengths of all lists.
    pub(crate) fn memberships(&self) -> u64 {
        self.memberships
    }

    /// Calls `f` for every list.
    pub(crate) fn for_each(&self, mut f: impl FnMut(DocumentList<'_>)) -> Result<(), FindError> {
        let length = |values: &[u32]| 1 + values[0] as usize;
        self.log.each_record(length, |list| {
            f(DocumentList(&list[1..]));
            Ok(())
        })
    }
}
