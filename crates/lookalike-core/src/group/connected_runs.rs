//! The members of a bucket, grouped by their connections.

use super::bucket_chains::ListEntry;
use super::membership::NONE;
use crate::disjoint_sets::DisjointSets;

/// Members of one bucket that are known to be connected with `member`, as a linked list.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConnectedRun {
    member: u32,
    first: u32,
    last: u32,
}

/// The runs of every bucket. A probe merges connected members into one run, which later probes
/// skip. The cost of a probe is the number of members that it compares.
pub(super) struct ConnectedRuns {
    pub(super) buckets: Vec<Vec<ConnectedRun>>,
    links: Vec<ListEntry>,
}

impl ConnectedRuns {
    pub(super) fn new(buckets: usize) -> Self {
        Self { buckets: vec![Vec::new(); buckets], links: Vec::new() }
    }

    pub(super) fn insert(&mut self, bucket: u32, member: u32) {
        let node = self.links.len() as u32;
        self.links.push(ListEntry { entry: member, next: NONE });
        self.buckets[bucket as usize].push(ConnectedRun { member, first: node, last: node });
    }

    /// Joins `member` with all members of the bucket that are `similar`. Calls `similar` only for
    /// members that are not connected with `member` yet, and merges all connected members into one
    /// run.
    ///
    /// # Errors
    /// The first error of `similar`; the runs are unusable afterwards.
    pub(super) fn join_similar<E>(
        &mut self,
        bucket: u32,
        member: u32,
        sets: &mut DisjointSets,
        mut similar: impl FnMut(u32) -> Result<bool, E>,
    ) -> Result<(), E> {
        let links = &mut self.links;
        let mut merged: Option<ConnectedRun> = None;
        let runs = &mut self.buckets[bucket as usize];
        let mut kept = 0;
        for at in 0..runs.len() {
            let run = runs[at];
            let mut node = run.first;
            while node != NONE && !sets.is_joined(run.member, member) {
                let ListEntry { entry: earlier, next } = links[node as usize];
                node = next;
                if similar(earlier)? {
                    sets.join(earlier, member);
                }
            }
            if !sets.is_joined(run.member, member) {
                runs[kept] = run;
                kept += 1;
                continue;
            }
            let first = match merged {
                Some(merged) => {
                    links[run.last as usize].next = merged.first;
                    ConnectedRun { first: run.first, ..merged }
                }
                None => run,
            };
            merged = Some(first);
        }
        runs.truncate(kept);
        runs.extend(merged);
        Ok(())
    }
}
