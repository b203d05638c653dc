//! A stream that is one text.

use crate::document::{
    Document, DocumentContents, DocumentPosition, Raw, ReadBuffers, SourceSink, StatedFields,
};
use crate::error::{ReadError, SkipReason};
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
        scratch.extra.fill_empty(source.settings.options.fields.len());
        let contents =
            DocumentContents { bytes, media_type: FileKind::Text.media_type(), name: "" };
        let place = DocumentPosition::of_record(0, bytes.len(), 0);
        sink.document(&Document {
            fields: &scratch.extra.list(),
            modified: source.modified(),
            contents: Some(contents),
            ..Document::new(&source.name, &text, place, Raw::Record(bytes))
        })
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
