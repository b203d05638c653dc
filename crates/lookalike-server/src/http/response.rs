//! Responses with JSON, and the figures in them.

use crate::http::problem::Problem;
use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use lookalike::store::query::MatchSimilarity;
use serde::Serialize;

/// The response to a request, or the problem with it.
pub(crate) type HandlerResult = Result<Response, Problem>;

/// A response with a value as JSON.
pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> HandlerResult {
    Ok(json_bytes(status, serialized(body)?))
}

/// A response with serialized JSON.
pub(crate) fn json_bytes(status: StatusCode, bytes: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// The JSON of a value.
pub(crate) fn serialized(value: &impl Serialize) -> Result<Vec<u8>, Problem> {
    serde_json::to_vec(value).map_err(|error| Problem::internal(error.to_string()))
}

/// A JSON list that is serialized value by value, so that only one value at a time is in memory
/// unserialized.
#[derive(Default)]
pub(crate) struct JsonList {
    json: Vec<u8>,
    pub(crate) len: usize,
}

impl JsonList {
    pub(crate) fn push(&mut self, value: &impl Serialize) -> Result<(), Problem> {
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

    /// An object with the list as its first member, followed by the members of `rest`.
    pub(crate) fn into_object(self, name: &str, rest: &impl Serialize) -> Result<Vec<u8>, Problem> {
        let mut json = format!("{{\"{name}\":").into_bytes();
        json.extend_from_slice(if self.len == 0 { b"[" } else { &self.json });
        drop(self.json);
        json.push(b']');
        let rest = serialized(rest)?;
        // `{}` has no members.
        json.push(if rest.len() > 2 { b',' } else { b' ' });
        json.extend_from_slice(&rest[1..]);
        Ok(json)
    }

    /// An object with the list and, if another page follows, the cursor of that page as `next`.
    pub(crate) fn into_page(self, name: &str, next: Option<String>) -> Result<Vec<u8>, Problem> {
        let rest =
            next.map_or_else(|| serde_json::json!({}), |next| serde_json::json!({ "next": next }));
        self.into_object(name, &rest)
    }
}

/// A similarity or a probability with six decimals.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// A similarity as in reports: only equal sets have 1.
pub(crate) fn six_decimals(similarity: &MatchSimilarity) -> f64 {
    similarity.six_decimals().parse().unwrap_or_else(|_| rounded(similarity.value()))
}
