//! Adds, ends and removes versions of documents, with their originals.

use super::copy::copy_in;
use super::document_row::DocumentRowValues;
use super::original_writer::OriginalWriter;
use super::originals;
use super::plan::WritePlan;
use super::pool::PooledConnection;
use super::row::column;
use super::version_plan::{PlannedVersion, VersionPlan, plan};
use super::versions;
use crate::backend::Change;
use crate::checksum;
use crate::error::IndexError;
use crate::settings::IndexSettings;

const COPY_VERSIONS: &str = "COPY versions (doc, id, version, original, added, ended, modified, \
                             type, name, checksum, text, text_checksum) FROM STDIN BINARY";

/// Versions that a batch changes, whose originals are stored.
pub(super) struct VersionChanges<'a> {
    plan: VersionPlan<'a>,
    ready: &'a [Option<DocumentRowValues<'a>>],
}

impl<'a> VersionChanges<'a> {
    /// Plans the versions of a batch, stores their originals, and ends those versions that other
    /// ones replace. The batch's documents are as before.
    ///
    /// # Errors
    /// Errors of the server and of the compression, [`IndexError::Damaged`] for a version that is
    /// replaced.
    pub(super) fn begin(
        connection: &mut PooledConnection,
        settings: &IndexSettings,
        changes: &[Change<'a>],
        ready: &'a [Option<DocumentRowValues<'a>>],
        write: &WritePlan,
    ) -> Result<Self, IndexError> {
        let stored = versions::of_documents(connection, &write.gone)?;
        let mut plan = plan(changes, write, &stored, ready)?;
        let mut writer = OriginalWriter::new(connection, settings, ready);
        writer.store(&mut plan.versions)?;
        end(connection, &plan.versions)?;
        Ok(Self { plan, ready })
    }

    /// Writes the versions, and removes those of removed documents with originals that nothing else
    /// needs.
    ///
    /// # Errors
    /// Errors of the server.
    pub(super) fn finish(self, connection: &mut PooledConnection) -> Result<(), IndexError> {
        let sql = "DELETE FROM versions WHERE id = ANY($1) RETURNING original";
        let removed = connection.query(sql, &[&self.plan.removed])?;
        let removed = removed.iter().map(|row| column(row, "versions", 0));
        let removed = removed.collect::<Result<Vec<i64>, IndexError>>()?;
        let rows = self.plan.versions.iter().filter(|one| !one.ends_as_stored());
        let rows: Vec<&PlannedVersion<'_>> = rows.collect();
        let moved: Vec<i64> = rows.iter().filter_map(|one| one.stored).collect();
        connection.query("DELETE FROM versions WHERE doc = ANY($1)", &[&moved])?;
        insert(connection, &rows, self.ready)?;
        originals::release(connection, removed)
    }
}

/// Removes all versions of documents, and originals that nothing else needs.
///
/// # Errors
/// Errors of the server.
pub(super) fn remove_all(
    connection: &mut PooledConnection,
    documents: &[i64],
) -> Result<(), IndexError> {
    let sql = "DELETE FROM versions USING docs \
               WHERE docs.doc = ANY($1) AND versions.id = docs.id RETURNING versions.original";
    let rows = connection.query(sql, &[&documents])?;
    let removed = rows.iter().map(|row| column(row, "versions", 0));
    originals::release(connection, removed.collect::<Result<Vec<i64>, IndexError>>()?)
}

/// Ends stored versions, with the texts of their documents.
fn end(
    connection: &mut PooledConnection,
    planned: &[PlannedVersion<'_>],
) -> Result<(), IndexError> {
    let ending = || planned.iter().filter(|one| one.ends_as_stored());
    let docs: Vec<i64> = ending().filter_map(|one| one.stored).collect();
    if docs.is_empty() {
        return Ok(());
    }
    let ended: Vec<Option<i64>> = ending().map(|one| one.version.ended).collect();
    let sums: Vec<i64> = ending().map(|one| checksum::version(one.id, &one.version)).collect();
    // The last 8 of the checksums of a document are that of its text.
    let sql = "UPDATE versions SET ended = now.ended, checksum = now.checksum, \
               text = docs.text, text_checksum = substring(docs.checksums from 33 for 8) \
               FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS now (doc, ended, checksum) \
               JOIN docs ON docs.doc = now.doc WHERE versions.doc = now.doc";
    connection.query(sql, &[&docs, &ended, &sums]).map(drop)
}

/// Inserts rows of versions.
fn insert(
    connection: &mut PooledConnection,
    planned: &[&PlannedVersion<'_>],
    ready: &[Option<DocumentRowValues<'_>>],
) -> Result<(), IndexError> {
    if planned.is_empty() {
        return Ok(());
    }
    copy_in(connection, COPY_VERSIONS, |rows| {
        for one in planned {
            let version = &one.version;
            rows.row(12)?;
            rows.bigint(version.document.cast_signed())?;
            rows.bytes(one.id.as_bytes())?;
            rows.bigint(version.number.cast_signed())?;
            rows.bigint(version.original.cast_signed())?;
            rows.bigint(version.added)?;
            rows.bigint_or_null(version.ended)?;
            rows.bigint_or_null(version.modified)?;
            rows.bytes(version.media_type.as_bytes())?;
            rows.bytes(version.name.as_bytes())?;
            rows.bigint(checksum::version(one.id, version))?;
            let change = one.change.filter(|_| version.ended.is_some());
            let row = change.and_then(|at| ready.get(at)?.as_ref());
            let text = row.and_then(DocumentRowValues::text);
            let sum = text.map(|text| checksum::content(version.document, text).to_le_bytes());
            rows.bytes_or_null(text)?;
            rows.bytes_or_null(sum.as_ref().map(|sum| &sum[..]))?;
        }
        Ok(())
    })
}
