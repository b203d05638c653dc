//! The routes of the service.

use crate::admin::{indexes, status, upkeep};
use crate::documents::{bulk, export, extraction, originals, removal, single};
use crate::http::problem::{Code, Problem};
use crate::page;
use crate::review::{categories, decisions, groups, review_lists};
use crate::search::{compare, passages, query};
use crate::server::{description, middleware};
use crate::state::app::App;
use crate::state::served_indexes::ServedIndexes;
use axum::Router;
use axum::extract::Request;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, post, put};
use std::sync::Arc;

/// The routes of addresses without the name of an index: the page, requests about all indexes, and
/// the routes of the first index.
pub(crate) fn of_service(served: &Arc<ServedIndexes>) -> Router {
    let page = page::files::FILES.iter();
    let of_all = page
        .fold(Router::new(), |router, (path, ..)| router.route(path, get(page::file)))
        .route(page::files::DESCRIPTION, get(description::get))
        .route("/metrics", get(indexes::metrics))
        .route("/v1/health", get(indexes::health))
        .route("/v1/indexes", get(indexes::list))
        .route("/v1/indexes/{index}", get(indexes::describe))
        .route("/v1/indexes/{index}/", any(indexes::missing))
        .route("/v1/indexes/{index}/{*rest}", any(indexes::missing))
        .with_state(Arc::clone(served));
    let first = &served.all[0];
    finished(of_all.merge(index_routes().with_state(Arc::clone(first))), first)
}

/// The routes of an index whose name is in the address. The name is removed from the address
/// before.
pub(crate) fn of_index(app: &Arc<App>) -> Router {
    let routes = index_routes().route("/v1/health", get(status::health));
    finished(routes.with_state(Arc::clone(app)), app)
}

/// The handler of each route; `openapi.json` describes them.
fn index_routes() -> Router<Arc<App>> {
    Router::new()
        .route("/v1/settings", get(status::settings))
        .route("/v1/stats", get(status::stats))
        .route("/v1/documents", get(single::list).post(bulk::post).delete(removal::delete))
        .route("/v1/documents/{id}", put(single::put).get(single::get).delete(single::delete))
        .route("/v1/documents/{id}/original", get(originals::original))
        .route("/v1/documents/{id}/versions", get(originals::versions))
        .route("/v1/documents/{id}/versions/{version}/original", get(originals::original))
        .route("/v1/query", post(query::post))
        .route("/v1/queries", post(query::post_batch))
        .route("/v1/export", get(export::get))
        .route("/v1/upkeep", get(upkeep::list).post(upkeep::post))
        .route("/v1/compare", post(compare::post))
        .route("/v1/passages", post(passages::post))
        .route("/v1/extract", post(extraction::post))
        .route("/v1/groups", get(groups::get))
        .route("/v1/review/decisions", get(review_lists::decisions))
        .route("/v1/review/removed", get(review_lists::removed))
        .route("/v1/review/kept", get(review_lists::kept))
        .route("/v1/agreement", get(decisions::agreement))
        .route("/v1/categories", get(categories::get))
        .route("/v1/decisions", get(decisions::list).post(decisions::post))
}

fn finished(routes: Router, app: &Arc<App>) -> Router {
    routes
        .fallback(nothing_here)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(Arc::clone(app), middleware::pass))
}

async fn nothing_here(request: Request) -> Problem {
    let path = request.uri().path();
    let hint = match path.strip_prefix("/v1/documents/") {
        Some(_) => "an id is one piece of the address, with / written as %2F",
        None => "GET /openapi.json lists all addresses",
    };
    let path = lookalike::store::entry::shortened_id(path);
    Problem::new(Code::UNKNOWN_ADDRESS, format!("{path} does not exist: {hint}"))
}

async fn wrong_method(request: Request) -> Problem {
    let method = request.method();
    let detail =
        format!("{method} is not allowed here; the header allow lists the allowed methods");
    Problem::new(Code::WRONG_METHOD, detail)
}
