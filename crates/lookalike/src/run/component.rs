//! One component: its members in keep order, and what is a duplicate of what.
//!
//! Members stand for all documents with equal shingles (their *class*); copies of a duplicate are
//! decided here, since a document that was kept later than their first may be more like them.

use super::batch::Batch;
use super::copies;
use super::estimates;
use super::pairs::MAX_PAIRS;
use super::runaway::runaway;
use super::screen::{Screen, meetings};
use super::sets::Sets;
use super::{FindOptions, Grouping, PairList};
use crate::error::Error;
use crate::progress::{Progress, Warning};
use lookalike_core::candidate::Component;
use lookalike_core::group::{self, Buckets, Duplicate, Related};
use lookalike_core::params::{Measure, Params};
use lookalike_core::verify::{self, Overlap};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;

/// After so many comparisons in vain for each member, those that are left are screened first.
const IN_VAIN: u64 = 64;

/// Two members, their overlap, and the number of equal values of their signatures.
pub(super) type VerifiedPair = (u32, u32, Overlap, Option<u32>);

/// What components gave, by place in the batch.
#[derive(Debug, Default)]
pub(super) struct Decided {
    /// Duplicate, keeper, overlap with the keeper on the left.
    pub(super) duplicates: Vec<(u32, u32, Overlap)>,
    /// Verified pairs of members, where they were asked for, and how many values of their
    /// signatures are equal, where that was asked for.
    pub(super) pairs: Vec<VerifiedPair>,
    /// Kept document without a group, the most similar duplicate of another one, and their overlap
    /// with the former on the left; where they were asked for.
    pub(super) related: Vec<(u32, u32, Overlap)>,
    /// Comparisons of two sets.
    pub(super) verified: u64,
}

impl Decided {
    /// Takes in what other components gave.
    pub(super) fn append(&mut self, mut other: Self) {
        self.duplicates.append(&mut other.duplicates);
        self.pairs.append(&mut other.pairs);
        self.related.append(&mut other.related);
        self.verified += other.verified;
    }
}

/// A component's members, numbered by their place in the keep order.
pub(super) struct Placed<'a> {
    batch: &'a Batch,
    options: &'a FindOptions,
    component: Component<'a>,
    /// Position → place in the component's list.
    order: Vec<u32>,
    /// Position → the first in keep order of the member's class, by place in the batch.
    firsts: Vec<u32>,
    /// Where only some members may look for others: the buckets in which each does, by position.
    looks: Option<Vec<Vec<u32>>>,
}

impl<'a> Placed<'a> {
    pub(super) fn new(
        batch: &'a Batch,
        options: &'a FindOptions,
        component: Component<'a>,
    ) -> Self {
        let mut order: Vec<u32> = (0..component.members.len() as u32).collect();
        let first = |place: u32| batch.class(&component.members[place as usize])[0];
        order.sort_unstable_by(|a, b| batch.records.compare(first(*a), first(*b)));
        let firsts = order.iter().map(|place| first(*place)).collect();
        let mut this = Self { batch, options, component, order, firsts, looks: None };
        this.looks = batch.directed.then(|| this.directed());
        this
    }

    /// Of directed buckets, the upper half of the numbers are those who look into the lower half:
    /// they look at all that stand there. The others look at those who look.
    fn directed(&self) -> Vec<Vec<u32>> {
        let half = self.component.bucket_count as u32 / 2;
        let looks = |position: u32| {
            let buckets = self.buckets(position);
            let (standing, looking) = buckets.split_at(buckets.partition_point(|b| *b < half));
            let look = |bucket: u32| {
                let looks = looking.binary_search(&(bucket + half)).is_ok();
                if looks { bucket } else { bucket + half }
            };
            standing.iter().map(|bucket| look(*bucket)).collect()
        };
        (0..self.order.len() as u32).map(looks).collect()
    }

    fn place(&self, position: u32) -> u32 {
        self.order[position as usize]
    }

    /// The document of a position, by place in the batch.
    pub(super) fn document(&self, position: u32) -> u32 {
        self.firsts[position as usize]
    }

    /// How many members there are.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    fn buckets(&self, position: u32) -> &'a [u32] {
        self.component.buckets_of(self.place(position) as usize)
    }

    /// The shingle set of a position.
    pub(super) fn set<'s>(&self, position: u32, sets: &'s mut Sets<'_>) -> &'s [u64] {
        sets.one(self.batch, self.place(position), self.document(position))
    }

    /// Verifies, groups, and adds the result to `decided`.
    pub(super) fn decide(
        &self,
        sets: &mut Sets<'_>,
        most_pairs: u64,
        decided: &mut Decided,
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        sets.begin(self.len());
        let in_vain = (!self.options.params.exact()).then(|| IN_VAIN * (self.len() as u64 + 64));
        let mut comparer =
            Comparer { placed: self, sets, in_vain, screened: false, most_pairs, verified: 0 };
        let mut found = self.group(&mut comparer, self);
        if comparer.in_vain == Some(0) {
            comparer.in_vain = None;
            let screen = Screen::new(self, &self.options.params, comparer.sets);
            let (ahead, screened) = (meetings(self.len(), self), meetings(self.len(), &screen));
            if let Some(runaway) = runaway(self, ahead.min(screened), comparer.sets) {
                progress.warn(&Warning::Runaway(runaway));
            }
            comparer.screened = screened < ahead;
            found = if comparer.screened {
                self.group(&mut comparer, &screen)
            } else {
                self.group(&mut comparer, self)
            };
        }
        comparer.sets.finish()?;
        if comparer.most_pairs == 0 {
            return Err(if most_pairs < MAX_PAIRS {
                Error::PairsDoNotFit { most: most_pairs }
            } else {
                Error::TooManyPairs { got: most_pairs }
            });
        }
        decided.verified += comparer.verified;
        let equal = if self.options.pairs == PairList::WithEstimates {
            estimates::equal_values(self, self.options, &found.pairs, comparer.sets)
        } else {
            Vec::new()
        };
        let numbered = |(i, &(a, b, overlap)): (usize, &(u32, u32, Overlap))| {
            (self.document(a), self.document(b), overlap, equal.get(i).copied())
        };
        decided.pairs.extend(found.pairs.iter().enumerate().map(numbered));
        for duplicate in &found.duplicates {
            let (keeper, overlap) = (self.document(duplicate.keeper), duplicate.overlap);
            decided.duplicates.push((self.document(duplicate.member), keeper, overlap));
        }
        let earlier = decided.duplicates.len() - found.duplicates.len();
        copies::decide(self, &found.duplicates, &mut comparer, decided);
        self.add_related(&found.related, earlier, decided);
        comparer.sets.finish()
    }

    /// Adds the kept documents that resemble duplicates of others, without those that copies made a
    /// keeper: the component's duplicates in `decided` begin at `first`.
    fn add_related(&self, related: &[Related], first: usize, decided: &mut Decided) {
        if related.is_empty() {
            return;
        }
        let keepers: HashSet<u32> = decided.duplicates[first..].iter().map(|d| d.1).collect();
        for &Related { member, neighbour, overlap } in related {
            let (member, neighbour) = (self.document(member), self.document(neighbour));
            if !keepers.contains(&member) {
                decided.related.push((member, neighbour, overlap));
            }
        }
    }

    /// Groups by some buckets: those of the component, or those of the screen.
    fn group(&self, comparer: &mut Comparer<'_, '_>, buckets: &impl Buckets) -> Grouped {
        let (count, measure) = (self.len(), self.options.params.measure());
        let stars = self.options.grouping == Grouping::Stars;
        let shared = RefCell::new(comparer);
        let over = Cell::new(false);
        let buckets = &Until { buckets, over: &over };
        let similarity = |a, b| {
            let mut comparer = shared.borrow_mut();
            let found = comparer.similarity(a, b);
            over.set(comparer.is_over());
            found
        };
        let overlap = |a, b| shared.borrow_mut().overlap(a, b);
        if self.options.pairs.is_listed() {
            let pairs = group::all_pairs(count, buckets, similarity);
            let fixed = |position| self.fixed(position);
            let duplicates = if stars {
                group::stars_of_pairs(count, &pairs, fixed, measure)
            } else {
                group::components_of_pairs(count, &pairs, fixed, overlap)
            };
            let related = if stars && self.options.related {
                group::related_of_pairs(count, &pairs, fixed, measure, &duplicates)
            } else {
                Vec::new()
            };
            return Grouped { duplicates, pairs, related };
        }
        let duplicates = if stars {
            group::stars(count, buckets, measure, &similarity)
        } else {
            group::components(count, buckets, &similarity, overlap)
        };
        let related = if stars && self.options.related {
            group::related(count, buckets, measure, &duplicates, similarity)
        } else {
            Vec::new()
        };
        Grouped { duplicates, pairs: Vec::new(), related }
    }

    /// Whether two members share a bucket, in which one may look for the other.
    fn are_candidates(&self, a: u32, b: u32) -> bool {
        let (mut a, mut b) = (self.look(b), self.stand(a));
        while let ([x, rest_a @ ..], [y, rest_b @ ..]) = (a, b) {
            match x.cmp(y) {
                std::cmp::Ordering::Equal => return true,
                std::cmp::Ordering::Less => a = rest_a,
                std::cmp::Ordering::Greater => b = rest_b,
            }
        }
        false
    }

    /// Documents with equal shingles that the member stands for, itself the first.
    pub(super) fn class(&self, position: u32) -> &'a [u32] {
        self.batch.class(&self.component.members[self.place(position) as usize])
    }

    /// The batch the component is of.
    pub(super) fn batch(&self) -> &'a Batch {
        self.batch
    }

    /// What is similar.
    pub(super) fn params(&self) -> &'a Params {
        &self.options.params
    }

    /// How groups are formed.
    pub(super) fn grouping(&self) -> Grouping {
        self.options.grouping
    }

    /// What similarity is.
    pub(super) fn measure(&self) -> Measure {
        self.options.params.measure()
    }
}

impl Buckets for Placed<'_> {
    fn look(&self, member: u32) -> &[u32] {
        match &self.looks {
            Some(looks) => &looks[member as usize],
            None => self.buckets(member),
        }
    }

    fn stand(&self, member: u32) -> &[u32] {
        self.buckets(member)
    }

    fn count(&self) -> usize {
        self.component.bucket_count
    }

    fn fixed(&self, member: u32) -> bool {
        self.batch.records.is_reference(self.document(member))
    }
}

/// Buckets in which nobody looks any more once it is over: walking through large ones is quadratic
/// even where nothing is compared.
struct Until<'b, B> {
    buckets: &'b B,
    over: &'b Cell<bool>,
}

impl<B: Buckets> Buckets for Until<'_, B> {
    fn look(&self, member: u32) -> &[u32] {
        if self.over.get() { &[] } else { self.buckets.look(member) }
    }

    fn stand(&self, member: u32) -> &[u32] {
        self.buckets.stand(member)
    }

    fn count(&self) -> usize {
        self.buckets.count()
    }

    fn fixed(&self, member: u32) -> bool {
        self.buckets.fixed(member)
    }
}

/// What a rule of grouping gave, by position.
#[derive(Default)]
struct Grouped {
    duplicates: Vec<Duplicate>,
    pairs: Vec<(u32, u32, Overlap)>,
    related: Vec<Related>,
}

/// Compares members, and counts.
pub(super) struct Comparer<'p, 's> {
    placed: &'p Placed<'p>,
    sets: &'p mut Sets<'s>,
    /// Comparisons in vain that are left; none are made when there are none left.
    in_vain: Option<u64>,
    screened: bool,
    /// Pairs that may still be found; none are looked for when there are none left.
    most_pairs: u64,
    pub(super) verified: u64,
}

impl Comparer<'_, '_> {
    /// The overlap of two members, the one that comes earlier first, if it reaches the threshold.
    fn similarity(&mut self, a: u32, b: u32) -> Option<Overlap> {
        if self.is_over() {
            return None;
        }
        let placed = self.placed;
        // With a screen, members may meet that share no bucket.
        if self.screened && !placed.are_candidates(a, b) {
            return None;
        }
        self.verified += 1;
        let params = &placed.options.params;
        let (a, b) = placed.two(a, b, self.sets);
        let found = verify::overlap_at_least(a, b, params.measure(), params.threshold());
        if found.is_none() {
            self.in_vain = self.in_vain.map(|left| left - 1);
        } else if placed.options.pairs.is_listed() {
            self.most_pairs -= 1;
        }
        found
    }

    /// Whether no more comparisons are made.
    fn is_over(&self) -> bool {
        self.in_vain == Some(0) || self.most_pairs == 0 || self.sets.failed()
    }

    /// The overlap of two members, whatever it is.
    pub(super) fn overlap(&mut self, a: u32, b: u32) -> Overlap {
        let (a, b) = self.placed.two(a, b, self.sets);
        verify::overlap(a, b)
    }
}

impl Placed<'_> {
    fn two<'s>(&self, a: u32, b: u32, sets: &'s mut Sets<'_>) -> (&'s [u64], &'s [u64]) {
        let member = |position| (self.place(position), self.document(position));
        sets.two(self.batch, member(a), member(b))
    }
}
