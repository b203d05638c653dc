//! Groups with decisions of people are those of `docs/reference/decisions.md`, and every decision
//! without an effect is reported.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::candidates::{documents, find, write};
use lookalike::core::hash::SplitMix64;
use lookalike::core::keep::{KeepPolicy, KeepRule};
use lookalike::core::params::{Measure, Params, ParamsBuilder};
use lookalike::core::shingle::Shingler;
use lookalike::core::verify::{Overlap, overlap};
use lookalike::decisions::{self, ContradictionKind, Decisions};
use lookalike::error::{DecisionError, Error};
use lookalike::find::{FindOptions, Findings, Grouping, KeeperChoice, NoEffect, PairList};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

fn read(text: &str) -> Decisions {
    Decisions::new(decisions::read(text.as_bytes(), Path::new("decisions.jsonl")).unwrap())
}

fn judged(decision: &str, a: &str, b: &str) -> String {
    format!("{{\"decision\":\"{decision}\",\"documents\":[\"{a}\",\"{b}\"]}}\n")
}

fn kept(id: &str) -> String {
    format!("{{\"decision\":\"keep\",\"documents\":[\"{id}\"]}}\n")
}

/// Some decisions about documents, most about such as resemble each other: lines of a file.
fn draw(seed: u64, ids: &[String], near: &[(usize, usize)]) -> String {
    let mut random = SplitMix64::new(seed);
    let mut lines = String::new();
    for _ in 0..40 {
        let [mut a, mut b] = [(); 2].map(|()| random.below(ids.len() as u64) as usize);
        if random.below(5) > 0 && !near.is_empty() {
            (a, b) = near[random.below(near.len() as u64) as usize];
        }
        lines += &match random.below(5) {
            0 => kept(&ids[a]),
            _ if a == b => continue,
            1 => judged("duplicate", &ids[a], &ids[b]),
            _ => judged("not_duplicate", &ids[a], &ids[b]),
        };
    }
    lines
}

/// The collection and the decisions about it, by positions in the keep order.
struct Oracle {
    ids: Vec<String>,
    fixed: usize,
    separated: BTreeSet<(usize, usize)>,
    pairs: BTreeMap<(usize, usize), Overlap>,
    measure: Measure,
}

impl Oracle {
    fn new(documents: &[(String, String)], params: &Params, decisions: &Decisions) -> Self {
        let is_kept = |id: &str| decisions.kept.iter().any(|kept| kept.id == id);
        let mut order: Vec<&(String, String)> = documents.iter().collect();
        order.sort_by_key(|(id, _)| !is_kept(id));
        let ids: Vec<String> = order.iter().map(|(id, _)| id.clone()).collect();
        let position = |id: &String| ids.iter().position(|other| other == id).unwrap();
        let sets = order.iter().map(|(_, text)| {
            let mut set = Vec::new();
            Shingler::new(params.shingle()).set(text, &mut set);
            set
        });
        let sets: Vec<Vec<u64>> = sets.collect();
        let mut judged: BTreeMap<(usize, usize), bool> = BTreeMap::new();
        for pair in &decisions.pairs {
            let [a, b] = pair.documents.each_ref().map(position);
            judged.insert((a.min(b), a.max(b)), pair.is_duplicate);
        }
        let mut pairs = BTreeMap::new();
        for b in 0..ids.len() {
            for a in 0..b {
                let overlap = overlap(&sets[a], &sets[b]);
                let is_similar = overlap.reaches(params.measure(), params.threshold());
                if judged.get(&(a, b)).copied().unwrap_or(is_similar) {
                    pairs.insert((a, b), overlap);
                }
            }
        }
        let fixed = ids.iter().filter(|id| is_kept(id)).count();
        judged.retain(|_, is_duplicate| !*is_duplicate);
        let separated = judged.into_keys().flat_map(|(a, b)| [(a, b), (b, a)]).collect();
        Self { ids, fixed, separated, pairs, measure: params.measure() }
    }

    fn rank(&self, a: usize, b: usize) -> f64 {
        self.pairs[&(a, b)].similarity(self.measure)
    }

    /// The keeper of each member that is a duplicate.
    fn stars(&self) -> BTreeMap<String, String> {
        let mut keepers: Vec<usize> = (0..self.ids.len()).collect();
        for member in self.fixed..self.ids.len() {
            let is_open = |keeper: &usize| {
                keepers[*keeper] == *keeper
                    && self.pairs.contains_key(&(*keeper, member))
                    && (0..member).all(|other| {
                        keepers[other] != *keeper || !self.separated.contains(&(member, other))
                    })
            };
            let order = |a: &usize, b: &usize| {
                let equal = |k: usize| self.pairs[&(k, member)].is_of_equal_sets();
                let (left, right) = (self.rank(*a, member), self.rank(*b, member));
                left.total_cmp(&right).then(equal(*a).cmp(&equal(*b))).then(b.cmp(a))
            };
            if let Some(keeper) = (0..member).filter(is_open).max_by(order) {
                keepers[member] = keeper;
            }
        }
        self.by_ids(&keepers)
    }

    fn components(&self) -> BTreeMap<String, String> {
        let mut first: Vec<usize> = (0..self.ids.len()).collect();
        let open = self.pairs.keys().filter(|(_, later)| *later >= self.fixed);
        let mut pairs: Vec<(usize, usize)> = open.copied().collect();
        pairs.sort_by(|(a, b), (c, d)| self.rank(*c, *d).total_cmp(&self.rank(*a, *b)));
        for (a, b) in pairs {
            let (a, b) = (first[a].min(first[b]), first[a].max(first[b]));
            let together = |m: &(usize, usize)| first[m.0] == a && first[m.1] == b;
            if a == b || self.separated.iter().any(together) {
                continue;
            }
            first.iter_mut().filter(|of| **of == b).for_each(|of| *of = a);
        }
        (0..self.fixed).for_each(|member| first[member] = member);
        self.by_ids(&first)
    }

    fn by_ids(&self, keepers: &[usize]) -> BTreeMap<String, String> {
        let duplicates = keepers.iter().enumerate().filter(|(member, keeper)| member != *keeper);
        duplicates.map(|(a, b)| (self.ids[a].clone(), self.ids[*b].clone())).collect()
    }
}

fn keepers(findings: &Findings) -> BTreeMap<String, String> {
    let mut keepers = BTreeMap::new();
    for group in findings.groups.iter().map(Result::unwrap) {
        for duplicate in group.duplicates {
            keepers.insert(duplicate.id, group.keeper.id.clone());
        }
    }
    keepers
}

fn options(measure: Measure, threshold: f64) -> FindOptions {
    let builder = ParamsBuilder { exact: true, measure, threshold, ..ParamsBuilder::default() };
    let base = FindOptions::new(Params::new(&builder).unwrap());
    FindOptions { keep: KeepPolicy::new(vec![KeepRule::First]), ..base }
}

#[test]
fn groups_are_those_of_the_definition() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..12 {
        let documents = documents(120, seed);
        let input = write(&folder.path().join(format!("{seed}.jsonl")), &documents);
        let ids: Vec<String> = documents.iter().map(|(id, _)| id.clone()).collect();
        for measure in [Measure::Jaccard, Measure::Containment] {
            let base = options(measure, 0.5);
            let none = Oracle::new(&documents, &base.params, &Decisions::default());
            let near: Vec<(usize, usize)> = none.pairs.keys().copied().collect();
            let decisions = read(&draw(seed, &ids, &near));
            let oracle = Oracle::new(&documents, &base.params, &decisions);
            let decisions = Some(Arc::new(decisions));
            for pairs in [PairList::Omitted, PairList::Exact] {
                let base = FindOptions { decisions: decisions.clone(), pairs, ..base.clone() };
                let found = find(std::slice::from_ref(&input), &base).unwrap();
                assert_eq!(keepers(&found), oracle.stars(), "{seed} {measure} {pairs:?}");
                if let Some(pairs) = &found.pairs {
                    assert_eq!(pairs.iter().count(), oracle.pairs.len(), "{seed} {measure}");
                }
                let counts = found.decisions.unwrap();
                assert_eq!((counts.applied(), &counts.unapplied[..]), (counts.in_force, &[][..]));
                let grouping = Grouping::Components;
                let found =
                    find(std::slice::from_ref(&input), &FindOptions { grouping, ..base }).unwrap();
                assert_eq!(keepers(&found), oracle.components(), "{seed} {measure} {pairs:?}");
            }
        }
    }
}

#[test]
fn decisions_hold_where_candidates_are_found_by_bands_and_screened() {
    let folder = tempfile::tempdir().unwrap();
    // Forms that share most words, so that comparisons below the threshold are many, and copies.
    let mut random = SplitMix64::new(7);
    let form = (0..60).map(|i| format!("word{i}")).collect::<Vec<_>>().join(" ");
    let mut documents: Vec<(String, String)> = (0..400)
        .map(|i| {
            let own: Vec<String> =
                (0..30).map(|_| format!("own{}", random.below(100_000))).collect();
            (format!("d{i:03}"), format!("{form} {}", own.join(" ")))
        })
        .collect();
    for i in 0..20 {
        documents.push((format!("e{i:03}"), documents[i].1.clone()));
    }
    let input = write(&folder.path().join("forms.jsonl"), &documents);
    let mut lines = judged("duplicate", "d300", "d301") + &judged("not_duplicate", "d003", "e003");
    lines += &(judged("duplicate", "d010", "d311") + &kept("e004"));
    let builder = ParamsBuilder {
        threshold: 0.8,
        bands: Some(64),
        rows: Some(1),
        num_hashes: Some(64),
        ..ParamsBuilder::default()
    };
    let base = FindOptions {
        keep: KeepPolicy::new(vec![KeepRule::First]),
        decisions: Some(Arc::new(read(&lines))),
        ..FindOptions::new(Params::new(&builder).unwrap())
    };
    let mut expected: BTreeMap<String, String> =
        (0..20).map(|i| (format!("e{i:03}"), format!("d{i:03}"))).collect();
    expected.remove("e003");
    expected.remove("e004");
    expected.insert("d004".to_owned(), "e004".to_owned());
    expected.insert("d301".to_owned(), "d300".to_owned());
    expected.insert("d311".to_owned(), "d010".to_owned());
    for (memory, threads) in [(None, 1), (None, 2), (Some(64 << 20), 2)] {
        let mut options = base.clone();
        options.memory.limit = memory;
        options.threads = std::num::NonZeroUsize::new(threads).unwrap();
        let found = find(std::slice::from_ref(&input), &options).unwrap();
        assert_eq!(keepers(&found), expected, "{memory:?} {threads}");
        let group =
            found.groups.iter().map(Result::unwrap).find(|g| g.keeper.id == "e004").unwrap();
        assert!(group.keeper.by_decision);
    }
}

#[test]
fn what_has_no_effect_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let text = |words: &str| format!("one two three four five six {words}");
    let documents = [
        ("a".to_owned(), text("seven")),
        ("b".to_owned(), text("seven")),
        ("c".to_owned(), text("eight")),
        ("empty".to_owned(), "...".to_owned()),
    ];
    let input = write(&folder.path().join("few.jsonl"), &documents);
    let hash = lookalike::read::Content::of(documents[0].1.as_bytes());
    let mut lines = judged("not_duplicate", "a", "gone") + &judged("duplicate", "a", "empty");
    let old = "0".repeat(64);
    writeln!(
        lines,
        "{{\"decision\":\"not_duplicate\",\"documents\":[\"b\",\"a\"],\
         \"contents\":[\"{old}\",\"{hash}\"]}}"
    )
    .unwrap();
    writeln!(lines, "{{\"decision\":\"keep\",\"documents\":[\"a\"],\"contents\":[\"{hash}\"]}}")
        .unwrap();
    lines += &(kept("b") + &judged("duplicate", "a", "b"));
    let options =
        FindOptions { decisions: Some(Arc::new(read(&lines))), ..options(Measure::Jaccard, 0.9) };
    let found = find(std::slice::from_ref(&input), &options).unwrap();
    let counts = found.decisions.as_ref().unwrap();
    let reasons: Vec<(u64, NoEffect)> =
        counts.unapplied.iter().map(|unapplied| (unapplied.line, unapplied.reason)).collect();
    assert_eq!(reasons, [(1, NoEffect::Unknown), (2, NoEffect::Empty)]);
    assert_eq!((counts.read, counts.in_force, counts.applied()), (6, 5, 3));
    let kinds: Vec<_> = counts.contradictions.iter().map(|it| (it.kind, it.lines)).collect();
    assert_eq!(kinds, [(ContradictionKind::BothKept, [5, 6])]);
    // Both are kept.
    assert!(keepers(&found).is_empty());

    let changed = lines.lines().take(3).collect::<Vec<_>>().join("\n");
    let options = FindOptions { decisions: Some(Arc::new(read(&changed))), ..options };
    let found = find(&[input], &options).unwrap();
    let counts = found.decisions.as_ref().unwrap();
    assert_eq!(counts.count(NoEffect::Changed), 1);
    assert_eq!(keepers(&found).into_iter().collect::<Vec<_>>(), [("b".to_owned(), "a".to_owned())]);
}

#[test]
fn decisions_are_refused_where_the_keepers_are_given() {
    let folder = tempfile::tempdir().unwrap();
    let input = write(&folder.path().join("two.jsonl"), &documents(2, 1));
    let decisions = Some(Arc::new(read(&kept("x"))));
    let keepers = KeeperChoice::Reference;
    let options = FindOptions { decisions, keepers, ..options(Measure::Jaccard, 0.8) };
    let refused = find(&[input], &options);
    assert!(matches!(refused, Err(Error::Decisions(DecisionError::GivenKeepers))));
}
