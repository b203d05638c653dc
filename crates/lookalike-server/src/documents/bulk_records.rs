//! Records of a crawl (WARC), prepared for the index: the pages and files in them are read within
//! the limits of `POST /v1/extract`, and stored unchanged if the index keeps originals.

use crate::documents::bulk_batches::{BodyBatch, PreparedBatch, PreparedMemory};
use crate::documents::bulk_options::BulkOptions;
use crate::documents::document_file::metadata_of;
use crate::documents::document_to_write::{DocumentToWrite, check_original, check_text};
use crate::http::problem::{Code, Problem};
use crate::state::app::App;
use crate::threads::pool::PoolWorker;
use lookalike::extract::warc::next_record;
use lookalike::extract::{ExtractedPart, FailedPart, FileKind, PartSink};
use lookalike::index::OwnedOriginal;
use lookalike::store::entry::{Metadata, check_id, shortened_id};
use std::convert::Infallible;
use std::time::Instant;

/// Bytes of texts and originals that are prepared at once, without the last record.
const PREPARED_BYTES: usize = 32 << 20;

/// Prepares the records of a batch, at least one. Leaves the records in `rest` that would take too
/// much time or memory at once.
pub(crate) fn prepare(
    worker: &mut PoolWorker,
    app: &App,
    batch: &BodyBatch,
    options: &BulkOptions,
) -> PreparedBatch {
    let limits = &app.service.config.limits;
    let deadline = Instant::now() + limits.request_time / 2;
    let mut prepared = PreparedBatch::default();
    if let Some(length) = batch.too_long {
        prepared.bad.push((batch.first, too_long(length, limits.body_bytes)));
        return prepared;
    }
    let mut memory = PreparedMemory::new(batch.bytes.len());
    let mut start = 0;
    let mut number = batch.first;
    let mut bytes = 0;
    while let Some((size, found)) = next_record(&batch.bytes[start..], true) {
        if start > 0 && (bytes > PREPARED_BYTES || Instant::now() >= deadline) {
            let rest = batch.bytes[start..].to_vec();
            prepared.rest = Some(BodyBatch { bytes: rest, first: number, too_long: None });
            break;
        }
        let record = &batch.bytes[start..start + size];
        let documents = match found {
            Ok(_) => read(worker, without_line_ends(record), options),
            Err(failure) => vec![Err(Problem::new(Code::UNREADABLE_FILE, failure.to_string()))],
        };
        let ends = documents.into_iter().any(|document| {
            let document = document.and_then(|document| {
                let original = document
                    .document
                    .original
                    .as_ref()
                    .map_or(0, |original| original.bytes().len());
                let more = document.memory() + original;
                bytes += more;
                memory.add(app, more)?;
                Ok(options.mode.change(document.document))
            });
            prepared.take(number, document, options.stop)
        });
        if ends {
            break;
        }
        start += size;
        number += 1;
    }
    prepared.held.extend(memory.held());
    prepared
}

/// A record without the line ends that remain from the previous record.
fn without_line_ends(record: &[u8]) -> &[u8] {
    let start = record.iter().position(|byte| !matches!(byte, b'\r' | b'\n'));
    &record[start.unwrap_or(0)..]
}

fn too_long(length: u64, most: u64) -> Problem {
    let detail = format!(
        "the record has {length} bytes, at most {most} are taken: start the server with a greater \
         --max-body"
    );
    Problem::new(Code::BODY_TOO_LARGE, detail)
}

/// Reads the documents in a record, with a problem for each part that is not a document. A record
/// without a file, such as the record of a request, has neither.
fn read(
    worker: &mut PoolWorker,
    record: &[u8],
    options: &BulkOptions,
) -> Vec<Result<DocumentToWrite, Problem>> {
    let mut parts = CrawlParts::default();
    let Ok(()) = worker.extractor().extract("record.warc", record, &mut parts);
    parts.0.into_iter().map(|part| document(worker, part?, record, options)).collect()
}

/// A text in a record.
struct CrawlPart {
    /// The path of the file in the file of the record; empty for the file of the record itself.
    within: String,
    text: String,
    metadata: Metadata,
}

/// Takes the texts in a record.
#[derive(Default)]
struct CrawlParts(Vec<Result<CrawlPart, Problem>>);

/// The path within the file of a record. Leaves out the number of the record, because it is the
/// only one.
fn within_file(within: &str) -> &str {
    within.split_once('/').map_or("", |(_, within)| within)
}

impl PartSink for CrawlParts {
    type Error = Infallible;

    fn part(&mut self, part: &ExtractedPart<'_>) -> Result<(), Infallible> {
        self.0.push(Ok(CrawlPart {
            within: within_file(part.within).to_owned(),
            text: part.text.to_owned(),
            metadata: metadata_of(part.fields),
        }));
        Ok(())
    }

    fn failed(&mut self, failed: &FailedPart<'_>) -> Result<(), Infallible> {
        let place = match within_file(failed.within) {
            "" => String::new(),
            within => format!("{}: ", shortened_id(within)),
        };
        let detail = format!("{place}{}", failed.failure);
        self.0.push(Err(Problem::new(Code::UNREADABLE_FILE, detail)));
        Ok(())
    }
}

/// Prepares a text of a record.
fn document(
    worker: &mut PoolWorker,
    part: CrawlPart,
    record: &[u8],
    options: &BulkOptions,
) -> Result<DocumentToWrite, Problem> {
    let CrawlPart { within, text, metadata } = part;
    let own = metadata.get(options.id_field).and_then(|value| value.as_str());
    let own = own.ok_or_else(|| {
        let detail = format!(
            "the record has no {}: ?id_field= chooses record-id or url as the id of documents",
            options.id_field
        );
        Problem::new(Code::BAD_ID, detail)
    })?;
    let id = if within.is_empty() { own.to_owned() } else { format!("{own}/{within}") };
    check_id(&id)?;
    check_text(&text, options.text_bytes)?;
    let preparer = &mut worker.preparer;
    check_original(preparer, &id, record.len())?;
    let mut document = DocumentToWrite::of_file(id, text, metadata, &options.name, preparer)?;
    if preparer.originals().is_some() {
        // As `lookalike index add` keeps it: the record with its header.
        let original = OwnedOriginal::new(record, FileKind::Warc.media_type(), "");
        document.document.original = Some(original);
    }
    Ok(document)
}
