//! The near-duplicates among the documents of an index, as the engine's run finds them.

use super::chosen::Given;
use super::opened::Handle;
use super::telling::told;
use crate::error::{OptionError, params_error, run_error};
use lookalike::core::keep::{KeepPolicy, KeepRule};
use lookalike::core::params::{Measure, Params, Wishes};
use lookalike::error::Error;
use lookalike::index::{self, time};
use lookalike::progress::{Interrupted, Progress, Stage};
use lookalike::run::{FindOptions, Grouping, Memory};
use lookalike::spill::parse_memory;
use lookalike::store::Index;
use pyo3::prelude::*;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The id of a keeper, and ids and similarities of its duplicates.
pub(super) type Group = (String, Vec<(String, f64)>);

/// What is asked: the options of `find` that an index does not decide.
///
/// # Errors
/// `OptionError` for what an option cannot be.
pub(super) fn options(index: &Index, given: &Given<'_, '_>) -> PyResult<FindOptions> {
    let mut options = FindOptions::new(params(index.params(), given)?);
    let keep = given.texts("keep", "a rule such as \"longest\", or a list of rules")?;
    if !keep.is_empty() {
        let rules = keep.iter().map(|rule| rule.parse::<KeepRule>());
        let rules = rules.collect::<Result<Vec<_>, _>>().map_err(|error| params_error(&error))?;
        options.keep = KeepPolicy::new(rules);
    }
    let groupings = [("stars", Grouping::Stars), ("components", Grouping::Components)];
    if let Some(grouping) = given.one_of("group", &groupings)? {
        options.grouping = grouping;
    }
    if let Some(threads) = given.number::<usize>("threads", "a whole number from 1")? {
        options.threads = NonZeroUsize::new(threads)
            .ok_or_else(|| OptionError::new_err("threads is 0, expected a whole number from 1"))?;
    }
    let memory = given.text("memory", "a size such as \"512MiB\" or \"4GiB\"")?;
    let limit = memory.map(|memory| parse_memory(&memory)).transpose();
    let limit = limit.map_err(|error| OptionError::new_err(format!("memory: {error}")))?;
    let temp_dir = given.text("temp_dir", "a folder")?.map_or_else(std::env::temp_dir, Into::into);
    options.memory = Memory { limit, temp_dir: Some(temp_dir), resume: false };
    Ok(options)
}

/// Those of the index, or for another aim those that `find` would choose.
fn params(has: &Params, given: &Given<'_, '_>) -> PyResult<Params> {
    let threshold = given.number("threshold", "a number above 0 and at most 1")?;
    let threshold = threshold.unwrap_or(has.threshold());
    let recall = given.number("recall", "a number above 0 and below 1")?;
    let recall = recall.unwrap_or(has.recall());
    let measure = given.parsed("measure")?.unwrap_or(Measure::Jaccard);
    let exact = given.truth("exact")?.unwrap_or(false);
    // Signatures are not used where candidates are exact.
    let same = !exact
        && measure == Measure::Jaccard
        && threshold.to_bits() == has.threshold().to_bits()
        && recall.to_bits() == has.recall().to_bits();
    let wishes = Wishes {
        shingle: has.shingle().clone(),
        threshold,
        measure,
        exact,
        recall,
        num_hashes: same.then(|| has.num_hashes()),
        bands: same.then(|| has.bands()),
        rows: same.then(|| has.rows()),
        scheme: has.scheme(),
        seed: has.seed(),
    };
    Params::new(&wishes).map_err(|error| params_error(&error))
}

/// Ends a run when it is not wanted any more.
struct Watch<'a>(&'a AtomicBool);

impl Progress for Watch<'_> {
    fn begin(&self, _: Stage, _: Option<u64>) {}

    fn advance(&self, _: u64) -> Result<(), Interrupted> {
        if self.0.load(Ordering::Relaxed) { Err(Interrupted) } else { Ok(()) }
    }

    fn end(&self, _: Stage, _: Duration) {}
}

/// The groups, the largest first, then by the keeper's id.
///
/// # Errors
/// As those of the engine.
pub(super) fn groups(
    handle: &Handle,
    options: &FindOptions,
    stop: &Arc<AtomicBool>,
) -> Result<Vec<Group>, Error> {
    let found = index::groups(&handle.index, options, time::now(), &Watch(stop))?;
    let measure = options.params.measure();
    let one = |group: std::io::Result<lookalike::run::Group>| {
        let group = group.map_err(Error::of_io)?;
        let duplicates = group.duplicates.into_iter();
        let duplicates = duplicates.map(|one| (one.id, one.overlap.similarity(measure)));
        Ok((group.keeper.id, duplicates.collect()))
    };
    found.groups.iter().map(one).collect()
}

/// What a run over an index came to.
pub(super) fn failed(error: Error) -> PyErr {
    match error {
        Error::Index(error) => told(error),
        error => run_error(error),
    }
}
