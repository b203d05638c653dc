//! `POST /v1/extract`: the texts of a file, as the command line reads it.

use crate::documents::document_file::{check_name, metadata_of};
use crate::http::address::QueryParameters;
use crate::http::body;
use crate::http::problem::Problem;
use crate::http::response::{HandlerResult, JsonList};
use crate::state::app::App;
use crate::threads::pool::PoolWorker;
use axum::extract::{Request, State};
use lookalike::extract::{ExtractedPart, FailedPart, PartSink};
use serde_json::{Value, json};
use std::sync::Arc;

/// Maximum number of parts in a response, with a text or without.
const PARTS_MAX: usize = 1_000;

/// `POST /v1/extract?name=letter.docx`
pub(crate) async fn post(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let parameters = QueryParameters::read(request.uri().query(), &["name"])?;
    let name = parameters.text("name").unwrap_or_default().to_owned();
    check_name(&name)?;
    let (parts, body) = request.into_parts();
    let limits = &app.service.config.limits;
    let whole_body = body::file(&parts.headers, body, limits, &app.service.memory).await?;
    let text_bytes = limits.text_bytes as usize;
    // Even a small file may be unpacked to the allowed size.
    let work = app.service.work.wait(limits.unpacked_bytes()).await?;
    let answer = move |worker: &mut PoolWorker| {
        let mut parts = Parts { room: text_bytes, ..Parts::default() };
        let extracted = worker.extractor().extract(&name, &whole_body.bytes, &mut parts);
        worker.release_buffers(whole_body.bytes.len());
        drop((whole_body, work));
        extracted?;
        let rest = json!({ "failed": parts.failed, "further": parts.further });
        parts.texts.into_object("parts", &rest)
    };
    app.answer(usize::MAX, answer).await
}

/// Collects the parts of a file.
#[derive(Default)]
struct Parts {
    texts: JsonList,
    failed: Vec<Value>,
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
        self.texts.push(&json!({
            "within": part.within, "kind": part.kind.name(), "text": part.text,
            "fields": metadata_of(part.fields),
        }))
    }

    fn failed(&mut self, failed: &FailedPart<'_>) -> Result<(), Problem> {
        if self.is_full() {
            self.further += 1;
            return Ok(());
        }
        let reason = failed.failure.to_string();
        let kind = failed.kind.name();
        self.failed.push(json!({ "within": failed.within, "kind": kind, "reason": reason }));
        Ok(())
    }
}
