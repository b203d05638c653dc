//! `lookalike tune`: the bands and rows for a threshold and a recall, and the alternatives. For
//! given documents, also the shingles that suit them.

mod args;
mod layout;
mod plan;
mod sample_advice;

use super::{CommandError, CommandResult};
use crate::exit_code::ExitCode;
use crate::extraction::WorkerOption;
use crate::output::progress_bar::StageBar;
use crate::output::summary::write_as_text;
use crate::output::terminal;
use crate::termination;
pub(crate) use args::TuneArgs;
use lookalike::core::params::Params;
use lookalike::report::phrases::one_line;
use lookalike::report::{Output, OutputError};
use lookalike::request::{RunInputs, TuneOutcome, TuneRequest};
use plan::PlanOutput;
use sample_advice::SampleAdvice;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Measures, chooses and prints.
pub(crate) fn run(args: &mut TuneArgs, worker: WorkerOption<'_>) -> CommandResult {
    args.reading.read_list(&mut args.inputs)?;
    let args = &*args;
    let builder = args.parameters.builder(args.shingle.rule(args.reading.normalization())?);
    let params = Params::new(&builder)?;
    if params.exact() {
        return Err(CommandError::Usage(
            "there is nothing to tune: --exact and --measure containment find all pairs, without \
             bands and rows; leave them out"
                .to_owned(),
        ));
    }
    let inputs = (!args.inputs.is_empty())
        .then(|| RunInputs::of_paths(&args.inputs, &[], args.reading.options(worker)));
    let sample = args.sample as usize;
    let TuneArgs { tried, documents, .. } = args;
    let request =
        TuneRequest { inputs, builder, sample, tried: tried.clone(), documents: *documents };
    let opened = request.open()?;
    if let Some(collection) = opened.collection() {
        write_as_text(&mut terminal::stderr(), collection.read_as_text())?;
    }
    let TuneOutcome { plan, measured } = opened.run(&StageBar::new(args.inputs.is_empty()))?;
    let measured = measured.map(|sample| {
        SampleAdvice::new(sample, &params, args.reading.normalization().stop_words_by_language)
    });
    let measured = measured.transpose()?;
    let plan = PlanOutput::new(plan);
    if let Some(path) = &args.svg {
        termination::clean_up(std::iter::once(path.as_path()))?;
        write_whole(path, plan.curve().svg().as_bytes())?;
    }
    let mut out = io::BufWriter::new(terminal::stdout().json_if(args.json));
    if args.json {
        writeln!(out, "{:#}", plan.json(measured.as_ref()))?;
    } else {
        if let Some(measured) = &measured {
            measured.write(&mut out, params.threshold())?;
            writeln!(out)?;
        }
        plan.write(&mut out, args)?;
        if let Some(path) = &args.svg {
            writeln!(out, "\nThe curve is in {}.", one_line(&path.to_string_lossy()))?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a file that appears only when it is complete. Writes directly to anything that is not a
/// regular file, such as `/dev/stdout`.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        let failed = |source| OutputError::Write { path: path.to_owned(), source };
        return fs::write(path, bytes).map_err(failed);
    }
    Output::named(path)?.finish(|out| out.write_all(bytes))
}
