//! The indexes of a server, and the requests that are about all of them: the list, the health, the
//! figures.

use crate::admin::status;
use crate::config::token::{Client, bearer};
use crate::http::address::QueryParameters;
use crate::http::problem::{Code, Problem};
use crate::http::response::{HandlerResult, json};
use crate::service_state::ServiceState;
use crate::state::app::App;
use crate::state::served_index::ServedIndex;
use crate::state::service::Service;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use lookalike::index::time;
use lookalike::store::IndexError;
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};

/// The indexes of a server.
pub(crate) struct ServedIndexes {
    service: Arc<Service>,
    /// In the order of the command line.
    all: Vec<Arc<App>>,
    /// The description of the API, without and with the names of indexes, each built at the first
    /// request for it.
    pub(crate) descriptions: [OnceLock<Bytes>; 2],
}

impl ServedIndexes {
    /// Starts the threads of each index; there is at least one.
    pub(crate) fn start(
        indexes: Vec<(ServedIndex, ServiceState)>,
        service: Arc<Service>,
    ) -> Result<Arc<Self>, IndexError> {
        let start = |(index, state)| App::start(index, state, &service);
        let all = indexes.into_iter().map(start).collect::<Result<_, _>>()?;
        Ok(Arc::new(Self { service, all, descriptions: Default::default() }))
    }

    /// What they share.
    pub(crate) fn service(&self) -> &Arc<Service> {
        &self.service
    }

    /// All of them; the first is that of addresses without a name.
    pub(crate) fn all(&self) -> &[Arc<App>] {
        &self.all
    }

    /// Waits for the jobs of upkeep that run.
    pub(crate) fn finish_upkeep(&self) {
        self.all.iter().for_each(|app| app.upkeep.stop());
    }

    /// Interrupts the work on all of them.
    pub(crate) fn interrupt(&self) {
        self.all.iter().for_each(|app| app.index.interrupt());
    }

    /// Finishes submitted work and ends all threads.
    pub(crate) fn stop(&self) {
        self.service.threads.stop();
        self.all.iter().for_each(|app| app.stop());
        self.service.log.stop();
    }

    /// The indexes that the token of a request opens, with what it may do there.
    fn opened<'a>(&'a self, request: &Request) -> Vec<(&'a Arc<App>, Client)> {
        let (shown, now) = (bearer(request.headers()), time::now());
        let credentials = self.service.credentials.now();
        let client = |app: &'a Arc<App>| {
            Some((app, credentials.tokens.client(shown, now, Some(&app.name)).ok()?))
        };
        self.all.iter().filter_map(client).collect()
    }

    /// An index as the list has it.
    fn entry(&self, app: &App, client: &Client) -> Value {
        json!({
            "name": app.name.as_str(),
            "address": format!("/v1/indexes/{}", app.name),
            "default": app.name == self.all[0].name,
            "right": client.right.name(),
            "writable": app.service.config.writable,
        })
    }
}

/// `GET /v1/indexes`: those that the token opens.
pub(crate) async fn list(
    State(indexes): State<Arc<ServedIndexes>>,
    request: Request,
) -> HandlerResult {
    QueryParameters::read(request.uri().query(), &[])?;
    let entry = |(app, client): (&Arc<App>, Client)| indexes.entry(app, &client);
    let list: Vec<Value> = indexes.opened(&request).into_iter().map(entry).collect();
    json(StatusCode::OK, &json!({ "indexes": list }))
}

/// `GET /v1/indexes/NAME`: one of them.
pub(crate) async fn one(
    State(indexes): State<Arc<ServedIndexes>>,
    request: Request,
) -> HandlerResult {
    QueryParameters::read(request.uri().query(), &[])?;
    let name = request.uri().path().rsplit('/').next().unwrap_or_default();
    let opened = indexes.opened(&request);
    let found = opened.into_iter().find(|(app, _)| app.name.as_str() == name);
    let (app, client) = found.ok_or_else(|| Problem::unknown_index(name))?;
    json(StatusCode::OK, &indexes.entry(app, &client))
}

/// Any request below the name of an index that there is not.
pub(crate) async fn missing(request: Request) -> Problem {
    let path = request.uri().path();
    let name = path.strip_prefix("/v1/indexes/").and_then(|rest| rest.split('/').next());
    Problem::unknown_index(name.unwrap_or_default())
}

/// `GET /v1/health`: whether all of them can be read.
pub(crate) async fn health(
    State(indexes): State<Arc<ServedIndexes>>,
    request: Request,
) -> HandlerResult {
    QueryParameters::read(request.uri().query(), &[])?;
    for app in indexes.all() {
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
    if indexes.opened(&request).len() < indexes.all.len() {
        let detail = "the figures are those of all indexes: use a token without `indexes=`";
        return Err(Problem::new(Code::OTHER_INDEX, detail));
    }
    let mut gauges = status::service_gauges(&indexes.service);
    for app in indexes.all() {
        gauges.extend(status::index_gauges(app).await);
    }
    let mut response = Response::new(Body::from(indexes.service.metrics.render(&gauges)));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    Ok(response)
}
