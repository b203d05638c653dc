//! One component: its members in keep order, and what is a duplicate of what.
//!
//! Members represent all documents with equal shingles (their *class*); copies of a duplicate are
//! decided here, since a document that was kept later than their first may be more like them.

use super::decision::BatchDecisions;
use super::estimates;
use super::exact_duplicates;
use super::ordered_component::{Comparer, OrderedComponent};
use super::pairs::MAX_PAIRS;
use super::prefix_filter::{PrefixFilter, meetings};
use super::runaway::runaway;
use super::shingle_sets::ShingleSets;
use crate::error::Error;
use crate::find::options::Grouping;
use crate::find::options::PairList;
use crate::progress::{Progress, Warning};
use lookalike_core::group::{self, BucketMembership, DuplicateMember, RelatedMember};
use lookalike_core::verify::Overlap;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;

/// Comparisons in vain for each member after which the others are screened first.
const IN_VAIN: u64 = 64;

impl OrderedComponent<'_> {
    /// Verifies, groups, and adds the result to `decided`.
    pub(super) fn decide(
        &self,
        sets: &mut ShingleSets<'_>,
        most_pairs: u64,
        decided: &mut BatchDecisions,
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        sets.begin(self.len());
        let in_vain = (!self.options.params.exact()).then(|| IN_VAIN * (self.len() as u64 + 64));
        let mut comparer =
            Comparer { placed: self, sets, in_vain, screened: false, most_pairs, verified: 0 };
        let mut found = self.group(&mut comparer, self);
        if comparer.in_vain == Some(0) {
            comparer.in_vain = None;
            let screen = PrefixFilter::new(self, &self.options.params, comparer.sets);
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
                Error::TooManyPairs { got: most_pairs, most: MAX_PAIRS }
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
        exact_duplicates::decide(self, &found.duplicates, &mut comparer, decided);
        self.add_related(&found.related, earlier, decided);
        comparer.sets.finish()
    }

    /// Adds the kept documents that resemble duplicates of others, without those that copies made a
    /// keeper: the component's duplicates in `decided` begin at `first`.
    fn add_related(&self, related: &[RelatedMember], first: usize, decided: &mut BatchDecisions) {
        if related.is_empty() {
            return;
        }
        let keepers: HashSet<u32> = decided.duplicates[first..].iter().map(|d| d.1).collect();
        for &RelatedMember { member, neighbour, overlap } in related {
            let (member, neighbour) = (self.document(member), self.document(neighbour));
            if !keepers.contains(&member) {
                decided.related.push((member, neighbour, overlap));
            }
        }
    }

    /// Groups by some buckets: those of the component, or those of the screen.
    fn group(
        &self,
        comparer: &mut Comparer<'_, '_>,
        buckets: &impl BucketMembership,
    ) -> GroupedComponent {
        let (count, measure) = (self.len(), self.options.params.measure());
        let stars = self.options.grouping == Grouping::Stars;
        let shared = RefCell::new(comparer);
        let over = Cell::new(false);
        let buckets = &StoppableBuckets { buckets, over: &over };
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
            return GroupedComponent { duplicates, pairs, related };
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
        GroupedComponent { duplicates, pairs: Vec::new(), related }
    }
}

/// Buckets in which nobody looks any more once it is over: walking through large ones is quadratic
/// even where nothing is compared.
struct StoppableBuckets<'b, B> {
    buckets: &'b B,
    over: &'b Cell<bool>,
}

impl<B: BucketMembership> BucketMembership for StoppableBuckets<'_, B> {
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
struct GroupedComponent {
    duplicates: Vec<DuplicateMember>,
    pairs: Vec<(u32, u32, Overlap)>,
    related: Vec<RelatedMember>,
}
