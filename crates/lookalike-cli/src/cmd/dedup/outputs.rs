//! The files that `dedup` writes, and the errors of outputs that the inputs do not allow.

use super::args::DedupArgs;
use crate::cmd::CommandError;
use lookalike::core::parameter::NamesParameters;
use lookalike::dedup::DedupError;
use lookalike::report::OutputError;
use lookalike::report::{OutputFormat, Target, option_name};
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

/// The error of a request that its inputs do not allow, with the option that is at fault.
pub(super) fn refused(error: DedupError, args: &DedupArgs) -> CommandError {
    let actions = &args.result.actions;
    match (&error, actions.option()) {
        (DedupError::NotFiles { source_name }, Some(option)) => CommandError::Usage(format!(
            "{option} is for inputs that are files of one document each, and {source_name} holds \
             records or is an archive; --output writes the documents that stay"
        )),
        (DedupError::Survivors { path, .. }, Some(option)) if actions.verb().1 == Some(path) => {
            CommandError::Usage(format!("{option}: {}", error.spelled(option_name)))
        }
        (DedupError::Survivors { .. } | DedupError::Output(OutputError::Taken(_)), _) => {
            CommandError::Usage(error.spelled(option_name))
        }
        _ => error.into(),
    }
}
