//! An index in, its documents as JSON lines out.

use crate::error::Error;
use lookalike_extract::date;
use lookalike_index::entry::{Metadata, Record, Wanted};
use lookalike_index::{Index, IndexError};
use serde::Serialize;
use std::io::{self, Write};

/// Documents that are read at a time.
const BATCH: usize = 256;
const SECOND: i64 = 1_000_000_000;

#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    bytes: u64,
    metadata: &'a Metadata,
    added: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

/// Writes the documents that an index has at this moment, one JSON object a line, in the order of
/// their numbers, but for those that expired before `now` (in ns since 1970); gives how many. With
/// texts, where the index keeps them, the lines are documents that can be read again.
///
/// # Errors
/// What keeps the index from being read; what keeps bytes from being written, in the outer result.
pub fn export(index: &Index, now: i64, out: &mut dyn Write) -> io::Result<Result<u64, Error>> {
    let mut snapshot = match index.snapshot() {
        Ok(snapshot) => snapshot,
        Err(error) => return Ok(Err(error.into())),
    };
    let wanted = Wanted { metadata: true, text: true, ..Wanted::default() };
    let (mut from, mut count) = (0, 0);
    loop {
        let mut batch: Vec<Record> = Vec::new();
        let mut last = None;
        let scanned = snapshot.scan(from, BATCH, wanted, &mut |record| {
            last = Some(record.number);
            if !record.is_expired(now) {
                batch.push(record.clone());
            }
            Ok::<(), IndexError>(())
        });
        if let Err(error) = scanned {
            return Ok(Err(error.into()));
        }
        for record in &batch {
            line(record, out)?;
        }
        count += batch.len() as u64;
        match last {
            Some(last) => from = last.saturating_add(1),
            None => return Ok(Ok(count)),
        }
    }
}

fn line(record: &Record, out: &mut dyn Write) -> io::Result<()> {
    let line = Line {
        id: &record.id,
        bytes: record.bytes,
        metadata: &record.metadata,
        added: time(record.added),
        modified: record.modified.map(time),
        expires: record.expires.map(time),
        text: record.text.as_deref(),
    };
    serde_json::to_writer(&mut *out, &line)?;
    out.write_all(b"\n")
}

/// A time in ns since 1970 as RFC 3339 has it, in UTC, with as many digits behind the seconds as
/// it needs.
pub fn time(ns: i64) -> String {
    let (seconds, rest) = (ns.div_euclid(SECOND), ns.rem_euclid(SECOND));
    // 64 bits of ns stay within the years 1677 and 2262.
    let mut text = date::iso(seconds).unwrap_or_default();
    if rest > 0 {
        let digits = format!("{rest:09}");
        text.truncate(text.len() - 1);
        text.push('.');
        text.push_str(digits.trim_end_matches('0'));
        text.push('Z');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn times_are_told_to_the_last_digit() {
        assert_eq!(time(0), "1970-01-01T00:00:00Z");
        assert_eq!(time(1_700_000_000_120_000_000), "2023-11-14T22:13:20.12Z");
        assert_eq!(time(-1), "1969-12-31T23:59:59.999999999Z");
        assert!(time(i64::MIN).starts_with("1677-") && time(i64::MAX).starts_with("2262-"));
    }
}
