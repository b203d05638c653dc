//! The web page and the description of the API, embedded.

pub(crate) mod files;

use crate::address::Parameters;
use crate::app::Answer;
use crate::problem::Problem;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use lookalike::core::hash::mix64;

/// Where the description of the API stands.
pub(crate) const DESCRIPTION: &str = "/openapi.json";

/// Whether a route is a file of the page or the description, which everybody may read.
pub(crate) fn is_open(route: &str) -> bool {
    route == DESCRIPTION || files::FILES.iter().any(|(path, ..)| *path == route)
}

/// `GET` of a file of the page.
pub(crate) async fn file(request: Request) -> Answer {
    let path = request.uri().path();
    let found = files::FILES.iter().find(|(name, ..)| *name == path);
    let (_, kind, text) =
        found.ok_or_else(|| Problem::internal(format!("{path} is routed and not embedded")))?;
    // The page may keep what it shows in its address, so any parameter may stand there.
    Ok(give(&request, kind, text))
}

/// `GET /openapi.json`
pub(crate) async fn description(request: Request) -> Answer {
    Parameters::read(request.uri().query(), &[])?;
    Ok(give(&request, "application/json", include_str!("openapi.json")))
}

fn give(request: &Request, kind: &'static str, text: &'static str) -> Response {
    let tag = tag(text);
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

/// Tells one version of a text from another.
fn tag(text: &str) -> String {
    let hash = text.bytes().fold(text.len() as u64, |hash, byte| mix64(hash ^ u64::from(byte)));
    format!("\"{hash:016x}\"")
}
