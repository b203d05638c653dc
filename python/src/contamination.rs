//! `contamination`: which items of a benchmark a corpus contains, as tables and files.

use crate::arrow::table::ArrowTable;
use crate::arrow::text_column::TextColumn;
use crate::call;
use crate::error::{DocumentError, FileError, HELD, argument, run_error};
use crate::input::compared_input::ComparedInput;
use crate::input::ids::{IdColumn, IdKind};
use crate::input::inputs::ComparedInputs;
use crate::options::KeywordOptions;
use crate::passages::named;
use crate::results::skipped::SkippedColumns;
use arrow_array::builder::{BooleanBuilder, Float64Builder, UInt64Builder};
use lookalike::contamination::{Contamination, ContaminationError, ContaminationOptions};
use lookalike::core::parameter::{NamesParameters, Parameter};
use lookalike::find::FindError;
use lookalike::read::ReadError;
use lookalike::report::{self, Output, OutputError, OutputFormat, Target};
use lookalike::request::{BenchmarkSide, ContaminationRequest};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::Arc;

/// The findings of a contamination check: the share of each benchmark item that
/// the corpus contains.
#[pyclass(frozen, name = "ContaminationFindings", module = "lookalike._engine")]
pub(crate) struct PyContamination {
    found: Contamination,
    options: ContaminationOptions,
    /// The benchmark, once for each text field, and the corpus.
    inputs: Vec<ComparedInputs>,
    ids: IdKind,
    item_ids: IdKind,
}

/// Finds the items of a benchmark in a corpus. `against` contains the benchmark once for each of
/// its text fields.
#[pyfunction]
#[pyo3(signature = (documents, against, options, progress=None))]
pub(crate) fn contamination(
    py: Python<'_>,
    documents: ComparedInput,
    against: Vec<(Option<String>, ComparedInput)>,
    options: &Bound<'_, PyDict>,
    progress: Option<Py<PyAny>>,
) -> PyResult<PyContamination> {
    let keywords = KeywordOptions::new(options)?;
    let reading = keywords.reading(keywords.normalization()?, crate::extraction::options(py)?)?;
    let options = keywords.contamination()?;
    keywords.finish()?;
    let ids = IdKind::of(&documents, None);
    let item_ids = against.first().map_or(IdKind::Files, |(_, items)| IdKind::of(items, None));
    let mut inputs = Vec::with_capacity(against.len() + 1);
    let mut benchmark = Vec::with_capacity(against.len());
    for (field, items) in against {
        let side = ComparedInputs::named(py, (&items, HELD[2]), None, reading.clone())?;
        benchmark.push(BenchmarkSide { field, items: side.run.clone() });
        inputs.push(side);
    }
    let corpus = ComparedInputs::new(py, &documents, None, reading)?;
    let request = ContaminationRequest { corpus: corpus.run.clone(), benchmark, options };
    inputs.push(corpus);
    let found =
        call::reading(py, progress.as_ref(), move |watch| match request.open()?.run(watch) {
            Ok(found) => Ok(Ok(found)),
            Err(ContaminationError::Benchmark(error)) => Ok(Err(error)),
            Err(error) => Err(error.into()),
        })?;
    let (found, options) = found.map_err(|error| benchmark_error(&error))?;
    Ok(PyContamination { found, options, inputs, ids, item_ids })
}

/// The exception for an error in the benchmark. If the error concerns the text field, the message
/// names the argument `against_field`.
fn benchmark_error(error: &FindError) -> PyErr {
    let text = error.spelled(|parameter| match parameter {
        Parameter::TextField => Parameter::AgainstField.to_string(),
        other => argument(other),
    });
    match error {
        FindError::Read(ReadError::BadRecord(_)) => DocumentError::new_err(text),
        _ => FileError::new_err(text),
    }
}

#[pymethods]
impl PyContamination {
    /// A row for each item, in the order of the benchmark: `benchmark`, `field`, `id`, `words`,
    /// `covered`, `share`, `contaminated`, `documents`.
    fn items(&self) -> PyResult<ArrowTable> {
        let mut benchmarks = TextColumn::default();
        let mut fields = TextColumn::default();
        let mut ids = IdColumn::new(self.item_ids);
        let mut words = UInt64Builder::new();
        let mut covered = UInt64Builder::new();
        let mut shares = Float64Builder::new();
        let mut flags = BooleanBuilder::new();
        let mut documents = UInt64Builder::new();
        for verdict in &self.found.items {
            benchmarks.push(Some(&verdict.item.benchmark));
            fields.push(verdict.item.field.as_deref());
            ids.push(Some(&verdict.item.id));
            words.append_value(verdict.item.words.into());
            covered.append_value(verdict.covered.into());
            shares.append_value(verdict.share());
            flags.append_value(verdict.contaminated);
            documents.append_value(verdict.documents);
        }
        ArrowTable::new(vec![
            ("benchmark", benchmarks.finish(), false),
            ("field", fields.finish(), true),
            ("id", ids.finish(), false),
            ("words", Arc::new(words.finish()), false),
            ("covered", Arc::new(covered.finish()), false),
            ("share", Arc::new(shares.finish()), false),
            ("contaminated", Arc::new(flags.finish()), false),
            ("documents", Arc::new(documents.finish()), false),
        ])
    }

    /// A row for each run of words of an item that a document contains. The columns are the item's
    /// `benchmark`, `field` and `id`, the `source` and `document`, the number of `words`, and the
    /// positions of the run in the item and in the document.
    fn matches(&self, py: Python<'_>) -> PyResult<ArrowTable> {
        let columns = py.detach(|| {
            let mut texts: [TextColumn; 3] = Default::default();
            let mut ids = IdColumn::new(self.item_ids);
            let mut documents = IdColumn::new(self.ids);
            let mut numbers: [UInt64Builder; 9] = Default::default();
            for item in self.found.with_matches() {
                let item = item?;
                let of = &item.verdict.item;
                for found in &item.matches {
                    let names = [Some(&of.benchmark), of.field.as_ref(), Some(&found.source)];
                    let names = names.map(|name| name.map(String::as_str));
                    texts.iter_mut().zip(names).for_each(|(column, name)| column.push(name));
                    ids.push(Some(&of.id));
                    documents.push(Some(&found.document));
                    let item = &found.in_item;
                    let document = &found.in_document;
                    let values = [&item.bytes, &item.chars, &document.bytes, &document.chars];
                    let values = values.into_iter().flat_map(|range| [range.start, range.end]);
                    let values = std::iter::once(item.words.len() as u64).chain(values);
                    let columns = numbers.iter_mut().zip(values);
                    columns.for_each(|(column, value)| column.append_value(value));
                }
            }
            Ok::<_, FindError>((texts, ids, documents, numbers))
        });
        let (texts, mut ids, mut documents, numbers) = columns.map_err(run_error)?;
        let [benchmarks, fields, sources] = texts.map(|mut column| column.finish());
        let mut columns = vec![
            ("benchmark", benchmarks, false),
            ("field", fields, true),
            ("id", ids.finish(), false),
            ("source", sources, false),
            ("document", documents.finish(), false),
        ];
        let names = [
            "words",
            "item_byte_start",
            "item_byte_end",
            "item_char_start",
            "item_char_end",
            "byte_start",
            "byte_end",
            "char_start",
            "char_end",
        ];
        columns.extend(named(names, numbers));
        ArrowTable::new(columns)
    }

    /// A row for each document that contains a run of words of a contaminated item: `id`, `source`.
    fn documents(&self, py: Python<'_>) -> PyResult<ArrowTable> {
        let columns = py.detach(|| {
            let mut ids = IdColumn::new(self.ids);
            let mut sources = TextColumn::default();
            for document in self.found.each_contaminated_document() {
                let document = document?;
                ids.push(Some(&document.id));
                sources.push(Some(&document.source));
            }
            Ok::<_, FindError>((ids, sources))
        });
        let (mut ids, mut sources) = columns.map_err(run_error)?;
        ArrowTable::new(vec![("id", ids.finish(), false), ("source", sources.finish(), false)])
    }

    /// A row for each benchmark and field: `benchmark`, `field`, `items`, `empty`, `contaminated`,
    /// `words`, `covered`.
    fn benchmarks(&self) -> PyResult<ArrowTable> {
        let mut benchmarks = TextColumn::default();
        let mut fields = TextColumn::default();
        let mut numbers: [UInt64Builder; 5] = Default::default();
        for row in &self.found.benchmarks {
            benchmarks.push(Some(&row.benchmark));
            fields.push(row.field.as_deref());
            let values = [row.items, row.empty, row.contaminated, row.words, row.covered];
            numbers.iter_mut().zip(values).for_each(|(column, value)| column.append_value(value));
        }
        let mut columns =
            vec![("benchmark", benchmarks.finish(), false), ("field", fields.finish(), true)];
        columns.extend(named(["items", "empty", "contaminated", "words", "covered"], numbers));
        ArrowTable::new(columns)
    }

    /// The skipped records of the corpus and of the benchmark.
    fn skipped(&self) -> PyResult<ArrowTable> {
        let mut columns = SkippedColumns::new(self.ids.is_held() || self.item_ids.is_held());
        self.found.skipped.iter().for_each(|skipped| columns.push(skipped));
        columns.table()
    }

    /// The numbers of compared and of skipped documents.
    fn counts(&self) -> (u64, u64) {
        (self.found.documents, self.found.skipped.len() as u64)
    }

    /// Writes `items`, the list of `documents`, or the `report`, as the command line does.
    fn write(&self, py: Python<'_>, what: &str, path: PathBuf) -> PyResult<()> {
        self.inputs.iter().try_for_each(|inputs| inputs.check_output(&path))?;
        let formats: &'static [OutputFormat] = match what {
            "report" => &[OutputFormat::Json, OutputFormat::Html],
            _ => &[OutputFormat::Jsonl],
        };
        let target = Target::new(&path, formats);
        let target = target.map_err(|error| FileError::new_err(error.to_string()))?;
        let written = py.detach(|| {
            Output::create(&target)?.finish(|out| match (what, target.format()) {
                ("items", _) => report::contamination::items(out, &self.found),
                ("documents", _) => report::contamination::documents(out, &self.found),
                (_, OutputFormat::Html) => {
                    report::html::contamination(out, &self.found, &self.options)
                }
                _ => {
                    report::contamination::summary(out, &self.found)?;
                    out.write_all(b"\n")
                }
            })
        });
        written.map_err(|error: OutputError| run_error(error))
    }
}
