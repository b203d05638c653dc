//! Decides the copies of a class (its documents after the first) after its first document is
//! decided.
//!
//! Copies of a kept document are its duplicates. A copy of a duplicate is also a duplicate of its
//! keeper, unless a more similar document between the duplicate and the copy was kept. Documents of
//! a reference collection are never duplicates.

use crate::engine::decide::batch::ComponentBatch;
use crate::engine::decide::batch_result::{BatchResult, DecidedDuplicate, EQUAL};
use crate::engine::decide::ordered_component::{Comparer, OrderedComponent};
use crate::engine::error::FindError;
use crate::engine::ids::{BatchIndex, IdVec, MemberNumber};
use crate::engine::options::Grouping;
use lookalike_core::group::{BucketMembership, DuplicateMember};
use lookalike_core::verify::Overlap;
use std::collections::HashMap;

/// Decides the copies of a component's members.
///
/// # Errors
/// A shingle set cannot be made.
pub(crate) fn decide_copies(
    component: &OrderedComponent<'_>,
    duplicates: &[DuplicateMember],
    comparer: &mut Comparer<'_, '_>,
    decided: &mut BatchResult,
) -> Result<(), FindError> {
    let mut is_kept = IdVec::from(vec![true; component.len()]);
    for duplicate in duplicates {
        is_kept[MemberNumber(duplicate.member)] = false;
    }
    let judged = judged_references(component);
    let batch = component.batch;
    for member in component.members().filter(|member| is_kept[*member]) {
        let class = component.class(member);
        let judged = judged.get(&batch.rows.row(class[0]).fingerprint).copied();
        let earlier = judged.filter(|document| batch.rows.compare(*document, class[0]).is_lt());
        copies_of(batch, class, earlier.unwrap_or(class[0]), decided);
    }
    let mut kept = None;
    for duplicate in duplicates {
        let member = MemberNumber(duplicate.member);
        let copies = &component.class(member)[1..];
        if copies.is_empty() {
            continue;
        }
        let mut keeper = component.document(MemberNumber(duplicate.keeper));
        let mut overlap = duplicate.overlap;
        let later = match component.options.grouping {
            Grouping::Components => Vec::new(),
            Grouping::Stars => {
                let kept =
                    kept.get_or_insert_with(|| KeptByBucket::new(component, duplicates, &is_kept));
                later_of(component, kept, member, comparer)?
            }
        };
        let mut later = later.into_iter().peekable();
        for &document in copies.iter().filter(|copy| !batch.rows.is_reference(**copy)) {
            let is_earlier = |other| batch.rows.compare(other, document).is_lt();
            // The keeper reaches the threshold, so a more similar document also does.
            while let Some((other, found)) = later.next_if(|(other, _)| is_earlier(*other)) {
                if found.compare(&overlap, component.options.params.measure()).is_gt() {
                    keeper = other;
                    overlap = found;
                }
            }
            decided.duplicates.push(DecidedDuplicate { document, keeper, overlap });
        }
    }
    Ok(())
}

/// Decides the documents of a class whose first document is kept.
pub(crate) fn of_kept(batch: &ComponentBatch, class: &[BatchIndex], decided: &mut BatchResult) {
    if let Some(first) = class.first() {
        copies_of(batch, class, *first, decided);
    }
}

fn copies_of(
    batch: &ComponentBatch,
    class: &[BatchIndex],
    keeper: BatchIndex,
    decided: &mut BatchResult,
) {
    let copies = class.iter().skip(1).filter(|copy| !batch.rows.is_reference(**copy));
    let duplicate =
        |document: &BatchIndex| DecidedDuplicate { document: *document, keeper, overlap: EQUAL };
    decided.duplicates.extend(copies.map(duplicate));
}

/// For each fingerprint, returns the first judged document of a reference collection. Such a
/// document represents itself, and is the keeper of equal documents if it precedes the first of
/// their class.
fn judged_references(component: &OrderedComponent<'_>) -> HashMap<u128, BatchIndex> {
    let batch = component.batch;
    let mut first = HashMap::new();
    if batch.judged.is_empty() {
        return first;
    }
    for document in component.members().map(|member| component.document(member)) {
        if batch.judged.has(document) && batch.rows.is_reference(document) {
            first.entry(batch.rows.row(document).fingerprint).or_insert(document);
        }
    }
    first
}

/// For each bucket that a duplicate with copies probes, its kept members, ascending. Most buckets
/// of a component are not probed and have no list.
struct KeptByBucket {
    /// The list of each bucket; [`NO_LIST`] for buckets that are not probed.
    lists: Vec<u32>,
    members: Vec<Vec<MemberNumber>>,
}

const NO_LIST: u32 = u32::MAX;

impl KeptByBucket {
    fn new(
        component: &OrderedComponent<'_>,
        duplicates: &[DuplicateMember],
        is_kept: &IdVec<MemberNumber, bool>,
    ) -> Self {
        let mut lists = vec![NO_LIST; component.bucket_count()];
        let mut members = Vec::new();
        for DuplicateMember { member, .. } in duplicates {
            if component.class(MemberNumber(*member)).len() > 1 {
                for bucket in component.probed_buckets(*member) {
                    let list = &mut lists[*bucket as usize];
                    if *list == NO_LIST {
                        *list = members.len() as u32;
                        members.push(Vec::new());
                    }
                }
            }
        }
        for member in component.members().filter(|member| is_kept[*member]) {
            for bucket in component.inserted_buckets(member.0) {
                if let Some(list) = members.get_mut(lists[*bucket as usize] as usize) {
                    list.push(member);
                }
            }
        }
        Self { lists, members }
    }

    fn of(&self, bucket: u32) -> &[MemberNumber] {
        self.members.get(self.lists[bucket as usize] as usize).map_or(&[], Vec::as_slice)
    }
}

/// Returns the kept members that are candidates of `member` and come after it, in order, with their
/// overlaps.
fn later_of(
    component: &OrderedComponent<'_>,
    kept: &KeptByBucket,
    member: MemberNumber,
    comparer: &mut Comparer<'_, '_>,
) -> Result<Vec<(BatchIndex, Overlap)>, FindError> {
    let mut later = Vec::new();
    for bucket in component.probed_buckets(member.0) {
        let members = kept.of(*bucket);
        let start = members.partition_point(|other| *other < member);
        later.extend_from_slice(&members[start..]);
    }
    later.sort_unstable();
    later.dedup();
    comparer.compared += later.len() as u64;
    let overlaps = later
        .into_iter()
        .map(|other| Ok((component.document(other), comparer.overlap(other, member)?)));
    overlaps.collect()
}
