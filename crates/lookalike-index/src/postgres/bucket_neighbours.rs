//! The documents that share the most bucket keys with those of a batch, whose originals these may
//! become differences from.

use super::pool::PooledConnection;
use super::row::column;
use crate::error::IndexError;
use std::collections::HashMap;

/// The stored documents of a bucket that are counted, the latest ones: a text that is repeated more
/// often has a good base among them.
const MOST_OF_BUCKET: i64 = 8;

/// Stored documents by bucket key, and the last document of the batch with each key.
#[derive(Default)]
pub(super) struct SimilarInBuckets {
    stored: HashMap<i64, Vec<i64>>,
    added: HashMap<i64, i64>,
}

impl SimilarInBuckets {
    /// Reads the stored documents of these keys.
    ///
    /// # Errors
    /// Errors of the server.
    pub(super) fn read(
        connection: &mut PooledConnection,
        mut keys: Vec<i64>,
    ) -> Result<Self, IndexError> {
        keys.sort_unstable();
        keys.dedup();
        let sql = "SELECT wanted.key, found.doc FROM unnest($1::bigint[]) AS wanted (key) \
                   CROSS JOIN LATERAL (SELECT doc FROM bands WHERE bands.key = wanted.key \
                   ORDER BY doc DESC LIMIT $2) AS found";
        let mut stored = HashMap::<i64, Vec<i64>>::new();
        connection.stream(sql, &[&keys, &MOST_OF_BUCKET], |row| {
            stored.entry(column(row, "bands", 0)?).or_default().push(column(row, "bands", 1)?);
            Ok(())
        })?;
        Ok(Self { stored, added: HashMap::new() })
    }

    /// The document that shares the most of these keys, the latest of several, and adds the keys as
    /// those of the document `number`.
    pub(super) fn find_and_add(&mut self, mut keys: Vec<i64>, number: i64) -> Option<i64> {
        keys.sort_unstable();
        keys.dedup();
        let mut counts = HashMap::<i64, u32>::new();
        for key in keys {
            let stored = self.stored.get(&key).into_iter().flatten().copied();
            for other in stored.chain(self.added.insert(key, number)) {
                *counts.entry(other).or_default() += 1;
            }
        }
        counts.into_iter().map(|(other, count)| (count, other)).max().map(|(_, other)| other)
    }
}
