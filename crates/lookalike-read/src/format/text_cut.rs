//! Copies a record or a text file without some ranges of its text. All other bytes are unchanged.

use crate::bytes::without_mark;
use crate::format::csv_header::CsvHeader;
use crate::format::json_scanner::JsonScanner;
use crate::format::separated_record::value_range;
use crate::options::ReadOptions;
use std::ops::Range;

/// Appends `record` to `out` without the ranges `removed` of its text, which are ascending and
/// disjoint. `copy` finds the text in the record, in the notation of the record's format. Returns
/// `false` if the record does not contain the text as a literal; `out` is unusable then.
pub(crate) fn cut(
    copy: impl FnOnce(&[u8], &mut KeptCopier<'_>) -> bool,
    record: &[u8],
    text: &str,
    removed: &[Range<usize>],
    out: &mut Vec<u8>,
) -> bool {
    let mark = record.len() - without_mark(record).len();
    let (mark, record) = record.split_at(mark);
    out.extend_from_slice(mark);
    let mut copier = KeptCopier { text: text.as_bytes(), removed, at: 0, out };
    copy(record, &mut copier) && copier.at == text.len()
}

/// Copies the kept parts of a text in their original form.
pub(crate) struct KeptCopier<'a> {
    text: &'a [u8],
    removed: &'a [Range<usize>],
    /// Number of bytes of the text before the next copied byte.
    at: usize,
    out: &'a mut Vec<u8>,
}

impl KeptCopier<'_> {
    /// Copies bytes that equal the text. Returns `false` if they differ.
    pub(crate) fn run(&mut self, raw: &[u8]) -> bool {
        let start = self.at;
        let end = self.at + raw.len();
        if self.text.get(start..end) != Some(raw) {
            return false;
        }
        let mut next = start;
        while let Some(range) = self.removed.first().filter(|range| range.start < end) {
            self.out.extend_from_slice(&self.text[next..range.start.max(next)]);
            next = range.end.clamp(next, end);
            if range.end > end {
                break;
            }
            self.removed = &self.removed[1..];
        }
        self.out.extend_from_slice(&self.text[next..end]);
        self.at = end;
        true
    }

    /// Copies an escape sequence with this meaning. Returns `false` if the text differs.
    fn escape(&mut self, raw: &[u8], meaning: &[u8]) -> bool {
        let start = self.at;
        let end = self.at + meaning.len();
        if self.text.get(start..end) != Some(meaning) {
            return false;
        }
        while self.removed.first().is_some_and(|range| range.end <= start) {
            self.removed = &self.removed[1..];
        }
        if self.removed.first().is_none_or(|range| range.start > start) {
            self.out.extend_from_slice(raw);
        }
        self.at = end;
        true
    }
}

/// Copies a line that ends with its text.
pub(crate) fn line(record: &[u8], copier: &mut KeptCopier<'_>) -> bool {
    let line = record.strip_suffix(b"\r").unwrap_or(record);
    line.len().checked_sub(copier.text.len()).is_some_and(|start| {
        copier.out.extend_from_slice(&line[..start]);
        let is_copied = copier.run(&line[start..]);
        copier.out.extend_from_slice(&record[line.len()..]);
        is_copied
    })
}

/// Copies a line that is an object. `range` contains the text without its quotes.
pub(crate) fn json(line: &str, range: Range<usize>, copier: &mut KeptCopier<'_>) -> bool {
    copier.out.extend_from_slice(&line.as_bytes()[..range.start]);
    let mut scanner = JsonScanner::new(line).rewound(range.start);
    while scanner.at < range.end {
        let raw = &line.as_bytes()[scanner.at..range.end];
        let (run, rest) = raw.split_at(memchr::memchr(b'\\', raw).unwrap_or(raw.len()));
        if !copier.run(run) {
            return false;
        }
        scanner.at += run.len();
        if rest.is_empty() {
            break;
        }
        let start = scanner.at;
        let Ok(character) = scanner.character() else { return false };
        let escape = &line.as_bytes()[start..scanner.at];
        if !copier.escape(escape, character.encode_utf8(&mut [0; 4]).as_bytes()) {
            return false;
        }
    }
    copier.out.extend_from_slice(&line.as_bytes()[range.end..]);
    true
}

/// Copies a record of separated values.
pub(crate) fn separated(
    record: &[u8],
    header: Option<&CsvHeader>,
    options: &ReadOptions,
    copier: &mut KeptCopier<'_>,
) -> bool {
    let Some(CsvHeader { columns, delimiter, .. }) = header else { return false };
    let column = columns.iter().position(|column| *column == options.text_field);
    let Some(range) = column.and_then(|column| value_range(record, *delimiter, column)) else {
        return false;
    };
    let value = &record[range.clone()];
    copier.out.extend_from_slice(&record[..range.start]);
    let start = copier.out.len();
    let copied = if let Some(inside) = value.strip_prefix(b"\"") {
        quoted(inside, copier)
    } else {
        let copied = copier.run(value);
        // A quote at the start would open a quoted value.
        if copier.out.get(start) == Some(&b'"') {
            let kept = copier.out.split_off(start);
            copier.out.push(b'"');
            for byte in kept {
                copier.out.extend(std::iter::repeat_n(byte, 1 + usize::from(byte == b'"')));
            }
            copier.out.push(b'"');
        }
        copied
    };
    copier.out.extend_from_slice(&record[range.end..]);
    copied
}

/// Copies a value after its first quote.
fn quoted(inside: &[u8], copier: &mut KeptCopier<'_>) -> bool {
    copier.out.push(b'"');
    let mut raw = inside;
    loop {
        let Some(end) = memchr::memchr(b'"', raw) else { return false };
        if !copier.run(&raw[..end]) {
            return false;
        }
        raw = &raw[end + 1..];
        let Some(rest) = raw.strip_prefix(b"\"") else {
            copier.out.push(b'"');
            return copier.run(raw);
        };
        if !copier.escape(b"\"\"", b"\"") {
            return false;
        }
        raw = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;
    use crate::format::RecordFormat;
    use crate::format::lines::LineRecords;
    use crate::format::whole_text::WholeTextFormat;
    use proptest::prelude::*;

    fn cut_of(
        format: Format,
        record: &str,
        text: &str,
        removed: &[Range<usize>],
    ) -> Option<String> {
        let columns = vec!["id".to_owned(), "text".to_owned(), "more".to_owned()];
        let header = CsvHeader { raw: Vec::new(), columns, delimiter: b',' };
        let options = ReadOptions::default();
        let mut out = Vec::new();
        let copy = |record: &[u8], copier: &mut KeptCopier<'_>| match format {
            Format::Csv => separated(record, Some(&header), &options, copier),
            Format::Jsonl => LineRecords::json().copy_text(record, &options, copier),
            Format::Lines => LineRecords::plain().copy_text(record, &options, copier),
            _ => WholeTextFormat.copy_text(record, &options, copier),
        };
        let found = cut(copy, record.as_bytes(), text, removed, &mut out);
        found.then(|| String::from_utf8(out).unwrap())
    }

    #[test]
    #[expect(clippy::single_range_in_vec_init, reason = "ranges of bytes")]
    fn cuts_keep_escapes_and_quotes_whole() {
        let json = r#"{"text": "x", "id": 1,"text":"a\n\u00e9\ud83d\ude00b\\" , "z": [1 ]}"#;
        let text = "a\né😀b\\";
        assert_eq!(
            cut_of(Format::Jsonl, json, text, &[1..4, 8..9]).unwrap(),
            r#"{"text": "x", "id": 1,"text":"a\ud83d\ude00\\" , "z": [1 ]}"#
        );
        assert_eq!(cut_of(Format::Jsonl, json, "another", &[0..1]), None);
        let csv = "1,\"say \"\"x\"\"\r\nand\",7\r";
        let text = "say \"x\"\r\nand";
        assert_eq!(cut_of(Format::Csv, csv, text, &[0..9]).unwrap(), "1,\"and\",7\r");
        assert_eq!(
            cut_of(Format::Csv, csv, text, &[9..12]).unwrap(),
            "1,\"say \"\"x\"\"\r\n\",7\r"
        );
        let plain = "1,A. \"b\" c,7";
        assert_eq!(
            cut_of(Format::Csv, plain, "A. \"b\" c", &[0..3]).unwrap(),
            "1,\"\"\"b\"\" c\",7"
        );
        assert_eq!(cut_of(Format::Lines, "id  A. B.\r", " A. B.", &[4..6]).unwrap(), "id  A. \r");
        assert_eq!(
            cut_of(Format::Text, "\u{feff}A\nB\n", "A\nB\n", &[0..2]).unwrap(),
            "\u{feff}B\n"
        );
    }

    proptest! {
        #[test]
        fn cut_records_contain_the_kept_text(
            parts in prop::collection::vec(("[a\"\\\\\n\r\té😀,\u{1}]{1,6}", any::<bool>()), 1..12)
        ) {
            let text: String = parts.iter().map(|(part, _)| part.as_str()).collect();
            let kept: String =
                parts.iter().filter(|(_, taken)| !taken).map(|(part, _)| part.as_str()).collect();
            let (mut removed, mut at) = (Vec::new(), 0);
            for (part, is_taken) in &parts {
                let range = at..at + part.len();
                at = range.end;
                if *is_taken {
                    removed.push(range);
                }
            }
            let json = serde_json::json!({ "id": "1", "text": text, "z": "\\" }).to_string();
            let left = cut_of(Format::Jsonl, &json, &text, &removed).unwrap();
            let value: serde_json::Value = serde_json::from_str(&left).unwrap();
            prop_assert_eq!(value["text"].as_str(), Some(kept.as_str()));
            let csv = format!("1,\"{}\",z", text.replace('"', "\"\""));
            let left = cut_of(Format::Csv, &csv, &text, &removed).unwrap();
            prop_assert_eq!(left, format!("1,\"{}\",z", kept.replace('"', "\"\"")));
        }
    }
}
