//! Lines: `id text`, or the text alone.

use crate::description::StatedFields;
use crate::document::{DocumentPosition, Raw};
use crate::error::ReadError;
use crate::extra_fields::ExtraFields;
use crate::format::record::{
    FieldNames, InvalidRecord, RecordBoundary, RecordDocument, without_line_feed,
};
use crate::format::{RecordAgain, RecordFormat, TakeText, WholeRecords};
use crate::normalizing_sink::SourceSink;
use crate::scratch::ReadBuffers;
use crate::skipped::SkipReason;
use memchr::memrchr;

/// The format of lines `id text`.
pub(crate) struct LinesFormat;

impl RecordFormat for LinesFormat {
    fn cut(&self, bytes: &[u8]) -> RecordBoundary {
        cut_lines(bytes)
    }

    fn read(
        &self,
        records: &WholeRecords<'_>,
        scratch: &mut ReadBuffers,
        sink: &mut SourceSink<'_>,
    ) -> Result<(), ReadError> {
        let fields = &records.source.settings.fields;
        let parse: ParseLine<'_> = &|line, _, _| parse(line, fields);
        read_lines(records, scratch, sink, parse, &|_, extra| extra.none(fields.extra.len()))
    }

    fn read_again(
        &self,
        record: &RecordAgain<'_>,
        _: &mut ReadBuffers,
        take: TakeText<'_>,
    ) -> Result<(), String> {
        let parsed = parse(record.bytes, &record.source.settings.fields);
        record.give(parsed, StatedFields::Nothing, take)
    }

    fn is_lines(&self) -> bool {
        true
    }
}

/// Makes the document of a line, without the line feed; the strings are buffers for id and text.
pub(crate) type ParseLine<'p> = &'p dyn for<'l> Fn(
    &'l [u8],
    &'l mut String,
    &'l mut String,
) -> Result<RecordDocument<'l>, InvalidRecord>;

/// Cuts behind the last line feed.
pub(crate) fn cut_lines(bytes: &[u8]) -> RecordBoundary {
    RecordBoundary { whole: memrchr(b'\n', bytes).map_or(0, |at| at + 1), unclosed: false }
}

/// Gives the document of each line that is not blank to the sink. `extra` sets the values of the
/// extra fields of a line that is a document.
pub(crate) fn read_lines(
    records: &WholeRecords<'_>,
    scratch: &mut ReadBuffers,
    sink: &mut SourceSink<'_>,
    parse: ParseLine<'_>,
    set_extra: &dyn Fn(&[u8], &mut ExtraFields),
) -> Result<(), ReadError> {
    let has_extra = !records.source.settings.fields.extra.is_empty();
    let mut start = records.mark_bytes();
    let mut line = 0;
    let ReadBuffers { id, text, line_id, extra, .. } = scratch;
    extra.clear();
    while start < records.bytes.len() {
        let rest = &records.bytes[start..];
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let record = &rest[..length];
        if !is_blank(record) {
            let place =
                DocumentPosition { start: start as u32, length: length as u32, line, part: 0 };
            let parsed = parse(record, id, text);
            if has_extra && parsed.is_ok() {
                extra.clear();
                set_extra(record, extra);
            }
            records.give(parsed, &extra.list(), place, Raw::Record(record), line_id, sink)?;
        }
        start += length + 1;
        line += 1;
    }
    Ok(())
}

/// Whether a line is no document: empty, or blanks only.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

/// The document of a line `id text`, with or without its line feed or carriage return.
fn parse<'a>(line: &'a [u8], fields: &FieldNames) -> Result<RecordDocument<'a>, InvalidRecord> {
    let line = without_line_feed(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if memchr::memchr(0, line).is_some() {
        return Err(InvalidRecord::new(SkipReason::Binary));
    }
    let line = std::str::from_utf8(line).map_err(|e| {
        InvalidRecord::new(SkipReason::NotUtf8 { column: e.valid_up_to() as u64 + 1 })
    })?;
    if fields.line_ids {
        return Ok(RecordDocument { id: None, text: line });
    }
    let (id, text) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    if id.is_empty() {
        return Err(InvalidRecord::new(SkipReason::EmptyId));
    }
    Ok(RecordDocument { id: Some(id), text })
}
