//! Comparison of two texts, in the request or in the index: similarity and differences.

use crate::documents::document_to_write::check_text;
use crate::documents::originals;
use crate::documents::single::find;
use crate::http::json::{self, Object, WholeNumber};
use crate::http::problem::{Code, Problem};
use crate::http::response::{HandlerResult, rounded, serialized, six_decimals};
use crate::state::app::App;
use crate::threads::pool::PoolWorker;
use axum::extract::{Request, State};
use lookalike::core::verify;
use lookalike::difference::{DifferencePart, Differences, MovedBlock, Places};
use lookalike::store::entry::RecordFields;
use lookalike::store::query::MatchSimilarity;
use lookalike::store::set;
use serde::{Deserialize, Serialize, Serializer};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Time limit of the search for the shortest list of differences.
const PATIENCE: Duration = Duration::from_secs(2);

/// Memory of a comparison as a multiple of [`App::work_bytes`]: for the words of both texts, their
/// positions, the parts and the response. There can be as many parts as words.
const FACTOR: usize = 4;
/// Stored texts of up to this many bytes are compared without reserving memory.
const SMALL: u64 = 64 << 10;

/// Reserves memory for stored texts of this many bytes.
type Reserve<'a> = &'a mut dyn FnMut(usize) -> Result<(), Problem>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CompareRequest {
    a: Object<CompareSide>,
    b: Object<CompareSide>,
    differences: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CompareSide {
    text: Option<String>,
    id: Option<String>,
    version: Option<WholeNumber>,
}

/// A side, shingled.
struct ShingledSide {
    set: Option<Vec<u64>>,
    signature: Vec<u32>,
    text: Option<String>,
}

impl ShingledSide {
    fn of(text: String, worker: &mut PoolWorker, wants_text: bool) -> Self {
        let prepared = worker.preparer.prepare(&text);
        let set = Some(prepared.set.to_vec());
        let signature = prepared.signature.to_vec();
        Self { set, signature, text: wants_text.then_some(text) }
    }
}

#[derive(Serialize)]
struct CompareResponse {
    jaccard: f64,
    containment_of_a: Option<f64>,
    containment_of_b: Option<f64>,
    shared: Option<u64>,
    shingles_a: Option<u64>,
    shingles_b: Option<u64>,
    estimated: bool,
    #[serde(flatten)]
    differences: Option<ComparedText>,
}

#[derive(Default, Serialize)]
struct ComparedText {
    differences: Option<TextParts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    differences_missing: Option<&'static str>,
    /// Whether the time limit ended the search before the shortest list was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    differences_cut_short: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference_counts: Option<DifferenceCounts>,
}

/// Both texts in parts.
struct TextParts {
    texts: [String; 2],
    stretches: Vec<DifferencePart>,
    moved: MovedParts,
}

/// A part of both texts, or of one of them.
#[derive(Serialize)]
struct TextPart<'a> {
    kind: &'static str,
    text: &'a str,
    /// Whether the other text has the same words here.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    same_words: bool,
    /// The number of the moved block, from 1, if the other text has this part at another place.
    #[serde(skip_serializing_if = "Option::is_none")]
    moved: Option<usize>,
}

/// Bytes of a text, and the number of the moved block if the bytes are one.
type NumberedPart = (Range<usize>, Option<usize>);

/// Byte ranges of the moved blocks in each text with the block numbers, sorted by position.
struct MovedParts([Vec<(Range<usize>, usize)>; 2]);

impl MovedParts {
    fn new(blocks: &[MovedBlock]) -> Self {
        let numbered = || (1..).zip(blocks);
        let a = numbered().map(|(number, block)| (block.a.clone(), number));
        let b = numbered().map(|(number, block)| (block.b.clone(), number));
        let a: Vec<_> = a.collect();
        let mut b: Vec<_> = b.collect();
        b.sort_by_key(|(bytes, _)| bytes.start);
        Self([a, b])
    }

    /// Cuts a part of a text where moved blocks begin and end.
    fn cut(&self, side: usize, part: Range<usize>) -> Vec<NumberedPart> {
        let blocks = &self.0[side];
        let first = blocks.partition_point(|(bytes, _)| bytes.start < part.start);
        let inside = blocks[first..].iter().take_while(|(bytes, _)| bytes.end <= part.end);
        let mut parts = Vec::new();
        let mut from = part.start;
        for (bytes, number) in inside {
            parts.push((from..bytes.start, None));
            parts.push((bytes.clone(), Some(*number)));
            from = bytes.end;
        }
        parts.push((from..part.end, None));
        parts
    }
}

impl Serialize for TextParts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let [a, b] = &self.texts;
        let parts = self.stretches.iter().flat_map(|stretch| {
            let same_words = !stretch.is_equal() && stretch.has_same_words();
            let sides = if stretch.is_equal() {
                vec![("same", a, vec![(stretch.a.clone(), None)])]
            } else {
                let cut = |side, part: &Range<usize>| self.moved.cut(side, part.clone());
                vec![("a", a, cut(0, &stretch.a)), ("b", b, cut(1, &stretch.b))]
            };
            sides.into_iter().flat_map(move |(kind, text, parts)| {
                parts.into_iter().map(move |(bytes, moved)| TextPart {
                    kind,
                    text: text.get(bytes).unwrap_or_default(),
                    same_words,
                    moved,
                })
            })
        });
        serializer.collect_seq(parts.filter(|part| !part.text.is_empty()))
    }
}

#[derive(Serialize)]
struct DifferenceCounts {
    #[serde(flatten)]
    places: Places,
    /// Blocks that are moved.
    moved: usize,
}

/// `POST /v1/compare`
pub(crate) async fn post(State(app): State<Arc<App>>, request: Request) -> HandlerResult {
    let text_bytes = app.service.config.limits.text_bytes;
    let (body, work) = app.json_body(request, FACTOR).await?;
    let body_bytes = body.bytes.len();
    let shared = Arc::clone(&app);
    let answer = move |worker: &mut PoolWorker| {
        let request: CompareRequest = json::parse(&body.bytes)?;
        drop(body);
        let mut stored_work = None;
        let compared = request.answer(worker, text_bytes, &mut |stored_bytes| {
            let bytes = App::work_bytes(FACTOR * stored_bytes);
            shared.service.work.take_at_most(bytes, &mut stored_work)
        });
        worker.release_buffers(body_bytes);
        let answer = serialized(&compared?);
        drop((work, stored_work));
        answer
    };
    // A comparison of short texts can also take long, so every comparison runs as a large job.
    app.answer(usize::MAX, answer).await
}

impl CompareRequest {
    fn answer(
        self,
        worker: &mut PoolWorker,
        text_bytes: u64,
        reserve: Reserve<'_>,
    ) -> Result<CompareResponse, Problem> {
        let wants_differences = self.differences.unwrap_or(false);
        let options = SideOptions { text_bytes, wants_text: wants_differences };
        let mut a = self.a.0.shingled("a", worker, options, reserve)?;
        let mut b = self.b.0.shingled("b", worker, options, reserve)?;
        let similarity = match (&a.set, &b.set) {
            (Some(a), Some(b)) => MatchSimilarity::Exact(verify::overlap(a, b)),
            _ if a.signature.is_empty() || b.signature.is_empty() => {
                MatchSimilarity::Estimated(0.0)
            }
            _ => MatchSimilarity::Estimated(verify::estimate(&a.signature, &b.signature)),
        };
        let overlap = similarity.overlap();
        let shingles = |side: &ShingledSide| side.set.as_ref().map(|set| set.len() as u64);
        let shingles_a = shingles(&a);
        let shingles_b = shingles(&b);
        // Free the sets before the differences are computed.
        a.set = None;
        b.set = None;
        Ok(CompareResponse {
            jaccard: six_decimals(&similarity),
            containment_of_a: overlap.map(|o| rounded(o.containment_left())),
            containment_of_b: overlap.map(|o| rounded(o.containment_right())),
            shared: overlap.map(|o| o.intersection),
            shingles_a,
            shingles_b,
            estimated: overlap.is_none(),
            differences: wants_differences.then(|| compare_texts(&mut a, &mut b, worker)),
        })
    }
}

#[derive(Clone, Copy)]
struct SideOptions {
    text_bytes: u64,
    wants_text: bool,
}

impl CompareSide {
    fn shingled(
        self,
        name: &str,
        worker: &mut PoolWorker,
        SideOptions { text_bytes, wants_text }: SideOptions,
        reserve: Reserve<'_>,
    ) -> Result<ShingledSide, Problem> {
        let bad = |detail: &str| Err(Problem::new(Code::BAD_MEMBER, format!("{name}: {detail}")));
        let version = self.version.map(|version| version.0);
        match (self.text, self.id) {
            (Some(_), None) if version.is_some() => bad("version belongs to an id: leave it out"),
            (None, Some(id)) if version.is_some() => {
                let mut snapshot = worker.index.snapshot()?;
                let version = originals::version(worker, &mut *snapshot, &id, version)?;
                if version.bytes > SMALL {
                    reserve(version.bytes as usize)?;
                }
                let text = snapshot.version_text(&version)?.unwrap_or_default();
                drop(snapshot);
                Ok(ShingledSide::of(text, worker, wants_text))
            }
            (Some(text), None) => {
                check_text(&text, text_bytes)?;
                Ok(ShingledSide::of(text, worker, wants_text))
            }
            (None, Some(id)) => {
                let wanted =
                    RecordFields { set: true, signature: true, text: wants_text, metadata: false };
                let record = find(worker, &id, wanted)?;
                if record.bytes > SMALL {
                    reserve(record.bytes as usize)?;
                }
                let decode = |code: Vec<u8>| {
                    let mut hashes = Vec::new();
                    set::decode(&code, &mut hashes).map(|()| hashes)
                };
                let set = record.set.map(decode).transpose()?;
                Ok(ShingledSide { set, signature: record.signature, text: record.text })
            }
            (text, _) => bad(&json::text_or_id(text.is_some()).detail),
        }
    }
}

fn compare_texts(a: &mut ShingledSide, b: &mut ShingledSide, worker: &PoolWorker) -> ComparedText {
    let (Some(a), Some(b)) = (a.text.take(), b.text.take()) else {
        let missing = "the index keeps no texts; send both texts, or create it with --store texts";
        return ComparedText { differences_missing: Some(missing), ..ComparedText::default() };
    };
    let found = Differences::between(&a, &b, worker.index.params().shingle(), Some(PATIENCE));
    let Differences { stretches, places, moved: blocks, cut_short, .. } = found;
    let counts = DifferenceCounts { places, moved: blocks.len() };
    let moved = MovedParts::new(&blocks);
    ComparedText {
        differences: Some(TextParts { texts: [a, b], stretches, moved }),
        differences_cut_short: Some(cut_short),
        difference_counts: Some(counts),
        ..ComparedText::default()
    }
}
