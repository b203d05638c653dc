//! Candidates in, groups out: which documents are duplicates, and of which kept one.
//!
//! Members are numbered by their place in the keep order ([`keep`](crate::keep)), 0 first. Each
//! is inserted into some buckets and looks into some, which may be the same ones
//! ([`BucketMembership`]). A *candidate pair* is an earlier member that is in a bucket and a later
//! one that looks into it; a `similarity` function makes it a *verified pair* by giving an
//! [`Overlap`], or refuses it.
//! Two rules make groups of them:
//!
//! * **Stars** ([`stars`]): walk the members in order; one that has a verified pair with a kept
//!   member before it becomes a duplicate, else it is kept. Every duplicate therefore resembles its
//!   keeper, and no two keepers that are candidates resemble each other. The keepers are the
//!   lexicographically first maximal independent set of the graph of verified pairs: one right
//!   answer, however it is computed.
//! * **Components** ([`components`]): everything that is connected through verified pairs, as in
//!   chains a–b–c where a and c may have little in common. The keeper is the first member.
//!
//! Members may be *fixed*, those of a reference collection: they come first in the keep order, are
//! kept whatever they resemble, and are never compared with each other.
//!
//! Members without buckets cost nothing beyond their place in the walk. Nothing here depends on how
//! buckets are numbered or in which order a member lists them, and nothing is capped.

use crate::params::Measure;
use crate::verify::Overlap;
use std::cmp::Ordering;

/// The end of a list, and "not yet compared".
const NONE: u32 = u32::MAX;

/// Who meets whom: the buckets of numbered members. The lists may be in any order and name a bucket
/// twice; every number in them is below [`count`](Self::count).
pub trait BucketMembership {
    /// The buckets in which this member looks for earlier ones.
    fn look(&self, member: u32) -> &[u32];

    /// The buckets in which later members find this one.
    fn stand(&self, member: u32) -> &[u32];

    /// How many buckets there are; they are numbered from 0.
    fn count(&self) -> usize;

    /// Whether this member is kept whatever it resembles. All that are come before all that are
    /// not; they look for nobody.
    fn fixed(&self, member: u32) -> bool;
}

/// A member that is not kept, and the kept one that it resembles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DuplicateMember {
    /// The duplicate.
    pub member: u32,
    /// The kept member, which comes earlier in the keep order.
    pub keeper: u32,
    /// How they overlap: `left` is the keeper's set, `right` the duplicate's.
    pub overlap: Overlap,
}

/// Star groups of `members` members (fewer than 2³² − 1) that share buckets. A duplicate names its
/// best kept neighbour: the highest similarity in this measure, by exact fractions, then the
/// earliest. Duplicates come in order.
///
/// `similarity(earlier, later)` is called at most once per pair, and only for candidate pairs of a
/// kept and a later member: 10,000 copies in one bucket are 9,999 calls. It must depend on
/// nothing but the pair. Memory: 4 bytes per member and bucket, 8 per bucket of a kept member.
pub fn stars(
    members: usize,
    buckets: &impl BucketMembership,
    measure: Measure,
    mut similarity: impl FnMut(u32, u32) -> Option<Overlap>,
) -> Vec<DuplicateMember> {
    let mut kept = BucketChains::new(buckets.count());
    let mut seen = vec![NONE; members];
    let mut duplicates = Vec::new();
    for member in 0..members as u32 {
        let mut best: Option<DuplicateMember> = None;
        for &bucket in looked_into(buckets, member) {
            for keeper in kept.of(bucket) {
                if std::mem::replace(&mut seen[keeper as usize], member) == member {
                    continue;
                }
                if let Some(overlap) = similarity(keeper, member) {
                    offer(&mut best, DuplicateMember { member, keeper, overlap }, measure);
                }
            }
        }
        match best {
            Some(duplicate) => duplicates.push(duplicate),
            None => kept.push_all(buckets.stand(member), member),
        }
    }
    duplicates
}

/// Star groups of a graph whose verified pairs are known: the rule of [`stars`] on `pairs` of
/// members below `members`, in any order. `fixed` tells as [`BucketMembership::fixed`] does; pairs
/// of two fixed members count for nothing. O(members + pairs).
pub fn stars_of_pairs(
    members: usize,
    pairs: &[(u32, u32, Overlap)],
    fixed: impl Fn(u32) -> bool,
    measure: Measure,
) -> Vec<DuplicateMember> {
    // The pairs of a member with those before it, by their place in `pairs`.
    let mut before = BucketChains::new(members);
    for (i, &(a, b, _)) in pairs.iter().enumerate().filter(|(_, (a, b, _))| a != b) {
        before.push(a.max(b), i as u32);
    }
    let mut kept = vec![true; members];
    let mut duplicates = Vec::new();
    for member in (0..members as u32).filter(|member| !fixed(*member)) {
        let mut best = None;
        for pair in before.of(member) {
            let (a, b, overlap) = pairs[pair as usize];
            let (keeper, overlap) = if a < b { (a, overlap) } else { (b, overlap.swapped()) };
            if kept[keeper as usize] {
                offer(&mut best, DuplicateMember { member, keeper, overlap }, measure);
            }
        }
        kept[member as usize] = best.is_none();
        duplicates.extend(best);
    }
    duplicates
}

/// A kept member without a duplicate of its own, and the most similar duplicate of another keeper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelatedMember {
    /// The kept member.
    pub member: u32,
    /// The duplicate that it resembles most.
    pub neighbour: u32,
    /// How they overlap: `left` is the kept member's set, `right` the duplicate's.
    pub overlap: Overlap,
}

/// The kept members that are the keeper of nothing in `duplicates`, the result of [`stars`] for the
/// same arguments, and that have a verified pair all the same: with documents that are duplicates
/// of other keepers. Each names the most similar one, by exact fractions, then the earliest; in
/// order. Fixed members are left out.
///
/// `similarity(earlier, later)` is called at most once per pair, for candidate pairs of such a
/// member and a duplicate only.
pub fn related(
    members: usize,
    buckets: &impl BucketMembership,
    measure: Measure,
    duplicates: &[DuplicateMember],
    mut similarity: impl FnMut(u32, u32) -> Option<Overlap>,
) -> Vec<RelatedMember> {
    let mut nearest = NearestDuplicates::new(members, |member| buckets.fixed(member), duplicates);
    let mut alone = BucketChains::new(buckets.count());
    let mut gone = BucketChains::new(buckets.count());
    let mut seen = vec![NONE; members];
    for member in 0..members as u32 {
        let (looks_for, stands_in) = match nearest.roles[member as usize] {
            Role::Alone => (&gone, &mut alone),
            Role::Duplicate => (&alone, &mut gone),
            Role::Keeper => continue,
        };
        for &bucket in looked_into(buckets, member) {
            for earlier in looks_for.of(bucket) {
                if std::mem::replace(&mut seen[earlier as usize], member) == member {
                    continue;
                }
                if let Some(overlap) = similarity(earlier, member) {
                    nearest.pair(earlier, member, overlap, measure);
                }
            }
        }
        stands_in.push_all(buckets.stand(member), member);
    }
    nearest.finish()
}

/// The same where the verified pairs are known, in any order; O(members + pairs).
pub fn related_of_pairs(
    members: usize,
    pairs: &[(u32, u32, Overlap)],
    fixed: impl Fn(u32) -> bool,
    measure: Measure,
    duplicates: &[DuplicateMember],
) -> Vec<RelatedMember> {
    let mut nearest = NearestDuplicates::new(members, fixed, duplicates);
    for &(a, b, overlap) in pairs {
        nearest.pair(a, b, overlap, measure);
    }
    nearest.finish()
}

/// What a member is in a result of [`stars`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Kept, and the keeper of nothing.
    Alone,
    /// Kept for a duplicate, or fixed.
    Keeper,
    Duplicate,
}

/// The most similar duplicate of every member that is alone, among the pairs so far.
struct NearestDuplicates {
    roles: Vec<Role>,
    best: Vec<Option<RelatedMember>>,
}

impl NearestDuplicates {
    fn new(members: usize, fixed: impl Fn(u32) -> bool, duplicates: &[DuplicateMember]) -> Self {
        let role = |member| if fixed(member) { Role::Keeper } else { Role::Alone };
        let mut roles: Vec<Role> = (0..members as u32).map(role).collect();
        for duplicate in duplicates {
            roles[duplicate.keeper as usize] = Role::Keeper;
            roles[duplicate.member as usize] = Role::Duplicate;
        }
        Self { roles, best: vec![None; members] }
    }

    /// Takes a verified pair of any two members; `left` is the set of `a`.
    fn pair(&mut self, a: u32, b: u32, overlap: Overlap, measure: Measure) {
        let role = |member: u32| self.roles[member as usize];
        let (member, neighbour, overlap) = match (role(a), role(b)) {
            (Role::Alone, Role::Duplicate) => (a, b, overlap),
            (Role::Duplicate, Role::Alone) => (b, a, overlap.swapped()),
            _ => return,
        };
        let best = &mut self.best[member as usize];
        let better = best.is_none_or(|old| match overlap.compare(&old.overlap, measure) {
            Ordering::Less => false,
            Ordering::Equal => neighbour < old.neighbour,
            Ordering::Greater => true,
        });
        if better {
            *best = Some(RelatedMember { member, neighbour, overlap });
        }
    }

    fn finish(self) -> Vec<RelatedMember> {
        self.best.into_iter().flatten().collect()
    }
}

/// Every verified pair among the candidate pairs, each once, as (earlier, later, overlap) and
/// sorted. Arguments as for [`stars`]; `similarity` is called once per candidate pair, so a bucket
/// of n members costs n(n−1)/2 calls, less those of two fixed members.
pub fn all_pairs(
    members: usize,
    buckets: &impl BucketMembership,
    mut similarity: impl FnMut(u32, u32) -> Option<Overlap>,
) -> Vec<(u32, u32, Overlap)> {
    let mut before = BucketChains::new(buckets.count());
    let mut seen = vec![NONE; members];
    let mut pairs = Vec::new();
    for member in 0..members as u32 {
        for &bucket in looked_into(buckets, member) {
            for earlier in before.of(bucket) {
                if std::mem::replace(&mut seen[earlier as usize], member) == member {
                    continue;
                }
                pairs.extend(similarity(earlier, member).map(|o| (earlier, member, o)));
            }
        }
        // Only now: the member must not find itself.
        before.push_all(buckets.stand(member), member);
    }
    pairs.sort_unstable_by_key(|&(a, b, _)| (a, b));
    pairs
}

/// The connected components of the verified pairs: every member but the first of its component
/// becomes a duplicate of that first one, but for fixed members, which are never duplicates.
/// Arguments as for [`stars`]; pairs that are joined already are not verified, so 10,000 copies in
/// one bucket are 9,999 calls of `similarity`.
///
/// `overlap(keeper, duplicate)` is called once per duplicate and gives their overlap even where it
/// is below the threshold, as it may be at the end of a chain: a report should show it.
pub fn components(
    members: usize,
    buckets: &impl BucketMembership,
    mut similarity: impl FnMut(u32, u32) -> Option<Overlap>,
    overlap: impl FnMut(u32, u32) -> Overlap,
) -> Vec<DuplicateMember> {
    let mut sets = DisjointSets::new(members);
    let mut runs = Runs::new(buckets.count());
    let mut seen = vec![NONE; members];
    for member in 0..members as u32 {
        for &bucket in looked_into(buckets, member) {
            runs.look(bucket, member, &mut sets, |earlier| {
                std::mem::replace(&mut seen[earlier as usize], member) != member
                    && similarity(earlier, member).is_some()
            });
        }
        for &bucket in buckets.stand(member) {
            runs.stand(bucket, member);
        }
    }
    sets.duplicates(|member| buckets.fixed(member), overlap)
}

/// The components of a graph whose verified pairs are known: the rule of [`components`] on `pairs`
/// of members below `members`, in any order, and `fixed` as for [`stars_of_pairs`].
pub fn components_of_pairs(
    members: usize,
    pairs: &[(u32, u32, Overlap)],
    fixed: impl Fn(u32) -> bool,
    overlap: impl FnMut(u32, u32) -> Overlap,
) -> Vec<DuplicateMember> {
    let mut sets = DisjointSets::new(members);
    for &(a, b, _) in pairs.iter().filter(|(a, b, _)| !(fixed(*a) && fixed(*b))) {
        sets.join(a, b);
    }
    sets.duplicates(fixed, overlap)
}

/// Where a member looks for earlier ones: nowhere, where it is fixed, since those are, too.
fn looked_into(buckets: &impl BucketMembership, member: u32) -> &[u32] {
    if buckets.fixed(member) { &[] } else { buckets.look(member) }
}

/// Puts a candidate keeper in the place of a worse one.
fn offer(best: &mut Option<DuplicateMember>, new: DuplicateMember, measure: Measure) {
    let better = best.is_none_or(|old| match new.overlap.compare(&old.overlap, measure) {
        Ordering::Less => false,
        Ordering::Equal => new.keeper < old.keeper,
        Ordering::Greater => true,
    });
    if better {
        *best = Some(new);
    }
}

/// An entry of a linked list, mostly a member; the lists of all buckets lie in one vector.
#[derive(Debug, Clone, Copy)]
struct ListEntry {
    entry: u32,
    next: u32,
}

/// One list per bucket, latest first.
struct BucketChains {
    heads: Vec<u32>,
    links: Vec<ListEntry>,
}

impl BucketChains {
    fn new(buckets: usize) -> Self {
        Self { heads: vec![NONE; buckets], links: Vec::new() }
    }

    fn push_all(&mut self, buckets: &[u32], entry: u32) {
        for &bucket in buckets {
            self.push(bucket, entry);
        }
    }

    fn push(&mut self, bucket: u32, entry: u32) {
        let head = &mut self.heads[bucket as usize];
        self.links.push(ListEntry { entry, next: *head });
        *head = self.links.len() as u32 - 1;
    }

    fn of(&self, bucket: u32) -> impl Iterator<Item = u32> {
        let mut node = self.heads[bucket as usize];
        std::iter::from_fn(move || {
            let ListEntry { entry, next } = *self.links.get(node as usize)?;
            node = next;
            Some(entry)
        })
    }
}

/// Members of one bucket that are known to be connected with `member`, as a linked list.
#[derive(Debug, Clone, Copy)]
struct ConnectedRun {
    member: u32,
    first: u32,
    last: u32,
}

/// The runs of every bucket. A look leaves the members that it finds connected in one run, which
/// later looks skip at once; so a look costs the members that it compares with, those that were
/// added since the one before, and no more.
struct Runs {
    buckets: Vec<Vec<ConnectedRun>>,
    links: Vec<ListEntry>,
}

impl Runs {
    fn new(buckets: usize) -> Self {
        Self { buckets: vec![Vec::new(); buckets], links: Vec::new() }
    }

    fn stand(&mut self, bucket: u32, member: u32) {
        let node = self.links.len() as u32;
        self.links.push(ListEntry { entry: member, next: NONE });
        self.buckets[bucket as usize].push(ConnectedRun { member, first: node, last: node });
    }

    /// Joins `member` with everything in the bucket that is `similar`, asking only where they are
    /// not connected, and makes one run of all that are connected with it then.
    fn look(
        &mut self,
        bucket: u32,
        member: u32,
        sets: &mut DisjointSets,
        mut similar: impl FnMut(u32) -> bool,
    ) {
        let links = &mut self.links;
        let mut whole: Option<ConnectedRun> = None;
        self.buckets[bucket as usize].retain(|run| {
            let mut node = run.first;
            while node != NONE && !sets.joined(run.member, member) {
                let ListEntry { entry: earlier, next } = links[node as usize];
                node = next;
                if similar(earlier) {
                    sets.join(earlier, member);
                }
            }
            if !sets.joined(run.member, member) {
                return true;
            }
            let first = match whole {
                Some(whole) => {
                    links[run.last as usize].next = whole.first;
                    ConnectedRun { first: run.first, ..whole }
                }
                None => *run,
            };
            whole = Some(first);
            false
        });
        self.buckets[bucket as usize].extend(whole);
    }
}

/// Disjoint sets of members; the root of a set is its first member.
struct DisjointSets {
    parents: Vec<u32>,
}

impl DisjointSets {
    fn new(members: usize) -> Self {
        Self { parents: (0..members as u32).collect() }
    }

    /// The first member of the set. Halves the path it walks.
    fn find(&mut self, mut member: u32) -> u32 {
        while self.parents[member as usize] != member {
            let parent = self.parents[member as usize];
            self.parents[member as usize] = self.parents[parent as usize];
            member = parent;
        }
        member
    }

    fn joined(&mut self, a: u32, b: u32) -> bool {
        self.find(a) == self.find(b)
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.parents[a.max(b) as usize] = a.min(b);
    }

    fn duplicates(
        mut self,
        fixed: impl Fn(u32) -> bool,
        mut overlap: impl FnMut(u32, u32) -> Overlap,
    ) -> Vec<DuplicateMember> {
        let mut duplicates = Vec::new();
        for member in (0..self.parents.len() as u32).filter(|member| !fixed(*member)) {
            let keeper = self.find(member);
            if keeper != member {
                let overlap = overlap(keeper, member);
                duplicates.push(DuplicateMember { member, keeper, overlap });
            }
        }
        duplicates
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::SplitMix64;
    use crate::params::Measure::{Containment, Jaccard};
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    type Graph = BTreeMap<(u32, u32), Overlap>;

    /// A collection of which everything is known: buckets per member and verified pairs.
    #[derive(Debug, Clone)]
    struct TestCollection {
        members: usize,
        bucket_count: usize,
        look: Vec<Vec<u32>>,
        stand: Vec<Vec<u32>>,
        /// The first members are, this many.
        fixed: u32,
        verified: Graph,
    }

    impl BucketMembership for TestCollection {
        fn look(&self, member: u32) -> &[u32] {
            &self.look[member as usize]
        }

        fn stand(&self, member: u32) -> &[u32] {
            &self.stand[member as usize]
        }

        fn count(&self) -> usize {
            self.bucket_count
        }

        fn fixed(&self, member: u32) -> bool {
            member < self.fixed
        }
    }

    impl TestCollection {
        /// Buckets the same both ways, or drawn for each; `fixed` members at most.
        fn random(seed: u64, members: usize, bucket_count: usize, kind: CollectionShape) -> Self {
            let mut random = SplitMix64::new(seed);
            let mut draw = || -> Vec<Vec<u32>> {
                let mut list = || -> Vec<u32> {
                    let count = random.below(4);
                    (0..count).map(|_| random.below(bucket_count as u64) as u32).collect()
                };
                (0..members).map(|_| list()).collect()
            };
            let look = draw();
            let stand = if kind.directed { draw() } else { look.clone() };
            let mut verified = Graph::new();
            for b in 0..members as u32 {
                for a in (0..b).filter(|_| random.below(3) == 0).collect::<Vec<_>>() {
                    // Few distinct similarities, so that ties and unreduced fractions occur.
                    let union = 1 + random.below(6);
                    let intersection = 1 + random.below(union);
                    verified
                        .insert((a, b), Overlap { intersection, left: union, right: intersection });
                }
            }
            let fixed = kind.fixed.min(members as u32);
            Self { members, bucket_count, look, stand, fixed, verified }
        }

        fn is_candidate(&self, a: u32, b: u32) -> bool {
            !(self.fixed(a) && self.fixed(b))
                && self.look(b).iter().any(|k| self.stand(a).contains(k))
        }

        /// Verified candidate pairs, by looking at all of them.
        fn graph(&self) -> Graph {
            let candidate = |&(&(a, b), _): &(&(u32, u32), &Overlap)| self.is_candidate(a, b);
            self.verified.iter().filter(candidate).map(|(k, v)| (*k, *v)).collect()
        }

        /// A similarity that refuses to be asked twice, or about anything but candidates in order.
        fn similarity(&self) -> impl FnMut(u32, u32) -> Option<Overlap> + '_ {
            let mut asked = BTreeSet::new();
            move |a, b| {
                assert!(a < b && self.is_candidate(a, b), "{a} {b}");
                assert!(asked.insert((a, b)), "{a} {b} twice");
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
            components(self.members, self, self.similarity(), far)
        }

        /// The same candidates with buckets numbered and listed otherwise.
        fn renumbered(&self) -> Self {
            let last = self.bucket_count as u32 - 1;
            let turn = |b: &Vec<u32>| b.iter().rev().map(|k| last - k).collect();
            let (look, stand) = (&self.look, &self.stand);
            Self {
                look: look.iter().map(turn).collect(),
                stand: stand.iter().map(turn).collect(),
                ..self.clone()
            }
        }
    }

    /// What kind of world: buckets that differ by direction, and how many members are fixed.
    #[derive(Debug, Clone, Copy)]
    struct CollectionShape {
        directed: bool,
        fixed: u32,
    }

    fn kind() -> impl Strategy<Value = CollectionShape> {
        (any::<bool>(), prop_oneof![Just(0u32), 0u32..8])
            .prop_map(|(directed, fixed)| CollectionShape { directed, fixed })
    }

    /// Members that all are in the same buckets, and all but the fixed look into them.
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
        fn look(&self, _: u32) -> &[u32] {
            &self.buckets
        }

        fn stand(&self, _: u32) -> &[u32] {
            &self.buckets
        }

        fn count(&self) -> usize {
            self.buckets.len()
        }

        fn fixed(&self, member: u32) -> bool {
            member < self.fixed
        }
    }

    fn far(keeper: u32, member: u32) -> Overlap {
        Overlap { intersection: 0, left: u64::from(keeper), right: u64::from(member) }
    }

    fn exact(o: &Overlap, measure: Measure) -> u64 {
        // All wholes here divide 60, so similarities are whole numbers of sixtieths.
        let whole = if measure == Jaccard { o.union() } else { o.left.min(o.right) };
        o.intersection * 60 / whole
    }

    /// The definition of stars, word for word.
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
            let similarity = |k: u32| exact(&graph[&(k, member)], measure);
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

    /// The definition of related members, word for word, as (member, neighbour).
    fn naive_related(
        world: &TestCollection,
        graph: &Graph,
        duplicates: &[DuplicateMember],
        measure: Measure,
    ) -> Vec<(u32, u32)> {
        let is_duplicate = |m: u32| duplicates.iter().any(|d| d.member == m);
        let is_keeper = |m: u32| duplicates.iter().any(|d| d.keeper == m);
        let alone = |m: &u32| !is_duplicate(*m) && !is_keeper(*m) && !world.fixed(*m);
        let similarity = |a: u32, b: u32| {
            graph.get(&(a.min(b), a.max(b))).map(|overlap| exact(overlap, measure))
        };
        let members = || 0..world.members as u32;
        let best = |member: u32| {
            let near = members().filter(|&d| is_duplicate(d) && similarity(member, d).is_some());
            let best = near.clone().filter_map(|d| similarity(member, d)).max();
            near.clone().find(|d| similarity(member, *d) == best).map(|d| (member, d))
        };
        members().filter(alone).filter_map(best).collect()
    }

    /// First members of components, by spreading the least number until nothing changes.
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
    fn a_chain_is_two_stars_and_one_component() {
        let near = |a: u32, b: u32| (b - a == 1).then_some(SAME);
        let one = EqualBuckets::new(1);
        let star = |member, keeper| DuplicateMember { member, keeper, overlap: SAME };
        assert_eq!(stars(4, &one, Jaccard, near), [star(1, 0), star(3, 2)]);
        let chain = components(4, &one, near, far);
        assert!(chain.iter().all(|d| d.keeper == 0) && chain.len() == 3);
        assert_eq!(chain[2].overlap, far(0, 3));
        assert_eq!(all_pairs(4, &one, near), [(0, 1, SAME), (1, 2, SAME), (2, 3, SAME)]);
    }

    #[test]
    fn a_fixed_member_is_kept_and_may_be_the_keeper() {
        let two = EqualBuckets { fixed: 2, ..EqualBuckets::new(1) };
        let all = |_, _| Some(SAME);
        let found = stars(4, &two, Jaccard, all);
        assert!(found.iter().all(|d| d.keeper == 0 && d.member >= 2) && found.len() == 2);
        let joined = components(4, &two, all, far);
        assert!(joined.iter().all(|d| d.keeper == 0 && d.member >= 2) && joined.len() == 2);
        let pairs = all_pairs(4, &two, all);
        assert!(pairs.iter().all(|(_, b, _)| *b >= 2) && pairs.len() == 5);
    }

    #[test]
    fn the_best_keeper_is_that_of_the_measure() {
        // By Jaccard 0 is the nearer, by containment 1, of which all is in 2.
        let near = |a: u32, b: u32| match (a, b) {
            (0, 2) => Some(Overlap { intersection: 8, left: 10, right: 10 }),
            (1, 2) => Some(Overlap { intersection: 3, left: 3, right: 10 }),
            _ => None,
        };
        let keeper = |measure| stars(3, &EqualBuckets::new(1), measure, near)[0].keeper;
        assert_eq!((keeper(Jaccard), keeper(Containment)), (0, 1));
        let pairs: Vec<_> = [0, 1].map(|a| (a, 2, near(a, 2).unwrap())).to_vec();
        let keeper = |measure| stars_of_pairs(3, &pairs, |_| false, measure)[0].keeper;
        assert_eq!((keeper(Jaccard), keeper(Containment)), (0, 1));
    }

    #[test]
    fn nothing_gives_nothing() {
        let none = EqualBuckets::new(0);
        assert_eq!(stars(0, &none, Jaccard, |_, _| None), []);
        assert_eq!(stars(3, &none, Jaccard, |_, _| None), []);
        assert_eq!(all_pairs(3, &none, |_, _| None), []);
        assert_eq!(components(3, &none, |_, _| None, far), []);
        assert_eq!(stars_of_pairs(3, &[], |_| false, Jaccard), []);
    }

    #[test]
    fn a_huge_bucket_of_copies_is_linear() {
        let members = 10_000;
        let buckets = EqualBuckets::new(21);
        let mut calls = 0;
        let mut count = |_, _| {
            calls += 1;
            Some(SAME)
        };
        let found = stars(members, &buckets, Jaccard, &mut count);
        assert!(found.iter().all(|d| d.keeper == 0));
        let joined = components(members, &buckets, &mut count, far);
        assert_eq!((found.len(), joined.len(), calls), (9_999, 9_999, 2 * 9_999));
    }

    #[test]
    fn a_huge_bucket_of_fixed_copies_is_linear_in_components() {
        let (members, fixed) = (20_000, 10_000);
        let buckets = EqualBuckets { fixed, ..EqualBuckets::new(5) };
        let mut calls = 0;
        let count = |_, _| {
            calls += 1;
            Some(SAME)
        };
        let joined = components(members, &buckets, count, far);
        // The first that is not fixed is compared with all that are, each other one with one.
        assert_eq!((joined.len(), calls), (10_000, 10_000 + 9_999));
    }

    #[test]
    fn runs_stay_few_where_members_look_and_do_not_stand() {
        let mut sets = DisjointSets::new(3_000);
        let mut runs = Runs::new(1);
        (0..1_000).for_each(|member| runs.stand(0, member));
        for member in 1_000..3_000 {
            runs.look(0, member, &mut sets, |_| true);
            assert_eq!(runs.buckets[0].len(), 1);
        }
        assert_eq!(sets.find(2_999), 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]
        #[test]
        fn stars_are_the_definition(
            seed: u64, members in 0usize..24, buckets in 1usize..12, kind in kind(),
        ) {
            let world = TestCollection::random(seed, members, buckets, kind);
            let graph = world.graph();
            let contained = naive_stars(members, &graph, world.fixed, Containment);
            prop_assert_eq!(world.stars(Containment), contained);
            let found = world.stars(Jaccard);
            prop_assert_eq!(&found, &naive_stars(members, &graph, world.fixed, Jaccard));
            prop_assert_eq!(&found, &world.renumbered().stars(Jaccard));

            // A maximal independent set: keepers do not resemble each other, duplicates a keeper.
            let duplicates: BTreeSet<u32> = found.iter().map(|d| d.member).collect();
            for (a, b) in graph.keys() {
                prop_assert!(duplicates.contains(a) || duplicates.contains(b));
            }
            for d in &found {
                prop_assert!(!duplicates.contains(&d.keeper) && d.keeper < d.member);
                prop_assert!(d.member >= world.fixed);
                prop_assert_eq!(Some(&d.overlap), graph.get(&(d.keeper, d.member)));
            }
        }

        #[test]
        fn related_members_are_the_definition(
            seed: u64, members in 0usize..24, buckets in 1usize..12, kind in kind(),
        ) {
            let world = TestCollection::random(seed, members, buckets, kind);
            let graph = world.graph();
            let pairs = world.all_pairs();
            let mut turned: Vec<_> = pairs.iter().rev().copied().collect();
            for (a, b, overlap) in &mut turned {
                (*a, *b, *overlap) = (*b, *a, overlap.swapped());
            }
            for measure in [Jaccard, Containment] {
                let duplicates = world.stars(measure);
                let found = related(members, &world, measure, &duplicates, world.similarity());
                let named: Vec<_> = found.iter().map(|r| (r.member, r.neighbour)).collect();
                let expected = naive_related(&world, &graph, &duplicates, measure);
                prop_assert_eq!(&named, &expected);
                for r in &found {
                    let (a, b) = (r.member.min(r.neighbour), r.member.max(r.neighbour));
                    let overlap = graph[&(a, b)];
                    let overlap = if a == r.member { overlap } else { overlap.swapped() };
                    prop_assert_eq!(r.overlap, overlap);
                }
                let fixed = |member| world.fixed(member);
                let by_pairs = related_of_pairs(members, &turned, fixed, measure, &duplicates);
                prop_assert_eq!(by_pairs, found);
                // Nobody else that is kept and alone has a verified pair.
                let alone = |m: u32| {
                    duplicates.iter().all(|d| d.member != m && d.keeper != m) && !world.fixed(m)
                };
                for (a, b) in graph.keys().flat_map(|&(a, b)| [(a, b), (b, a)]) {
                    prop_assert!(!alone(a) || world.fixed(b) || named.iter().any(|n| n.0 == a));
                }
            }
        }

        #[test]
        fn pairs_are_all_and_give_the_same_groups(
            seed: u64, members in 0usize..24, buckets in 1usize..12, kind in kind(),
        ) {
            let world = TestCollection::random(seed, members, buckets, kind);
            let pairs = world.all_pairs();
            let expected: Vec<_> = world.graph().into_iter().map(|((a, b), o)| (a, b, o)).collect();
            prop_assert_eq!(&pairs, &expected);
            prop_assert_eq!(&pairs, &world.renumbered().all_pairs());

            let mut turned: Vec<_> =
                pairs.iter().rev().map(|&(a, b, o)| (b, a, o.swapped())).collect();
            // Pairs of fixed members and of one member count for nothing.
            for member in 0..world.fixed {
                turned.push((member, world.fixed - 1, SAME));
            }
            let fixed = |member| world.fixed(member);
            for measure in [Jaccard, Containment] {
                let found = world.stars(measure);
                prop_assert_eq!(&stars_of_pairs(members, &pairs, fixed, measure), &found);
                prop_assert_eq!(&stars_of_pairs(members, &turned, fixed, measure), &found);
            }
            let joined = components_of_pairs(members, &turned, fixed, far);
            prop_assert_eq!(joined, world.components());
        }

        #[test]
        fn components_are_connected(
            seed: u64, members in 0usize..24, buckets in 1usize..12, kind in kind(),
        ) {
            let world = TestCollection::random(seed, members, buckets, kind);
            let found = world.components();
            let first = naive_components(members, &world.graph());
            let expected: Vec<DuplicateMember> = (world.fixed..members as u32)
                .map(|member| (member, first[member as usize]))
                .filter(|(member, keeper)| member != keeper)
                .map(|(member, keeper)| {
                    let overlap = far(keeper, member);
                    DuplicateMember { member, keeper, overlap }
                })
                .collect();
            prop_assert_eq!(&found, &expected);
            prop_assert_eq!(&found, &world.renumbered().components());
        }
    }
}
