//! `find`: groups of near-duplicates among documents, as tables and files.

use crate::arrow::table::ArrowTable;
use crate::arrow::text_column::TextColumn;
use crate::call;
use crate::error::{LookalikeError, OptionError, run_error};
use crate::input::compared_input::ComparedInput;
use crate::input::ids::{IdColumn, IdKind};
use crate::input::inputs::ComparedInputs;
use crate::options::{KeywordOptions, RunArguments};
use crate::parameters::BetterSettingTuple;
use crate::passages::named;
use crate::results::outcomes::OutcomeColumns;
use crate::results::remaining_texts::RemainingTexts;
use crate::results::run_findings::{RowNumbers, RunFindings, SimilarityColumns};
use crate::results::skipped;
use crate::results::unit_columns::{self, UnitColumns};
use arrow_array::ArrayRef;
use arrow_array::builder::{BooleanBuilder, Float64Builder, UInt64Builder};
use lookalike::audit::audit_findings;
use lookalike::core::verify::Overlap;
use lookalike::error::Error;
use lookalike::find::{ESTIMATE_COLUMNS, FindError, FindOptions, Findings, SourceCounts};
use lookalike::read::{Collection, ReadError};
use lookalike::report::run_page::RunSubject;
use lookalike::request::FindRequest;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// The findings of a run, with its inputs.
#[pyclass(frozen, name = "Findings", module = "lookalike._engine")]
pub(crate) struct PyFindings {
    run: RunFindings,
    inputs: Arc<ComparedInputs>,
    /// Whether the documents come from an index. This object cannot read their texts again.
    of_index: bool,
}

/// Finds the near-duplicates among documents.
#[pyfunction]
#[pyo3(signature = (documents, reference, options, related, progress=None))]
pub(crate) fn find(
    py: Python<'_>,
    documents: ComparedInput,
    reference: Option<ComparedInput>,
    options: &Bound<'_, PyDict>,
    related: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<PyFindings> {
    let RunArguments { mut find, auto, reading } =
        RunArguments::new(options, &documents, reference.as_ref())?;
    find.related = related;
    let ids = IdKind::of(&documents, reference.as_ref());
    let inputs = Arc::new(ComparedInputs::new(py, &documents, reference.as_ref(), reading)?);
    if auto.is_some() {
        inputs.refuse_streams("bands='auto'")?;
    }
    let run = inputs.run.clone();
    let (findings, options, rows) = call::reading(py, progress.as_ref(), move |watch| {
        let reading = run.reading.clone();
        let outcome = FindRequest::new(run, find, auto).open()?.run(watch)?;
        let rows = RowNumbers::of(ids, &reading, &outcome.findings)?;
        Ok((outcome.findings, outcome.options, rows))
    })?;
    let findings = Arc::new(findings);
    let run = RunFindings { findings, options, rows };
    Ok(PyFindings { run, inputs, of_index: false })
}

/// The fields that documents need for `keep` and `source_field`, in addition to id and text.
#[pyfunction]
pub(crate) fn fields(options: &Bound<'_, PyDict>) -> PyResult<Vec<String>> {
    let options = KeywordOptions::new(options)?;
    let (find, _) = options.run(options.normalization()?)?;
    Ok(find.fields())
}

#[pymethods]
impl PyFindings {
    /// A row for each document of a group: `group`, `id`, `role`, `keeper`, `jaccard` (and
    /// `containment`). For documents in memory also `row` and `keeper_row`, which are null for
    /// documents of a reference.
    fn groups(&self, py: Python<'_>) -> PyResult<ArrowTable> {
        py.detach(|| GroupColumns::of(&self.run)).map_err(run_error)?.table(&self.run)
    }

    /// Returns the user decisions in force about two documents. The first value is the judgment of
    /// the pair (true for duplicates) with the line of this decision. The other values are, for
    /// each document, the line of a decision to keep it.
    fn judged(&self, a: &str, b: &str) -> (Option<(bool, u64)>, Option<u64>, Option<u64>) {
        let Some(decisions) = &self.run.options.decisions else { return (None, None, None) };
        let displayed = |id| self.run.rows.ids.display_id(id);
        let kept = |id| decisions.kept.iter().find(|kept| displayed(&kept.id) == id);
        let pair = decisions.pairs.iter().find(|pair| {
            let [first, second] = pair.documents.each_ref().map(|id| displayed(id));
            [a, b] == [first, second] || [b, a] == [first, second]
        });
        let judged = pair.map(|pair| (pair.is_duplicate, pair.line));
        (judged, kept(a).map(|kept| kept.line), kept(b).map(|kept| kept.line))
    }

    /// A row for each verified pair: `id_a`, `id_b`, `jaccard` (and `containment`). With estimates
    /// also `estimated_jaccard`, `error`, `standard_error`.
    fn pairs(&self, py: Python<'_>) -> PyResult<ArrowTable> {
        let Some(pairs) = &self.run.findings.pairs else {
            return Err(OptionError::new_err("pairs were not requested; find with pairs=True"));
        };
        let measures = self.run.measures();
        let columns = py.detach(|| {
            let mut a = self.run.rows.id_column();
            let mut b = self.run.rows.id_column();
            let mut units = [(); 2].map(|()| UnitColumns::new(&self.run.rows));
            let mut similarities = SimilarityColumns::new(measures);
            let mut estimates: [Float64Builder; 3] = Default::default();
            let mut cursor = pairs.cursor();
            while let Some(pair) = cursor.next_pair().map_err(FindError::of_io)? {
                a.push(Some(pair.a));
                b.push(Some(pair.b));
                similarities.push(Some(&pair.overlap));
                if let Some([of_a, of_b]) = pair.units {
                    units[0].push(pair.a, Some(of_a));
                    units[1].push(pair.b, Some(of_b));
                }
                let values = pair.estimate.iter().flat_map(|e| e.rounded(&pair.overlap));
                for (column, value) in estimates.iter_mut().zip(values) {
                    column.append_value(value);
                }
            }
            Ok::<_, FindError>((a, b, similarities, estimates, units))
        });
        let (mut a, mut b, similarities, mut estimates, units) = columns.map_err(run_error)?;
        let mut columns = vec![("id_a", a.finish(), false), ("id_b", b.finish(), false)];
        columns.extend(similarities.finish(false));
        if pairs.has_estimates() {
            let columns_of_estimates = ESTIMATE_COLUMNS.iter().zip(&mut estimates);
            columns.extend(
                columns_of_estimates
                    .map(|(name, column)| (*name, Arc::new(column.finish()) as ArrayRef, false)),
            );
        }
        let units = units.into_iter().zip(unit_columns::OF_PAIRS);
        columns.extend(units.flat_map(|(units, names)| units.finish(names)));
        ArrowTable::new(columns)
    }

    /// Returns true if the run listed pairs.
    fn has_pairs(&self) -> bool {
        self.run.findings.pairs.is_some()
    }

    /// A row for each skipped record: `source`, `line` (from 1), `id`, `reason`, and for documents
    /// in memory `row` (from 0).
    fn skipped(&self, py: Python<'_>) -> PyResult<ArrowTable> {
        let RunFindings { findings, rows, .. } = &self.run;
        py.detach(|| skipped::columns(findings, rows.ids)).map_err(run_error)?.table()
    }

    /// A row for each document without a token: `id`, and `same_text_as`, the id of the first
    /// document with the same text.
    fn empty(&self, py: Python<'_>) -> PyResult<ArrowTable> {
        let ids = py.detach(|| {
            let mut ids = self.run.rows.id_column();
            let mut firsts = self.run.rows.id_column();
            let copies = self.run.findings.textless_copies.empty_copies();
            for each in copies.join(self.run.findings.empty.iter()) {
                let (id, first) = each.map_err(FindError::of_io)?;
                ids.push(Some(&id));
                firsts.push(first.as_deref());
            }
            Ok::<_, FindError>((ids, firsts))
        });
        let (mut ids, mut firsts) = ids.map_err(run_error)?;
        let ids = ids.finish();
        let firsts = firsts.finish();
        ArrowTable::new(vec![("id", ids, false), ("same_text_as", firsts, true)])
    }

    /// The outcome of each row of documents in memory, in order: `kept`, `group`, `keeper` (an id),
    /// the similarity with the keeper, `reason`, `neighbour` (an id), the similarity with the
    /// neighbour, and `group_size`. `rows` is the number of rows.
    fn decisions(&self, py: Python<'_>, rows: usize) -> PyResult<ArrowTable> {
        let columns = py.detach(|| OutcomeColumns::of(&self.run, rows)).map_err(run_error)?;
        columns.table(self.run.options.params.measure())
    }

    /// All counts of the run.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = &self.run.findings.counts;
        let all = [
            ("documents", counts.documents),
            ("reference", counts.reference),
            ("empty", counts.empty),
            ("skipped", counts.skipped),
            ("copies", counts.copies),
            ("candidates", counts.candidates),
            ("verified", counts.verified),
            ("groups", counts.groups),
            ("duplicates", counts.duplicates),
        ];
        let dict = PyDict::new(py);
        all.iter().try_for_each(|(name, count)| dict.set_item(name, count))?;
        Ok(dict)
    }

    /// The effects of user decisions as JSON, in the format of reports. `None` without decisions.
    fn decision_counts(&self) -> PyResult<Option<String>> {
        let decisions = self.run.findings.decisions.as_ref();
        let ids = self.run.rows.ids;
        decisions.map(|decisions| crate::input::reviewed::counts(decisions, ids)).transpose()
    }

    /// A row for each source, in reading order: `source`, `reference`, and the numbers `documents`,
    /// `bytes`, `duplicates` and `duplicate_bytes`.
    fn sources(&self) -> PyResult<ArrowTable> {
        let mut names = TextColumn::default();
        let mut references = BooleanBuilder::new();
        let mut numbers: [UInt64Builder; 4] = Default::default();
        for source in &self.run.findings.sources {
            let SourceCounts { name, documents, bytes, duplicates, duplicate_bytes, reference } =
                source;
            names.push(Some(name));
            references.append_value(*reference);
            let counts = [documents, bytes, duplicates, duplicate_bytes];
            numbers.iter_mut().zip(counts).for_each(|(column, count)| column.append_value(*count));
        }
        let references = Arc::new(references.finish()) as ArrayRef;
        let mut columns = vec![("source", names.finish(), false), ("reference", references, false)];
        columns.extend(named(["documents", "bytes", "duplicates", "duplicate_bytes"], numbers));
        ArrowTable::new(columns)
    }

    /// Counts of text cut from mail messages: messages with quotations, messages with signatures,
    /// and the words and bytes of the signatures.
    fn cut_from_mail<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let cut = &self.run.findings.cut_from_mail;
        let dict = PyDict::new(py);
        dict.set_item("quoting_messages", cut.quoting_messages)?;
        dict.set_item("signed_messages", cut.signed_messages)?;
        dict.set_item("signature_words", cut.signature_words)?;
        dict.set_item("signature_bytes", cut.signature_bytes)?;
        Ok(dict)
    }

    /// The effect of the normal form `fold` on a sample of the documents.
    fn folding<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        crate::tune::folding(py, &self.run.findings.folding)
    }

    /// The parameters of the run, with the predicted recall.
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        crate::parameters::of_run(py, &self.run.options)
    }

    /// Returns a setting that finds more, if the run found few groups: JSON in the format of
    /// `docs/reference/report.md`, and the changed options as arguments of `find`.
    fn better_setting<'py>(&self, py: Python<'py>) -> PyResult<BetterSettingTuple<'py>> {
        crate::parameters::better_setting(py, self.run.findings.better_setting.as_ref())
    }

    /// The stages of the run in order, with their times in seconds.
    fn times(&self) -> Vec<(String, f64)> {
        let times = self.run.findings.times.iter();
        times.map(|(stage, elapsed)| (stage.to_string(), elapsed.as_secs_f64())).collect()
    }

    /// A row for each of `rows` documents in memory, after the removal of duplicate units: `kept`,
    /// and `text`, which is null if the text is unchanged.
    fn texts_left(&self, py: Python<'_>, rows: usize) -> PyResult<ArrowTable> {
        let remaining = py.detach(|| RemainingTexts::of_units(&self.run.findings, rows));
        remaining.map_err(run_error)?.table()
    }

    /// Returns the text of the document `id`. Without an id, returns the text of row `row` of
    /// documents in memory, or of the document number `row` of files.
    #[pyo3(signature = (row, id=None))]
    fn text(
        &self,
        py: Python<'_>,
        row: Option<u64>,
        id: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        if self.of_index {
            return Err(OptionError::new_err(
                "the documents of these groups are in an index; read a text with \
                 index.get(id).text, if the index was created with store=\"texts\"",
            ));
        }
        self.inputs.refuse_elsewhere()?;
        let document = self.run.rows.find(py, &self.run.findings, row, id)?;
        py.detach(|| self.run.findings.text(document)).map_err(run_error)
    }

    /// Measures the recall of the run on documents drawn at random. Returns JSON.
    #[pyo3(signature = (options, sample, confidence, progress=None))]
    fn audit(
        &self,
        py: Python<'_>,
        options: &Bound<'_, PyDict>,
        sample: usize,
        confidence: f64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        if self.of_index {
            return Err(OptionError::new_err(
                "the documents of these groups are in an index, which cannot be audited; audit the \
                 groups of find() for the same documents",
            ));
        }
        self.inputs.refuse_streams("an audit")?;
        self.inputs.refuse_elsewhere()?;
        let keywords = KeywordOptions::new(options)?;
        let seed = keywords.integer("seed")?.unwrap_or(1);
        let threads = keywords.threads_or(|| self.run.options.threads)?;
        keywords.finish()?;
        let audit_options = crate::audit::options(sample, seed, confidence, threads)?;
        let inputs = Arc::clone(&self.inputs);
        let findings = Arc::clone(&self.run.findings);
        let options = self.run.options.clone();
        call::reading(py, progress.as_ref(), move |watch| {
            let open = || inputs.open();
            let (audit, _) = audit_findings(&findings, &options, open, &audit_options, watch)?;
            crate::audit::json(&audit, &options.params)
        })
    }

    /// Writes groups, pairs, skipped records or the report, as the command line does.
    fn write(&self, py: Python<'_>, what: &str, path: std::path::PathBuf) -> PyResult<()> {
        self.inputs.check_output(&path)?;
        let [inputs, reference] = self.inputs.run.paths();
        let RunFindings { findings, options, .. } = &self.run;
        let subject = RunSubject { findings, options, inputs, reference, audit: None };
        py.detach(|| crate::results::files::write(what, &path, &subject))
    }

    fn __repr__(&self) -> String {
        let counts = &self.run.findings.counts;
        format!(
            "<{} documents, {} groups, {} duplicates>",
            counts.documents, counts.groups, counts.duplicates
        )
    }
}

impl PyFindings {
    /// Returns the findings, the inputs opened again, and the options of the run.
    ///
    /// # Errors
    /// If the inputs cannot be read.
    pub(crate) fn reopened(&self) -> Result<(&Findings, Collection, &FindOptions), ReadError> {
        Ok((&self.run.findings, self.inputs.open()?, &self.run.options))
    }

    /// The findings of a run among the documents of an index.
    pub(crate) fn of_index(findings: Findings, options: FindOptions) -> Self {
        let inputs = Arc::new(ComparedInputs::empty());
        let findings = Arc::new(findings);
        let run = RunFindings { findings, options, rows: RowNumbers::of_files() };
        Self { run, inputs, of_index: true }
    }
}

struct GroupColumns {
    groups: UInt64Builder,
    ids: IdColumn,
    roles: TextColumn,
    keepers: IdColumn,
    similarities: SimilarityColumns,
    units: UnitColumns,
    rows: UInt64Builder,
    keeper_rows: UInt64Builder,
}

impl GroupColumns {
    fn of(found: &RunFindings) -> Result<Self, Error> {
        let mut columns = Self {
            groups: UInt64Builder::new(),
            ids: found.rows.id_column(),
            roles: TextColumn::default(),
            keepers: found.rows.id_column(),
            similarities: SimilarityColumns::new(found.measures()),
            units: UnitColumns::new(&found.rows),
            rows: UInt64Builder::new(),
            keeper_rows: UInt64Builder::new(),
        };
        for (number, group) in (1u64..).zip(found.findings.groups.iter()) {
            let group = group.map_err(FindError::of_io)?;
            let keeper = &group.keeper;
            let keeper_row = found.rows.row(keeper.document, keeper.reference);
            columns.units.push(&keeper.id, keeper.unit);
            columns.push(number, &keeper.id, (&keeper.id, keeper_row), keeper_row, None);
            for duplicate in &group.duplicates {
                let row = found.rows.row(duplicate.document, false);
                let overlap = Some(&duplicate.overlap);
                columns.units.push(&duplicate.id, duplicate.unit);
                columns.push(number, &duplicate.id, (&keeper.id, keeper_row), row, overlap);
            }
        }
        Ok(columns)
    }

    fn push(
        &mut self,
        group: u64,
        id: &str,
        keeper: (&str, Option<u64>),
        row: Option<u64>,
        overlap: Option<&Overlap>,
    ) {
        self.groups.append_value(group);
        self.ids.push(Some(id));
        self.roles.push(Some(if overlap.is_some() { "duplicate" } else { "keeper" }));
        self.keepers.push(Some(keeper.0));
        self.similarities.push(overlap);
        self.rows.append_option(row);
        self.keeper_rows.append_option(keeper.1);
    }

    fn table(mut self, found: &RunFindings) -> PyResult<ArrowTable> {
        let mut columns: Vec<(&str, ArrayRef, bool)> = vec![
            ("group", Arc::new(self.groups.finish()), false),
            ("id", self.ids.finish(), false),
            ("role", self.roles.finish(), false),
            ("keeper", self.keepers.finish(), false),
        ];
        columns.extend(self.similarities.finish(true));
        columns.extend(self.units.finish(unit_columns::OF_DOCUMENTS));
        if found.rows.ids.is_held() {
            columns.push(("row", Arc::new(self.rows.finish()), true));
            columns.push(("keeper_row", Arc::new(self.keeper_rows.finish()), true));
        }
        ArrowTable::new(columns)
    }
}

/// Returns the error for a state that cannot occur unless lookalike has a bug.
pub(crate) fn unexpected(detail: &str) -> PyErr {
    LookalikeError::new_err(format!("{detail}. This is a bug in lookalike; please report it"))
}
