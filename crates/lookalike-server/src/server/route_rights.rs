//! The right that a route requires, and the routes that are about all indexes.

use crate::config::token::Right;
use crate::page::files;
use axum::http::Method;

/// The right that a request requires.
pub(crate) fn needed_right(route: &str, method: &Method) -> Right {
    match route {
        // Exports contain the whole index. Problems that a check finds contain ids.
        "/v1/export" | "/v1/upkeep" => Right::Write,
        _ if matches!(*method, Method::GET | Method::HEAD) => Right::Read,
        "/v1/documents" | "/v1/documents/{id}" => Right::Write,
        "/v1/decisions" => Right::Decide,
        _ => Right::Read,
    }
}

/// Whether a route is about all indexes.
pub(crate) fn is_of_service(route: &str) -> bool {
    files::is_open(route)
        || ["/metrics", "/v1/health", "/v1/indexes"].contains(&route)
        || route.starts_with("/v1/indexes/")
}
