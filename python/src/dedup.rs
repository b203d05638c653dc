//! `dedup` of files: writes the kept documents in the format of the input.

use crate::arrow::table::ArrowTable;
use crate::call;
use crate::error::{FileError, OptionError, argument, run_error};
use crate::index::StoredIndex;
use crate::input::compared_input::ComparedInput;
use crate::input::ids::IdKind;
use crate::input::inputs::ComparedInputs;
use crate::options::{KeywordOptions, RunArguments};
use crate::parameters::{self, BetterSettingTuple};
use crate::passages::{PassageArguments, cuts_by_source};
use lookalike::core::parameter::NamesParameters;
use lookalike::dedup::{CutPart, DEFAULT_FIELD, DedupError, SurvivorCounts, SurvivorsProblem};
use lookalike::report::{OutputError, OutputFormat, Target};
use lookalike::request::{CutRequest, DedupOutputs, DedupRequest, FindRequest};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};

/// Formats of a list of removed documents.
const LISTS: &[OutputFormat] = &[OutputFormat::Csv, OutputFormat::Jsonl];

/// The numbers of kept documents, of removed documents, of documents that the option `drop`
/// excluded, of files, and of documents added to an index. Then the parameters of the run, a
/// setting that finds more, and the effects of decisions as JSON.
type DedupTuple<'py> =
    (u64, u64, u64, u64, u64, Bound<'py, PyDict>, BetterSettingTuple<'py>, Option<String>);

/// Finds duplicates in files. Writes the kept documents to `output` and the list of removed
/// documents to `removed`, and adds the kept documents to the index `add`, if these are set. `add`
/// is the index that the documents were compared with.
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
    // Opening may wait for a pipe. The pipe may never have a writer, or its writer may be a Python
    // thread of this process, so this thread must release the interpreter's lock.
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

/// The numbers of kept documents, of removed documents, of documents that the option `drop`
/// excluded, of shortened documents, and of files. Then the removed amounts of each source.
type CutTuple = (u64, u64, u64, u64, u64, ArrowTable);

/// Removes repeated passages from the documents of files and writes the documents to `output`.
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
    let keywords = KeywordOptions::new(options)?;
    let cut = keywords.cuts()?;
    let PassageArguments { options, reading } = PassageArguments::new(py, &keywords)?;
    let documents = ComparedInput::Paths(paths);
    let options = options.with_drop(keywords.dropped(py, &documents, reference.as_ref())?);
    keywords.finish()?;
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

/// Treats `-` as the name of a file, not as standard output.
fn named_file(output: PathBuf) -> PathBuf {
    if output == Path::new("-") { Path::new(".").join(output) } else { output }
}

/// The exception for an error while a request is opened. Options that its inputs do not support
/// raise `OptionError`.
fn refused(error: DedupError) -> PyErr {
    match error {
        DedupError::Survivors {
            problem: SurvivorsProblem::Cut { part: CutPart::Passage, .. },
            ..
        } => run_error(error),
        DedupError::Survivors { .. } | DedupError::Output(OutputError::Taken(_)) => {
            OptionError::new_err(without_field(error).spelled(argument))
        }
        error => run_error(error),
    }
}

/// Omits the advice to choose another field for the annotation: Python has no argument for it.
fn without_field(error: DedupError) -> DedupError {
    let DedupError::Survivors { path, problem } = error else { return error };
    let problem = match problem {
        SurvivorsProblem::FieldTaken { id, field } => SurvivorsProblem::Other(format!(
            "the document {id:?} already has the field {field:?}; rename it first"
        )),
        SurvivorsProblem::ColumnTaken { source_name, column } => SurvivorsProblem::Other(format!(
            "{source_name} already has a column {column:?}; rename it first"
        )),
        problem => problem,
    };
    DedupError::Survivors { path, problem }
}

fn target(path: Option<&Path>) -> PyResult<Option<Target>> {
    let target = path.map(|path| Target::new(path, LISTS)).transpose();
    target.map_err(|error| FileError::new_err(format!("removed: {error}")))
}
