//! Originals: the table `originals`. An original is stored once, as a whole or as a difference from
//! an original with a smaller number.

use super::{Effect, Keys, SideTable, TableRow, TableWriter, Tables, Value};
use crate::checksum;
use crate::error::IndexError;
use crate::original::{MAX_ORIGINAL_BYTES, OriginalHash, original_hash};
use crate::original_code::{self, MAX_CHAIN};

pub(crate) const ORIGINALS: SideTable = SideTable {
    name: "originals",
    columns: &["original", "sha256", "bytes", "base", "zstd", "checksum"],
    id: None,
};

/// An original, followed by its chain of bases, up to one that is stored as a whole.
const CHAIN: &str = "
    WITH RECURSIVE chain AS (
        SELECT original, sha256, bytes, base, zstd, checksum, 0 AS depth
        FROM originals WHERE original = $1
        UNION ALL
        SELECT o.original, o.sha256, o.bytes, o.base, o.zstd, o.checksum, chain.depth + 1
        FROM chain JOIN originals AS o ON o.original = chain.base
        WHERE chain.depth < CAST($2 AS bigint) AND chain.base < chain.original
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

/// A decoded original.
pub(super) struct StoredOriginal {
    pub(super) bytes: Vec<u8>,
    /// The number of its base; `None` if it is stored as a whole.
    pub(super) base: Option<i64>,
    /// The number of differences between it and an original that is stored as a whole.
    pub(super) differences: usize,
}

impl EncodedOriginal {
    /// Encodes an original as its difference from `base` if that is smaller, otherwise as a whole.
    /// `base` is the number and the bytes of another original.
    ///
    /// # Errors
    /// Errors of the compression.
    pub(super) fn new(
        number: i64,
        bytes: &[u8],
        sha256: OriginalHash,
        base: Option<(i64, &[u8])>,
    ) -> Result<Self, IndexError> {
        let full = encode(number, bytes, None)?;
        let difference = match base {
            Some((base, original)) => Some((base, encode(number, bytes, Some(original))?)),
            None => None,
        };
        let difference = difference.filter(|(_, code)| code.len() < full.len());
        let (base, code) = difference.map_or((None, full), |(base, code)| (Some(base), code));
        Ok(Self { number, sha256, bytes: bytes.len() as u64, base, code })
    }

    fn checksum(&self) -> i64 {
        checksum::content(self.number.cast_unsigned(), &self.code).cast_signed()
    }

    /// Reads a row. The inner error is the reason why the row is damaged.
    fn of(row: &dyn TableRow) -> Result<Result<Self, (i64, String)>, IndexError> {
        let number = row.integer(0)?;
        let wrong = |why: &str| Ok(Err((number, why.to_owned())));
        let code = row.bytes(4)?.unwrap_or_default().to_vec();
        if checksum::content(number.cast_unsigned(), &code) != row.unsigned(5)? {
            return wrong("the checksum of its bytes is wrong");
        }
        let Ok(sha256) = OriginalHash::try_from(row.bytes(1)?.unwrap_or_default()) else {
            return wrong("its SHA-256 has not 32 bytes");
        };
        let bytes = row.unsigned(2)?;
        if bytes > MAX_ORIGINAL_BYTES {
            return wrong("its length is out of range");
        }
        Ok(Ok(Self { number, sha256, bytes, base: row.optional(3)?, code }))
    }
}

/// Reads an original. Verifies the length and the hash of each original in its chain.
///
/// # Errors
/// Read errors. [`IndexError::Damaged`] if the original or one of its bases is missing or differs
/// from the stored bytes.
pub(super) fn read(tables: Tables<'_>, number: i64) -> Result<StoredOriginal, IndexError> {
    let mut chain = Vec::new();
    let values = [Value::Integer(number), Value::clamped(MAX_CHAIN as u64)];
    tables.each(ORIGINALS.name, CHAIN, &values, &mut |row| {
        chain.push(EncodedOriginal::of(row)?);
        Ok(())
    })?;
    let damaged = |(number, why): (i64, String)| damaged(number, tables.name(), &why);
    let chain = chain.into_iter().collect::<Result<Vec<_>, _>>().map_err(damaged)?;
    let (Some(first), Some(last)) = (chain.first(), chain.last()) else {
        return Err(damaged((number, "it is missing".to_owned())));
    };
    match last.base {
        Some(base) if base >= last.number || chain.len() > MAX_CHAIN => {
            let why = format!("more than {MAX_CHAIN} differences lead to it");
            return Err(damaged((number, why)));
        }
        Some(base) => {
            let why = format!("original {base}, its base, is missing");
            return Err(damaged((number, why)));
        }
        None => {}
    }
    let mut before: Option<Vec<u8>> = None;
    for row in chain.iter().rev() {
        let decoded = original_code::decode(&row.code, before.as_deref(), row.bytes as usize);
        let decoded = decoded.map_err(|why| damaged((row.number, why)))?;
        if original_hash(&decoded) != row.sha256 {
            return Err(damaged((row.number, "its SHA-256 is wrong".to_owned())));
        }
        before = Some(decoded);
    }
    Ok(StoredOriginal {
        bytes: before.unwrap_or_default(),
        base: first.base,
        differences: chain.len() - 1,
    })
}

/// Inserts rows.
///
/// # Errors
/// Errors of the database.
pub(super) fn insert(tables: Tables<'_>, rows: &[EncodedOriginal]) -> Result<(), IndexError> {
    let mut rows = rows.iter().map(|row| {
        vec![
            Value::Integer(row.number),
            Value::Bytes(&row.sha256),
            Value::unsigned(row.bytes),
            Value::Optional(row.base),
            Value::Bytes(&row.code),
            Value::Integer(row.checksum()),
        ]
    });
    tables.insert(&ORIGINALS, &mut rows)
}

/// Removes the given originals that are neither used by a version nor the base of another original;
/// then their bases, by the same rule.
///
/// # Errors
/// Errors of the database.
pub(super) fn release(tables: Tables<'_>, mut numbers: Vec<i64>) -> Result<(), IndexError> {
    let sql = "DELETE FROM originals AS o WHERE {keys} \
               AND NOT EXISTS (SELECT 1 FROM versions WHERE versions.original = o.original) \
               AND NOT EXISTS (SELECT 1 FROM originals AS d WHERE d.base = o.original) \
               RETURNING base";
    while !numbers.is_empty() {
        // The latest first, because it may be a difference from an earlier one.
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        numbers.dedup();
        let keys = Keys::Numbers("original", &numbers);
        let bases = tables.rows_of(ORIGINALS.name, sql, keys, |row| row.optional(0))?;
        numbers = bases.into_iter().flatten().collect();
    }
    Ok(())
}

/// Stores each original that is a difference from the original `number` as a whole, so that
/// `number` can be removed.
fn detach_from(tables: Tables<'_>, number: i64) -> Result<(), IndexError> {
    let sql = "SELECT original FROM originals WHERE {keys} ORDER BY original";
    let keys = Keys::Numbers("base", &[number]);
    for at in tables.rows_of(ORIGINALS.name, sql, keys, |row| row.integer(0))? {
        let bytes = read(tables, at)?.bytes;
        let row = EncodedOriginal::new(at, &bytes, original_hash(&bytes), None)?;
        let sql = "UPDATE originals SET base = NULL, zstd = $1, checksum = $2 WHERE original = $3";
        let values = [Value::Bytes(&row.code), Value::Integer(row.checksum()), Value::Integer(at)];
        tables.execute(ORIGINALS.name, sql, &values)?;
    }
    Ok(())
}

/// Removes originals that no version uses and that are stored only as bases of others. Takes one
/// transaction per original.
///
/// # Errors
/// Errors of the database and of the compression.
pub(crate) fn remove_unused(writer: &impl TableWriter) -> Result<(), IndexError> {
    let sql = "SELECT original FROM originals AS o WHERE original > $1 \
               AND NOT EXISTS (SELECT 1 FROM versions WHERE versions.original = o.original) \
               ORDER BY original LIMIT 1";
    let mut after = Some(i64::MIN);
    while let Some(last) = after {
        after = writer.change(|tables| {
            let values = [Value::Integer(last)];
            let next = tables.first(ORIGINALS.name, sql, &values, |row| row.later(0, last))?;
            let Some(number) = next else { return Ok((None, Effect::Nothing)) };
            match detach_from(tables, number) {
                Ok(()) => release(tables, vec![number])?,
                // Keep it: some of the differences from it may still be readable.
                Err(IndexError::Damaged { .. }) => return Ok((next, Effect::Nothing)),
                Err(error) => return Err(error),
            }
            Ok((next, Effect::Visible))
        })?;
    }
    Ok(())
}

fn encode(number: i64, bytes: &[u8], base: Option<&[u8]>) -> Result<Vec<u8>, IndexError> {
    original_code::encode(bytes, base).map_err(|why| IndexError::Io {
        path: format!("original {number}"),
        source: std::io::Error::other(why),
    })
}

fn damaged(number: i64, index: &str, why: &str) -> IndexError {
    IndexError::damaged(format!("original {number} of {index}"), why)
}
