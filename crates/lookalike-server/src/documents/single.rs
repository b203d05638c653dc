//! Routes of single documents: put, get, delete, list.

use crate::caches::category_cache::{self, CategoryCache};
use crate::config::token::{Right, right};
use crate::documents::document_file::{self, FileHead, FileToWrite};
use crate::documents::document_to_write::{DocumentToWrite, check_text};
use crate::documents::document_view::{document_json, visible};
use crate::http::address::{self, QueryParameters};
use crate::http::body::{self, WholeBody};
use crate::http::json::{self, WholeNumber};
use crate::http::metadata::BoundedMetadata;
use crate::http::problem::{Code, Problem};
use crate::http::response::{HandlerResult, JsonList, json, serialized};
use crate::state::app::App;
use crate::state::service::Service;
use crate::threads::pool::PoolWorker;
use crate::threads::writer::{ChangeResults, Changes, OwnedChange, lost};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use lookalike::categories::CategoryNumber;
use lookalike::index::{DocumentFields, IndexCategories, PreparedDocument, TextPreparer, time};
use lookalike::store::IndexError;
use lookalike::store::backend::{ChangeOutcome, Snapshot};
use lookalike::store::entry::{DocumentNumber, IndexRecord, RecordFields};
use lookalike::store::filter::MetadataFilter;
use lookalike::store::query_by_id::record;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

/// Maximum time to live, about 220 years: later times overflow ns since 1970.
const TTL_MAX: u64 = 7_000_000_000;
/// Default and maximum number of documents in a list.
const LIST: usize = 100;
const LIST_MAX: usize = 1_000;
/// A list ends early beyond this many bytes.
const LIST_BYTES: usize = 16 << 20;
/// A list also ends early beyond this many documents that were read.
const READ_DOCUMENTS: usize = 20_000;

/// A document in a request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DocumentRequest {
    pub(crate) text: String,
    pub(crate) metadata: Option<BoundedMetadata>,
    pub(crate) modified: Option<String>,
    pub(crate) expires: Option<String>,
    pub(crate) ttl_seconds: Option<WholeNumber>,
}

/// Whether a document may replace an existing one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteMode {
    Add,
    Put,
}

impl WriteMode {
    pub(crate) fn of(parameters: &QueryParameters) -> Result<Self, Problem> {
        parameters.choice("mode", &[("add", Self::Add), ("put", Self::Put)], Self::Put)
    }

    pub(crate) fn change(self, document: PreparedDocument) -> OwnedChange {
        match self {
            Self::Add => OwnedChange::Add(document),
            Self::Put => OwnedChange::Put(document),
        }
    }
}

impl DocumentRequest {
    /// Shingles and signs the text.
    pub(crate) fn prepare(
        self,
        id: String,
        preparer: &mut TextPreparer,
        text_bytes: u64,
    ) -> Result<DocumentToWrite, Problem> {
        let added = time::now();
        check_text(&self.text, text_bytes)?;
        let modified = self.modified.as_deref().map(|at| time_of("modified", at)).transpose()?;
        let expires = expiry(self.expires.as_deref(), self.ttl_seconds.map(|ttl| ttl.0), added)?;
        let BoundedMetadata { metadata, memory } = self.metadata.unwrap_or_default();
        let fields =
            DocumentFields { metadata, added, modified, expires, ..DocumentFields::default() };
        let document = DocumentToWrite::new(id, self.text, fields, preparer)?;
        Ok(DocumentToWrite { metadata_memory: memory, ..document })
    }
}

/// A time in a request, in ns since 1970.
pub(crate) fn time_of(member: &str, text: &str) -> Result<i64, Problem> {
    time::parse(text).ok_or_else(|| {
        let got = lookalike::store::entry::shortened_id(text);
        let detail = format!(
            "{member} is {got:?}: expected a time such as 2026-11-21T10:00:00Z, between the years \
             1678 and 2261"
        );
        Problem::new(Code::BAD_TIME, detail)
    })
}

fn expiry(expires: Option<&str>, ttl: Option<u64>, now: i64) -> Result<Option<i64>, Problem> {
    let wrong = |detail: &str| Err(Problem::new(Code::BAD_TIME, detail));
    let at = match (expires, ttl) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => {
            let detail = "expires and ttl_seconds both say when it expires: leave one out";
            return Err(Problem::new(Code::BAD_MEMBER, detail));
        }
        (Some(text), None) => time_of("expires", text)?,
        (None, Some(seconds)) => {
            let ns =
                i64::try_from(seconds.min(TTL_MAX + 1)).map_or(i64::MAX, |s| s * 1_000_000_000);
            let Some(at) = now.checked_add(ns).filter(|_| seconds <= TTL_MAX) else {
                return wrong("ttl_seconds is more than 7,000,000,000: leave it out for no end");
            };
            at
        }
    };
    if at <= now {
        return wrong("it would have expired already: expected a time to come");
    }
    Ok(Some(at))
}

/// `PUT /v1/documents/{id}`
pub(crate) async fn put(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let id = address::id(request.uri().path())?;
    let parameters = QueryParameters::read(request.uri().query(), &["mode", "name"])?;
    let mode = WriteMode::of(&parameters)?;
    let (parts, body) = request.into_parts();
    let head = FileHead::of(&parts.headers, parameters.text("name"))?;
    if head.is_none() {
        body::expect_type(&parts.headers, "application/json")?;
    }
    let Service { config, memory, .. } = &*app.service;
    let whole_body = body::read_whole(&parts.headers, body, &config.limits, memory).await?;
    match head {
        Some(head) => put_file(&app, id, mode, head, whole_body).await,
        None => put_json(&app, id, mode, whole_body).await,
    }
}

/// Puts a document from a body of JSON.
async fn put_json(
    app: &Arc<App>,
    id: String,
    mode: WriteMode,
    mut whole_body: WholeBody,
) -> HandlerResult {
    let text_bytes = app.service.config.limits.text_bytes;
    let body_bytes = whole_body.bytes.len();
    let work = app.work_memory(body_bytes).await?;
    let shared = Arc::clone(app);
    let prepare = move |worker: &mut PoolWorker| {
        let request: DocumentRequest = json::parse(&whole_body.bytes)?;
        let document = request.prepare(id, &mut worker.preparer, text_bytes)?;
        worker.release_buffers(body_bytes);
        if work.is_none() {
            let more = document.memory().saturating_sub(body_bytes);
            shared.service.memory.take(more as u64, &mut whole_body.held)?;
        }
        Ok((document, whole_body.held.into_iter().chain(work).collect()))
    };
    let (document, held) = app.pool.run_sized(body_bytes, prepare).await?;
    write_one(app, mode, document, held, Vec::new()).await
}

/// Puts a document from a body that is a file.
async fn put_file(
    app: &Arc<App>,
    id: String,
    mode: WriteMode,
    head: FileHead,
    whole_body: WholeBody,
) -> HandlerResult {
    let limits = &app.service.config.limits;
    let text_bytes = limits.text_bytes;
    // Even a small file may be unpacked to the allowed size.
    let work = app.service.work.wait(limits.unpacked_bytes()).await?;
    let prepare = move |worker: &mut PoolWorker| {
        let WholeBody { bytes, held } = whole_body;
        let prepared = document_file::prepare(&head, id, &bytes, worker, text_bytes);
        worker.release_buffers(bytes.len());
        // The document has its own copy of the bytes.
        drop(bytes);
        Ok((prepared?, held.into_iter().chain([work]).collect()))
    };
    let (file, held) = app.pool.run_sized(usize::MAX, prepare).await?;
    let FileToWrite { document, left_out } = file;
    write_one(app, mode, document, held, left_out).await
}

/// Writes a document, and answers when it is stored.
async fn write_one(
    app: &Arc<App>,
    mode: WriteMode,
    document: DocumentToWrite,
    held: Vec<OwnedSemaphorePermit>,
    left_out: Vec<Value>,
) -> HandlerResult {
    let DocumentToWrite { document, shingles, .. } = document;
    let id = document.id.clone();
    let changes = Changes { changes: vec![mode.change(document)], stop: false, held };
    let outcome = only(app.writer()?.put(changes)?.outcomes().await?)?;
    let (status, action) = match outcome {
        ChangeOutcome::Added => (StatusCode::CREATED, "added"),
        _ => (StatusCode::OK, "replaced"),
    };
    let mut answer = json!({ "id": id, "done": action, "shingles": shingles });
    if !left_out.is_empty() {
        answer["left_out"] = left_out.into();
    }
    json(status, &answer)
}

/// `DELETE /v1/documents/{id}`
pub(crate) async fn delete(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let id = address::id(request.uri().path())?;
    QueryParameters::read(request.uri().query(), &[])?;
    let changes =
        Changes { changes: vec![OwnedChange::Remove(id.clone())], stop: false, held: Vec::new() };
    if only(app.writer()?.put(changes)?.outcomes().await?)? == ChangeOutcome::Absent {
        return Err(Problem::unknown_document(&id));
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}

/// The outcome of the only change.
fn only(outcomes: ChangeResults) -> Result<ChangeOutcome, Problem> {
    outcomes.into_iter().next().unwrap_or_else(|| Err(lost()))
}

/// `GET /v1/documents/{id}`
pub(crate) async fn get(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let id = address::id(request.uri().path())?;
    let parameters = QueryParameters::read(request.uri().query(), &["text"])?;
    let right = right(&request);
    let text = parameters.flag("text")?;
    let cache = Arc::clone(&app.categories);
    let read = move |worker: &mut PoolWorker| {
        let wanted = RecordFields { set: true, signature: true, metadata: true, text };
        let record = find(worker, &id, wanted)?;
        let mut snapshot = worker.index.snapshot()?;
        let size = snapshot.group_sizes(&[record.number])?.first().copied().unwrap_or(1);
        let mut document = document_json(&record, size, right)?;
        if let Some(all) = cache.for_answer(&mut *snapshot)? {
            document["category"] =
                category_cache::document_category(&all, &mut *snapshot, record.number)?;
        }
        if text {
            document["text"] = record.text.into();
        }
        serialized(&document)
    };
    app.answer(0, read).await
}

/// The document with an id, unless it has expired.
pub(crate) fn find(
    worker: &PoolWorker,
    id: &str,
    wanted: RecordFields,
) -> Result<IndexRecord, Problem> {
    let found = record(&mut *worker.index.snapshot()?, id, time::now(), wanted)?;
    found.ok_or_else(|| Problem::unknown_document(id))
}

/// `GET /v1/documents`
pub(crate) async fn list(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let parameters = QueryParameters::read_repeating(
        request.uri().query(),
        &["after", "category", "filter", "limit"],
        &["filter"],
    )?;
    let filters = parameters.conditions()?;
    let limit = parameters.number("limit", LIST_MAX, LIST)?;
    let category = parameters.text("category").map(str::to_owned);
    let from = parameters.cursor(next_number)?.unwrap_or(0);
    let right = right(&request);
    let cache = Arc::clone(&app.categories);
    let read = move |worker: &mut PoolWorker| {
        let part = DocumentsPart { from, limit, right, filters };
        list_part(worker, part, category.as_deref(), &cache)
    };
    app.answer(0, read).await
}

/// The first number after a cursor. The cursor is the number of the last listed document.
pub(crate) fn next_number(cursor: &str) -> Option<u64> {
    cursor.parse::<u64>().ok()?.checked_add(1)
}

/// Documents that are read at once for a list.
const STEP: usize = 50;

/// The requested part of a list: documents numbered `from` or more.
struct DocumentsPart {
    from: u64,
    limit: usize,
    right: Right,
    filters: Vec<MetadataFilter>,
}

/// A part of the list of all documents, or of the documents in the category with a path.
fn list_part(
    worker: &PoolWorker,
    DocumentsPart { mut from, limit, right, filters }: DocumentsPart,
    path: Option<&str>,
    cache: &CategoryCache,
) -> Result<Vec<u8>, Problem> {
    let mut snapshot = worker.index.snapshot()?;
    let categories = cache.for_answer(&mut *snapshot)?;
    let category = path.map(|path| category_cache::named(categories.as_ref(), path)).transpose()?;
    let filter = categories.as_ref().zip(category);
    let mut read = 0;
    let now = time::now();
    let mut documents = JsonList::default();
    let mut more = true;
    while more && documents.len < limit && documents.bytes() < LIST_BYTES && read < READ_DOCUMENTS {
        let most = STEP.min(limit - documents.len);
        let (records, count) = read_step(&mut *snapshot, &mut from, most, filter)?;
        read += count;
        let numbers: Vec<DocumentNumber> = records.iter().map(|record| record.number).collect();
        let sizes = snapshot.group_sizes(&numbers)?;
        let records = records.iter().zip(sizes);
        more = count == most;
        for (record, size) in records.filter(|(record, _)| !record.is_expired(now)) {
            if documents.bytes() >= LIST_BYTES {
                from = record.number.0;
                more = true;
                break;
            }
            if !filters.is_empty() {
                let metadata = visible(&record.metadata, right);
                if !filters.iter().all(|filter| filter.matches(&metadata)) {
                    continue;
                }
            }
            let mut document = document_json(record, size, right)?;
            if let Some(all) = &categories {
                document["category"] =
                    category_cache::document_category(all, &mut *snapshot, record.number)?;
            }
            documents.push(&document)?;
        }
    }
    documents.into_page("documents", more.then(|| from.saturating_sub(1).to_string()))
}

/// Reads at most `most` documents numbered `from` or more, of a category if one is given. Also
/// returns how many were found. Sets `from` to the number after the last.
fn read_step(
    snapshot: &mut dyn Snapshot,
    from: &mut u64,
    most: usize,
    filter: Option<(&IndexCategories, CategoryNumber)>,
) -> Result<(Vec<IndexRecord>, usize), IndexError> {
    let wanted = RecordFields { set: true, signature: true, metadata: true, text: false };
    let mut records = Vec::with_capacity(most);
    let mut take = |record: &IndexRecord| {
        records.push(record.clone());
        Ok(())
    };
    let count = match filter {
        None => {
            let count = snapshot.scan(DocumentNumber(*from), most, wanted, &mut take)?;
            *from = records.last().map_or(*from, |last| last.number.next().0);
            count
        }
        Some((all, category)) => {
            let after = DocumentNumber(from.saturating_sub(1));
            let numbers = all.members(snapshot, category, after, most)?;
            snapshot.records(&numbers, wanted, &mut take)?;
            *from = numbers.last().map_or(*from, |last| last.next().0);
            numbers.len()
        }
    };
    Ok((records, count))
}
