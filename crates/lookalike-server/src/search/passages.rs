//! `POST /v1/passages`: which runs of words of a text are in documents of the index.
//!
//! In an index for containment, the text is compared with the documents that share a shingle with
//! it, if every run contains a shingle. Otherwise, it is compared with all documents. The
//! comparison takes documents in the order of their numbers, for a limited time. The response says
//! where the next request continues.

use crate::documents::document_to_write::check_text;
use crate::documents::single::next_number;
use crate::http::json::{self, WholeNumber};
use crate::http::problem::{Code, Problem};
use crate::http::response::{HandlerResult, JsonList};
use crate::state::app::App;
use crate::threads::pool::PoolWorker;
use axum::extract::{Request, State};
use lookalike::core::params::Unit;
use lookalike::index::{KnownRun, KnownRuns, time};
use lookalike::passages::{DEFAULT_WORDS, TextSpan};
use lookalike::store::backend::Snapshot;
use lookalike::store::containment;
use lookalike::store::entry::DocumentNumber;
use lookalike::store::entry::{IndexRecord, RecordFields, shortened_id};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// Default and maximum number of documents that are named for a passage.
const TOP: usize = 10;
const TOP_MAX: usize = 100;
/// A response ends early with this many passages, or bytes of ids.
const PASSAGES: usize = 1_000;
const ID_BYTES: usize = 16 << 20;
/// Documents that are read between two looks at the clock, and bytes of texts that are read at
/// once.
const STEP: usize = 64;
const STEP_BYTES: u64 = 1 << 20;
/// The memory of a comparison as a multiple of the work memory of a text.
const FACTOR: usize = 4;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PassagesBody {
    text: String,
    min_words: Option<WholeNumber>,
    top: Option<WholeNumber>,
    after: Option<String>,
}

#[derive(Serialize)]
struct KnownPassageView<'a> {
    words: u32,
    bytes: [u64; 2],
    chars: [u64; 2],
    documents: u64,
    places: &'a [PassagePlaceView],
}

#[derive(Serialize)]
struct PassagePlaceView {
    id: String,
    bytes: [u64; 2],
    chars: [u64; 2],
}

#[derive(Serialize)]
struct PassagesSummary {
    words: usize,
    known_words: usize,
    documents: u64,
    compared: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// Reserves memory for a stored text of this many bytes.
type ReserveText<'a> = &'a mut dyn FnMut(u64) -> Result<(), Problem>;

/// `POST /v1/passages`
pub(crate) async fn post(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let text_bytes = app.service.config.limits.text_bytes;
    let (body, work) = app.json_body(request, FACTOR).await?;
    let body_bytes = body.bytes.len();
    let shared = Arc::clone(&app);
    let answer = move |worker: &mut PoolWorker| {
        let request: PassagesBody = json::parse(&body.bytes)?;
        drop(body);
        check_text(&request.text, text_bytes)?;
        let deadline = Instant::now() + shared.service.config.limits.request_time / 2;
        let mut stored_work = None;
        let found = request.answer(worker, deadline, &mut |stored_bytes| {
            let bytes = App::work_bytes(FACTOR * stored_bytes as usize);
            stored_work = None;
            shared.service.work.take_at_most(bytes, &mut stored_work)
        });
        worker.release_buffers(body_bytes);
        drop((request, work, stored_work));
        found
    };
    // A search with a short text can also take long.
    app.answer(usize::MAX, answer).await
}

impl PassagesBody {
    fn answer(
        &self,
        worker: &mut PoolWorker,
        deadline: Instant,
        reserve: ReserveText<'_>,
    ) -> Result<Vec<u8>, Problem> {
        let index = Arc::clone(&worker.index);
        let settings = index.settings();
        if !settings.store.has_texts() {
            let detail = "the index keeps no texts, whose words are compared here: create it with \
                          --store texts";
            return Err(Problem::new(Code::NO_SETS, detail));
        }
        let top = json::number_up_to("top", self.top, TOP_MAX)?.unwrap_or(TOP);
        let from = self.after.as_deref().map_or(Ok(0), |cursor| {
            next_number(cursor).ok_or_else(|| {
                let got = shortened_id(cursor);
                let detail = format!("after is {got:?}: expected the `next` of an answer");
                Problem::new(Code::BAD_MEMBER, detail)
            })
        })?;
        let min_words = self.min_words.map_or(DEFAULT_WORDS as u64, |words| words.0) as usize;
        let runs = KnownRuns::new(&self.text, min_words, settings)?;
        let is_known = vec![false; runs.words()];
        let mut search = PassageSearch {
            runs,
            top,
            passages: BTreeMap::new(),
            is_known,
            id_bytes: 0,
            documents: 0,
            compared: 0,
        };
        let mut snapshot = index.snapshot()?;
        let wanted = wanted_documents(&self.text, min_words, from, worker, &mut *snapshot)?;
        let next = search.compare(&mut *snapshot, wanted, deadline, reserve)?;
        search.response(next)
    }
}

/// The documents that may share a run with a text.
enum WantedDocuments {
    /// Documents with these numbers, ascending.
    Numbers(Vec<DocumentNumber>),
    /// All from this number on.
    All(DocumentNumber),
}

/// In an index for containment, returns the documents that share a shingle with the text, if every
/// run contains a shingle. Otherwise returns all documents. Both begin at the number `from`.
fn wanted_documents(
    text: &str,
    min_words: usize,
    from: u64,
    worker: &mut PoolWorker,
    snapshot: &mut dyn Snapshot,
) -> Result<WantedDocuments, Problem> {
    let settings = worker.index.settings();
    let params = worker.index.params();
    let rule = params.shingle();
    let is_in_every_run = rule.unit() == Unit::Words
        && rule.size() <= min_words
        && !rule.frequencies()
        && rule.stop_words().is_none();
    let Some(containment) = settings.containment.filter(|_| is_in_every_run) else {
        return Ok(WantedDocuments::All(DocumentNumber(from)));
    };
    let mut keys = Vec::new();
    let mut numbers = Vec::new();
    // Documents have a posting for each of their shingles.
    let shingles = worker.preparer.prepare(text).set;
    containment::document_keys(containment.anchors, shingles, &mut keys);
    keys.sort_unstable();
    snapshot.candidates(&keys, &mut numbers)?;
    numbers.retain(|number| number.0 >= from);
    Ok(WantedDocuments::Numbers(numbers))
}

/// The passages that were found so far.
struct PassageSearch<'a> {
    runs: KnownRuns<'a>,
    top: usize,
    /// By position, longer ones first.
    passages: BTreeMap<(u32, Reverse<u32>), FoundRun>,
    /// For each word of the text, whether it is in a passage.
    is_known: Vec<bool>,
    /// Bytes of the ids of all places.
    id_bytes: usize,
    documents: u64,
    compared: u64,
}

struct FoundRun {
    span: TextSpan,
    documents: u64,
    places: Vec<PassagePlaceView>,
}

impl PassageSearch<'_> {
    /// Compares documents until all are compared, the time is over or the response is full. Returns
    /// the last number if more documents follow.
    fn compare(
        &mut self,
        snapshot: &mut dyn Snapshot,
        mut wanted: WantedDocuments,
        deadline: Instant,
        reserve: ReserveText<'_>,
    ) -> Result<Option<u64>, Problem> {
        let now = time::now();
        loop {
            let mut step = Vec::new();
            let mut last = None;
            let mut take = |record: &IndexRecord| {
                last = Some(record.number);
                if !record.is_expired(now) {
                    step.push((record.number, record.bytes));
                }
                Ok(())
            };
            let fields = RecordFields::default();
            match &mut wanted {
                WantedDocuments::All(from) => {
                    snapshot.scan(*from, STEP, fields, &mut take)?;
                    *from = last.map_or(*from, DocumentNumber::next);
                }
                WantedDocuments::Numbers(numbers) if numbers.is_empty() => return Ok(None),
                WantedDocuments::Numbers(numbers) => {
                    let numbers: Vec<DocumentNumber> =
                        numbers.drain(..STEP.min(numbers.len())).collect();
                    snapshot.records(&numbers, fields, &mut take)?;
                    // Removed documents also have postings.
                    last = numbers.last().copied();
                }
            }
            let Some(last) = last else { return Ok(None) };
            self.compare_step(snapshot, &step, reserve)?;
            let is_full = self.passages.len() >= PASSAGES || self.id_bytes > ID_BYTES;
            if is_full || Instant::now() >= deadline {
                return Ok(Some(last.0));
            }
        }
    }

    /// Compares documents, given as number and bytes. Reads several texts at once, up to
    /// [`STEP_BYTES`]. A longer text is read alone, after `reserve` was called with its bytes.
    fn compare_step(
        &mut self,
        snapshot: &mut dyn Snapshot,
        mut step: &[(DocumentNumber, u64)],
        reserve: ReserveText<'_>,
    ) -> Result<(), Problem> {
        while let Some(((first, bytes), rest)) = step.split_first() {
            let mut numbers = vec![*first];
            let mut sum = *bytes;
            step = rest;
            while let Some(((number, bytes), rest)) = step.split_first()
                && sum + bytes <= STEP_BYTES
            {
                numbers.push(*number);
                sum += bytes;
                step = rest;
            }
            if sum > STEP_BYTES {
                reserve(sum)?;
            }
            let wanted = RecordFields { text: true, ..RecordFields::default() };
            snapshot.try_records(&numbers, wanted, |record| self.add(record))?;
        }
        Ok(())
    }

    fn add(&mut self, record: &IndexRecord) -> Result<(), Problem> {
        let text = record.text.as_deref().unwrap_or_default();
        let runs = self.runs.in_document(&record.id, text)?;
        self.compared += 1;
        self.documents += u64::from(!runs.is_empty());
        for KnownRun { position, words, in_text, in_document } in runs {
            self.is_known[position as usize..(position + words) as usize].fill(true);
            let found = self.passages.entry((position, Reverse(words)));
            let found =
                found.or_insert(FoundRun { span: in_text, documents: 0, places: Vec::new() });
            found.documents += 1;
            if found.places.len() < self.top {
                self.id_bytes += record.id.len();
                let (bytes, chars) = ends(&in_document);
                found.places.push(PassagePlaceView { id: record.id.clone(), bytes, chars });
            }
        }
        Ok(())
    }

    fn response(self, next: Option<u64>) -> Result<Vec<u8>, Problem> {
        let mut passages = JsonList::default();
        for ((_, Reverse(words)), FoundRun { span, documents, places }) in &self.passages {
            let (bytes, chars) = ends(span);
            let documents = *documents;
            passages.push(&KnownPassageView { words: *words, bytes, chars, documents, places })?;
        }
        let summary = PassagesSummary {
            words: self.is_known.len(),
            known_words: self.is_known.iter().filter(|known| **known).count(),
            documents: self.documents,
            compared: self.compared,
            next: next.map(|last| last.to_string()),
        };
        passages.into_object("passages", &summary)
    }
}

fn ends(span: &TextSpan) -> ([u64; 2], [u64; 2]) {
    ([span.bytes.start, span.bytes.end], [span.chars.start, span.chars.end])
}
