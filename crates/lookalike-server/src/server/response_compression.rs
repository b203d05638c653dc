//! Compression of answers, if the client accepts it.

use crate::http::problem::Problem;
use crate::state::app::App;
use crate::threads::pool::PoolWorker;
use axum::body::{Body, HttpBody};
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, VARY};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::BodyExt;
use std::io::Write;

/// Answers of fewer bytes are not compressed.
const SMALL: u64 = 1 << 10;

/// Compresses an answer by a worker thread, if it is JSON or text of some length; sends it
/// uncompressed if no worker is free.
pub(crate) async fn compressed(app: &App, mut response: Response) -> Response {
    let headers = response.headers();
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_text = kind.starts_with("text/") || kind.contains("json");
    let is_other = headers.contains_key(CONTENT_ENCODING) || headers.contains_key(ETAG);
    let is_long = response.body().size_hint().exact().is_some_and(|bytes| bytes >= SMALL);
    if !is_text || is_other || !is_long {
        return response;
    }
    let body = std::mem::replace(response.body_mut(), Body::empty());
    let Ok(plain) = body.collect().await.map(http_body_util::Collected::to_bytes) else {
        return response;
    };
    let to_compress = plain.clone();
    let work = move |_: &mut PoolWorker| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        let result = encoder.write_all(&to_compress).and_then(|()| encoder.finish());
        result.map_err(|error| Problem::internal(error.to_string()))
    };
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_static("accept-encoding"));
    match app.pool.run_sized(plain.len(), work).await {
        Ok(bytes) => {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            headers.remove(CONTENT_LENGTH);
            *response.body_mut() = Body::from(bytes);
        }
        Err(_) => *response.body_mut() = Body::from(plain),
    }
    response
}
