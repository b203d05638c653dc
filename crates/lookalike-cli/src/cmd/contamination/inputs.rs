//! The corpus and the benchmark: files and folders, or an index that stores texts.

use crate::cmd::CommandError;
use crate::index_place;
use lookalike::contamination::ContaminationError;
use lookalike::core::parameter::{NamesParameters, Parameter};
use lookalike::read::{ReadError, ReadOptions, refuse_streams};
use lookalike::report::option_name;
use lookalike::request::{BenchmarkSide, InputSide, RunInputs};
use lookalike::store::index::IndexLocation;
use std::path::{Path, PathBuf};

/// Builds one side from its files and folders, or from an index. An index must be the only input.
pub(super) fn side(inputs: &[PathBuf], reading: &ReadOptions) -> Result<RunInputs, CommandError> {
    let mut run = RunInputs::of_paths(inputs, &[], reading.clone());
    let is_index = |input: &&PathBuf| IndexLocation::among_inputs(input).is_some();
    let Some(input) = inputs.iter().find(is_index) else { return Ok(run) };
    if inputs.len() > 1 {
        return Err(CommandError::Usage(format!(
            "{} is an index and must be the only input on its side; run the command again for the \
             other inputs",
            input.display()
        )));
    }
    if let Some(location) = index_place::among_inputs(input)? {
        run.documents = InputSide::Index(location);
    }
    Ok(run)
}

/// Builds one side of the benchmark for each field, or a single side if no field is given.
pub(super) fn benchmark(
    against: &[PathBuf],
    fields: &[String],
    reading: &ReadOptions,
) -> Result<Vec<BenchmarkSide>, CommandError> {
    let items = side(against, reading)?;
    if let [field, other_fields @ ..] = fields {
        if let InputSide::Index(index) = &items.documents {
            return Err(CommandError::Usage(format!(
                "--against-field {field} cannot be used with an index, which stores one text for \
                 each document; leave it out, or name the files from which {} was created",
                index.shown()
            )));
        }
        if !other_fields.is_empty() {
            refuse_streams(against.iter(), "a search with several --against-field")?;
        }
        let side =
            |field: &String| BenchmarkSide { field: Some(field.clone()), items: items.clone() };
        return Ok(fields.iter().map(side).collect());
    }
    Ok(vec![BenchmarkSide { field: None, items }])
}

/// Converts the error of a run. Errors of the benchmark call its text field `--against-field`.
pub(super) fn run_error(error: ContaminationError) -> CommandError {
    match error {
        ContaminationError::Benchmark(error) => {
            CommandError::Data(error.spelled(|parameter| match parameter {
                Parameter::TextField => "--against-field".to_owned(),
                other => option_name(other),
            }))
        }
        error => error.into(),
    }
}

/// Refuses inputs that would be read twice: standard input, a field, an index on both sides.
pub(super) fn refuse_repeats(
    inputs: &[PathBuf],
    against: &[PathBuf],
    fields: &[String],
) -> Result<(), CommandError> {
    let is_stdin = |input: &&PathBuf| input.as_os_str() == "-";
    if inputs.iter().chain(against).filter(is_stdin).count() > 1 {
        return Err(ReadError::StdinTwice.into());
    }
    if let Some(field) = (1..fields.len()).find(|at| fields[..*at].contains(&fields[*at])) {
        let field = &fields[field];
        let message = format!("--against-field {field} is repeated; name each field once");
        return Err(CommandError::Usage(message));
    }
    let index = |input: &&PathBuf| IndexLocation::among_inputs(input).is_some();
    for corpus in inputs.iter().filter(index) {
        let is_same = |other: &&PathBuf| *other == corpus || is_one_folder(other, corpus);
        if against.iter().any(|other| is_same(&other)) {
            let name = corpus.display().to_string();
            return Err(ContaminationError::InBoth { name }.into());
        }
    }
    Ok(())
}

fn is_one_folder(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
