//! The web page and the description of the API, embedded.

use crate::address::Parameters;
use crate::app::Answer;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use lookalike::core::hash::mix64;

/// The page loads what this server gives, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'self'; \
                      frame-ancestors 'none'";

/// `GET /`
pub(crate) async fn index(headers: HeaderMap, request: Request) -> Answer {
    give(&headers, &request, "text/html; charset=utf-8", include_str!("page/index.html"))
}

/// `GET /app.css`
pub(crate) async fn style(headers: HeaderMap, request: Request) -> Answer {
    give(&headers, &request, "text/css; charset=utf-8", include_str!("page/app.css"))
}

/// `GET /app.js`
pub(crate) async fn script(headers: HeaderMap, request: Request) -> Answer {
    give(&headers, &request, "text/javascript; charset=utf-8", include_str!("page/app.js"))
}

/// `GET /openapi.json`
pub(crate) async fn description(headers: HeaderMap, request: Request) -> Answer {
    give(&headers, &request, "application/json", include_str!("openapi.json"))
}

fn give(headers: &HeaderMap, request: &Request, kind: &'static str, text: &'static str) -> Answer {
    // The page keeps what it shows in its address, so any parameter may stand there.
    if kind == "application/json" {
        Parameters::read(request.uri().query(), &[])?;
    }
    let tag = tag(text);
    let known = headers.get_all(IF_NONE_MATCH).iter().any(|value| {
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
    headers.insert(policy, HeaderValue::from_static(POLICY));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    Ok(response)
}

/// Tells one version of a text from another.
fn tag(text: &str) -> String {
    let hash = text.bytes().fold(text.len() as u64, |hash, byte| mix64(hash ^ u64::from(byte)));
    format!("\"{hash:016x}\"")
}
