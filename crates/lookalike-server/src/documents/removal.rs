//! `DELETE /v1/documents`: removes the documents whose metadata meets conditions.

use crate::documents::single::next_number;
use crate::http::address::QueryParameters;
use crate::http::problem::{Code, Problem};
use crate::http::response::{HandlerResult, json};
use crate::state::app::App;
use crate::threads::pool::PoolWorker;
use crate::threads::writer::{Changes, OwnedChange};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use lookalike::index::time;
use lookalike::store::backend::ChangeOutcome;
use lookalike::store::entry::DocumentNumber;
use lookalike::store::entry::RecordFields;
use lookalike::store::filter::MetadataFilter;
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;

/// Documents that are read at once.
const STEP: usize = 4_000;

/// Documents that meet the conditions, among those that were read.
struct FoundIds {
    ids: Vec<String>,
    /// The number where the search continues; `None` at the end.
    next: Option<u64>,
}

/// `DELETE /v1/documents`
pub(crate) async fn delete(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let known = ["after", "dry_run", "filter"];
    let parameters = QueryParameters::read_repeating(request.uri().query(), &known, &["filter"])?;
    let filters: Arc<[MetadataFilter]> = parameters.conditions()?.into();
    if filters.is_empty() {
        let detail = "expected ?filter= at least once, such as filter=language=en: documents are \
                      removed by a condition, or one by one by DELETE /v1/documents/ID";
        return Err(Problem::new(Code::BAD_PARAMETER, detail));
    }
    let is_trial = parameters.flag("dry_run")?;
    let mut from = parameters.cursor(next_number)?.unwrap_or(0);
    let begun = Instant::now();
    let limit = app.service.config.limits.request_time / 2;
    let mut removed = 0_u64;
    loop {
        let of_step = Arc::clone(&filters);
        let look = move |worker: &mut PoolWorker| find(worker, from, &of_step);
        let FoundIds { ids, next } = app.pool.run(look).await?;
        removed += if is_trial { ids.len() as u64 } else { remove(&app, ids).await? };
        match next {
            None => return json(StatusCode::OK, &json!({ "removed": removed })),
            Some(next) if begun.elapsed() >= limit => {
                let last = next.saturating_sub(1).to_string();
                return json(StatusCode::OK, &json!({ "removed": removed, "next": last }));
            }
            Some(next) => from = next,
        }
    }
}

/// Finds the documents that meet the conditions, among the next documents numbered `from` or more.
fn find(worker: &PoolWorker, from: u64, filters: &[MetadataFilter]) -> Result<FoundIds, Problem> {
    let wanted = RecordFields { metadata: true, ..RecordFields::default() };
    let mut ids = Vec::new();
    let mut last = None;
    let now = time::now();
    let from = DocumentNumber(from);
    let count = worker.index.snapshot()?.scan(from, STEP, wanted, &mut |record| {
        last = Some(record.number);
        let fits = filters.iter().all(|filter| filter.matches(&record.metadata));
        if fits && !record.is_expired(now) {
            ids.push(record.id.clone());
        }
        Ok(())
    })?;
    let next = last.filter(|_| count == STEP).map(|last| last.next().0);
    Ok(FoundIds { ids, next })
}

/// Removes documents; returns how many existed.
async fn remove(app: &App, ids: Vec<String>) -> Result<u64, Problem> {
    if ids.is_empty() {
        return Ok(0);
    }
    let changes = ids.into_iter().map(OwnedChange::Remove).collect();
    let changes = Changes { changes, stop: false, held: Vec::new() };
    let pending = app.in_time(app.writer()?.put_when_free(changes)).await?;
    let mut removed = 0;
    for outcome in pending.outcomes().await? {
        removed += u64::from(outcome? == ChangeOutcome::Removed);
    }
    Ok(removed)
}
