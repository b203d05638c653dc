//! Two texts, given or there: how similar they are, and where they differ.

use crate::app::{Answer, App, json_bytes};
use crate::body;
use crate::documents::{bytes, check_text, find};
use crate::json::{self, Object};
use crate::pool::Worker;
use crate::problem::{Code, Problem};
use crate::query::{rounded, six_decimals};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use lookalike::core::verify;
use lookalike::difference::{Differences, Places};
use lookalike::store::entry::Wanted;
use lookalike::store::query::Similarity;
use lookalike::store::set;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// How long the shortest list of differences is looked for.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    a: Object<Side>,
    b: Object<Side>,
    differences: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Side {
    text: Option<String>,
    id: Option<String>,
}

/// A side, shingled.
struct Shingled {
    set: Option<Vec<u64>>,
    signature: Vec<u32>,
    text: Option<String>,
}

#[derive(Serialize)]
struct Compared {
    jaccard: f64,
    containment_of_a: Option<f64>,
    containment_of_b: Option<f64>,
    shared: Option<u64>,
    shingles_a: Option<u64>,
    shingles_b: Option<u64>,
    estimated: bool,
    #[serde(flatten)]
    differences: Option<Shown>,
}

#[derive(Serialize)]
struct Shown {
    differences: Option<Vec<Part>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    differences_missing: Option<&'static str>,
    /// Whether time ran out before the shortest list was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    differences_cut_short: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference_counts: Option<DifferenceCounts>,
}

/// A part of both texts, or of one of them.
#[derive(Serialize)]
struct Part {
    kind: &'static str,
    text: String,
    /// Whether the other text has the same words here.
    #[serde(skip_serializing_if = "is_false")]
    same_words: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

#[derive(Serialize)]
struct DifferenceCounts {
    words: usize,
    same_words: usize,
    case: usize,
    punctuation: usize,
    white_space: usize,
}

/// `POST /v1/compare`
pub(crate) async fn post(State(app): State<Arc<App>>, request: Request) -> Answer {
    crate::address::Parameters::read(request.uri().query(), &[])?;
    let (parts, body) = request.into_parts();
    let whole = body::json(&parts.headers, body, &app.config.limits, &app.memory).await?;
    let text_bytes = app.config.limits.text_bytes;
    let answer = move |worker: &mut Worker| {
        let asked: Asked = json::parse(&whole.bytes)?;
        let compared = asked.answer(worker, text_bytes)?;
        drop(whole.held);
        bytes(&compared)
    };
    Ok(json_bytes(StatusCode::OK, app.pool.run(answer).await?))
}

impl Asked {
    fn answer(self, worker: &mut Worker, text_bytes: u64) -> Result<Compared, Problem> {
        let wants_differences = self.differences.unwrap_or(false);
        let a = self.a.0.shingled("a", worker, text_bytes, wants_differences)?;
        let b = self.b.0.shingled("b", worker, text_bytes, wants_differences)?;
        let similarity = match (&a.set, &b.set) {
            (Some(a), Some(b)) => Similarity::Exact(verify::overlap(a, b)),
            _ if a.signature.is_empty() || b.signature.is_empty() => Similarity::Estimated(0.0),
            _ => Similarity::Estimated(verify::estimate(&a.signature, &b.signature)),
        };
        let overlap = match similarity {
            Similarity::Exact(overlap) => Some(overlap),
            Similarity::Estimated(_) => None,
        };
        Ok(Compared {
            jaccard: six_decimals(&similarity),
            containment_of_a: overlap.map(|o| rounded(o.containment_left())),
            containment_of_b: overlap.map(|o| rounded(o.containment_right())),
            shared: overlap.map(|o| o.intersection),
            shingles_a: a.set.as_ref().map(|set| set.len() as u64),
            shingles_b: b.set.as_ref().map(|set| set.len() as u64),
            estimated: overlap.is_none(),
            differences: wants_differences.then(|| shown(&a, &b, worker)),
        })
    }
}

impl Side {
    fn shingled(
        self,
        name: &str,
        worker: &mut Worker,
        text_bytes: u64,
        wants_text: bool,
    ) -> Result<Shingled, Problem> {
        let bad = |what: &str| Err(Problem::new(Code::BAD_MEMBER, format!("{name}: {what}")));
        match (self.text, self.id) {
            (Some(text), None) => {
                check_text(&text, text_bytes)?;
                let prepared = worker.preparer.prepare(&text);
                let (set, signature) = (prepared.set.to_vec(), prepared.signature.to_vec());
                Ok(Shingled { set: Some(set), signature, text: wants_text.then_some(text) })
            }
            (None, Some(id)) => {
                let wanted =
                    Wanted { set: true, signature: true, text: wants_text, metadata: false };
                let record = find(worker, &id, wanted)?;
                let decode = |code: Vec<u8>| {
                    let mut hashes = Vec::new();
                    set::decode(&code, &mut hashes).map(|()| hashes)
                };
                let set = record.set.map(decode).transpose()?;
                Ok(Shingled { set, signature: record.signature, text: record.text })
            }
            (None, None) => bad("expected text, or id of a document that is there"),
            (Some(_), Some(_)) => bad("there are both text and id: leave one out"),
        }
    }
}

fn shown(a: &Shingled, b: &Shingled, worker: &Worker) -> Shown {
    let (Some(a), Some(b)) = (&a.text, &b.text) else {
        let missing = "the index keeps no texts: give them here, or create it with --store texts";
        return Shown {
            differences: None,
            differences_missing: Some(missing),
            differences_cut_short: None,
            difference_counts: None,
        };
    };
    let found = Differences::between(a, b, worker.index.params().shingle(), Some(PATIENCE));
    let mut parts = Vec::new();
    for stretch in &found.stretches {
        let kinds = if stretch.is_equal() { ["same", ""] } else { ["a", "b"] };
        let same_words = !stretch.is_equal() && stretch.has_same_words();
        for (kind, text) in kinds.into_iter().zip(found.texts(stretch)) {
            if !kind.is_empty() && !text.is_empty() {
                parts.push(Part { kind, text: text.to_owned(), same_words });
            }
        }
    }
    let Places { words, same_words, case, punctuation, white_space } = found.places;
    Shown {
        differences: Some(parts),
        differences_missing: None,
        differences_cut_short: Some(found.cut_short),
        difference_counts: Some(DifferenceCounts {
            words,
            same_words,
            case,
            punctuation,
            white_space,
        }),
    }
}
