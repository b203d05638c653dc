//! The decisions in force, in memory. They are read from the log of the index before groups are
//! shown.

use crate::http::problem::{Code, Problem};
use lookalike::core::hash::token_hash;
use lookalike::decisions::{self, Judgment, ReviewDecision};
use lookalike::store::Index;
use parking_lot::{Mutex, RwLock};
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};

/// Memory of a judged pair without its ids, in the cache and in a computation of groups.
const PAIR_BYTES: u64 = 384;
/// Memory of a kept document without its id, in the cache and in a computation of groups.
const KEPT_BYTES: u64 = 160;
/// Maximum length of [`DecisionsInForce::touched`], by which cached lists of groups find the groups
/// that new decisions affect.
const TOUCHED: usize = 100_000;

/// The decisions of an index.
pub(crate) struct DecisionCache {
    in_force: RwLock<DecisionsInForce>,
    /// Held by the thread that reads the log.
    reading: Mutex<()>,
    /// The most memory that decisions in force may need.
    most: u64,
}

impl DecisionCache {
    pub(crate) fn new(most: u64) -> Self {
        Self { in_force: RwLock::default(), reading: Mutex::default(), most }
    }

    /// Calls `work` with the decisions that are in the log now.
    pub(crate) fn read<T>(
        &self,
        index: &Index,
        work: impl FnOnce(&DecisionsInForce) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        self.update(index)?;
        let in_force = self.in_force.read();
        if in_force.is_too_much {
            return Err(self.full(Code::ANSWER_TOO_LARGE));
        }
        work(&in_force)
    }

    /// Checks that there is memory for further decisions.
    pub(crate) fn check_room(&self, index: &Index, new: &[ReviewDecision]) -> Result<(), Problem> {
        self.update(index)?;
        let in_force = self.in_force.read();
        let needed: u64 = new.iter().map(memory).sum();
        if needed > 0 && (in_force.is_too_much || in_force.bytes + needed > self.most) {
            return Err(self.full(Code::DECISIONS_FULL));
        }
        Ok(())
    }

    /// Applies the entries that are new in the log, one at a time.
    fn update(&self, index: &Index) -> Result<(), Problem> {
        let _reading = self.reading.lock();
        if self.in_force.read().is_too_much {
            // Some decisions may have been revoked since.
            *self.in_force.write() = DecisionsInForce::default();
        }
        let last = self.in_force.read().last;
        let mut apply =
            |decision: ReviewDecision| self.in_force.write().apply(&decision, self.most);
        Ok(decisions::each_of_index(index, last, &mut apply)?)
    }

    fn full(&self, code: Code) -> Problem {
        let detail = format!(
            "the decisions in force take more than {} bytes of memory (a quarter of --max-held): \
             start the server with a greater --max-held, or revoke decisions that are not needed",
            self.most
        );
        Problem::new(code, detail)
    }
}

/// A judgment about a pair, or the decision to keep a document.
#[derive(Debug, Clone, Copy)]
struct JudgmentEntry {
    /// The number of the decision.
    number: u64,
    is_duplicate: bool,
    /// If the decision separates a group: the hash of the id of this group's keeper, which is the
    /// first document of the decision.
    former_keeper: Option<u64>,
    bytes: u32,
}

/// The last decision about each pair and document. Ids are hashed to 128 bits with random keys, so
/// that no client can choose two ids with the same hash.
#[derive(Default)]
pub(crate) struct DecisionsInForce {
    /// The number of the last decision.
    pub(crate) last: u64,
    keys: [RandomState; 2],
    /// The judged pairs, the lesser hash first.
    judged: HashMap<[u128; 2], JudgmentEntry>,
    kept: HashMap<u128, JudgmentEntry>,
    /// The pairs of duplicates, in both directions.
    duplicates: BTreeSet<[u128; 2]>,
    /// For each former keeper, by the hash of its id: how many decisions in force separate its
    /// group.
    former_keepers: HashMap<u64, u32>,
    /// The documents of the last decisions: the number of the decision, and the hash of the
    /// document's id.
    touched: VecDeque<(u64, u64)>,
    /// The number of the last decision whose documents `touched` no longer has in full.
    forgotten: u64,
    /// Memory of the decisions.
    bytes: u64,
    /// Whether the decisions exceed their memory. If so, none of them is in memory, and the next
    /// request reads the whole log again.
    is_too_much: bool,
}

impl DecisionsInForce {
    /// Takes the next entry of the log.
    fn apply(&mut self, decision: &ReviewDecision, most: u64) {
        if self.is_too_much {
            return;
        }
        let number = decision.line;
        self.last = number;
        self.touch(decision);
        match (decision.judgment, decision.documents.as_slice()) {
            (Judgment::Undecided, [id]) => self.set_kept(id, None),
            (Judgment::Undecided, [a, b]) => self.set_judged([a, b], None),
            (judgment @ (Judgment::Duplicate | Judgment::NotDuplicate), [a, b]) => {
                let is_duplicate = judgment == Judgment::Duplicate;
                let former_keeper = (!is_duplicate).then(|| id_hash(a));
                let bytes = memory(decision) as u32;
                let judged = JudgmentEntry { number, is_duplicate, former_keeper, bytes };
                self.set_judged([a, b], Some(judged));
            }
            (Judgment::Keep | Judgment::KeepAll, ids) => {
                let separates = ids.len() > 1;
                for (place, id) in ids.iter().enumerate() {
                    let former_keeper = (separates && place == 0).then(|| id_hash(id));
                    let bytes = KEPT_BYTES as u32 + id.len() as u32;
                    let kept = JudgmentEntry { number, is_duplicate: false, former_keeper, bytes };
                    self.set_kept(id, Some(kept));
                }
            }
            _ => {}
        }
        if self.bytes > most {
            *self = Self { is_too_much: true, ..Self::default() };
        }
    }

    fn touch(&mut self, decision: &ReviewDecision) {
        let number = decision.line;
        self.touched.extend(decision.documents.iter().map(|id| (number, id_hash(id))));
        while self.touched.len() > TOUCHED
            && let Some((number, _)) = self.touched.pop_front()
        {
            self.forgotten = number;
        }
    }

    /// Records a judgment about a pair, or that it is undecided.
    fn set_judged(&mut self, [a, b]: [&str; 2], judged: Option<JudgmentEntry>) {
        let pair = self.pair(a, b);
        let [low, high] = pair;
        let directions = [[low, high], [high, low]];
        if judged.is_some_and(|judged| judged.is_duplicate) {
            self.duplicates.extend(directions);
        } else {
            for direction in &directions {
                self.duplicates.remove(direction);
            }
        }
        let former = match judged {
            Some(judged) => self.judged.insert(pair, judged),
            None => self.judged.remove(&pair),
        };
        self.account(former, judged);
    }

    /// Records that a document is kept, or that it is undecided. If a former keeper is kept by a
    /// second decision, it still counts as a former keeper.
    fn set_kept(&mut self, id: &str, kept: Option<JudgmentEntry>) {
        let hash = self.hash(id);
        let former = self.kept.remove(&hash);
        let before = former.and_then(|former| former.former_keeper);
        let kept =
            kept.map(|kept| JudgmentEntry { former_keeper: kept.former_keeper.or(before), ..kept });
        self.kept.extend(kept.map(|kept| (hash, kept)));
        self.account(former, kept);
    }

    /// Accounts for the memory and the former keeper of an entry that replaces another.
    fn account(&mut self, former: Option<JudgmentEntry>, new: Option<JudgmentEntry>) {
        if let Some(new) = new {
            self.bytes += u64::from(new.bytes);
            if let Some(keeper) = new.former_keeper {
                *self.former_keepers.entry(keeper).or_default() += 1;
            }
        }
        if let Some(former) = former {
            self.bytes -= u64::from(former.bytes);
            if let Some(keeper) = former.former_keeper
                && let Some(count) = self.former_keepers.get_mut(&keeper)
            {
                *count -= 1;
                if *count == 0 {
                    self.former_keepers.remove(&keeper);
                }
            }
        }
    }

    /// The number of keepers whose groups were separated by decisions in force.
    pub(crate) fn former_keepers(&self) -> usize {
        self.former_keepers.len()
    }

    /// Whether a document was the keeper of a group that was separated by a decision in force.
    pub(crate) fn is_former_keeper(&self, id: &str) -> bool {
        !self.former_keepers.is_empty() && self.former_keepers.contains_key(&id_hash(id))
    }

    fn hash(&self, id: &str) -> u128 {
        let [high, low] = self.keys.each_ref().map(|key| u128::from(key.hash_one(id)));
        high << 64 | low
    }

    fn pair(&self, a: &str, b: &str) -> [u128; 2] {
        let a = self.hash(a);
        let b = self.hash(b);
        [a.min(b), a.max(b)]
    }

    /// The judgments about the duplicates of a keeper. Decisions about changed texts do not count.
    pub(crate) fn of_group<'a>(
        &'a self,
        keeper: &str,
        changed: &'a HashSet<u64>,
    ) -> GroupJudgments<'a> {
        let connected = if self.is_kept(keeper, changed) {
            self.connected(self.hash(keeper), changed)
        } else {
            HashSet::new()
        };
        GroupJudgments { in_force: self, keeper: self.hash(keeper), connected, changed }
    }

    /// Returns a document, and all documents that a chain of `duplicate` judgments links to it.
    /// Takes time proportional to the number of these judgments.
    fn connected(&self, document: u128, changed: &HashSet<u64>) -> HashSet<u128> {
        let mut connected = HashSet::from([document]);
        let mut open = vec![document];
        while let Some(from) = open.pop() {
            for &[_, to] in self.duplicates.range([from, 0]..=[from, u128::MAX]) {
                let judged = self.judged.get(&[from.min(to), from.max(to)]);
                let counts = judged.is_some_and(|judged| !changed.contains(&judged.number));
                if counts && connected.insert(to) {
                    open.push(to);
                }
            }
        }
        connected
    }

    /// Whether a document is kept.
    pub(crate) fn is_kept(&self, id: &str, changed: &HashSet<u64>) -> bool {
        if self.kept.is_empty() {
            return false;
        }
        let kept = self.kept.get(&self.hash(id));
        kept.is_some_and(|kept| !changed.contains(&kept.number))
    }

    /// The part of a decision that is in force, without its note.
    pub(crate) fn part_in_force(&self, mut decision: ReviewDecision) -> Option<ReviewDecision> {
        decision.note = None;
        let is_last = |judged: Option<&JudgmentEntry>| {
            judged.is_some_and(|judged| judged.number == decision.line)
        };
        match (decision.judgment, decision.documents.as_slice()) {
            (Judgment::Undecided, _) => None,
            (Judgment::Keep | Judgment::KeepAll, ids) => {
                let kept: Vec<bool> =
                    ids.iter().map(|id| is_last(self.kept.get(&self.hash(id)))).collect();
                let mut of_ids = kept.iter();
                let mut of_contents = kept.iter();
                decision.documents.retain(|_| of_ids.next().is_some_and(|kept| *kept));
                decision.contents.retain(|_| of_contents.next().is_some_and(|kept| *kept));
                (!decision.documents.is_empty()).then_some(decision)
            }
            (_, [a, b]) => is_last(self.judged.get(&self.pair(a, b))).then_some(decision),
            _ => None,
        }
    }

    /// Returns the hashes of the documents of decisions after `last`, or `None` if `touched` no
    /// longer has all of these documents.
    pub(crate) fn touched_after(&self, last: u64) -> Option<impl Iterator<Item = u64>> {
        let from = self.touched.partition_point(|(number, _)| *number <= last);
        (last >= self.forgotten).then(|| self.touched.range(from..).map(|(_, hash)| *hash))
    }
}

/// The judgments about a keeper and its duplicates.
pub(crate) struct GroupJudgments<'a> {
    in_force: &'a DecisionsInForce,
    keeper: u128,
    /// If a user chose the keeper: the keeper, and all documents that a chain of `duplicate`
    /// judgments links to it. Otherwise empty.
    connected: HashSet<u128>,
    /// The decisions about texts that have changed since.
    changed: &'a HashSet<u64>,
}

impl GroupJudgments<'_> {
    /// The judgment about a duplicate. If a user chose the keeper, a chain of `duplicate` judgments
    /// between the keeper and the document also counts.
    pub(crate) fn of(&self, duplicate: &str) -> Option<Judgment> {
        let in_force = self.in_force;
        if in_force.judged.is_empty() && in_force.kept.is_empty() {
            return None;
        }
        let hash = in_force.hash(duplicate);
        let pair = [self.keeper.min(hash), self.keeper.max(hash)];
        let judged = in_force.judged.get(&pair);
        match judged.filter(|judged| !self.changed.contains(&judged.number)) {
            Some(JudgmentEntry { is_duplicate: true, .. }) => Some(Judgment::Duplicate),
            Some(_) => Some(Judgment::NotDuplicate),
            None if in_force.is_kept(duplicate, self.changed) => Some(Judgment::Keep),
            None => self.connected.contains(&hash).then_some(Judgment::Duplicate),
        }
    }
}

/// Memory of a decision that is in force.
fn memory(decision: &ReviewDecision) -> u64 {
    let ids: usize = decision.documents.iter().map(String::len).sum();
    let own = match decision.judgment {
        Judgment::Undecided => return 0,
        Judgment::Duplicate | Judgment::NotDuplicate => PAIR_BYTES,
        Judgment::Keep | Judgment::KeepAll => KEPT_BYTES * decision.documents.len() as u64,
    };
    own + ids as u64
}

/// The hash of an id.
pub(crate) fn id_hash(id: &str) -> u64 {
    token_hash(id.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(line: u64, judgment: Judgment, documents: &[&str]) -> ReviewDecision {
        let documents = documents.iter().map(|&id| id.to_owned()).collect();
        let contents = Vec::new();
        let who = None;
        let when = None;
        let note = None;
        let seen = None;
        ReviewDecision { judgment, documents, contents, who, when, note, line, seen }
    }

    #[test]
    fn replaced_decisions_take_no_memory() {
        let mut in_force = DecisionsInForce::default();
        for round in 0..1_000_000 {
            let judgment = [Judgment::Duplicate, Judgment::NotDuplicate][round as usize % 2];
            in_force.apply(&decision(round + 1, judgment, &["a", "b"]), 10_000);
        }
        assert_eq!((in_force.judged.len(), in_force.bytes), (1, PAIR_BYTES + 2));
        assert!(in_force.touched.len() <= TOUCHED);
        assert!(in_force.touched_after(0).is_none());
        assert_eq!(in_force.touched_after(999_999).unwrap().count(), 2);
        in_force.apply(&decision(1_000_001, Judgment::Undecided, &["b", "a"]), 10_000);
        assert_eq!(in_force.bytes, 0);
    }

    #[test]
    fn excess_decisions_are_not_kept() {
        let mut in_force = DecisionsInForce::default();
        for line in 1..=100 {
            let id = format!("{line}");
            in_force.apply(&decision(line, Judgment::Duplicate, &["a", &id]), 10_000);
            assert!(in_force.bytes <= 10_000 && in_force.judged.len() < 40);
        }
        assert!(in_force.is_too_much && in_force.judged.is_empty());
    }

    #[test]
    fn judgments_follow_the_chosen_keeper() {
        let mut in_force = DecisionsInForce::default();
        let of = |in_force: &DecisionsInForce, keeper: &str, duplicate: &str| {
            in_force.of_group(keeper, &HashSet::new()).of(duplicate)
        };
        in_force.apply(&decision(1, Judgment::Duplicate, &["a", "b"]), 10_000);
        in_force.apply(&decision(2, Judgment::Duplicate, &["a", "c"]), 10_000);
        assert_eq!(of(&in_force, "b", "c"), None);
        in_force.apply(&decision(3, Judgment::Keep, &["b"]), 10_000);
        assert_eq!(of(&in_force, "b", "a"), Some(Judgment::Duplicate));
        assert_eq!(of(&in_force, "b", "c"), Some(Judgment::Duplicate));
        assert_eq!(of(&in_force, "b", "d"), None);
        assert_eq!(in_force.of_group("b", &HashSet::from([2])).of("c"), None);
        in_force.apply(&decision(4, Judgment::NotDuplicate, &["b", "c"]), 10_000);
        assert_eq!(of(&in_force, "b", "c"), Some(Judgment::NotDuplicate));
        in_force.apply(&decision(5, Judgment::Undecided, &["c", "b"]), 10_000);
        in_force.apply(&decision(6, Judgment::Undecided, &["c", "a"]), 10_000);
        assert_eq!(of(&in_force, "b", "c"), None);
    }

    #[test]
    fn former_keepers_follow_separations() {
        let mut in_force = DecisionsInForce::default();
        in_force.apply(&decision(1, Judgment::NotDuplicate, &["b", "a"]), 10_000);
        in_force.apply(&decision(2, Judgment::NotDuplicate, &["b", "c"]), 10_000);
        in_force.apply(&decision(3, Judgment::KeepAll, &["d", "e"]), 10_000);
        in_force.apply(&decision(4, Judgment::Keep, &["d"]), 10_000);
        let former = |in_force: &DecisionsInForce| {
            ["a", "b", "c", "d", "e"].map(|id| in_force.is_former_keeper(id))
        };
        assert_eq!(former(&in_force), [false, true, false, true, false]);
        in_force.apply(&decision(5, Judgment::Undecided, &["a", "b"]), 10_000);
        assert!(in_force.is_former_keeper("b"));
        in_force.apply(&decision(6, Judgment::Duplicate, &["c", "b"]), 10_000);
        in_force.apply(&decision(7, Judgment::Undecided, &["d"]), 10_000);
        assert_eq!((former(&in_force), in_force.former_keepers()), ([false; 5], 0));
    }

    #[test]
    fn parts_in_force_are_given() {
        let mut in_force = DecisionsInForce::default();
        let all = decision(1, Judgment::KeepAll, &["a", "b", "c"]);
        in_force.apply(&all, 10_000);
        in_force.apply(&decision(2, Judgment::Undecided, &["b"]), 10_000);
        assert_eq!(in_force.part_in_force(all).unwrap().documents, ["a", "c"]);
        let removed = decision(2, Judgment::Undecided, &["b"]);
        assert!(in_force.part_in_force(removed).is_none());
    }
}
