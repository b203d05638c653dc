//! Parts of a file: passing them on as documents, reading one again, and naming them.

use crate::document::{
    Document, DocumentContents, DocumentPosition, ExtraFields, PartTexts, Raw, SourceSink,
};
use crate::error::{ReadError, SkipReason};
use crate::measure::Content;
use lookalike_extract::{ExtractedPart, FailedPart, PartSink};

/// Passes the parts of a file, or of a record that is a file, to the sink as documents.
pub(crate) struct PartOutput<'a> {
    /// Names of the extra fields.
    pub(crate) fields: &'a [String],
    /// The position, except the number of the part.
    pub(crate) place: DocumentPosition,
    pub(crate) modified: Option<u64>,
    pub(crate) extra: &'a mut ExtraFields,
    pub(crate) part_texts: &'a mut PartTexts,
    pub(crate) sink: &'a mut SourceSink<'a>,
}

impl PartOutput<'_> {
    /// Passes a part with the id `id` to the sink, with its input and its bytes.
    pub(crate) fn give(
        &mut self,
        part: &ExtractedPart<'_>,
        id: &str,
        (raw, contents): (Raw<'_>, DocumentContents<'_>),
    ) -> Result<(), ReadError> {
        self.extra.clear();
        for name in self.fields {
            self.extra.push(part.fields.get(name));
        }
        let place = DocumentPosition { part: part.number, ..self.place };
        self.part_texts.add(place, part.text);
        self.sink.document(&Document {
            fields: &self.extra.list(),
            modified: self.modified,
            about: Some(part.fields),
            contents: Some(contents),
            ..Document::new(id, part.text, place, raw)
        })
    }
}

/// The reason why a part has no text.
pub(crate) fn no_text(failed: &FailedPart<'_>) -> SkipReason {
    let content = (!failed.bytes.is_empty()).then(|| Box::new(Content::of(failed.bytes)));
    SkipReason::NoText { failure: failed.failure.clone(), content }
}

/// Passes the part that it receives to a function.
pub(crate) struct OnePart<F>(Option<F>);

impl<F: FnOnce(&ExtractedPart<'_>)> OnePart<F> {
    /// Calls `extract` with a sink that passes the part it receives to `take`.
    ///
    /// # Errors
    /// The reason why no part was found.
    pub(crate) fn read(
        take: F,
        extract: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut part = Self(Some(take));
        extract(&mut part)?;
        if part.0.is_some() { Err("no such part".to_owned()) } else { Ok(()) }
    }
}

impl<F: FnOnce(&ExtractedPart<'_>)> PartSink for OnePart<F> {
    type Error = String;

    fn part(&mut self, part: &ExtractedPart<'_>) -> Result<(), String> {
        if let Some(take) = self.0.take() {
            take(part);
        }
        Ok(())
    }

    fn failed(&mut self, failed: &FailedPart<'_>) -> Result<(), String> {
        Err(failed.failure.to_string())
    }
}

/// Appends the name of a part to the id of its file. A slash precedes the name, unless the name is
/// a line of a mailbox, such as `:23`.
pub(crate) fn push_within(id: &mut String, within: &str) {
    if !within.is_empty() && !within.starts_with(':') {
        id.push('/');
    }
    id.push_str(within);
}
