//! The sink between the sources and the caller: normalizes texts, and passes the caller's errors
//! through the sources, which know no type of error but [`ReadError`].

use crate::document::{Document, DocumentSink};
use crate::error::ReadError;
use crate::normalize::{Normalization, Words};
use crate::scratch::ReadBuffers;
use crate::skipped::SkippedItem;

/// The sink that sources write to.
pub(crate) type SourceSink<'a> = dyn DocumentSink<Error = ReadError> + 'a;

/// Passes documents on with normalized texts.
struct NormalizingSink<'a, S> {
    sink: &'a mut S,
    words: &'a mut Words,
    normalization: Normalization,
}

/// Calls `read` with a sink that passes normalized documents on to `sink`.
///
/// # Errors
/// The first error of the sink, or that of `read`.
pub(crate) fn normalized<S: DocumentSink>(
    sink: &mut S,
    normalization: Normalization,
    scratch: &mut ReadBuffers,
    read: impl FnOnce(&mut ReadBuffers, &mut SourceSink<'_>) -> Result<(), ReadError>,
) -> Result<(), S::Error> {
    let mut words = std::mem::take(&mut scratch.words);
    let read = read(scratch, &mut NormalizingSink { sink, words: &mut words, normalization });
    scratch.words = words;
    read.map_err(|error| match error {
        ReadError::Sink(error) => match error.downcast() {
            Ok(error) => *error,
            Err(other) => ReadError::Sink(other).into(),
        },
        error => error.into(),
    })
}

impl<S: DocumentSink> DocumentSink for NormalizingSink<'_, S> {
    type Error = ReadError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), ReadError> {
        // Texts in an index were normalized before their sets were stored.
        let sent = if document.shingled.is_some() {
            self.sink.document(document)
        } else {
            let text = self.words.of(document.text, self.normalization);
            self.sink.document(&Document { text, ..*document })
        };
        sent.map_err(|error| ReadError::Sink(Box::new(error)))
    }

    fn skipped(&mut self, skipped: SkippedItem) -> Result<(), ReadError> {
        self.sink.skipped(skipped).map_err(|error| ReadError::Sink(Box::new(error)))
    }
}
