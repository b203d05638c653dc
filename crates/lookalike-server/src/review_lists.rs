//! `GET /v1/review/…`: what a review comes to, as lines: the decisions, the documents that go, and
//! those that stay.

use crate::address::QueryParameters;
use crate::app::{App, HandlerResult};
use crate::document_groups::{self, DocumentGroups};
use crate::export::{LinesError, stream_lines};
use crate::group_cache::Lookup;
use crate::groups::pending;
use crate::pool::PoolWorker;
use crate::problem::Problem;
use axum::extract::{Request, State};
use lookalike::index::time;
use lookalike::store::Index;
use lookalike::store::backend::Snapshot;
use lookalike::store::entry::DocumentNumber;
use lookalike::store::entry::RecordFields;
use serde_json::json;
use std::collections::HashSet;
use std::io::Write;
use std::sync::Arc;

/// Seconds after which a list that is computed is asked for again.
const RETRY: u32 = 1;
/// Documents that are read at once.
const STEP: usize = 4_000;

/// `GET /v1/review/decisions`: the log, in the format of `decisions.jsonl`.
pub(crate) async fn decisions(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    QueryParameters::read(request.uri().query(), &[])?;
    stream_lines(&app, request.headers(), |app, out| {
        let mut snapshot = app.index.snapshot()?;
        snapshot.try_decisions(0, usize::MAX, |_, entry| Ok(writeln!(out, "{entry}")?)).map(drop)
    })
}

/// `GET /v1/review/removed`: the duplicates of all groups, each with its keeper.
pub(crate) async fn removed(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let found = match groups(&app, request.uri().query()).await? {
        Ok(found) => found,
        Err(pending) => return pending,
    };
    stream_lines(&app, request.headers(), move |app, out| {
        current(&app.index, &found)?;
        for group in &found.groups {
            for (duplicate, similarity) in &group.duplicates {
                let line = json!({
                    "id": duplicate.id, "keeper": group.keeper.id, "similarity": similarity,
                });
                writeln!(out, "{line}")?;
            }
        }
        Ok(())
    })
}

/// `GET /v1/review/kept`: the documents that are no duplicates of a group.
pub(crate) async fn kept(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let found = match groups(&app, request.uri().query()).await? {
        Ok(found) => found,
        Err(pending) => return pending,
    };
    stream_lines(&app, request.headers(), move |app, out| {
        let duplicates = found.groups.iter().flat_map(|group| &group.duplicates);
        let removed: HashSet<&str> = duplicates.map(|(one, _)| one.id.as_str()).collect();
        write_kept(&mut *current(&app.index, &found)?, &removed, out)
    })
}

fn write_kept(
    snapshot: &mut dyn Snapshot,
    removed: &HashSet<&str>,
    out: &mut dyn Write,
) -> Result<(), LinesError> {
    let (mut from, now) = (DocumentNumber(0), time::now());
    loop {
        let (mut ids, mut last) = (Vec::new(), None);
        let read = snapshot.scan(from, STEP, RecordFields::default(), &mut |record| {
            last = Some(record.number);
            if !record.is_expired(now) && !removed.contains(record.id.as_str()) {
                ids.push(record.id.clone());
            }
            Ok(())
        });
        for id in ids {
            writeln!(out, "{}", json!({ "id": id }))?;
        }
        match (read, last) {
            (Err(error), _) => return Err(error.into()),
            (Ok(STEP), Some(last)) => from = last.next(),
            (Ok(_), _) => return Ok(()),
        }
    }
}

/// The groups at a threshold, of the index as it is; the inner error is the answer where they are
/// still computed.
async fn groups(
    app: &Arc<App>,
    query: Option<&str>,
) -> Result<Result<Arc<DocumentGroups>, HandlerResult>, Problem> {
    let parameters = QueryParameters::read(query, &["threshold"])?;
    let threshold = parameters.threshold(app.index.settings().threshold)?;
    let look = move |worker: &mut PoolWorker| {
        document_groups::check_threshold(&worker.index, threshold)?;
        Ok(worker.index.snapshot()?.version())
    };
    let version = app.pool.run(look).await?;
    Ok(match app.groups.lookup(threshold, version)? {
        Lookup::Ready { list, stale } if !stale && !list.is_stale(version, time::now()) => Ok(list),
        Lookup::Ready { .. } => Err(pending(RETRY)),
        Lookup::Pending { retry_after } => Err(pending(retry_after)),
    })
}

/// A snapshot of the state that groups are of.
fn current(index: &Index, found: &DocumentGroups) -> Result<Box<dyn Snapshot>, LinesError> {
    let snapshot = index.snapshot()?;
    if found.is_stale(snapshot.version(), time::now()) {
        return Err(LinesError::Index("the index changed in the meantime".to_owned()));
    }
    Ok(snapshot)
}
