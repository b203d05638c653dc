//! Measures the agreement of people who judged the same pairs.

use super::decision::{Judgment, ReviewDecision};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A list of disputed pairs ends early beyond this many bytes of ids and names.
const LIST_BYTES: usize = 4 << 20;
/// Memory of a pair, and of a judgment, without its ids and names.
const PAIR_BYTES: usize = 200;
const JUDGMENT_BYTES: usize = 100;

/// Two people, and the pairs that both judged.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Agreement {
    /// Their names, the lesser one first.
    pub people: [String; 2],
    /// The number of pairs that both judged.
    pub pairs: u64,
    /// Pairs that both judged to be duplicates.
    pub both_duplicate: u64,
    /// Pairs that both judged to be different.
    pub both_not_duplicate: u64,
    /// Pairs that only the first judged to be duplicates.
    pub only_first_duplicate: u64,
    /// Pairs that only the second judged to be duplicates.
    pub only_second_duplicate: u64,
    /// Cohen's kappa (Cohen, *A coefficient of agreement for nominal scales*, 1960): 1 for full
    /// agreement, 0 for agreement by chance, down to −1. `None` if both people judged all pairs to
    /// be duplicates, or all to be different, because chance then explains all agreement.
    pub kappa: Option<f64>,
}

/// A pair with different judgments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DisputedPair {
    /// The ids of both documents, the lesser one first.
    pub documents: [String; 2],
    /// The people who judged them to be duplicates.
    pub duplicate: Vec<String>,
    /// The people who judged them to be different.
    pub not_duplicate: Vec<String>,
}

/// The judgments of several people about the same pairs. Only the last judgment of a person about a
/// pair counts, unless the person revoked it. Decisions without a name and decisions about
/// documents are not counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Agreements {
    /// Agreements, ordered by the names of the people.
    pub people: Vec<Agreement>,
    /// Pairs with different judgments, ordered by their ids; at most as many as requested.
    pub disputed: Vec<DisputedPair>,
    /// The number of all disputed pairs.
    pub disputed_total: u64,
    /// Whether further disputed pairs follow the listed ones.
    #[serde(skip)]
    pub goes_on: bool,
}

/// The last judgment of each person about each pair. Memory: ids and names of each judgment.
#[derive(Debug, Clone, Default)]
pub struct JudgedPairs {
    pairs: BTreeMap<[String; 2], BTreeMap<String, bool>>,
    names: BTreeSet<String>,
    last: u64,
    bytes: usize,
}

impl JudgedPairs {
    /// Adds the next decision, in the order of time.
    pub fn add(&mut self, decision: &ReviewDecision) {
        self.last = decision.line;
        let (Some(who), [a, b]) = (&decision.who, decision.documents.as_slice()) else { return };
        let pair = if a < b { [a.clone(), b.clone()] } else { [b.clone(), a.clone()] };
        let is_duplicate = match decision.judgment {
            Judgment::Duplicate => true,
            Judgment::NotDuplicate => false,
            Judgment::Undecided => {
                if let Some(people) = self.pairs.get_mut(&pair) {
                    people.remove(who);
                }
                return;
            }
            Judgment::Keep | Judgment::KeepAll => return,
        };
        if !self.names.contains(who) {
            self.names.insert(who.clone());
        }
        let ids = pair[0].len() + pair[1].len();
        let bytes = &mut self.bytes;
        let people = self.pairs.entry(pair).or_insert_with(|| {
            *bytes += PAIR_BYTES + ids;
            BTreeMap::new()
        });
        if people.insert(who.clone(), is_duplicate).is_none() {
            *bytes += JUDGMENT_BYTES + who.len();
        }
    }

    /// An upper bound of the memory of the judgments so far, in bytes.
    pub fn memory(&self) -> u64 {
        self.bytes as u64
    }

    /// The number of people who judged at least one pair.
    pub fn people(&self) -> usize {
        self.names.len()
    }

    /// The number of the last added decision; 0 before the first.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Compares the judgments. Lists at most `most` disputed pairs after the pair `after`, and
    /// fewer if their ids and names take more than 4 MiB. Takes time proportional to the number of
    /// pairs, and for each pair to the square of the number of people who judged it.
    pub fn agreements(&self, after: Option<&[String; 2]>, most: usize) -> Agreements {
        let mut counts: BTreeMap<[&str; 2], [u64; 4]> = BTreeMap::new();
        let mut found = Agreements::default();
        let mut bytes = 0;
        for (documents, judgments) in &self.pairs {
            let people: Vec<(&str, bool)> =
                judgments.iter().map(|(who, is_duplicate)| (who.as_str(), *is_duplicate)).collect();
            for (place, (first, left)) in people.iter().enumerate() {
                for (second, right) in &people[place + 1..] {
                    let count = counts.entry([first, second]).or_default();
                    count[usize::from(!left) * 2 + usize::from(!right)] += 1;
                }
            }
            let of = |judgment: bool| -> Vec<String> {
                let these = people.iter().filter(|(_, is_duplicate)| *is_duplicate == judgment);
                these.map(|(who, _)| (*who).to_owned()).collect()
            };
            let duplicate = of(true);
            let not_duplicate = of(false);
            if duplicate.is_empty() || not_duplicate.is_empty() {
                continue;
            }
            found.disputed_total += 1;
            if after.is_some_and(|after| documents <= after) {
                continue;
            }
            if found.disputed.len() == most || found.goes_on || bytes > LIST_BYTES {
                found.goes_on = true;
            } else {
                let names = duplicate.iter().chain(&not_duplicate);
                bytes += documents.iter().chain(names).map(String::len).sum::<usize>();
                let documents = documents.clone();
                found.disputed.push(DisputedPair { documents, duplicate, not_duplicate });
            }
        }
        found.people = counts.into_iter().map(|(people, count)| agreement(people, count)).collect();
        found
    }
}

/// Computes the agreement of two people. `count` is the number of pairs that both judged to be
/// duplicates, and the numbers for only the first, only the second, and neither.
fn agreement(people: [&str; 2], count: [u64; 4]) -> Agreement {
    let [both, first, second, neither] = count;
    let pairs = both + first + second + neither;
    let all = pairs as f64;
    let left = (both + first) as f64 / all;
    let right = (both + second) as f64 / all;
    let observed = (both + neither) as f64 / all;
    let by_chance = left * right + (1.0 - left) * (1.0 - right);
    Agreement {
        people: people.map(str::to_owned),
        pairs,
        both_duplicate: both,
        both_not_duplicate: neither,
        only_first_duplicate: first,
        only_second_duplicate: second,
        kappa: (by_chance < 1.0).then(|| (observed - by_chance) / (1.0 - by_chance)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(judgment: Judgment, who: Option<&str>, a: &str, b: &str) -> ReviewDecision {
        ReviewDecision {
            judgment,
            documents: vec![a.to_owned(), b.to_owned()],
            contents: Vec::new(),
            who: who.map(str::to_owned),
            when: None,
            note: None,
            line: 1,
            seen: None,
        }
    }

    /// The example of Cohen's paper has more categories. This is the usual textbook example of two
    /// raters and 50 cases: both say yes to 20 cases and no to 15, only the first says yes to 5,
    /// and only the second to 10. Kappa is 0.4.
    #[test]
    fn kappa_matches_the_textbook_example() {
        let found = agreement(["a", "b"], [20, 5, 10, 15]);
        assert_eq!((found.pairs, found.both_duplicate, found.only_second_duplicate), (50, 20, 10));
        assert!((found.kappa.unwrap() - 0.4).abs() < 1e-12);
        assert_eq!(agreement(["a", "b"], [7, 0, 0, 0]).kappa, None);
        assert_eq!(agreement(["a", "b"], [3, 0, 0, 4]).kappa, Some(1.0));
    }

    #[test]
    fn last_judgment_of_each_person_counts() {
        use Judgment::{Duplicate, Keep, NotDuplicate, Undecided};
        let decisions = [
            decided(Duplicate, Some("ann"), "x", "y"),
            decided(NotDuplicate, Some("bob"), "y", "x"),
            decided(NotDuplicate, Some("ann"), "p", "q"),
            decided(Duplicate, Some("ann"), "q", "p"),
            decided(Duplicate, Some("bob"), "p", "q"),
            decided(Duplicate, None, "x", "y"),
            decided(NotDuplicate, Some("eve"), "p", "q"),
            decided(Undecided, Some("eve"), "p", "q"),
            ReviewDecision {
                documents: vec!["x".to_owned()],
                ..decided(Keep, Some("eve"), "x", "x")
            },
        ];
        let mut judged = JudgedPairs::default();
        for decision in &decisions {
            judged.add(decision);
        }
        assert_eq!(judged.last(), 1);
        let found = judged.agreements(None, 10);
        let [only] = found.people.as_slice() else { panic!("{found:?}") };
        assert_eq!((only.people.clone(), only.pairs), (["ann", "bob"].map(str::to_owned), 2));
        assert_eq!((only.both_duplicate, only.only_first_duplicate), (1, 1));
        let [disputed] = found.disputed.as_slice() else { panic!("{found:?}") };
        assert_eq!(disputed.documents, ["x", "y"].map(str::to_owned));
        assert_eq!(
            (disputed.duplicate[0].as_str(), disputed.not_duplicate[0].as_str()),
            ("ann", "bob")
        );
        let short = judged.agreements(None, 0);
        assert_eq!((short.disputed.len(), short.disputed_total, short.goes_on), (0, 1, true));
    }

    #[test]
    fn disputed_pairs_are_paginated() {
        let mut judged = JudgedPairs::default();
        for pair in ["a b", "a c", "b c", "b d", "c d"] {
            let (left, right) = pair.split_once(' ').unwrap();
            judged.add(&decided(Judgment::Duplicate, Some("ann"), left, right));
            judged.add(&decided(Judgment::NotDuplicate, Some("bob"), left, right));
        }
        let whole = judged.agreements(None, 10);
        assert_eq!((whole.disputed.len(), whole.goes_on), (5, false));
        let (mut after, mut pages) = (None, Vec::new());
        loop {
            let page = judged.agreements(after.as_ref(), 2);
            assert_eq!((page.disputed_total, &page.people), (5, &whole.people));
            after = page.disputed.last().map(|pair| pair.documents.clone());
            pages.extend(page.disputed);
            if !page.goes_on {
                break;
            }
        }
        assert_eq!(pages, whole.disputed);
        assert!(judged.agreements(after.as_ref(), 2).disputed.is_empty());
    }
}
