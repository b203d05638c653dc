//! Lines: `id text`, or the text alone.

use crate::bytes::without_mark;
use crate::document::{DocumentPosition, ExtraFields, Raw, ReadBuffers, SourceSink, StatedFields};
use crate::error::{ReadError, SkipReason};
use crate::format::id_rule::IdRule;
use crate::format::record::{
    self, InvalidRecord, RecordBoundary, RecordDocument, without_line_feed,
};
use crate::format::text_cut::{self, KeptCopier};
use crate::format::{BlockRecords, RecordAgain, RecordFormat, TakeText, WholeRecords, jsonl};
use crate::options::{ReadOptions, SourceInfo};
use memchr::memrchr;

/// The format of records that are lines.
pub(crate) struct LineRecords {
    parse: ParseLine,
    /// Sets the values of the extra fields of a line with a document.
    set_extra: fn(&[u8], &ReadOptions, &mut ExtraFields),
    /// Copies a line without the removed ranges of its text.
    copy_text: fn(&[u8], &ReadOptions, &mut KeptCopier<'_>) -> bool,
    /// Whether lines are JSON objects, whose members can include a title and a date.
    is_json: bool,
    /// The rule for the ids of objects.
    ids: IdRule,
}

/// Parses the document of a line, with or without its line end. The strings are buffers for id and
/// text.
pub(crate) type ParseLine = for<'l> fn(
    &'l [u8],
    &ReadOptions,
    &'l mut String,
    &'l mut String,
) -> Result<RecordDocument<'l>, InvalidRecord>;

impl LineRecords {
    /// The format of lines `id text`.
    pub(crate) fn plain() -> Self {
        Self {
            parse: |line, options, _, _| parse(line, options),
            set_extra: |_, options, extra| extra.fill_empty(options.fields.len()),
            copy_text: |line, _, copier| text_cut::line(line, copier),
            is_json: false,
            ids: IdRule::default(),
        }
    }

    /// The format of lines that are JSON objects.
    pub(crate) fn json() -> Self {
        Self {
            parse: jsonl::parse,
            set_extra: jsonl::set_extra,
            copy_text: jsonl::copy_text,
            is_json: true,
            ids: IdRule::default(),
        }
    }
}

impl RecordFormat for LineRecords {
    /// Cuts after the last line feed.
    fn cut(&self, bytes: &[u8]) -> RecordBoundary {
        RecordBoundary {
            whole: memrchr(b'\n', bytes).map_or(0, |at| at + 1),
            unclosed: false,
            records: 0,
        }
    }

    fn copy_text(&self, record: &[u8], options: &ReadOptions, copier: &mut KeptCopier<'_>) -> bool {
        (self.copy_text)(record, options, copier)
    }

    fn read(
        &self,
        records: &WholeRecords<'_>,
        scratch: &mut ReadBuffers,
        sink: &mut SourceSink<'_>,
    ) -> Result<(), ReadError> {
        let options = self.ids.options(records.source);
        let mut start = records.mark_bytes();
        let mut line = 0;
        let ReadBuffers { id, text, line_id, extra, .. } = scratch;
        extra.clear();
        while start < records.bytes.len() {
            let rest = &records.bytes[start..];
            let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let record = &rest[..length];
            if !is_blank(record) {
                let place = DocumentPosition::of_record(start, length, line);
                let parsed = (self.parse)(record, options, id, text);
                if !options.fields.is_empty() && parsed.is_ok() {
                    extra.clear();
                    (self.set_extra)(record, options, extra);
                }
                let media_type = if self.is_json { "application/json" } else { "text/plain" };
                let raw = (Raw::Record(record), media_type);
                records.give(parsed, &extra.list(), place, raw, line_id, sink)?;
            }
            start += length + 1;
            line += 1;
        }
        Ok(())
    }

    fn read_again(
        &self,
        record: &RecordAgain<'_>,
        scratch: &mut ReadBuffers,
        take: TakeText<'_>,
    ) -> Result<(), String> {
        let bytes = record.bytes;
        let options = self.ids.options(record.source);
        let parsed = (self.parse)(bytes, options, &mut scratch.id, &mut scratch.text);
        let json = StatedFields::Record(bytes);
        record.give(parsed, if self.is_json { json } else { StatedFields::Nothing }, take)
    }

    fn observe(
        &self,
        source: &SourceInfo,
        records: Option<&BlockRecords>,
    ) -> Result<(), ReadError> {
        if self.is_json {
            let bytes = records.map_or(&[][..], |records| without_mark(&records.buffer));
            let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !is_blank(line));
            self.ids.observe(source, || Box::new(lines));
        }
        Ok(())
    }

    fn first_fault(
        &self,
        source: &SourceInfo,
        records: &BlockRecords,
    ) -> Option<(u64, SkipReason)> {
        let lines = without_mark(&records.buffer).split(|byte| *byte == b'\n');
        let mut numbered = (records.first_line..).zip(lines);
        let (number, line) = numbered.find(|(_, line)| self.is_json && !is_blank(line))?;
        Some((number, jsonl::fault(line, self.ids.options(source))?))
    }

    fn ids(&self) -> Option<&IdRule> {
        self.is_json.then_some(&self.ids)
    }

    fn copies(&self, is_escaped: bool) -> u64 {
        u64::from(self.is_json && is_escaped)
    }

    fn is_lines(&self) -> bool {
        true
    }
}

/// Returns true for blank lines, which are not documents.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

/// The document of a line `id text`, with or without its line feed or carriage return.
fn parse<'a>(line: &'a [u8], options: &ReadOptions) -> Result<RecordDocument<'a>, InvalidRecord> {
    let line = without_line_feed(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if memchr::memchr(0, line).is_some() {
        return Err(InvalidRecord::new(SkipReason::Binary));
    }
    let line = record::utf8(line).map_err(InvalidRecord::new)?;
    if options.line_ids {
        return Ok(RecordDocument { id: None, text: line });
    }
    let (id, text) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    if id.is_empty() {
        return Err(InvalidRecord::new(SkipReason::EmptyId));
    }
    Ok(RecordDocument { id: Some(id), text })
}
