//! The decisions in force, in memory: read from the log of the index before groups are shown.

use crate::http::problem::{Code, Problem};
use lookalike::core::hash::token_hash;
use lookalike::decisions::{self, Judgment, ReviewDecision};
use lookalike::store::Index;
use parking_lot::{Mutex, RwLock};
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};

/// Memory of a judged pair and of a kept document without their ids: of the cache, and of a
/// computation of groups.
const PAIR_BYTES: u64 = 256;
const KEPT_BYTES: u64 = 160;
/// The documents of the last decisions that are remembered, for lists of groups that are kept.
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

    /// Gives the decisions that are in the log now.
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
            // Some may have been revoked since.
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

/// A judgment about a pair, or that a document is kept.
#[derive(Debug, Clone, Copy)]
struct JudgmentEntry {
    /// The number of the decision.
    number: u64,
    is_duplicate: bool,
    bytes: u32,
}

/// The last decision about each pair and document. Ids are hashed with a key of the
/// process to 128 bits, so that no client can choose two with one hash.
#[derive(Default)]
pub(crate) struct DecisionsInForce {
    /// The number of the last decision.
    pub(crate) last: u64,
    keys: [RandomState; 2],
    /// The judged pairs, the lesser hash first.
    judged: HashMap<[u128; 2], JudgmentEntry>,
    kept: HashMap<u128, JudgmentEntry>,
    /// The number of each of the last decisions, and the hash of a document that it is about.
    touched: VecDeque<(u64, u64)>,
    /// The last decision that is not remembered in `touched` any more.
    forgotten: u64,
    /// Memory of the decisions.
    bytes: u64,
    /// Whether they exceed their memory. Nothing is kept then, and the log is read again.
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
            (Judgment::Undecided, [id]) => {
                let former = self.kept.remove(&self.hash(id));
                self.release(former);
            }
            (Judgment::Undecided, [a, b]) => {
                let former = self.judged.remove(&self.pair(a, b));
                self.release(former);
            }
            (judgment @ (Judgment::Duplicate | Judgment::NotDuplicate), [a, b]) => {
                let is_duplicate = judgment == Judgment::Duplicate;
                let bytes = memory(decision) as u32;
                let judged = JudgmentEntry { number, is_duplicate, bytes };
                let former = self.judged.insert(self.pair(a, b), judged);
                self.release(former);
                self.bytes += u64::from(bytes);
            }
            (Judgment::Keep | Judgment::KeepAll, ids) => {
                for id in ids {
                    let bytes = KEPT_BYTES as u32 + id.len() as u32;
                    let kept = JudgmentEntry { number, is_duplicate: false, bytes };
                    let former = self.kept.insert(self.hash(id), kept);
                    self.release(former);
                    self.bytes += u64::from(bytes);
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

    fn release(&mut self, former: Option<JudgmentEntry>) {
        self.bytes -= former.map_or(0, |former| u64::from(former.bytes));
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

    /// The judgment about a keeper and its duplicate. Decisions about changed texts do not count.
    pub(crate) fn of_pair(
        &self,
        keeper: &str,
        duplicate: &str,
        changed: &HashSet<u64>,
    ) -> Option<Judgment> {
        if self.judged.is_empty() && self.kept.is_empty() {
            return None;
        }
        let judged = self.judged.get(&self.pair(keeper, duplicate));
        match judged.filter(|judged| !changed.contains(&judged.number)) {
            Some(JudgmentEntry { is_duplicate: true, .. }) => Some(Judgment::Duplicate),
            Some(_) => Some(Judgment::NotDuplicate),
            None => self.is_kept(duplicate, changed).then_some(Judgment::Keep),
        }
    }

    /// Whether a document is kept.
    pub(crate) fn is_kept(&self, id: &str, changed: &HashSet<u64>) -> bool {
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

    /// The hashes of documents that decisions after this one are about; `None` if these are not
    /// remembered any more.
    pub(crate) fn touched_after(&self, last: u64) -> Option<impl Iterator<Item = u64>> {
        let from = self.touched.partition_point(|(number, _)| *number <= last);
        (last >= self.forgotten).then(|| self.touched.range(from..).map(|(_, hash)| *hash))
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
    fn decisions_beyond_their_memory_are_not_kept() {
        let mut in_force = DecisionsInForce::default();
        for line in 1..=100 {
            let id = format!("{line}");
            in_force.apply(&decision(line, Judgment::Duplicate, &["a", &id]), 10_000);
            assert!(in_force.bytes <= 10_000 && in_force.judged.len() < 40);
        }
        assert!(in_force.is_too_much && in_force.judged.is_empty());
    }

    #[test]
    fn parts_in_force_are_given() {
        let mut in_force = DecisionsInForce::default();
        let all = decision(1, Judgment::KeepAll, &["a", "b", "c"]);
        in_force.apply(&all, 10_000);
        in_force.apply(&decision(2, Judgment::Undecided, &["b"]), 10_000);
        assert_eq!(in_force.part_in_force(all).unwrap().documents, ["a", "c"]);
        let gone = decision(2, Judgment::Undecided, &["b"]);
        assert!(in_force.part_in_force(gone).is_none());
    }
}
