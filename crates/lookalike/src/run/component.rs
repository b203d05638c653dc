//! One component: its members in keep order, their shingle sets, and what is a duplicate of what.
//!
//! Members stand for all documents with equal shingles (their *copies*); copies of a duplicate are
//! decided here, since a document that was kept later than their first may be more like them.

use super::collected::Collected;
use super::{FindOptions, Grouping};
use lookalike_core::candidate::Component;
use lookalike_core::group::{self, Buckets};
use lookalike_core::params::Measure;
use lookalike_core::verify::{self, Overlap};
use std::cmp::Ordering;

/// The shingle sets of a component's members, one after the other.
#[derive(Debug, Default)]
pub(super) struct Sets {
    hashes: Vec<u64>,
    ends: Vec<usize>,
}

impl Sets {
    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.hashes.clear();
        self.ends.clear();
    }

    /// Appends the next member's set.
    pub(super) fn push(&mut self, set: &[u64]) {
        self.hashes.extend_from_slice(set);
        self.ends.push(self.hashes.len());
    }

    fn get(&self, i: usize) -> &[u64] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.hashes[start..self.ends[i]]
    }
}

/// What components gave, by document number.
#[derive(Debug, Default)]
pub(super) struct Decided {
    /// Duplicate, keeper, overlap with the keeper on the left. Copies of keepers are not listed.
    pub(super) duplicates: Vec<(u32, u32, Overlap)>,
    /// Verified pairs of members, where they were asked for.
    pub(super) pairs: Vec<(u32, u32, Overlap)>,
    /// Comparisons of two sets.
    pub(super) verified: u64,
}

impl Decided {
    /// Takes in what other components gave.
    pub(super) fn append(&mut self, mut other: Self) {
        self.duplicates.append(&mut other.duplicates);
        self.pairs.append(&mut other.pairs);
        self.verified += other.verified;
    }
}

/// A component's members, numbered by their place in the keep order.
pub(super) struct Placed<'a> {
    documents: &'a Collected,
    component: Component<'a>,
    sets: &'a Sets,
    /// Position → place in the component's list.
    order: Vec<u32>,
}

impl<'a> Placed<'a> {
    /// `sets` holds the sets of the component's members, in their order there.
    pub(super) fn new(documents: &'a Collected, component: Component<'a>, sets: &'a Sets) -> Self {
        let mut order: Vec<u32> = (0..component.members.len() as u32).collect();
        let document = |place: u32| component.members[place as usize];
        order.sort_unstable_by(|a, b| documents.compare(document(*a), document(*b)));
        Self { documents, component, sets, order }
    }

    fn document(&self, position: u32) -> u32 {
        self.component.members[self.order[position as usize] as usize]
    }

    fn buckets(&self, position: u32) -> &'a [u32] {
        self.component.buckets_of(self.order[position as usize] as usize)
    }

    fn overlap(&self, a: u32, b: u32) -> Overlap {
        verify::overlap(self.set(a), self.set(b))
    }

    fn set(&self, position: u32) -> &[u64] {
        self.sets.get(self.order[position as usize] as usize)
    }

    /// Verifies, groups, and adds the result to `decided`.
    pub(super) fn decide(&self, options: &FindOptions, decided: &mut Decided) {
        let (measure, threshold) = (options.params.measure(), options.params.threshold());
        let mut verified = 0;
        let similarity = |a: u32, b: u32| {
            verified += 1;
            verify::overlap_at_least(self.set(a), self.set(b), measure, threshold)
        };
        let overlap = |a, b| self.overlap(a, b);
        let (count, none_fixed) = (self.order.len(), |_| false);
        let duplicates = if options.pairs {
            let pairs = group::all_pairs(count, self, similarity);
            let numbered = pairs.iter().map(|&(a, b, o)| (self.document(a), self.document(b), o));
            decided.pairs.extend(numbered);
            match options.grouping {
                Grouping::Stars => group::stars_of_pairs(count, &pairs, none_fixed, measure),
                Grouping::Components => {
                    group::components_of_pairs(count, &pairs, none_fixed, overlap)
                }
            }
        } else {
            match options.grouping {
                Grouping::Stars => group::stars(count, self, measure, similarity),
                Grouping::Components => group::components(count, self, similarity, overlap),
            }
        };
        decided.verified += verified;
        for duplicate in &duplicates {
            let (keeper, overlap) = (self.document(duplicate.keeper), duplicate.overlap);
            decided.duplicates.push((self.document(duplicate.member), keeper, overlap));
        }
        match options.grouping {
            Grouping::Stars => self.copies_in_stars(&duplicates, measure, decided),
            Grouping::Components => self.copies_in_components(&duplicates, decided),
        }
    }

    /// Copies of a duplicate are duplicates of its keeper as well, unless a document that was kept
    /// between the two is more similar.
    fn copies_in_stars(
        &self,
        duplicates: &[group::Duplicate],
        measure: Measure,
        decided: &mut Decided,
    ) {
        let mut is_kept = vec![true; self.order.len()];
        for duplicate in duplicates {
            is_kept[duplicate.member as usize] = false;
        }
        let mut kept = None;
        for duplicate in duplicates {
            let member = duplicate.member;
            let mut copies = self.documents.copies_of(self.document(member)).peekable();
            if copies.peek().is_none() {
                continue;
            }
            let kept = kept.get_or_insert_with(|| self.by_bucket(&is_kept));
            let later = self.later_of(kept, member);
            decided.verified += later.len() as u64;
            let later: Vec<(u32, Overlap)> =
                later.into_iter().map(|x| (x, self.overlap(x, member))).collect();
            for copy in copies {
                let earlier = |x: u32| self.documents.compare(self.document(x), copy).is_lt();
                // Which reaches the threshold, so that what is better does, too.
                let mut best = (duplicate.keeper, duplicate.overlap);
                for &(x, overlap) in later.iter().take_while(|(x, _)| earlier(*x)) {
                    if overlap.compare(&best.1, measure) == Ordering::Greater {
                        best = (x, overlap);
                    }
                }
                decided.duplicates.push((copy, self.document(best.0), best.1));
            }
        }
    }

    /// The kept members of every bucket, ascending.
    fn by_bucket(&self, is_kept: &[bool]) -> Vec<Vec<u32>> {
        let mut kept = vec![Vec::new(); self.component.bucket_count];
        for member in (0..self.order.len() as u32).filter(|x| is_kept[*x as usize]) {
            for bucket in self.buckets(member) {
                kept[*bucket as usize].push(member);
            }
        }
        kept
    }

    /// The kept members that share a bucket with `member` and come after it, ascending.
    fn later_of(&self, kept: &[Vec<u32>], member: u32) -> Vec<u32> {
        let mut later = Vec::new();
        for bucket in self.buckets(member) {
            let members = &kept[*bucket as usize];
            let start = members.partition_point(|x| *x < member);
            later.extend_from_slice(&members[start..]);
        }
        later.sort_unstable();
        later.dedup();
        later
    }

    /// Copies of a duplicate have its keeper, the first of the component.
    fn copies_in_components(&self, duplicates: &[group::Duplicate], decided: &mut Decided) {
        for duplicate in duplicates {
            let (keeper, overlap) = (self.document(duplicate.keeper), duplicate.overlap);
            let copies = self.documents.copies_of(self.document(duplicate.member));
            decided.duplicates.extend(copies.map(|copy| (copy, keeper, overlap)));
        }
    }
}

impl Buckets for Placed<'_> {
    fn look(&self, member: u32) -> &[u32] {
        self.buckets(member)
    }

    fn stand(&self, member: u32) -> &[u32] {
        self.buckets(member)
    }

    fn count(&self) -> usize {
        self.component.bucket_count
    }

    fn fixed(&self, _: u32) -> bool {
        false
    }
}
