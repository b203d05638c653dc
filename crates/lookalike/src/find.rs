//! Finds groups of near-duplicates among documents.

mod better_setting;

use crate::engine;
use crate::progress::{NoProgress, Progress};
use crate::read::{Collection, ReadOptions};
use std::path::PathBuf;

pub use crate::engine::{
    BetterSetting, CategoryName, DecisionCounts, DocumentNumber, DocumentStatus, DropCounts,
    DropList, Duplicate, ESTIMATE_COLUMNS, EmptyCopies, FindError, FindOptions, Findings, Group,
    GroupCategories, GroupConcentration, Grouping, Groups, IdList, Keeper, KeeperChoice, MAX_PAIRS,
    MAX_SOURCES, MAX_THREADS, MailRemovals, Memory, NoEffect, NoEstimates, Pair, PairCursor,
    PairList, PairRef, Pairs, RelatedDocument, RelatedDocuments, RunCounts, SignatureEstimate,
    SkippedRecords, SourceCounts, TextlessCopies, UnappliedDecision, parse_memory, workers,
};
pub use crate::spill::{Difference, SpillError, SpillPosition};

/// Finds the near-duplicates among files and folders, read with the defaults of [`ReadOptions`].
///
/// ```
/// use lookalike::core::params::{Params, ParamsBuilder};
/// use lookalike::find::FindOptions;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path().to_owned();
/// std::fs::write(folder.join("draft.txt"), "the report of the first quarter in six words")?;
/// std::fs::write(folder.join("copy.txt"), "The report of the first quarter, in six words.")?;
///
/// let options = FindOptions::new(Params::new(&ParamsBuilder::default())?);
/// let findings = lookalike::find(&[folder], &options)?;
/// for group in findings.groups.iter() {
///     let group = group?;
///     assert_eq!(group.keeper.id, "copy.txt");
///     assert_eq!(group.duplicates[0].id, "draft.txt");
/// }
/// assert_eq!(findings.counts.duplicates, 1);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Errors of [`in_collection`] and of [`Collection::open`].
pub fn find(inputs: &[PathBuf], options: &FindOptions) -> Result<Findings, FindError> {
    let read = options.read_options(ReadOptions::default());
    in_collection(&Collection::open(inputs, &read)?, options, &NoProgress)
}

/// Finds the near-duplicates of an open collection.
///
/// Cost: one pass over the input at some 600 MB per second and core, then a second reading of the
/// documents with similar signatures in the same bucket. Memory: about `8 · bands + 146` bytes per
/// document, and the text of inputs that cannot be read twice (compressed ones and standard input).
///
/// # Errors
/// See [`FindError`]: unreadable input, repeated ids, input that changes during the run.
pub fn in_collection(
    collection: &Collection,
    options: &FindOptions,
    progress: &dyn Progress,
) -> Result<Findings, FindError> {
    let mut findings = engine::run(collection, options, progress)?;
    if options.advice {
        findings.better_setting = better_setting::better_setting_of(&findings, options, progress)?;
    }
    Ok(findings)
}
