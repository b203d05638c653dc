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
        let target = |option: &str, path: &Option<PathBuf>, formats| {
            let target = path.as_deref().map(|path| Target::new(path, formats)).transpose();
            target.map_err(|error| CommandError::Usage(format!("{option}: {error}")))
        };
        let result = &self.result;
        let outputs = DedupOutputs {
            survivors: result.output.clone(),
            annotate: result.annotate.then(|| result.annotate_field.clone()),
            copies_others: !result.documents_only,
            removed: target("--removed", &result.removed, LISTS)?,
            skipped: target("--skipped", &result.skipped, &[OutputFormat::Csv])?,
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
