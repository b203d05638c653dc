//! `lookalike dedup --passages`: the inputs without repeated words, in their own format.

use super::args::DedupArgs;
use super::print::dropped;
use crate::arguments::explicit_args::ExplicitArgs;
use crate::cmd::error::of_dedup_request;
use crate::cmd::{CommandError, CommandResult};
use crate::extraction::WorkerOption;
use crate::output::progress_bar::StageBar;
use crate::output::summary::{self, SKIPPED_FILE, exit_code, percent, seconds};
use crate::output::terminal::{self, Style};
use crate::output::waiting::WaitingNote;
use crate::termination;
use lookalike::dedup::SurvivorCounts;
use lookalike::passages::{PassageCuts, PassageOptions, SourceCuts};
use lookalike::progress::NoProgress;
use lookalike::report::phrases::{count, one_line, thousands};
use lookalike::request::{CutOutcome, CutRequest, RunInputs};
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

const HEADER: Style = Style::DIMMED;
/// Options that say how near-duplicates are found or shown, which are not looked for here.
const IDLE: [&str; 15] = [
    "decisions",
    "threshold",
    "recall",
    "measure",
    "exact",
    "num_hashes",
    "bands",
    "rows",
    "scheme",
    "seed",
    "shingle",
    "frequencies",
    "stop_words",
    "group",
    "verbose",
];

/// Runs the command.
pub(super) fn run(args: &DedupArgs, worker: WorkerOption<'_>) -> CommandResult {
    let start = Instant::now();
    let cut = args.cut.options()?;
    let (tokens, case) = args.shingle.words().rule();
    args.reading.refuse_units("compares parts of documents: leave out --unit or --passages")?;
    args.reading.refuse_other_words()?;
    let options = PassageOptions::new(args.cut.min_words, tokens, case)?;
    let options = args.run.apply(options)?.with_drop(args.drop.read()?);
    let outputs = args.outputs()?;
    let reference = args.run.opened_reference()?;
    let reading = args.reading.options(worker);
    let mut inputs = RunInputs::of_paths(&args.inputs, &reference, reading);
    inputs.leave_out(args.drop.path().map(Path::to_owned));
    let request = CutRequest { inputs, options, cut, outputs, is_dry_run: args.result.dry_run };
    let all_inputs = args.inputs.iter().chain(args.run.reference());
    let waiting = WaitingNote::new(all_inputs, args.result.quiet);
    let opened = request.open().map_err(|error| of_dedup_request(error, None, None))?;
    drop(waiting);
    termination::clean_up(args.written_paths())?;
    let bar = StageBar::new(args.result.quiet);
    let found = opened.find(&bar)?;
    drop(bar);
    let CutOutcome { cuts, written } = found.write(&NoProgress)?;
    print(args, &cuts, written.as_ref())?;
    if !args.result.quiet {
        writeln!(terminal::stderr(), "{}", seconds(start.elapsed()))?;
    }
    let is_changed = cuts.sources.iter().any(|source| source.cut_words > 0);
    let is_found = args.result.exit_code && is_changed;
    let code = exit_code(cuts.run.skipped.iter(), args.reading.skip_bad(), is_found)?;
    cuts.finish()?;
    Ok(code)
}

/// Refuses typed options that would change nothing.
pub(super) fn refuse_idle(args: &ExplicitArgs<DedupArgs>) -> Result<(), CommandError> {
    let Some(name) = IDLE.into_iter().find(|name| args.has(name)) else { return Ok(()) };
    Err(CommandError::Usage(format!(
        "--{} is about near-duplicates, --passages cuts equal words whatever the documents have \
         in common; leave out one of both (--min-words says how long passages are)",
        name.replace('_', "-")
    )))
}

fn print(args: &DedupArgs, cuts: &PassageCuts, written: Option<&SurvivorCounts>) -> io::Result<()> {
    let mut err = terminal::stderr();
    if args.result.dry_run {
        let mut out = terminal::stdout();
        table(&mut out, &cuts.sources)?;
        out.flush()?;
    } else if !args.result.quiet {
        table(&mut err, &cuts.sources)?;
    }
    if let (Some(written), Some(out), false) = (written, &args.result.output, args.result.quiet) {
        let (verb, repeated, gone) = if args.result.annotate {
            ("annotated", "with repeated words marked", "that would go")
        } else {
            ("written", "without repeated words", "left out")
        };
        let dropped = dropped(written);
        writeln!(
            err,
            "{verb}: {}: {}, {} of them {repeated}; {} {gone}{dropped}",
            one_line(&out.to_string_lossy()),
            count(written.kept, "document"),
            thousands(written.changed),
            thousands(written.removed)
        )?;
    }
    for (what, path) in [("removed", &args.result.removed), ("skipped", &args.result.skipped)] {
        if let Some(path) = path.as_ref().filter(|_| !args.result.quiet) {
            writeln!(err, "{what}: {}", one_line(&path.to_string_lossy()))?;
        }
    }
    let option = args.result.skipped.is_none().then_some(SKIPPED_FILE);
    summary::write_skipped(&mut err, &cuts.run, option)
}

fn table(out: &mut impl Write, sources: &[SourceCuts]) -> io::Result<()> {
    let mut sources: Vec<&SourceCuts> = sources.iter().collect();
    sources.sort_by(|a, b| b.cut_words.cmp(&a.cut_words).then_with(|| a.name.cmp(&b.name)));
    writeln!(
        out,
        "{HEADER}{:>11}  {:>11}  {:>11}  {:>13}  {:>13}  {:>8}  source{HEADER:#}",
        "documents", "changed", "go", "words", "cut", "share"
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
