//! Compares the grouping rules with their definitions, on random graphs.

use super::connected_runs::ConnectedRuns;
use super::*;
use crate::disjoint_sets::DisjointSets;
use crate::hash::SplitMix64;
use crate::params::Measure;
use crate::params::Measure::{Containment, Jaccard};
use crate::verify::Overlap;
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::ops::Range;

/// The value of a result that cannot be an error.
fn sure<T>(value: Result<T, Infallible>) -> T {
    let Ok(value) = value;
    value
}

fn stars(
    members: usize,
    buckets: &impl BucketMembership,
    measure: Measure,
    mut similarity: impl FnMut(u32, u32) -> Option<Overlap>,
) -> Vec<DuplicateMember> {
    sure(super::stars(members, buckets, measure, |a, b| Ok(similarity(a, b))))
}

fn related(
    members: usize,
    buckets: &impl BucketMembership,
    measure: Measure,
    duplicates: &[DuplicateMember],
    mut similarity: impl FnMut(u32, u32) -> Option<Overlap>,
) -> Vec<RelatedMember> {
    sure(super::related(members, buckets, measure, duplicates, |a, b| Ok(similarity(a, b))))
}

fn all_pairs(
    members: usize,
    buckets: &impl BucketMembership,
    mut similarity: impl FnMut(u32, u32) -> Option<Overlap>,
) -> Vec<(u32, u32, Overlap)> {
    sure(super::all_pairs(members, buckets, |a, b| Ok(similarity(a, b))))
}

fn components(
    members: usize,
    buckets: &impl BucketMembership,
    measure: Measure,
    mut similarity: impl FnMut(u32, u32) -> Option<Overlap>,
    mut overlap: impl FnMut(u32, u32) -> Overlap,
) -> Vec<DuplicateMember> {
    let similarity = |a, b| Ok(similarity(a, b));
    let overlap = |a, b| Ok(overlap(a, b));
    sure(super::components(members, buckets, measure, &[], similarity, overlap))
}

fn components_of_pairs(
    members: usize,
    pairs: &[(u32, u32, Overlap)],
    rules: &impl MemberRules,
    measure: Measure,
    mut overlap: impl FnMut(u32, u32) -> Overlap,
) -> Vec<DuplicateMember> {
    sure(super::components_of_pairs(members, pairs, rules, measure, |a, b| Ok(overlap(a, b))))
}

type Graph = BTreeMap<(u32, u32), Overlap>;

/// A collection whose buckets and verified pairs are known.
#[derive(Debug, Clone)]
struct TestCollection {
    members: usize,
    bucket_count: usize,
    probed: Vec<Vec<u32>>,
    inserted: Vec<Vec<u32>>,
    /// Number of fixed members; they come first.
    fixed: u32,
    /// For each member, the members that are separated from it.
    separated: Vec<Vec<u32>>,
    verified: Graph,
}

impl BucketMembership for TestCollection {
    fn probed_buckets(&self, member: u32) -> &[u32] {
        &self.probed[member as usize]
    }

    fn inserted_buckets(&self, member: u32) -> &[u32] {
        &self.inserted[member as usize]
    }

    fn bucket_count(&self) -> usize {
        self.bucket_count
    }
}

impl MemberRules for TestCollection {
    fn is_fixed(&self, member: u32) -> bool {
        member < self.fixed
    }

    fn separated(&self, member: u32) -> &[u32] {
        &self.separated[member as usize]
    }
}

impl TestCollection {
    /// The probed buckets and the inserted buckets are drawn separately if `shape.directed`,
    /// otherwise equal. At most `fixed` members are fixed.
    fn random(seed: u64, members: usize, bucket_count: usize, shape: CollectionShape) -> Self {
        let mut random = SplitMix64::new(seed);
        let mut draw = || -> Vec<Vec<u32>> {
            let mut list = || -> Vec<u32> {
                let count = random.below(4);
                (0..count).map(|_| random.below(bucket_count as u64) as u32).collect()
            };
            (0..members).map(|_| list()).collect()
        };
        let probed = draw();
        let inserted = if shape.directed { draw() } else { probed.clone() };
        let mut verified = Graph::new();
        for b in 0..members as u32 {
            for a in (0..b).filter(|_| random.below(3) == 0).collect::<Vec<_>>() {
                // Few distinct similarities, so that ties and unreduced fractions occur.
                let union = 1 + random.below(6);
                let intersection = 1 + random.below(union);
                verified.insert((a, b), Overlap { intersection, left: union, right: intersection });
            }
        }
        let fixed = shape.fixed.min(members as u32);
        let separated = vec![Vec::new(); members];
        Self { members, bucket_count, probed, inserted, fixed, separated, verified }
    }

    /// Adds pairs of separated members.
    fn with_separated(mut self, seed: u64, pairs: usize) -> Self {
        let mut random = SplitMix64::new(!seed);
        for _ in (0..pairs).filter(|_| self.members > 1) {
            let [a, b] = [(); 2].map(|()| random.below(self.members as u64) as u32);
            if a != b {
                self.separated[a as usize].push(b);
                self.separated[b as usize].push(a);
            }
        }
        self
    }

    fn is_candidate(&self, a: u32, b: u32) -> bool {
        !(self.is_fixed(a) && self.is_fixed(b))
            && self.probed_buckets(b).iter().any(|k| self.inserted_buckets(a).contains(k))
    }

    /// The verified candidate pairs, by checking all pairs.
    fn graph(&self) -> Graph {
        let candidate = |&(&(a, b), _): &(&(u32, u32), &Overlap)| self.is_candidate(a, b);
        self.verified.iter().filter(candidate).map(|(k, v)| (*k, *v)).collect()
    }

    /// A similarity function that rejects repeated calls, unordered pairs, and pairs that are not
    /// candidates.
    fn similarity(&self) -> impl FnMut(u32, u32) -> Option<Overlap> + '_ {
        let mut compared = BTreeSet::new();
        move |a, b| {
            assert!(a < b && self.is_candidate(a, b), "{a} {b}");
            assert!(compared.insert((a, b)), "{a} {b} twice");
            self.verified.get(&(a, b)).copied()
        }
    }

    fn stars(&self, measure: Measure) -> Vec<DuplicateMember> {
        stars(self.members, self, measure, self.similarity())
    }

    fn all_pairs(&self) -> Vec<(u32, u32, Overlap)> {
        all_pairs(self.members, self, self.similarity())
    }

    fn components(&self) -> Vec<DuplicateMember> {
        components(self.members, self, Jaccard, self.similarity(), far)
    }

    /// The same candidates, with another numbering and order of buckets.
    fn renumbered(&self) -> Self {
        let last = self.bucket_count as u32 - 1;
        let turn = |b: &Vec<u32>| b.iter().rev().map(|k| last - k).collect();
        let (probed, inserted) = (&self.probed, &self.inserted);
        Self {
            probed: probed.iter().map(turn).collect(),
            inserted: inserted.iter().map(turn).collect(),
            ..self.clone()
        }
    }
}

/// The shape of a test collection: whether lists of buckets differ, and how many members are fixed.
#[derive(Debug, Clone, Copy)]
struct CollectionShape {
    directed: bool,
    fixed: u32,
}

fn shape() -> impl Strategy<Value = CollectionShape> {
    (any::<bool>(), prop_oneof![Just(0u32), 0u32..8])
        .prop_map(|(directed, fixed)| CollectionShape { directed, fixed })
}

/// Members that are all in the same buckets. All except the fixed members probe these buckets.
struct EqualBuckets {
    buckets: Vec<u32>,
    fixed: u32,
}

impl EqualBuckets {
    fn new(count: u32) -> Self {
        Self { buckets: (0..count).collect(), fixed: 0 }
    }
}

impl BucketMembership for EqualBuckets {
    fn probed_buckets(&self, _: u32) -> &[u32] {
        &self.buckets
    }

    fn inserted_buckets(&self, _: u32) -> &[u32] {
        &self.buckets
    }

    fn bucket_count(&self) -> usize {
        self.buckets.len()
    }
}

impl MemberRules for EqualBuckets {
    fn is_fixed(&self, member: u32) -> bool {
        member < self.fixed
    }

    fn separated(&self, _: u32) -> &[u32] {
        &[]
    }
}

fn far(keeper: u32, member: u32) -> Overlap {
    Overlap { intersection: 0, left: u64::from(keeper), right: u64::from(member) }
}

fn exact(o: &Overlap, measure: Measure) -> u64 {
    // All denominators in these tests divide 60, so similarities are multiples of 1/60.
    let whole = if measure == Jaccard { o.union() } else { o.left.min(o.right) };
    o.intersection * 60 / whole
}

/// The stars, by their definition.
fn naive_stars(
    members: usize,
    graph: &Graph,
    fixed: u32,
    measure: Measure,
) -> Vec<DuplicateMember> {
    let mut kept: Vec<u32> = Vec::new();
    let mut duplicates = Vec::new();
    for member in 0..members as u32 {
        let near: Vec<u32> =
            kept.iter().copied().filter(|&k| graph.contains_key(&(k, member))).collect();
        // Among equally similar keepers, prefers an equal set, then the earliest.
        let similarity = |k: u32| {
            let overlap = &graph[&(k, member)];
            let equal = overlap.intersection == overlap.left && overlap.left == overlap.right;
            (exact(overlap, measure), equal)
        };
        let best = near.iter().map(|k| similarity(*k)).max();
        match near.iter().find(|k| Some(similarity(**k)) == best) {
            Some(&keeper) if member >= fixed => {
                let overlap = graph[&(keeper, member)];
                duplicates.push(DuplicateMember { member, keeper, overlap });
            }
            _ => kept.push(member),
        }
    }
    duplicates
}

/// The related members, by their definition, as (member, neighbour).
fn naive_related(
    collection: &TestCollection,
    graph: &Graph,
    duplicates: &[DuplicateMember],
    measure: Measure,
) -> Vec<(u32, u32)> {
    let is_duplicate = |m: u32| duplicates.iter().any(|d| d.member == m);
    let is_keeper = |m: u32| duplicates.iter().any(|d| d.keeper == m);
    let is_alone = |m: &u32| !is_duplicate(*m) && !is_keeper(*m) && !collection.is_fixed(*m);
    let similarity =
        |a: u32, b: u32| graph.get(&(a.min(b), a.max(b))).map(|overlap| exact(overlap, measure));
    let members = || 0..collection.members as u32;
    let best = |member: u32| {
        let near = members().filter(|&d| is_duplicate(d) && similarity(member, d).is_some());
        let best = near.clone().filter_map(|d| similarity(member, d)).max();
        near.clone().find(|d| similarity(member, *d) == best).map(|d| (member, d))
    };
    members().filter(is_alone).filter_map(best).collect()
}

/// The first members of components, by spreading the least number until nothing changes.
fn naive_components(members: usize, graph: &Graph) -> Vec<u32> {
    let mut first: Vec<u32> = (0..members as u32).collect();
    loop {
        let before = first.clone();
        for &(a, b) in graph.keys() {
            let least = first[a as usize].min(first[b as usize]);
            first[a as usize] = least;
            first[b as usize] = least;
        }
        if first == before {
            return first;
        }
    }
}

const SAME: Overlap = Overlap { intersection: 5, left: 5, right: 5 };

#[test]
fn known_pairs_join_without_a_bucket() {
    let no_buckets = EqualBuckets::new(0);
    let known = [(0, 2, SAME), (2, 3, SAME)];
    let far_apart = |_, _| Ok(None);
    let overlap = |a, b| Ok(far(a, b));
    let found = sure(super::components(4, &no_buckets, Jaccard, &known, far_apart, overlap));
    assert_eq!(keepers(4, &found), [0, 1, 0, 0]);
}

#[test]
fn chains_form_two_stars_one_component() {
    let near = |a: u32, b: u32| (b - a == 1).then_some(SAME);
    let one = EqualBuckets::new(1);
    let star = |member, keeper| DuplicateMember { member, keeper, overlap: SAME };
    assert_eq!(stars(4, &one, Jaccard, near), [star(1, 0), star(3, 2)]);
    let chain = components(4, &one, Jaccard, near, far);
    assert!(chain.iter().all(|d| d.keeper == 0) && chain.len() == 3);
    assert_eq!(chain[2].overlap, far(0, 3));
    assert_eq!(all_pairs(4, &one, near), [(0, 1, SAME), (1, 2, SAME), (2, 3, SAME)]);
}

#[test]
fn fixed_members_are_kept_as_keepers() {
    let two = EqualBuckets { fixed: 2, ..EqualBuckets::new(1) };
    let all = |_, _| Some(SAME);
    let found = stars(4, &two, Jaccard, all);
    assert!(found.iter().all(|d| d.keeper == 0 && d.member >= 2) && found.len() == 2);
    let joined = components(4, &two, Jaccard, all, far);
    assert!(joined.iter().all(|d| d.keeper == 0 && d.member >= 2) && joined.len() == 2);
    let pairs = all_pairs(4, &two, all);
    assert!(pairs.iter().all(|(_, b, _)| *b >= 2) && pairs.len() == 5);
}

#[test]
fn measure_decides_the_best_keeper() {
    // By Jaccard, 0 is nearer to 2. By containment, 1 is nearer, because 2 contains all of it.
    let near = |a: u32, b: u32| match (a, b) {
        (0, 2) => Some(Overlap { intersection: 8, left: 10, right: 10 }),
        (1, 2) => Some(Overlap { intersection: 3, left: 3, right: 10 }),
        _ => None,
    };
    let keeper = |measure| stars(3, &EqualBuckets::new(1), measure, near)[0].keeper;
    assert_eq!((keeper(Jaccard), keeper(Containment)), (0, 1));
    let pairs: Vec<_> = [0, 1].map(|a| (a, 2, near(a, 2).unwrap())).to_vec();
    let keeper = |measure| stars_of_pairs(3, &pairs, &|_| false, measure)[0].keeper;
    assert_eq!((keeper(Jaccard), keeper(Containment)), (0, 1));
}

#[test]
fn no_buckets_yield_no_groups() {
    let no_buckets = EqualBuckets::new(0);
    assert_eq!(stars(0, &no_buckets, Jaccard, |_, _| None), []);
    assert_eq!(stars(3, &no_buckets, Jaccard, |_, _| None), []);
    assert_eq!(all_pairs(3, &no_buckets, |_, _| None), []);
    assert_eq!(components(3, &no_buckets, Jaccard, |_, _| None, far), []);
    assert_eq!(stars_of_pairs(3, &[], &|_| false, Jaccard), []);
}

#[test]
fn large_copy_buckets_need_linear_comparisons() {
    let members = 10_000;
    let buckets = EqualBuckets::new(21);
    let mut calls = 0;
    let mut count = |_, _| {
        calls += 1;
        Some(SAME)
    };
    let found = stars(members, &buckets, Jaccard, &mut count);
    assert!(found.iter().all(|d| d.keeper == 0));
    let joined = components(members, &buckets, Jaccard, &mut count, far);
    assert_eq!((found.len(), joined.len(), calls), (9_999, 9_999, 2 * 9_999));
}

#[test]
fn large_fixed_buckets_need_linear_comparisons() {
    let (members, fixed) = (20_000, 10_000);
    let buckets = EqualBuckets { fixed, ..EqualBuckets::new(5) };
    let mut calls = 0;
    let count = |_, _| {
        calls += 1;
        Some(SAME)
    };
    let joined = components(members, &buckets, Jaccard, count, far);
    // The first member that is not fixed is compared with all fixed ones, each later member only
    // once.
    assert_eq!((joined.len(), calls), (10_000, 10_000 + 9_999));
}

#[test]
fn the_first_error_ends_every_rule() {
    let buckets = EqualBuckets::new(3);
    let mut calls = 0;
    let mut fails = |a: u32, b: u32| {
        calls += 1;
        if (a, b) == (1, 3) { Err("the pair 1, 3") } else { Ok(None) }
    };
    let error = Err("the pair 1, 3");
    assert_eq!(super::all_pairs(9, &buckets, &mut fails).map(drop), error);
    assert_eq!(super::stars(9, &buckets, Jaccard, &mut fails).map(drop), error);
    let far = |_, _| Err("not asked");
    assert_eq!(super::components(9, &buckets, Jaccard, &[], &mut fails, far).map(drop), error);
    // Members 1 and 2 cost 1 and 2 calls. The second call for member 3 fails, because lists contain
    // the latest member first and runs the earliest.
    assert_eq!(calls, 5 + 5 + 5);
    let same = |_, _| Ok(Some(SAME));
    assert_eq!(super::components(2, &buckets, Jaccard, &[], same, far), Err("not asked"));
    let duplicate = DuplicateMember { member: 3, keeper: 0, overlap: SAME };
    let found = super::related(9, &buckets, Jaccard, &[duplicate], |a, b| {
        if (a, b) == (1, 3) { Err("the pair 1, 3") } else { Ok(None) }
    });
    assert_eq!(found.map(drop), error);
}

#[test]
fn probing_members_creates_no_runs() {
    let mut sets = DisjointSets::new(3_000);
    let mut runs = ConnectedRuns::new(1);
    (0..1_000).for_each(|member| runs.insert(0, member));
    for member in 1_000..3_000 {
        sure(runs.join_similar(0, member, &mut sets, |_| Ok(true)));
        assert_eq!(runs.buckets[0].len(), 1);
    }
    assert_eq!(sets.first(2_999), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn stars_are_the_definition(
        seed: u64, members in 0usize..24, buckets in 1usize..12, shape in shape(),
    ) {
        let collection = TestCollection::random(seed, members, buckets, shape);
        let graph = collection.graph();
        let contained = naive_stars(members, &graph, collection.fixed, Containment);
        prop_assert_eq!(collection.stars(Containment), contained);
        let found = collection.stars(Jaccard);
        prop_assert_eq!(&found, &naive_stars(members, &graph, collection.fixed, Jaccard));
        prop_assert_eq!(&found, &collection.renumbered().stars(Jaccard));

        // A maximal independent set: keepers do not resemble each other, and each duplicate
        // resembles a keeper.
        let duplicates: BTreeSet<u32> = found.iter().map(|d| d.member).collect();
        for (a, b) in graph.keys() {
            prop_assert!(duplicates.contains(a) || duplicates.contains(b));
        }
        for d in &found {
            prop_assert!(!duplicates.contains(&d.keeper) && d.keeper < d.member);
            prop_assert!(d.member >= collection.fixed);
            prop_assert_eq!(Some(&d.overlap), graph.get(&(d.keeper, d.member)));
        }
    }

    #[test]
    fn blocks_do_not_change_stars(
        seed: u64,
        members in 0usize..24,
        buckets in 1usize..12,
        shape in shape(),
        size in 1usize..9,
    ) {
        let collection = TestCollection::random(seed, members, buckets, shape);
        let similarity = RefCell::new(collection.similarity());
        let called = |a, b| Ok::<_, Infallible>(similarity.borrow_mut()(a, b));
        let ahead = |kept: &KeptMembers<'_, _>, block: Range<u32>| {
            let mut seen = SeenMembers::new(members);
            block.map(|member| kept.best(member, &mut seen, called)).collect()
        };
        let found = stars_in_blocks(members, &collection, Jaccard, size, ahead, called);
        prop_assert_eq!(sure(found), collection.stars(Jaccard));
    }

    #[test]
    fn related_members_are_the_definition(
        seed: u64, members in 0usize..24, buckets in 1usize..12, shape in shape(),
    ) {
        let collection = TestCollection::random(seed, members, buckets, shape);
        let graph = collection.graph();
        let pairs = collection.all_pairs();
        let mut turned: Vec<_> = pairs.iter().rev().copied().collect();
        for (a, b, overlap) in &mut turned {
            (*a, *b, *overlap) = (*b, *a, overlap.swapped());
        }
        for measure in [Jaccard, Containment] {
            let duplicates = collection.stars(measure);
            let similarity = collection.similarity();
            let found = related(members, &collection, measure, &duplicates, similarity);
            let named: Vec<_> = found.iter().map(|r| (r.member, r.neighbour)).collect();
            let expected = naive_related(&collection, &graph, &duplicates, measure);
            prop_assert_eq!(&named, &expected);
            for r in &found {
                let (a, b) = (r.member.min(r.neighbour), r.member.max(r.neighbour));
                let overlap = graph[&(a, b)];
                let overlap = if a == r.member { overlap } else { overlap.swapped() };
                prop_assert_eq!(r.overlap, overlap);
            }
            let by_pairs = related_of_pairs(members, &turned, &collection, measure, &duplicates);
            prop_assert_eq!(by_pairs, found);
            // No other kept member without duplicates has a verified pair.
            let is_alone = |m: u32| {
                duplicates.iter().all(|d| d.member != m && d.keeper != m) && !collection.is_fixed(m)
            };
            for (a, b) in graph.keys().flat_map(|&(a, b)| [(a, b), (b, a)]) {
                prop_assert!(
                    !is_alone(a) || collection.is_fixed(b) || named.iter().any(|n| n.0 == a)
                );
            }
        }
    }

    #[test]
    fn all_pairs_reproduce_the_groups(
        seed: u64, members in 0usize..24, buckets in 1usize..12, shape in shape(),
    ) {
        let collection = TestCollection::random(seed, members, buckets, shape);
        let pairs = collection.all_pairs();
        let graph = collection.graph().into_iter();
        let expected: Vec<_> = graph.map(|((a, b), o)| (a, b, o)).collect();
        prop_assert_eq!(&pairs, &expected);
        prop_assert_eq!(&pairs, &collection.renumbered().all_pairs());

        let mut turned: Vec<_> =
            pairs.iter().rev().map(|&(a, b, o)| (b, a, o.swapped())).collect();
        // Pairs of two fixed members, and of a member with itself, are ignored.
        for member in 0..collection.fixed {
            turned.push((member, collection.fixed - 1, SAME));
        }
        for measure in [Jaccard, Containment] {
            let found = collection.stars(measure);
            prop_assert_eq!(&stars_of_pairs(members, &pairs, &collection, measure), &found);
            prop_assert_eq!(&stars_of_pairs(members, &turned, &collection, measure), &found);
        }
        let joined = components_of_pairs(members, &turned, &collection, Jaccard, far);
        prop_assert_eq!(joined, collection.components());
    }

    #[test]
    fn components_are_connected(
        seed: u64, members in 0usize..24, buckets in 1usize..12, shape in shape(),
    ) {
        let collection = TestCollection::random(seed, members, buckets, shape);
        let found = collection.components();
        let first = naive_components(members, &collection.graph());
        let expected: Vec<DuplicateMember> = (collection.fixed..members as u32)
            .map(|member| (member, first[member as usize]))
            .filter(|(member, keeper)| member != keeper)
            .map(|(member, keeper)| {
                let overlap = far(keeper, member);
                DuplicateMember { member, keeper, overlap }
            })
            .collect();
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(&found, &collection.renumbered().components());
    }

    #[test]
    fn separated_members_share_no_group(
        seed: u64, members in 0usize..24, buckets in 1usize..12, shape in shape(),
        separated in 1usize..12,
    ) {
        let collection = TestCollection::random(seed, members, buckets, shape);
        let collection = collection.with_separated(seed, separated);
        let graph = collection.graph();
        let pairs = collection.all_pairs();
        for measure in [Jaccard, Containment] {
            let stars = collection.stars(measure);
            prop_assert_eq!(&stars, &naive_separated_stars(&collection, &graph, measure));
            prop_assert_eq!(&stars, &collection.renumbered().stars(measure));
            prop_assert_eq!(&stars, &stars_of_pairs(members, &pairs, &collection, measure));
            let groups = naive_separated_components(&collection, &graph, measure);
            let found = components(members, &collection, measure, collection.similarity(), far);
            let joined = keepers(members, &found);
            for member in 0..members {
                let is_first = groups[member] == member as u32;
                let is_kept = is_first || collection.is_fixed(member as u32);
                let expected = if is_kept { member as u32 } else { groups[member] };
                prop_assert_eq!(joined[member], expected);
            }
            for (keepers, is_stars) in [(keepers(members, &stars), true), (groups, false)] {
                for (member, others) in collection.separated.iter().enumerate() {
                    for other in others {
                        let is_together = keepers[member] == keepers[*other as usize];
                        prop_assert!(!is_together, "{} {} {}", member, other, is_stars);
                    }
                }
            }
        }
    }
}

/// The keeper of each member; the member itself if it is kept.
fn keepers(members: usize, duplicates: &[DuplicateMember]) -> Vec<u32> {
    let mut keepers: Vec<u32> = (0..members as u32).collect();
    for duplicate in duplicates {
        keepers[duplicate.member as usize] = duplicate.keeper;
    }
    keepers
}

/// The stars with separated members, by their definition. Each member becomes a duplicate of its
/// best neighbour among the keepers whose groups contain no member separated from it.
fn naive_separated_stars(
    collection: &TestCollection,
    graph: &Graph,
    measure: Measure,
) -> Vec<DuplicateMember> {
    let mut duplicates: Vec<DuplicateMember> = Vec::new();
    for member in collection.fixed..collection.members as u32 {
        let is_duplicate = |m: u32| duplicates.iter().any(|d| d.member == m);
        let group = |keeper: u32| {
            let of_keeper = duplicates.iter().filter(move |d| d.keeper == keeper);
            of_keeper.map(|d| d.member).chain([keeper])
        };
        let separated = &collection.separated[member as usize];
        let is_open = |keeper: &u32| {
            graph.contains_key(&(*keeper, member))
                && !is_duplicate(*keeper)
                && group(*keeper).all(|m| !separated.contains(&m))
        };
        let rank = |keeper: &u32| {
            let overlap = &graph[&(*keeper, member)];
            (exact(overlap, measure), overlap.is_of_equal_sets(), std::cmp::Reverse(*keeper))
        };
        if let Some(keeper) = (0..member).filter(is_open).max_by_key(rank) {
            duplicates.push(DuplicateMember { member, keeper, overlap: graph[&(keeper, member)] });
        }
    }
    duplicates
}

/// The first member of each member's group. Pairs are joined from the most similar to the least,
/// unless that would bring separated members together.
fn naive_separated_components(
    collection: &TestCollection,
    graph: &Graph,
    measure: Measure,
) -> Vec<u32> {
    let mut first: Vec<u32> = (0..collection.members as u32).collect();
    let mut pairs: Vec<_> = graph.iter().map(|(pair, o)| (60 - exact(o, measure), *pair)).collect();
    pairs.sort_unstable();
    for (_, (a, b)) in pairs {
        let (a, b) = (first[a as usize], first[b as usize]);
        let group = |of: u32| -> Vec<usize> {
            (0..first.len()).filter(|member| first[*member] == of).collect()
        };
        let (of_a, of_b) = (group(a), group(b));
        let is_separated =
            |m: &usize, other: &usize| collection.separated[*m].contains(&(*other as u32));
        if a != b && !of_a.iter().any(|m| of_b.iter().any(|other| is_separated(m, other))) {
            of_a.into_iter().chain(of_b).for_each(|m| first[m] = a.min(b));
        }
    }
    first
}
