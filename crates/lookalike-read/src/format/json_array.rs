//! A JSON array of objects: each element is a record.
//!
//! Elements are separated by their brackets alone, so that the array is read block by block, and a
//! broken element is one bad record. The stream reader of `serde_json` is not used: it ends at the
//! first error and does not return the bytes of an element. Its speed was not compared (November
//! 2026).

use crate::bytes::without_mark;
use crate::document::{DocumentPosition, Raw, ReadBuffers, SourceSink, StatedFields};
use crate::error::{ReadError, SkipReason};
use crate::format::id_rule::IdRule;
use crate::format::record::RecordBoundary;
use crate::format::text_cut::KeptCopier;
use crate::format::{
    BlockRecords, Continuation, RecordAgain, RecordFormat, TakeText, WholeRecords, jsonl,
};
use crate::options::{ReadOptions, SourceInfo};
use memchr::{memchr2, memchr3};
use std::ops::Range;

/// Maximum number of open brackets for finding the end of a record that is not held in memory.
const MOST_BRACKETS: usize = 1 << 10;

/// The format of an array whose elements are records. Their numbers, from 1, replace line numbers,
/// because an array may be a single line.
#[derive(Default)]
pub(crate) struct JsonArray {
    ids: IdRule,
}

impl RecordFormat for JsonArray {
    /// The array is unclosed while its last bracket is missing.
    fn cut(&self, bytes: &[u8]) -> RecordBoundary {
        // It is unknown here whether `bytes` begin the source, so an opening bracket before the
        // first element is always skipped.
        let mut whole = 0;
        let mut records = 0;
        let mut is_closed = false;
        let mut at = bytes.len() - inside(bytes).len();
        loop {
            let (next, closes) = pass_separators(bytes, at);
            if closes {
                whole = next;
                is_closed = true;
            }
            let Some(end) = element_end(bytes, next, false) else { break };
            at = end;
            whole = end;
            is_closed = false;
            records += 1;
        }
        RecordBoundary { whole, unclosed: !is_closed, records }
    }

    fn copy_text(&self, record: &[u8], options: &ReadOptions, copier: &mut KeptCopier<'_>) -> bool {
        jsonl::copy_text(record, options, copier)
    }

    fn read(
        &self,
        records: &WholeRecords<'_>,
        scratch: &mut ReadBuffers,
        sink: &mut SourceSink<'_>,
    ) -> Result<(), ReadError> {
        let options = self.ids.options(records.source);
        let ReadBuffers { id, text, line_id, extra, .. } = scratch;
        extra.clear();
        let mut number = 0;
        let mut is_bad = false;
        for range in elements(records.bytes, records.index == 0) {
            let record = &records.bytes[range.clone()];
            let place = DocumentPosition::of_record(range.start, record.len(), number);
            let parsed = jsonl::parse(record, options, id, text);
            is_bad = parsed.is_err();
            if !options.fields.is_empty() && parsed.is_ok() {
                extra.clear();
                jsonl::set_extra(record, options, extra);
            }
            let raw = (Raw::Record(record), "application/json");
            records.give(parsed, &extra.list(), place, raw, line_id, sink)?;
            number += 1;
        }
        // If the last element is truncated, its own reason is sufficient.
        if records.unclosed && !is_bad {
            let reason = SkipReason::BrokenJson {
                expected: "',' or ']'".into(),
                got: "the end of the file".into(),
                column: 1,
            };
            let line = records.first_line + u64::from(number);
            return sink.skipped(records.source.reject_record(line, None, reason)?);
        }
        Ok(())
    }

    fn read_again(
        &self,
        record: &RecordAgain<'_>,
        scratch: &mut ReadBuffers,
        take: TakeText<'_>,
    ) -> Result<(), String> {
        let options = self.ids.options(record.source);
        let parsed = jsonl::parse(record.bytes, options, &mut scratch.id, &mut scratch.text);
        record.give(parsed, StatedFields::Record(record.bytes), take)
    }

    fn observe(
        &self,
        source: &SourceInfo,
        records: Option<&BlockRecords>,
    ) -> Result<(), ReadError> {
        let bytes = records.map_or(&[][..], |records| &*records.buffer);
        self.ids.observe(source, || Box::new(elements(bytes, true).map(|range| &bytes[range])));
        Ok(())
    }

    fn first_fault(
        &self,
        source: &SourceInfo,
        records: &BlockRecords,
    ) -> Option<(u64, SkipReason)> {
        let first = &records.buffer[elements(&records.buffer, true).next()?];
        Some((records.first_line, jsonl::fault(first, self.ids.options(source))?))
    }

    fn ids(&self) -> Option<&IdRule> {
        Some(&self.ids)
    }

    fn continuation(&self, partial: &[u8], _: bool) -> Continuation {
        let bytes = inside(partial);
        let (start, _) = pass_separators(bytes, 0);
        match scan_element(bytes, start) {
            Ok(_) => Continuation::Cut(Vec::new()),
            Err(open) if open.depth > MOST_BRACKETS => Continuation::Bytes(u64::MAX),
            Err(open) => Continuation::Cut(open.beginning()),
        }
    }

    fn counts_records(&self) -> bool {
        true
    }

    fn reads_empty(&self, is_first: bool, unclosed: bool) -> bool {
        // Report an array that is truncated between two elements.
        unclosed && !is_first
    }
}

/// The bytes after a byte order mark and the bracket that opens the array.
fn inside(bytes: &[u8]) -> &[u8] {
    let inside = without_mark(bytes);
    inside.trim_ascii_start().strip_prefix(b"[").unwrap_or(inside)
}

/// Returns the start of the next element, or the end of the bytes if no element follows. Also
/// returns whether a bracket before it closes the array.
fn pass_separators(bytes: &[u8], start: usize) -> (usize, bool) {
    let rest = &bytes[start..];
    let is_separator = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b']');
    let length = rest.iter().position(|byte| !is_separator(byte)).unwrap_or(rest.len());
    (start + length, rest[..length].contains(&b']'))
}

/// An element whose end is missing.
struct OpenElement {
    /// The first byte.
    first: u8,
    /// The number of open brackets that equal `first`.
    depth: usize,
    string: Option<OpenString>,
}

/// A string whose closing quote is missing.
struct OpenString {
    /// Whether the last byte is the backslash of an escape.
    in_escape: bool,
}

impl OpenElement {
    /// A short element that lacks the same end as this one, so that the following bytes end both at
    /// the same place.
    fn beginning(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.depth + 3);
        match self.first {
            b'"' | b'{' => {}
            // `inside` skips the bracket of an array.
            b'[' => bytes.push(b'['),
            first => bytes.push(first),
        }
        bytes.resize(bytes.len() + self.depth, self.first);
        if let Some(string) = &self.string {
            bytes.push(b'"');
            bytes.extend(string.in_escape.then_some(b'\\'));
        }
        bytes
    }
}

/// Returns the end of the element that begins at `start`. `None` if no element begins there, or if
/// the element may continue after the bytes. With `at_end`, the end of the bytes ends an unfinished
/// element.
fn element_end(bytes: &[u8], start: usize, at_end: bool) -> Option<usize> {
    if start == bytes.len() {
        return None;
    }
    scan_element(bytes, start).ok().or_else(|| at_end.then_some(bytes.len()))
}

/// The end of the element that begins at `start`.
fn scan_element(bytes: &[u8], start: usize) -> Result<usize, OpenElement> {
    let first = bytes.get(start).copied().unwrap_or(b'{');
    let open = |depth, string| OpenElement { first, depth, string };
    let close = match first {
        b'{' => b'}',
        b'[' => b']',
        b'"' => return string_end(bytes, start).map_err(|string| open(0, Some(string))),
        // A number or a word, neither of which is a record, or an unmatched bracket.
        _ => {
            let rest = &bytes[start + 1..];
            let ends = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b'\n' | b'{' | b'"');
            let length = rest.iter().position(ends);
            return length.map(|length| start + 1 + length).ok_or_else(|| open(0, None));
        }
    };
    let mut at = start;
    let mut depth = 0_usize;
    while let Some(next) = memchr3(b'"', first, close, bytes.get(at..).unwrap_or_default()) {
        at += next;
        if bytes[at] == b'"' {
            at = string_end(bytes, at).map_err(|string| open(depth, Some(string)))?;
            continue;
        }
        depth = if bytes[at] == first { depth + 1 } else { depth - 1 };
        at += 1;
        if depth == 0 {
            return Ok(at);
        }
    }
    Err(open(depth, None))
}

/// The end of the string whose opening quote is at `start`.
fn string_end(bytes: &[u8], start: usize) -> Result<usize, OpenString> {
    let mut at = start + 1;
    while let Some(next) = memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
        at += next;
        if bytes[at] == b'"' {
            return Ok(at + 1);
        }
        at += 2;
    }
    Err(OpenString { in_escape: at > bytes.len() })
}

/// The elements in whole records.
fn elements(bytes: &[u8], is_first: bool) -> impl Iterator<Item = Range<usize>> {
    let mut at = if is_first { bytes.len() - inside(bytes).len() } else { 0 };
    std::iter::from_fn(move || {
        let (start, _) = pass_separators(bytes, at);
        at = element_end(bytes, start, true)?;
        Some(start..at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_continue_after_their_beginning() {
        let format = JsonArray::default();
        for element in [
            r#"{"text":"a } \" ] \\","list":[1,{"b":{}}]}"#,
            r#"[[1,"]"],[]]"#,
            r#""text \\ \"""#,
            "12",
        ] {
            let array = format!("[{element},{{}}]");
            for at in 2..=element.len() {
                let (partial, rest) = array.as_bytes().split_at(at);
                let Continuation::Cut(beginning) = format.continuation(partial, true) else {
                    panic!("{element} has few brackets");
                };
                for end in 0..rest.len() - 4 {
                    let bytes = [&beginning, &rest[..end]].concat();
                    assert_eq!(format.cut(&bytes).whole, 0, "{element} after {at} and {end}");
                }
                let bytes = [&beginning, &rest[..rest.len() - 4]].concat();
                assert_eq!(
                    format.cut(&[&bytes[..], b","].concat()).whole,
                    bytes.len(),
                    "{element}"
                );
            }
        }
    }

    #[test]
    fn many_brackets_are_not_looked_through() {
        let partial = "[".repeat(MOST_BRACKETS + 3);
        let continuation = JsonArray::default().continuation(partial.as_bytes(), true);
        assert!(matches!(continuation, Continuation::Bytes(u64::MAX)));
    }
}
