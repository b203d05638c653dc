//! What is done with the files that are duplicates.

use super::action_args::{ActionArgs, LinkArg};
use super::args::DedupArgs;
use crate::cmd::CommandError;
use lookalike::dedup::actions::{
    ActionCounts, DuplicateFiles, LinkKind, check_folder, link, move_to, without_files,
    write_script,
};
use lookalike::dedup::{RemovedList, find_files};
use lookalike::find::{FindOptions, Findings};
use lookalike::progress::NoProgress;
use lookalike::read::Collection;
use std::path::{Path, PathBuf};

/// What was done, or would be.
pub(super) struct ActionSummary {
    pub(super) found: DuplicateFiles,
    /// Of `--move-to` or `--link`.
    pub(super) acted: Option<ActionCounts>,
}

impl ActionSummary {
    /// Files on which the action failed.
    pub(super) fn failed(&self) -> usize {
        self.acted.as_ref().map_or(0, |acted| acted.failed.len())
    }
}

impl ActionArgs {
    pub(super) fn any(&self) -> Option<&'static str> {
        match self {
            Self { move_to: Some(_), .. } => Some("--move-to"),
            Self { link: Some(_), .. } => Some("--link"),
            Self { script: Some(_), .. } => Some("--script"),
            Self { move_to: None, link: None, script: None } => None,
        }
    }

    /// Refuses, before the work, what cannot be done with these inputs.
    pub(super) fn check(
        &self,
        collection: &Collection,
        inputs: &[PathBuf],
        reference: &[PathBuf],
    ) -> Result<(), CommandError> {
        let Some(option) = self.any() else { return Ok(()) };
        if let Some(first) = without_files(collection) {
            return Err(CommandError::Usage(format!(
                "{option} is for inputs that are files of one document each, and {first} holds \
                 records or is an archive; --output writes the documents that stay"
            )));
        }
        if let Some(folder) = &self.move_to {
            check_folder(folder, inputs, reference)
                .map_err(|error| CommandError::Usage(format!("--move-to: {error}")))?;
        }
        Ok(())
    }

    /// Does what is asked for, and lists in `removed` what goes; in a dry run only looks whether it
    /// could be done.
    pub(super) fn take(
        &self,
        findings: &Findings,
        collection: &Collection,
        args: &DedupArgs,
        options: &FindOptions,
        removed: Option<RemovedList>,
    ) -> Result<Option<ActionSummary>, CommandError> {
        if self.any().is_none() && removed.is_none() {
            return Ok(None);
        }
        let dry_run = args.result.dry_run;
        let found = find_files(findings, collection, options, removed, &NoProgress)?;
        if let Some(path) = self.script.as_deref().filter(|_| !dry_run) {
            write_script(&found, path, options.params.measure())?;
        }
        let acted = match self {
            Self { move_to: Some(folder), .. } => {
                let reference = args.run.reference();
                Some(move_to(&found, folder, &args.inputs, reference, dry_run)?)
            }
            Self { link: Some(LinkArg::Hard), .. } => Some(link(&found, LinkKind::Hard, dry_run)),
            Self { link: Some(LinkArg::Reflink), .. } => {
                Some(link(&found, LinkKind::Reflink, dry_run))
            }
            _ => None,
        };
        Ok(Some(ActionSummary { found, acted }))
    }

    /// What is done with a file, for the summary: the word, and where to.
    pub(super) fn verb(&self) -> (&'static str, Option<&Path>) {
        match self {
            Self { move_to: Some(folder), .. } => ("moved", Some(folder)),
            _ => ("linked", None),
        }
    }
}
