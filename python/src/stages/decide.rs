//! `decide` groups the documents of whole components. `match` compares documents with kept ones.
//! Both return members of groups, pairs and counts.

use super::columns::{integers, optional_integers};
use super::decided_rows::DecidedRows;
use super::decided_tables::{DecidedTables, TakeRows};
use super::plan_options::plan_options;
use crate::call;
use crate::error::DocumentError;
use crate::input::compared_input::ComparedInput;
use crate::input::inputs::ComparedInputs;
use lookalike::core::params::Measure;
use lookalike::error::Error;
use lookalike::find::{FindError, Findings, KeeperChoice};
use lookalike::shard::{self, CheckedDocuments, MemberRole, MemberRow, member_rows, pair_rows};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;

/// Maximum size in bytes of the groups in memory, and of the pairs in memory. Further ones go to
/// temporary files: a component of 10,000 copies has 50 million pairs.
const RESULT_BYTES: u64 = 32 << 20;
/// Maximum number of rows of a table.
const TABLE_ROWS: usize = 1 << 16;

/// Runs `find` on documents of whole components. `checks` is an Arrow array of int64 with the
/// checks of the documents, then of the reference. A check is null if documents share a node.
/// `rows` selects rows of the documents and of the reference: two Arrow arrays of int64.
#[pyfunction]
#[pyo3(signature = (documents, reference, options, checks, rows=None))]
pub(crate) fn decide(
    py: Python<'_>,
    documents: ComparedInput,
    reference: Option<ComparedInput>,
    options: &Bound<'_, PyDict>,
    checks: &Bound<'_, PyAny>,
    rows: Option<(Bound<'_, PyAny>, Bound<'_, PyAny>)>,
) -> PyResult<DecidedTables> {
    let (mut find, reading) = plan_options(py, options)?;
    find.memory.results = Some(RESULT_BYTES);
    let measure = find.params.measure();
    let checks = optional_integers(checks, "checks")?.into_iter();
    let checks: Vec<Option<u64>> = checks.map(|check| check.map(i64::cast_unsigned)).collect();
    let mut inputs = ComparedInputs::new(py, &documents, reference.as_ref(), reading)?;
    if let Some((documents, reference)) = rows {
        inputs.select(row_numbers(&documents)?, row_numbers(&reference)?)?;
    }
    let findings = call::reading(py, None, move |watch| {
        let collection = inputs.open()?;
        let documents = CheckedDocuments { collection: &collection, checks: &checks };
        Ok(documents.decide(&find, watch)?)
    })?;
    DecidedTables::new(move |take| RowTables::new(measure, take).add(&findings))
}

fn row_numbers(rows: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let numbers = integers(rows, "rows")?.into_iter().map(usize::try_from);
    let numbers: Result<Vec<usize>, _> = numbers.collect();
    numbers.map_err(|_| DocumentError::new_err("rows: expected 0 or more, got a negative number"))
}

/// Compares documents with kept documents. If `reference` is true, the kept documents are the
/// reference collection, which precedes all documents in the keep order. Otherwise each kept
/// document has its own place in the order. Returns duplicates, pairs, and counts of the work.
#[pyfunction]
pub(crate) fn match_kept(
    py: Python<'_>,
    documents: ComparedInput,
    kept: ComparedInput,
    options: &Bound<'_, PyDict>,
    reference: bool,
) -> PyResult<DecidedTables> {
    let (mut find, reading) = plan_options(py, options)?;
    find.memory.results = Some(RESULT_BYTES);
    let measure = find.params.measure();
    let inputs = ComparedInputs::new(py, &documents, Some(&kept), reading)?;
    let keepers = if reference { KeeperChoice::Reference } else { KeeperChoice::EarlierReference };
    let findings = call::reading(py, None, move |watch| {
        Ok(shard::match_kept(&inputs.open()?, keepers, &find, watch)?)
    })?;
    DecidedTables::new(move |take| RowTables::new(measure, take).add_matched(&findings, reference))
}

/// Collects rows, and passes them to `take` in tables of at most [`TABLE_ROWS`] rows.
struct RowTables<'a> {
    rows: DecidedRows,
    count: usize,
    take: &'a TakeRows<'a>,
}

impl<'a> RowTables<'a> {
    fn new(measure: Measure, take: &'a TakeRows<'a>) -> Self {
        Self { rows: DecidedRows::new(measure), count: 0, take }
    }

    fn add(mut self, findings: &Findings) -> Result<(), Error> {
        for group in findings.groups.iter() {
            for row in member_rows(&group.map_err(FindError::of_io)?, self.rows.measure) {
                self.rows.push_member(&row);
                self.count_row()?;
            }
        }
        self.push_pairs(findings)?;
        let counts = &findings.counts;
        self.push_note(&json!({"counts": {
            "decided": counts.documents, "copies": counts.copies, "candidates": counts.candidates,
            "verified": counts.verified, "groups": counts.groups, "duplicates": counts.duplicates,
        }}))?;
        for source in findings.sources.iter().filter(|source| source.duplicates > 0) {
            self.push_note(&json!({"source": {
                "source": source.name, "reference": source.reference,
                "duplicates": source.duplicates, "duplicate_bytes": source.duplicate_bytes,
            }}))?;
        }
        self.finish()
    }

    /// Adds the duplicates of kept documents. Does not add the kept documents or count groups,
    /// because later rounds may extend the groups.
    fn add_matched(mut self, findings: &Findings, reference: bool) -> Result<(), Error> {
        for group in findings.groups.iter() {
            for row in member_rows(&group.map_err(FindError::of_io)?, self.rows.measure) {
                if row.role == MemberRole::Duplicate {
                    self.rows.push_member(&MemberRow { reference, ..row });
                    self.count_row()?;
                }
            }
        }
        self.push_pairs(findings)?;
        let counts = &findings.counts;
        self.push_note(&json!({"counts": {
            "candidates": counts.candidates, "verified": counts.verified,
        }}))?;
        self.finish()
    }

    fn push_pairs(&mut self, findings: &Findings) -> Result<(), Error> {
        pair_rows(findings, &mut |pair| {
            self.rows.push_plain("pair", Some((pair.a, pair.b)), Some(&pair.overlap), None);
            self.count_row()
        })
    }

    fn push_note(&mut self, note: &serde_json::Value) -> Result<(), Error> {
        self.rows.push_plain("note", None, None, Some(&note.to_string()));
        self.count_row()
    }

    fn count_row(&mut self) -> Result<(), Error> {
        self.count += 1;
        if self.count < TABLE_ROWS {
            return Ok(());
        }
        self.count = 0;
        let next = DecidedRows::new(self.rows.measure);
        (self.take)(std::mem::replace(&mut self.rows, next))
    }

    fn finish(self) -> Result<(), Error> {
        if self.count == 0 { Ok(()) } else { (self.take)(self.rows) }
    }
}
