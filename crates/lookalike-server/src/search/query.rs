//! `POST /v1/query`: documents similar to a text, or to a document of the index.

use crate::caches::category_cache::{self, CategoryCache};
use crate::config::token::{Right, right};
use crate::documents::document_to_write::check_text;
use crate::documents::document_view::{MOST_BEGINNING, beginning, more_than_itself, visible};
use crate::http::address::FILTERS_MAX;
use crate::http::json::{self, AtMost, Object};
use crate::http::problem::{Code, Problem};
use crate::http::response::{HandlerResult, JsonList, rounded, six_decimals};
use crate::state::app::App;
use crate::threads::pool::PoolWorker;
use axum::extract::{Request, State};
use lookalike::categories::{CategoryBuffers, CategoryNumber};
use lookalike::core::error::ParamsError;
use lookalike::index::{IndexCategories, time};
use lookalike::store::IndexError;
use lookalike::store::backend::Snapshot;
use lookalike::store::entry::{DocumentNumber, Metadata, RecordFields, check_id};
use lookalike::store::filter::MetadataFilter;
use lookalike::store::nearest::NearestRequest;
use lookalike::store::query::{self, Match, QueryRequest};
use lookalike::store::query_by_id::query_stored;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Default and maximum number of matches.
const TOP: usize = 10;
const TOP_MAX: usize = 1_000;
/// Maximum number of queries in a request.
const BATCH_MAX: usize = 100;
/// Maximum size of texts and metadata in a response.
const ANSWER_BYTES: usize = 64 << 20;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct QueryBody {
    text: Option<String>,
    id: Option<String>,
    threshold: Option<f64>,
    top: Option<json::WholeNumber>,
    nearest: Option<json::WholeNumber>,
    filters: Option<AtMost<String, FILTERS_MAX>>,
    texts: Option<bool>,
    metadata: Option<bool>,
    beginning: Option<json::WholeNumber>,
}

#[derive(Serialize)]
struct QueryResponse {
    found: u64,
    candidates: u64,
    shingles: Option<usize>,
    threshold: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest: Option<u64>,
    predicted_recall: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    recall_caveat: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<Value>,
}

#[derive(Serialize)]
struct ResponseMatch<'a> {
    id: &'a str,
    similarity: f64,
    estimated: bool,
    shared: Option<u64>,
    shingles: Option<u64>,
    containment_of_query: Option<f64>,
    containment_of_match: Option<f64>,
    bytes: u64,
    /// The number of documents that it represents, if more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    group_size: Option<u64>,
    /// Present for a match with the shingles of the query, if both texts are read.
    #[serde(skip_serializing_if = "Option::is_none")]
    equal_text: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Metadata>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<StoredText<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    beginning: Option<StoredText<'a>>,
}

/// `null` if the index keeps no texts.
#[derive(Serialize)]
struct StoredText<'a>(Option<&'a str>);

/// `POST /v1/query`
pub(crate) async fn post(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let answer_one = |worker: &mut PoolWorker, body: &[u8], context: &Asking| {
        json::parse::<QueryBody>(body)?.answer(worker, context)
    };
    answer_body(&app, request, 0, answer_one).await
}

/// Several queries in a request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchBody {
    queries: AtMost<Object<QueryBody>, BATCH_MAX>,
}

/// `POST /v1/queries`
pub(crate) async fn post_batch(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let answer_all = |worker: &mut PoolWorker, body: &[u8], context: &Asking| {
        let BatchBody { queries } = json::parse(body)?;
        let mut answers = JsonList::default();
        for (Object(query), number) in queries.0.iter().zip(1..) {
            let found = if let Err(problem) = query.check() {
                Err(problem)
            } else if answers.bytes() < ANSWER_BYTES {
                query.answer(worker, context)
            } else {
                let detail = "the answers before it take all that an answer may: send it alone";
                Err(Problem::new(Code::ANSWER_TOO_LARGE, detail))
            };
            match found {
                Ok(found) => answers.push_json(&found),
                Err(mut problem) if problem.code.status == 400 => {
                    problem.detail = format!("query {number}: {}", problem.detail);
                    return Err(problem);
                }
                // A failure of the server is not the fault of the query.
                Err(problem) if problem.code.status >= 500 => return Err(problem),
                Err(problem) => answers.push(&json!({ "problem": problem.to_json() }))?,
            }
        }
        answers.into_object("answers", &json!({}))
    };
    // Many small queries take as long as a large one.
    answer_body(&app, request, crate::threads::pool::SMALL + 1, answer_all).await
}

/// The rights of the client, and the data for its answer.
struct Asking {
    text_bytes: u64,
    right: Right,
    categories: Arc<CategoryCache>,
}

/// Answers the body of a request on a worker, as work of at least `size` bytes. The memory of this
/// work is released before the answer is sent.
async fn answer_body<A>(app: &App, request: Request, size: usize, answer: A) -> HandlerResult
where
    A: FnOnce(&mut PoolWorker, &[u8], &Asking) -> Result<Vec<u8>, Problem> + Send + 'static,
{
    let text_bytes = app.service.config.limits.text_bytes;
    let right = right(&request);
    let categories = Arc::clone(&app.categories);
    let context = Asking { text_bytes, right, categories };
    let (body, work) = app.json_body(request, 1).await?;
    let body_bytes = body.bytes.len();
    let answer = move |worker: &mut PoolWorker| {
        let found = answer(worker, &body.bytes, &context);
        worker.release_buffers(body_bytes);
        drop((body, work));
        found
    };
    app.answer(body_bytes.max(size), answer).await
}

/// The snapshot and the rights with which matches are read.
struct FoundContext<'a> {
    snapshot: &'a mut dyn Snapshot,
    right: Right,
    /// The categories of the index and the category of the query, if the index has categories.
    categories: Option<(IndexCategories, CategoryNumber)>,
}

impl QueryBody {
    /// Checks the members that the search itself does not check first.
    fn check(&self) -> Result<(), Problem> {
        self.id.as_deref().map_or(Ok(()), check_id)?;
        self.beginning().map(|_| ())
    }

    fn answer(
        &self,
        worker: &mut PoolWorker,
        Asking { text_bytes, right, categories }: &Asking,
    ) -> Result<Vec<u8>, Problem> {
        let text_bytes = *text_bytes;
        let right = *right;
        let cache = &**categories;
        let default = worker.index.settings().threshold;
        let threshold = self.threshold.unwrap_or(default);
        if !(threshold > 0.0 && threshold <= 1.0) {
            return Err(IndexError::from(ParamsError::Threshold { got: threshold }).into());
        }
        let top = json::number_up_to("top", self.top, TOP_MAX)?.unwrap_or(TOP);
        let count = self.nearest()?;
        let filters = self.filters(right)?;
        let PoolWorker { index, preparer, scratch, .. } = &mut *worker;
        let signatures = index.compact_signatures();
        let question = QueryRequest {
            threshold,
            top: Some(top),
            nearest: count.map(|count| NearestRequest { count, signatures }),
            filters: &filters,
            now: time::now(),
            except: None,
            wanted: RecordFields::default(),
        };
        let settings = index.settings();
        match (&self.text, &self.id) {
            (Some(text), None) => {
                check_text(text, text_bytes)?;
                let prepared = preparer.prepare(text);
                let shingles = Some(prepared.set.len());
                let document = prepared.query_document();
                let mut snapshot = index.snapshot()?;
                let answer = query::query(&mut *snapshot, settings, &document, &question, scratch)?;
                let all = cache.for_answer(&mut *snapshot)?;
                let all = all.map(|all| {
                    let category = all.model().category(text, &mut CategoryBuffers::default());
                    (all, category)
                });
                let context = FoundContext { snapshot: &mut *snapshot, right, categories: all };
                self.found(&answer, &question, shingles, context)
            }
            (None, Some(id)) => {
                let mut snapshot = index.snapshot()?;
                let found = query_stored(&mut *snapshot, settings, id, &question, scratch)?;
                let (stored, answer) = found.ok_or_else(|| Problem::unknown_document(id))?;
                let all = match (cache.for_answer(&mut *snapshot)?, snapshot.number_of(id)?) {
                    (Some(all), Some(number)) => {
                        let category = all.of_document(&mut *snapshot, number)?;
                        Some((all, category))
                    }
                    _ => None,
                };
                let context = FoundContext { snapshot: &mut *snapshot, right, categories: all };
                self.found(&answer, &question, stored.shingles(), context)
            }
            (text, _) => Err(json::text_or_id(text.is_some())),
        }
    }

    /// The conditions on metadata. A reader's conditions do not see folders, since a match would
    /// reveal the part of a source that the answer hides.
    fn filters(&self, right: Right) -> Result<Vec<MetadataFilter>, IndexError> {
        let texts = self.filters.as_ref().map(|all| all.0.as_slice()).unwrap_or_default();
        let filters = texts.iter().map(|text| {
            let filter: MetadataFilter = text.parse()?;
            Ok(if right == Right::Read { filter.without_folders() } else { filter })
        });
        filters.collect()
    }

    /// Number of nearest documents, if these are requested.
    fn nearest(&self) -> Result<Option<NonZeroUsize>, Problem> {
        if self.nearest.is_some() && (self.threshold.is_some() || self.top.is_some()) {
            let detail = "nearest finds documents of any similarity: leave out threshold and top";
            return Err(Problem::new(Code::BAD_MEMBER, detail));
        }
        let count = json::number_up_to("nearest", self.nearest, TOP_MAX)?;
        Ok(count.and_then(NonZeroUsize::new))
    }

    /// Characters of the beginnings of texts, if these are requested.
    fn beginning(&self) -> Result<Option<usize>, Problem> {
        json::number_up_to("beginning", self.beginning, MOST_BEGINNING)
    }

    /// The text of the query or of its document; `None` if the index keeps no texts.
    fn query_text(&self, snapshot: &mut dyn Snapshot) -> Result<Option<Cow<'_, str>>, Problem> {
        let Some(id) = &self.id else { return Ok(self.text.as_deref().map(Cow::Borrowed)) };
        let mut text = None;
        if let Some(number) = snapshot.number_of(id)? {
            let wanted = RecordFields { text: true, ..RecordFields::default() };
            snapshot.records(&[number], wanted, &mut |record| {
                text.clone_from(&record.text);
                Ok(())
            })?;
        }
        Ok(text.map(Cow::Owned))
    }

    /// The JSON response. Metadata and texts are read and serialized match by match to limit
    /// memory.
    fn found(
        &self,
        answer: &query::QueryResult,
        question: &QueryRequest<'_>,
        shingles: Option<usize>,
        FoundContext { snapshot, right, categories: all }: FoundContext<'_>,
    ) -> Result<Vec<u8>, Problem> {
        let mut matches = JsonList::default();
        let first = self.beginning()?;
        let wanted = RecordFields {
            metadata: self.metadata.unwrap_or(true),
            text: self.texts == Some(true) || first.is_some(),
            ..RecordFields::default()
        };
        let has_equal_set = |found: &Match| {
            found.similarity.overlap().is_some_and(|overlap| overlap.is_of_equal_sets())
        };
        let compares = wanted.text && answer.matches.iter().any(has_equal_set);
        let query_text = if compares { self.query_text(snapshot)? } else { None };
        let numbers: Vec<DocumentNumber> =
            answer.matches.iter().map(|found| found.record.number).collect();
        let sizes = snapshot.group_sizes(&numbers)?;
        for (found, size) in answer.matches.iter().zip(sizes) {
            let category = match &all {
                Some((all, _)) => {
                    let number = found.record.number;
                    Some(category_cache::document_category(all, &mut *snapshot, number)?)
                }
                None => None,
            };
            if wanted == RecordFields::default() {
                matches.push(&ResponseMatch { category, ..ResponseMatch::new(found, size) })?;
            } else {
                snapshot.try_records(&[found.record.number], wanted, |record| {
                    let metadata = visible(&record.metadata, right);
                    let texts = query_text.as_deref().zip(record.text.as_deref());
                    let texts = texts.filter(|_| has_equal_set(found));
                    matches.push(&ResponseMatch {
                        category: category.clone(),
                        equal_text: texts.map(|(query, text)| query == text),
                        metadata: wanted.metadata.then_some(&*metadata),
                        text: (self.texts == Some(true))
                            .then_some(StoredText(record.text.as_deref())),
                        beginning: first.map(|most| {
                            StoredText(record.text.as_deref().map(|text| beginning(text, most)))
                        }),
                        ..ResponseMatch::new(found, size)
                    })
                })?;
            }
            if matches.bytes() > ANSWER_BYTES {
                let detail = format!(
                    "texts and metadata of the matches have more than {ANSWER_BYTES} bytes: ask \
                     for fewer (top), or without text and metadata"
                );
                return Err(Problem::new(Code::ANSWER_TOO_LARGE, detail));
            }
        }
        let nearest = question.nearest.map(|nearest| nearest.count.get() as u64);
        let rest = QueryResponse {
            found: answer.found,
            candidates: answer.candidates,
            shingles,
            threshold: if nearest.is_some() { 0.0 } else { question.threshold },
            nearest,
            predicted_recall: rounded(answer.predicted_recall),
            recall_caveat: answer.recall_caveat.map(|caveat| caveat.to_string()),
            category: all.map(|(all, number)| category_cache::category_json(&all, number)),
        };
        matches.into_object("matches", &rest)
    }
}

impl<'a> ResponseMatch<'a> {
    /// A match, and the size of its group, without metadata and text.
    fn new(found: &'a Match, size: u64) -> Self {
        let overlap = found.similarity.overlap();
        Self {
            id: &found.record.id,
            similarity: six_decimals(&found.similarity),
            estimated: overlap.is_none(),
            shared: overlap.map(|o| o.intersection),
            shingles: overlap.map(|o| o.right),
            containment_of_query: overlap.map(|o| rounded(o.containment_left())),
            containment_of_match: overlap.map(|o| rounded(o.containment_right())),
            bytes: found.record.bytes,
            group_size: more_than_itself(size),
            equal_text: None,
            category: None,
            metadata: None,
            text: None,
            beginning: None,
        }
    }
}
