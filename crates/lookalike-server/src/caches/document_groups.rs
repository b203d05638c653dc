//! Groups among the documents of an index: every duplicate is similar to its keeper.

use crate::caches::decision_cache::{DecisionCache, DecisionsInForce};
use crate::caches::group::{DocumentGroup, GroupMember};
use crate::caches::review_progress::ReviewProgress;
use crate::http::problem::{Code, Problem};
use crate::http::response::six_decimals;
use lookalike::core::error::ParamsError;
use lookalike::core::keep::KeepPolicy;
use lookalike::core::params::Params;
use lookalike::decisions::{self, Decisions, ReviewDecision};
use lookalike::find::{FindError, FindOptions, Findings, Memory, NoEffect};
use lookalike::index::{self, GroupingOptions, params_for};
use lookalike::progress::{Interruption, Progress};
use lookalike::store::backend::Snapshot;
use lookalike::store::entry::DocumentNumber;
use lookalike::store::entry::RecordFields;
use lookalike::store::query::MatchSimilarity;
use lookalike::store::{Index, IndexError};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};

/// All groups of a snapshot, the largest first.
#[derive(Debug)]
pub(crate) struct DocumentGroups {
    pub(crate) groups: Vec<DocumentGroup>,
    pub(crate) duplicates: u64,
    pub(crate) documents: u64,
    /// The version of the index before the computation.
    pub(crate) version: u64,
    /// When they were computed, in µs since 1970: distinguishes computations.
    pub(crate) computed: i64,
    /// The documents of the index before the computation.
    pub(crate) stored: StoredDocuments,
    /// Memory of the list.
    pub(crate) bytes: u64,
    /// Which groups are decided about.
    pub(crate) review: Mutex<ReviewProgress>,
    /// The groups in the order of doubt, computed when it is needed.
    pub(crate) doubtful: OnceLock<Vec<u32>>,
}

/// The documents of an index at the time of a computation.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StoredDocuments {
    /// The number of documents, including expired ones.
    pub(crate) count: u64,
    /// The number after the last document. Later documents have this number or a greater one.
    pub(crate) next: DocumentNumber,
    /// When the first of them expires, in ns since 1970.
    pub(crate) expires: Option<i64>,
}

/// The order of the groups of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GroupOrder {
    /// The largest first.
    Size,
    /// The group with the least similar duplicate first.
    Doubt,
    /// The reverse of `Doubt`: the group whose least similar duplicate is the most similar first.
    Similarity,
}

impl DocumentGroups {
    /// A list of groups; `changed` has the decisions about texts that have changed since.
    pub(crate) fn new(groups: Vec<DocumentGroup>, changed: HashSet<u64>) -> Self {
        let review = ReviewProgress::new(&groups, changed);
        let bytes = groups.iter().map(DocumentGroup::memory).sum::<u64>() + review.memory();
        Self {
            groups,
            duplicates: 0,
            documents: 0,
            version: 0,
            computed: 0,
            stored: StoredDocuments::default(),
            bytes,
            review: Mutex::new(review),
            doubtful: OnceLock::new(),
        }
    }

    /// Whether documents were added, replaced or removed since the computation, or have expired at
    /// `now` (in ns since 1970). A replaced document gets a greater number.
    pub(crate) fn has_other_documents(
        &self,
        snapshot: &mut dyn Snapshot,
        now: i64,
    ) -> Result<bool, IndexError> {
        let StoredDocuments { count, next, expires } = self.stored;
        if snapshot.len() != count || expires.is_some_and(|at| at <= now) {
            return Ok(true);
        }
        Ok(snapshot.scan(next, 1, RecordFields::default(), &mut |_| Ok(()))? > 0)
    }

    /// Returns the place in the list of the group that is number `at` of an order.
    pub(crate) fn place(&self, order: GroupOrder, at: usize) -> Option<usize> {
        match order {
            GroupOrder::Size => (at < self.groups.len()).then_some(at),
            GroupOrder::Doubt => self.by_doubt().get(at).map(|place| *place as usize),
            GroupOrder::Similarity => self.by_doubt().iter().rev().nth(at).map(|at| *at as usize),
        }
    }

    fn by_doubt(&self) -> &[u32] {
        self.doubtful.get_or_init(|| {
            let least = |place: &u32| {
                let duplicates = &self.groups[*place as usize].duplicates;
                duplicates.iter().map(|(_, similarity)| *similarity).fold(f64::INFINITY, f64::min)
            };
            let mut places: Vec<u32> = (0..self.groups.len() as u32).collect();
            places.sort_by(|a, b| least(a).total_cmp(&least(b)));
            places
        })
    }
}

/// Keep order and memory of a computation.
#[derive(Debug, Clone)]
pub(crate) struct ComputeOptions {
    /// Which document of a group is kept.
    pub(crate) keep: KeepPolicy,
    /// Memory while it runs, and the folder of its temporary files.
    pub(crate) memory: Memory,
    /// Memory of its result.
    pub(crate) list_bytes: u64,
}

/// Finds groups as `lookalike index groups` does with the same rules of `--keep`. At the threshold
/// of the index, uses the bands of the index. At other thresholds, uses bands for the same recall.
/// Runs on one thread, so that processors remain for other requests.
pub(crate) fn find(
    index: &Index,
    threshold: f64,
    now: i64,
    compute: &ComputeOptions,
    decisions: &DecisionCache,
    progress: &dyn Progress,
) -> Result<DocumentGroups, Problem> {
    let (version, stored) = stored_documents(index, now, progress)?;
    let params = params_at(index, threshold).map_err(IndexError::from)?;
    let measure = params.measure();
    let mut options = FindOptions::new(params);
    options.threads = NonZeroUsize::MIN;
    options.memory = compute.memory.clone();
    options.keep = compute.keep.clone();
    let decided = decisions.read(index, |in_force| decided(index, in_force))?;
    if !decided.is_empty() {
        options.decisions = Some(Arc::new(Decisions::new(decided)));
    }
    let findings = index::groups(index, &options, now, progress).map_err(problem)?;
    let mut groups = Vec::new();
    let mut bytes = 0;
    for found in findings.groups.iter() {
        let found = found.map_err(|error| Problem::internal(error.to_string()))?;
        let duplicates = found.duplicates.into_iter().map(|duplicate| {
            let similarity = six_decimals(&MatchSimilarity::of(duplicate.overlap, measure));
            (GroupMember { id: duplicate.id, bytes: duplicate.bytes }, similarity)
        });
        let keeper = GroupMember { id: found.keeper.id, bytes: found.keeper.bytes };
        let group = DocumentGroup { keeper, duplicates: duplicates.collect() };
        bytes += group.memory();
        if bytes > compute.list_bytes {
            return Err(too_many(compute.list_bytes));
        }
        groups.push(group);
    }
    let duplicates = findings.counts.duplicates;
    let documents = findings.counts.documents;
    let changed = changed_decisions(&findings);
    findings.finish().map_err(problem)?;
    let list = DocumentGroups::new(groups, changed);
    if list.bytes > compute.list_bytes {
        return Err(too_many(compute.list_bytes));
    }
    Ok(DocumentGroups { duplicates, documents, version, computed: now / 1_000, stored, ..list })
}

/// The decisions in force. The rest of the log, which may be long, is not held.
fn decided(index: &Index, in_force: &DecisionsInForce) -> Result<Vec<ReviewDecision>, Problem> {
    let mut decided = Vec::new();
    let mut take = |decision| decided.extend(in_force.part_in_force(decision));
    decisions::each_of_index(index, 0, &mut take)?;
    Ok(decided)
}

/// The numbers of the decisions about texts that have changed since.
fn changed_decisions(findings: &Findings) -> HashSet<u64> {
    let unapplied = findings.decisions.iter().flat_map(|counts| &counts.unapplied);
    let changed = unapplied.filter(|decision| decision.reason == NoEffect::Changed);
    changed.map(|decision| decision.line).collect()
}

fn too_many(bytes: u64) -> Problem {
    let detail = format!(
        "the list of groups takes more than {bytes} bytes (a quarter of --max-held): ask for a \
         higher threshold, start the server with a greater --max-held, or use `lookalike index \
         groups`"
    );
    Problem::new(Code::ANSWER_TOO_LARGE, detail)
}

/// Checks that a threshold can be reached with the recall of the index.
pub(crate) fn check_threshold(index: &Index, threshold: f64) -> Result<(), Problem> {
    match params_at(index, threshold) {
        Err(ParamsError::Unreachable { .. }) => {
            let least = least_threshold(index);
            let detail = format!(
                "threshold is {threshold:e}: expected a number from {least} to 1, since nothing \
                 below has the recall of this index ({})",
                index.params().recall()
            );
            Err(Problem::new(Code::BAD_PARAMETER, detail))
        }
        Err(error) => Err(IndexError::from(error).into()),
        Ok(_) => Ok(()),
    }
}

/// Finds the minimum possible threshold, rounded up to six decimals, by bisection. All thresholds
/// above a possible one are possible.
pub(crate) fn least_threshold(index: &Index) -> f64 {
    const STEPS: u32 = 1_000_000;
    let at = |steps: u32| f64::from(steps) / f64::from(STEPS);
    let works = |steps| params_at(index, at(steps)).is_ok();
    let mut fails = 0;
    let mut least = STEPS;
    while least - fails > 1 {
        let middle = u32::midpoint(fails, least);
        if works(middle) {
            least = middle;
        } else {
            fails = middle;
        }
    }
    at(least)
}

/// The version of the index, and its documents. Takes one pass over the documents without their
/// sets, which is short compared with the pass over the sets.
fn stored_documents(
    index: &Index,
    now: i64,
    progress: &dyn Progress,
) -> Result<(u64, StoredDocuments), Problem> {
    const STEP: usize = 1_000;
    let mut snapshot = index.snapshot()?;
    let mut stored = StoredDocuments { count: snapshot.len(), ..StoredDocuments::default() };
    let mut more = true;
    while more {
        progress.advance(0).map_err(|Interruption| interrupted())?;
        let count = snapshot.scan(stored.next, STEP, RecordFields::default(), &mut |record| {
            stored.next = record.number.next();
            if let Some(at) = record.expires.filter(|_| !record.is_expired(now)) {
                stored.expires = Some(stored.expires.map_or(at, |first| first.min(at)));
            }
            Ok(())
        })?;
        more = count == STEP;
    }
    Ok((snapshot.version(), stored))
}

fn params_at(index: &Index, threshold: f64) -> Result<Params, ParamsError> {
    let threshold = Some(threshold);
    let aim = GroupingOptions { threshold, recall: None, measure: None, exact: false };
    params_for(index.params(), aim)
}

fn interrupted() -> Problem {
    Problem::internal("the computation of groups was interrupted: no client waits for it")
}

fn problem(error: FindError) -> Problem {
    match error {
        FindError::Interrupted => interrupted(),
        error => error.into(),
    }
}
