//! Routes of single documents: put, get, delete, list.

use crate::address::{self, QueryParameters, invalid_value};
use crate::app::{App, HandlerResult, json_bytes};
use crate::body::{self, WholeBody};
use crate::category_cache::{self, CategoryCache};
use crate::document_file::{self, FileHead, FileToWrite};
pub(crate) use crate::document_to_write::{DocumentToWrite, check_text};
use crate::json::{self, WholeNumber};
use crate::metadata::BoundedMetadata;
use crate::pool::PoolWorker;
use crate::problem::{Code, Problem};
use crate::token::{Right, right};
use crate::writer::{ChangeResults, Changes, OwnedChange, lost};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use lookalike::categories::CategoryNumber;
use lookalike::index::{DocumentFields, IndexCategories, PreparedDocument, TextPreparer, time};
use lookalike::store::IndexError;
use lookalike::store::backend::{ChangeOutcome, Snapshot};
use lookalike::store::entry::DocumentNumber;
use lookalike::store::entry::{IndexRecord, Metadata, RecordFields};
use lookalike::store::filter::{MetadataFilter, SOURCE, file_name};
use lookalike::store::query_by_id::record;
use lookalike::store::set;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

/// Maximum time to live, about 220 years: later times overflow ns since 1970.
const TTL_MAX: u64 = 7_000_000_000;
/// Default and maximum number of documents in a list.
const LIST: usize = 100;
const LIST_MAX: usize = 1_000;
/// A list ends early beyond this many bytes.
const LIST_BYTES: usize = 16 << 20;
/// The same beyond this many documents that were read.
const READ_DOCUMENTS: usize = 20_000;
/// Maximum number of conditions of a list.
const FILTERS_MAX: usize = 100;

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
    /// Shingles and signs it.
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
    if let Some(head) = FileHead::of(&parts.headers, parameters.text("name"))? {
        let whole =
            body::whole(&parts.headers, body, &app.service.config.limits, &app.service.memory)
                .await?;
        return put_file(&app, id, mode, head, whole).await;
    }
    let limits = &app.service.config.limits;
    let mut whole = body::json(&parts.headers, body, limits, &app.service.memory).await?;
    let text_bytes = limits.text_bytes;
    let body_bytes = whole.bytes.len();
    let work = app.work_memory(body_bytes).await?;
    let shared = Arc::clone(&app);
    let prepare = move |worker: &mut PoolWorker| {
        let given: DocumentRequest = json::parse(&whole.bytes)?;
        let document = given.prepare(id, &mut worker.preparer, text_bytes)?;
        worker.release_buffers(whole.bytes.len());
        if work.is_none() {
            let more = document.memory().saturating_sub(whole.bytes.len());
            shared.service.memory.take(more as u64, &mut whole.held)?;
        }
        Ok((document, whole.held.into_iter().chain(work).collect()))
    };
    let (document, held) = app.pool.run_sized(body_bytes, prepare).await?;
    write_one(&app, mode, document, held, Vec::new()).await
}

/// Puts the document that a file is.
async fn put_file(
    app: &Arc<App>,
    id: String,
    mode: WriteMode,
    head: FileHead,
    whole: WholeBody,
) -> HandlerResult {
    let limits = &app.service.config.limits;
    let text_bytes = limits.text_bytes;
    // What is unpacked may take as much as is allowed, however small the file is.
    let work = app.service.work.wait(limits.unpacked_bytes()).await?;
    let prepare = move |worker: &mut PoolWorker| {
        let WholeBody { bytes, held } = whole;
        let prepared = document_file::prepare(&head, id, &bytes, worker, text_bytes);
        worker.release_buffers(bytes.len());
        // The document has its own copy of the bytes, which those of the body make room for.
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
    let done = only(app.writer()?.put(changes)?.outcomes().await?)?;
    let (status, done) = match done {
        ChangeOutcome::Added => (StatusCode::CREATED, "added"),
        _ => (StatusCode::OK, "replaced"),
    };
    let mut answer = json!({ "id": id, "done": done, "shingles": shingles });
    if !left_out.is_empty() {
        answer["left_out"] = left_out.into();
    }
    crate::app::json(status, &answer)
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
    let text = parameters.choice("text", &[("true", true), ("false", false)], false)?;
    let cache = Arc::clone(&app.categories);
    let read = move |worker: &mut PoolWorker| {
        let wanted = RecordFields { set: true, signature: true, metadata: true, text };
        let record = find(worker, &id, wanted)?;
        let mut snapshot = worker.index.snapshot()?;
        let size = snapshot.group_sizes(&[record.number])?.first().copied().unwrap_or(1);
        let mut shown = to_json(&record, size, right)?;
        if let Some(all) = cache.for_answer(&mut *snapshot)? {
            let category = all.of_document(&mut *snapshot, record.number)?;
            shown.insert("category".to_owned(), category_cache::shown(&all, category));
        }
        if text {
            shown.insert("text".to_owned(), record.text.into());
        }
        bytes(&shown)
    };
    Ok(json_bytes(StatusCode::OK, app.pool.run(read).await?))
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

/// A JSON list that is serialized value by value, so that only one value at a time is in memory
/// unserialized.
#[derive(Default)]
pub(crate) struct JsonList {
    json: Vec<u8>,
    pub(crate) len: usize,
}

impl JsonList {
    pub(crate) fn push(&mut self, value: &impl serde::Serialize) -> Result<(), Problem> {
        self.separate();
        serde_json::to_writer(&mut self.json, value)
            .map_err(|error| Problem::internal(error.to_string()))
    }

    /// Adds a serialized value.
    pub(crate) fn push_json(&mut self, value: &[u8]) {
        self.separate();
        self.json.extend_from_slice(value);
    }

    fn separate(&mut self) {
        self.json.push(if self.len == 0 { b'[' } else { b',' });
        self.len += 1;
    }

    pub(crate) fn bytes(&self) -> usize {
        self.json.len()
    }

    /// The list as the first member of an object that has the members of another one as well.
    pub(crate) fn into_object(
        self,
        name: &str,
        rest: &impl serde::Serialize,
    ) -> Result<Vec<u8>, Problem> {
        let mut json = format!("{{\"{name}\":").into_bytes();
        json.extend_from_slice(if self.len == 0 { b"[" } else { &self.json });
        drop(self.json);
        json.push(b']');
        let rest = bytes(rest)?;
        // `{}` has no members.
        json.push(if rest.len() > 2 { b',' } else { b' ' });
        json.extend_from_slice(&rest[1..]);
        Ok(json)
    }
}

/// The metadata for a client. Clients with read access do not see the folders of source files.
pub(crate) fn visible(metadata: &Metadata, right: Right) -> Cow<'_, Metadata> {
    let Some(Value::String(source)) = metadata.get(SOURCE) else { return Cow::Borrowed(metadata) };
    let Some(name) = file_name(source).filter(|_| right == Right::Read) else {
        return Cow::Borrowed(metadata);
    };
    let mut metadata = metadata.clone();
    metadata.insert(SOURCE.to_owned(), name.into());
    Cow::Owned(metadata)
}

/// The JSON of a document whose group has `size` documents. Needs its set, signature and metadata.
fn to_json(
    record: &IndexRecord,
    size: u64,
    right: Right,
) -> Result<Map<String, Value>, IndexError> {
    let mut shown = Map::new();
    shown.insert("id".to_owned(), record.id.as_str().into());
    shown.insert("bytes".to_owned(), record.bytes.into());
    shown.insert("shingles".to_owned(), shingles(record)?.into());
    shown.insert(
        "metadata".to_owned(),
        Value::Object(visible(&record.metadata, right).into_owned()),
    );
    shown.insert("added".to_owned(), time::format(record.added).into());
    for (name, at) in [("modified", record.modified), ("expires", record.expires)] {
        if let Some(at) = at {
            shown.insert(name.to_owned(), time::format(at).into());
        }
    }
    if let Some(size) = more_than_itself(size) {
        shown.insert("group_size".to_owned(), size.into());
    }
    Ok(shown)
}

/// The size of a group that has more than its document: the sizes that answers have.
pub(crate) fn more_than_itself(size: u64) -> Option<u64> {
    Some(size).filter(|size| *size > 1)
}

/// The number of shingles of a document; unknown if the index keeps no sets.
fn shingles(record: &IndexRecord) -> Result<Option<usize>, IndexError> {
    match &record.set {
        Some(code) => Ok(Some(set::len(code)?)),
        None => Ok(record.signature.is_empty().then_some(0)),
    }
}

pub(crate) fn bytes(value: &impl serde::Serialize) -> Result<Vec<u8>, Problem> {
    serde_json::to_vec(value).map_err(|error| Problem::internal(error.to_string()))
}

/// `GET /v1/documents`
pub(crate) async fn list(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let parameters = QueryParameters::read_repeating(
        request.uri().query(),
        &["after", "category", "filter", "limit"],
        &["filter"],
    )?;
    let filters = conditions(&parameters)?;
    let limit = parameters.number("limit", LIST_MAX, LIST)?;
    let category = parameters.text("category").map(str::to_owned);
    let from = first_number(&parameters)?;
    let right = right(&request);
    let cache = Arc::clone(&app.categories);
    let read = move |worker: &mut PoolWorker| {
        let part = DocumentsPart { from, limit, right, filters };
        list_part(worker, part, category.as_deref(), &cache)
    };
    Ok(json_bytes(StatusCode::OK, app.pool.run(read).await?))
}

/// The conditions on metadata of a request.
pub(crate) fn conditions(parameters: &QueryParameters) -> Result<Vec<MetadataFilter>, Problem> {
    let conditions: Vec<_> = parameters.all("filter").collect();
    if conditions.len() > FILTERS_MAX {
        let detail = format!("there are more than {FILTERS_MAX} filters: leave some out");
        return Err(Problem::new(Code::BAD_PARAMETER, detail));
    }
    let read = |text: &str| {
        let condition = text.parse();
        condition.map_err(|error: IndexError| Problem::new(Code::BAD_PARAMETER, error.to_string()))
    };
    conditions.into_iter().map(read).collect()
}

/// The number of the first document behind the cursor of a request.
pub(crate) fn first_number(parameters: &QueryParameters) -> Result<u64, Problem> {
    let Some(cursor) = parameters.text("after") else { return Ok(0) };
    cursor.parse::<u64>().ok().and_then(|last| last.checked_add(1)).ok_or_else(|| {
        invalid_value("after", cursor, "expected the `next` of an answer, or nothing to begin")
    })
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

/// A part of the list of all documents, or of those of the category with a path and below it.
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
    let (now, mut documents, mut more) = (time::now(), JsonList::default(), true);
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
                (from, more) = (record.number.0, true);
                break;
            }
            if !filters.is_empty() {
                let metadata = visible(&record.metadata, right);
                if !filters.iter().all(|filter| filter.matches(&metadata)) {
                    continue;
                }
            }
            let mut shown = to_json(record, size, right)?;
            if let Some(all) = &categories {
                let category = all.of_document(&mut *snapshot, record.number)?;
                shown.insert("category".to_owned(), category_cache::shown(all, category));
            }
            documents.push(&shown)?;
        }
    }
    let next = more.then(|| from.saturating_sub(1).to_string());
    let rest = next.map_or_else(|| json!({}), |next| json!({ "next": next }));
    documents.into_object("documents", &rest)
}

/// At most `most` documents numbered `from` or more, of a category if there is one, and how many
/// were found; `from` becomes the number after the last.
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
