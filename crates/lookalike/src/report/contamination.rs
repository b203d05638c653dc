//! A comparison of a benchmark with a corpus as JSON.

use super::FORMAT_VERSION;
use crate::contamination::{BenchmarkSummary, Contamination, ItemMatches, MatchRange};
use crate::error::Error;
use serde_json::{Value, json};
use std::io::{self, Write};

/// A line for each item, in the order of the benchmark:
///
/// ```json
/// {"benchmark":"quiz.jsonl","field":"question","id":"q1","words":20,"covered":20,"share":1.0,
///  "contaminated":true,"documents":1,"matches":[{"source":"web.jsonl","document":"d7","words":20,
///  "item_bytes":[0,99],"item_chars":[0,99],"bytes":[8,107],"chars":[8,107]}]}
/// ```
///
/// # Errors
/// Those of `out`, and of temporary files that hold matches.
pub fn items(out: &mut dyn Write, found: &Contamination) -> io::Result<()> {
    for item in found.with_matches() {
        serde_json::to_writer(&mut *out, &item_value(&item.map_err(Error::into_io)?))?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Counts, benchmarks and what was skipped as one object, without a line end.
///
/// # Errors
/// Those of `out`.
pub fn summary(out: &mut dyn Write, found: &Contamination) -> io::Result<()> {
    let benchmarks: Vec<Value> = found.benchmarks.iter().map(benchmark_value).collect();
    let skipped: Vec<String> = found.skipped.iter().map(ToString::to_string).collect();
    let value = json!({
        "format": FORMAT_VERSION,
        "documents": found.documents,
        "benchmarks": benchmarks,
        "skipped": skipped,
    });
    Ok(serde_json::to_writer(out, &value)?)
}

fn item_value(item: &ItemMatches<'_>) -> Value {
    let ItemMatches { verdict, matches } = item;
    let range = |range: &std::ops::Range<u64>| json!([range.start, range.end]);
    let matches: Vec<Value> = matches
        .iter()
        .map(|found| {
            let (MatchRange { words, bytes, chars }, document) =
                (&found.in_item, &found.in_document);
            json!({
                "source": found.source,
                "document": found.document,
                "words": words.len(),
                "item_bytes": range(bytes),
                "item_chars": range(chars),
                "bytes": range(&document.bytes),
                "chars": range(&document.chars),
            })
        })
        .collect();
    json!({
        "benchmark": verdict.item.benchmark,
        "field": verdict.item.field,
        "id": verdict.item.id,
        "words": verdict.item.words,
        "covered": verdict.covered,
        "share": verdict.share(),
        "contaminated": verdict.contaminated,
        "documents": verdict.documents,
        "matches": matches,
    })
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
