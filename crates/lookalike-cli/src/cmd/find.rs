//! `lookalike find INPUT…`: groups of near-duplicates, as a table, files or JSON.

mod args;
mod audit;
mod print;
pub(super) mod targets;

use super::{CommandError, CommandResult};
use crate::extraction::WorkerOption;
use crate::output::printed_paths::PrintedPaths;
use crate::output::progress_bar::StageBar;
use crate::output::summary::{Summary, exit_code};
use crate::output::waiting::WaitingNote;
pub(crate) use args::FindArgs;
pub(in crate::cmd) use args::FindOutputArgs;
use lookalike::core::params::Params;
use lookalike::find::{FindOptions, Findings, PairList};
use lookalike::report::run_page::RunSubject;
use lookalike::request::{FindRequest, RunInputs};
use std::path::{Path, PathBuf};
use std::time::Instant;
use targets::FindTargets;

/// Runs the command.
pub(crate) fn run(args: &mut FindArgs, worker: WorkerOption<'_>) -> CommandResult {
    args.reading.read_list(&mut args.inputs)?;
    let args = &*args;
    let start = Instant::now();
    let builder = args.parameters.builder(args.shingle.rule(args.reading.normalization())?);
    let mut options = args.run.options(Params::new(&builder)?)?;
    options.pairs = args.result.pair_list()?;
    options.reference_pairs = args.reference_pairs;
    let inputs = &args.inputs;
    let reference = args.run.reference();
    let all_inputs = || inputs.iter().chain(reference);
    let auto_bands = args.parameters.bands_auto(all_inputs())?.then_some(builder);
    let mut targets = FindTargets::new(&args.result)?;
    targets.refuse_taken(inputs, reference)?;
    args.audit.refuse(all_inputs())?;
    let opened_reference = args.run.opened_reference()?;
    let reading = args.reading.options(worker);
    let mut run_inputs = RunInputs::of_paths(inputs, &opened_reference, reading);
    run_inputs.leave_out(targets.paths().map(Path::to_owned));
    let waiting = WaitingNote::new(all_inputs(), args.result.quiet);
    let opened = FindRequest::new(run_inputs, options, auto_bands).open()?;
    drop(waiting);
    targets.check_writable(inputs)?;
    let bar = StageBar::new(args.result.quiet);
    let mut outcome = opened.run(&bar)?;
    // Writes the results before the audit, because the audit may fail.
    targets.write_results(&RunSubject {
        findings: &outcome.findings,
        options: &outcome.options,
        inputs,
        reference,
        audit: None,
    })?;
    let audit = args.audit.measure(&mut outcome, &bar)?;
    drop(bar);
    let subject = RunSubject {
        findings: &outcome.findings,
        options: &outcome.options,
        inputs,
        reference,
        audit: audit.as_ref(),
    };
    let code = args.result.report(&subject, &targets, outcome.bytes(), start)?;
    outcome.findings.finish()?;
    Ok(code)
}

impl FindOutputArgs {
    /// Returns true if `--quiet` turns the summary and the progress bar off.
    pub(super) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Returns true if `--pairs` names a file.
    pub(super) fn has_pairs(&self) -> bool {
        self.pairs.is_some()
    }

    /// Returns true if `--estimates` is set.
    pub(super) fn has_estimates(&self) -> bool {
        self.estimates
    }

    /// How pairs are listed.
    pub(super) fn pair_list(&self) -> Result<PairList, CommandError> {
        Ok(PairList::new(self.pairs.is_some(), self.estimates)?)
    }

    /// Writes the results and reports of a run without an audit, prints the requested output, and
    /// returns the exit code.
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

    /// Writes the reports, prints the requested output, and returns the exit code.
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
        let paths = PrintedPaths::new(subject.inputs, subject.reference);
        let not_shown = print::print(self, &summary, audit, &paths)?;
        print::print_summary(self, &summary, audit, not_shown, &targets.written)?;
        let is_found = self.exit_code && !findings.groups.is_empty();
        Ok(exit_code(findings.skipped.iter(), options.skip_repeated_ids, is_found)?)
    }
}
