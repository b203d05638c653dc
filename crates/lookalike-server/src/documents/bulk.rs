//! Many documents in one request, as lines of JSON or as records of a crawl. They are read,
//! prepared and written in batches.

use crate::documents::bulk_batches::{BodyBatch, BodyBatches, PreparedBatch};
use crate::documents::bulk_options::{BodyForm, BulkOptions};
use crate::documents::{bulk_lines, bulk_records};
use crate::http::address::QueryParameters;
use crate::http::body::{self, BodyPieces};
use crate::http::problem::{Code, Problem};
use crate::http::response::{HandlerResult, json, json_bytes};
use crate::service_state::KeptAnswer;
use crate::service_state::idempotency::{KeyedRequest, RunningRequest};
use crate::state::app::App;
use crate::threads::pool::PoolWorker;
use crate::threads::writer::{Changes, SubmittedChanges, lost};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use lookalike::store::backend::ChangeOutcome;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum number of skipped lines or records that are listed; all are counted.
const LISTED: usize = 1_000;

/// The form of a body of this type, and the parameters that it has.
fn form_of(headers: &HeaderMap) -> Result<(BodyForm, &'static [&'static str]), Problem> {
    if body::has_type(headers, "application/warc") {
        return Ok((BodyForm::Records, &["id_field", "mode", "name", "on_error"]));
    }
    body::expect_type(headers, "application/x-ndjson")?;
    Ok((BodyForm::Lines, &["form", "mode", "on_error"]))
}

/// `POST /v1/documents`
pub(crate) async fn post(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let (form, known) = form_of(request.headers())?;
    let parameters = QueryParameters::read(request.uri().query(), known)?;
    let options = BulkOptions::read(&parameters, form, &app)?;
    let (parts, body) = request.into_parts();
    let idle_time = app.service.config.limits.idle_time;
    let mut pieces = BodyPieces::new(&parts.headers, body, idle_time)?;
    if form == BodyForm::Records {
        pieces.expand_if_compressed();
    }
    let keyed = app.keyed.look_up(&parts.headers).await?;
    if keyed.is_some() {
        let query = parts.uri.query().unwrap_or_default();
        pieces.hash_after(format!("{query}\n").as_bytes());
    }
    match keyed {
        None => store(&app, pieces, options).await.0,
        Some(KeyedRequest::Again(answer)) => replay(answer, pieces).await,
        // Continues if the client disconnects, so that its next request gets the answer.
        Some(KeyedRequest::First(running)) => {
            let stored = tokio::spawn(store_once(Arc::clone(&app), pieces, options, running));
            stored.await.unwrap_or_else(|_| Err(lost()))
        }
    }
}

/// Stores the lines of a body. Returns the answer, and the pieces that are left.
async fn store(
    app: &Arc<App>,
    pieces: BodyPieces,
    options: BulkOptions,
) -> (HandlerResult, BodyPieces) {
    let mut batches = BodyBatches::new(pieces, options.form);
    let mut tally = BulkTally::new(options);
    let answer = match run(app, &mut batches, &mut tally).await {
        Ok(()) => json(StatusCode::OK, &tally.answer()),
        Err(problem) => Err(problem.with("stored", tally.stored())),
    };
    (answer, batches.pieces)
}

/// Stores the lines of a request with a key. Keeps the answer if the whole request was read and the
/// server did not fail.
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
    let kept =
        KeptAnswer { status: parts.status, body: body.clone(), fingerprint: pieces.fingerprint() };
    if let Err(problem) = running.end(kept).await {
        // The documents are stored; the request runs again if it is sent again.
        let why = problem.cause();
        app.service.log.say(&format!("an answer was not kept for its key: {why}"));
    }
    Ok(Response::from_parts(parts, Body::from(body)))
}

/// The answer that was given to the same request before.
async fn replay(answer: KeptAnswer, mut pieces: BodyPieces) -> HandlerResult {
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
async fn run(
    app: &Arc<App>,
    batches: &mut BodyBatches,
    tally: &mut BulkTally,
) -> Result<(), Problem> {
    let mut written = None;
    let member = tally.member();
    let mut rest: Option<BodyBatch> = None;
    let request_time = app.service.config.limits.request_time;
    let mut spent = Duration::ZERO;
    let ended = loop {
        // A small body may expand to many lines that fail or change nothing.
        if batches.pieces.time_budget(request_time).is_some_and(|budget| spent > budget) {
            break Err(app.timeout().with(member, batches.next));
        }
        let batch = match rest.take() {
            Some(rest) => rest,
            None => match batches.batch(app).await {
                Ok(Some(batch)) => batch,
                Ok(None) => break Ok(()),
                Err(problem) => break Err(problem.with(member, batches.next)),
            },
        };
        let since = Instant::now();
        let first = batch.first;
        let stop = tally.options.stop;
        let mut prepared = match app.in_time(prepare_batch(app, batch, &tally.options)).await {
            Ok(prepared) => prepared,
            Err(problem) => break Err(problem.with(member, first)),
        };
        settle(app, written.take(), tally).await?;
        rest = prepared.rest.take();
        let bad = prepared.bad;
        let changes = Changes { changes: prepared.changes, stop, held: prepared.held };
        let pending = match app.in_time(app.writer()?.put_when_free(changes)).await {
            Ok(pending) => pending,
            Err(problem) => break Err(problem.with(member, first)),
        };
        written = Some(SubmittedBatch { first, pending, numbers: prepared.numbers });
        if stop && !bad.is_empty() {
            // A problem of an earlier line is reported first.
            settle(app, written.take(), tally).await?;
        }
        bad.into_iter().try_for_each(|(number, problem)| tally.bad(number, problem))?;
        spent += since.elapsed();
    };
    settle(app, written, tally).await?;
    ended
}

/// Prepares a batch when there is memory for it.
async fn prepare_batch(
    app: &Arc<App>,
    batch: BodyBatch,
    options: &BulkOptions,
) -> Result<PreparedBatch, Problem> {
    let needed = match options.form {
        BodyForm::Lines => App::work_bytes(batch.bytes.len()),
        // Even a small record may be unpacked to the allowed size.
        BodyForm::Records => app.service.config.limits.unpacked_bytes(),
    };
    let work = app.service.work.wait(needed).await?;
    let shared = Arc::clone(app);
    let options = options.clone();
    let prepare = move |worker: &mut PoolWorker| {
        let bytes = batch.bytes.len();
        let mut prepared = match options.form {
            BodyForm::Lines => bulk_lines::prepare(worker, &shared, &batch, &options),
            BodyForm::Records => bulk_records::prepare(worker, &shared, &batch, &options),
        };
        worker.release_buffers(bytes);
        prepared.held.push(work);
        Ok(prepared)
    };
    app.pool.run_when_free(prepare).await
}

/// A batch that was submitted to the writer.
struct SubmittedBatch {
    /// The number of its first line or record.
    first: u64,
    pending: SubmittedChanges,
    /// The number of the line or record of each change.
    numbers: Vec<u64>,
}

async fn settle(
    app: &App,
    written: Option<SubmittedBatch>,
    tally: &mut BulkTally,
) -> Result<(), Problem> {
    let Some(SubmittedBatch { first, pending, numbers }) = written else { return Ok(()) };
    let outcomes = app.in_time(pending.outcomes()).await;
    let outcomes = outcomes
        .map_err(|problem| problem.with(tally.member(), *numbers.first().unwrap_or(&first)))?;
    for (number, result) in numbers.into_iter().zip(outcomes) {
        match result {
            Ok(ChangeOutcome::Added) => tally.added += 1,
            Ok(_) => tally.replaced += 1,
            Err(problem) => tally.bad(number, problem)?,
        }
    }
    Ok(())
}

/// Outcomes of the lines or records so far.
struct BulkTally {
    options: BulkOptions,
    added: u64,
    replaced: u64,
    skipped: Vec<(u64, Problem)>,
    skipped_total: u64,
}

impl BulkTally {
    fn new(options: BulkOptions) -> Self {
        Self { options, added: 0, replaced: 0, skipped: Vec::new(), skipped_total: 0 }
    }

    /// The member of answers that has the number of a line or record.
    fn member(&self) -> &'static str {
        match self.options.form {
            BodyForm::Lines => "line",
            BodyForm::Records => "record",
        }
    }

    fn stored(&self) -> u64 {
        self.added + self.replaced
    }

    /// Counts a line or record that was not stored. Returns an error if the problem ends the
    /// request. A problem that the line or record did not cause always ends it.
    fn bad(&mut self, number: u64, problem: Problem) -> Result<(), Problem> {
        let member = self.member();
        if problem.code.status >= 500 {
            return Err(problem.with(member, number));
        }
        if self.options.stop {
            let detail = format!(
                "{member} {number}: {}; everything before it is stored; send it and the rest again",
                problem.detail
            );
            let bad = Problem::new(Code::BAD_LINE, detail);
            return Err(bad.with(member, number).with("line_code", problem.code.name));
        }
        self.skipped_total += 1;
        if self.skipped.len() < LISTED {
            self.skipped.push((number, problem));
        }
        Ok(())
    }

    fn answer(&self) -> serde_json::Value {
        let mut skipped: Vec<_> = self.skipped.iter().collect();
        skipped.sort_by_key(|(number, _)| *number);
        let skipped = skipped.into_iter().map(|(number, problem)| {
            let mut entry = json!({ "code": problem.code.name, "detail": problem.detail });
            entry[self.member()] = (*number).into();
            entry
        });
        json!({
            "added": self.added, "replaced": self.replaced,
            "skipped": skipped.collect::<Vec<_>>(), "skipped_total": self.skipped_total,
        })
    }
}
