//! `lookalike passages INPUT…`: repeated passages of documents, as a table, files or JSON.

mod args;
mod print;

use super::{CommandError, CommandResult};
use crate::extraction::WorkerOption;
use crate::output::progress_bar::StageBar;
use crate::output::summary::exit_code;
use crate::output::waiting::WaitingNote;
use crate::output::written_files::WrittenFiles;
use crate::termination;
pub(crate) use args::PassagesArgs;
use args::PassagesOutputArgs;
use lookalike::passages::PassageOptions;
use lookalike::report::passages::PassageOutput;
use lookalike::report::{self, Output, OutputError, Target};
use lookalike::request::{PassageRequest, RunInputs};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Runs the command.
pub(crate) fn run(args: &mut PassagesArgs, worker: WorkerOption<'_>) -> CommandResult {
    args.reading.read_list(&mut args.inputs)?;
    let args = &*args;
    let start = Instant::now();
    let options = passage_options(args)?;
    let targets = targets(&args.result)?;
    let paths = || targets.iter().map(|(_, target)| target.path());
    report::check_places(paths(), None, &args.inputs, &[])
        .map_err(|error| CommandError::Usage(error.to_string()))?;
    let mut inputs = RunInputs::of_paths(&args.inputs, &[], args.reading.options(worker));
    inputs.leave_out(paths().map(Path::to_owned));
    let waiting = WaitingNote::new(&args.inputs, args.result.quiet);
    let opened = PassageRequest::new(inputs, options).open()?;
    drop(waiting);
    termination::clean_up(paths())?;
    let written = WrittenFiles::new(paths(), &args.inputs);
    // Fails before the work if an output cannot be written.
    outputs(&targets)?;
    let bar = StageBar::new(args.result.quiet);
    let (findings, options) = opened.run(&bar)?;
    drop(bar);
    for ((kind, target), output) in targets.iter().zip(outputs(&targets)?) {
        let cells = args.result.csv.cells();
        kind.write(output, target.format(), (&findings, &options), cells)?;
    }
    print::print(&args.result, &findings, &options, start.elapsed(), &written)?;
    let found = args.result.exit_code && !findings.rows.is_empty();
    let code = exit_code(findings.run.skipped.iter(), args.reading.skip_bad(), found)?;
    findings.finish()?;
    Ok(code)
}

fn passage_options(args: &PassagesArgs) -> Result<PassageOptions, CommandError> {
    args.reading.refuse_other_words()?;
    let (tokens, case) = args.words.rule();
    let options = PassageOptions::new(args.min_words, tokens, case)?;
    Ok(args.order.apply(args.work.apply(options, args.resume)?))
}

fn targets(args: &PassagesOutputArgs) -> Result<Vec<(PassageOutput, Target)>, CommandError> {
    let places = args.output.iter().map(|path| ("--output", PassageOutput::Places, path));
    let reports =
        args.whole_run.report.iter().map(|path| ("--report", PassageOutput::Report, path));
    let target = |(option, kind, path): (&str, PassageOutput, &PathBuf)| {
        let target = Target::new(path, kind.formats());
        let target = target.map_err(|error| CommandError::Usage(format!("{option}: {error}")));
        Ok((kind, target?))
    };
    places.chain(reports).map(target).collect()
}

fn outputs(targets: &[(PassageOutput, Target)]) -> Result<Vec<Output>, OutputError> {
    targets.iter().map(|(_, target)| Output::create(target)).collect()
}
