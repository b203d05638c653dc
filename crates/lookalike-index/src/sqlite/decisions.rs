//! Reads the log of decisions, the table `decisions`.

use super::index_folder::IndexFolder;
use crate::decision_log::{self, DecisionCallback};
use crate::error::IndexError;
use rusqlite::Connection;

/// Gives at most `most` entries that are numbered above `after` to `each`.
///
/// # Errors
/// As [`Snapshot::decisions`](crate::backend::Snapshot::decisions).
pub(super) fn read(
    place: &IndexFolder,
    connection: &Connection,
    (after, most): (u64, usize),
    each: DecisionCallback<'_>,
) -> Result<usize, IndexError> {
    let failed = |error| place.database(error);
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let sql = "SELECT number, json, checksum FROM decisions WHERE number > ?1
        ORDER BY number LIMIT ?2";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let mut rows = statement.query([after, most]).map_err(failed)?;
    let (mut count, mut last) = (0, after);
    while let Some(row) = rows.next().map_err(failed)? {
        let entry = || -> rusqlite::Result<(u64, &str, u64)> {
            let number = row.get::<_, i64>(0)?.cast_unsigned();
            Ok((number, row.get_ref(1)?.as_str()?, row.get::<_, i64>(2)?.cast_unsigned()))
        };
        let (number, json, sum) = entry().map_err(failed)?;
        last = place.later("decisions", last, number.cast_signed())?;
        decision_log::verify(number, json, sum)?;
        each(number, json)?;
        count += 1;
    }
    Ok(count)
}
