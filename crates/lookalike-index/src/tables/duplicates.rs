//! Documents that were dropped as duplicates: the table `duplicates`.

use super::write_plan::WritePlan;
use super::{Effect, Keys, SideTable, TableRow, Tables, Value};
use crate::backend::IndexProblem;
use crate::checksum;
use crate::duplicate_table::{DuplicateCallback, DuplicateEntry};
use crate::entry::{DocumentNumber, shortened_id};
use crate::error::IndexError;
use lookalike_core::hash::token_hash;
use std::collections::{BTreeSet, HashMap};

pub(crate) const DUPLICATES: SideTable =
    SideTable { name: "duplicates", columns: &["id", "keeper", "checksum"], id: Some(0) };

/// The sizes of the groups of documents, in the order of `numbers`.
///
/// # Errors
/// As [`SideTables::group_sizes`](crate::backend::SideTables::group_sizes).
pub(super) fn group_sizes(
    tables: Tables<'_>,
    numbers: &[DocumentNumber],
) -> Result<Vec<u64>, IndexError> {
    let sql = "SELECT keeper, count(*) FROM duplicates WHERE {keys} GROUP BY keeper";
    let keepers = signed(numbers);
    let counts =
        tables.rows_of(DUPLICATES.name, sql, Keys::Numbers("keeper", &keepers), |row| {
            Ok((row.document(0)?, row.unsigned(1)?))
        })?;
    let counts: HashMap<DocumentNumber, u64> = counts.into_iter().collect();
    Ok(numbers.iter().map(|number| 1 + counts.get(number).unwrap_or(&0)).collect())
}

/// Passes the duplicates of documents to `each`, by keeper and id.
///
/// # Errors
/// As [`SideTables::duplicates`](crate::backend::SideTables::duplicates).
pub(super) fn read(
    tables: Tables<'_>,
    numbers: &[DocumentNumber],
    each: DuplicateCallback<'_>,
) -> Result<(), IndexError> {
    let sql = "SELECT id, keeper, checksum, {id_key} FROM duplicates WHERE {keys} \
               ORDER BY keeper, id";
    let keepers = signed(numbers);
    tables.each_of(DUPLICATES.name, sql, Keys::Numbers("keeper", &keepers), &mut |row| {
        verify(row)?;
        each(row.document(1)?, row.text(0)?)
    })
}

fn signed(numbers: &[DocumentNumber]) -> Vec<i64> {
    numbers.iter().filter_map(|number| i64::try_from(number.0).ok()).collect()
}

/// Checks the checksum of a row. A row with a wrong `id_key` is also damaged, because a search for
/// its id does not find the row.
fn verify(row: &dyn TableRow) -> Result<(), IndexError> {
    let id = row.text(0)?;
    let keeper = row.unsigned(1)?;
    let is_sound = row.unsigned(2)? == checksum::content(keeper, id.as_bytes());
    let has_key = |key: i64| key.cast_unsigned() == token_hash(id.as_bytes());
    if is_sound && row.optional(3)?.is_none_or(has_key) {
        return Ok(());
    }
    Err(IndexError::damaged(
        format!("duplicate {:?} of document {keeper}", shortened_id(id)),
        "the checksum of its row is wrong; restore a backup, or remove its keeper and add it again",
    ))
}

/// The ids that are recorded as duplicates.
///
/// # Errors
/// Read errors.
pub(crate) fn among(tables: Tables<'_>, ids: &[&str]) -> Result<BTreeSet<String>, IndexError> {
    Ok(keepers(tables, ids)?.into_keys().collect())
}

/// The keepers of the ids that are recorded as duplicates.
fn keepers(tables: Tables<'_>, ids: &[&str]) -> Result<HashMap<String, i64>, IndexError> {
    let sql = "SELECT id, keeper FROM duplicates WHERE {keys}";
    let rows = tables.rows_of(DUPLICATES.name, sql, Keys::Ids(ids), |row| {
        Ok((row.text(0)?.to_owned(), row.integer(1)?))
    })?;
    Ok(rows.into_iter().collect())
}

/// Records duplicates. Returns the number of duplicates that had no keeper before.
pub(super) fn add(
    tables: Tables<'_>,
    entries: &[DuplicateEntry<'_>],
) -> Result<(u64, Effect), IndexError> {
    let mut ids: Vec<&str> = entries.iter().flat_map(|entry| [entry.id, entry.keeper]).collect();
    ids.sort_unstable();
    ids.dedup();
    let documents: HashMap<String, i64> = tables.documents(&ids)?.into_iter().collect();
    let mut recorded = keepers(tables, &ids)?;
    let mut changed = HashMap::<&str, i64>::new();
    let mut count = 0;
    for entry in entries {
        let keeper = documents.get(entry.keeper).copied();
        let Some(keeper) = keeper.filter(|_| !documents.contains_key(entry.id)) else { continue };
        let former = recorded.insert(entry.id.to_owned(), keeper);
        count += u64::from(former.is_none());
        if former != Some(keeper) {
            changed.insert(entry.id, keeper);
        }
    }
    // In the order of the entries, so that equal input produces equal bytes.
    let changed = entries.iter().filter_map(|entry| changed.remove_entry(entry.id));
    let changed: Vec<(&str, i64)> = changed.collect();
    replace_rows(tables, &changed)?;
    Ok((count, Effect::visible_if(!changed.is_empty())))
}

/// Replaces the rows of these ids.
fn replace_rows(tables: Tables<'_>, rows: &[(&str, i64)]) -> Result<(), IndexError> {
    let ids: Vec<&str> = rows.iter().map(|(id, _)| *id).collect();
    remove(tables, &ids)?;
    let mut rows = rows.iter().map(|(id, keeper)| {
        let sum = checksum::content(keeper.cast_unsigned(), id.as_bytes());
        vec![Value::Text(id), Value::Integer(*keeper), Value::unsigned(sum)]
    });
    tables.insert(&DUPLICATES, &mut rows)
}

fn remove(tables: Tables<'_>, ids: &[&str]) -> Result<(), IndexError> {
    let sql = "DELETE FROM duplicates WHERE {keys}";
    tables.each_of(DUPLICATES.name, sql, Keys::Ids(ids), &mut |_| Ok(()))
}

/// Applies the effects of a batch of changes to documents with these ids. Removes the duplicates of
/// a removed document, and the duplicates with these ids. If a document replaces one with the same
/// shingles, the new document becomes the keeper of the duplicates.
///
/// # Errors
/// Errors of the database.
pub(crate) fn follow(tables: Tables<'_>, ids: &[&str], plan: &WritePlan) -> Result<(), IndexError> {
    remove(tables, ids)?;
    let removed = remove_groups(tables, &plan.removed)?;
    let moved: HashMap<i64, i64> = plan.moved.iter().copied().collect();
    let kept = removed.iter().filter_map(|(id, keeper)| Some((&id[..], *moved.get(keeper)?)));
    replace_rows(tables, &kept.collect::<Vec<_>>())
}

/// Removes the duplicates of documents. Returns their ids and keepers.
///
/// # Errors
/// Errors of the database.
pub(crate) fn remove_groups(
    tables: Tables<'_>,
    documents: &[i64],
) -> Result<Vec<(String, i64)>, IndexError> {
    let sql = "DELETE FROM duplicates WHERE {keys} RETURNING id, keeper";
    tables.rows_of(DUPLICATES.name, sql, Keys::Numbers("keeper", documents), |row| {
        Ok((row.text(0)?.to_owned(), row.integer(1)?))
    })
}

/// Returns true if any duplicate is recorded.
///
/// # Errors
/// Read errors.
#[cfg(feature = "sqlite")]
pub(crate) fn any(tables: Tables<'_>) -> Result<bool, IndexError> {
    Ok(tables.integer(DUPLICATES.name, "SELECT 1 FROM duplicates LIMIT 1")? == 1)
}

/// Removes rows whose keeper was removed.
///
/// # Errors
/// Errors of the database.
pub(crate) fn remove_orphans(tables: Tables<'_>) -> Result<(), IndexError> {
    let sql = "DELETE FROM duplicates WHERE NOT EXISTS \
               (SELECT 1 FROM docs WHERE docs.doc = duplicates.keeper)";
    tables.execute(DUPLICATES.name, sql, &[])
}

/// Checks the rows, and that their keepers exist.
///
/// # Errors
/// Read errors. Damage is reported as a problem instead.
pub(super) fn check(
    tables: Tables<'_>,
    problems: &mut Vec<IndexProblem>,
) -> Result<(), IndexError> {
    let mut push = |what: String, repairable: bool| {
        problems.push(IndexProblem { place: DUPLICATES.name.to_owned(), what, repairable });
    };
    let sql = "SELECT id, keeper, checksum, {id_key} FROM duplicates";
    tables.each(DUPLICATES.name, sql, &[], &mut |row| match verify(row) {
        Err(IndexError::Damaged { what, why }) => {
            push(format!("{what}: {why}"), false);
            Ok(())
        }
        other => other,
    })?;
    let orphans = tables.integer(
        DUPLICATES.name,
        "SELECT count(*) FROM duplicates WHERE NOT EXISTS \
         (SELECT 1 FROM docs WHERE docs.doc = duplicates.keeper)",
    )?;
    if orphans > 0 {
        push(format!("{orphans} rows have a keeper that does not exist"), true);
    }
    Ok(())
}
