//! The web page, embedded.

pub(crate) mod files;

use crate::http::problem::Problem;
use crate::http::response::HandlerResult;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use lookalike::core::hash::mix64;

/// `GET` of a file of the page.
pub(crate) async fn file(request: Request) -> HandlerResult {
    let path = request.uri().path();
    let found = files::FILES.iter().find(|(name, ..)| *name == path);
    let (_, kind, text) =
        found.ok_or_else(|| Problem::internal(format!("{path} is routed and not embedded")))?;
    // The page stores its state in its URL, so any parameter is allowed.
    Ok(tagged(&request, kind, Bytes::from_static(text.as_bytes())))
}

/// An answer with a text, or without it if the client has it already.
pub(crate) fn tagged(request: &Request, kind: &'static str, text: Bytes) -> Response {
    let tag = tag(&text);
    let known = request.headers().get_all(IF_NONE_MATCH).iter().any(|value| {
        let tags = value.to_str().unwrap_or_default();
        tags == "*" || tags.split(',').any(|known| known.trim().trim_start_matches("W/") == tag)
    });
    let mut response = Response::new(if known { Body::empty() } else { Body::from(text) });
    if known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    let policy = HeaderName::from_static("content-security-policy");
    headers.insert(policy, HeaderValue::from_static(files::POLICY));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    response
}

/// The entity tag of a text.
fn tag(text: &[u8]) -> String {
    let hash = text.iter().fold(text.len() as u64, |hash, byte| mix64(hash ^ u64::from(*byte)));
    format!("\"{hash:016x}\"")
}
