//! `lines`: converts sorted rows to the bytes of reports.

use super::columns::StageTable;
use crate::error::{DocumentError, OptionError, params_error};
use crate::input::text::TextRows;
use lookalike::core::params::Measure;
use lookalike::core::verify::Overlap;
use lookalike::shard::{GroupLines, MemberRole, MemberRow, PairLines, PairRow, SimilarityRank};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io;

/// Returns the lines of groups, as `find -o` writes them. The rows have the kind `member`, are
/// sorted and begin with a keeper. The first group receives the number `first`.
#[pyfunction]
pub(crate) fn group_lines<'py>(
    py: Python<'py>,
    rows: &Bound<'py, PyAny>,
    measure: &str,
    format: &str,
    first: u64,
    header: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let measure = parsed(measure)?;
    let mut table = StageTable::of(rows)?;
    let [keepers, roles, ids] = texts(&mut table, ["keeper", "role", "id"], py)?;
    let references = table.flags("reference")?;
    let overlaps = overlaps(&mut table)?;
    let lines = match format {
        "csv" => GroupLines::csv(measure, first, header),
        "jsonl" => Ok(GroupLines::jsonl(measure, first)),
        got => {
            let text = format!("format: expected 'csv' or 'jsonl', got '{got}'");
            return Err(OptionError::new_err(text));
        }
    };
    let bytes = py.detach(|| -> io::Result<Vec<u8>> {
        let mut lines = lines?;
        for (row, (overlap, reference)) in overlaps.iter().zip(references).enumerate() {
            let is_keeper = roles.bytes(row) == Some(b"keeper");
            lines.push(&MemberRow {
                // The size and the rank only determine the order of rows, and the
                // rows are already sorted.
                size: 0,
                rank: SimilarityRank::GREATEST,
                keeper: text(&keepers, row)?,
                reference,
                role: if is_keeper { MemberRole::Keeper } else { MemberRole::Duplicate },
                id: text(&ids, row)?,
                overlap: *overlap,
            })?;
        }
        lines.finish()
    });
    let bytes = bytes.map_err(|error| DocumentError::new_err(error.to_string()))?;
    Ok(PyBytes::new(py, &bytes))
}

/// Returns the lines of pairs, as `find --pairs` writes them, from sorted rows of the kind `pair`.
#[pyfunction]
pub(crate) fn pair_lines<'py>(
    py: Python<'py>,
    rows: &Bound<'py, PyAny>,
    measure: &str,
    header: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let measure = parsed(measure)?;
    let mut table = StageTable::of(rows)?;
    let [a, b] = texts(&mut table, ["keeper", "id"], py)?;
    let overlaps = overlaps(&mut table)?;
    let bytes = py.detach(|| -> io::Result<Vec<u8>> {
        let mut lines = PairLines::new(measure, header);
        for (row, overlap) in overlaps.iter().enumerate() {
            let overlap = overlap.ok_or_else(|| io::Error::other("a pair has no overlap"))?;
            lines.push(&PairRow { a: text(&a, row)?, b: text(&b, row)?, overlap });
        }
        Ok(lines.finish())
    });
    let bytes = bytes.map_err(|error| DocumentError::new_err(error.to_string()))?;
    Ok(PyBytes::new(py, &bytes))
}

fn parsed(measure: &str) -> PyResult<Measure> {
    measure.parse().map_err(|error| params_error(&error))
}

fn texts<const N: usize>(
    table: &mut StageTable,
    names: [&str; N],
    py: Python<'_>,
) -> PyResult<[TextRows; N]> {
    let columns = names.map(|name| TextRows::of_arrow(table.column(name)?, name, py));
    let columns: Vec<TextRows> = columns.into_iter().collect::<PyResult<_>>()?;
    columns.try_into().map_err(|_| crate::find::unexpected("a column is missing"))
}

/// Reads the overlaps of rows. A row without an intersection has none.
fn overlaps(table: &mut StageTable) -> PyResult<Vec<Option<Overlap>>> {
    let names = ["intersection", "left", "right"];
    let [intersection, left, right] = names.map(|name| table.integers(name));
    let left = left?;
    let right = right?;
    let unsigned = |number: Option<i64>| number.unwrap_or_default().cast_unsigned();
    let rows = intersection?.into_iter().zip(left.into_iter().zip(right));
    Ok(rows
        .map(|(intersection, (left, right))| {
            let intersection = intersection?.cast_unsigned();
            Some(Overlap { intersection, left: unsigned(left), right: unsigned(right) })
        })
        .collect())
}

fn text(rows: &TextRows, row: usize) -> io::Result<&str> {
    let bytes = rows.bytes(row).ok_or_else(|| io::Error::other(format!("row {row} has no id")))?;
    std::str::from_utf8(bytes).map_err(io::Error::other)
}
