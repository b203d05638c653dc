//! The members of a component in keep order, and the comparison of two members.

use crate::engine::decide::batch::ComponentBatch;
use crate::engine::decide::batch_result::EQUAL;
use crate::engine::decide::class_parts::ClassDivision;
use crate::engine::decide::component_judgments::ComponentJudgments;
use crate::engine::decide::shingle_sets::{LoadedSets, ShingleSets};
use crate::engine::error::FindError;
use crate::engine::ids::{self, BatchIndex, ComponentIndex, Id, IdVec, MemberNumber};
use crate::engine::options::{FindOptions, Grouping, KeeperChoice};
use crate::engine::workers::{Counter, on_threads};
use lookalike_core::candidate::Component;
use lookalike_core::group::{
    BucketMembership, DuplicateMember, KeptMembers, MemberRules, SeenMembers,
};
use lookalike_core::verify::{self, Overlap};
use std::collections::HashMap;
use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::ops::Range;

/// Pairs of members in the form for the core.
pub(crate) type MemberPairs = Vec<(u32, u32, Overlap)>;

/// A component's members, numbered in keep order.
pub(crate) struct OrderedComponent<'a> {
    pub(crate) batch: &'a ComponentBatch,
    pub(crate) options: &'a FindOptions,
    pub(crate) component: Component<'a>,
    /// The class of each member.
    class_of: IdVec<MemberNumber, ComponentIndex>,
    /// The first document of each member, in keep order.
    representatives: IdVec<MemberNumber, BatchIndex>,
    /// The documents of each member, if some classes are divided into several members; otherwise
    /// empty.
    divided: IdVec<MemberNumber, &'a [BatchIndex]>,
    /// The buckets that each member probes, if buckets are directed.
    probed: Option<IdVec<MemberNumber, Vec<u32>>>,
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
            // Members that a decision keeps come directly after members of a reference collection.
            members.sort_by_key(|(_, documents)| {
                let is_fixed = batch.rows.is_reference(documents[0]);
                (!is_fixed, !is_fixed && !batch.judged.is_kept(documents[0]))
            });
        }
        let class_of = members.iter().map(|(class, _)| *class).collect();
        let representatives = members.iter().map(|(_, documents)| documents[0]).collect();
        let is_divided = members.len() > component.members.len();
        let divided = members.into_iter().filter(|_| is_divided).map(|(_, documents)| documents);
        let mut this = Self {
            batch,
            options,
            component,
            class_of,
            judged: ComponentJudgments::new(&batch.judged, &representatives),
            representatives,
            divided: divided.collect(),
            probed: None,
        };
        this.probed = batch.directed.then(|| this.directed());
        this
    }

    /// Returns the buckets that each member probes, if buckets are directed: only some members of a
    /// bucket may find each other. `ComponentBatch::load` creates two buckets for each list of
    /// [`Links`](super::batch::Links). All documents are inserted into b, and probing documents
    /// also into b + half. Probing documents probe b, the others probe b + half. So of two members
    /// that meet, at least one is probing.
    fn directed(&self) -> IdVec<MemberNumber, Vec<u32>> {
        let half = self.component.bucket_count as u32 / 2;
        let probed = |member: MemberNumber| {
            let buckets = self.buckets(member);
            let (all, probing) = buckets.split_at(buckets.partition_point(|b| *b < half));
            let probed = |bucket: u32| {
                let is_probing = probing.binary_search(&(bucket + half)).is_ok();
                if is_probing { bucket } else { bucket + half }
            };
            all.iter().map(|bucket| probed(*bucket)).collect()
        };
        self.members().map(probed).collect()
    }

    /// The members in keep order.
    pub(crate) fn members(&self) -> impl Iterator<Item = MemberNumber> + Clone + use<> {
        ids::first(self.len())
    }

    /// The classes of the members and one document of each, in keep order.
    pub(crate) fn classes(&self) -> impl Iterator<Item = (ComponentIndex, BatchIndex)> {
        let mut is_new: IdVec<ComponentIndex, bool> = vec![true; self.len()].into();
        let members = self.class_of.entries();
        let members = members.filter(move |(_, class)| std::mem::take(&mut is_new[**class]));
        members.map(|(member, class)| (*class, self.document(member)))
    }

    /// The first document of a member.
    pub(crate) fn document(&self, member: MemberNumber) -> BatchIndex {
        self.representatives[member]
    }

    /// Whether all verified pairs are held: to list them, or because components contain separated
    /// members.
    fn lists_pairs(&self) -> bool {
        let are_joined_by_pair = self.options.grouping == Grouping::Components;
        self.options.pairs.is_listed() || are_joined_by_pair && self.judged.has_separated()
    }

    /// The number of members.
    pub(crate) fn len(&self) -> usize {
        self.class_of.len()
    }

    fn buckets(&self, member: MemberNumber) -> &'a [u32] {
        self.component.buckets_of(self.class_of[member].index())
    }

    /// Returns the shingle set of a member.
    pub(crate) fn set<'s>(
        &self,
        member: MemberNumber,
        sets: &'s mut ShingleSets<'_>,
    ) -> Result<&'s [u64], FindError> {
        sets.set(self.batch, self.class_of[member], self.document(member))
    }

    /// Compares two members without their sets. Returns `None` if they are not candidates or the
    /// user declared them different.
    fn known_similarity(
        &self,
        a: MemberNumber,
        b: MemberNumber,
        screened: bool,
    ) -> Option<KnownSimilarity> {
        // With a screen, members can meet without a common bucket.
        if screened && !self.are_candidates(a, b) || self.judged.are_separated(a, b) {
            None
        } else if self.judged.are_joined(a, b) && self.class_of[a] != self.class_of[b] {
            Some(KnownSimilarity::Joined)
        } else if self.are_equal(a, b) {
            Some(KnownSimilarity::Equal)
        } else {
            Some(KnownSimilarity::Unknown)
        }
    }

    /// Whether `a`, the earlier member, is inserted into a bucket that `b` probes.
    pub(crate) fn are_candidates(&self, a: MemberNumber, b: MemberNumber) -> bool {
        let mut probed = self.probed_buckets(b.0);
        let mut inserted = self.inserted_buckets(a.0);
        while let ([x, rest_probed @ ..], [y, rest_inserted @ ..]) = (probed, inserted) {
            match x.cmp(y) {
                std::cmp::Ordering::Equal => return true,
                std::cmp::Ordering::Less => probed = rest_probed,
                std::cmp::Ordering::Greater => inserted = rest_inserted,
            }
        }
        false
    }

    /// The documents with equal shingles that the member represents, in keep order.
    pub(crate) fn class(&self, member: MemberNumber) -> &'a [BatchIndex] {
        if let Some(documents) = self.divided.get(member) {
            return documents;
        }
        self.batch.class(BatchIndex(self.component.members[self.class_of[member].index()]))
    }

    /// Pairs of the members that a class is divided into (documents of a reference collection, and
    /// others), if grouping joins them.
    pub(crate) fn divided_classes(&self) -> MemberPairs {
        if self.options.grouping == Grouping::Stars {
            return Vec::new();
        }
        let firsts = self.first_members();
        let members = self.class_of.entries().take(self.divided.len());
        let pairs = members.map(|(member, class)| (firsts[class], member));
        let pairs = pairs.filter(|(first, member)| first != member);
        pairs.map(|(first, member)| (first.0, member.0, EQUAL)).collect()
    }

    /// Returns verified pairs as if classes were not divided. Replaces each member by the first
    /// member of its class.
    pub(crate) fn pairs_of_classes(&self, pairs: MemberPairs) -> MemberPairs {
        if self.divided.len() == 0 {
            return pairs;
        }
        let firsts = self.first_members();
        let first = |member: u32| firsts[&self.class_of[MemberNumber(member)]].0;
        let pairs = pairs.into_iter().map(|(a, b, overlap)| (first(a), first(b), overlap));
        let mut pairs: Vec<_> = pairs
            .filter(|(a, b, _)| a != b)
            .map(|(a, b, overlap)| if a < b { (a, b, overlap) } else { (b, a, overlap.swapped()) })
            .collect();
        pairs.sort_unstable_by_key(|(a, b, _)| (*a, *b));
        pairs.dedup_by_key(|(a, b, _)| (*a, *b));
        pairs
    }

    /// The first member of each class.
    fn first_members(&self) -> HashMap<ComponentIndex, MemberNumber> {
        let mut firsts = HashMap::new();
        for (member, class) in self.class_of.entries() {
            firsts.entry(*class).or_insert(member);
        }
        firsts
    }

    /// Whether two members have equal shingles. Equal documents are several members only if the
    /// keepers are given or their class is divided.
    fn are_equal(&self, a: MemberNumber, b: MemberNumber) -> bool {
        if self.class_of[a] == self.class_of[b] {
            return true;
        }
        let fingerprint = |member| self.batch.rows.row(self.document(member)).fingerprint;
        self.options.keepers.is_given() && fingerprint(a) == fingerprint(b)
    }

    fn set_pair<'s>(
        &self,
        a: MemberNumber,
        b: MemberNumber,
        sets: &'s mut ShingleSets<'_>,
    ) -> Result<(&'s [u64], &'s [u64]), FindError> {
        let member = |member| (self.class_of[member], self.document(member));
        sets.set_pair(self.batch, member(a), member(b))
    }
}

/// Returns the members of a component in any order: the class of each, and the documents that it
/// represents.
fn members<'a>(
    batch: &'a ComponentBatch,
    options: &FindOptions,
    component: Component<'a>,
) -> Vec<(ComponentIndex, &'a [BatchIndex])> {
    let division = ClassDivision::new(batch, options, component.members);
    let classes = ids::from(ComponentIndex(0))
        .zip(component.members.iter().map(|document| batch.class(BatchIndex(*document))));
    if !division.divides() {
        return classes.collect();
    }
    let divided = classes.flat_map(|(class, documents)| {
        division.members(batch, documents).into_iter().map(move |member| (class, member))
    });
    divided.collect()
}

impl BucketMembership for OrderedComponent<'_> {
    fn probed_buckets(&self, member: u32) -> &[u32] {
        match &self.probed {
            Some(probed) => &probed[MemberNumber(member)],
            None => self.buckets(MemberNumber(member)),
        }
    }

    fn inserted_buckets(&self, member: u32) -> &[u32] {
        self.buckets(MemberNumber(member))
    }

    fn bucket_count(&self) -> usize {
        self.component.bucket_count
    }
}

impl MemberRules for OrderedComponent<'_> {
    fn is_fixed(&self, member: u32) -> bool {
        let document = self.document(MemberNumber(member));
        self.batch.rows.is_reference(document) || self.batch.judged.is_kept(document)
    }

    fn separated(&self, member: u32) -> &[u32] {
        self.judged.separated(MemberNumber(member))
    }
}

/// The reason why the comparisons of a component end early.
pub(crate) enum CompareStop {
    /// Too many comparisons were below the threshold. Candidates must be screened first.
    TooManyMisses,
    /// No further pair fits into memory.
    PairsAreFull,
    /// A shingle set could not be made.
    Failed(Box<FindError>),
}

impl From<FindError> for CompareStop {
    fn from(error: FindError) -> Self {
        Self::Failed(Box::new(error))
    }
}

/// Compares members and counts the comparisons.
pub(crate) struct Comparer<'p, 's> {
    pub(crate) component: &'p OrderedComponent<'p>,
    pub(crate) sets: &'p mut ShingleSets<'s>,
    /// Remaining comparisons below the threshold before the first [`CompareStop::TooManyMisses`];
    /// `None` if they are not counted.
    pub(crate) misses_left: Option<u64>,
    pub(crate) screened: bool,
    /// Remaining pairs before [`CompareStop::PairsAreFull`].
    pub(crate) most_pairs: u64,
    /// The number of compared pairs, similar or not.
    pub(crate) compared: u64,
    /// The threads that may compare members of this component.
    pub(crate) threads: NonZeroUsize,
}

/// Compares members on several threads, if all sets are in memory and misses are not counted.
pub(crate) struct SharedComparer<'p> {
    component: &'p OrderedComponent<'p>,
    sets: LoadedSets<'p>,
    screened: bool,
    threads: NonZeroUsize,
}

/// The best keepers of some members, and the number of compared pairs.
pub(crate) struct ComparedBlock {
    pub(crate) best: Vec<Option<DuplicateMember>>,
    pub(crate) compared: u64,
}

impl SharedComparer<'_> {
    /// Finds, for each member of a range, the best keeper among the kept members.
    pub(crate) fn best_keepers<B: BucketMembership + Sync>(
        &self,
        kept: &KeptMembers<'_, B>,
        members: Range<u32>,
    ) -> ComparedBlock {
        let counter = Counter::default();
        let Ok(found) = on_threads::<_, Infallible>(self.threads, |_| {
            let mut seen = SeenMembers::new(self.component.len());
            let mut found = Vec::new();
            let mut compared = 0;
            while let Some(i) = counter.next(members.len()) {
                let best = kept.best::<Infallible>(members.start + i as u32, &mut seen, |a, b| {
                    let (found, more) = self.similarity(MemberNumber(a), MemberNumber(b));
                    compared += more;
                    Ok(found)
                });
                found.push((i, best?));
            }
            Ok((found, compared))
        });
        let mut keepers = ComparedBlock { best: vec![None; members.len()], compared: 0 };
        for (found, compared) in found {
            keepers.compared += compared;
            for (i, best) in found {
                keepers.best[i] = best;
            }
        }
        keepers
    }

    /// Like [`Comparer::similarity`]. Also returns the number of compared pairs, 0 or 1.
    pub(crate) fn similarity(&self, a: MemberNumber, b: MemberNumber) -> (Option<Overlap>, u64) {
        let component = self.component;
        let set = |member| self.sets.of(component.class_of[member]);
        match component.known_similarity(a, b, self.screened) {
            None => (None, 0),
            Some(KnownSimilarity::Equal) => (Some(EQUAL), 0),
            Some(KnownSimilarity::Joined) => (Some(verify::overlap(set(a), set(b))), 0),
            Some(KnownSimilarity::Unknown) => {
                let params = &component.options.params;
                let measure = params.measure();
                (verify::overlap_at_least(set(a), set(b), measure, params.threshold()), 1)
            }
        }
    }
}

/// The similarity of two candidates before their sets are compared.
enum KnownSimilarity {
    /// They have equal shingles.
    Equal,
    /// The user declared them duplicates, whatever their similarity. Their classes differ.
    Joined,
    /// Their sets must be compared.
    Unknown,
}

impl Comparer<'_, '_> {
    /// Returns the comparer for several threads, if there are several, misses are not counted and
    /// all sets are in memory.
    pub(crate) fn shared(&self) -> Option<SharedComparer<'_>> {
        if self.threads.get() == 1 || self.misses_left.is_some() {
            return None;
        }
        let Self { component, screened, threads, .. } = *self;
        Some(SharedComparer { component, screened, threads, sets: self.sets.loaded()? })
    }

    /// Returns the overlap of two members, the earlier first, if it reaches the threshold.
    ///
    /// # Errors
    /// The reason why comparisons end.
    pub(crate) fn similarity(
        &mut self,
        a: MemberNumber,
        b: MemberNumber,
    ) -> Result<Option<Overlap>, CompareStop> {
        let found = match self.component.known_similarity(a, b, self.screened) {
            None => return Ok(None),
            Some(KnownSimilarity::Equal) => Some(EQUAL),
            Some(KnownSimilarity::Joined) => Some(self.overlap(a, b)?),
            Some(KnownSimilarity::Unknown) => self.verify(a, b)?,
        };
        if found.is_none() {
            self.misses_left = self.misses_left.map(|left| left.saturating_sub(1));
            if self.misses_left == Some(0) {
                return Err(CompareStop::TooManyMisses);
            }
        } else if self.component.lists_pairs() {
            self.most_pairs = self.most_pairs.saturating_sub(1);
            if self.most_pairs == 0 {
                return Err(CompareStop::PairsAreFull);
            }
        }
        Ok(found)
    }

    /// Compares the sets of two members.
    fn verify(&mut self, a: MemberNumber, b: MemberNumber) -> Result<Option<Overlap>, CompareStop> {
        self.compared += 1;
        let params = &self.component.options.params;
        let (a, b) = self.component.set_pair(a, b, self.sets)?;
        Ok(verify::overlap_at_least(a, b, params.measure(), params.threshold()))
    }

    /// Returns the overlap of two members, regardless of the threshold.
    ///
    /// # Errors
    /// A shingle set could not be made.
    pub(crate) fn overlap(
        &mut self,
        a: MemberNumber,
        b: MemberNumber,
    ) -> Result<Overlap, FindError> {
        if self.component.class_of[a] == self.component.class_of[b] {
            return Ok(EQUAL);
        }
        let (a, b) = self.component.set_pair(a, b, self.sets)?;
        Ok(verify::overlap(a, b))
    }
}
