//! `json`: reads the id and text of every record in this thread, with the scanner of lookalike and
//! with other JSON parsers. Also prints the column at which each of them reports an error.

use crate::collection::BenchCollection;
use crate::measure;
use crate::options::{BenchError, BenchOptions};
use crate::stages::{ByteCounter, read_all};
use crate::table::TextTable;
use lookalike::read::{Document, DocumentSink, ReadError, ReadOptions, SkippedItem};
use serde::Deserialize;
use std::borrow::Cow;
use std::path::Path;

/// A record for the other parsers. It borrows strings without escapes from the line.
#[derive(Deserialize)]
struct BorrowedRecord<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    text: Cow<'a, str>,
}

impl BorrowedRecord<'_> {
    fn bytes(&self) -> u64 {
        (self.id.len() + self.text.len()) as u64
    }
}

/// Parses one line. Returns the number of bytes of id and text, or the column at which the parser
/// reports an error.
type PeerParser = fn(&mut [u8]) -> Result<u64, usize>;

const PEERS: [(&str, PeerParser); 3] =
    [("serde_json, borrowed", serde_json), ("sonic-rs", sonic_rs), ("simd-json", simd_json)];

/// Lines with one error each.
const BROKEN: [&str; 6] = [
    r#"{"id":"1","text":"not closed"#,
    r#"{"id":"2","text":"a comma",}"#,
    r#"{"id":"3" "text":"no comma"}"#,
    r#"{"id":"4","text":"an \q escape"}"#,
    r#"{"id":"5","text":"a"} more"#,
    r#"{"id":"6","text":truth}"#,
];

/// Measures the parsers and prints the results. Option: `--runs N` (default: 5; the median counts).
///
/// # Errors
/// If the collection cannot be read, or a parser reads another amount of text than lookalike.
pub(crate) fn json(
    collection: &BenchCollection,
    mut options: BenchOptions,
) -> Result<(), BenchError> {
    let runs: usize = options.number("runs", 5)?;
    options.finish()?;
    let file = &collection.documents;
    let length = std::fs::metadata(file).map_err(|error| BenchError::new(file.display(), error))?;
    let megabytes = length.len() as f64 / 1e6;
    let mut table = TextTable::new(&["id and text of records", "MB", "CPU s", "MB/s"]);
    let mut add = |name: &str, seconds: f64| {
        let cells = [format!("{megabytes:.1}"), format!("{seconds:.3}")];
        let [size, seconds_cell] = cells;
        table.row(&[name.to_owned(), size, seconds_cell, format!("{:.0}", megabytes / seconds)]);
    };
    let (seconds, expected) = median_of(runs, || {
        let mut sink = ByteCounter::default();
        read_all(file, &ReadOptions::default(), &mut sink).map(|()| sink.0)
    })?;
    add("lookalike", seconds);
    for (name, parse) in PEERS {
        let (seconds, bytes) = median_of(runs, || read_lines(file, parse))?;
        if bytes != expected {
            return Err(BenchError(format!("{name} reads {bytes} bytes, lookalike {expected}")));
        }
        add(name, seconds);
    }
    println!("{table}\n{}", error_columns(&file.with_extension("broken.jsonl"))?);
    Ok(())
}

/// Returns the median of the CPU seconds, and the result of the last run.
fn median_of(
    runs: usize,
    mut work: impl FnMut() -> Result<u64, BenchError>,
) -> Result<(f64, u64), BenchError> {
    let mut seconds = Vec::new();
    let mut result = 0;
    for _ in 0..runs.max(1) {
        let (spent, bytes) = measure::thread_cpu(&mut work)?;
        seconds.push(spent);
        result = bytes?;
    }
    Ok((measure::median(seconds), result))
}

/// Returns the number of bytes of all ids and texts.
fn read_lines(file: &Path, parse: PeerParser) -> Result<u64, BenchError> {
    let mut bytes = std::fs::read(file).map_err(|error| BenchError::new(file.display(), error))?;
    let mut sum = 0;
    for line in bytes.split_mut(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let parsed = parse(line).map_err(|column| format!("an error at column {column}"));
        sum += parsed.map_err(|error| BenchError::new(file.display(), error))?;
    }
    Ok(sum)
}

fn serde_json(line: &mut [u8]) -> Result<u64, usize> {
    serde_json::from_slice::<BorrowedRecord<'_>>(line)
        .map(|r| r.bytes())
        .map_err(|error| error.column())
}

fn sonic_rs(line: &mut [u8]) -> Result<u64, usize> {
    sonic_rs::from_slice::<BorrowedRecord<'_>>(line)
        .map(|r| r.bytes())
        .map_err(|error| error.column())
}

fn simd_json(line: &mut [u8]) -> Result<u64, usize> {
    simd_json::from_slice::<BorrowedRecord<'_>>(line)
        .map(|r| r.bytes())
        .map_err(|error| error.index() + 1)
}

/// Returns a table with the column that each parser reports for each broken line.
fn error_columns(file: &Path) -> Result<TextTable, BenchError> {
    let failed = |error| BenchError::new(file.display(), error);
    std::fs::write(file, BROKEN.join("\n")).map_err(failed)?;
    let mut columns = ErrorColumns::default();
    let options = ReadOptions { skip_bad: true, ..ReadOptions::default() };
    let read = read_all(file, &options, &mut columns);
    std::fs::remove_file(file).map_err(failed)?;
    read?;
    let mut table = TextTable::new(&[
        "column of the error",
        "lookalike",
        "serde_json",
        "sonic-rs",
        "simd-json",
    ]);
    for (line, ours) in BROKEN.iter().zip(columns.0) {
        let peers = PEERS.map(|(_, parse)| {
            let result = parse(&mut line.as_bytes().to_vec());
            result.map_or_else(|column| column.to_string(), |_| "no error".to_owned())
        });
        table.row(&[&[format!("`{line}`"), ours][..], &peers].concat());
    }
    Ok(table)
}

/// The column in the reason of each skipped record.
#[derive(Default)]
struct ErrorColumns(Vec<String>);

impl DocumentSink for ErrorColumns {
    type Error = ReadError;

    fn document(&mut self, _: &Document<'_>) -> Result<(), ReadError> {
        Ok(())
    }

    fn skipped(&mut self, skipped: SkippedItem) -> Result<(), ReadError> {
        let reason = skipped.reason.to_string();
        let column = reason.split(" at column ").nth(1).and_then(|rest| rest.split(',').next());
        self.0.push(column.unwrap_or("none").to_owned());
        Ok(())
    }
}
