//! Resolves a request to an index, once: `/v1/indexes/NAME/REST` is `/v1/REST` of the index with
//! this name, and `/v1/REST` belongs to the first index. Handlers do not see names.

use crate::config::index_name::{IndexName, NamedIndex};
use crate::server::routes;
use crate::state::served_indexes::ServedIndexes;
use axum::Router;
use axum::extract::Request;
use axum::http::Uri;
use axum::http::uri::PathAndQuery;
use std::sync::Arc;

/// The address before the name of an index.
const PREFIX: &str = "/v1/indexes/";

/// The routes of each index.
#[derive(Clone)]
pub(crate) struct IndexDispatch {
    /// The routes of addresses without a name.
    first: Router,
    named: Arc<[(IndexName, Router)]>,
}

impl IndexDispatch {
    pub(crate) fn new(indexes: &Arc<ServedIndexes>) -> Self {
        let named = indexes.all.iter().map(|app| (app.name.clone(), routes::of_index(app)));
        Self { first: routes::of_service(indexes), named: named.collect() }
    }

    /// The routes for a request, and the request with the address that they know.
    pub(crate) fn resolve(&self, mut request: Request) -> (Router, Request) {
        let found = named_address(request.uri()).and_then(|(name, address)| {
            let (_, router) = self.named.iter().find(|(known, _)| known.as_str() == name)?;
            Some((router.clone(), address))
        });
        let Some((router, address)) = found else { return (self.first.clone(), request) };
        *request.uri_mut() = address;
        request.extensions_mut().insert(NamedIndex);
        (router, request)
    }
}

/// The name of the index in an address, and the address without it. `None` for an address without
/// a name, and for the address of the index itself.
fn named_address(uri: &Uri) -> Option<(&str, Uri)> {
    let (name, rest) = uri.path().strip_prefix(PREFIX)?.split_once('/')?;
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(format!("/v1/{rest}{query}")).ok()?);
    Some((name, Uri::from_parts(parts).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_names_are_cut_from_addresses() {
        let read = |text: &str| {
            let uri: Uri = text.parse().unwrap();
            named_address(&uri).map(|(name, rest)| (name.to_owned(), rest.to_string()))
        };
        let found = |name: &str, rest: &str| Some((name.to_owned(), rest.to_owned()));
        assert_eq!(read("/v1/indexes/news/stats"), found("news", "/v1/stats"));
        assert_eq!(
            read("/v1/indexes/news/documents/a%2Fb/original?x=%20&y"),
            found("news", "/v1/documents/a%2Fb/original?x=%20&y")
        );
        assert_eq!(
            read("http://h:1/v1/indexes/news/groups?limit=3"),
            found("news", "http://h:1/v1/groups?limit=3")
        );
        assert_eq!(read("/v1/indexes/a/indexes/b/stats"), found("a", "/v1/indexes/b/stats"));
        for other in ["/v1/indexes", "/v1/indexes/news", "/v1/stats", "/", "/v1/indexesx/a/b"] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
