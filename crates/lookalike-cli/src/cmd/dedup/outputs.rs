//! The files that `dedup` writes: survivors, the list of what goes, and what was skipped.

use super::args::{DedupArgs, DedupOutputArgs};
use crate::cmd::CommandError;
use lookalike::dedup::{Annotate, AnnotationSubject, Destination, Others, RemovedList, Survivors};
use lookalike::error::Error;
use lookalike::find::Findings;
use lookalike::read::{Collection, ReadOptions};
use lookalike::report::csv::CellRule;
use lookalike::report::{self, Output, OutputFormat, Target};
use std::path::{Path, PathBuf};

/// What a list of removed documents can be.
const LISTS: &[OutputFormat] = &[OutputFormat::Csv, OutputFormat::Jsonl];

/// What is written, and how.
pub(super) struct OutputPlan {
    /// Where survivors go, if anywhere.
    pub(super) destination: Option<Destination>,
    pub(super) annotate: Option<Annotate>,
    /// What else is copied to a folder.
    others: Option<Others>,
    pub(super) cells: CellRule,
}

impl OutputPlan {
    /// The plan of `args`; annotations, if any, are about `subject`.
    pub(super) fn new(
        args: &DedupArgs,
        collection: &Collection,
        reading: &ReadOptions,
        subject: AnnotationSubject,
    ) -> Result<Self, CommandError> {
        let annotate = args
            .result
            .annotate
            .then(|| Annotate { field: args.result.annotate_field.clone(), subject });
        let others = (!args.result.documents_only).then(|| Others {
            follow_links: reading.follow_links,
            leave_out: reading.leave_out.clone(),
        });
        let destination = args.destination(collection, annotate.as_ref())?;
        Ok(Self { destination, annotate, others, cells: args.result.csv.cells() })
    }
}

impl DedupOutputArgs {
    /// The outputs that are not lists.
    pub(super) fn written_paths(&self) -> impl Iterator<Item = &Path> {
        [&self.output, &self.actions.script].into_iter().flatten().map(PathBuf::as_path)
    }
}

/// The lists that are asked for next to the survivors.
pub(super) struct DedupTargets {
    pub(super) removed: Option<Target>,
    pub(super) skipped: Option<Target>,
}

impl DedupTargets {
    pub(super) fn new(args: &DedupArgs) -> Result<Self, CommandError> {
        let target = |option: &str, path: &Option<PathBuf>, possible| {
            let target = path.as_deref().map(|path| Target::new(path, possible)).transpose();
            target.map_err(|error| CommandError::Usage(format!("{option}: {error}")))
        };
        let result = &args.result;
        let targets = Self {
            removed: target("--removed", &result.removed, LISTS)?,
            skipped: target("--skipped", &result.skipped, &[OutputFormat::Csv])?,
        };
        let files = targets.all().map(Target::path).chain(result.actions.script.as_deref());
        let output = result.output.as_deref().filter(|output| *output != Path::new("-"));
        report::check_places(files, output, &args.inputs, args.run.reference())
            .map_err(|taken| CommandError::Usage(taken.to_string()))?;
        Ok(targets)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Target> {
        [&self.removed, &self.skipped].into_iter().flatten()
    }
}

/// The files that are being written.
pub(super) struct DedupOutputs {
    pub(super) survivors: Option<Survivors>,
    pub(super) removed: Option<RemovedList>,
    pub(super) skipped: Option<Output>,
}

impl DedupOutputs {
    /// Creates the files under temporary names; `list` creates the list of what goes.
    pub(super) fn create(
        plan: &OutputPlan,
        targets: &DedupTargets,
        list: impl Fn(&Target) -> Result<RemovedList, Error>,
    ) -> Result<Self, CommandError> {
        let survivors = plan.destination.clone().map(|place| {
            let survivors = Survivors::create(place, plan.annotate.clone())?;
            let survivors = survivors.with_cells(plan.cells);
            Ok::<_, Error>(match &plan.others {
                Some(others) => survivors.with_others(others.clone()),
                None => survivors,
            })
        });
        Ok(Self {
            survivors: survivors.transpose()?,
            removed: targets.removed.as_ref().map(list).transpose()?,
            skipped: targets.skipped.as_ref().map(Output::create).transpose()?,
        })
    }

    pub(super) fn check_writable(self, collection: &Collection) -> Result<(), CommandError> {
        self.survivors.map_or(Ok(()), |survivors| Ok(survivors.check_writable(collection)?))
    }
}

/// Writes the list of what was skipped, if it is wanted.
pub(super) fn write_skipped_list(
    output: Option<Output>,
    findings: &Findings,
    cells: CellRule,
) -> Result<(), CommandError> {
    let Some(output) = output else { return Ok(()) };
    let Findings { skipped, textless_copies, empty, .. } = findings;
    Ok(output.finish(|out| report::csv::skipped(out, skipped, textless_copies, empty, cells))?)
}
