//! Groups among the documents of an index: every duplicate resembles its keeper.

use crate::problem::Problem;
use lookalike::core::params::{Params, Wishes};
use lookalike::error::Error;
use lookalike::index;
use lookalike::progress::Silent;
use lookalike::run::FindOptions;
use lookalike::store::Index;
use lookalike::store::entry::Wanted;
use std::num::NonZeroUsize;

/// A group.
#[derive(Debug)]
pub(crate) struct Star {
    pub(crate) keeper: Member,
    /// The most similar first, each with its similarity in six decimals.
    pub(crate) duplicates: Vec<(Member, f64)>,
}

/// A document of a group.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) id: String,
    pub(crate) bytes: u64,
}

/// All groups at one moment, the largest first.
#[derive(Debug)]
pub(crate) struct Stars {
    pub(crate) groups: Vec<Star>,
    pub(crate) duplicates: u64,
    pub(crate) documents: u64,
    /// Of the index right before they were computed.
    pub(crate) version: u64,
    /// When they were computed, in µs since 1970: tells one computation from another.
    pub(crate) computed: i64,
    /// When the first of the documents expires, in ns since 1970.
    pub(crate) expires: Option<i64>,
}

/// Finds them as `lookalike index groups` does: of each group the longest document stays. At the
/// threshold of the index with its bands, at others with bands for the same recall. One thread
/// works, so that others have room to answer.
pub(crate) fn find(index: &Index, threshold: f64, now: i64) -> Result<Stars, Problem> {
    let (version, expires) = first_expiry(index, now)?;
    let mut options = FindOptions::new(params(index, threshold)?);
    options.threads = NonZeroUsize::MIN;
    let findings = index::groups(index, &options, now, &Silent).map_err(problem)?;
    let mut groups = Vec::new();
    for group in findings.groups.iter() {
        let group = group.map_err(|error| Problem::internal(error.to_string()))?;
        let duplicates = group.duplicates.into_iter().map(|one| {
            let similarity = one.overlap.six_decimals().parse().unwrap_or_default();
            (Member { id: one.id, bytes: one.bytes }, similarity)
        });
        let keeper = Member { id: group.keeper.id, bytes: group.keeper.bytes };
        groups.push(Star { keeper, duplicates: duplicates.collect() });
    }
    let (duplicates, documents) = (findings.counts.duplicates, findings.counts.documents);
    findings.finish().map_err(problem)?;
    let computed = now / 1_000;
    Ok(Stars { groups, duplicates, documents, version, computed, expires })
}

/// The version of the index, and when the first document expires that has not by now. Cost: one
/// pass over the documents without their sets, little beside that over the sets.
fn first_expiry(index: &Index, now: i64) -> Result<(u64, Option<i64>), Problem> {
    const STEP: usize = 1_000;
    let mut snapshot = index.snapshot()?;
    let (mut first, mut from, mut more): (Option<i64>, _, _) = (None, 0, true);
    while more {
        let count = snapshot.scan(from, STEP, Wanted::default(), &mut |record| {
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
    let has = index.params();
    if threshold.to_bits() == has.threshold().to_bits() {
        return Ok(has.clone());
    }
    let wishes = Wishes {
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
    };
    Params::new(&wishes).map_err(|error| lookalike::store::IndexError::from(error).into())
}

fn problem(error: Error) -> Problem {
    match error {
        Error::Index(error) => error.into(),
        error => Problem::internal(error.to_string()),
    }
}
