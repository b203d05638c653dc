//! `GET /v1/review/…`: the results of a review (decisions, removed and kept documents) as lines.

use crate::caches::document_groups::DocumentGroups;
use crate::caches::group_cache::Lookup;
use crate::documents::export::{LinesError, stream_lines};
use crate::http::address::QueryParameters;
use crate::http::response::HandlerResult;
use crate::review::groups::{checked_version, pending};
use crate::state::app::App;
use axum::extract::{Request, State};
use lookalike::index::time;
use lookalike::store::backend::Snapshot;
use lookalike::store::entry::DocumentNumber;
use lookalike::store::entry::RecordFields;
use serde_json::json;
use std::collections::HashSet;
use std::io::Write;
use std::sync::Arc;

/// Seconds after which a client repeats a request for a list that is being computed.
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
    group_lines(&app, request, |_, found, out| {
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
    .await
}

/// `GET /v1/review/kept`: all documents except the duplicates of groups.
pub(crate) async fn kept(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    group_lines(&app, request, |snapshot, found, out| {
        let duplicates = found.groups.iter().flat_map(|group| &group.duplicates);
        let removed: HashSet<&str> =
            duplicates.map(|(duplicate, _)| duplicate.id.as_str()).collect();
        write_kept(snapshot, &removed, out)
    })
    .await
}

fn write_kept(
    snapshot: &mut dyn Snapshot,
    removed: &HashSet<&str>,
    out: &mut dyn Write,
) -> Result<(), LinesError> {
    let mut from = DocumentNumber(0);
    let now = time::now();
    loop {
        let mut ids = Vec::new();
        let mut last = None;
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

/// Answers with the lines that a function writes about the present groups at a threshold.
async fn group_lines(
    app: &Arc<App>,
    request: Request,
    write: impl FnOnce(&mut dyn Snapshot, &DocumentGroups, &mut dyn Write) -> Result<(), LinesError>
    + Send
    + 'static,
) -> HandlerResult {
    let parameters = QueryParameters::read(request.uri().query(), &["threshold"])?;
    let threshold = parameters.threshold(app.index.settings().threshold)?;
    let version = checked_version(app, threshold, None).await?;
    let list = match app.groups.lookup(threshold, version)? {
        Lookup::Ready { list, stale } if !stale && !list.is_stale(version, time::now()) => list,
        Lookup::Ready { .. } => return pending(RETRY),
        Lookup::Pending { retry_after } => return pending(retry_after),
    };
    stream_lines(app, request.headers(), move |app, out| {
        let mut snapshot = app.index.snapshot()?;
        if list.is_stale(snapshot.version(), time::now()) {
            return Err(LinesError::Index("the index changed in the meantime".to_owned()));
        }
        write(&mut *snapshot, &list, out)
    })
}
