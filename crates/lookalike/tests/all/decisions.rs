//! Groups with user decisions follow `docs/reference/decisions.md`, and every decision without an
//! effect is reported. Runs with a reference collection follow the same definition, also without
//! decisions.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::candidates::{documents, find, write};
use lookalike::core::hash::SplitMix64;
use lookalike::core::keep::{KeepPolicy, KeepRule};
use lookalike::core::params::{Measure, Params, ParamsBuilder};
use lookalike::core::shingle::Shingler;
use lookalike::core::verify::{Overlap, overlap};
use lookalike::decisions::{self, ContradictionKind, DecisionError, Decisions};
use lookalike::find::{
    FindError, FindOptions, Findings, Grouping, KeeperChoice, NoEffect, PairList, in_collection,
};
use lookalike::progress::NoProgress;
use lookalike::read::{Collection, Content, ReadOptions};
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

/// Draws lines of a decision file. Most decisions are about documents that resemble each other.
fn draw(seed: u64, count: usize, ids: &[String], near: &[(usize, usize)]) -> String {
    let mut random = SplitMix64::new(seed);
    let mut lines = String::new();
    for _ in 0..count {
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

/// The collection and its decisions, by positions in the keep order.
struct Oracle {
    ids: Vec<String>,
    fixed: usize,
    separated: BTreeSet<(usize, usize)>,
    pairs: BTreeMap<(usize, usize), Overlap>,
    measure: Measure,
}

impl Oracle {
    fn new(
        documents: &[(String, String)],
        references: &[(String, String)],
        params: &Params,
        decisions: &Decisions,
    ) -> Self {
        let is_kept = |id: &str| decisions.kept.iter().any(|kept| kept.id == id);
        let mut order: Vec<&(String, String)> = documents.iter().collect();
        order.sort_by_key(|(id, _)| !is_kept(id));
        let kept = order.iter().filter(|(id, _)| is_kept(id)).count();
        order.splice(..0, references);
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
                let is_compared = b >= references.len();
                if is_compared && judged.get(&(a, b)).copied().unwrap_or(is_similar) {
                    pairs.insert((a, b), overlap);
                }
            }
        }
        let fixed = references.len() + kept;
        judged.retain(|_, is_duplicate| !*is_duplicate);
        let separated = judged.into_keys().flat_map(|(a, b)| [(a, b), (b, a)]).collect();
        Self { ids, fixed, separated, pairs, measure: params.measure() }
    }

    fn rank(&self, a: usize, b: usize) -> f64 {
        self.pairs[&(a, b)].similarity(self.measure)
    }

    /// Returns the keeper of each duplicate, with stars.
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

    /// Returns the ids of all pairs, the lesser first.
    fn pair_ids(&self) -> BTreeSet<(String, String)> {
        let ids = self.pairs.keys().map(|(a, b)| (self.ids[*a].clone(), self.ids[*b].clone()));
        ids.map(|(a, b)| if a < b { (a, b) } else { (b, a) }).collect()
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
fn decided_groups_match_the_definition() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..12 {
        let documents = documents(120, seed);
        let input = write(&folder.path().join(format!("{seed}.jsonl")), &documents);
        let ids: Vec<String> = documents.iter().map(|(id, _)| id.clone()).collect();
        for measure in [Measure::Jaccard, Measure::Containment] {
            let base = options(measure, 0.5);
            let undecided = Oracle::new(&documents, &[], &base.params, &Decisions::default());
            let near: Vec<(usize, usize)> = undecided.pairs.keys().copied().collect();
            let decisions = read(&draw(seed, 40, &ids, &near));
            let oracle = Oracle::new(&documents, &[], &base.params, &decisions);
            let decisions = Some(Arc::new(decisions));
            for pairs in [PairList::Omitted, PairList::Exact] {
                let base = FindOptions { decisions: decisions.clone(), pairs, ..base.clone() };
                let found = find(std::slice::from_ref(&input), &base).unwrap();
                assert_eq!(keepers(&found), oracle.stars(), "{seed} {measure} {pairs:?}");
                if let Some(pairs) = &found.pairs {
                    assert_eq!(pairs.iter().count(), oracle.pairs.len(), "{seed} {measure}");
                }
                let counts = found.decisions.unwrap();
                assert_eq!((counts.applied, &counts.unapplied[..]), (counts.in_force, &[][..]));
                let grouping = Grouping::Components;
                let found =
                    find(std::slice::from_ref(&input), &FindOptions { grouping, ..base }).unwrap();
                assert_eq!(keepers(&found), oracle.components(), "{seed} {measure} {pairs:?}");
            }
        }
    }
}

/// Returns bags of a few letters, many of them equal.
fn bags(prefix: &str, count: u64, random: &mut SplitMix64) -> Vec<(String, String)> {
    let bag = |number| {
        let letters = random.below(1 << 6) as u32 | 1 << random.below(6);
        let letters = (0..6u8).filter(|bit| letters >> bit & 1 == 1);
        let words: Vec<String> = letters.map(|bit| char::from(b'a' + bit).to_string()).collect();
        (format!("{prefix}{number:02}"), words.join(" "))
    };
    (0..count).map(bag).collect()
}

fn find_with_references(
    documents: &[(String, String)],
    references: &[(String, String)],
    options: &FindOptions,
) -> Findings {
    let folder = tempfile::tempdir().unwrap();
    let inputs = write(&folder.path().join("documents.jsonl"), documents);
    let references = write(&folder.path().join("references.jsonl"), references);
    let read = ReadOptions::default();
    let opened = Collection::open_with_reference(&[inputs], &[references], &read).unwrap();
    in_collection(&opened, options, &NoProgress).unwrap()
}

/// Returns options of runs that find all pairs: an exact run, and for Jaccard also a run with bands
/// that miss no pair.
fn complete(measure: Measure, threshold: f64) -> Vec<FindOptions> {
    let exact = ParamsBuilder { exact: true, ..ParamsBuilder::default() };
    let (bands, rows, num_hashes) = (Some(64), Some(1), Some(64));
    let banded = ParamsBuilder { bands, rows, num_hashes, ..ParamsBuilder::default() };
    let builders = if measure == Measure::Jaccard { vec![exact, banded] } else { vec![exact] };
    let with = |builder| {
        let shingle = "bag".parse().unwrap();
        let builder = ParamsBuilder { measure, threshold, shingle, ..builder };
        let base = FindOptions::new(Params::new(&builder).unwrap());
        FindOptions { keep: KeepPolicy::new(vec![KeepRule::First]), advice: false, ..base }
    };
    builders.into_iter().map(with).collect()
}

/// Compares the groups and pairs of documents and references with the definition, with some
/// decisions.
fn check_references(seed: u64, decided: usize) {
    let mut random = SplitMix64::new(seed);
    let (documents, references) = (bags("d", 14, &mut random), bags("r", 8, &mut random));
    let ids: Vec<String> = references.iter().chain(&documents).map(|(id, _)| id.clone()).collect();
    for measure in [Measure::Jaccard, Measure::Containment] {
        for base in complete(measure, [0.5, 0.6, 0.8][seed as usize % 3]) {
            let undecided =
                Oracle::new(&documents, &references, &base.params, &Decisions::default());
            let near: Vec<(usize, usize)> = undecided.pairs.keys().copied().collect();
            let lines = draw(seed, decided, &ids, &near);
            let decisions = read(&lines);
            let oracle = Oracle::new(&documents, &references, &base.params, &decisions);
            let decisions = Some(Arc::new(decisions));
            for grouping in Grouping::ALL {
                let expected = match grouping {
                    Grouping::Stars => oracle.stars(),
                    Grouping::Components => oracle.components(),
                };
                for pairs in [PairList::Omitted, PairList::Exact] {
                    let decisions = decisions.clone();
                    let options = FindOptions { decisions, pairs, grouping, ..base.clone() };
                    let found = find_with_references(&documents, &references, &options);
                    let context =
                        format!("{seed} {measure} {grouping:?} {pairs:?} {documents:?} {lines}");
                    assert_eq!(keepers(&found), expected, "{context} {references:?}");
                    let Some(pairs) = &found.pairs else { continue };
                    let pairs = pairs.iter().map(Result::unwrap).map(|pair| (pair.a, pair.b));
                    let pairs: Vec<(String, String)> = pairs.collect();
                    assert!(pairs.iter().eq(&oracle.pair_ids()), "{context} {pairs:?}");
                }
            }
        }
    }
}

#[test]
fn reference_groups_match_the_definition() {
    (0..60).for_each(|seed| check_references(seed, 0));
}

#[test]
fn decisions_with_references_follow_the_definition() {
    (0..60).for_each(|seed| check_references(seed, 6));
    (60..90).for_each(|seed| check_references(seed, 30));
}

#[test]
fn equal_references_are_keepers_each() {
    let bag = |id: &str, text: &str| (id.to_owned(), text.to_owned());
    let references = [bag("r1", "a b c d"), bag("r2", "a b c d")];
    let documents = [bag("d1", "a b c d x"), bag("d2", "a b c d y")];
    let decisions = read(&judged("not_duplicate", "d1", "d2"));
    let base = complete(Measure::Jaccard, 0.6).remove(0);
    let options = FindOptions { decisions: Some(Arc::new(decisions)), ..base };
    let found = find_with_references(&documents, &references, &options);
    let expected = [("d1", "r1"), ("d2", "r2")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(keepers(&found), BTreeMap::from(expected));
}

#[test]
fn chains_continue_behind_reference_copies() {
    let bag = |id: &str, text: &str| (id.to_owned(), text.to_owned());
    let references = [bag("r1", "a b c d"), bag("r2", "a b c d e f")];
    let documents = [bag("d1", "a b c d"), bag("d2", "a b c d e")];
    let base = complete(Measure::Jaccard, 0.5).remove(0);
    let options = FindOptions { grouping: Grouping::Components, ..base };
    let found = find_with_references(&documents, &references, &options);
    let expected = [("d1", "r1"), ("d2", "r1")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(keepers(&found), BTreeMap::from(expected));
}

#[test]
fn decisions_hold_for_banded_candidates() {
    let folder = tempfile::tempdir().unwrap();
    // Forms that share most words, so that many comparisons are below the threshold, and copies of
    // them.
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
fn ineffective_decisions_are_reported() {
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
    assert_eq!((counts.read, counts.in_force, counts.applied), (6, 5, 3));
    let kinds: Vec<_> = counts.contradictions.iter().map(|it| (it.kind, it.lines)).collect();
    assert_eq!(kinds, [(ContradictionKind::BothKept, [5, 6])]);
    // Both documents are kept.
    assert!(keepers(&found).is_empty());

    let changed = lines.lines().take(3).collect::<Vec<_>>().join("\n");
    let options = FindOptions { decisions: Some(Arc::new(read(&changed))), ..options };
    let found = find(&[input], &options).unwrap();
    let counts = found.decisions.as_ref().unwrap();
    assert_eq!(counts.count(NoEffect::Changed), 1);
    assert_eq!(keepers(&found).into_iter().collect::<Vec<_>>(), [("b".to_owned(), "a".to_owned())]);
}

#[test]
fn decisions_conflict_with_given_keepers() {
    let folder = tempfile::tempdir().unwrap();
    let input = write(&folder.path().join("two.jsonl"), &documents(2, 1));
    let decisions = Some(Arc::new(read(&kept("x"))));
    let keepers = KeeperChoice::Reference;
    let options = FindOptions { decisions, keepers, ..options(Measure::Jaccard, 0.8) };
    let refused = find(&[input], &options);
    assert!(matches!(refused, Err(FindError::Decisions(DecisionError::GivenKeepers))));
}

/// A line of a decision file, and the states of its documents.
struct DrawnDecision {
    line: u64,
    who: Option<&'static str>,
    judgment: &'static str,
    documents: Vec<String>,
    /// For each document: whether it exists, whether its text is unchanged since the decision, and
    /// whether it has a token.
    states: Vec<[bool; 3]>,
}

impl DrawnDecision {
    fn pair(&self) -> Option<[String; 2]> {
        let mut pair = self.documents.clone();
        pair.sort();
        pair.try_into().ok().filter(|_| self.judgment != "keep_all")
    }

    fn reason(&self, document: usize) -> Option<NoEffect> {
        let needs_token = self.judgment.ends_with("duplicate");
        match self.states[document] {
            [false, ..] => Some(NoEffect::Unknown),
            [_, false, _] => Some(NoEffect::Changed),
            [_, _, false] if needs_token => Some(NoEffect::Empty),
            _ => None,
        }
    }

    /// Returns the reason of the first document with one, in the order of the ids.
    fn pair_reason(&self) -> Option<NoEffect> {
        let [a, b] = if self.documents[0] < self.documents[1] { [0, 1] } else { [1, 0] };
        self.reason(a).or_else(|| self.reason(b))
    }
}

/// Decisions about documents d0 to d5, of which the last two have no token, references r0 and r1,
/// and ids that do not exist.
fn drawn_decisions(
    random: &mut SplitMix64,
    texts: &BTreeMap<String, String>,
) -> Vec<DrawnDecision> {
    let ids = ["d0", "d1", "d2", "d3", "d4", "d5", "r0", "r1", "gone"];
    let drawn = |line| {
        let judgments = ["duplicate", "duplicate", "not_duplicate", "keep_all", "undecided"];
        let judgment = judgments[random.below(5) as usize];
        let count = match judgment {
            "keep_all" => 1 + random.below(3),
            "undecided" => 1 + random.below(2),
            _ => 2,
        };
        let mut documents: Vec<String> = Vec::new();
        while documents.len() < count as usize {
            let id = ids[random.below(9) as usize].to_owned();
            if !documents.contains(&id) {
                documents.push(id);
            }
        }
        let states = documents.iter().map(|id| {
            let is_current = random.below(6) > 0;
            [texts.contains_key(id), is_current, texts.get(id).is_some_and(|text| text != ".")]
        });
        let states = states.collect();
        let who = [None, Some("ann"), Some("bob")][random.below(3) as usize];
        DrawnDecision { line, who, judgment, documents, states }
    };
    (1..=12).map(drawn).collect()
}

fn decision_lines(drawn: &[DrawnDecision], texts: &BTreeMap<String, String>) -> String {
    let line = |decision: &DrawnDecision| {
        let contents: Vec<String> = decision
            .documents
            .iter()
            .zip(&decision.states)
            .map(|(id, [_, is_current, _])| match texts.get(id) {
                Some(text) if *is_current => Content::of(text.as_bytes()).to_string(),
                _ => "0".repeat(64),
            })
            .collect();
        let (judgment, documents, who) = (decision.judgment, &decision.documents, decision.who);
        serde_json::json!({
            "decision": judgment, "documents": documents, "contents": contents, "who": who,
        })
        .to_string()
            + "\n"
    };
    drawn.iter().map(line).collect()
}

type Unapplied = BTreeMap<(u64, NoEffect), Vec<String>>;
type Contradictions = Vec<([u64; 2], &'static str, [String; 2])>;

/// Returns the effects that a run must report, from reading the decisions in order.
fn effects(drawn: &[DrawnDecision]) -> (u64, u64, Unapplied, Contradictions) {
    let mut pairs: BTreeMap<[String; 2], &DrawnDecision> = BTreeMap::new();
    let mut kept: BTreeMap<String, &DrawnDecision> = BTreeMap::new();
    let mut contradictions = Vec::new();
    let lines = |a: u64, b: u64| [a.min(b), a.max(b)];
    for decision in drawn {
        match (decision.judgment, decision.pair()) {
            ("keep_all", _) => {
                kept.extend(decision.documents.iter().map(|id| (id.clone(), decision)));
            }
            ("undecided", Some(pair)) => drop(pairs.remove(&pair)),
            ("undecided", None) => drop(kept.remove(&decision.documents[0])),
            (_, Some(pair)) => {
                let Some(earlier) = pairs.insert(pair.clone(), decision) else { continue };
                let are_people = earlier.who.is_some() && decision.who.is_some();
                let differ = earlier.who != decision.who && earlier.judgment != decision.judgment;
                if are_people
                    && differ
                    && earlier.pair_reason().is_none()
                    && decision.pair_reason().is_none()
                {
                    contradictions.push((lines(earlier.line, decision.line), "two_people", pair));
                }
            }
            (_, None) => unreachable!(),
        }
    }
    let in_force: BTreeSet<u64> =
        pairs.values().chain(kept.values()).map(|decision| decision.line).collect();
    let mut unapplied = Unapplied::new();
    let mut applied = BTreeSet::new();
    for (pair, decision) in &pairs {
        match decision.pair_reason() {
            Some(reason) => drop(unapplied.insert((decision.line, reason), pair.to_vec())),
            None => drop(applied.insert(decision.line)),
        }
    }
    pairs.retain(|_, decision| decision.pair_reason().is_none());
    kept.retain(|id, decision| {
        let place = decision.documents.iter().position(|other| other == id).unwrap();
        let reason = decision.reason(place);
        match reason {
            Some(reason) => unapplied.entry((decision.line, reason)).or_default().push(id.clone()),
            None => drop(applied.insert(decision.line)),
        }
        reason.is_none()
    });
    for (pair, decision) in &pairs {
        let is_kept = |id: &String| id.starts_with('r') || kept.contains_key(id);
        if decision.judgment == "duplicate" && pair.iter().all(is_kept) {
            let keeping =
                pair.iter().filter_map(|id| kept.get(id)).map(|decision| decision.line).max();
            let lines = lines(decision.line, keeping.unwrap_or(decision.line));
            contradictions.push((lines, "both_kept", pair.clone()));
        }
        if decision.judgment == "duplicate" {
            continue;
        }
        // All documents that decisions `duplicate` connect with the first one.
        let mut reached = BTreeSet::from([pair[0].clone()]);
        let mut least = u64::MAX;
        for _ in 0..pairs.len() {
            let duplicates = pairs.iter().filter(|(_, decision)| decision.judgment == "duplicate");
            for (pair, decision) in duplicates {
                if pair.iter().any(|id| reached.contains(id)) {
                    reached.extend(pair.iter().cloned());
                    least = least.min(decision.line);
                }
            }
        }
        if reached.contains(&pair[1]) {
            contradictions.push((lines(decision.line, least), "connected", pair.clone()));
        }
    }
    contradictions.sort();
    (in_force.len() as u64, applied.len() as u64, unapplied, contradictions)
}

#[test]
fn effects_of_decisions_follow_the_definition() {
    let mut random = SplitMix64::new(23);
    let text = |id: &str| if ["d4", "d5"].contains(&id) { "." } else { "a b c d" };
    let side = |ids: &[&str]| -> Vec<(String, String)> {
        ids.iter().map(|id| ((*id).to_owned(), text(id).to_owned())).collect()
    };
    let documents = side(&["d0", "d1", "d2", "d3", "d4", "d5"]);
    let references = side(&["r0", "r1"]);
    let texts: BTreeMap<String, String> = documents.iter().chain(&references).cloned().collect();
    for round in 0..400 {
        let drawn = drawn_decisions(&mut random, &texts);
        let lines = decision_lines(&drawn, &texts);
        let base = complete(Measure::Jaccard, 0.8).remove(0);
        let options = FindOptions { decisions: Some(Arc::new(read(&lines))), ..base };
        let found = find_with_references(&documents, &references, &options);
        let counts = found.decisions.unwrap();
        let (in_force, applied, unapplied, contradictions) = effects(&drawn);
        assert_eq!((counts.in_force, counts.applied), (in_force, applied), "{round}\n{lines}");
        let found = counts
            .unapplied
            .into_iter()
            .map(|effect| ((effect.line, effect.reason), effect.documents));
        assert_eq!(found.collect::<Unapplied>(), unapplied, "{round}\n{lines}");
        let mut found: Contradictions = counts
            .contradictions
            .into_iter()
            .map(|contradiction| {
                (contradiction.lines, contradiction.kind.name(), contradiction.documents)
            })
            .collect();
        found.sort();
        assert_eq!(found, contradictions, "{round}\n{lines}");
    }
}
