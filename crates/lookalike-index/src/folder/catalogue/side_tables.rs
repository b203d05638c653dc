//! Side tables over a connection to the catalogue.

use crate::entry::DocumentNumber;
use crate::error::IndexError;
use crate::folder::catalogue::connection::Catalogue;
use crate::folder::catalogue::document_numbers::stored_documents;
use crate::folder::index_folder::IndexFolder;
use crate::folder::segments::posting::{PostingList, id_key};
use crate::folder::segments::posting_view::PostingView;
use crate::tables::{
    EndedVersion, Keys, RowCallback, SideTable, SimilarDocument, TableConnection, TableRow, Value,
};
use rusqlite::types::{FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Row, ToSql, params, params_from_iter};

/// Maximum number of documents that are counted for an added document. More documents share a key
/// with the added document only if a text is repeated very often. Any of them is then a good base.
const MOST_COUNTED: usize = 1 << 16;

/// A connection to the catalogue with a view of the postings of its documents.
#[derive(Clone, Copy)]
pub(crate) struct CatalogueTables<'a> {
    pub(crate) catalogue: Catalogue<'a>,
    pub(crate) view: &'a PostingView,
}

/// A row of the named table.
struct CatalogueRow<'a> {
    place: &'a IndexFolder,
    table: &'static str,
    row: &'a Row<'a>,
}

impl CatalogueRow<'_> {
    /// The value of a column, converted.
    fn value<'a, T>(
        &'a self,
        column: usize,
        convert: impl FnOnce(ValueRef<'a>) -> FromSqlResult<T>,
    ) -> Result<T, IndexError> {
        let value = self.row.get_ref(column).map_err(|error| self.place.database(error))?;
        convert(value).map_err(|error| {
            let table = self.table;
            let name = self.row.as_ref().column_name(column).unwrap_or_default();
            let got = value.data_type();
            let why = format!("table `{table}`, column `{name}`: {error}, stored is {got}");
            self.place.damaged_catalogue(why)
        })
    }
}

impl TableRow for CatalogueRow<'_> {
    fn integer(&self, column: usize) -> Result<i64, IndexError> {
        self.value(column, |value| value.as_i64())
    }

    fn optional(&self, column: usize) -> Result<Option<i64>, IndexError> {
        self.value(column, |value| value.as_i64_or_null())
    }

    fn text(&self, column: usize) -> Result<&str, IndexError> {
        self.value(column, |value| value.as_str())
    }

    fn bytes(&self, column: usize) -> Result<Option<&[u8]>, IndexError> {
        self.value(column, |value| value.as_blob_or_null())
    }

    fn later(&self, column: usize, last: i64) -> Result<i64, IndexError> {
        self.place.later(self.table, last, self.integer(column)?)
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Integer(value) => ValueRef::Integer(*value),
            Self::Optional(value) => value.map_or(ValueRef::Null, ValueRef::Integer),
            Self::Text(value) => ValueRef::Text(value.as_bytes()),
            Self::Bytes(value) => ValueRef::Blob(value),
        }))
    }
}

impl TableConnection for CatalogueTables<'_> {
    fn name(&self) -> &str {
        &self.catalogue.place.name
    }

    fn each(
        &mut self,
        table: &'static str,
        sql: &str,
        values: &[Value<'_>],
        each: RowCallback<'_>,
    ) -> Result<(), IndexError> {
        let Catalogue { place, connection } = self.catalogue;
        let failed = |error| place.database(error);
        place.poll()?;
        let sql = sql.replace("{id_key}", "id_key");
        let mut statement = connection.prepare_cached(&sql).map_err(failed)?;
        let mut rows = statement.query(params_from_iter(values)).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            each(&CatalogueRow { place, table, row })?;
        }
        Ok(())
    }

    fn each_of(
        &mut self,
        table: &'static str,
        sql: &str,
        keys: Keys<'_>,
        each: RowCallback<'_>,
    ) -> Result<(), IndexError> {
        let condition = match keys {
            Keys::Numbers(name, _) | Keys::Hashes(name, _) => format!("{name} = $1"),
            Keys::Ids(_) => "id_key = $1 AND id = $2".to_owned(),
        };
        let sql = sql.replace("{keys}", &condition);
        let mut run = |values: &[Value<'_>]| self.each(table, &sql, values, each);
        match keys {
            Keys::Numbers(_, numbers) => {
                numbers.iter().try_for_each(|number| run(&[Value::Integer(*number)]))
            }
            Keys::Hashes(_, hashes) => {
                hashes.iter().try_for_each(|hash| run(&[Value::Bytes(hash)]))
            }
            Keys::Ids(ids) => ids
                .iter()
                .try_for_each(|id| run(&[Value::unsigned(id_key(id.as_bytes())), Value::Text(id)])),
        }
    }

    fn insert(
        &mut self,
        table: &'static SideTable,
        rows: &mut dyn Iterator<Item = Vec<Value<'_>>>,
    ) -> Result<(), IndexError> {
        let key = if table.id.is_some() { ", id_key" } else { "" };
        let columns = table.columns.join(", ");
        let count = table.columns.len() + usize::from(table.id.is_some());
        let marks = vec!["?"; count].join(", ");
        let sql = format!("INSERT INTO {}({columns}{key}) VALUES({marks})", table.name);
        for mut row in rows {
            if let Some(Value::Text(id)) = table.id.and_then(|at| row.get(at)) {
                row.push(Value::unsigned(id_key(id.as_bytes())));
            }
            self.catalogue.run(|connection| {
                connection.prepare_cached(&sql)?.execute(params_from_iter(&row))
            })?;
        }
        Ok(())
    }

    fn most_similar(
        &mut self,
        documents: &[Vec<u64>],
    ) -> Result<Vec<Option<SimilarDocument>>, IndexError> {
        let most_similar = |keys: &Vec<u64>| {
            let mut found = std::collections::HashMap::<u32, u32>::new();
            self.view.find(PostingList::Bands, keys, |_, document| {
                if found.len() < MOST_COUNTED || found.contains_key(&document) {
                    *found.entry(document).or_default() += 1;
                }
            })?;
            let similar = found.into_iter();
            let similar = similar
                .map(|(document, shared)| SimilarDocument { shared, document: document.into() });
            Ok(similar.max())
        };
        documents.iter().map(most_similar).collect()
    }

    fn end_versions(&mut self, ended: &[EndedVersion<'_>]) -> Result<(), IndexError> {
        // The checksum does not include the key, so a wrong key is repaired.
        let sql = "UPDATE versions SET ended = ?2, checksum = ?3, id_key = ?4 WHERE doc = ?1";
        for EndedVersion { id, document, ended, checksum } in ended {
            let key = Value::unsigned(id_key(id.as_bytes()));
            self.catalogue.run(|connection| {
                connection.prepare_cached(sql)?.execute(params![document, ended, checksum, key])
            })?;
        }
        Ok(())
    }

    fn ended_text(&mut self, document: i64) -> Result<Option<String>, IndexError> {
        self.catalogue.text_of(DocumentNumber::of_signed(document))
    }

    fn documents(&mut self, ids: &[&str]) -> Result<Vec<(String, i64)>, IndexError> {
        let stored = stored_documents(self.catalogue, self.view, ids.iter().copied(), None)?;
        Ok(stored.into_iter().map(|(id, document)| (id, document.number)).collect())
    }
}
