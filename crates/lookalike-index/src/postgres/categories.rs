//! Reads categories: the tables `categories` and `category_members`.

use super::pool::PooledConnection;
use super::row::column;
use crate::category_table::{self, CategoryMember, CategoryState};
use crate::error::IndexError;

/// Which categories there are.
pub(super) fn state(
    connection: &mut PooledConnection,
) -> Result<Option<CategoryState>, IndexError> {
    let rows = connection.query("SELECT number, through FROM categories", &[])?;
    let state = rows.first().map(|row| {
        let number = column::<i64>(row, "categories", 0)?.cast_unsigned();
        let through = column::<i64>(row, "categories", 1)?.cast_unsigned();
        Ok(CategoryState { number, through })
    });
    state.transpose()
}

/// The model.
pub(super) fn model(connection: &mut PooledConnection) -> Result<Option<Vec<u8>>, IndexError> {
    let rows = connection.query("SELECT number, checksum, model FROM categories", &[])?;
    let Some(row) = rows.first() else { return Ok(None) };
    let number = column::<i64>(row, "categories", 0)?.cast_unsigned();
    let sum = column::<i64>(row, "categories", 1)?.cast_unsigned();
    let model: Vec<u8> = column(row, "categories", 2)?;
    category_table::verify(number, &model, sum)?;
    Ok(Some(model))
}

/// The number of stored documents of each category that has any, ascending.
pub(super) fn counts(connection: &mut PooledConnection) -> Result<Vec<(u32, u64)>, IndexError> {
    let sql = "SELECT category, count(*) FROM category_members GROUP BY category ORDER BY 1";
    let mut counts = Vec::new();
    connection.stream(sql, &[], |row| {
        let category = category(column(row, "category_members", 0)?)?;
        counts.push((category, column::<i64>(row, "category_members", 1)?.cast_unsigned()));
        Ok(())
    })?;
    Ok(counts)
}

/// At most `most` members numbered above `after` of the categories from `first` to `last`,
/// ascending.
pub(super) fn members(
    connection: &mut PooledConnection,
    (first, last): (u32, u32),
    (after, most): (u64, usize),
) -> Result<Vec<CategoryMember>, IndexError> {
    let sql = "SELECT doc, category FROM category_members \
               WHERE doc > $1 AND category BETWEEN $2 AND $3 ORDER BY doc LIMIT $4";
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let (first, last) = (i64::from(first), i64::from(last));
    let mut members = Vec::new();
    connection.stream(sql, &[&after, &first, &last, &most], |row| {
        let document = column::<i64>(row, "category_members", 0)?.cast_unsigned();
        let category = category(column(row, "category_members", 1)?)?;
        members.push(CategoryMember { document, category });
        Ok(())
    })?;
    Ok(members)
}

fn category(stored: i64) -> Result<u32, IndexError> {
    u32::try_from(stored).map_err(|_| IndexError::Damaged {
        what: "table `category_members`".to_owned(),
        why: format!("it has category {stored}, expected is a number of 32 bits"),
    })
}

/// What is wrong with the members.
pub(super) fn problems(connection: &mut PooledConnection) -> Result<Vec<String>, IndexError> {
    let sql = "SELECT \
               (SELECT count(*) FROM docs WHERE doc <= (SELECT through FROM categories) \
                AND NOT EXISTS (SELECT FROM category_members m WHERE m.doc = docs.doc)), \
               (SELECT count(*) FROM category_members m \
                WHERE NOT EXISTS (SELECT FROM docs WHERE docs.doc = m.doc))";
    let row = connection.query_one(sql, &[], "the members of its categories")?;
    let missing: i64 = column(&row, "category_members", 0)?;
    let surplus: i64 = column(&row, "category_members", 1)?;
    let mut problems = Vec::new();
    if missing > 0 {
        problems.push(format!("the categories of {missing} documents are missing"));
    }
    if surplus > 0 {
        problems.push(format!("{surplus} members are those of no document"));
    }
    Ok(problems)
}
