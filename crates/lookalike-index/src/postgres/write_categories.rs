//! Writes categories.

use super::categories;
use super::pool::{ConnectionPool, PooledConnection};
use super::transaction::{CountChanges, MAX_TRIES, count_and_commit, is_conflict_error, lock};
use crate::category_table::{self, CategoryMember};
use crate::checksum;
use crate::error::IndexError;
use std::sync::Arc;
use std::time::Duration;

/// Replaces all categories.
///
/// # Errors
/// As [`Backend::replace_categories`](crate::backend::Backend::replace_categories).
pub(super) fn replace(
    pool: &Arc<ConnectionPool>,
    wait: Duration,
    model: &[u8],
    (through, members): (u64, &[CategoryMember]),
) -> Result<u64, IndexError> {
    category_table::check(model)?;
    let mut tries = 1;
    loop {
        let (mut connection, last) = lock(pool, wait)?;
        let replaced = fill(&mut connection, model, through, members).and_then(|number| {
            count_and_commit(&mut connection, &CountChanges::default(), last)?;
            Ok(number)
        });
        match replaced {
            Err(error) if tries < MAX_TRIES && is_conflict_error(&error) => tries += 1,
            other => return other,
        }
    }
}

fn fill(
    connection: &mut PooledConnection,
    model: &[u8],
    through: u64,
    members: &[CategoryMember],
) -> Result<u64, IndexError> {
    let number = categories::state(connection)?.map_or(0, |before| before.number) + 1;
    let sum = checksum::content(number, model).cast_signed();
    connection.execute("DELETE FROM categories; DELETE FROM category_members")?;
    connection.query(
        "INSERT INTO categories (number, through, checksum, model) VALUES ($1, $2, $3, $4)",
        &[&number.cast_signed(), &through.cast_signed(), &sum, &model],
    )?;
    insert(connection, members)?;
    Ok(number)
}

/// Adds members to the categories of model `number`.
///
/// # Errors
/// As [`Backend::add_category_members`](crate::backend::Backend::add_category_members).
pub(super) fn add_members(
    pool: &Arc<ConnectionPool>,
    wait: Duration,
    number: u64,
    (through, members): (u64, &[CategoryMember]),
) -> Result<bool, IndexError> {
    let mut tries = 1;
    loop {
        let (mut connection, _) = lock(pool, wait)?;
        if categories::state(&mut connection)?.is_none_or(|stored| stored.number != number) {
            return Ok(false);
        }
        let added = insert(&mut connection, members).and_then(|()| {
            let sql = "UPDATE categories SET through = greatest(through, $1)";
            connection.query(sql, &[&through.cast_signed()])?;
            connection.commit()?.map_err(|error| pool.failure(&error))
        });
        match added {
            Err(error) if tries < MAX_TRIES && is_conflict_error(&error) => tries += 1,
            other => return other.map(|()| true),
        }
    }
}

/// Inserts members whose documents are still there.
fn insert(connection: &mut PooledConnection, members: &[CategoryMember]) -> Result<(), IndexError> {
    for chunk in members.chunks(100_000) {
        let docs: Vec<i64> = chunk.iter().map(|member| member.document.cast_signed()).collect();
        let categories: Vec<i64> = chunk.iter().map(|member| member.category.into()).collect();
        connection.query(
            "INSERT INTO category_members SELECT doc, category \
             FROM unnest($1::bigint[], $2::bigint[]) AS new (doc, category) \
             WHERE EXISTS (SELECT FROM docs WHERE docs.doc = new.doc) \
             ON CONFLICT (doc) DO UPDATE SET category = excluded.category",
            &[&docs, &categories],
        )?;
    }
    Ok(())
}
