//! Originals in the catalogue, the table `originals`. An original is stored once, whole or as its
//! difference from one with a smaller number.

use super::index_folder::IndexFolder;
use crate::checksum;
use crate::error::IndexError;
use crate::original::{MAX_ORIGINAL_BYTES, OriginalHash, original_hash};
use crate::original_code::{self, MAX_CHAIN};
use rusqlite::{Connection, OptionalExtension, params};

/// Reads and writes originals over one connection.
#[derive(Clone, Copy)]
pub(super) struct Originals<'a> {
    pub(super) place: &'a IndexFolder,
    pub(super) connection: &'a Connection,
}

/// A row of `originals`.
struct OriginalRow {
    number: u64,
    sha256: Vec<u8>,
    bytes: u64,
    base: Option<u64>,
    code: Vec<u8>,
}

impl Originals<'_> {
    /// The bytes of an original, whose hash and whose length are verified.
    ///
    /// # Errors
    /// Errors of SQLite, [`IndexError::Damaged`] for an original that is not there, is not what was
    /// stored, or whose base is not.
    pub(super) fn read(self, number: u64) -> Result<Vec<u8>, IndexError> {
        let mut chain = Vec::new();
        let mut next = Some(number);
        while let Some(at) = next {
            let row = self.row(at)?.ok_or_else(|| match chain.last() {
                None => self.damaged(at, "it is missing".to_owned()),
                Some(_) => self.damaged(number, format!("original {at}, its base, is missing")),
            })?;
            if row.base.is_some_and(|base| base >= at) || chain.len() > MAX_CHAIN {
                let why = format!("more than {MAX_CHAIN} differences lead to it");
                return Err(self.damaged(number, why));
            }
            next = row.base;
            chain.push(row);
        }
        let mut base: Option<Vec<u8>> = None;
        for OriginalRow { number: at, sha256, bytes, code, .. } in chain.iter().rev() {
            let decoded = original_code::decode(code, base.as_deref(), *bytes as usize);
            let decoded = decoded.map_err(|why| self.damaged(*at, why))?;
            if original_hash(&decoded)[..] != sha256[..] {
                return Err(self.damaged(*at, "its SHA-256 is wrong".to_owned()));
            }
            base = Some(decoded);
        }
        Ok(base.unwrap_or_default())
    }

    /// The number of the original with a hash.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(super) fn number_of(self, sha256: &OriginalHash) -> Result<Option<u64>, IndexError> {
        let sql = "SELECT original FROM originals WHERE sha256 = ?1";
        let read = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_row([&sha256[..]], |row| row.get::<_, i64>(0)).optional()
        };
        Ok(read().map_err(|error| self.place.database(error))?.map(i64::cast_unsigned))
    }

    /// Stores an original that is not there, as its difference from the original `similar` where
    /// that is smaller; returns its number.
    ///
    /// # Errors
    /// Errors of SQLite and of the compression.
    pub(super) fn insert(
        self,
        bytes: &[u8],
        sha256: &OriginalHash,
        similar: Option<u64>,
    ) -> Result<u64, IndexError> {
        let failed = |error| self.place.database(error);
        let whole = self.encode(bytes, None)?;
        let base = similar.map(|similar| self.base_of(similar)).transpose()?;
        // A damaged original is no base; what is added is stored all the same.
        let base = match base.map(|base| (base, self.read(base))) {
            Some((base, Ok(original))) => Some((base, original)),
            Some((_, Err(IndexError::Damaged { .. }))) | None => None,
            Some((_, Err(error))) => return Err(error),
        };
        let difference = match base {
            Some((base, original)) => Some((base, self.encode(bytes, Some(&original))?)),
            None => None,
        };
        let difference = difference.filter(|(_, code)| code.len() < whole.len());
        let (base, code) = difference.map_or((None, whole), |(base, code)| (Some(base), code));
        let next = "SELECT coalesce(max(original), 0) + 1 FROM originals";
        let number: i64 = self.connection.query_row(next, [], |row| row.get(0)).map_err(failed)?;
        let number = number.cast_unsigned();
        let sum = checksum::content(number, &code).cast_signed();
        let sql = "INSERT INTO originals VALUES(?1, ?2, ?3, ?4, ?5, ?6)";
        let insert = || -> rusqlite::Result<usize> {
            self.connection.prepare_cached(sql)?.execute(params![
                number.cast_signed(),
                &sha256[..],
                (bytes.len() as u64).cast_signed(),
                base.map(u64::cast_signed),
                code,
                sum,
            ])
        };
        insert().map_err(failed)?;
        Ok(number)
    }

    /// Removes an original that no version has and no other is a difference from; then its base,
    /// if the same is true of that.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub(super) fn release(self, number: u64) -> Result<(), IndexError> {
        let release = || -> rusqlite::Result<()> {
            let mut next = Some(number.cast_signed());
            while let Some(at) = next {
                let sql = "DELETE FROM originals WHERE original = ?1
                    AND NOT EXISTS (SELECT 1 FROM versions WHERE original = ?1)
                    AND NOT EXISTS (SELECT 1 FROM originals WHERE base = ?1) RETURNING base";
                let mut statement = self.connection.prepare_cached(sql)?;
                next = statement.query_row([at], |row| row.get(0)).optional()?.flatten();
            }
            Ok(())
        };
        release().map_err(|error| self.place.database(error))
    }

    /// Stores the differences from an original whole, so that it can be released.
    ///
    /// # Errors
    /// As [`read`](Self::read), and errors of the compression.
    pub(super) fn detach_from(self, number: u64) -> Result<(), IndexError> {
        let failed = |error| self.place.database(error);
        let dependent = || -> rusqlite::Result<Vec<i64>> {
            let sql = "SELECT original FROM originals WHERE base = ?1 ORDER BY original";
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_map([number.cast_signed()], |row| row.get(0))?.collect()
        };
        for at in dependent().map_err(failed)?.into_iter().map(i64::cast_unsigned) {
            let code = self.encode(&self.read(at)?, None)?;
            let sum = checksum::content(at, &code).cast_signed();
            let sql = "UPDATE originals SET base = NULL, zstd = ?2, checksum = ?3
                WHERE original = ?1";
            let update = || -> rusqlite::Result<usize> {
                self.connection.prepare_cached(sql)?.execute(params![at.cast_signed(), code, sum])
            };
            update().map_err(failed)?;
        }
        Ok(())
    }

    /// The original from which a difference is stored, so that it leads over at most [`MAX_CHAIN`]
    /// differences: `similar`, or its base.
    fn base_of(self, similar: u64) -> Result<u64, IndexError> {
        let sql = "SELECT base FROM originals WHERE original = ?1";
        let read = |at: u64| -> rusqlite::Result<Option<u64>> {
            let mut statement = self.connection.prepare_cached(sql)?;
            let base = statement.query_row([at.cast_signed()], |row| row.get::<_, Option<i64>>(0));
            Ok(base.optional()?.flatten().map(i64::cast_unsigned))
        };
        let (mut length, mut at, mut first) = (1, similar, None);
        while let Some(base) = read(at).map_err(|error| self.place.database(error))? {
            first = first.or(Some(base));
            length += 1;
            if base >= at || length > MAX_CHAIN {
                return Ok(first.unwrap_or(similar));
            }
            at = base;
        }
        Ok(similar)
    }

    /// A row, whose checksum is verified.
    fn row(self, number: u64) -> Result<Option<OriginalRow>, IndexError> {
        let sql = "SELECT sha256, bytes, base, zstd, checksum FROM originals WHERE original = ?1";
        let read = || -> rusqlite::Result<Option<(OriginalRow, u64)>> {
            let mut statement = self.connection.prepare_cached(sql)?;
            let row = statement.query_row([number.cast_signed()], |row| {
                let original = OriginalRow {
                    number,
                    sha256: row.get(0)?,
                    bytes: row.get::<_, i64>(1)?.cast_unsigned(),
                    base: row.get::<_, Option<i64>>(2)?.map(i64::cast_unsigned),
                    code: row.get(3)?,
                };
                Ok((original, row.get::<_, i64>(4)?.cast_unsigned()))
            });
            row.optional()
        };
        let row = read().map_err(|error| self.place.database(error))?;
        let Some((row, sum)) = row else { return Ok(None) };
        let wrong = |why: &str| Err(self.damaged(number, why.to_owned()));
        if checksum::content(number, &row.code) != sum {
            return wrong("the checksum of its bytes is wrong");
        }
        if row.sha256.len() != size_of::<OriginalHash>() {
            return wrong("its SHA-256 has not 32 bytes");
        }
        if row.bytes > MAX_ORIGINAL_BYTES {
            return wrong("its length is out of range");
        }
        Ok(Some(row))
    }

    fn encode(self, bytes: &[u8], base: Option<&[u8]>) -> Result<Vec<u8>, IndexError> {
        original_code::encode(bytes, base).map_err(|why| IndexError::Io {
            path: self.place.name.clone(),
            source: std::io::Error::other(why),
        })
    }

    fn damaged(self, number: u64, why: String) -> IndexError {
        IndexError::Damaged { what: format!("original {number} of {}", self.place.name), why }
    }
}
