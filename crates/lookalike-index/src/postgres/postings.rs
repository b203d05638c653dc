//! Rows of bands: one for each band of a document, with the bucket key of its signature.

use super::copy::copy_in;
use super::pool::PooledConnection;
use crate::backend::bucket_keys;
use crate::error::IndexError;
use crate::settings::IndexSettings;

/// A row of the table `bands`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BandPosting {
    /// The bucket key, reinterpreted as a signed number.
    pub(super) key: i64,
    /// The document's number.
    pub(super) doc: i64,
    /// The number of the band, from 0 on.
    pub(super) band: i16,
}

/// Postings of several documents.
pub(super) struct Postings<'a> {
    settings: &'a IndexSettings,
    keys: Vec<u64>,
    /// All postings in the order of their addition.
    pub(super) all: Vec<BandPosting>,
}

impl<'a> Postings<'a> {
    pub(super) fn new(settings: &'a IndexSettings) -> Self {
        Self { settings, keys: Vec::new(), all: Vec::new() }
    }

    /// Adds the postings of a document.
    pub(super) fn add(&mut self, doc: i64, signature: &[u32]) {
        bucket_keys(self.settings, signature, &mut self.keys);
        // A signature has at most as many bands as values, which is a few thousand.
        let postings = (0i16..).zip(&self.keys);
        self.all.extend(postings.map(|(band, key)| BandPosting {
            key: key.cast_signed(),
            doc,
            band,
        }));
    }

    /// Copies the postings into a table with the columns of `bands`, by ascending key, so that each
    /// page of the database index is written once.
    pub(super) fn copy(
        &mut self,
        connection: &mut PooledConnection,
        table: &str,
    ) -> Result<(), IndexError> {
        if self.all.is_empty() {
            return Ok(());
        }
        self.all.sort_unstable();
        let sql = format!("COPY {table} (key, doc, band) FROM STDIN BINARY");
        copy_in(connection, &sql, |rows| {
            for posting in &self.all {
                rows.row(3)?;
                rows.bigint(posting.key)?;
                rows.bigint(posting.doc)?;
                rows.bytes(&posting.band.to_be_bytes())?;
            }
            Ok(())
        })
    }

    /// Deletes the postings from `bands`.
    pub(super) fn delete(&mut self, connection: &mut PooledConnection) -> Result<(), IndexError> {
        if self.all.is_empty() {
            return Ok(());
        }
        self.all.sort_unstable();
        let keys: Vec<i64> = self.all.iter().map(|posting| posting.key).collect();
        let docs: Vec<i64> = self.all.iter().map(|posting| posting.doc).collect();
        let sql = "DELETE FROM bands USING unnest($1::bigint[], $2::bigint[]) AS gone (key, doc) \
                   WHERE bands.key = gone.key AND bands.doc = gone.doc";
        connection.query(sql, &[&keys, &docs]).map(drop)
    }
}
