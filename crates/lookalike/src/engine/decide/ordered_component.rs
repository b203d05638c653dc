//! The members of a component in keep order, and how two of them are compared.

use crate::engine::decide::batch::ComponentBatch;
use crate::engine::decide::batch_result::EQUAL;
use crate::engine::decide::class_parts::ClassDivision;
use crate::engine::decide::component_judgments::ComponentJudgments;
use crate::engine::decide::shingle_sets::ShingleSets;
use crate::engine::options::{FindOptions, Grouping, KeeperChoice};
use crate::error::Error;
use lookalike_core::candidate::Component;
use lookalike_core::group::{BucketMembership, MemberRules};
use lookalike_core::verify::{self, Overlap};
use std::collections::HashMap;

/// A component's members, numbered by their place in the keep order.
pub(crate) struct OrderedComponent<'a> {
    pub(crate) batch: &'a ComponentBatch,
    pub(crate) options: &'a FindOptions,
    pub(crate) component: Component<'a>,
    /// Position → place in the component's list.
    order: Vec<u32>,
    /// Position → the first in keep order of the member's class, by place in the batch.
    firsts: Vec<u32>,
    /// Position → the documents of the member, if classes are divided into several members, which
    /// have one place; otherwise empty.
    parts: Vec<&'a [u32]>,
    /// Where not all members may probe: the buckets that each one probes, by position.
    probed: Option<Vec<Vec<u32>>>,
    /// What people judged about members.
    pub(crate) judged: ComponentJudgments,
}

impl<'a> OrderedComponent<'a> {
    pub(crate) fn new(
        batch: &'a ComponentBatch,
        options: &'a FindOptions,
        component: Component<'a>,
    ) -> Self {
        let mut members = members(batch, options, component);
        members.sort_unstable_by(|(_, a), (_, b)| match options.keepers {
            KeeperChoice::Found | KeeperChoice::Reference => batch.rows.compare(a[0], b[0]),
            KeeperChoice::EarlierReference => batch.rows.compare_by_rules(a[0], b[0]),
        });
        if !batch.judged.is_empty() {
            // Members that a decision keeps come directly after those of a reference collection.
            let rank = |(_, documents): &(u32, &[u32])| {
                let is_fixed = batch.rows.is_reference(documents[0]);
                (!is_fixed, !is_fixed && !batch.judged.is_kept(documents[0]))
            };
            members.sort_by_key(rank);
        }
        let order: Vec<u32> = members.iter().map(|(place, _)| *place).collect();
        let firsts: Vec<u32> = members.iter().map(|(_, documents)| documents[0]).collect();
        let is_divided = members.len() > component.members.len();
        let parts = members.into_iter().filter(|_| is_divided).map(|(_, part)| part).collect();
        let judged = ComponentJudgments::new(&batch.judged, &firsts);
        let mut this =
            Self { batch, options, component, order, firsts, parts, probed: None, judged };
        this.probed = batch.directed.then(|| this.directed());
        this
    }

    /// The buckets that each member probes, where not all of a bucket may find each other.
    /// `ComponentBatch::load` makes two buckets of each list of [`Links`](crate::engine::decide::batch::Links):
    /// all its documents are inserted into b, and those that probe b into b + half, too. The others
    /// probe b + half, so that of two members that meet one is among those that probe.
    fn directed(&self) -> Vec<Vec<u32>> {
        let half = self.component.bucket_count as u32 / 2;
        let probed = |position: u32| {
            let buckets = self.buckets(position);
            let (all, probing) = buckets.split_at(buckets.partition_point(|b| *b < half));
            let probed = |bucket: u32| {
                let is_probing = probing.binary_search(&(bucket + half)).is_ok();
                if is_probing { bucket } else { bucket + half }
            };
            all.iter().map(|bucket| probed(*bucket)).collect()
        };
        (0..self.order.len() as u32).map(probed).collect()
    }

    pub(crate) fn place(&self, position: u32) -> u32 {
        self.order[position as usize]
    }

    /// The document of a position, by place in the batch.
    pub(crate) fn document(&self, position: u32) -> u32 {
        self.firsts[position as usize]
    }

    /// Whether all verified pairs are held: where they are asked for, and where components are made
    /// of members some of which are separated.
    fn lists_pairs(&self) -> bool {
        let are_joined_by_pair = self.options.grouping == Grouping::Components;
        self.options.pairs.is_listed() || are_joined_by_pair && self.judged.has_separated()
    }

    /// How many members there are.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    fn buckets(&self, position: u32) -> &'a [u32] {
        self.component.buckets_of(self.place(position) as usize)
    }

    /// The shingle set of a position.
    pub(crate) fn set<'s>(
        &self,
        position: u32,
        sets: &'s mut ShingleSets<'_>,
    ) -> Result<&'s [u64], Error> {
        sets.one(self.batch, self.place(position), self.document(position))
    }

    /// Whether `a`, the earlier member, is inserted into a bucket that `b` probes.
    pub(crate) fn are_candidates(&self, a: u32, b: u32) -> bool {
        let (mut probed, mut inserted) = (self.probed_buckets(b), self.inserted_buckets(a));
        while let ([x, rest_probed @ ..], [y, rest_inserted @ ..]) = (probed, inserted) {
            match x.cmp(y) {
                std::cmp::Ordering::Equal => return true,
                std::cmp::Ordering::Less => probed = rest_probed,
                std::cmp::Ordering::Greater => inserted = rest_inserted,
            }
        }
        false
    }

    /// Documents with equal shingles that the member represents, itself the first.
    pub(crate) fn class(&self, position: u32) -> &'a [u32] {
        if let Some(part) = self.parts.get(position as usize) {
            return part;
        }
        self.batch.class(&self.component.members[self.place(position) as usize])
    }

    /// The members that a class is divided into, if grouping joins them: documents of a reference
    /// collection, and others.
    pub(crate) fn divided_classes(&self) -> Vec<(u32, u32, Overlap)> {
        if self.options.grouping == Grouping::Stars {
            return Vec::new();
        }
        let firsts = self.first_positions();
        let later = (0u32..).zip(self.order.iter().take(self.parts.len()));
        let pairs = later.map(|(position, place)| (firsts[place], position, EQUAL));
        pairs.filter(|(first, position, _)| first != position).collect()
    }

    /// Verified pairs by the first member of each class, as if classes were not divided.
    pub(crate) fn pairs_of_classes(
        &self,
        pairs: Vec<(u32, u32, Overlap)>,
    ) -> Vec<(u32, u32, Overlap)> {
        if self.parts.is_empty() {
            return pairs;
        }
        let firsts = self.first_positions();
        let first = |position: u32| firsts[&self.place(position)];
        let pairs = pairs.into_iter().map(|(a, b, overlap)| (first(a), first(b), overlap));
        let mut pairs: Vec<_> = pairs
            .filter(|(a, b, _)| a != b)
            .map(|(a, b, overlap)| if a < b { (a, b, overlap) } else { (b, a, overlap.swapped()) })
            .collect();
        pairs.sort_unstable_by_key(|(a, b, _)| (*a, *b));
        pairs.dedup_by_key(|(a, b, _)| (*a, *b));
        pairs
    }

    /// The position of the first member at each place.
    fn first_positions(&self) -> HashMap<u32, u32> {
        let mut firsts = HashMap::new();
        for (position, place) in (0u32..).zip(&self.order) {
            firsts.entry(*place).or_insert(position);
        }
        firsts
    }

    /// Whether two members have equal shingles. Equal documents are several members only if the
    /// keepers are given or their class is divided.
    fn are_equal(&self, a: u32, b: u32) -> bool {
        if self.place(a) == self.place(b) {
            return true;
        }
        let fingerprint = |position: u32| self.batch.rows.row(self.document(position)).fingerprint;
        self.options.keepers.is_given() && fingerprint(a) == fingerprint(b)
    }

    fn two<'s>(
        &self,
        a: u32,
        b: u32,
        sets: &'s mut ShingleSets<'_>,
    ) -> Result<(&'s [u64], &'s [u64]), Error> {
        let member = |position| (self.place(position), self.document(position));
        sets.two(self.batch, member(a), member(b))
    }
}

/// The members of a component in no order: their places, and the documents that each represents.
fn members<'a>(
    batch: &'a ComponentBatch,
    options: &FindOptions,
    component: Component<'a>,
) -> Vec<(u32, &'a [u32])> {
    let division = ClassDivision::new(batch, options, component.members);
    let members = (0u32..).zip(component.members.iter().map(|member| batch.class(member)));
    if !division.divides() {
        return members.collect();
    }
    let divided = members.flat_map(|(place, class)| {
        division.parts(batch, class).into_iter().map(move |part| (place, part))
    });
    divided.collect()
}

impl BucketMembership for OrderedComponent<'_> {
    fn probed_buckets(&self, member: u32) -> &[u32] {
        match &self.probed {
            Some(probed) => &probed[member as usize],
            None => self.buckets(member),
        }
    }

    fn inserted_buckets(&self, member: u32) -> &[u32] {
        self.buckets(member)
    }

    fn bucket_count(&self) -> usize {
        self.component.bucket_count
    }
}

impl MemberRules for OrderedComponent<'_> {
    fn is_fixed(&self, member: u32) -> bool {
        let document = self.document(member);
        self.batch.rows.is_reference(document) || self.batch.judged.is_kept(document)
    }

    fn separated(&self, member: u32) -> &[u32] {
        self.judged.separated(member)
    }
}

/// Why the comparisons of a component end before all are made.
pub(crate) enum CompareStop {
    /// Too many were below the threshold: the candidates are to be screened first.
    TooManyMisses,
    /// No further pair fits into memory.
    PairsAreFull,
    /// A shingle set could not be made.
    Failed(Box<Error>),
}

impl From<Error> for CompareStop {
    fn from(error: Error) -> Self {
        Self::Failed(Box::new(error))
    }
}

/// Compares members, and counts.
pub(crate) struct Comparer<'p, 's> {
    pub(crate) component: &'p OrderedComponent<'p>,
    pub(crate) sets: &'p mut ShingleSets<'s>,
    /// Comparisons below the threshold that are left before the first
    /// [`CompareStop::TooManyMisses`]; `None` where they are not counted.
    pub(crate) misses_left: Option<u64>,
    pub(crate) screened: bool,
    /// Pairs that may still be found before [`CompareStop::PairsAreFull`].
    pub(crate) most_pairs: u64,
    /// Pairs whose sets were compared, whatever the result.
    pub(crate) compared: u64,
}

impl Comparer<'_, '_> {
    /// The overlap of two members, the one that comes earlier first, if it reaches the threshold.
    ///
    /// # Errors
    /// Why no more comparisons are made.
    pub(crate) fn similarity(&mut self, a: u32, b: u32) -> Result<Option<Overlap>, CompareStop> {
        let component = self.component;
        // With a screen, members may meet that share no bucket.
        if self.screened && !component.are_candidates(a, b) {
            return Ok(None);
        }
        if component.judged.are_separated(a, b) {
            return Ok(None);
        }
        let found = if component.judged.are_joined(a, b) {
            Some(self.overlap(a, b)?)
        } else if component.are_equal(a, b) {
            Some(EQUAL)
        } else {
            self.verify(a, b)?
        };
        if found.is_none() {
            self.misses_left = self.misses_left.map(|left| left.saturating_sub(1));
            if self.misses_left == Some(0) {
                return Err(CompareStop::TooManyMisses);
            }
        } else if component.lists_pairs() {
            self.most_pairs = self.most_pairs.saturating_sub(1);
            if self.most_pairs == 0 {
                return Err(CompareStop::PairsAreFull);
            }
        }
        Ok(found)
    }

    /// Compares the sets of two members.
    fn verify(&mut self, a: u32, b: u32) -> Result<Option<Overlap>, CompareStop> {
        self.compared += 1;
        let params = &self.component.options.params;
        let (a, b) = self.component.two(a, b, self.sets)?;
        Ok(verify::overlap_at_least(a, b, params.measure(), params.threshold()))
    }

    /// The overlap of two members, whatever it is.
    ///
    /// # Errors
    /// A shingle set could not be made.
    pub(crate) fn overlap(&mut self, a: u32, b: u32) -> Result<Overlap, Error> {
        if self.component.place(a) == self.component.place(b) {
            return Ok(EQUAL);
        }
        let (a, b) = self.component.two(a, b, self.sets)?;
        Ok(verify::overlap(a, b))
    }
}
