//! Categories: the tables `categories` and `category_members`.

use super::{Effect, Keys, SideTable, TableRow, Tables, Value};
use crate::backend::IndexProblem;
use crate::category_table::{CategoryMember, CategoryState, MAX_MODEL_BYTES};
use crate::checksum;
use crate::entry::DocumentNumber;
use crate::error::IndexError;
use std::collections::BTreeMap;

/// The model, in one row.
pub(crate) const CATEGORIES: SideTable = SideTable {
    name: "categories",
    columns: &["number", "through", "checksum", "model"],
    id: None,
};

pub(crate) const MEMBERS: SideTable =
    SideTable { name: "category_members", columns: &["doc", "category"], id: None };

/// The state of the categories, if there are any.
pub(super) fn state(tables: Tables<'_>) -> Result<Option<CategoryState>, IndexError> {
    tables.first(CATEGORIES.name, "SELECT number, through FROM categories", &[], |row| {
        Ok(CategoryState { number: row.unsigned(0)?, through: row.document(1)? })
    })
}

/// The model, if there is one.
///
/// # Errors
/// Read errors, [`IndexError::Damaged`] for a model with a wrong checksum.
pub(super) fn model(tables: Tables<'_>) -> Result<Option<Vec<u8>>, IndexError> {
    let sql = "SELECT number, checksum, model FROM categories";
    tables.first(CATEGORIES.name, sql, &[], |row| {
        let number = row.unsigned(0)?;
        let model = row.bytes(2)?.unwrap_or_default();
        if row.unsigned(1)? != checksum::content(number, model) {
            let what = format!("model {number} of categories");
            return Err(IndexError::damaged(what, "its checksum is wrong; make categories again"));
        }
        Ok(model.to_vec())
    })
}

/// The number of stored documents of each category that has any, by ascending category.
pub(super) fn counts(tables: Tables<'_>) -> Result<Vec<(u32, u64)>, IndexError> {
    let sql = "SELECT category, count(*) FROM category_members GROUP BY category ORDER BY 1";
    let mut counts = Vec::new();
    tables.each(MEMBERS.name, sql, &[], &mut |row| {
        counts.push((category(row, 0)?, row.unsigned(1)?));
        Ok(())
    })?;
    Ok(counts)
}

/// At most `most` members of the categories from `first` to `last`, with numbers above `after`, by
/// ascending number.
pub(super) fn members(
    tables: Tables<'_>,
    (first, last): (u32, u32),
    after: DocumentNumber,
    most: usize,
) -> Result<Vec<CategoryMember>, IndexError> {
    let sql = "SELECT doc, category FROM category_members \
               WHERE doc > $1 AND category BETWEEN $2 AND $3 ORDER BY doc LIMIT $4";
    let values = [
        Value::clamped(after.0),
        Value::Integer(first.into()),
        Value::Integer(last.into()),
        Value::clamped(most as u64),
    ];
    let mut before = i64::try_from(after.0).unwrap_or(i64::MAX);
    let mut members = Vec::new();
    tables.each(MEMBERS.name, sql, &values, &mut |row| {
        before = row.later(0, before)?;
        let document = DocumentNumber::of_signed(before);
        members.push(CategoryMember { document, category: category(row, 1)? });
        Ok(())
    })?;
    Ok(members)
}

fn category(row: &dyn TableRow, column: usize) -> Result<u32, IndexError> {
    let stored = row.integer(column)?;
    u32::try_from(stored).map_err(|_| {
        let why = format!("it has category {stored}, expected a number of 32 bits");
        IndexError::damaged("table `category_members`".to_owned(), &why)
    })
}

/// Checks that a model can be stored.
///
/// # Errors
/// [`IndexError::Categories`].
pub(super) fn check_model(model: &[u8]) -> Result<(), IndexError> {
    if model.len() > MAX_MODEL_BYTES {
        return Err(IndexError::Categories { got: model.len(), most: MAX_MODEL_BYTES });
    }
    Ok(())
}

/// Replaces all categories; returns the number of the model.
pub(super) fn replace(
    tables: Tables<'_>,
    model: &[u8],
    through: DocumentNumber,
    members: &[CategoryMember],
) -> Result<(u64, Effect), IndexError> {
    let number = state(tables)?.map_or(0, |before| before.number) + 1;
    let sum = checksum::content(number, model);
    tables.execute(CATEGORIES.name, "DELETE FROM categories", &[])?;
    tables.execute(MEMBERS.name, "DELETE FROM category_members", &[])?;
    let row = vec![
        Value::unsigned(number),
        Value::document(through),
        Value::unsigned(sum),
        Value::Bytes(model),
    ];
    tables.insert(&CATEGORIES, &mut std::iter::once(row))?;
    insert(tables, members)?;
    Ok((number, Effect::Visible))
}

/// Adds members to the categories of model `number`. Returns false if the index has another model.
pub(super) fn add_members(
    tables: Tables<'_>,
    number: u64,
    through: DocumentNumber,
    members: &[CategoryMember],
) -> Result<(bool, Effect), IndexError> {
    if state(tables)?.is_none_or(|stored| stored.number != number) {
        return Ok((false, Effect::Nothing));
    }
    let sql = "UPDATE categories SET through = $1 WHERE through < $1";
    tables.execute(CATEGORIES.name, sql, &[Value::document(through)])?;
    insert(tables, members)?;
    Ok((true, Effect::Invisible))
}

/// Replaces the rows of the members whose documents are still stored. If a document occurs
/// repeatedly, its last category is stored.
fn insert(tables: Tables<'_>, members: &[CategoryMember]) -> Result<(), IndexError> {
    let members = members.iter().map(|member| (member.document.signed(), member.category));
    let categories: BTreeMap<i64, u32> = members.collect();
    let numbers: Vec<i64> = categories.keys().copied().collect();
    let keys = Keys::Numbers("doc", &numbers);
    let stored =
        tables.rows_of("docs", "SELECT doc FROM docs WHERE {keys}", keys, |row| row.integer(0))?;
    remove(tables, &numbers)?;
    let mut rows = stored.into_iter().filter_map(|document| {
        let category = *categories.get(&document)?;
        Some(vec![Value::Integer(document), Value::Integer(category.into())])
    });
    tables.insert(&MEMBERS, &mut rows)
}

/// Removes documents from their categories.
///
/// # Errors
/// Errors of the database.
pub(crate) fn remove(tables: Tables<'_>, documents: &[i64]) -> Result<(), IndexError> {
    let sql = "DELETE FROM category_members WHERE {keys}";
    tables.each_of(MEMBERS.name, sql, Keys::Numbers("doc", documents), &mut |_| Ok(()))
}

/// Checks the model and the members.
///
/// # Errors
/// Read errors. Damage is reported as a problem instead.
pub(super) fn check(
    tables: Tables<'_>,
    problems: &mut Vec<IndexProblem>,
) -> Result<(), IndexError> {
    IndexProblem::collect(model(tables).map(drop), problems)?;
    let missing = tables.integer(
        MEMBERS.name,
        "SELECT count(*) FROM docs WHERE doc <= (SELECT through FROM categories) AND NOT EXISTS \
         (SELECT 1 FROM category_members AS m WHERE m.doc = docs.doc)",
    )?;
    let surplus = tables.integer(
        MEMBERS.name,
        "SELECT count(*) FROM category_members AS m WHERE NOT EXISTS \
         (SELECT 1 FROM docs WHERE docs.doc = m.doc)",
    )?;
    let mut push = |problem: String| {
        problems.push(IndexProblem {
            place: MEMBERS.name.to_owned(),
            what: format!("{problem}; make categories again"),
            repairable: false,
        });
    };
    if missing > 0 {
        push(format!("the categories of {missing} documents are missing"));
    }
    if surplus > 0 {
        push(format!("{surplus} members have no document"));
    }
    Ok(())
}
