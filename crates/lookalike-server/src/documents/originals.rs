//! Routes of originals and versions.

use crate::config::token::{Right, right};
use crate::documents::single::find;
use crate::http::address::{self, QueryParameters};
use crate::http::problem::{Code, Problem};
use crate::http::response::{HandlerResult, serialized};
use crate::state::app::App;
use crate::threads::pool::PoolWorker;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, ETAG};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use lookalike::index::time;
use lookalike::store::IndexError;
use lookalike::store::backend::Snapshot;
use lookalike::store::entry::{RecordFields, shortened_id};
use lookalike::store::filter::file_name;
use lookalike::store::original::DocumentVersion;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use std::sync::Arc;

/// The policy of an original, so that a foreign page cannot run or load anything here.
const POLICY: &str = "sandbox; default-src 'none'; frame-ancestors 'none'";

/// Default and maximum number of versions in a list.
const LIST: usize = 1_000;
const LIST_MAX: usize = 10_000;

/// `GET /v1/documents/{id}/versions`
pub(crate) async fn versions(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let (id, _) = address::id_and_version(request.uri().path())?;
    let parameters = QueryParameters::read(request.uri().query(), &["after", "limit"])?;
    let limit = parameters.number("limit", LIST_MAX, LIST)?;
    let after = parameters.cursor(|text| text.parse::<u64>().ok())?.unwrap_or(0);
    let right = right(&request);
    let read = move |worker: &mut PoolWorker| {
        let mut snapshot = worker.index.snapshot()?;
        let versions = all(worker, &mut *snapshot, &id)?;
        let mut rest = versions.iter().skip_while(|version| version.number <= after);
        let page: Vec<_> = rest.by_ref().take(limit).collect();
        let next = page.last().filter(|_| rest.next().is_some());
        let views: Vec<Value> = page.iter().map(|version| version_json(version, right)).collect();
        let mut answer = json!({ "id": id, "versions": views });
        if let Some(last) = next {
            answer["next"] = last.number.to_string().into();
        }
        serialized(&answer)
    };
    app.answer(0, read).await
}

fn version_json(version: &DocumentVersion, right: Right) -> Value {
    let name = version.name.as_str();
    json!({
        "version": version.number,
        "added": time::format(version.added),
        "ended": version.ended.map(time::format),
        "modified": version.modified.map(time::format),
        "type": version.media_type,
        // Clients with read access do not see folders.
        "name": file_name(name).filter(|_| right == Right::Read).unwrap_or(name),
        "bytes": version.bytes,
        "sha256": version.sha256_hex(),
    })
}

/// `GET /v1/documents/{id}/original` and `GET /v1/documents/{id}/versions/{version}/original`
pub(crate) async fn original(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let (id, number) = address::id_and_version(request.uri().path())?;
    QueryParameters::read(request.uri().query(), &[])?;
    let shared = Arc::clone(&app);
    let read = move |worker: &mut PoolWorker| {
        let mut snapshot = worker.index.snapshot()?;
        let version = version(worker, &mut *snapshot, &id, number)?;
        let mut held = None;
        // Memory for the original, and for an original that it is a difference from.
        shared.service.work.take_at_most(2 * version.bytes, &mut held)?;
        let original = snapshot.original(&version).map_err(damaged)?;
        Ok((version, original, held))
    };
    let (version, original, _held) = app.pool.run_sized(usize::MAX, read).await?;
    let mut response = Response::new(Body::from(original));
    describe(response.headers_mut(), &version);
    Ok(response)
}

/// The headers of an original. A browser saves the original. If a browser shows it anyway, it runs
/// nothing in it.
fn describe(headers: &mut HeaderMap, version: &DocumentVersion) {
    let media_type = HeaderValue::from_str(&version.media_type);
    let any_type = HeaderValue::from_static("application/octet-stream");
    headers.insert(CONTENT_TYPE, media_type.unwrap_or(any_type));
    let policy = HeaderName::from_static("content-security-policy");
    headers.insert(policy, HeaderValue::from_static(POLICY));
    let name = version.name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = if name.is_empty() { "original" } else { name };
    let name = utf8_percent_encode(name, NON_ALPHANUMERIC);
    for (header, value) in [
        (CONTENT_DISPOSITION, format!("attachment; filename*=UTF-8''{name}")),
        (ETAG, format!("\"{}\"", version.sha256_hex())),
    ] {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(header, value);
        }
    }
}

/// The versions of an existing document, by time.
fn all(
    worker: &PoolWorker,
    snapshot: &mut dyn Snapshot,
    id: &str,
) -> Result<Vec<DocumentVersion>, Problem> {
    let versions = snapshot.versions(id).map_err(damaged)?;
    // An expired document is gone, with its versions.
    find(worker, id, RecordFields::default())?;
    if versions.is_empty() { Err(Problem::unknown_document(id)) } else { Ok(versions) }
}

/// A version of a document, or the current one.
///
/// # Errors
/// The index keeps no originals, or the document or the version does not exist.
pub(crate) fn version(
    worker: &PoolWorker,
    snapshot: &mut dyn Snapshot,
    id: &str,
    number: Option<u64>,
) -> Result<DocumentVersion, Problem> {
    let mut versions = all(worker, snapshot, id)?;
    let last = versions.last().map_or(0, |version| version.number);
    let number = number.unwrap_or(last);
    let at = versions.iter().position(|version| version.number == number).ok_or_else(|| {
        let id = shortened_id(id);
        let detail = format!("document {id:?} has no version {number}: expected 1 to {last}");
        Problem::new(Code::UNKNOWN_VERSION, detail)
    })?;
    Ok(versions.swap_remove(at))
}

/// The problem of damaged stored data; the log has the details.
fn damaged(error: IndexError) -> Problem {
    if !matches!(error, IndexError::Damaged { .. }) {
        return error.into();
    }
    let answer = "the stored original is damaged; restore a backup of the index, or put the \
                  document again; the server log has details";
    Problem::new(Code::DAMAGED_ORIGINAL, answer).note(error.to_string())
}
