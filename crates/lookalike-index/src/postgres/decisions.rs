//! Reads the log of decisions: the table `decisions`.

use super::pool::PooledConnection;
use super::row::column;
use crate::decision_log::{self, DecisionCallback};
use crate::error::IndexError;

/// Gives at most `most` entries that are numbered above `after` to `each`.
///
/// # Errors
/// As [`Snapshot::decisions`](crate::backend::Snapshot::decisions).
pub(super) fn read(
    connection: &mut PooledConnection,
    (after, most): (u64, usize),
    each: DecisionCallback<'_>,
) -> Result<usize, IndexError> {
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let sql = "SELECT number, json, checksum FROM decisions WHERE number > $1 \
               ORDER BY number LIMIT $2";
    let mut count = 0;
    connection.stream(sql, &[&after, &most], |row| {
        let number = column::<i64>(row, "decisions", 0)?.cast_unsigned();
        let json: &str = column(row, "decisions", 1)?;
        let sum = column::<i64>(row, "decisions", 2)?.cast_unsigned();
        decision_log::verify(number, json, sum)?;
        count += 1;
        each(number, json)
    })?;
    Ok(count)
}
