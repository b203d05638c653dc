//! Reads documents as for an index, and sends them to a service as lines, up to 1,000 at a time.

use crate::cmd::CommandError;
use crate::cmd::error::id_taken;
use crate::service::service_client::{Answer, ClientBody, ServiceClient, ServiceRequest};
use lookalike::index::{
    AddCounts, AddOptions, Existing, IncomingDocument, InterruptedAdd, read_documents, time,
};
use lookalike::progress::Progress;
use lookalike::read::{Collection, SkipReason, SkippedItem};
use lookalike::store::original::OriginalEntry;
use lookalike::store::settings::OriginalSettings;
use lookalike_server::config::token::random_token;
use serde_json::{Value, json};

/// A batch is sent as soon as it has this many lines or bytes. The service lists at most
/// `BATCH_LINES` skipped lines of a request, so it lists all skipped lines of a batch.
const BATCH_LINES: usize = 1_000;
const BATCH_BYTES: usize = 4 << 20;

/// Documents on their way to a service.
pub(in super::super) struct RemoteAdd<'a> {
    pub(in super::super) service: &'a ServiceClient,
    pub(in super::super) inputs: &'a Collection,
    pub(in super::super) options: &'a AddOptions,
}

/// Sends the documents of a collection. Documents before an error are stored.
pub(in super::super) fn add(
    adding: &RemoteAdd<'_>,
    progress: &dyn Progress,
) -> Result<AddCounts, Box<InterruptedAdd<CommandError>>> {
    let mut batch = OutgoingLines::new(adding);
    let originals = originals(adding.service)
        .map_err(|error| Box::new(InterruptedAdd { before: AddCounts::default(), error }))?;
    let inputs = adding.inputs;
    let options = adding.options;
    let read = read_documents(inputs, options, originals, progress, &mut |document| {
        batch.push(&document)?;
        if batch.is_full() { batch.send() } else { Ok(()) }
    });
    // After a read error, the documents before it are still sent.
    let sent = batch.send();
    let read = read.and_then(|summary| sent.map(|()| summary));
    let mut counts = batch.counts;
    match read {
        Ok(mut summary) => {
            counts.not_found = summary.not_found;
            summary.skipped.append(&mut counts.skipped);
            counts.skipped = summary.skipped;
            Ok(counts)
        }
        Err(error) => Err(Box::new(InterruptedAdd { before: counts, error })),
    }
}

/// Returns the service's settings of originals, or `None` if it keeps none.
pub(in super::super) fn originals(
    service: &ServiceClient,
) -> Result<Option<OriginalSettings>, CommandError> {
    let settings = service.ask(ServiceRequest::get("/settings"))?;
    if settings["store"] != "originals" {
        // Every index has settings of the signatures.
        service.number(&settings, "num_hashes")?;
        return Ok(None);
    }
    let max_bytes = service.number(&settings["originals"], "max_bytes")?;
    Ok(Some(OriginalSettings { max_bytes }))
}

/// The origin of a line: its source, its line in the source, and its id.
type LinePlace = (String, Option<u64>, String);

/// Lines that are sent together.
struct OutgoingLines<'a> {
    adding: &'a RemoteAdd<'a>,
    lines: Vec<u8>,
    /// The origin of each line.
    places: Vec<LinePlace>,
    counts: AddCounts,
}

impl<'a> OutgoingLines<'a> {
    fn new(adding: &'a RemoteAdd<'a>) -> Self {
        Self { adding, lines: Vec::new(), places: Vec::new(), counts: AddCounts::default() }
    }

    fn is_full(&self) -> bool {
        self.places.len() >= BATCH_LINES || self.lines.len() >= BATCH_BYTES
    }

    fn push(&mut self, document: &IncomingDocument<'_>) -> Result<(), CommandError> {
        let fields = &document.fields;
        let mut line = json!({
            "id": document.id, "text": document.text, "metadata": fields.metadata,
            "added": time::format(fields.added),
        });
        for (name, at) in [("modified", fields.modified), ("expires", fields.expires)] {
            if let Some(at) = at {
                line[name] = time::format(at).into();
            }
        }
        if !fields.duplicates.is_empty() {
            line["duplicates"] = json!(fields.duplicates);
        }
        if let Some(original) = &document.original {
            let OriginalEntry { media_type, name, .. } = original.entry();
            let data = original.to_base64();
            line["original"] = json!({ "type": media_type, "name": name, "data": data });
        }
        serde_json::to_writer(&mut self.lines, &line).map_err(std::io::Error::from)?;
        self.lines.push(b'\n');
        let source = document.source.to_owned();
        self.places.push((source, document.line, document.id.to_owned()));
        Ok(())
    }

    /// Sends the lines, and counts the results.
    fn send(&mut self) -> Result<(), CommandError> {
        let lines = std::mem::take(&mut self.lines);
        let places = std::mem::take(&mut self.places);
        if places.is_empty() {
            return Ok(());
        }
        let service = self.adding.service;
        let options = self.adding.options;
        let mode = if options.existing == Existing::Replace { "put" } else { "add" };
        let skips = options.skip_bad || options.existing == Existing::Keep;
        let on_error = if skips { "skip" } else { "stop" };
        let path = format!("/documents?form=export&mode={mode}&on_error={on_error}");
        let key = random_token()?;
        let body = ClientBody::Lines(&lines, &key);
        let answer =
            service.answer(ServiceRequest { method: "POST", path: &path, body, success: 200 })?;
        if answer.status >= 400 {
            self.counts.added += answer.body["stored"].as_u64().unwrap_or_default();
            return Err(problem(service, &places, &answer));
        }
        self.count(&answer.body, &places)
    }

    /// Counts the documents of an answer.
    fn count(&mut self, answer: &Value, places: &[LinePlace]) -> Result<(), CommandError> {
        let service = self.adding.service;
        let options = self.adding.options;
        let number = |name| service.number(answer, name);
        let added = number("added")?;
        let replaced = number("replaced")?;
        let skipped = service.list(answer, "skipped")?;
        let sent = places.len() as u64;
        let counted = [added, replaced, skipped.len() as u64];
        if counted.iter().copied().fold(0, u64::saturating_add) != sent {
            let [added, replaced, skipped] = counted;
            return Err(service.unexpected(&format!(
                "answers that it added {added}, replaced {replaced} and skipped {skipped} of \
                 {sent} documents"
            )));
        }
        self.counts.added += added;
        self.counts.replaced += replaced;
        for line in skipped {
            let (source, at, id) = place_of(line, places).cloned().unwrap_or_default();
            if line["code"] == "id-taken" && options.existing == Existing::Keep {
                self.counts.existing += 1;
                continue;
            }
            let why = line["detail"].as_str().unwrap_or_default().to_owned();
            if !options.skip_bad {
                let place = place_text(&source, at);
                return Err(CommandError::Data(format!(
                    "{place}: {why}; --skip-bad leaves out such documents"
                )));
            }
            let reason = SkipReason::NotStored { why };
            self.counts.skipped.push(SkippedItem { source, line: at, id: Some(id), reason });
        }
        Ok(())
    }
}

/// The place of the line that a member of an answer names.
fn place_of<'a>(answer: &Value, places: &'a [LinePlace]) -> Option<&'a LinePlace> {
    let at = answer["line"].as_u64()?.checked_sub(1)?;
    places.get(usize::try_from(at).ok()?)
}

/// Returns the problem of an answer. The message names the place of the line with the problem.
fn problem(service: &ServiceClient, places: &[LinePlace], answer: &Answer) -> CommandError {
    let body = &answer.body;
    let place = place_of(body, places).filter(|_| body["code"] == "bad-line");
    let Some((source, at, id)) = place else { return service.problem(answer) };
    let place = place_text(source, *at);
    if body["line_code"] == "id-taken" {
        return id_taken(&place, id);
    }
    let detail = body["detail"].as_str().unwrap_or_default();
    let address = service.address();
    CommandError::Data(format!(
        "{place}: {address}: {detail}; --skip-bad leaves out such documents"
    ))
}

fn place_text(source: &str, line: Option<u64>) -> String {
    line.map_or_else(|| source.to_owned(), |line| format!("{source}:{line}"))
}
