//! Writes the categories of an index as a table of its documents.

use super::index_categories::IndexCategories;
use crate::engine::FindError;
use crate::report::csv::{self, CellRule};
use lookalike_index::IndexError;
use lookalike_index::backend::Snapshot;
use lookalike_index::entry::{DocumentNumber, RecordFields};
use std::collections::HashMap;
use std::io::{self, Write};

/// The number of documents per batch.
const BATCH: usize = 1024;

/// Writes the category of each document of a snapshot as CSV, in the order of document numbers. The
/// columns are `id`, `cluster` (the topic), `category` (the path) and `label`. Leaves out documents
/// that have expired by `now` (in ns since 1970). Returns the number of rows. Documents without a
/// category have `none` as cluster and category. `evaluate` reads the table as groups.
///
/// # Errors
/// Errors of reading the index. The outer result reports errors of writing.
pub fn category_rows(
    categories: &IndexCategories,
    snapshot: &mut dyn Snapshot,
    now: i64,
    cells: CellRule,
    out: &mut dyn Write,
) -> io::Result<Result<u64, FindError>> {
    let mut table = csv::writer(out);
    table.write_record(["id", "cluster", "category", "label"])?;
    let mut after = DocumentNumber(0);
    let mut count = 0;
    loop {
        let rows = match rows(categories, snapshot, now, &mut after) {
            Ok(Some(rows)) => rows,
            Ok(None) => break,
            Err(error) => return Ok(Err(error.into())),
        };
        for (id, category) in &rows {
            let category = categories.model().get(*category);
            let path = category.map_or("none", |category| category.path.as_str());
            let cluster = path.split('.').next().unwrap_or(path);
            let label = category.map_or_else(String::new, |category| category.label.join(" "));
            table.write_record([&*cells.text(id), cluster, path, &*cells.text(&label)])?;
        }
        count += rows.len() as u64;
    }
    table.flush()?;
    Ok(Ok(count))
}

/// Returns ids and categories of the next documents numbered above `after`; `None` at the end.
fn rows(
    categories: &IndexCategories,
    snapshot: &mut dyn Snapshot,
    now: i64,
    after: &mut DocumentNumber,
) -> Result<Option<Vec<(String, u32)>>, IndexError> {
    let members = categories.all_members(snapshot, *after, BATCH)?;
    let Some(last) = members.last() else { return Ok(None) };
    *after = last.document;
    let numbers: Vec<DocumentNumber> = members.iter().map(|member| member.document).collect();
    let by_number: HashMap<DocumentNumber, u32> =
        members.iter().map(|member| (member.document, member.category)).collect();
    let mut rows = Vec::with_capacity(members.len());
    snapshot.records(&numbers, RecordFields::default(), &mut |record| {
        if !record.is_expired(now) {
            let category = by_number.get(&record.number).copied().unwrap_or_default();
            rows.push((record.id.clone(), category));
        }
        Ok(())
    })?;
    Ok(Some(rows))
}
