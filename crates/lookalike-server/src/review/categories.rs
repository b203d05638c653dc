//! `GET /v1/categories`: the tree of categories.

use crate::caches::category_cache::CategoryCache;
use crate::http::address::QueryParameters;
use crate::http::problem::{Code, Problem};
use crate::http::response::{HandlerResult, JsonList};
use crate::state::app::App;
use crate::threads::pool::PoolWorker;
use axum::extract::{Request, State};
use lookalike::index::IndexCategories;
use serde_json::json;
use std::sync::Arc;

/// Default and maximum number of categories in a list.
const LIST: usize = 1_000;
const LIST_MAX: usize = 10_000;

/// `GET /v1/categories`
pub(crate) async fn get(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let parameters = QueryParameters::read(request.uri().query(), &["after", "limit"])?;
    let limit = parameters.number("limit", LIST_MAX, LIST)?;
    let after = parameters.cursor(CategoriesCursor::read)?;
    let cache = Arc::clone(&app.categories);
    app.answer(0, move |worker| page(worker, &cache, after, limit)).await
}

/// The place where a list continues: the number of the model, and its listed categories.
#[derive(Clone, Copy)]
struct CategoriesCursor {
    model: u64,
    listed: usize,
}

impl CategoriesCursor {
    fn read(text: &str) -> Option<Self> {
        let (model, listed) = text.split_once('-')?;
        Some(Self { model: model.parse().ok()?, listed: listed.parse().ok()? })
    }
}

fn page(
    worker: &PoolWorker,
    cache: &CategoryCache,
    after: Option<CategoriesCursor>,
    limit: usize,
) -> Result<Vec<u8>, Problem> {
    let mut snapshot = worker.index.snapshot()?;
    let mut list = JsonList::default();
    let categories = cache.read(&mut *snapshot)?;
    let number = categories.as_ref().map(IndexCategories::number);
    if after.is_some_and(|after| Some(after.model) != number) {
        let detail = "categories were made again since the page before: leave out `after` to begin \
                      again";
        return Err(Problem::new(Code::CURSOR_EXPIRED, detail));
    }
    let Some(categories) = categories else {
        return list.into_object("categories", &json!({ "model": null, "without_category": 0 }));
    };
    let counts = categories.counts(&mut *snapshot)?;
    let model = categories.model();
    let from = after.map_or(0, |after| after.listed);
    let all = model.categories();
    for (category, documents) in all.iter().zip(&counts[1..]).skip(from).take(limit) {
        let parent = category.parent.and_then(|parent| model.get(parent));
        list.push(&json!({
            "path": category.path,
            "parent": parent.map(|parent| &parent.path),
            "level": category.level.similarity(),
            "label": category.label,
            "documents": documents,
        }))?;
    }
    let mut rest = json!({ "model": categories.number(), "without_category": counts[0] });
    let listed = from.saturating_add(list.len);
    if listed < all.len() {
        rest["next"] = format!("{}-{listed}", categories.number()).into();
    }
    list.into_object("categories", &rest)
}
