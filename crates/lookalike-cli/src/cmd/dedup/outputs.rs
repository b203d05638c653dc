//! The files that `dedup` writes, and the errors for file names with an unsupported ending.

use super::args::DedupArgs;
use crate::arguments::options::SurvivorArgs;
use crate::cmd::CommandError;
use lookalike::report::{OutputFormat, Target};
use lookalike::request::DedupOutputs;
use std::path::{Path, PathBuf};

/// The formats of the list of removed documents.
const LISTS: &[OutputFormat] = &[OutputFormat::Csv, OutputFormat::Jsonl];

impl DedupArgs {
    /// The files to write.
    pub(super) fn outputs(&self) -> Result<DedupOutputs, CommandError> {
        let result = &self.result;
        let outputs = survivor_outputs(&result.common, result.removed.as_deref())?;
        let survivors = result.output.clone();
        Ok(DedupOutputs { survivors, annotate: result.annotate.clone(), ..outputs })
    }

    /// The outputs that the command writes.
    pub(super) fn written_paths(&self) -> impl Iterator<Item = &Path> {
        let result = &self.result;
        let files =
            [&result.removed, &result.common.skipped, &result.output, &result.actions.script];
        files.into_iter().flatten().map(PathBuf::as_path)
    }
}

/// The outputs that `dedup` and `cut` share.
pub(in crate::cmd) fn survivor_outputs(
    args: &SurvivorArgs,
    removed: Option<&Path>,
) -> Result<DedupOutputs, CommandError> {
    Ok(DedupOutputs {
        copies_others: !args.documents_only,
        removed: list_target("--removed", removed, LISTS)?,
        skipped: list_target("--skipped", args.skipped.as_deref(), &[OutputFormat::Csv])?,
        cells: args.csv.cells(),
        ..DedupOutputs::default()
    })
}

/// Returns the file of a list. Its name must end in one of the formats.
fn list_target(
    option: &str,
    path: Option<&Path>,
    formats: &'static [OutputFormat],
) -> Result<Option<Target>, CommandError> {
    let target = path.map(|path| Target::new(path, formats)).transpose();
    target.map_err(|error| CommandError::Usage(format!("{option}: {error}")))
}
