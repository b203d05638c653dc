//! One component: its members in keep order, and the duplicates among them.
//!
//! A member represents all documents with equal shingles (its *class*). Copies of a duplicate are
//! decided here, because a later keeper may be more similar to them.

use crate::engine::collect::pairs::MAX_PAIRS;
use crate::engine::decide::batch_result::{
    BatchResult, DecidedDuplicate, RelatedPair, VerifiedPair,
};
use crate::engine::decide::copies;
use crate::engine::decide::estimates;
use crate::engine::decide::excess_candidates::excess_candidates;
use crate::engine::decide::ordered_component::{
    CompareStop, Comparer, MemberPairs, OrderedComponent,
};
use crate::engine::decide::prefix_filter::{PrefixFilter, meetings};
use crate::engine::decide::references::{GivenKeepers, ProbingReferences};
use crate::engine::decide::shingle_sets::ShingleSets;
use crate::engine::error::FindError;
use crate::engine::ids::{BatchIndex, MemberNumber};
use crate::engine::options::{Grouping, PairList};
use crate::progress::{Progress, Warning};
use lookalike_core::group::{self, BucketMembership, DuplicateMember, KeptMembers, RelatedMember};
use lookalike_core::verify::Overlap;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::num::NonZeroUsize;

/// After `FAILED_COMPARISONS · (members + 64)` comparisons below the threshold, the remaining
/// candidates are screened.
const FAILED_COMPARISONS: u64 = 64;

/// The number of members that all threads compare with earlier keepers before one thread compares
/// them with each other. Results do not depend on this number.
const COMPARED_AHEAD: usize = 1 << 10;

impl OrderedComponent<'_> {
    /// Verifies and groups the component, and adds the result to `decided`.
    pub(crate) fn decide_component(
        &self,
        sets: &mut ShingleSets<'_>,
        threads: NonZeroUsize,
        most_pairs: u64,
        decided: &mut BatchResult,
        progress: &dyn Progress,
    ) -> Result<(), FindError> {
        let may_fail = FAILED_COMPARISONS * (self.len() as u64 + 64);
        let misses_left = (!self.options.params.exact()).then_some(may_fail);
        let mut comparer = Comparer {
            component: self,
            sets,
            misses_left,
            screened: false,
            most_pairs,
            compared: 0,
            threads,
        };
        let mut screen = None;
        let mut found = loop {
            let grouped = match &screen {
                Some(screen) => self.group(&mut comparer, screen),
                None => self.group(&mut comparer, self),
            };
            match grouped {
                Ok(found) => break found,
                Err(CompareStop::TooManyMisses) => screen = self.screen(&mut comparer, progress)?,
                Err(CompareStop::Failed(error)) => return Err(*error),
                Err(CompareStop::PairsAreFull) if most_pairs < MAX_PAIRS => {
                    return Err(FindError::PairsDoNotFit { most: most_pairs });
                }
                Err(CompareStop::PairsAreFull) => {
                    return Err(FindError::TooManyPairs { got: most_pairs, most: MAX_PAIRS });
                }
            }
        };
        decided.compared += comparer.compared;
        found.pairs = self.pairs_of_classes(found.pairs);
        let equal = if self.options.pairs == PairList::WithEstimates {
            estimates::equal_values(self, self.options, &found.pairs, comparer.sets)?
        } else {
            Vec::new()
        };
        decided.pairs.extend(found.pairs.iter().enumerate().map(|(i, &(a, b, overlap))| {
            VerifiedPair {
                a: self.document(MemberNumber(a)),
                b: self.document(MemberNumber(b)),
                overlap,
                equal_values: equal.get(i).copied(),
            }
        }));
        decided.duplicates.extend(found.duplicates.iter().map(|duplicate| DecidedDuplicate {
            document: self.document(MemberNumber(duplicate.member)),
            keeper: self.document(MemberNumber(duplicate.keeper)),
            overlap: duplicate.overlap,
        }));
        let earlier = decided.duplicates.len() - found.duplicates.len();
        copies::decide_copies(self, &found.duplicates, &mut comparer, decided)?;
        self.add_related(&found.related, earlier, decided);
        Ok(())
    }

    /// Returns the screen by rare shingles, if it selects fewer pairs than the buckets do. From
    /// then on, misses are not counted.
    fn screen<'p>(
        &'p self,
        comparer: &mut Comparer<'_, '_>,
        progress: &dyn Progress,
    ) -> Result<Option<PrefixFilter<'p>>, FindError> {
        comparer.misses_left = None;
        let screen = PrefixFilter::new(self, &self.options.params, comparer.sets)?;
        let (ahead, screened) = if self.options.keepers.is_given() {
            (
                meetings(self.len(), &GivenKeepers(self)),
                meetings(self.len(), &GivenKeepers(&screen)),
            )
        } else {
            (meetings(self.len(), self), meetings(self.len(), &screen))
        };
        if let Some(excess) = excess_candidates(self, ahead.min(screened), comparer.sets)? {
            progress.warn(&Warning::ExcessCandidates(excess));
        }
        comparer.screened = screened < ahead;
        Ok(comparer.screened.then_some(screen))
    }

    /// Adds the kept documents that are similar to duplicates of other keepers, except those that
    /// became keepers of copies. The component's duplicates in `decided` begin at `first`.
    fn add_related(&self, related: &[RelatedMember], first: usize, decided: &mut BatchResult) {
        if related.is_empty() {
            return;
        }
        let duplicates = decided.duplicates[first..].iter();
        let keepers: HashSet<BatchIndex> = duplicates.map(|duplicate| duplicate.keeper).collect();
        for &RelatedMember { member, neighbour, overlap } in related {
            let document = self.document(MemberNumber(member));
            if !keepers.contains(&document) {
                let neighbour = self.document(MemberNumber(neighbour));
                decided.related.push(RelatedPair { document, neighbour, overlap });
            }
        }
    }

    /// Groups the members by the buckets of the component, or of the screen.
    fn group(
        &self,
        comparer: &mut Comparer<'_, '_>,
        buckets: &(impl BucketMembership + Sync),
    ) -> Result<GroupedComponent, CompareStop> {
        if self.options.keepers.is_given() {
            self.group_members(comparer, &GivenKeepers(buckets))
        } else {
            self.group_members(comparer, buckets)
        }
    }

    fn group_members(
        &self,
        comparer: &mut Comparer<'_, '_>,
        buckets: &(impl BucketMembership + Sync),
    ) -> Result<GroupedComponent, CompareStop> {
        let count = self.len();
        let measure = self.options.params.measure();
        let is_stars = self.options.grouping == Grouping::Stars || self.options.keepers.is_given();
        let is_related = is_stars && self.options.related;
        let comparer = RefCell::new(comparer);
        let similarity = |a, b| comparer.borrow_mut().similarity(MemberNumber(a), MemberNumber(b));
        let overlap = |a, b| Ok(comparer.borrow_mut().overlap(MemberNumber(a), MemberNumber(b))?);
        if self.options.pairs.is_listed() {
            let mut pairs = self.all_pairs(buckets, similarity)?;
            pairs.extend(self.divided_classes());
            let duplicates = if is_stars {
                group::stars_of_pairs(count, &pairs, self, measure)
            } else {
                group::components_of_pairs(count, &pairs, self, measure, overlap)?
            };
            let related = if is_related {
                group::related_of_pairs(count, &pairs, self, measure, &duplicates)
            } else {
                Vec::new()
            };
            return Ok(GroupedComponent { duplicates, pairs, related });
        }
        let duplicates = if is_stars {
            self.stars(&mut comparer.borrow_mut(), buckets)?
        } else {
            let known = self.divided_classes();
            group::components(count, buckets, measure, &known, similarity, overlap)?
        };
        let related = if is_related {
            group::related(count, buckets, measure, &duplicates, similarity)?
        } else {
            Vec::new()
        };
        Ok(GroupedComponent { duplicates, pairs: Vec::new(), related })
    }

    /// Groups the members as stars, on all threads if possible.
    fn stars(
        &self,
        comparer: &mut Comparer<'_, '_>,
        buckets: &(impl BucketMembership + Sync),
    ) -> Result<Vec<DuplicateMember>, CompareStop> {
        let count = self.len();
        let measure = self.options.params.measure();
        let shared = comparer.shared().filter(|_| !self.judged.has_separated());
        let Some(shared) = shared else {
            let similarity = |a, b| comparer.similarity(MemberNumber(a), MemberNumber(b));
            return group::stars(count, buckets, measure, similarity);
        };
        let compared = Cell::new(0);
        let ahead = |kept: &KeptMembers<'_, _>, block| {
            let block = shared.best_keepers(kept, block);
            compared.update(|before| before + block.compared);
            Ok(block.best)
        };
        let similarity = |a, b| {
            let (found, more) = shared.similarity(MemberNumber(a), MemberNumber(b));
            compared.update(|before| before + more);
            Ok(found)
        };
        let found =
            group::stars_in_blocks(count, buckets, measure, COMPARED_AHEAD, ahead, similarity);
        comparer.compared += compared.get();
        found
    }

    /// Returns all verified pairs, except pairs of two members that only have documents of the
    /// reference collection.
    fn all_pairs(
        &self,
        buckets: &(impl BucketMembership + Sync),
        mut similarity: impl FnMut(u32, u32) -> Result<Option<Overlap>, CompareStop>,
    ) -> Result<MemberPairs, CompareStop> {
        let count = self.len();
        let references = self.references();
        if !references.has_copies() {
            return group::all_pairs(count, buckets, similarity);
        }
        group::all_pairs(count, &ProbingReferences(buckets), |a, b| {
            let are_references = references.has(MemberNumber(a)) && references.has(MemberNumber(b));
            if are_references { Ok(None) } else { similarity(a, b) }
        })
    }
}

/// The result of grouping. Members have the numbers of the core.
#[derive(Default)]
struct GroupedComponent {
    duplicates: Vec<DuplicateMember>,
    pairs: MemberPairs,
    related: Vec<RelatedMember>,
}
