//! Documents as lines of JSON. They are read, shingled and written in batches, so that memory does
//! not depend on their number.

use crate::address::QueryParameters;
use crate::app::{App, HandlerResult, json, json_bytes};
use crate::body::{self, BodyPieces};
use crate::documents::{DocumentRequest, DocumentToWrite, WriteMode, time_of};
use crate::idempotency::{KeptAnswer, KeyedRequest, RunningRequest};
use crate::json;
use crate::metadata::BoundedMetadata;
use crate::middleware::in_time;
use crate::pool::PoolWorker;
use crate::problem::{Code, Problem};
use crate::writer::{Changes, OwnedChange, SubmittedChanges, lost};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use lookalike::index::{OwnedOriginal, TextPreparer};
use lookalike::store::backend::ChangeOutcome;
use lookalike::store::entry::check_id;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

/// Maximum size of a batch in lines and bytes.
const BATCH_LINES: usize = 2_000;
const BATCH_BYTES: usize = 4 << 20;
/// Up to this size of lines, the same size is reserved again for the batches being prepared and
/// written.
const TWICE_HELD: u64 = 2 * BATCH_BYTES as u64;
/// Minimum step of memory reservations; a multiple of the allocation unit.
const STEP_BYTES: u64 = 64 << 10;
/// Maximum number of skipped lines that are listed; all are counted.
const LISTED: usize = 1_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LineDocument {
    id: String,
    text: String,
    metadata: Option<BoundedMetadata>,
    modified: Option<String>,
    expires: Option<String>,
    ttl_seconds: Option<json::WholeNumber>,
    /// Of lines of an export only, as those that follow.
    bytes: Option<json::WholeNumber>,
    added: Option<String>,
    group_size: Option<json::WholeNumber>,
    duplicates: Option<Vec<String>>,
    original: Option<OriginalMember>,
}

/// What a document was read from.
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

#[derive(Debug, Clone, Copy)]
struct BulkOptions {
    mode: WriteMode,
    /// Whether the first bad line ends the request.
    stop: bool,
    /// Whether the lines are those of an export.
    exported: bool,
    text_bytes: u64,
}

/// `POST /v1/documents`
pub(crate) async fn post(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let parameters = QueryParameters::read(request.uri().query(), &["form", "mode", "on_error"])?;
    let forms = [("export", true), ("document", false)];
    let exported = parameters.choice("form", &forms, false)?;
    let stop = parameters.choice("on_error", &[("stop", true), ("skip", false)], true)?;
    let limits = &app.config.limits;
    let (mode, text_bytes) = (WriteMode::of(&parameters)?, limits.text_bytes);
    let options = BulkOptions { mode, stop, exported, text_bytes };
    let (parts, body) = request.into_parts();
    body::expect_type(&parts.headers, "application/x-ndjson")?;
    let mut pieces = BodyPieces::new(&parts.headers, body, limits.idle_time)?;
    let keyed = app.keyed.look_up(&parts.headers)?;
    if keyed.is_some() {
        let query = parts.uri.query().unwrap_or_default();
        pieces.hash_after(format!("{query}\n").as_bytes());
    }
    match keyed {
        None => store(&app, pieces, options).await.0,
        Some(KeyedRequest::Again(answer)) => again(answer, pieces).await,
        // Goes on where the client leaves before the answer, so that the answer is there when it
        // asks again.
        Some(KeyedRequest::First(running)) => {
            let stored = tokio::spawn(store_once(Arc::clone(&app), pieces, options, running));
            stored.await.unwrap_or_else(|_| Err(lost()))
        }
    }
}

/// Stores the lines of a body; the pieces are those that are left.
async fn store(
    app: &Arc<App>,
    pieces: BodyPieces,
    options: BulkOptions,
) -> (HandlerResult, BodyPieces) {
    let held = LineMemory::default();
    let mut lines = BodyLines { pieces, buffer: Vec::new(), next: 1, ended: false, held };
    let mut tally = LineTally::new(options);
    let answer = match run(app, &mut lines, &mut tally).await {
        Ok(()) => json(StatusCode::OK, &tally.answer()),
        Err(problem) => Err(problem.with("stored", tally.stored())),
    };
    (answer, lines.pieces)
}

/// The same for a request with a key, whose answer is kept if the whole request was read and the
/// server could do it.
async fn store_once(
    app: Arc<App>,
    pieces: BodyPieces,
    options: BulkOptions,
    running: RunningRequest,
) -> HandlerResult {
    let (answer, mut pieces) = store(&app, pieces, options).await;
    let response = answer.unwrap_or_else(IntoResponse::into_response);
    if response.status().is_server_error() || pieces.skip().await.is_err() {
        return Ok(response);
    }
    let (parts, body) = response.into_parts();
    let body = body.collect().await.map_err(|error| Problem::internal(error.to_string()))?;
    let body = body.to_bytes();
    running.end(parts.status, body.clone(), pieces.fingerprint());
    Ok(Response::from_parts(parts, Body::from(body)))
}

/// The answer that was given to the same request before.
async fn again(answer: KeptAnswer, mut pieces: BodyPieces) -> HandlerResult {
    pieces.skip().await?;
    answer.check(pieces.fingerprint())?;
    let kind = if answer.status.is_success() { "json" } else { "problem+json" };
    let mut response = json_bytes(answer.status, answer.body.to_vec());
    let headers = response.headers_mut();
    if let Ok(kind) = HeaderValue::from_str(&format!("application/{kind}")) {
        headers.insert(CONTENT_TYPE, kind);
    }
    headers.insert("idempotent-replayed", HeaderValue::from_static("true"));
    Ok(response)
}

/// Reads, prepares and writes; a batch is prepared while the previous one is written.
async fn run(app: &Arc<App>, lines: &mut BodyLines, tally: &mut LineTally) -> Result<(), Problem> {
    let mut written = None;
    let ended = loop {
        let batch = match lines.batch(app).await {
            Ok(Some(batch)) => batch,
            Ok(None) => break Ok(()),
            Err(problem) => break Err(problem.with("line", lines.next)),
        };
        let (first, options) = (batch.first, tally.options);
        let prepared = match in_time(app, prepare_batch(app, batch, options)).await {
            Ok(prepared) => prepared,
            Err(problem) => break Err(problem.with("line", first)),
        };
        settle(app, written.take(), tally).await?;
        let bad = prepared.bad;
        let changes =
            Changes { changes: prepared.changes, stop: options.stop, held: prepared.held };
        let pending = match in_time(app, app.writer()?.put_when_free(changes)).await {
            Ok(pending) => pending,
            Err(problem) => break Err(problem.with("line", first)),
        };
        written = Some(SubmittedBatch { first, pending, lines: prepared.lines });
        if options.stop && !bad.is_empty() {
            // A problem of an earlier line is reported first.
            settle(app, written.take(), tally).await?;
        }
        bad.into_iter().try_for_each(|(line, problem)| tally.bad(line, problem))?;
    };
    settle(app, written, tally).await?;
    ended
}

/// A batch that was submitted to the writer.
struct SubmittedBatch {
    /// The number of its first line.
    first: u64,
    pending: SubmittedChanges,
    /// The number of the line of each change.
    lines: Vec<u64>,
}

async fn settle(
    app: &App,
    written: Option<SubmittedBatch>,
    tally: &mut LineTally,
) -> Result<(), Problem> {
    let Some(SubmittedBatch { first, pending, lines }) = written else { return Ok(()) };
    let outcomes = in_time(app, pending.outcomes()).await;
    let outcomes =
        outcomes.map_err(|problem| problem.with("line", *lines.first().unwrap_or(&first)))?;
    for (line, done) in lines.into_iter().zip(outcomes) {
        match done {
            Ok(ChangeOutcome::Added) => tally.added += 1,
            Ok(_) => tally.replaced += 1,
            Err(problem) => tally.bad(line, problem)?,
        }
    }
    Ok(())
}

/// Whole lines.
struct LineBatch {
    bytes: Vec<u8>,
    /// The number of the first line, from 1.
    first: u64,
}

struct BodyLines {
    pieces: BodyPieces,
    buffer: Vec<u8>,
    next: u64,
    ended: bool,
    held: LineMemory,
}

/// Memory of one client's lines; it grows with them.
#[derive(Default)]
struct LineMemory {
    bytes: u64,
    of_all: Option<OwnedSemaphorePermit>,
    of_bulk: Option<OwnedSemaphorePermit>,
}

impl LineMemory {
    /// Reserves memory for this many bytes of lines.
    fn grow(&mut self, app: &App, lines: u64) -> Result<(), Problem> {
        let needed = app.bulk_memory.at_most(lines + lines.min(TWICE_HELD));
        let Some(more) = needed.checked_sub(self.bytes).filter(|more| *more > 0) else {
            return Ok(());
        };
        let more =
            app.bulk_memory.at_most(self.bytes + more.next_multiple_of(STEP_BYTES)) - self.bytes;
        app.bulk_memory.take(more, &mut self.of_bulk)?;
        app.memory.take(more, &mut self.of_all)?;
        self.bytes += more;
        Ok(())
    }
}

impl BodyLines {
    /// The next batch of lines; `None` at the end.
    async fn batch(&mut self, app: &App) -> Result<Option<LineBatch>, Problem> {
        let most = app.config.limits.body_bytes;
        let (mut scanned, mut count, mut end) = (0, 0, 0);
        loop {
            for (at, byte) in self.buffer[scanned..].iter().enumerate() {
                if *byte == b'\n' {
                    count += 1;
                    end = scanned + at + 1;
                    if count == BATCH_LINES {
                        break;
                    }
                }
            }
            scanned = self.buffer.len();
            if end > 0 && (self.ended || count == BATCH_LINES || scanned >= BATCH_BYTES) {
                break;
            }
            if self.ended {
                end = scanned;
                break;
            }
            if (scanned - end) as u64 > most {
                let detail = format!(
                    "a line has more than {most} bytes: shorten it, or start the server with a \
                     greater --max-body"
                );
                return Err(Problem::new(Code::BODY_TOO_LARGE, detail));
            }
            match self.pieces.next().await? {
                None => self.ended = true,
                Some(piece) => {
                    self.held.grow(app, (self.buffer.len() + piece.len()) as u64)?;
                    self.buffer.extend_from_slice(&piece);
                }
            }
        }
        if end == 0 {
            return Ok(None);
        }
        let rest = self.buffer.split_off(end);
        let bytes = std::mem::replace(&mut self.buffer, rest);
        let first = self.next;
        self.next += count as u64;
        Ok(Some(LineBatch { bytes, first }))
    }
}

/// The lines of a batch as changes.
#[derive(Default)]
struct PreparedBatch {
    changes: Vec<OwnedChange>,
    /// The number of the line of each change.
    lines: Vec<u64>,
    bad: Vec<(u64, Problem)>,
    held: Vec<OwnedSemaphorePermit>,
}

/// Prepares a batch when there is memory for it.
async fn prepare_batch(
    app: &Arc<App>,
    batch: LineBatch,
    options: BulkOptions,
) -> Result<PreparedBatch, Problem> {
    let work = app.work.wait(App::work_bytes(batch.bytes.len())).await?;
    let shared = Arc::clone(app);
    let prepare = move |worker: &mut PoolWorker| {
        let mut prepared = prepare(worker, &shared, &batch, options);
        worker.release_buffers(batch.bytes.len());
        prepared.held.push(work);
        Ok(prepared)
    };
    app.pool.run_when_free(prepare).await
}

fn prepare(
    worker: &mut PoolWorker,
    app: &App,
    batch: &LineBatch,
    options: BulkOptions,
) -> PreparedBatch {
    let mut prepared = PreparedBatch::default();
    // Metadata can need more memory than is reserved per byte of a batch.
    let mut metadata = MetadataMemory { taken: batch.bytes.len(), needed: 0, held: None };
    for (line, number) in batch.bytes.split(|byte| *byte == b'\n').zip(batch.first..) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let document = prepare_line(worker, line, options).and_then(|document| {
            metadata.add(app, document.metadata_memory).map(|()| document.document)
        });
        match document {
            Ok(document) => {
                prepared.changes.push(options.mode.change(document));
                prepared.lines.push(number);
            }
            Err(problem) => {
                let is_own_fault = problem.code.status >= 500;
                prepared.bad.push((number, problem));
                if options.stop || is_own_fault {
                    break;
                }
            }
        }
    }
    prepared.held.extend(metadata.held);
    prepared
}

/// Memory of the metadata of a batch.
struct MetadataMemory {
    taken: usize,
    needed: usize,
    held: Option<OwnedSemaphorePermit>,
}

impl MetadataMemory {
    fn add(&mut self, app: &App, bytes: usize) -> Result<(), Problem> {
        self.needed += bytes;
        let Some(more) = self.needed.checked_sub(self.taken).filter(|more| *more > 0) else {
            return Ok(());
        };
        let more = more.next_multiple_of(STEP_BYTES as usize);
        app.memory.take(more as u64, &mut self.held)?;
        self.taken += more;
        Ok(())
    }
}

fn prepare_line(
    worker: &mut PoolWorker,
    line: &[u8],
    options: BulkOptions,
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
    let given = DocumentRequest { text, metadata, modified, expires, ttl_seconds };
    let mut document = given.prepare(id, &mut worker.preparer, options.text_bytes)?;
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

/// Outcomes of the lines so far.
struct LineTally {
    options: BulkOptions,
    added: u64,
    replaced: u64,
    skipped: Vec<(u64, Problem)>,
    skipped_total: u64,
}

impl LineTally {
    fn new(options: BulkOptions) -> Self {
        Self { options, added: 0, replaced: 0, skipped: Vec::new(), skipped_total: 0 }
    }

    fn stored(&self) -> u64 {
        self.added + self.replaced
    }

    /// Records a line that was not stored; an error if that ends the request, as every problem does
    /// that the line did not cause.
    fn bad(&mut self, line: u64, problem: Problem) -> Result<(), Problem> {
        if problem.code.status >= 500 {
            return Err(problem.with("line", line));
        }
        if self.options.stop {
            let detail = format!(
                "line {line}: {}; what comes before it is stored, send it and the rest again",
                problem.detail
            );
            let bad = Problem::new(Code::BAD_LINE, detail);
            return Err(bad.with("line", line).with("line_code", problem.code.name));
        }
        self.skipped_total += 1;
        if self.skipped.len() < LISTED {
            self.skipped.push((line, problem));
        }
        Ok(())
    }

    fn answer(&self) -> serde_json::Value {
        let mut skipped: Vec<_> = self.skipped.iter().collect();
        skipped.sort_by_key(|(line, _)| *line);
        let skipped = skipped.into_iter().map(|(line, problem)| {
            json!({ "line": line, "code": problem.code.name, "detail": problem.detail })
        });
        json!({
            "added": self.added, "replaced": self.replaced,
            "skipped": skipped.collect::<Vec<_>>(), "skipped_total": self.skipped_total,
        })
    }
}
