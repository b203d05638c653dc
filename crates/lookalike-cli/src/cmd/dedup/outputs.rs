//! The files that `dedup` writes, and the errors of outputs that the inputs do not allow.

use super::args::DedupArgs;
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
        let outputs = DedupOutputs {
            survivors: result.output.clone(),
            annotate: result.annotate.clone(),
            copies_others: !result.documents_only,
            removed: list_target("--removed", result.removed.as_deref(), LISTS)?,
            skipped: list_target("--skipped", result.skipped.as_deref(), &[OutputFormat::Csv])?,
            cells: result.csv.cells(),
        };
        Ok(outputs)
    }

    /// The outputs that the command writes.
    pub(super) fn written_paths(&self) -> impl Iterator<Item = &Path> {
        let result = &self.result;
        let files = [&result.removed, &result.skipped, &result.output, &result.actions.script];
        files.into_iter().flatten().map(PathBuf::as_path)
    }
}

/// The file of a list, whose name ends in one of the formats.
pub(in crate::cmd) fn list_target(
    option: &str,
    path: Option<&Path>,
    formats: &'static [OutputFormat],
) -> Result<Option<Target>, CommandError> {
    let target = path.map(|path| Target::new(path, formats)).transpose();
    target.map_err(|error| CommandError::Usage(format!("{option}: {error}")))
}
