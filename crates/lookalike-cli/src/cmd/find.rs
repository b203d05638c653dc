//! `lookalike find INPUT…`: groups of near-duplicates, as a table, files or JSON.

mod args;
mod audit;
mod print;
pub(super) mod targets;

use super::{CommandError, CommandResult, bands};
use crate::extraction::WorkerOption;
use crate::progress_bar::StageBar;
use crate::summary::{Summary, exit_code};
use crate::waiting::WaitingNote;
pub(crate) use args::FindArgs;
pub(in crate::cmd) use args::FindOutputArgs;
use lookalike::core::params::{Params, ParamsBuilder};
use lookalike::find::{self, FindOptions, Findings, PairList};
use lookalike::read::Collection;
use lookalike::report::run_page::RunSubject;
use std::path::{Path, PathBuf};
use std::time::Instant;
use targets::FindTargets;

/// Runs the command.
pub(crate) fn run(args: &mut FindArgs, worker: WorkerOption<'_>) -> CommandResult {
    args.reading.read_list(&mut args.inputs)?;
    let args = &*args;
    let start = Instant::now();
    let builder = args.parameters.builder(args.shingle.rule(args.reading.normalization())?);
    let mut options = find_options(args, &builder)?;
    let reference = args.run.reference();
    let bands_auto = args.parameters.bands_auto(args.inputs.iter().chain(reference))?;
    let targets = FindTargets::new(&args.result)?;
    targets.refuse_taken(&args.inputs, reference)?;
    args.audit.refuse(args.inputs.iter().chain(reference))?;
    let mut reading = args.reading.options(worker);
    // A second run must not find the files of the first among its documents.
    reading.leave_out = targets.paths().map(Path::to_owned).collect();
    reading.fields = options.fields();
    reading.shingle = Some(options.params.shingle().clone());
    let opened_reference = args.run.opened_reference()?;
    let open = || Collection::open_with_reference(&args.inputs, &opened_reference, &reading);
    let waiting = WaitingNote::new(args.inputs.iter().chain(reference), args.result.quiet);
    let collection = open()?;
    drop(waiting);
    targets.check_writable()?;
    let bar = StageBar::new(args.result.quiet);
    if bands_auto {
        bands::choose(&open()?, &builder, &mut options, &bar, args.result.quiet)?;
    }
    let mut findings = find::in_collection(&collection, &options, &bar)?;
    let inputs = &args.inputs;
    let subject =
        RunSubject { findings: &findings, options: &options, inputs, reference, audit: None };
    // What was found is on the disk before an audit that may fail.
    targets.write_results(&subject)?;
    let audit = args.audit.measure(&mut findings, &options, open, &bar)?;
    drop(bar);
    let audit = audit.as_ref();
    let subject = RunSubject { findings: &findings, options: &options, inputs, reference, audit };
    let found = args.result.report(&subject, &targets, input_bytes(&collection), start)?;
    findings.finish()?;
    Ok(found)
}

/// Bytes of the inputs as far as they are known: of streams, those that were read.
pub(super) fn input_bytes(collection: &Collection) -> Option<u64> {
    collection.bytes().or_else(|| Some(collection.bytes_read()).filter(|bytes| *bytes > 0))
}

impl FindOutputArgs {
    /// Whether something is shown while the work is done.
    pub(super) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether pairs are written.
    pub(super) fn has_pairs(&self) -> bool {
        self.pairs.is_some()
    }

    /// Whether estimates are asked for.
    pub(super) fn has_estimates(&self) -> bool {
        self.estimates
    }

    /// How pairs are listed.
    pub(super) fn pair_list(&self) -> Result<PairList, CommandError> {
        Ok(PairList::new(self.pairs.is_some(), self.estimates)?)
    }

    /// Writes results and reports of a run that is not audited, prints what is wanted, and gives
    /// the exit code.
    pub(super) fn finish(
        &self,
        findings: Findings,
        options: &FindOptions,
        [inputs, reference]: [&[PathBuf]; 2],
        targets: &FindTargets,
        start: Instant,
    ) -> CommandResult {
        let subject = RunSubject { findings: &findings, options, inputs, reference, audit: None };
        targets.write_results(&subject)?;
        let found = self.report(&subject, targets, None, start)?;
        findings.finish()?;
        Ok(found)
    }

    /// Writes reports, prints what is wanted, and gives the exit code.
    fn report(
        &self,
        subject: &RunSubject<'_>,
        targets: &FindTargets,
        bytes: Option<u64>,
        start: Instant,
    ) -> CommandResult {
        targets.write_reports(subject)?;
        let RunSubject { findings, options, audit, .. } = *subject;
        let summary = Summary {
            findings,
            options,
            bytes,
            elapsed: start.elapsed(),
            skipped_listed: self.skipped.is_some(),
            verbose: self.verbose,
        };
        let not_shown = print::print(self, &summary, audit)?;
        print::print_summary(self, &summary, audit, not_shown)?;
        let is_found = self.exit_code && !findings.groups.is_empty();
        Ok(exit_code(findings.skipped.iter(), options.skip_repeated_ids, is_found)?)
    }
}

fn find_options(args: &FindArgs, builder: &ParamsBuilder) -> Result<FindOptions, CommandError> {
    let mut options = args.run.options(Params::new(builder)?)?;
    options.pairs = args.result.pair_list()?;
    options.skip_repeated_ids = args.reading.skip_bad();
    Ok(options)
}
