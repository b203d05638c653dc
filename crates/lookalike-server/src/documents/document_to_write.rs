//! A document on its way into the index, and the checks of its limits.

use crate::http::problem::{Code, Problem};
use lookalike::index::{DocumentFields, PreparedDocument, TextPreparer, time};
use lookalike::store::entry::Metadata;
use lookalike::store::filter::{SOURCE, file_name};

/// A document of a request, ready to be written.
pub(crate) struct DocumentToWrite {
    pub(crate) document: PreparedDocument,
    /// Bytes of memory of its metadata.
    pub(crate) metadata_memory: usize,
    /// Number of its shingles.
    pub(crate) shingles: usize,
}

impl DocumentToWrite {
    /// Shingles and signs a text.
    pub(crate) fn new(
        id: String,
        text: String,
        fields: DocumentFields,
        preparer: &mut TextPreparer,
    ) -> Result<Self, Problem> {
        let bytes = text.len() as u64;
        let keeps_texts = preparer.keeps_texts();
        let prepared = preparer.prepare(&text);
        let document = prepared.document(id, keeps_texts.then_some(text), fields);
        let document = PreparedDocument { bytes, ..document };
        document.entry().check(document.signature.len())?;
        Ok(Self { document, metadata_memory: 0, shingles: prepared.set.len() })
    }

    /// Shingles and signs the text of a file; `file` is its name, or empty.
    pub(crate) fn of_file(
        id: String,
        text: String,
        mut metadata: Metadata,
        file: &str,
        preparer: &mut TextPreparer,
    ) -> Result<Self, Problem> {
        if !file.is_empty() {
            metadata.insert(SOURCE.to_owned(), file_name(file).unwrap_or(file).into());
        }
        let fields = DocumentFields { metadata, added: time::now(), ..DocumentFields::default() };
        Self::new(id, text, fields, preparer)
    }

    /// Bytes of memory of the document.
    pub(crate) fn memory(&self) -> usize {
        let PreparedDocument { id, signature, set, text, .. } = &self.document;
        let text = text.as_ref().map_or(0, String::capacity);
        text + set.capacity() + 4 * signature.capacity() + self.metadata_memory + id.capacity()
    }
}

/// Checks the length of an original, if the index keeps originals.
pub(crate) fn check_original(
    preparer: &TextPreparer,
    id: &str,
    bytes: usize,
) -> Result<(), Problem> {
    let Some(originals) = preparer.originals() else { return Ok(()) };
    let checked = originals.check_length(id, bytes as u64);
    checked.map_err(|error| Problem::new(Code::BODY_TOO_LARGE, error.to_string()))
}

/// Checks the length of a text.
pub(crate) fn check_text(text: &str, most: u64) -> Result<(), Problem> {
    if text.len() as u64 <= most {
        return Ok(());
    }
    let detail = format!(
        "the text has {} bytes, at most {most} are taken: divide it, or start the server with a \
         greater --max-text",
        text.len()
    );
    Err(Problem::new(Code::TEXT_TOO_LARGE, detail))
}
