//! `passages`: finds repeated passages of documents, returns them as tables and files, and cuts
//! them from documents in memory.

use crate::arrow::table::ArrowTable;
use crate::arrow::text_column::TextColumn;
use crate::call;
use crate::error::{FileError, OptionError, run_error};
use crate::input::compared_input::ComparedInput;
use crate::input::ids::IdKind;
use crate::input::inputs::ComparedInputs;
use crate::options::KeywordOptions;
use crate::results::remaining_texts::RemainingTexts;
use crate::results::run_findings::RowNumbers;
use crate::results::skipped;
use arrow_array::ArrayRef;
use arrow_array::builder::{BooleanBuilder, UInt64Builder};
use lookalike::find::FindError;
use lookalike::passages::{FoundPassage, PassageFindings, PassageOptions, PassageRow, SourceCuts};
use lookalike::progress::Progress;
use lookalike::read::ReadOptions;
use lookalike::report::csv::CellRule;
use lookalike::report::passages::PassageOutput;
use lookalike::report::{Output, Target};
use lookalike::request::{CutRequest, DedupOutputs, PassageRequest};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::Arc;

/// The result of a search for passages, with its inputs.
#[pyclass(frozen, name = "PassageFindings", module = "lookalike._engine")]
pub(crate) struct PyPassages {
    found: PassageFindings,
    options: PassageOptions,
    rows: RowNumbers,
    inputs: Arc<ComparedInputs>,
}

/// The options of a search for passages.
pub(crate) struct PassageArguments {
    pub(crate) options: PassageOptions,
    pub(crate) reading: ReadOptions,
}

impl PassageArguments {
    /// # Errors
    /// `OptionError` for invalid values.
    pub(crate) fn new(py: Python<'_>, keywords: &KeywordOptions<'_>) -> PyResult<Self> {
        let normalization = keywords.normalization()?;
        if normalization.stop_words_by_language || normalization.segment {
            return Err(OptionError::new_err(
                "passages are whole parts of texts: leave language:auto and segment:dictionary \
                 out of normalize, which remove words or put blanks between them",
            ));
        }
        let reading = keywords.reading(normalization, crate::extraction::options(py)?)?;
        let options = keywords.passages()?;
        let reading = options.read_options(reading);
        Ok(Self { options, reading })
    }
}

/// Finds repeated passages in documents.
#[pyfunction]
#[pyo3(signature = (documents, options, progress=None))]
pub(crate) fn passages(
    py: Python<'_>,
    documents: ComparedInput,
    options: &Bound<'_, PyDict>,
    progress: Option<Py<PyAny>>,
) -> PyResult<PyPassages> {
    let keywords = KeywordOptions::new(options)?;
    let PassageArguments { options, reading } = PassageArguments::new(py, &keywords)?;
    keywords.finish()?;
    let ids = IdKind::of(&documents, None);
    let inputs = Arc::new(ComparedInputs::new(py, &documents, None, reading)?);
    let run = inputs.run.clone();
    let (found, options, rows) = call::reading(py, progress.as_ref(), move |watch| {
        let reading = run.reading.clone();
        let (found, options) = PassageRequest::new(run, options).open()?.run(watch)?;
        let rows = RowNumbers::of(ids, &reading, &found.run)?;
        Ok((found, options, rows))
    })?;
    Ok(PyPassages { found, options, rows, inputs })
}

/// Cuts repeated passages from documents in memory. Returns for each row whether it is kept, and
/// its text if the text changes.
#[pyfunction]
#[pyo3(signature = (documents, reference, options, rows, progress=None))]
pub(crate) fn cut_passages(
    py: Python<'_>,
    documents: ComparedInput,
    reference: Option<ComparedInput>,
    options: &Bound<'_, PyDict>,
    rows: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<ArrowTable> {
    let keywords = KeywordOptions::new(options)?;
    let cut = keywords.cuts()?;
    let PassageArguments { options, reading } = PassageArguments::new(py, &keywords)?;
    let options = options.with_drop(keywords.dropped(py, &documents, reference.as_ref())?);
    keywords.finish()?;
    let inputs = ComparedInputs::new(py, &documents, reference.as_ref(), reading)?;
    let texts = call::reading(py, progress.as_ref(), move |watch| {
        let outputs = DedupOutputs::default();
        let request = CutRequest { inputs: inputs.run, options, cut, outputs, is_dry_run: true };
        let cuts = request.open()?.find(watch)?.write(watch)?.cuts;
        watch.advance(0)?;
        RemainingTexts::of_cuts(&cuts, rows)
    })?;
    texts.table()
}

/// Appends the number (from 1), words, places and documents of a passage.
fn append_numbers(columns: &mut [UInt64Builder; 4], passage: &FoundPassage) {
    let FoundPassage { number, words, places, documents, .. } = *passage;
    for (column, value) in columns.iter_mut().zip([number + 1, words, places, documents]) {
        column.append_value(value.into());
    }
}

#[pymethods]
impl PyPassages {
    /// A row for each passage: `passage`, `words`, `places`, `documents`, the `id` (and `row`) of
    /// the document with its first place, and `text`, the beginning of the passage.
    fn passages(&self, py: Python<'_>) -> PyResult<ArrowTable> {
        let columns = py.detach(|| {
            let mut numbers: [UInt64Builder; 4] = Default::default();
            let mut ids = self.rows.id_column();
            let mut rows = UInt64Builder::new();
            let mut texts = TextColumn::default();
            for row in self.found.rows.iter() {
                let PassageRow { passage, place } = row.map_err(FindError::of_io)?;
                if !place.is_first {
                    continue;
                }
                append_numbers(&mut numbers, &passage);
                ids.push(Some(&self.found.id(place.document)?));
                rows.append_option(self.rows.row(place.document, false));
                texts.push(Some(&passage.excerpt));
            }
            Ok::<_, FindError>((numbers, ids, rows, texts))
        });
        let (numbers, mut ids, rows, mut texts) = columns.map_err(run_error)?;
        let mut columns = named(["passage", "words", "places", "documents"], numbers);
        columns.push(("id", ids.finish(), false));
        columns.extend(self.row_column(rows));
        columns.push(("text", texts.finish(), false));
        ArrowTable::new(columns)
    }

    /// A row for each place, with the columns of the files that `write` creates. For documents in
    /// memory also `row`.
    fn places(&self, py: Python<'_>) -> PyResult<ArrowTable> {
        let columns = py.detach(|| {
            let mut numbers: [UInt64Builder; 4] = Default::default();
            let mut spans: [UInt64Builder; 4] = Default::default();
            let mut flags: [BooleanBuilder; 2] = Default::default();
            let mut ids = self.rows.id_column();
            let mut rows = UInt64Builder::new();
            for row in self.found.rows.iter() {
                let PassageRow { passage, place } = row.map_err(FindError::of_io)?;
                append_numbers(&mut numbers, &passage);
                let bytes = &place.span.bytes;
                let chars = &place.span.chars;
                let ends = [bytes.start, bytes.end, chars.start, chars.end];
                spans.iter_mut().zip(ends).for_each(|(column, end)| column.append_value(end));
                ids.push(Some(&self.found.id(place.document)?));
                rows.append_option(self.rows.row(place.document, false));
                flags[0].append_value(place.is_first);
                flags[1].append_value(place.is_maximal);
            }
            Ok::<_, FindError>((numbers, spans, flags, ids, rows))
        });
        let (numbers, spans, mut flags, mut ids, rows) = columns.map_err(run_error)?;
        let mut columns = named(["passage", "words", "places", "documents"], numbers);
        columns.push(("id", ids.finish(), false));
        columns.extend(named(["byte_start", "byte_end", "char_start", "char_end"], spans));
        let flags = ["first", "maximal"].into_iter().zip(&mut flags);
        columns.extend(flags.map(|(name, flag)| (name, Arc::new(flag.finish()) as _, false)));
        columns.extend(self.row_column(rows));
        ArrowTable::new(columns)
    }

    /// The amount of repeated text of each source.
    fn sources(&self) -> PyResult<ArrowTable> {
        let sources = self.found.sources.iter().map(|source| {
            let numbers = [
                source.documents,
                source.documents_with_repeats,
                source.words,
                source.repeated_words,
                source.copied_words,
            ];
            (source.name.as_str(), numbers)
        });
        let names =
            ["documents", "documents_with_repeats", "words", "repeated_words", "copied_words"];
        counts_by_source(sources, names)
    }

    /// The skipped records, with the columns of [`PyFindings`](crate::find::PyFindings).
    fn skipped(&self, py: Python<'_>) -> PyResult<ArrowTable> {
        let ids = self.rows.ids;
        py.detach(|| skipped::columns(&self.found.run, ids)).map_err(run_error)?.table()
    }

    /// All counts of the search.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = &self.found.counts;
        let all = [
            ("documents", counts.documents),
            ("empty", counts.empty),
            ("skipped", counts.skipped),
            ("words", counts.words),
            ("passages", counts.passages),
            ("runs", counts.runs),
            ("documents_with_repeats", counts.documents_with_repeats),
            ("repeated_words", counts.repeated_words),
            ("copied_words", counts.copied_words),
        ];
        let dict = PyDict::new(py);
        all.iter().try_for_each(|(name, count)| dict.set_item(name, count))?;
        Ok(dict)
    }

    /// The stages of the search in order, with their times in seconds.
    fn times(&self) -> Vec<(String, f64)> {
        let times = self.found.run.times.iter();
        times.map(|(stage, elapsed)| (stage.to_string(), elapsed.as_secs_f64())).collect()
    }

    /// Returns the original text of the document `id`. Without an id, returns the text of row `row`
    /// of documents in memory, or of the document number `row` of files.
    #[pyo3(signature = (row, id=None))]
    fn text(
        &self,
        py: Python<'_>,
        row: Option<u64>,
        id: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        self.inputs.refuse_elsewhere()?;
        let document = self.rows.find(py, &self.found.run, row, id)?;
        py.detach(|| self.found.written_text(document)).map_err(run_error)
    }

    /// Writes the places (`what` is "places") or the report, as the command line does.
    fn write(&self, py: Python<'_>, what: &str, path: PathBuf) -> PyResult<()> {
        self.inputs.check_output(&path)?;
        let kind = if what == "places" { PassageOutput::Places } else { PassageOutput::Report };
        let target = Target::new(&path, kind.formats());
        let target = target.map_err(|error| FileError::new_err(error.to_string()))?;
        let written = py.detach(|| {
            let output = Output::create(&target)?;
            kind.write(output, target.format(), (&self.found, &self.options), CellRule::Exact)
        });
        written.map_err(run_error)
    }
}

impl PyPassages {
    fn row_column(&self, mut rows: UInt64Builder) -> Option<(&'static str, ArrayRef, bool)> {
        self.rows.ids.is_held().then(|| ("row", Arc::new(rows.finish()) as ArrayRef, false))
    }
}

/// Returns columns of numbers with their names.
pub(crate) fn named<const N: usize>(
    names: [&'static str; N],
    numbers: [UInt64Builder; N],
) -> Vec<(&'static str, ArrayRef, bool)> {
    let columns = names.into_iter().zip(numbers);
    columns.map(|(name, mut column)| (name, Arc::new(column.finish()) as _, false)).collect()
}

/// Returns a table with the counts of each source.
fn counts_by_source<'a, const N: usize>(
    sources: impl Iterator<Item = (&'a str, [u64; N])>,
    names: [&'static str; N],
) -> PyResult<ArrowTable> {
    let mut sources_named = TextColumn::default();
    let mut numbers = names.map(|_| UInt64Builder::new());
    for (name, values) in sources {
        sources_named.push(Some(name));
        numbers.iter_mut().zip(values).for_each(|(column, value)| column.append_value(value));
    }
    let mut columns = vec![("source", sources_named.finish(), false)];
    columns.extend(named(names, numbers));
    ArrowTable::new(columns)
}

/// Returns a table with the amounts that were cut from each source.
pub(crate) fn cuts_by_source(sources: &[SourceCuts]) -> PyResult<ArrowTable> {
    let rows = sources.iter().map(|source| {
        let SourceCuts { name, documents, changed, removed, words, cut_words } = source;
        (name.as_str(), [*documents, *changed, *removed, *words, *cut_words])
    });
    counts_by_source(rows, ["documents", "changed", "removed", "words", "cut_words"])
}
