//! A stream that is one text.

use crate::document::description::StatedFields;
use crate::document::normalizing_sink::SourceSink;
use crate::document::read_buffers::ReadBuffers;
use crate::document::{Document, DocumentContents, DocumentPosition, Raw};
use crate::error::ReadError;
use crate::error::skipped::SkipReason;
use crate::format::record::RecordBoundary;
use crate::format::text_cut::KeptCopier;
use crate::format::{RecordAgain, RecordFormat, TakeText, WholeRecords};
use crate::options::ReadOptions;
use lookalike_extract::{FileKind, encoding};

/// The format of a stream that is one document, of any encoding.
pub(crate) struct WholeTextFormat;

impl RecordFormat for WholeTextFormat {
    fn cut(&self, _: &[u8]) -> RecordBoundary {
        RecordBoundary { whole: 0, unclosed: false, records: 0 }
    }

    fn copy_text(&self, record: &[u8], _: &ReadOptions, copier: &mut KeptCopier<'_>) -> bool {
        copier.run(record)
    }

    fn read(
        &self,
        records: &WholeRecords<'_>,
        scratch: &mut ReadBuffers,
        sink: &mut SourceSink<'_>,
    ) -> Result<(), ReadError> {
        let WholeRecords { source, bytes, first_line, .. } = *records;
        let Some(text) = encoding::decode(bytes, source.settings.encoding) else {
            return sink.skipped(source.reject_record(first_line, None, SkipReason::Binary)?);
        };
        scratch.extra.none(source.settings.options.fields.len());
        let document = Document {
            id: &source.name,
            text: &text,
            place: DocumentPosition {
                start: 0,
                length: bytes.len() as u32,
                line: 0,
                part: 0,
                unit: None,
            },
            fields: &scratch.extra.list(),
            modified: source.modified(),
            shingled: None,
            about: None,
            raw: Raw::Record(bytes),
            contents: Some(DocumentContents {
                bytes,
                media_type: FileKind::Text.media_type(),
                name: "",
            }),
            parent: None,
        };
        sink.document(&document)
    }

    fn read_again(
        &self,
        record: &RecordAgain<'_>,
        _: &mut ReadBuffers,
        take: TakeText<'_>,
    ) -> Result<(), String> {
        let text = encoding::decode(record.bytes, record.source.settings.encoding);
        take(&text.ok_or_else(|| SkipReason::Binary.to_string())?, StatedFields::Nothing);
        Ok(())
    }

    fn is_encoded(&self) -> bool {
        true
    }

    fn reads_empty(&self, is_first: bool, _: bool) -> bool {
        // A text without characters is a document, like an empty file.
        is_first
    }
}
