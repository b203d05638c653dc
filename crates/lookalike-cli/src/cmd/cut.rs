//! `lookalike cut INPUT…`: the inputs without repeated passages, in their own format.

mod args;
mod rule_args;

use super::CommandResult;
use super::dedup::dropped;
use crate::cmd::error::of_dedup_request;
use crate::extraction::WorkerOption;
use crate::index_place;
use crate::output::progress_bar::StageBar;
use crate::output::summary::{self, SKIPPED_FILE, exit_code, percent, seconds};
use crate::output::terminal::{self, Style};
use crate::output::waiting::WaitingNote;
use crate::output::written_files::WrittenFiles;
use crate::termination;
pub(crate) use args::CutArgs;
use lookalike::dedup::SurvivorCounts;
use lookalike::passages::{PassageCuts, PassageOptions, SourceCuts};
use lookalike::progress::NoProgress;
use lookalike::report::phrases::{count, one_line, thousands};
use lookalike::request::{CutOutcome, CutRequest, RunInputs};
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

const HEADER: Style = Style::DIMMED;

/// Runs the command.
pub(crate) fn run(args: &mut CutArgs, worker: WorkerOption<'_>) -> CommandResult {
    args.reading.read_list(&mut args.inputs)?;
    let args = &*args;
    let start = Instant::now();
    let cut = args.rule.options()?;
    let (tokens, case) = args.words.rule();
    args.reading.refuse_units("compares parts of documents, `cut` cuts them: leave out --unit")?;
    args.reading.refuse_other_words()?;
    let options = PassageOptions::new(args.rule.min_words, tokens, case)?;
    let options = args.work.apply(args.order.apply(options), args.resume)?;
    let options = options.with_drop(args.drop.read()?);
    let outputs = args.result.outputs()?;
    let reference = index_place::with_environment(&args.reference)?;
    let reading = args.reading.options(worker);
    let mut inputs = RunInputs::of_paths(&args.inputs, &reference, reading);
    inputs.leave_out(args.drop.path().map(Path::to_owned));
    let request = CutRequest { inputs, options, cut, outputs, is_dry_run: args.result.dry_run };
    let waiting =
        WaitingNote::new(args.inputs.iter().chain(&args.reference), args.result.common.quiet);
    let opened = request.open().map_err(|error| of_dedup_request(error, None, None))?;
    drop(waiting);
    termination::clean_up(args.result.written_paths())?;
    let files = WrittenFiles::new(args.result.written_paths(), &args.inputs);
    let bar = StageBar::new(args.result.common.quiet);
    let found = opened.find(&bar)?;
    drop(bar);
    let CutOutcome { cuts, written } = found.write(&NoProgress)?;
    print(args, &cuts, written.as_ref(), &files)?;
    if !args.result.common.quiet {
        writeln!(terminal::stderr(), "{}", seconds(start.elapsed()))?;
    }
    let is_changed = cuts.sources.iter().any(|source| source.cut_words > 0);
    let is_found = args.result.exit_code && is_changed;
    let code = exit_code(cuts.run.skipped.iter(), args.reading.skip_bad(), is_found)?;
    cuts.finish()?;
    Ok(code)
}

fn print(
    args: &CutArgs,
    cuts: &PassageCuts,
    written: Option<&SurvivorCounts>,
    files: &WrittenFiles,
) -> io::Result<()> {
    let mut err = terminal::stderr();
    if args.result.dry_run {
        let mut out = terminal::stdout();
        table(&mut out, &cuts.sources)?;
        out.flush()?;
    } else if !args.result.common.quiet {
        table(&mut err, &cuts.sources)?;
    }
    if let (Some(written), Some(out), false) =
        (written, &args.result.output, args.result.common.quiet)
    {
        let (verb, repeated, removed) = if args.result.annotate.is_some() {
            ("annotated", "with repeated words marked", "with nothing else")
        } else {
            ("written", "shortened", "left out because nothing remains")
        };
        let dropped = dropped(written);
        writeln!(
            err,
            "{verb}: {}{}: {}, {} of them {repeated}; {} {removed}{dropped}",
            one_line(&out.to_string_lossy()),
            files.replaced(out),
            count(written.kept, "document"),
            thousands(written.changed),
            thousands(written.removed)
        )?;
    }
    for (label, path) in
        [("removed", &args.result.removed), ("skipped", &args.result.common.skipped)]
    {
        if let Some(path) = path.as_ref().filter(|_| !args.result.common.quiet) {
            files.line(&mut err, label, path)?;
        }
    }
    let option = args.result.common.skipped.is_none().then_some(SKIPPED_FILE);
    summary::write_skipped(&mut err, &cuts.run, option)
}

fn table(out: &mut impl Write, sources: &[SourceCuts]) -> io::Result<()> {
    let mut sources: Vec<&SourceCuts> = sources.iter().collect();
    sources.sort_by(|a, b| b.cut_words.cmp(&a.cut_words).then_with(|| a.name.cmp(&b.name)));
    writeln!(
        out,
        "{HEADER}{:>11}  {:>11}  {:>11}  {:>13}  {:>13}  {:>8}  source{HEADER:#}",
        "documents", "changed", "removed", "words", "cut", "share"
    )?;
    for source in sources {
        let share =
            if source.words == 0 { 0.0 } else { source.cut_words as f64 / source.words as f64 };
        writeln!(
            out,
            "{:>11}  {:>11}  {:>11}  {:>13}  {:>13}  {:>6} %  {}",
            thousands(source.documents),
            thousands(source.changed),
            thousands(source.removed),
            thousands(source.words),
            thousands(source.cut_words),
            percent(share),
            one_line(&source.name)
        )?;
    }
    Ok(())
}
