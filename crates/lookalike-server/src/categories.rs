//! `GET /v1/categories`: the tree of categories.

use crate::address::QueryParameters;
use crate::app::{App, HandlerResult, json_bytes};
use crate::category_cache::CategoryCache;
use crate::documents::JsonList;
use crate::pool::PoolWorker;
use crate::problem::Problem;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use serde_json::json;
use std::sync::Arc;

/// `GET /v1/categories`
pub(crate) async fn get(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    QueryParameters::read(request.uri().query(), &[])?;
    let cache = Arc::clone(&app.categories);
    let look = move |worker: &mut PoolWorker| show(worker, &cache);
    Ok(json_bytes(StatusCode::OK, app.pool.run(look).await?))
}

fn show(worker: &PoolWorker, cache: &CategoryCache) -> Result<Vec<u8>, Problem> {
    let mut snapshot = worker.index.snapshot()?;
    let mut list = JsonList::default();
    let Some(categories) = cache.read(&mut *snapshot)? else {
        return list.into_object("categories", &json!({ "model": null, "without_category": 0 }));
    };
    let counts = categories.counts(&mut *snapshot)?;
    let model = categories.model();
    for (category, documents) in model.categories().iter().zip(&counts[1..]) {
        let parent = category.parent.and_then(|parent| model.get(parent));
        list.push(&json!({
            "path": category.path,
            "parent": parent.map(|parent| &parent.path),
            "level": category.level.similarity(),
            "label": category.label,
            "documents": documents,
        }))?;
    }
    let rest = json!({ "model": categories.number(), "without_category": counts[0] });
    list.into_object("categories", &rest)
}
