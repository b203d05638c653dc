//! Originals: the table `originals`. An original is stored once, whole or as its difference from
//! one with a smaller number.

use super::copy::copy_in;
use super::pool::PooledConnection;
use super::row::column;
use crate::checksum;
use crate::error::IndexError;
use crate::original::{MAX_ORIGINAL_BYTES, OriginalHash, original_hash};
use crate::original_code::{self, MAX_CHAIN};
use postgres::Row;

/// An original and those that it is a difference from, up to the one that is stored whole.
const CHAIN: &str = "
    WITH RECURSIVE chain AS (
        SELECT original, sha256, bytes, base, zstd, checksum, 0 AS depth
        FROM originals WHERE original = $1
        UNION ALL
        SELECT o.original, o.sha256, o.bytes, o.base, o.zstd, o.checksum, chain.depth + 1
        FROM chain JOIN originals AS o ON o.original = chain.base
        WHERE chain.depth < $2 AND chain.base < chain.original
    )
    SELECT original, sha256, bytes, base, zstd, checksum FROM chain ORDER BY depth";

/// A row of `originals`.
pub(super) struct EncodedOriginal {
    pub(super) number: i64,
    pub(super) sha256: OriginalHash,
    pub(super) bytes: u64,
    pub(super) base: Option<i64>,
    /// The frame.
    pub(super) code: Vec<u8>,
}

/// An original that was read.
pub(super) struct StoredOriginal {
    pub(super) bytes: Vec<u8>,
    /// The number of the original that it is a difference from.
    pub(super) base: Option<i64>,
    /// How many differences lead to it from an original that is stored whole.
    pub(super) differences: usize,
}

impl EncodedOriginal {
    /// The row of an original as its difference from `base`, the number and the bytes of another
    /// one, where that is smaller; otherwise of the whole original.
    ///
    /// # Errors
    /// Errors of the compression.
    pub(super) fn new(
        number: i64,
        bytes: &[u8],
        sha256: OriginalHash,
        base: Option<(i64, &[u8])>,
    ) -> Result<Self, IndexError> {
        let whole = encode(number, bytes, None)?;
        let difference = match base {
            Some((base, original)) => Some((base, encode(number, bytes, Some(original))?)),
            None => None,
        };
        let difference = difference.filter(|(_, code)| code.len() < whole.len());
        let (base, code) = difference.map_or((None, whole), |(base, code)| (Some(base), code));
        Ok(Self { number, sha256, bytes: bytes.len() as u64, base, code })
    }

    fn checksum(&self) -> i64 {
        checksum::content(self.number.cast_unsigned(), &self.code).cast_signed()
    }

    fn of(row: &Row) -> Result<Self, IndexError> {
        let number: i64 = column(row, "originals", 0)?;
        let wrong = |why: &str| damaged(number, why.to_owned());
        let sha256: &[u8] = column(row, "originals", 1)?;
        let sha256 = OriginalHash::try_from(sha256);
        let original = Self {
            number,
            sha256: sha256.map_err(|_| wrong("its SHA-256 has not 32 bytes"))?,
            bytes: column::<i64>(row, "originals", 2)?.cast_unsigned(),
            base: column(row, "originals", 3)?,
            code: column(row, "originals", 4)?,
        };
        if original.checksum() != column::<i64>(row, "originals", 5)? {
            return Err(wrong("the checksum of its bytes is wrong"));
        }
        if original.bytes > MAX_ORIGINAL_BYTES {
            return Err(wrong("its length is out of range"));
        }
        Ok(original)
    }
}

/// Reads an original; the length and the hash of all that it is a difference from are verified.
///
/// # Errors
/// Errors of the server, [`IndexError::Damaged`] for an original that is not there, is not what was
/// stored, or whose base is not.
pub(super) fn read(
    connection: &mut PooledConnection,
    number: i64,
) -> Result<StoredOriginal, IndexError> {
    let most = i32::try_from(MAX_CHAIN).unwrap_or(i32::MAX);
    let rows = connection.query(CHAIN, &[&number, &most])?;
    let chain = rows.iter().map(EncodedOriginal::of).collect::<Result<Vec<_>, _>>()?;
    let (Some(first), Some(last)) = (chain.first(), chain.last()) else {
        return Err(damaged(number, "it is missing".to_owned()));
    };
    match last.base {
        Some(base) if base >= last.number || chain.len() > MAX_CHAIN => {
            let why = format!("more than {MAX_CHAIN} differences lead to it");
            return Err(damaged(number, why));
        }
        Some(base) => {
            let why = format!("original {base}, its base, is missing");
            return Err(damaged(number, why));
        }
        None => {}
    }
    let mut before: Option<Vec<u8>> = None;
    for row in chain.iter().rev() {
        let decoded = original_code::decode(&row.code, before.as_deref(), row.bytes as usize);
        let decoded = decoded.map_err(|why| damaged(row.number, why))?;
        if original_hash(&decoded) != row.sha256 {
            return Err(damaged(row.number, "its SHA-256 is wrong".to_owned()));
        }
        before = Some(decoded);
    }
    let (base, differences) = (first.base, chain.len() - 1);
    Ok(StoredOriginal { bytes: before.unwrap_or_default(), base, differences })
}

/// Inserts rows.
///
/// # Errors
/// Errors of the server.
pub(super) fn insert(
    connection: &mut PooledConnection,
    rows: &[EncodedOriginal],
) -> Result<(), IndexError> {
    if rows.is_empty() {
        return Ok(());
    }
    let sql = "COPY originals (original, sha256, bytes, base, zstd, checksum) FROM STDIN BINARY";
    copy_in(connection, sql, |to| {
        for row in rows {
            to.row(6)?;
            to.bigint(row.number)?;
            to.bytes(&row.sha256)?;
            to.bigint(row.bytes.cast_signed())?;
            to.bigint_or_null(row.base)?;
            to.bytes(&row.code)?;
            to.bigint(row.checksum())?;
        }
        Ok(())
    })
}

/// Removes those of these originals that no version has and that no other is a difference from;
/// then their bases, where the same is true of these.
///
/// # Errors
/// Errors of the server.
pub(super) fn release(
    connection: &mut PooledConnection,
    mut numbers: Vec<i64>,
) -> Result<(), IndexError> {
    let sql = "DELETE FROM originals AS o WHERE original = ANY($1) \
               AND NOT EXISTS (SELECT FROM versions WHERE versions.original = o.original) \
               AND NOT EXISTS (SELECT FROM originals AS d WHERE d.base = o.original) \
               RETURNING base";
    while !numbers.is_empty() {
        numbers.sort_unstable();
        numbers.dedup();
        let rows = connection.query(sql, &[&numbers])?;
        let bases = rows.iter().map(|row| column::<Option<i64>>(row, "originals", 0));
        numbers = bases.filter_map(Result::transpose).collect::<Result<Vec<i64>, _>>()?;
    }
    Ok(())
}

/// Stores the differences from an original whole, so that it can be released.
///
/// # Errors
/// As [`read`], and errors of the compression.
pub(super) fn detach_from(
    connection: &mut PooledConnection,
    number: i64,
) -> Result<(), IndexError> {
    let sql = "SELECT original FROM originals WHERE base = $1 ORDER BY original";
    for row in connection.query(sql, &[&number])? {
        let at: i64 = column(&row, "originals", 0)?;
        let bytes = read(connection, at)?.bytes;
        let row = EncodedOriginal::new(at, &bytes, original_hash(&bytes), None)?;
        let sql = "UPDATE originals SET base = NULL, zstd = $2, checksum = $3 WHERE original = $1";
        connection.query(sql, &[&at, &row.code, &row.checksum()])?;
    }
    Ok(())
}

/// The number of the first original behind `after` that no version has.
///
/// # Errors
/// Errors of the server.
pub(super) fn next_unused(
    connection: &mut PooledConnection,
    after: i64,
) -> Result<Option<i64>, IndexError> {
    let sql = "SELECT original FROM originals AS o WHERE original > $1 \
               AND NOT EXISTS (SELECT FROM versions WHERE versions.original = o.original) \
               ORDER BY original LIMIT 1";
    let rows = connection.query(sql, &[&after])?;
    rows.first().map(|row| column(row, "originals", 0)).transpose()
}

fn encode(number: i64, bytes: &[u8], base: Option<&[u8]>) -> Result<Vec<u8>, IndexError> {
    original_code::encode(bytes, base).map_err(|why| IndexError::Io {
        path: format!("original {number}"),
        source: std::io::Error::other(why),
    })
}

pub(super) fn damaged(number: i64, why: String) -> IndexError {
    IndexError::Damaged { what: format!("original {number}"), why }
}
