//! `lookalike find INPUT…`: groups of near-duplicates, as a table, files or JSON.

mod args;
mod audit;
mod print;
pub(super) mod targets;

use super::{CommandError, CommandResult, bands};
use crate::exit_code::ExitCode;
use crate::extraction::WorkerOption;
use crate::progress_bar::StageBar;
use crate::summary::Summary;
use crate::termination;
use crate::waiting::WaitingNote;
pub(crate) use args::FindArgs;
pub(in crate::cmd) use args::FindOutputArgs;
use lookalike::core::params::{Params, ParamsBuilder};
use lookalike::find::{self, FindOptions, PairList};
use lookalike::progress::{NoProgress, Progress};
use lookalike::read::Collection;
use lookalike::report::Target;
use lookalike::report::csv::CellRule;
use lookalike::report::run_page::RunSubject;
use std::time::Instant;
use targets::FindTargets;

/// The exit code of `--exit-code` when duplicates were found.
const DUPLICATES_FOUND: u8 = 3;

/// Runs the command.
pub(crate) fn run(args: &FindArgs, worker: WorkerOption<'_>) -> CommandResult {
    let start = Instant::now();
    let builder = args.parameters.builder(args.shingle.rule(args.reading.wording())?);
    let mut options = find_options(args, &builder)?;
    let reference = args.run.reference();
    let bands_auto = args.parameters.bands_auto(args.inputs.iter().chain(reference))?;
    let targets = FindTargets::new(&args.result)?;
    targets.refuse_taken(&args.inputs, reference)?;
    args.audit.refuse(args.inputs.iter().chain(reference))?;
    let mut reading = args.reading.options(worker);
    // A second run must not find the files of the first among its documents.
    reading.leave_out = targets.all().map(|target| target.path().to_owned()).collect();
    reading.fields = options.fields();
    let open = || Collection::open_with_reference(&args.inputs, reference, &reading);
    let waiting = WaitingNote::new(args.inputs.iter().chain(reference), args.result.quiet);
    let collection = open()?;
    drop(waiting);
    termination::clean_up(targets.all().map(Target::path))?;
    // What cannot be written is an error before the work; an interruption leaves nothing behind.
    drop((targets.create()?, targets.create_reports()?));
    let bar = (!args.result.quiet).then(StageBar::new);
    let shown = bar.as_ref().map(|bar| bar as &dyn Progress);
    if bands_auto {
        bands::choose(&open()?, &builder, &mut options, shown)?;
    }
    let progress = shown.unwrap_or(&NoProgress);
    let mut findings = find::in_collection(&collection, &options, progress)?;
    // What was found is on the disk before an audit that may fail.
    targets.create()?.write(&findings, options.params.measure())?;
    let audit = args.audit.measure(&mut findings, &options, open, progress)?;
    drop(bar);
    let subject = RunSubject {
        findings: &findings,
        options: &options,
        inputs: &args.inputs,
        reference,
        audit: audit.as_ref(),
    };
    let bytes = collection.bytes().or_else(|| Some(collection.bytes_read()).filter(|b| *b > 0));
    let found = args.result.tell(&subject, &targets, bytes, start)?;
    findings.finish()?;
    Ok(found)
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

    /// How values of CSV files are written.
    fn cells(&self) -> CellRule {
        self.csv.cells()
    }

    /// How pairs are listed.
    pub(super) fn pair_list(&self) -> Result<PairList, CommandError> {
        Ok(PairList::new(self.pairs.is_some(), self.estimates)?)
    }

    /// Writes reports, prints what is wanted, and gives the exit code.
    pub(super) fn tell(
        &self,
        subject: &RunSubject<'_>,
        targets: &FindTargets,
        bytes: Option<u64>,
        start: Instant,
    ) -> CommandResult {
        targets.create_reports()?.write(subject)?;
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
        print::tell(self, &summary, audit, not_shown)?;
        let found = self.exit_code && !findings.groups.is_empty();
        Ok(if found { ExitCode::from(DUPLICATES_FOUND) } else { ExitCode::SUCCESS })
    }
}

fn find_options(args: &FindArgs, builder: &ParamsBuilder) -> Result<FindOptions, CommandError> {
    let mut options = args.run.options(Params::new(builder)?)?;
    options.pairs = args.result.pair_list()?;
    options.skip_duplicate_ids = args.reading.skip_bad();
    Ok(options)
}
