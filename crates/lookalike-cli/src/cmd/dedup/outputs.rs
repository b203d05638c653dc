//! The files that `dedup` writes, and the errors of outputs that the inputs do not allow.

use super::args::DedupArgs;
use crate::cmd::CommandError;
use lookalike::core::parameter::NamesParameters;
use lookalike::error::Error;
use lookalike::report::{self, OutputFormat, Target, option_name};
use lookalike::request::DedupOutputs;
use std::path::{Path, PathBuf};

/// The formats of the list of removed documents.
const LISTS: &[OutputFormat] = &[OutputFormat::Csv, OutputFormat::Jsonl];

impl DedupArgs {
    /// The files to write. No two have one name, and none is an input.
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
        let files = outputs.lists().map(Target::path).chain(result.actions.script.as_deref());
        let output = result.output.as_deref().filter(|output| *output != Path::new("-"));
        report::check_places(files, output, &self.inputs, self.run.reference())
            .map_err(|taken| CommandError::Usage(taken.to_string()))?;
        Ok(outputs)
    }

    /// The outputs that the command writes.
    pub(super) fn written_paths(&self) -> impl Iterator<Item = &Path> {
        let result = &self.result;
        let files = [&result.removed, &result.skipped, &result.output, &result.actions.script];
        files.into_iter().flatten().map(PathBuf::as_path)
    }
}

/// The error of a request that its inputs do not allow.
pub(super) fn refused(error: Error) -> CommandError {
    match error {
        Error::Survivors { .. } | Error::NotFiles { .. } => {
            CommandError::Usage(error.spelled(option_name))
        }
        error => error.into(),
    }
}
