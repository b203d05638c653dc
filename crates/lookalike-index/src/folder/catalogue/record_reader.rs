//! Rows of the catalogue as records.

use crate::backend::SetCallback;
use crate::checksum::{self, RowFields};
use crate::entry::{DocumentNumber, IndexRecord, RecordFields, shortened_id};
use crate::error::IndexError;
use crate::folder::catalogue::connection::Catalogue;
use crate::tables::write_plan::StoredDocument;
use crate::text_code;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, Rows};

type RecordCallback<'a> = &'a mut dyn FnMut(&IndexRecord) -> Result<(), IndexError>;

const BY_NUMBER: &str = "SELECT doc, id, fingerprint, bytes, added, modified, expires, metadata,
    signature, checksum, signature_checksum FROM docs WHERE doc = ?1";
const SET: &str = "SELECT code, checksum FROM sets WHERE doc = ?1";
const TEXT: &str = "SELECT zstd, checksum FROM texts WHERE doc = ?1";
const FROM_NUMBER: &str = "SELECT doc, id, fingerprint, bytes, added, modified, expires, metadata,
    signature, checksum, signature_checksum FROM docs WHERE doc BETWEEN ?1 AND ?2 ORDER BY doc
    LIMIT ?3";

impl Catalogue<'_> {
    /// The document with this number, if it has this id.
    ///
    /// # Errors
    /// Errors of SQLite, [`IndexError::Damaged`] for a row with another id and a wrong checksum.
    pub(crate) fn stored(
        &self,
        number: u32,
        id: &str,
    ) -> Result<Option<StoredDocument>, IndexError> {
        let read = |connection: &Connection| -> rusqlite::Result<Option<Option<StoredDocument>>> {
            let sql = "SELECT id, expires, fingerprint FROM docs WHERE doc = ?1";
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query([number])?;
            let Some(row) = rows.next()? else { return Ok(None) };
            if !row.get_ref(0)?.as_bytes().is_ok_and(|got| got == id.as_bytes()) {
                return Ok(Some(None));
            }
            // A damaged fingerprint equals no other. Readers report the damage.
            let fingerprint = row.get_ref(2)?.as_blob().unwrap_or_default().try_into();
            let fingerprint = fingerprint.ok().map(u128::from_le_bytes);
            let number = i64::from(number);
            Ok(Some(Some(StoredDocument { number, expires: row.get(1)?, fingerprint })))
        };
        match self.run(read)? {
            // The row has another id with this hash, or more likely a damaged id.
            Some(None) => self
                .records(&[DocumentNumber(number.into())], RecordFields::default(), &mut |_| Ok(()))
                .map(|()| None),
            stored => Ok(stored.flatten()),
        }
    }

    /// Passes the documents with these numbers to `each`.
    ///
    /// # Errors
    /// Errors of SQLite, [`IndexError::Damaged`] for an invalid row, and errors of `each`.
    pub(crate) fn records(
        &self,
        numbers: &[DocumentNumber],
        wanted: RecordFields,
        each: RecordCallback<'_>,
    ) -> Result<(), IndexError> {
        let failed = |error| self.place.database(error);
        let mut statement = self.connection.prepare_cached(BY_NUMBER).map_err(failed)?;
        let mut record = IndexRecord::default();
        for number in numbers {
            let Ok(number) = i64::try_from(number.0) else { continue };
            let rows = statement.query([number]).map_err(failed)?;
            self.pass_rows(rows, wanted, &mut record, each)?;
        }
        Ok(())
    }

    /// Passes the encoded sets of the documents with these numbers to `each`.
    ///
    /// # Errors
    /// Errors of SQLite, [`IndexError::Damaged`] for a document without a set, and errors of
    /// `each`.
    pub(crate) fn sets(
        &self,
        numbers: &[DocumentNumber],
        each: SetCallback<'_>,
    ) -> Result<(), IndexError> {
        let failed = |error| self.place.database(error);
        let mut statement = self.connection.prepare_cached(SET).map_err(failed)?;
        for number in numbers {
            let Ok(key) = i64::try_from(number.0) else { continue };
            let mut rows = statement.query([key]).map_err(failed)?;
            if let Some(row) = rows.next().map_err(failed)? {
                let code = row.get_ref(0).map_err(failed)?.as_blob();
                let code = code.map_err(|error| failed(error.into()))?;
                if !is_sound(row, 1, *number, code).map_err(failed)? {
                    return Err(self.damaged(*number, "the checksum of its shingle set is wrong"));
                }
                each(*number, code)?;
            } else if let Some(id) = self.id(key).map_err(failed)? {
                let what = format!("document {:?} of {}", shortened_id(&id), self.place.name);
                return Err(IndexError::damaged(what, "it has no shingle set"));
            }
        }
        Ok(())
    }

    fn id(&self, number: i64) -> rusqlite::Result<Option<String>> {
        let mut statement = self.connection.prepare_cached("SELECT id FROM docs WHERE doc = ?1")?;
        statement.query_row([number], |row| row.get(0)).optional()
    }

    /// Calls `each` with at most `most` documents that are numbered `from` to `to`. Returns how
    /// many there were.
    ///
    /// # Errors
    /// As [`records`](Self::records).
    pub(crate) fn range(
        &self,
        (from, to): (DocumentNumber, DocumentNumber),
        most: usize,
        wanted: RecordFields,
        each: RecordCallback<'_>,
    ) -> Result<usize, IndexError> {
        let Ok(from) = i64::try_from(from.0) else { return Ok(0) };
        let to = i64::try_from(to.0);
        let most = i64::try_from(most);
        let to = to.unwrap_or(i64::MAX);
        let most = most.unwrap_or(i64::MAX);
        let failed = |error| self.place.database(error);
        let mut statement = self.connection.prepare_cached(FROM_NUMBER).map_err(failed)?;
        let rows = statement.query([from, to, most]).map_err(failed)?;
        let mut last = from.saturating_sub(1);
        self.pass_rows(rows, wanted, &mut IndexRecord::default(), &mut |record| {
            last = self.place.later("docs", last, record.number.signed())?;
            each(record)
        })
    }

    /// The text of a document or of a version with this number, if one is stored.
    ///
    /// # Errors
    /// Errors of SQLite, [`IndexError::Damaged`] for a text that differs from the stored bytes.
    pub(crate) fn text_of(&self, number: DocumentNumber) -> Result<Option<String>, IndexError> {
        let mut text = None;
        let mut record = IndexRecord { number, ..IndexRecord::default() };
        let read = self.other_table(TEXT, true, &mut record, "text", |_, code| {
            text = Some(decompressed(code)?);
            Ok(())
        });
        match read {
            Ok(()) => Ok(text),
            Err(RowError::Sql(error)) => Err(self.place.database(error)),
            Err(RowError::Row(why)) => Err(self.damaged(number, &why)),
        }
    }

    fn pass_rows(
        &self,
        mut rows: Rows<'_>,
        wanted: RecordFields,
        record: &mut IndexRecord,
        each: RecordCallback<'_>,
    ) -> Result<usize, IndexError> {
        let mut count = 0;
        let mut fields = Vec::new();
        while let Some(row) = rows.next().map_err(|error| self.place.database(error))? {
            self.read(row, wanted, record, &mut fields)?;
            each(record)?;
            count += 1;
        }
        Ok(count)
    }

    fn read(
        &self,
        row: &Row<'_>,
        wanted: RecordFields,
        record: &mut IndexRecord,
        fields: &mut Vec<u8>,
    ) -> Result<(), IndexError> {
        self.columns(row, wanted, record, fields).map_err(|wrong| match wrong {
            RowError::Sql(error) => self.place.database(error),
            RowError::Row(why) => {
                let number = record.number;
                let id = shortened_id(&record.id);
                let what = format!("document {id:?} (number {number}) of {}", self.place.name);
                IndexError::Damaged { what, why }
            }
        })
    }

    fn columns(
        &self,
        row: &Row<'_>,
        wanted: RecordFields,
        record: &mut IndexRecord,
        fields: &mut Vec<u8>,
    ) -> Result<(), RowError> {
        record.number = DocumentNumber::of_signed(row.get(0)?);
        record.id.clear();
        record.id.push_str(row.get_ref(1)?.as_str().map_err(|_| wrong("its id is not text"))?);
        let fingerprint = blob(row.get_ref(2)?)?;
        record.fingerprint = u128::from_le_bytes(
            fingerprint.try_into().map_err(|_| wrong("its fingerprint is too short"))?,
        );
        record.bytes =
            row.get::<_, i64>(3)?.try_into().map_err(|_| wrong("its length is negative"))?;
        record.added = row.get(4)?;
        record.modified = row.get(5)?;
        record.expires = row.get(6)?;
        record.metadata.clear();
        let json = row.get_ref(7)?.as_str().map_err(|_| wrong("its metadata is not text"))?;
        let expected = {
            let IndexRecord { number, ref id, bytes, added, modified, expires, .. } = *record;
            let id = id.as_bytes();
            let metadata = json.as_bytes();
            let row = RowFields {
                number: number.0,
                id,
                fingerprint,
                bytes,
                added,
                modified,
                expires,
                metadata,
            };
            row.checksum(fields)
        };
        if row.get::<_, i64>(9)?.cast_unsigned() != expected {
            return Err(wrong("the checksum of its row is wrong"));
        }
        if wanted.metadata && json != "{}" {
            let parsed = serde_json::from_str(json);
            record.metadata = parsed.map_err(|_| wrong("its metadata is not a JSON object"))?;
        }
        record.signature.clear();
        if wanted.signature {
            let bytes = blob(row.get_ref(8)?)?;
            let (values, rest) = bytes.as_chunks::<4>();
            if !rest.is_empty() {
                return Err(wrong("its signature is cut short"));
            }
            if !is_sound(row, 10, record.number, bytes)? {
                return Err(wrong("the checksum of its signature is wrong"));
            }
            record.signature.extend(values.iter().map(|value| u32::from_le_bytes(*value)));
        }
        let mut set = record.set.take().unwrap_or_default();
        self.other_table(SET, wanted.set, record, "shingle set", |record, code| {
            set.clear();
            set.extend_from_slice(code);
            record.set = Some(set);
            Ok(())
        })?;
        record.text = None;
        self.other_table(TEXT, wanted.text, record, "text", |record, code| {
            record.text = Some(decompressed(code)?);
            Ok(())
        })
    }

    /// Reads the data of a document from another table.
    fn other_table(
        &self,
        sql: &str,
        is_wanted: bool,
        record: &mut IndexRecord,
        name: &str,
        take: impl FnOnce(&mut IndexRecord, &[u8]) -> Result<(), RowError>,
    ) -> Result<(), RowError> {
        if !is_wanted {
            return Ok(());
        }
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([record.number.signed()])?;
        let Some(row) = rows.next()? else { return Ok(()) };
        let bytes = blob(row.get_ref(0)?)?;
        if !is_sound(row, 1, record.number, bytes)? {
            return Err(wrong(&format!("the checksum of its {name} is wrong")));
        }
        take(record, bytes)
    }

    fn damaged(&self, number: DocumentNumber, why: &str) -> IndexError {
        let what = format!("document number {number} of {}", self.place.name);
        IndexError::damaged(what, why)
    }
}

/// Returns true if bytes of a document have the checksum in a column.
fn is_sound(
    row: &Row<'_>,
    column: usize,
    number: DocumentNumber,
    bytes: &[u8],
) -> rusqlite::Result<bool> {
    Ok(row.get::<_, i64>(column)?.cast_unsigned() == checksum::content(number.0, bytes))
}

enum RowError {
    Sql(rusqlite::Error),
    Row(String),
}

impl From<rusqlite::Error> for RowError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

fn wrong(why: &str) -> RowError {
    RowError::Row(why.to_owned())
}

fn blob(value: ValueRef<'_>) -> Result<&[u8], RowError> {
    value.as_blob().map_err(|_| wrong("a column has no bytes"))
}

fn decompressed(code: &[u8]) -> Result<String, RowError> {
    text_code::decode(code).ok_or_else(|| wrong("its text cannot be decompressed"))
}
