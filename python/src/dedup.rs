//! `dedup` of files: what stays is written in the format of the input.

use crate::call;
use crate::compared_input::ComparedInput;
use crate::error::{FileError, OptionError, run_error};
use crate::ids::IdKind;
use crate::index::StoredIndex;
use crate::inputs::ComparedInputs;
use crate::options::{KeywordOptions, RunArguments};
use crate::parameters::{self, BetterSettingTuple};
use crate::passages::{PassageArguments, cuts_by_source, refuse_unit};
use crate::table::ArrowTable;
use lookalike::dedup::SurvivorsProblem;
use lookalike::dedup::{
    Annotate, AnnotationSubject, DEFAULT_FIELD, Destination, RemovedList, SurvivorCounts,
    Survivors, apply, apply_cuts,
};
use lookalike::error::Error;
use lookalike::find::{self, FindOptions, Findings};
use lookalike::passages::PassageCuts;
use lookalike::read::Collection;
use lookalike::report::{self, OutputFormat, Target};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    let documents = ComparedInput::Paths(paths.clone());
    let RunArguments { mut find, auto, mut reading } =
        RunArguments::new(options, &documents, reference.as_ref())?;
    reading.leave_out = removed.iter().chain(&output).cloned().collect();
    find.related = annotate;
    let removed = target(removed.as_deref())?;
    let targets = output.map(|output| DedupPaths { paths: &paths, output, annotate, removed });
    let inputs = Arc::new(ComparedInputs::new(py, &documents, reference.as_ref(), reading)?);
    if auto.is_some() {
        inputs.refuse_streams("bands='auto'")?;
    }
    let reference = inputs.paths().1;
    if let Some(targets) = &targets {
        targets.check_places(reference)?;
    }
    // Inputs may be pipes, of which another thread writes the other end, or nobody.
    let theirs = Arc::clone(&inputs);
    let collection = Arc::new(call::reading(py, None, move |_| Ok(theirs.open()?))?);
    // What cannot be written is an error before the work.
    if let Some(targets) = &targets {
        call::long(py, None, |_| Ok(targets.check_writable(&collection, reference, &find)))??;
    }
    let (read, theirs) = (Arc::clone(&collection), Arc::clone(&inputs));
    let find_all = move |watch: &call::Watch| {
        theirs.choose_bands(auto.as_ref(), &mut find, watch)?;
        Ok((find::in_collection(&read, &find, watch)?, find))
    };
    let (findings, find) = call::reading(py, progress.as_ref(), find_all)?;
    let written = if let Some(targets) = &targets {
        let (survivors, removed) = targets.create(&collection, reference, &find)?;
        call::long(py, None, |watch| {
            apply(&findings, &collection, &find, survivors, removed, watch).map_err(without_field)
        })?
    } else {
        counts_without_output(&findings)
    };
    let SurvivorCounts { kept, removed, dropped, files, .. } = written;
    let add = add.map(|index| index.get().add_survivors(py, (&findings, &*collection, &find)));
    let added = add.transpose()?.unwrap_or(0);
    let better = parameters::better_setting(py, findings.better_setting.as_ref())?;
    let decisions = findings.decisions.as_ref();
    let decisions = decisions.map(|it| crate::reviewed::counts(it, IdKind::Files)).transpose()?;
    let parameters = parameters::of_run(py, &find)?;
    Ok((kept, removed, dropped, files, added, parameters, better, decisions))
}

/// What would be written.
fn counts_without_output(findings: &Findings) -> SurvivorCounts {
    let counts = &findings.counts;
    SurvivorCounts {
        kept: counts.documents - counts.reference - counts.duplicates,
        removed: counts.duplicates,
        dropped: findings.dropped.map_or(0, |dropped| dropped.documents),
        ..SurvivorCounts::default()
    }
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
    let PassageArguments { options, mut reading } = PassageArguments::new(py, &given)?;
    let documents = ComparedInput::Paths(paths.clone());
    let options = options.with_drop(given.dropped(py, &documents, reference.as_ref())?);
    given.finish()?;
    refuse_unit(reading.unit)?;
    reading.leave_out = vec![output.clone()];
    let targets = DedupPaths { paths: &paths, output, annotate: false, removed: None };
    let inputs = ComparedInputs::new(py, &documents, reference.as_ref(), reading)?;
    targets.check_places(inputs.paths().1)?;
    let inputs = Arc::new(inputs);
    let theirs = Arc::clone(&inputs);
    let collection = Arc::new(call::reading(py, None, move |_| Ok(theirs.open()?))?);
    let reference = inputs.paths().1;
    let place = targets.destination(&collection, reference, None)?;
    place.takes_passages(None).map_err(run_error)?;
    // What cannot be written is an error before the work.
    call::long(py, None, |_| Survivors::create(place.clone(), None)?.check_writable(&collection))?;
    let read = Arc::clone(&collection);
    let cuts = call::reading(py, progress.as_ref(), move |watch| {
        PassageCuts::find(&read, &options, &cut, watch)
    })?;
    let written = call::long(py, None, |watch| {
        apply_cuts(&cuts, &collection, Some(Survivors::create(place, None)?), None, watch)
    })?;
    let SurvivorCounts { kept, removed, dropped, changed, files, .. } = written;
    Ok((kept, removed, dropped, changed, files, cuts_by_source(&cuts.sources)?))
}

struct DedupPaths<'a> {
    paths: &'a [PathBuf],
    output: PathBuf,
    annotate: bool,
    removed: Option<Target>,
}

impl DedupPaths<'_> {
    fn check_places(&self, reference: &[PathBuf]) -> PyResult<()> {
        let removed = self.removed.as_ref().map(Target::path);
        report::check_places(removed, Some(&self.output), self.paths, reference)
            .map_err(|taken| OptionError::new_err(taken.to_string()))
    }

    fn check_writable(
        &self,
        collection: &Collection,
        reference: &[PathBuf],
        options: &FindOptions,
    ) -> PyResult<()> {
        let (survivors, _) = self.create(collection, reference, options)?;
        survivors.check_writable(collection).map_err(|error| run_error(without_field(error)))
    }

    fn destination(
        &self,
        collection: &Collection,
        reference: &[PathBuf],
        annotate: Option<&Annotate>,
    ) -> PyResult<Destination> {
        let place = Destination::new(&self.output, self.paths, reference, collection, annotate);
        place.map_err(|error| OptionError::new_err(error.to_string()))
    }

    fn create(
        &self,
        collection: &Collection,
        reference: &[PathBuf],
        options: &FindOptions,
    ) -> PyResult<(Survivors, Option<RemovedList>)> {
        let measure = options.params.measure();
        let subject = AnnotationSubject::Groups(measure);
        let annotate = self.annotate.then(|| Annotate { field: DEFAULT_FIELD.to_owned(), subject });
        let place = self.destination(collection, reference, annotate.as_ref())?;
        let survivors = Survivors::create(place, annotate).map_err(run_error)?;
        let removed = self.removed.as_ref().map(|target| RemovedList::create(target, measure));
        Ok((survivors, removed.transpose().map_err(run_error)?))
    }
}

/// The name of the annotation is no keyword argument of Python.
fn without_field(error: Error) -> Error {
    let Error::Survivors { path, problem } = error else { return error };
    let problem = match problem {
        SurvivorsProblem::FieldTaken { id, field } => SurvivorsProblem::Other(format!(
            "the document {id:?} has the field {field:?} already; rename it first"
        )),
        SurvivorsProblem::ColumnTaken { source_name, column } => SurvivorsProblem::Other(format!(
            "{source_name} has a column {column:?} already; rename it first"
        )),
        problem => problem,
    };
    Error::Survivors { path, problem }
}

fn target(path: Option<&Path>) -> PyResult<Option<Target>> {
    let target = path.map(|path| Target::new(path, LISTS)).transpose();
    target.map_err(|error| FileError::new_err(format!("removed: {error}")))
}
