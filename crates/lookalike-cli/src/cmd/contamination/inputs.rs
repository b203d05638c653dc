//! The corpus and the benchmark: files and folders, or an index that stores texts.

use crate::cmd::CommandError;
use crate::index_place;
use lookalike::contamination::{BenchmarkField, ContaminationError};
use lookalike::core::parameter::{NamesParameters, Parameter};
use lookalike::index::time;
use lookalike::read::{Collection, ReadError, ReadOptions};
use lookalike::report::option_name;
use lookalike::store::Index;
use lookalike::store::index::{Access, IndexLocation, open};
use std::path::{Path, PathBuf};

/// Opens the corpus.
pub(super) fn corpus(
    inputs: &[PathBuf],
    reading: &ReadOptions,
) -> Result<Collection, CommandError> {
    match index_among(inputs)? {
        Some(index) => Ok(stored_texts(&index, reading)?),
        None => Ok(Collection::open(inputs, reading)?),
    }
}

/// Opens the benchmark, once for each field.
pub(super) fn benchmark(
    against: &[PathBuf],
    fields: &[String],
    reading: &ReadOptions,
) -> Result<Vec<(Option<String>, Collection)>, CommandError> {
    if let Some(index) = index_among(against)? {
        if let Some(field) = fields.first() {
            return Err(CommandError::Usage(format!(
                "--against-field {field} is for files: an index has one text of each document; \
                 leave it out, or name the files that the documents of {} were read from",
                index.name()
            )));
        }
        return Ok(vec![(None, stored_texts(&index, reading)?)]);
    }
    if fields.is_empty() {
        return Ok(vec![(None, Collection::open(against, reading)?)]);
    }
    let mut collections: Vec<(Option<String>, Collection)> = Vec::new();
    for field in fields {
        let stream = collections.first().and_then(|(_, collection)| collection.stream());
        if let Some(stream) = stream {
            return Err(CommandError::Usage(format!(
                "{stream} can be read once, and each --against-field reads the benchmark: write it \
                 to a file first"
            )));
        }
        let reading = ReadOptions { text_field: field.clone(), ..reading.clone() };
        collections.push((Some(field.clone()), Collection::open(against, &reading)?));
    }
    Ok(collections)
}

/// The error of a run, which names `--against-field` where a record of the benchmark lacks one.
pub(super) fn run_error(error: ContaminationError, fields: &[BenchmarkField<'_>]) -> CommandError {
    if !fields.iter().any(|field| field.is_source_of(&error)) {
        return error.into();
    }
    CommandError::Data(error.spelled(|parameter| match parameter {
        Parameter::TextField => "--against-field".to_owned(),
        other => option_name(other),
    }))
}

/// Refuses what would be read twice: standard input, a field, an index that is on both sides.
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
        return Err(CommandError::Usage(format!("--against-field {field} is given twice")));
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

/// The index that is named, where there is one; it is named alone.
fn index_among(inputs: &[PathBuf]) -> Result<Option<Index>, CommandError> {
    let is_index = |input: &&PathBuf| IndexLocation::among_inputs(input).is_some();
    let Some(input) = inputs.iter().find(is_index) else { return Ok(None) };
    let Some(place) = index_place::among_inputs(input)? else { return Ok(None) };
    if inputs.len() > 1 {
        return Err(CommandError::Usage(format!(
            "{} is an index, which is read by itself: leave out the other inputs next to it, and \
             run again for them",
            input.display()
        )));
    }
    Ok(Some(open(&place, Access::Read)?))
}

fn stored_texts(index: &Index, reading: &ReadOptions) -> Result<Collection, CommandError> {
    Ok(Collection::of_stored_texts(index, time::now(), reading.normalization)?)
}
