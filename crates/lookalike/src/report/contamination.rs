//! Writes a comparison of a benchmark with a corpus as JSON, and the list of documents to leave
//! out.

use super::FORMAT_VERSION;
use crate::contamination::{
    BenchmarkSummary, ContaminatedDocument, Contamination, ItemMatches, RunMatch,
};
use crate::engine::FindError;
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::ops::Range;

/// Writes a line for each item, in the order of the benchmark:
///
/// ```json
/// {"benchmark":"quiz.jsonl","field":"question","id":"q1","words":20,"covered":20,"share":1.0,
///  "contaminated":true,"documents":1,"matches":[{"source":"web.jsonl","document":"d7","words":20,
///  "item_bytes":[0,99],"item_chars":[0,99],"bytes":[8,107],"chars":[8,107]}]}
/// ```
///
/// # Errors
/// Errors of `out`, and of temporary files that hold matches.
pub fn items(out: &mut dyn Write, found: &Contamination) -> io::Result<()> {
    for item in found.with_matches() {
        serde_json::to_writer(&mut *out, &ItemLine::of(&item.map_err(FindError::into_io)?))?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes a line for each document that contains a run of words of a contaminated item, sorted by
/// source and id. `dedup --drop` reads this format:
///
/// ```json
/// {"id":"d7","source":"web.jsonl"}
/// ```
///
/// # Errors
/// Errors of `out`, and of temporary files.
pub fn documents(out: &mut dyn Write, found: &Contamination) -> io::Result<()> {
    for document in found.each_contaminated_document() {
        let ContaminatedDocument { source, id } = document.map_err(FindError::into_io)?;
        serde_json::to_writer(&mut *out, &DocumentLine { id: &id, source: &source })?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes counts, benchmarks and skipped items as one object, without a line end.
///
/// # Errors
/// Errors of `out`.
pub fn summary(out: &mut dyn Write, found: &Contamination) -> io::Result<()> {
    let benchmarks: Vec<Value> = found.benchmarks.iter().map(benchmark_value).collect();
    let skipped: Vec<String> = found.skipped.iter().map(ToString::to_string).collect();
    let value = json!({
        "format": FORMAT_VERSION,
        "documents": found.documents,
        "contaminated_documents": found.contaminated_documents,
        "benchmarks": benchmarks,
        "skipped": skipped,
    });
    Ok(serde_json::to_writer(out, &value)?)
}

#[derive(Serialize)]
struct DocumentLine<'a> {
    id: &'a str,
    source: &'a str,
}

/// An item and its matches. The fields have the order of the JSON members.
#[derive(Serialize)]
struct ItemLine<'a> {
    benchmark: &'a str,
    field: Option<&'a str>,
    id: &'a str,
    words: u32,
    covered: u32,
    share: f64,
    contaminated: bool,
    documents: u64,
    matches: Vec<MatchLine<'a>>,
}

#[derive(Serialize)]
struct MatchLine<'a> {
    source: &'a str,
    document: &'a str,
    words: usize,
    item_bytes: [u64; 2],
    item_chars: [u64; 2],
    bytes: [u64; 2],
    chars: [u64; 2],
}

impl<'a> ItemLine<'a> {
    fn of(item: &'a ItemMatches<'_>) -> Self {
        let ItemMatches { verdict, matches } = item;
        Self {
            benchmark: &verdict.item.benchmark,
            field: verdict.item.field.as_deref(),
            id: &verdict.item.id,
            words: verdict.item.words,
            covered: verdict.covered,
            share: verdict.share(),
            contaminated: verdict.contaminated,
            documents: verdict.documents,
            matches: matches.iter().map(MatchLine::of).collect(),
        }
    }
}

impl<'a> MatchLine<'a> {
    fn of(found: &'a RunMatch) -> Self {
        let RunMatch { source, document, in_item, in_document, .. } = found;
        let ends = |range: &Range<u64>| [range.start, range.end];
        Self {
            source,
            document,
            words: in_item.words.len(),
            item_bytes: ends(&in_item.bytes),
            item_chars: ends(&in_item.chars),
            bytes: ends(&in_document.bytes),
            chars: ends(&in_document.chars),
        }
    }
}

fn benchmark_value(row: &BenchmarkSummary) -> Value {
    json!({
        "benchmark": row.benchmark,
        "field": row.field,
        "items": row.items,
        "empty": row.empty,
        "contaminated": row.contaminated,
        "words": row.words,
        "covered": row.covered,
    })
}
