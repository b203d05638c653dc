//! Rows of the catalogue as records.

use super::fault::Place;
use crate::backend::EachSet;
use crate::entry::{MAX_TEXT_BYTES, Record, Wanted, shown};
use crate::error::IndexError;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, Rows};

type Each<'a> = &'a mut dyn FnMut(&Record) -> Result<(), IndexError>;

const BY_NUMBER: &str = "SELECT doc, id, fingerprint, bytes, added, modified, expires, metadata,
    signature FROM docs WHERE doc = ?1";
const SET: &str = "SELECT code FROM sets WHERE doc = ?1";
const FROM_NUMBER: &str = "SELECT doc, id, fingerprint, bytes, added, modified, expires, metadata,
    signature FROM docs WHERE doc BETWEEN ?1 AND ?2 ORDER BY doc LIMIT ?3";

/// Reads documents over one connection.
pub(super) struct Reader<'a> {
    pub(super) place: &'a Place,
    pub(super) connection: &'a Connection,
}

impl Reader<'_> {
    /// Whether there is a document with this number and this id.
    ///
    /// # Errors
    /// What SQLite says.
    pub(super) fn has(&self, number: u64, id: &str) -> Result<bool, IndexError> {
        let look = || -> rusqlite::Result<bool> {
            let sql = "SELECT id FROM docs WHERE doc = ?1";
            let mut statement = self.connection.prepare_cached(sql)?;
            let mut rows = statement.query([number.cast_signed()])?;
            match rows.next()? {
                Some(row) => Ok(row.get_ref(0)?.as_bytes().is_ok_and(|got| got == id.as_bytes())),
                None => Ok(false),
            }
        };
        look().map_err(|error| self.place.database(error))
    }

    /// Gives the documents with these numbers to `each`.
    ///
    /// # Errors
    /// What SQLite says, [`IndexError::Damaged`] for a row that cannot be, and what `each` gives.
    pub(super) fn records(
        &self,
        numbers: &[u64],
        wanted: Wanted,
        each: Each<'_>,
    ) -> Result<(), IndexError> {
        let failed = |error| self.place.database(error);
        let mut statement = self.connection.prepare_cached(BY_NUMBER).map_err(failed)?;
        let mut record = Record::default();
        for number in numbers {
            let Ok(number) = i64::try_from(*number) else { continue };
            let rows = statement.query([number]).map_err(failed)?;
            self.give(rows, wanted, &mut record, each)?;
        }
        Ok(())
    }

    /// Gives the encoded sets of the documents with these numbers to `each`.
    ///
    /// # Errors
    /// What SQLite says, [`IndexError::Damaged`] for a document without a set, and what `each`
    /// gives.
    pub(super) fn sets(&self, numbers: &[u64], each: EachSet<'_>) -> Result<(), IndexError> {
        let failed = |error| self.place.database(error);
        let mut statement = self.connection.prepare_cached(SET).map_err(failed)?;
        for number in numbers {
            let Ok(key) = i64::try_from(*number) else { continue };
            let mut rows = statement.query([key]).map_err(failed)?;
            if let Some(row) = rows.next().map_err(failed)? {
                let code = row.get_ref(0).map_err(failed)?.as_blob();
                each(*number, code.map_err(|error| failed(error.into()))?)?;
            } else if let Some(id) = self.id(key).map_err(failed)? {
                let what = format!("document {:?} of {}", shown(&id), self.place.name);
                let why = "it has no shingle set".to_owned();
                return Err(IndexError::Damaged { what, why });
            }
        }
        Ok(())
    }

    fn id(&self, number: i64) -> rusqlite::Result<Option<String>> {
        let mut statement = self.connection.prepare_cached("SELECT id FROM docs WHERE doc = ?1")?;
        statement.query_row([number], |row| row.get(0)).optional()
    }

    /// Gives at most `most` documents numbered `from` to `to` to `each`; returns how many.
    ///
    /// # Errors
    /// As [`records`](Self::records).
    pub(super) fn range(
        &self,
        (from, to): (u64, u64),
        most: usize,
        wanted: Wanted,
        each: Each<'_>,
    ) -> Result<usize, IndexError> {
        let Ok(from) = i64::try_from(from) else { return Ok(0) };
        let (to, most) = (i64::try_from(to), i64::try_from(most));
        let (to, most) = (to.unwrap_or(i64::MAX), most.unwrap_or(i64::MAX));
        let failed = |error| self.place.database(error);
        let mut statement = self.connection.prepare_cached(FROM_NUMBER).map_err(failed)?;
        let rows = statement.query([from, to, most]).map_err(failed)?;
        self.give(rows, wanted, &mut Record::default(), each)
    }

    fn give(
        &self,
        mut rows: Rows<'_>,
        wanted: Wanted,
        record: &mut Record,
        each: Each<'_>,
    ) -> Result<usize, IndexError> {
        let mut count = 0;
        while let Some(row) = rows.next().map_err(|error| self.place.database(error))? {
            self.read(row, wanted, record)?;
            each(record)?;
            count += 1;
        }
        Ok(count)
    }

    fn read(&self, row: &Row<'_>, wanted: Wanted, record: &mut Record) -> Result<(), IndexError> {
        self.columns(row, wanted, record).map_err(|wrong| match wrong {
            Wrong::Sql(error) => self.place.database(error),
            Wrong::Row(why) => {
                let (number, id) = (record.number, shown(&record.id));
                let what = format!("document {id:?} (number {number}) of {}", self.place.name);
                IndexError::Damaged { what, why }
            }
        })
    }

    fn columns(&self, row: &Row<'_>, wanted: Wanted, record: &mut Record) -> Result<(), Wrong> {
        record.number = row.get::<_, i64>(0)?.cast_unsigned();
        record.id.clear();
        record.id.push_str(row.get_ref(1)?.as_str().map_err(|_| wrong("its id is no text"))?);
        let fingerprint = blob(row.get_ref(2)?)?.try_into();
        record.fingerprint =
            u128::from_le_bytes(fingerprint.map_err(|_| wrong("its fingerprint is too short"))?);
        record.bytes = row.get::<_, i64>(3)?.cast_unsigned();
        record.added = row.get(4)?;
        record.modified = row.get(5)?;
        record.expires = row.get(6)?;
        record.metadata.clear();
        if wanted.metadata {
            let json = row.get_ref(7)?.as_str().map_err(|_| wrong("its metadata is no text"))?;
            if json != "{}" {
                let parsed = serde_json::from_str(json);
                record.metadata = parsed.map_err(|_| wrong("its metadata is no JSON object"))?;
            }
        }
        record.signature.clear();
        if wanted.signature {
            let (values, rest) = blob(row.get_ref(8)?)?.as_chunks::<4>();
            if !rest.is_empty() {
                return Err(wrong("its signature is cut short"));
            }
            record.signature.extend(values.iter().map(|value| u32::from_le_bytes(*value)));
        }
        let mut set = record.set.take().unwrap_or_default();
        self.beside(SET, wanted.set, record, |record, code| {
            set.clear();
            set.extend_from_slice(code);
            record.set = Some(set);
            Ok(())
        })?;
        record.text = None;
        let sql = "SELECT zstd FROM texts WHERE doc = ?1";
        self.beside(sql, wanted.text, record, |record, code| {
            record.text = Some(decompressed(code)?);
            Ok(())
        })
    }

    /// What another table has of a document.
    fn beside(
        &self,
        sql: &str,
        wanted: bool,
        record: &mut Record,
        take: impl FnOnce(&mut Record, &[u8]) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        if !wanted {
            return Ok(());
        }
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([record.number.cast_signed()])?;
        match rows.next()? {
            Some(row) => take(record, blob(row.get_ref(0)?)?),
            None => Ok(()),
        }
    }
}

enum Wrong {
    Sql(rusqlite::Error),
    Row(String),
}

impl From<rusqlite::Error> for Wrong {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

fn wrong(why: &str) -> Wrong {
    Wrong::Row(why.to_owned())
}

fn blob(value: ValueRef<'_>) -> Result<&[u8], Wrong> {
    value.as_blob().map_err(|_| wrong("a column has no bytes"))
}

fn decompressed(code: &[u8]) -> Result<String, Wrong> {
    let bytes = zstd::bulk::Decompressor::upper_bound(code)
        .filter(|bound| *bound <= MAX_TEXT_BYTES)
        .and_then(|bound| zstd::bulk::decompress(code, bound).ok());
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    text.ok_or_else(|| wrong("its text cannot be decompressed"))
}
