//! `/v1/decisions`: what people decided about documents of the index.

use crate::address::{QueryParameters, invalid_value};
use crate::app::{App, HandlerResult, json_bytes};
use crate::body;
use crate::documents::{self, JsonList};
use crate::json::{self, AtMost};
use crate::pool::PoolWorker;
use crate::problem::{Code, Problem};
use crate::token::client_name;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use lookalike::decisions::{self, Agreements, DecisionFields, ReviewDecision};
use lookalike::error::Error;
use lookalike::index::time;
use lookalike::store::{Index, IndexError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Default and maximum number of decisions in a list.
const LIST: usize = 1_000;
const LIST_MAX: usize = 10_000;
/// Default and maximum number of disputed pairs.
const DISPUTED: usize = 100;
const DISPUTED_MAX: usize = 10_000;
/// A list ends early beyond this many bytes.
const LIST_BYTES: usize = 16 << 20;
/// Decisions that are read at once.
const STEP: usize = 100;
/// Maximum number of decisions in a request.
const POST_MAX: usize = 100_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DecisionsBody {
    decisions: AtMost<DecisionFields, POST_MAX>,
}

/// `POST /v1/decisions`: records decisions, all or none.
pub(crate) async fn post(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    QueryParameters::read(request.uri().query(), &[])?;
    let who = client_name(&request);
    let (parts, body) = request.into_parts();
    let whole =
        body::json(&parts.headers, body, &app.service.config.limits, &app.service.memory).await?;
    let bytes = whole.bytes.len();
    let record = move |worker: &mut PoolWorker| {
        let DecisionsBody { decisions: AtMost(asked) } = json::parse(&whole.bytes)?;
        drop(whole);
        let read =
            (0u64..).zip(asked).map(|(position, one)| decision(position, one, who.as_deref()));
        let read = read.collect::<Result<Vec<_>, Problem>>()?;
        let now = time::format(time::now());
        let done = decisions::add_to_index(&worker.index, read, &now).map_err(problem)?;
        Ok(json!({ "added": done.added, "unknown": done.unknown, "last": done.last }))
    };
    let answer: Value = app.pool.run_sized(bytes, record).await?;
    Ok(json_bytes(StatusCode::OK, answer.to_string().into_bytes()))
}

/// A decision of a request. One who has a name decides under this name only.
fn decision(
    position: u64,
    fields: DecisionFields,
    who: Option<&str>,
) -> Result<ReviewDecision, Problem> {
    let wrong =
        |why: String| Problem::new(Code::BAD_DECISION, format!("decisions[{position}]: {why}"));
    let decision = fields.check(position + 1).map_err(|problem| wrong(problem.to_string()))?;
    if let Some(name) = who
        && let Some(other) = decision.who.as_ref().filter(|other| *other != name)
    {
        return Err(wrong(format!(
            "who is {other:?}, the token is that of {name:?}: leave it out"
        )));
    }
    let who = decision.who.clone().or_else(|| who.map(str::to_owned));
    Ok(ReviewDecision { who, ..decision })
}

/// `GET /v1/decisions`
pub(crate) async fn list(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let parameters = QueryParameters::read(request.uri().query(), &["after", "limit"])?;
    let limit = parameters.number("limit", LIST_MAX, LIST)?;
    let after = match parameters.text("after") {
        Some(text) => number_after(text)?,
        None => 0,
    };
    let look = move |worker: &mut PoolWorker| show(&worker.index, after, limit);
    Ok(json_bytes(StatusCode::OK, app.pool.run(look).await?))
}

/// `GET /v1/agreement`: how far people agree who judged the same pairs.
pub(crate) async fn agreement(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let parameters = QueryParameters::read(request.uri().query(), &["after", "limit"])?;
    let limit = parameters.number("limit", DISPUTED_MAX, DISPUTED)?;
    let after = parameters.text("after").map(pair_after).transpose()?;
    let cache = Arc::clone(&app.agreement);
    let look = move |worker: &mut PoolWorker| {
        let found = cache.compared(&worker.index, after.as_ref(), limit, problem)?;
        let next = found.disputed.last().filter(|_| found.goes_on);
        let next = next.map(|pair| pair_cursor(&pair.documents));
        documents::bytes(&AgreementPage { found, next })
    };
    // The first time the whole log is read, which takes some time where it is long.
    Ok(json_bytes(StatusCode::OK, app.pool.run_sized(usize::MAX, look).await?))
}

/// A page of disputed pairs, with how far people agree about all pairs.
#[derive(Serialize)]
struct AgreementPage {
    #[serde(flatten)]
    found: Agreements,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// The cursor behind a pair: the bytes of both ids in hexadecimal. Pairs that are judged later move
/// none.
fn pair_cursor(documents: &[String; 2]) -> String {
    let [a, b] = documents.each_ref().map(|id| HEXLOWER.encode(id.as_bytes()));
    format!("{a}-{b}")
}

fn pair_after(text: &str) -> Result<[String; 2], Problem> {
    let pair = text.split_once('-').and_then(|(a, b)| Some([id_of_hex(a)?, id_of_hex(b)?]));
    pair.ok_or_else(|| invalid_value("after", text, "expected the `next` of an answer, or nothing"))
}

/// The id of these bytes. A cursor is a place among pairs, of which none needs to be stored, so
/// bytes that are no UTF-8 have a place, too.
fn id_of_hex(text: &str) -> Option<String> {
    let bytes =
        HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok().filter(|bytes| !bytes.is_empty())?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The number of a decision, of at most 18 digits.
fn number_after(text: &str) -> Result<u64, Problem> {
    let is_number = text.len() <= 18 && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| is_number);
    number
        .ok_or_else(|| invalid_value("after", text, "expected the `next` of an answer, or nothing"))
}

/// A page of decisions.
fn show(index: &Index, after: u64, limit: usize) -> Result<Vec<u8>, Problem> {
    let mut snapshot = index.snapshot()?;
    let (mut list, mut last, mut goes_on) = (JsonList::default(), after, true);
    while goes_on && list.len < limit && list.bytes() < LIST_BYTES {
        let step = STEP.min(limit - list.len);
        let mut entries = Vec::with_capacity(step);
        let read = snapshot.decisions(last, step, &mut |number, entry| {
            last = number;
            entries.push((number, entry.to_owned()));
            Ok(())
        })?;
        goes_on = read == step;
        for (number, entry) in entries {
            let members = serde_json::from_str::<Map<String, Value>>(&entry);
            let mut members = members.map_err(|error| Problem::internal(error.to_string()))?;
            members.insert("number".to_owned(), number.into());
            list.push(&members)?;
        }
    }
    let next = if goes_on { json!({ "next": last.to_string() }) } else { json!({}) };
    list.into_object("decisions", &next)
}

fn problem(error: Error) -> Problem {
    match error {
        Error::Index(IndexError::Decision { .. }) => {
            Problem::new(Code::BODY_TOO_LARGE, error.to_string())
        }
        Error::Index(error) => error.into(),
        error => Problem::internal(error.to_string()),
    }
}
