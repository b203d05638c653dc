//! State of the server and of an index: health, settings, stats, figures.

use crate::http::address::QueryParameters;
use crate::http::problem::{Code, Problem};
use crate::http::response::rounded;
use crate::http::response::{HandlerResult, json};
use crate::state::app::App;
use crate::state::service::Service;
use crate::threads::metrics::Gauge;
use crate::threads::pool::PoolWorker;
use crate::threads::webhook_sender::DeliveryCounts;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// `GET /v1/health` of an index
pub(crate) async fn health(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    QueryParameters::read(request.uri().query(), &[])?;
    check_readable(&app).await?;
    json(StatusCode::OK, &json!({ "status": "ok" }))
}

/// Checks that an index can be read.
pub(crate) async fn check_readable(app: &App) -> Result<(), Problem> {
    let look = |worker: &mut PoolWorker| match worker.index.snapshot() {
        Ok(_) => Ok(()),
        Err(error) => {
            let detail = "the index cannot be read; the server log has details";
            Err(Problem::new(Code::UNREADABLE, detail).note(error.to_string()))
        }
    };
    app.pool.run(look).await
}

/// `GET /v1/settings`
pub(crate) async fn settings(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    QueryParameters::read(request.uri().query(), &[])?;
    let settings = app.index.settings();
    let recall = settings.predicted_recall(settings.threshold);
    let more = json!({
        "name": app.name.as_str(),
        "format": settings.version,
        "predicted_recall": rounded(recall),
        "exact": app.has_sets(),
        "writable": app.service.config.writable,
        "token_needed": !app.service.credentials.now().tokens.is_empty(),
        "version": env!("CARGO_PKG_VERSION"),
    });
    let mut all = json!(settings);
    if let (Value::Object(all), Value::Object(more)) = (&mut all, more) {
        // Clients do not need the hashes, and JavaScript cannot represent 64-bit integers.
        if let Some(Value::Object(list)) = all.get_mut("stop_words") {
            let words = list.remove("hashes").and_then(|hashes| Some(hashes.as_array()?.len()));
            list.insert("words".to_owned(), words.into());
        }
        all.extend(more);
        if let Some(caveat) = settings.recall_caveat() {
            all.insert("recall_caveat".to_owned(), caveat.to_string().into());
        }
    }
    json(StatusCode::OK, &all)
}

/// `GET /v1/stats`
pub(crate) async fn stats(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    QueryParameters::read(request.uri().query(), &[])?;
    let look = |worker: &mut PoolWorker| {
        let version = worker.index.snapshot()?.version();
        Ok((worker.index.stats()?, version))
    };
    let (stats, version) = app.pool.run(look).await?;
    let mut body = json!(stats);
    body["version"] = version.into();
    json(StatusCode::OK, &body)
}

/// The figures of the service.
pub(crate) fn service_gauges(service: &Service) -> Vec<Gauge> {
    let counted = |counter: &AtomicUsize| counter.load(Ordering::Relaxed) as f64;
    let all = [
        (
            "lookalike_requests_in_flight",
            "Requests that are being answered.",
            counted(&service.metrics.in_flight),
        ),
        ("lookalike_connections", "Open connections.", counted(&service.metrics.connections)),
        (
            "lookalike_queue_length",
            "Requests that wait for a worker thread.",
            service.threads.waiting() as f64,
        ),
        (
            "lookalike_log_lines_left_out",
            "Lines of the log that were not written because it was read too slowly.",
            service.log.left_out() as f64,
        ),
    ];
    all.map(|(name, help, value)| Gauge { name, help, index: None, value }).into()
}

/// The figures of an index.
pub(crate) async fn index_gauges(app: &App) -> Vec<Gauge> {
    let stats = app.pool.run(|worker| Ok(worker.index.stats()?)).await.ok();
    let writes = app.writer.as_ref().map_or(0, crate::threads::writer::IndexWriter::waiting);
    let mut all = vec![
        (
            "lookalike_write_queue_length",
            "Requests whose changes wait to be written.",
            writes as f64,
        ),
        (
            "lookalike_index_readable",
            "1 where the index could be read for these figures.",
            f64::from(u8::from(stats.is_some())),
        ),
    ];
    if let Some(stats) = stats {
        let bytes = stats.catalogue_bytes + stats.segment_bytes;
        all.push(("lookalike_documents", "Documents in the index.", stats.documents as f64));
        all.push(("lookalike_index_bytes", "Bytes of the index on the disk.", bytes as f64));
    }
    if let Some(watch) = &app.watch {
        all.extend(webhook_figures(watch.counts()));
        let help = "Messages and documents that wait to be sent.";
        all.push(("lookalike_webhook_waiting", help, watch.waiting() as f64));
    }
    if let Some(age) = app.groups.age() {
        let help = "Seconds since groups were last computed.";
        all.push(("lookalike_groups_age_seconds", help, age.as_secs_f64()));
    }
    let index = app.label();
    let gauge = |(name, help, value)| Gauge { name, help, index: index.map(str::to_owned), value };
    all.into_iter().map(gauge).collect()
}

fn webhook_figures(counts: &DeliveryCounts) -> [(&'static str, &'static str, f64); 3] {
    let counted = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
    [
        (
            "lookalike_webhook_messages_delivered_total",
            "Messages that webhooks took.",
            counted(&counts.delivered),
        ),
        (
            "lookalike_webhook_attempts_failed_total",
            "Attempts that a webhook did not take.",
            counted(&counts.failed),
        ),
        (
            "lookalike_webhook_dropped_total",
            "Messages and documents that were not sent to a webhook.",
            counted(&counts.dropped),
        ),
    ]
}
