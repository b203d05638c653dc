//! The sink between the sources and the caller. It divides documents into units, normalizes texts,
//! and passes the caller's errors through the sources, which know no other error type than
//! [`ReadError`].

use crate::document::read_buffers::ReadBuffers;
use crate::document::{Document, DocumentSink, UnitParent, UnitRange};
use crate::error::{ReadError, SkippedItem};
use crate::measure::RecordSize;
use crate::options::SourceSettings;
use crate::text::{Normalization, TextNormalizer, TextUnit, unit};
use std::fmt::Write;
use std::ops::Range;

/// The sink that sources write to.
pub(crate) type SourceSink<'a> = dyn DocumentSink<Error = ReadError> + 'a;

/// Passes documents on with normalized texts.
struct NormalizingSink<'a, S> {
    sink: &'a mut S,
    words: &'a mut TextNormalizer,
    normalization: Normalization,
    unit: TextUnit,
    /// A buffer for ids of units.
    id: String,
}

/// Calls `read` with a sink that passes normalized documents on to `sink`.
///
/// # Errors
/// The first error of the sink or of `read`.
pub(crate) fn normalized<S: DocumentSink>(
    sink: &mut S,
    settings: &SourceSettings,
    scratch: &mut ReadBuffers,
    read: impl FnOnce(&mut ReadBuffers, &mut SourceSink<'_>) -> Result<(), ReadError>,
) -> Result<(), S::Error> {
    let mut words = std::mem::take(&mut scratch.words);
    let normalization = settings.options.normalization;
    let unit = settings.options.unit;
    let mut normalizing =
        NormalizingSink { sink, words: &mut words, normalization, unit, id: String::new() };
    let read = read(scratch, &mut normalizing);
    scratch.words = words;
    read.map_err(|error| match error {
        ReadError::Sink(error) => match error.downcast() {
            Ok(error) => *error,
            Err(other) => ReadError::Sink(other).into(),
        },
        error => error.into(),
    })
}

impl<S: DocumentSink> NormalizingSink<'_, S> {
    fn send(&mut self, document: &Document<'_>) -> Result<(), ReadError> {
        // Texts in an index were normalized before their sets were stored.
        let sent = if document.shingled.is_some() {
            self.sink.document(document)
        } else {
            let text = self.words.of(document.text, self.normalization);
            self.sink.document(&Document { text, ..*document })
        };
        sent.map_err(|error| ReadError::Sink(Box::new(error)))
    }

    /// Passes on the unit of a document with the given range in bytes and in characters.
    fn send_unit(
        &mut self,
        document: &Document<'_>,
        range: Range<usize>,
        [start_char, end_char]: [u32; 2],
        number: u32,
        id: &mut String,
    ) -> Result<(), ReadError> {
        id.clear();
        // Writing to a string does not fail.
        let _ = write!(id, "{}#{number}", document.id);
        // Texts are shorter than 2 GiB.
        let start = range.start as u32;
        let end = range.end as u32;
        let place = document.place.with_unit(Some(UnitRange { start, end, start_char, end_char }));
        let parent = Some(UnitParent { id: document.id, text: document.text, number });
        let text = document.text[range].trim_end();
        self.send(&Document { id, text, place, parent, ..*document })
    }
}

impl<S: DocumentSink> DocumentSink for NormalizingSink<'_, S> {
    type Error = ReadError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), ReadError> {
        if self.unit == TextUnit::Document || document.shingled.is_some() {
            return self.send(document);
        }
        // A document without a unit is treated as one empty unit, so that its id is known and it is
        // counted.
        let blank = (!document.text.trim().is_empty()).then_some(self.unit);
        let unit = blank.unwrap_or(TextUnit::Document);
        let mut number = 0;
        let mut characters = 0;
        let mut id = std::mem::take(&mut self.id);
        if document.text.is_empty() {
            self.send_unit(document, 0..0, [0, 0], 1, &mut id)?;
        }
        for range in unit::ranges(document.text, unit) {
            let text = &document.text[range.clone()];
            let start = characters;
            characters += text.chars().count() as u32;
            if unit != TextUnit::Document && text.trim().is_empty() {
                continue;
            }
            number += 1;
            self.send_unit(document, range, [start, characters], number, &mut id)?;
        }
        self.id = id;
        Ok(())
    }

    fn over_memory(&mut self, size: &RecordSize) -> bool {
        self.sink.over_memory(size)
    }

    fn skipped(&mut self, skipped: SkippedItem) -> Result<(), ReadError> {
        self.sink.skipped(skipped).map_err(|error| ReadError::Sink(Box::new(error)))
    }
}
