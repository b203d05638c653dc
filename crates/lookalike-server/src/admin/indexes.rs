//! Requests about all indexes of a server: the list, the health, the figures.

use crate::admin::status;
use crate::config::token::{Client, bearer};
use crate::http::address::QueryParameters;
use crate::http::problem::{Code, Problem};
use crate::http::response::{HandlerResult, json};
use crate::state::app::App;
use crate::state::served_indexes::ServedIndexes;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use lookalike::index::time;
use serde_json::{Value, json};
use std::sync::Arc;

/// The indexes that the token of a request opens, with its right for each.
fn opened<'a>(indexes: &'a ServedIndexes, request: &Request) -> Vec<(&'a Arc<App>, Client)> {
    let token = bearer(request.headers());
    let now = time::now();
    let credentials = indexes.service.credentials.now();
    let client = |app: &'a Arc<App>| {
        Some((app, credentials.tokens.client(token, now, Some(&app.name)).ok()?))
    };
    indexes.all.iter().filter_map(client).collect()
}

/// The entry of an index in the list.
fn entry(indexes: &ServedIndexes, app: &App, client: &Client) -> Value {
    json!({
        "name": app.name.as_str(),
        "address": format!("/v1/indexes/{}", app.name),
        "default": app.name == indexes.all[0].name,
        "right": client.right.name(),
        "writable": app.service.config.writable,
    })
}

/// `GET /v1/indexes`: the indexes that the token opens.
pub(crate) async fn list(
    State(indexes): State<Arc<ServedIndexes>>,
    request: Request,
) -> HandlerResult {
    QueryParameters::read(request.uri().query(), &[])?;
    let view = |(app, client): (&Arc<App>, Client)| entry(&indexes, app, &client);
    let list: Vec<Value> = opened(&indexes, &request).into_iter().map(view).collect();
    json(StatusCode::OK, &json!({ "indexes": list }))
}

/// `GET /v1/indexes/NAME`: one of these indexes.
pub(crate) async fn describe(
    State(indexes): State<Arc<ServedIndexes>>,
    request: Request,
) -> HandlerResult {
    QueryParameters::read(request.uri().query(), &[])?;
    let name = request.uri().path().rsplit('/').next().unwrap_or_default();
    let opened = opened(&indexes, &request);
    let found = opened.into_iter().find(|(app, _)| app.name.as_str() == name);
    let (app, client) = found.ok_or_else(|| Problem::unknown_index(name))?;
    json(StatusCode::OK, &entry(&indexes, app, &client))
}

/// Answers any request for an index that does not exist.
pub(crate) async fn missing(request: Request) -> Problem {
    let path = request.uri().path();
    let name = path.strip_prefix("/v1/indexes/").and_then(|rest| rest.split('/').next());
    Problem::unknown_index(name.unwrap_or_default())
}

/// `GET /v1/health`: whether all indexes can be read.
pub(crate) async fn health(
    State(indexes): State<Arc<ServedIndexes>>,
    request: Request,
) -> HandlerResult {
    QueryParameters::read(request.uri().query(), &[])?;
    for app in &indexes.all {
        status::check_readable(app).await?;
    }
    json(StatusCode::OK, &json!({ "status": "ok" }))
}

/// `GET /metrics`: figures of the service and of each index, for tokens that open all of them.
pub(crate) async fn metrics(
    State(indexes): State<Arc<ServedIndexes>>,
    request: Request,
) -> HandlerResult {
    QueryParameters::read(request.uri().query(), &[])?;
    if opened(&indexes, &request).len() < indexes.all.len() {
        let detail = "the figures cover all indexes: use a token without `indexes=`";
        return Err(Problem::new(Code::OTHER_INDEX, detail));
    }
    let mut gauges = status::service_gauges(&indexes.service);
    for app in &indexes.all {
        gauges.extend(status::index_gauges(app).await);
    }
    let mut response = Response::new(Body::from(indexes.service.metrics.render(&gauges)));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    Ok(response)
}
