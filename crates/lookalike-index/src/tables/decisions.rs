//! The log of decisions: the table `decisions`.

use super::{Effect, Keys, SideTable, Tables, Value};
use crate::backend::IndexProblem;
use crate::checksum;
use crate::decision_log::{DecisionCallback, MAX_DECISION_BYTES};
use crate::error::IndexError;

pub(crate) const DECISIONS: SideTable =
    SideTable { name: "decisions", columns: &["number", "json", "checksum"], id: None };

/// Passes at most `most` entries with numbers above `after` to `each`. Returns how many there were.
///
/// # Errors
/// As [`SideTables::decisions`](crate::backend::SideTables::decisions).
pub(crate) fn read(
    tables: Tables<'_>,
    after: u64,
    most: usize,
    each: DecisionCallback<'_>,
) -> Result<usize, IndexError> {
    let mut last = i64::try_from(after).unwrap_or(i64::MAX);
    let mut count = 0;
    let sql = "SELECT number, json, checksum FROM decisions WHERE number > $1 \
               ORDER BY number LIMIT $2";
    let values = [Value::Integer(last), Value::clamped(most as u64)];
    tables.each(DECISIONS.name, sql, &values, &mut |row| {
        last = row.later(0, last)?;
        let number = last.cast_unsigned();
        let json = row.text(1)?;
        if row.unsigned(2)? != checksum::content(number, json.as_bytes()) {
            return Err(IndexError::damaged(format!("decision {number}"), "its checksum is wrong"));
        }
        count += 1;
        each(number, json)
    })?;
    Ok(count)
}

/// Checks that entries can be stored.
///
/// # Errors
/// [`IndexError::Decision`].
pub(super) fn check_entries(entries: &[&str]) -> Result<(), IndexError> {
    let most = MAX_DECISION_BYTES;
    match entries.iter().position(|entry| entry.len() > most) {
        Some(position) => {
            Err(IndexError::Decision { position, got: entries[position].len(), most })
        }
        None => Ok(()),
    }
}

/// Adds entries, and returns the number of the last one; `None` if an entry has a number above
/// `last`.
pub(super) fn add(
    tables: Tables<'_>,
    entries: &[&str],
    last: Option<u64>,
) -> Result<(Option<u64>, Effect), IndexError> {
    let before = last_number(tables)?.cast_unsigned();
    if last.is_some_and(|last| before > last) {
        return Ok((None, Effect::Nothing));
    }
    let mut rows = (before + 1..).zip(entries).map(|(number, entry)| {
        let sum = checksum::content(number, entry.as_bytes());
        vec![Value::unsigned(number), Value::Text(entry), Value::unsigned(sum)]
    });
    tables.insert(&DECISIONS, &mut rows)?;
    Ok((Some(before + entries.len() as u64), Effect::visible_if(!entries.is_empty())))
}

/// Removes entries except the last one. Returns the number of removed entries.
pub(super) fn remove(tables: Tables<'_>, numbers: &[u64]) -> Result<(u64, Effect), IndexError> {
    let last = last_number(tables)?;
    let numbers = numbers.iter().map(|number| number.cast_signed());
    let numbers: Vec<i64> = numbers.filter(|number| *number != last).collect();
    let sql = "DELETE FROM decisions WHERE {keys} RETURNING number";
    let keys = Keys::Numbers("number", &numbers);
    let removed = tables.rows_of(DECISIONS.name, sql, keys, |row| row.integer(0))?.len() as u64;
    Ok((removed, Effect::visible_if(removed > 0)))
}

/// The number of the last entry; 0 in an empty log.
fn last_number(tables: Tables<'_>) -> Result<i64, IndexError> {
    tables.integer(DECISIONS.name, "SELECT coalesce(max(number), 0) FROM decisions")
}

/// Checks all entries.
///
/// # Errors
/// Read errors. Damage is reported as a problem instead.
pub(super) fn check(
    tables: Tables<'_>,
    problems: &mut Vec<IndexProblem>,
) -> Result<(), IndexError> {
    IndexProblem::collect(read(tables, 0, usize::MAX, &mut |_, _| Ok(())).map(drop), problems)
}
