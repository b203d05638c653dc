//! Documents of the index by id, and queries for documents similar to them.

use crate::backend::Snapshot;
use crate::entry::{IndexRecord, RecordFields};
use crate::error::IndexError;
use crate::query::{QueryBuffers, QueryDocument, QueryRequest, QueryResult, query};
use crate::set;
use crate::settings::IndexSettings;

/// A document of the index, with its shingles.
#[derive(Debug, Clone)]
pub struct IndexedDocument {
    record: IndexRecord,
    set: Vec<u64>,
}

impl IndexedDocument {
    /// The document as the subject of a query.
    pub fn query_document(&self) -> QueryDocument<'_> {
        let IndexRecord { fingerprint, signature, .. } = &self.record;
        QueryDocument { set: &self.set, fingerprint: *fingerprint, signature }
    }

    /// Its number of shingles; `None` if the index stores no sets.
    pub fn shingles(&self) -> Option<usize> {
        self.record.set.is_some().then_some(self.set.len())
    }
}

/// The document with an id; `None` if there is none, or if it had expired by `now`.
///
/// # Errors
/// Read errors.
pub fn record(
    snapshot: &mut dyn Snapshot,
    id: &str,
    now: i64,
    wanted: RecordFields,
) -> Result<Option<IndexRecord>, IndexError> {
    let Some(number) = snapshot.number_of(id)? else { return Ok(None) };
    let mut found = None;
    snapshot.records(&[number], wanted, &mut |record| {
        found = Some(record.clone());
        Ok(())
    })?;
    Ok(found.filter(|record| !record.is_expired(now)))
}

/// Finds documents similar to a document of the index. Always excludes the document itself, instead
/// of `request.except`. `None` if the id is unknown or the document has expired. The document is
/// looked up in the snapshot of the query: in another snapshot it may have another number, and
/// would match itself.
///
/// # Errors
/// As for [`query`].
pub fn query_stored(
    snapshot: &mut dyn Snapshot,
    settings: &IndexSettings,
    id: &str,
    request: &QueryRequest<'_>,
    buffers: &mut QueryBuffers,
) -> Result<Option<(IndexedDocument, QueryResult)>, IndexError> {
    let wanted = RecordFields { signature: true, set: true, ..RecordFields::default() };
    let Some(record) = record(snapshot, id, request.now, wanted)? else { return Ok(None) };
    let mut set = Vec::new();
    if let Some(code) = &record.set {
        set::decode(code, &mut set)?;
    }
    let request = QueryRequest { except: Some(record.number), ..*request };
    let stored = IndexedDocument { record, set };
    let answer = query(snapshot, settings, &stored.query_document(), &request, buffers)?;
    Ok(Some((stored, answer)))
}
