//! `dedup` of files: what stays is written in the format of the input.

use crate::arrow::table::ArrowTable;
use crate::call;
use crate::error::{FileError, OptionError, run_error};
use crate::index::StoredIndex;
use crate::input::compared_input::ComparedInput;
use crate::input::ids::IdKind;
use crate::input::inputs::ComparedInputs;
use crate::options::{KeywordOptions, RunArguments};
use crate::parameters::{self, BetterSettingTuple};
use crate::passages::{PassageArguments, cuts_by_source};
use lookalike::dedup::{CutPart, DEFAULT_FIELD, DedupError, SurvivorCounts, SurvivorsProblem};
use lookalike::report::{OutputError, OutputFormat, Target};
use lookalike::request::{CutRequest, DedupOutputs, DedupRequest, FindRequest};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};

/// What a list of removed documents can be.
const LISTS: &[OutputFormat] = &[OutputFormat::Csv, OutputFormat::Jsonl];

/// How many documents stay, how many went, how many a list left out, how many files there are, how
/// many were added to an index, the parameters of the run, a setting that finds more, and what
/// became of decisions: JSON.
type DedupTuple<'py> =
    (u64, u64, u64, u64, u64, Bound<'py, PyDict>, BetterSettingTuple<'py>, Option<String>);

/// Writes the documents that stay, where there is an output, and adds them to the index that they
/// were compared with, where one is to `add` to.
#[pyfunction]
#[pyo3(signature = (paths, reference, options, output, annotate, removed, add, progress=None))]
#[expect(clippy::too_many_arguments, reason = "the package names each of them")]
pub(crate) fn dedup<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    reference: Option<ComparedInput>,
    options: &Bound<'py, PyDict>,
    output: Option<PathBuf>,
    annotate: bool,
    removed: Option<PathBuf>,
    add: Option<Bound<'py, StoredIndex>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<DedupTuple<'py>> {
    let documents = ComparedInput::Paths(paths);
    let RunArguments { find, auto, reading } =
        RunArguments::new(options, &documents, reference.as_ref())?;
    let removed = target(removed.as_deref())?;
    let inputs = ComparedInputs::new(py, &documents, reference.as_ref(), reading)?;
    if auto.is_some() {
        inputs.refuse_streams("bands='auto'")?;
    }
    let annotate = annotate.then(|| DEFAULT_FIELD.to_owned());
    let survivors = output.map(named_file);
    let outputs = DedupOutputs { survivors, annotate, removed, ..DedupOutputs::default() };
    let find = FindRequest::new(inputs.run, find, auto);
    let action = None;
    let script = None;
    let is_dry_run = false;
    let undo_folder = None;
    let request = DedupRequest { find, outputs, action, script, undo_folder, is_dry_run };
    // Inputs may be pipes to which another thread writes, or nothing.
    let opened = call::reading(py, None, move |_| Ok(request.open().map_err(refused)))??;
    let found = call::reading(py, progress.as_ref(), move |watch| {
        Ok(opened.find(watch).map_err(without_field)?)
    })?;
    let outcome =
        call::long(py, None, |watch| Ok(found.write(None, watch).map_err(without_field)?))?;
    let find = &outcome.find;
    let added =
        add.map(|index| index.get().add_survivors(py, find.run())).transpose()?.unwrap_or(0);
    let SurvivorCounts { kept, removed, dropped, files, .. } = outcome.counts();
    let better = parameters::better_setting(py, find.findings.better_setting.as_ref())?;
    let decisions = find.findings.decisions.as_ref();
    let decisions =
        decisions.map(|it| crate::input::reviewed::counts(it, IdKind::Files)).transpose()?;
    let parameters = parameters::of_run(py, &find.options)?;
    Ok((kept, removed, dropped, files, added, parameters, better, decisions))
}

/// How many documents stay, how many went, how many a list left out, how many lost words, how many
/// files there are, and what went of each source.
type CutTuple = (u64, u64, u64, u64, u64, ArrowTable);

/// Writes documents without repeated passages.
#[pyfunction]
#[pyo3(signature = (paths, reference, options, output, progress=None))]
pub(crate) fn dedup_passages(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    reference: Option<ComparedInput>,
    options: &Bound<'_, PyDict>,
    output: PathBuf,
    progress: Option<Py<PyAny>>,
) -> PyResult<CutTuple> {
    let given = KeywordOptions::new(options)?;
    let cut = given.cuts()?;
    let PassageArguments { options, reading } = PassageArguments::new(py, &given)?;
    let documents = ComparedInput::Paths(paths);
    let options = options.with_drop(given.dropped(py, &documents, reference.as_ref())?);
    given.finish()?;
    let inputs = ComparedInputs::new(py, &documents, reference.as_ref(), reading)?;
    let outputs = DedupOutputs { survivors: Some(named_file(output)), ..DedupOutputs::default() };
    let inputs = inputs.run;
    let request = CutRequest { inputs, options, cut, outputs, is_dry_run: false };
    let opened = call::reading(py, None, move |_| Ok(request.open().map_err(refused)))??;
    let found = call::reading(py, progress.as_ref(), move |watch| Ok(opened.find(watch)?))?;
    let outcome = call::long(py, None, |watch| Ok(found.write(watch)?))?;
    let written = outcome.written.unwrap_or_default();
    let SurvivorCounts { kept, removed, dropped, changed, files, .. } = written;
    Ok((kept, removed, dropped, changed, files, cuts_by_source(&outcome.cuts.sources)?))
}

/// The output as a file: `-` is a name here, not standard output.
fn named_file(output: PathBuf) -> PathBuf {
    if output == Path::new("-") { Path::new(".").join(output) } else { output }
}

/// The exception of a request that its inputs do not allow.
fn refused(error: DedupError) -> PyErr {
    match error {
        DedupError::Survivors {
            problem: SurvivorsProblem::Cut { part: CutPart::Passage, .. },
            ..
        } => run_error(error),
        DedupError::Survivors { .. } | DedupError::Output(OutputError::Taken(_)) => {
            OptionError::new_err(without_field(error).to_string())
        }
        error => run_error(error),
    }
}

/// The name of the annotation is no keyword argument of Python.
fn without_field(error: DedupError) -> DedupError {
    let DedupError::Survivors { path, problem } = error else { return error };
    let problem = match problem {
        SurvivorsProblem::FieldTaken { id, field } => SurvivorsProblem::Other(format!(
            "the document {id:?} has the field {field:?} already; rename it first"
        )),
        SurvivorsProblem::ColumnTaken { source_name, column } => SurvivorsProblem::Other(format!(
            "{source_name} has a column {column:?} already; rename it first"
        )),
        problem => problem,
    };
    DedupError::Survivors { path, problem }
}

fn target(path: Option<&Path>) -> PyResult<Option<Target>> {
    let target = path.map(|path| Target::new(path, LISTS)).transpose();
    target.map_err(|error| FileError::new_err(format!("removed: {error}")))
}
