//! Documents as lines of JSON, prepared for the index.

use crate::documents::bulk_batches::{BodyBatch, PreparedBatch, PreparedMemory};
use crate::documents::bulk_options::BulkOptions;
use crate::documents::document_to_write::DocumentToWrite;
use crate::documents::single::{DocumentRequest, time_of};
use crate::http::json;
use crate::http::metadata::BoundedMetadata;
use crate::http::problem::{Code, Problem};
use crate::state::app::App;
use crate::threads::pool::PoolWorker;
use lookalike::index::{OwnedOriginal, TextPreparer};
use lookalike::store::entry::check_id;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LineDocument {
    id: String,
    text: String,
    metadata: Option<BoundedMetadata>,
    modified: Option<String>,
    expires: Option<String>,
    ttl_seconds: Option<json::WholeNumber>,
    /// Only in lines of an export, like the members that follow.
    bytes: Option<json::WholeNumber>,
    added: Option<String>,
    group_size: Option<json::WholeNumber>,
    duplicates: Option<Vec<String>>,
    original: Option<OriginalMember>,
}

/// The original of a document.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OriginalMember {
    #[serde(rename = "type")]
    media_type: String,
    name: String,
    /// In Base64.
    data: String,
}

impl OriginalMember {
    /// The original of the document with this id.
    fn read(&self, id: &str, preparer: &TextPreparer) -> Result<OwnedOriginal, Problem> {
        let Some(originals) = preparer.originals() else {
            let detail = "the index keeps no originals: leave the member `original` out";
            return Err(Problem::new(Code::NO_ORIGINALS, detail));
        };
        let original = OwnedOriginal::of_base64(&self.data, &self.media_type, &self.name);
        let original = original.map_err(|why| Problem::new(Code::BAD_MEMBER, why))?;
        originals.check_length(id, original.bytes().len() as u64)?;
        Ok(original)
    }
}

/// Prepares the lines of a batch; stops at the first bad line if the request says so.
pub(crate) fn prepare(
    worker: &mut PoolWorker,
    app: &App,
    batch: &BodyBatch,
    options: &BulkOptions,
) -> PreparedBatch {
    let mut prepared = PreparedBatch::default();
    // Metadata can need more memory than is reserved per byte of a batch.
    let mut metadata = PreparedMemory::new(batch.bytes.len());
    for (line, number) in batch.bytes.split(|byte| *byte == b'\n').zip(batch.first..) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let document = prepare_line(worker, line, options).and_then(|document| {
            metadata.add(app, document.metadata_memory)?;
            Ok(options.mode.change(document.document))
        });
        if prepared.take(number, document, options.stop) {
            break;
        }
    }
    prepared.held.extend(metadata.held());
    prepared
}

fn prepare_line(
    worker: &mut PoolWorker,
    line: &[u8],
    options: &BulkOptions,
) -> Result<DocumentToWrite, Problem> {
    let mut document: LineDocument = json::parse(line)?;
    let is_exported = document.has_exported_members();
    let duplicates = document.duplicates.take().unwrap_or_default();
    let original = document.original.take();
    let LineDocument { id, text, metadata, modified, expires, ttl_seconds, added, .. } = document;
    check_id(&id)?;
    if !options.exported && is_exported {
        let detail = "bytes, added, group_size, duplicates and original are members of exported \
                      lines only: leave them out, or send the lines with ?form=export";
        return Err(Problem::new(Code::UNKNOWN_MEMBER, detail));
    }
    let added = added.as_deref().map(|at| time_of("added", at)).transpose()?;
    let original = original.map(|original| original.read(&id, &worker.preparer)).transpose()?;
    let request = DocumentRequest { text, metadata, modified, expires, ttl_seconds };
    let mut document = request.prepare(id, &mut worker.preparer, options.text_bytes)?;
    if let Some(added) = added {
        document.document.fields.added = added;
    }
    document.document.fields.duplicates = duplicates;
    document.document.original = original;
    Ok(document)
}

impl LineDocument {
    /// Whether it has a member that only lines of an export have.
    fn has_exported_members(&self) -> bool {
        let Self { bytes, added, group_size, duplicates, original, .. } = self;
        let numbers = bytes.is_some() || group_size.is_some();
        numbers || added.is_some() || duplicates.is_some() || original.is_some()
    }
}
