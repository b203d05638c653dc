//! The copies of a class: its documents behind the first, once it is decided what becomes of that.
//!
//! Copies of a kept document are its duplicates. Copies of a duplicate are duplicates of its
//! keeper as well, unless a document that was kept between the two is more similar. Documents of a
//! reference collection are never duplicates.

use crate::engine::decide::batch::ComponentBatch;
use crate::engine::decide::batch_result::{BatchResult, EQUAL};
use crate::engine::decide::ordered_component::{Comparer, OrderedComponent};
use crate::engine::options::Grouping;
use crate::error::Error;
use lookalike_core::group::{BucketMembership, DuplicateMember};
use lookalike_core::verify::Overlap;
use std::cmp::Ordering;
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
) -> Result<(), Error> {
    let mut is_kept = vec![true; component.len()];
    for duplicate in duplicates {
        is_kept[duplicate.member as usize] = false;
    }
    let judged = judged_references(component);
    for position in (0..component.len() as u32).filter(|position| is_kept[*position as usize]) {
        let (batch, class) = (component.batch, component.class(position));
        let judged = judged.get(&batch.rows.row(class[0]).fingerprint).copied();
        let earlier = judged.filter(|document| batch.rows.compare(*document, class[0]).is_lt());
        copies_of(batch, class, earlier.unwrap_or(class[0]), decided);
    }
    let mut kept = None;
    for duplicate in duplicates {
        let copies = &component.class(duplicate.member)[1..];
        if copies.is_empty() {
            continue;
        }
        let mut best = (component.document(duplicate.keeper), duplicate.overlap);
        let later = match component.options.grouping {
            Grouping::Components => Vec::new(),
            Grouping::Stars => {
                let kept = kept.get_or_insert_with(|| by_bucket(component, &is_kept));
                later_of(component, kept, duplicate.member, comparer)?
            }
        };
        let mut later = later.into_iter().peekable();
        for copy in copies.iter().filter(|copy| !component.batch.rows.is_reference(**copy)) {
            let earlier = |x: u32| component.batch.rows.compare(x, *copy).is_lt();
            // The keeper reaches the threshold, so that what is better does, too.
            while let Some((document, overlap)) = later.next_if(|(x, _)| earlier(*x)) {
                if overlap.compare(&best.1, component.options.params.measure()) == Ordering::Greater
                {
                    best = (document, overlap);
                }
            }
            decided.duplicates.push((*copy, best.0, best.1));
        }
    }
    Ok(())
}

/// Decides the documents of a class whose first is kept.
pub(crate) fn of_kept(batch: &ComponentBatch, class: &[u32], decided: &mut BatchResult) {
    if let Some(first) = class.first() {
        copies_of(batch, class, *first, decided);
    }
}

fn copies_of(batch: &ComponentBatch, class: &[u32], keeper: u32, decided: &mut BatchResult) {
    let copies = class.iter().skip(1).filter(|copy| !batch.rows.is_reference(**copy));
    decided.duplicates.extend(copies.map(|copy| (*copy, keeper, EQUAL)));
}

/// By fingerprint: the first document of a reference collection that is judged. Such a document
/// represents itself, and is the keeper of equal documents if it precedes the first of their class.
fn judged_references(component: &OrderedComponent<'_>) -> HashMap<u128, u32> {
    let batch = component.batch;
    let mut first = HashMap::new();
    if batch.judged.is_empty() {
        return first;
    }
    for document in (0..component.len() as u32).map(|position| component.document(position)) {
        if batch.judged.has(document) && batch.rows.is_reference(document) {
            first.entry(batch.rows.row(document).fingerprint).or_insert(document);
        }
    }
    first
}

/// The kept members that are in every bucket, ascending.
fn by_bucket(component: &OrderedComponent<'_>, is_kept: &[bool]) -> Vec<Vec<u32>> {
    let mut kept = vec![Vec::new(); component.bucket_count()];
    for member in (0..component.len() as u32).filter(|x| is_kept[*x as usize]) {
        for bucket in component.inserted_buckets(member) {
            kept[*bucket as usize].push(member);
        }
    }
    kept
}

/// The kept members that are candidates of `member` and come after it, in order, with their
/// overlaps.
fn later_of(
    component: &OrderedComponent<'_>,
    kept: &[Vec<u32>],
    member: u32,
    comparer: &mut Comparer<'_, '_>,
) -> Result<Vec<(u32, Overlap)>, Error> {
    let mut later = Vec::new();
    for bucket in component.probed_buckets(member) {
        let members = &kept[*bucket as usize];
        let start = members.partition_point(|x| *x < member);
        later.extend_from_slice(&members[start..]);
    }
    later.sort_unstable();
    later.dedup();
    comparer.compared += later.len() as u64;
    later.into_iter().map(|x| Ok((component.document(x), comparer.overlap(x, member)?))).collect()
}
