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

/// A bucket with more members is not divided.
const LONG_BUCKET: usize = 64;

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

    /// Creates the lists of one band. The members of `buckets` are indices into `documents`.
    /// Divides a list into groups that are connected by pairs of `likely` similar documents.
    pub(crate) fn of_band(
        buckets: &BandBuckets,
        documents: &[DocumentNumber],
        likely: impl Fn(u32, u32) -> bool,
    ) -> Self {
        let memberships = buckets.memberships();
        let count = buckets.leaders().len();
        // First the length of each list, later the index at which its next document is inserted.
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
            values[*next as usize] = *member;
            *next += 1;
        }
        let mut lists = Self { values: Vec::with_capacity(values.len()), count: 0 };
        let mut rest = values.as_mut_slice();
        while let Some((length, after)) = rest.split_first_mut() {
            let (members, after) = after.split_at_mut(*length as usize);
            rest = after;
            each_connected(members, &likely, |group| {
                lists.push(group.iter().map(|member| documents[*member as usize]));
            });
        }
        lists
    }
}

/// Divides the members of a bucket into groups that are connected by likely pairs, and calls `f`
/// with each group. Omits single members. Long buckets are not divided, because that takes
/// quadratic time.
fn each_connected(
    members: &mut [u32],
    likely: impl Fn(u32, u32) -> bool,
    mut f: impl FnMut(&[u32]),
) {
    if members.len() > LONG_BUCKET {
        return f(members);
    }
    let mut start = 0;
    while start < members.len() {
        let mut next = start;
        let mut end = start + 1;
        while next < end {
            let rest = end..members.len();
            for i in rest {
                if likely(members[next], members[i]) {
                    members.swap(end, i);
                    end += 1;
                }
            }
            next += 1;
        }
        if end > start + 1 {
            f(&members[start..end]);
        }
        start = end;
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
        let last = checkpoint.completed.bands.last();
        let (len, memberships) = last.map_or((0, 0), |step| (step.lists, step.memberships));
        Ok(Self { log: SpillLog::stored(temp, "buckets", budget.buckets(), len)?, memberships })
    }

    /// Adds lists.
    pub(crate) fn add(&mut self, lists: DocumentLists) -> Result<(), FindError> {
        self.memberships += (lists.values.len() - lists.count) as u64;
        self.log.append(lists.values)?;
        Ok(())
    }

    /// Records that a band is complete, with the length of all lists so far.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns groups of numbers. In a group, neighbours differ by 1.
    fn groups(mut members: Vec<u32>) -> Vec<Vec<u32>> {
        let mut groups = Vec::new();
        each_connected(
            &mut members,
            |a, b| a.abs_diff(b) == 1,
            |group| {
                let mut group = group.to_vec();
                group.sort_unstable();
                groups.push(group);
            },
        );
        groups.sort_unstable();
        groups
    }

    #[test]
    fn likely_pairs_form_connected_groups() {
        assert!(groups(vec![1, 3]).is_empty());
        assert_eq!(groups(vec![2, 1]), [[1, 2]]);
        assert_eq!(groups(vec![8, 3, 1, 9, 5, 2, 20]), [vec![1, 2, 3], vec![8, 9]]);
        let long = (0..=LONG_BUCKET as u32).map(|i| 2 * i).collect::<Vec<_>>();
        assert_eq!(groups(long.clone()), [long]);
    }
}
