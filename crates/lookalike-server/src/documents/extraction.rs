//! `POST /v1/extract`: the texts of a file, as the command line reads it.

use crate::documents::document_file::check_name;
use crate::documents::single::JsonList;
use crate::http::address::QueryParameters;
use crate::http::body;
use crate::http::problem::Problem;
use crate::state::app::{App, HandlerResult, json_bytes};
use crate::threads::pool::PoolWorker;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use lookalike::extract::{ExtractedPart, FailedPart, Fields, PartSink};
use serde::{Serialize, Serializer};
use std::sync::Arc;

/// Maximum number of parts in a response, with a text or without.
const PARTS_MAX: usize = 1_000;

#[derive(Serialize)]
struct ReadPart<'a> {
    within: &'a str,
    kind: &'a str,
    text: &'a str,
    fields: FieldValues<'a>,
}

#[derive(Serialize)]
struct UnreadPart<'a> {
    within: &'a str,
    kind: &'a str,
    reason: String,
}

/// The response without its texts.
#[derive(Serialize)]
struct Rest {
    failed: Vec<serde_json::Value>,
    /// Parts that did not fit.
    further: u64,
}

/// `POST /v1/extract?name=letter.docx`
pub(crate) async fn post(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let parameters = QueryParameters::read(request.uri().query(), &["name"])?;
    let name = parameters.text("name").unwrap_or_default().to_owned();
    check_name(&name)?;
    let (parts, body) = request.into_parts();
    let limits = &app.service.config.limits;
    let whole = body::file(&parts.headers, body, limits, &app.service.memory).await?;
    let text_bytes = limits.text_bytes as usize;
    // What is unpacked may take as much as is allowed, however small the file is.
    let work = app.service.work.wait(limits.unpacked_bytes()).await?;
    let answer = move |worker: &mut PoolWorker| {
        let mut parts = Parts { room: text_bytes, ..Parts::default() };
        let extracted = worker.extractor().extract(&name, &whole.bytes, &mut parts);
        worker.release_buffers(whole.bytes.len());
        drop((whole, work));
        extracted?;
        parts.texts.into_object("parts", &Rest { failed: parts.failed, further: parts.further })
    };
    Ok(json_bytes(StatusCode::OK, app.pool.run_sized(usize::MAX, answer).await?))
}

/// Collects what a file has.
#[derive(Default)]
struct Parts {
    texts: JsonList,
    failed: Vec<serde_json::Value>,
    further: u64,
    /// Bytes of texts that may follow.
    room: usize,
}

impl Parts {
    fn is_full(&self) -> bool {
        self.texts.len + self.failed.len() >= PARTS_MAX
    }
}

impl PartSink for Parts {
    type Error = Problem;

    fn part(&mut self, part: &ExtractedPart<'_>) -> Result<(), Problem> {
        if self.is_full() || part.text.len() > self.room {
            self.further += 1;
            return Ok(());
        }
        self.room -= part.text.len();
        let ExtractedPart { within, text, .. } = *part;
        let (kind, fields) = (part.kind.name(), FieldValues(part.fields));
        self.texts.push(&ReadPart { within, kind, text, fields })
    }

    fn failed(&mut self, failed: &FailedPart<'_>) -> Result<(), Problem> {
        if self.is_full() {
            self.further += 1;
            return Ok(());
        }
        let FailedPart { within, .. } = *failed;
        let failure =
            UnreadPart { within, kind: failed.kind.name(), reason: failed.failure.to_string() };
        let failure = serde_json::to_value(failure);
        self.failed.push(failure.map_err(|error| Problem::internal(error.to_string()))?);
        Ok(())
    }
}

/// The metadata that a file has, by name.
struct FieldValues<'a>(&'a Fields);

impl Serialize for FieldValues<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let values = Fields::NAMES.iter().filter_map(|name| Some((*name, self.0.get(name)?)));
        serializer.collect_map(values)
    }
}
