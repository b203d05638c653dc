//! Reads categories, the tables `categories` and `category_members`.

use super::index_folder::IndexFolder;
use crate::category_table::{self, CategoryMember, CategoryState};
use crate::error::IndexError;
use rusqlite::{Connection, OptionalExtension, params};

/// Which categories there are.
///
/// # Errors
/// As [`Snapshot::categories`](crate::backend::Snapshot::categories).
pub(super) fn state(
    place: &IndexFolder,
    connection: &Connection,
) -> Result<Option<CategoryState>, IndexError> {
    let read = || -> rusqlite::Result<Option<CategoryState>> {
        let sql = "SELECT number, through FROM categories";
        let state = connection.prepare_cached(sql)?.query_row([], |row| {
            let number = row.get::<_, i64>(0)?.cast_unsigned();
            Ok(CategoryState { number, through: row.get::<_, i64>(1)?.cast_unsigned() })
        });
        state.optional()
    };
    read().map_err(|error| place.database(error))
}

/// The model.
///
/// # Errors
/// As [`Snapshot::category_model`](crate::backend::Snapshot::category_model).
pub(super) fn model(
    place: &IndexFolder,
    connection: &Connection,
) -> Result<Option<Vec<u8>>, IndexError> {
    let failed = |error| place.database(error);
    let sql = "SELECT number, checksum, model FROM categories";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let row = statement.query_row([], |row| {
        let (number, sum) = (row.get::<_, i64>(0)?, row.get::<_, i64>(1)?);
        Ok((number.cast_unsigned(), sum.cast_unsigned(), row.get::<_, Vec<u8>>(2)?))
    });
    let Some((number, sum, model)) = row.optional().map_err(failed)? else { return Ok(None) };
    category_table::verify(number, &model, sum)?;
    Ok(Some(model))
}

/// The number of stored documents of each category that has any, ascending.
///
/// # Errors
/// As [`Snapshot::category_counts`](crate::backend::Snapshot::category_counts).
pub(super) fn counts(
    place: &IndexFolder,
    connection: &Connection,
) -> Result<Vec<(u32, u64)>, IndexError> {
    let read = || -> rusqlite::Result<Vec<(u32, u64)>> {
        let sql = "SELECT category, count(*) FROM category_members GROUP BY category ORDER BY 1";
        let mut statement = connection.prepare_cached(sql)?;
        let count =
            |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned()));
        statement.query_map([], count)?.collect()
    };
    read().map_err(|error| place.database(error))
}

/// At most `most` members numbered above `after` of the categories from `first` to `last`,
/// ascending.
///
/// # Errors
/// As [`Snapshot::category_members`](crate::backend::Snapshot::category_members).
pub(super) fn members(
    place: &IndexFolder,
    connection: &Connection,
    (first, last): (u32, u32),
    (after, most): (u64, usize),
) -> Result<Vec<CategoryMember>, IndexError> {
    let read = || -> rusqlite::Result<Vec<CategoryMember>> {
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let sql = "SELECT doc, category FROM category_members
            WHERE doc > ?1 AND category BETWEEN ?2 AND ?3 ORDER BY doc LIMIT ?4";
        let mut statement = connection.prepare_cached(sql)?;
        let member = |row: &rusqlite::Row<'_>| {
            let document = row.get::<_, i64>(0)?.cast_unsigned();
            Ok(CategoryMember { document, category: row.get(1)? })
        };
        statement.query_map(params![after, first, last, most], member)?.collect()
    };
    let members = read().map_err(|error| place.database(error))?;
    let mut last = i64::try_from(after).unwrap_or(i64::MAX);
    for member in &members {
        last = place.later("category_members", last, member.document.cast_signed())?;
    }
    Ok(members)
}

/// Removes a document from its category.
pub(super) fn remove_member(connection: &Connection, number: u32) -> rusqlite::Result<()> {
    let sql = "DELETE FROM category_members WHERE doc = ?1";
    connection.prepare_cached(sql)?.execute([number]).map(drop)
}

/// What is wrong with the members.
///
/// # Errors
/// Read errors.
pub(super) fn problems(
    place: &IndexFolder,
    connection: &Connection,
) -> Result<Vec<String>, IndexError> {
    let read = || -> rusqlite::Result<Vec<String>> {
        let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        let mut problems = Vec::new();
        let missing = number(
            "SELECT count(*) FROM docs WHERE doc <= (SELECT through FROM categories)
             AND doc NOT IN (SELECT doc FROM category_members)",
        )?;
        if missing > 0 {
            problems.push(format!("the categories of {missing} documents are missing"));
        }
        let surplus = number(
            "SELECT count(*) FROM category_members WHERE doc NOT IN (SELECT doc FROM docs)",
        )?;
        if surplus > 0 {
            problems.push(format!("{surplus} members are those of no document"));
        }
        Ok(problems)
    };
    read().map_err(|error| place.database(error))
}
