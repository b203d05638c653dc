//! `/v1/decisions`: user decisions about documents of the index.

use crate::config::token::client_name;
use crate::http::address::QueryParameters;
use crate::http::body;
use crate::http::json::{self, AtMost};
use crate::http::problem::{Code, Problem};
use crate::http::response::{HandlerResult, JsonList, serialized};
use crate::state::app::App;
use crate::threads::pool::PoolWorker;
use axum::extract::{Request, State};
use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use lookalike::decisions::{self, Agreements, DecisionFields, ReviewDecision, UnknownDocuments};
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
/// Maximum bytes of a request.
const BODY_MAX: u64 = 16 << 20;
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
    let mut limits = app.service.config.limits.clone();
    limits.body_bytes = limits.body_bytes.min(BODY_MAX);
    let whole_body = body::json(&parts.headers, body, &limits, &app.service.memory).await;
    let whole_body = whole_body.map_err(|problem| match problem.code {
        Code::BODY_TOO_LARGE => {
            let most = limits.body_bytes;
            let detail =
                format!("the body has more than {most} bytes: send fewer decisions at once");
            Problem::new(problem.code, detail)
        }
        _ => problem,
    })?;
    let bytes = whole_body.bytes.len();
    let work = app.work_memory(bytes).await?;
    let cache = Arc::clone(&app.decisions);
    let record = move |worker: &mut PoolWorker| {
        let _work = work;
        let DecisionsBody { decisions: AtMost(fields) } = json::parse(&whole_body.bytes)?;
        drop(whole_body);
        let read =
            (0u64..).zip(fields).map(|(position, entry)| decision(position, entry, who.as_deref()));
        let read = read.collect::<Result<Vec<_>, Problem>>()?;
        cache.check_room(&worker.index, &read)?;
        let now = time::format(time::now());
        let counts = decisions::add_to_index(&worker.index, read, &now, UnknownDocuments::Refuse);
        let counts = counts?;
        serialized(
            &json!({ "added": counts.added, "unknown": counts.unknown, "last": counts.last }),
        )
    };
    app.answer(bytes, record).await
}

/// A decision of a request. A client with a name decides under this name only.
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
            "the token belongs to {name:?}, not to {other:?}; remove the member `who`"
        )));
    }
    let who = decision.who.clone().or_else(|| who.map(str::to_owned));
    Ok(ReviewDecision { who, ..decision })
}

/// `GET /v1/decisions`
pub(crate) async fn list(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let parameters = QueryParameters::read(request.uri().query(), &["after", "limit"])?;
    let limit = parameters.number("limit", LIST_MAX, LIST)?;
    let after = parameters.cursor(decision_number)?.unwrap_or(0);
    app.answer(0, move |worker| page(&worker.index, after, limit)).await
}

/// `GET /v1/agreement`: how far people who judged the same pairs agree.
pub(crate) async fn agreement(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let parameters = QueryParameters::read(request.uri().query(), &["after", "limit"])?;
    let limit = parameters.number("limit", DISPUTED_MAX, DISPUTED)?;
    let after = parameters.cursor(pair_after)?;
    let cache = Arc::clone(&app.agreement);
    let look = move |worker: &mut PoolWorker| {
        let found = cache.compared(&worker.index, after.as_ref(), limit)?;
        let next = found.disputed.last().filter(|_| found.goes_on);
        let next = next.map(|pair| pair_cursor(&pair.documents));
        serialized(&AgreementPage { found, next })
    };
    // The first request reads the whole log, which may be long.
    app.answer(usize::MAX, look).await
}

/// A page of disputed pairs, with how far people agree about all pairs.
#[derive(Serialize)]
struct AgreementPage {
    #[serde(flatten)]
    found: Agreements,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// The cursor after a pair: the bytes of both ids in hexadecimal. Pairs that are judged later do
/// not move a cursor.
fn pair_cursor(documents: &[String; 2]) -> String {
    let [a, b] = documents.each_ref().map(|id| HEXLOWER.encode(id.as_bytes()));
    format!("{a}-{b}")
}

fn pair_after(text: &str) -> Option<[String; 2]> {
    // A cursor is a place among pairs, and its own pair need not be stored. Bytes other than UTF-8
    // also have a place.
    let id = |hex: &str| {
        let bytes = HEXLOWER_PERMISSIVE.decode(hex.as_bytes()).ok();
        let bytes = bytes.filter(|bytes| !bytes.is_empty())?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let (a, b) = text.split_once('-')?;
    Some([id(a)?, id(b)?])
}

/// The number of a decision, of at most 18 digits.
fn decision_number(text: &str) -> Option<u64> {
    let is_number = text.len() <= 18 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

/// A page of decisions.
fn page(index: &Index, after: u64, limit: usize) -> Result<Vec<u8>, Problem> {
    let mut snapshot = index.snapshot()?;
    let mut list = JsonList::default();
    let mut last = after;
    let read = snapshot.try_decisions(after, limit + 1, |number, entry| {
        if list.len == limit || list.bytes() >= LIST_BYTES {
            return Err(ListEnd::Full);
        }
        let members = serde_json::from_str::<Map<String, Value>>(entry);
        let mut members = members.map_err(|error| Problem::internal(error.to_string()))?;
        members.insert("number".to_owned(), number.into());
        last = number;
        Ok(list.push(&members)?)
    });
    let next = match read {
        Ok(_) => None,
        Err(ListEnd::Full) => Some(last.to_string()),
        Err(ListEnd::Problem(problem)) => return Err(problem),
    };
    list.into_page("decisions", next)
}

/// Why a list ends before the last decision.
enum ListEnd {
    /// It has as many decisions, or bytes, as a list may have.
    Full,
    Problem(Problem),
}

impl From<Problem> for ListEnd {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<IndexError> for ListEnd {
    fn from(error: IndexError) -> Self {
        Self::Problem(error.into())
    }
}
