//! Groups among the documents of an index: every duplicate is similar to its keeper.

use crate::problem::{Code, Problem};
use crate::similarity::six_decimals;
use lookalike::core::error::ParamsError;
use lookalike::core::params::{Params, ParamsBuilder};
use lookalike::error::Error;
use lookalike::find::{FindOptions, Memory};
use lookalike::index;
use lookalike::progress::{Interruption, Progress};
use lookalike::store::entry::RecordFields;
use lookalike::store::query::MatchSimilarity;
use lookalike::store::{Index, IndexError};
use std::num::NonZeroUsize;

/// A group.
#[derive(Debug)]
pub(crate) struct DocumentGroup {
    pub(crate) keeper: GroupMember,
    /// By descending similarity, with six decimals.
    pub(crate) duplicates: Vec<(GroupMember, f64)>,
}

/// A document of a group.
#[derive(Debug)]
pub(crate) struct GroupMember {
    pub(crate) id: String,
    pub(crate) bytes: u64,
}

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
    /// When the first of the documents expires, in ns since 1970.
    pub(crate) expires: Option<i64>,
    /// Memory of the list.
    pub(crate) bytes: u64,
}

/// Memory of a computation.
#[derive(Debug, Clone)]
pub(crate) struct ComputeLimits {
    /// Memory while it runs, and the folder of its temporary files.
    pub(crate) memory: Memory,
    /// Memory of its result.
    pub(crate) list_bytes: u64,
}

/// Finds groups as `lookalike index groups` does: the longest document of a group is kept. The
/// threshold of the index uses its bands, others use bands for the same recall. Runs on one thread,
/// so that processors remain for other requests.
pub(crate) fn find(
    index: &Index,
    threshold: f64,
    now: i64,
    limits: &ComputeLimits,
    progress: &dyn Progress,
) -> Result<DocumentGroups, Problem> {
    let (version, expires) = first_expiry(index, now, progress)?;
    let params = params(index, threshold)?;
    let measure = params.measure();
    let mut options = FindOptions::new(params);
    options.threads = NonZeroUsize::MIN;
    options.memory = limits.memory.clone();
    let findings = index::groups(index, &options, now, progress).map_err(problem)?;
    let (mut groups, mut bytes) = (Vec::new(), 0);
    for found in findings.groups.iter() {
        let found = found.map_err(|error| Problem::internal(error.to_string()))?;
        let duplicates = found.duplicates.into_iter().map(|one| {
            let similarity = six_decimals(&MatchSimilarity::of(one.overlap, measure));
            (GroupMember { id: one.id, bytes: one.bytes }, similarity)
        });
        let keeper = GroupMember { id: found.keeper.id, bytes: found.keeper.bytes };
        let group = DocumentGroup { keeper, duplicates: duplicates.collect() };
        bytes += group.memory();
        if bytes > limits.list_bytes {
            return Err(too_many(limits.list_bytes));
        }
        groups.push(group);
    }
    let (duplicates, documents) = (findings.counts.duplicates, findings.counts.documents);
    findings.finish().map_err(problem)?;
    let computed = now / 1_000;
    Ok(DocumentGroups { groups, duplicates, documents, version, computed, expires, bytes })
}

impl DocumentGroup {
    /// Memory in bytes, with the overhead of allocator and growing lists.
    fn memory(&self) -> u64 {
        let members = self.duplicates.iter().map(|(member, _)| member).chain([&self.keeper]);
        let ids: usize = members.map(|member| member.id.capacity() + 16).sum();
        let duplicates = self.duplicates.capacity() * size_of::<(GroupMember, f64)>();
        (ids + duplicates + 2 * size_of::<Self>()) as u64
    }
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

/// The minimum possible threshold, rounded up to six decimals, by bisection: all thresholds above a
/// possible one are possible.
pub(crate) fn least_threshold(index: &Index) -> f64 {
    const STEPS: u32 = 1_000_000;
    let at = |steps: u32| f64::from(steps) / f64::from(STEPS);
    let works = |steps| params_at(index, at(steps)).is_ok();
    let (mut fails, mut least) = (0, STEPS);
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

/// The version of the index, and the next expiry of a document. Cost: one pass over the documents
/// without their sets, which is small compared with the pass over the sets.
fn first_expiry(
    index: &Index,
    now: i64,
    progress: &dyn Progress,
) -> Result<(u64, Option<i64>), Problem> {
    const STEP: usize = 1_000;
    let mut snapshot = index.snapshot()?;
    let (mut first, mut from, mut more): (Option<i64>, _, _) = (None, 0, true);
    while more {
        progress.advance(0).map_err(|Interruption| interrupted())?;
        let count = snapshot.scan(from, STEP, RecordFields::default(), &mut |record| {
            from = record.number.saturating_add(1);
            if let Some(at) = record.expires.filter(|_| !record.is_expired(now)) {
                first = Some(first.map_or(at, |first| first.min(at)));
            }
            Ok(())
        })?;
        more = count == STEP;
    }
    Ok((snapshot.version(), first))
}

fn params(index: &Index, threshold: f64) -> Result<Params, Problem> {
    params_at(index, threshold).map_err(|error| IndexError::from(error).into())
}

fn params_at(index: &Index, threshold: f64) -> Result<Params, ParamsError> {
    let has = index.params();
    if threshold.to_bits() == has.threshold().to_bits() {
        return Ok(has.clone());
    }
    Params::new(&ParamsBuilder {
        shingle: has.shingle().clone(),
        measure: has.measure(),
        threshold,
        exact: false,
        recall: has.recall(),
        num_hashes: None,
        bands: None,
        rows: None,
        scheme: has.scheme(),
        seed: has.seed(),
    })
}

fn interrupted() -> Problem {
    Problem::internal("the computation of groups was interrupted: no client asked for it")
}

fn problem(error: Error) -> Problem {
    match error {
        Error::Index(error) => error.into(),
        Error::Interrupted => interrupted(),
        Error::MemoryTooSmall { got, least } => {
            let detail = format!(
                "computing the groups takes at least {least} bytes, {got} are allowed: start the \
                 server with a greater --max-held, or use `lookalike index groups`"
            );
            Problem::new(Code::ANSWER_TOO_LARGE, detail)
        }
        error => Problem::internal(error.to_string()),
    }
}
