//! Adds kept documents to an index, so that the next run can compare with them.

use crate::engine::{FindError, FindOptions, Findings, Group};
use crate::extract::Fields;
use crate::index::{
    AddCounts, AddOptions, DuplicateRecorder, FeedError, InterruptedAdd, NewDocument,
    OwnedOriginal, add_documents,
};
use crate::outcome::{Outcome, Outcomes};
use crate::progress::Progress;
use crate::read::{Collection, Document, DocumentContents};
use lookalike_index::entry::Metadata;
use lookalike_index::{Index, IndexError};
use serde_json::Value;
use std::convert::Infallible;

/// Documents per batch. A batch ends earlier if its texts reach the limit of bytes.
const BATCH_DOCUMENTS: usize = 4096;
const BATCH_BYTES: usize = 16 << 20;

/// Reads the inputs again and adds every kept document to an index, in reading order. The metadata
/// of a document are the values that it contains and, unless it was read from memory, its file. An
/// index that keeps originals also stores the bytes of the document. Skips documents without
/// tokens, and documents that were left out of the run. Then records the duplicates in the groups
/// of the run whose keeper is in the index. This includes the keepers that were added.
///
/// Cost: one more pass over the inputs, by one thread, and the cost of [`add_documents`]. Memory: a
/// batch of documents.
///
/// # Errors
/// [`FindError::Read`] and [`FindError::Changed`] if an input has changed. [`FindError::Index`] if
/// a document cannot be stored, for example because its id exists and the options refuse such ids.
/// All documents before it are stored.
pub fn add_survivors(
    findings: &Findings,
    collection: &Collection,
    options: &FindOptions,
    (index, add): (&Index, &AddOptions),
    progress: &dyn Progress,
) -> Result<AddCounts, FindError> {
    let outcomes = Outcomes::of(findings, options)?;
    let mut cursor = outcomes.cursor();
    let mut batch =
        SurvivorBatch { index, add, documents: Vec::new(), bytes: 0, counts: AddCounts::default() };
    findings.replay(&mut |number, document| -> Result<(), FindError> {
        progress.advance(0)?;
        let status = findings.status(number)?;
        let outcome = cursor.of(number, status)?;
        if outcome == Outcome::Empty || !outcome.is_kept() {
            return Ok(());
        }
        let is_held = collection.is_in_memory(status.source);
        let file = (!is_held).then(|| collection.file_of(status.source, document.id));
        batch.push(document, file)
    })?;
    batch.write()?;
    collection.check_unchanged()?;
    batch.counts.duplicates += record_groups(findings, collection, index, progress)?;
    Ok(batch.counts)
}

/// Records the duplicates of every group whose keeper is in the index. Returns the number of
/// duplicates that had no recorded keeper before. The keepers of the inputs are already in the
/// index, except keepers without tokens. The duplicates of such keepers are not recorded.
fn record_groups(
    findings: &Findings,
    collection: &Collection,
    index: &Index,
    progress: &dyn Progress,
) -> Result<u64, FindError> {
    let mut recorder = DuplicateRecorder::new(index);
    for group in findings.groups.iter() {
        progress.advance(0)?;
        let Group { keeper, duplicates } = group.map_err(FindError::of_io)?;
        // A document of another reference may have an id that the index also uses.
        if keeper.reference && !collection.is_index(findings.status(keeper.document)?.source) {
            continue;
        }
        for duplicate in duplicates {
            recorder.push(&duplicate.id, &keeper.id)?;
        }
    }
    Ok(recorder.finish()?)
}

/// Documents that are added in one batch.
struct SurvivorBatch<'a> {
    index: &'a Index,
    add: &'a AddOptions,
    documents: Vec<NewDocument<String>>,
    bytes: usize,
    counts: AddCounts,
}

impl SurvivorBatch<'_> {
    fn push(&mut self, document: &Document<'_>, file: Option<&str>) -> Result<(), FindError> {
        let original = document.contents.filter(|_| self.index.settings().originals.is_some());
        let original = original.map(|DocumentContents { bytes, media_type, name }| {
            OwnedOriginal::new(bytes, media_type, name)
        });
        self.bytes +=
            document.text.len() + original.as_ref().map_or(0, |owned| owned.bytes().len());
        self.documents.push(NewDocument {
            id: document.id.to_owned(),
            text: document.text.to_owned(),
            metadata: metadata(document, file),
            original,
            modified: document.modified.and_then(|time| i64::try_from(time).ok()),
            expires: None,
        });
        let is_full = self.documents.len() >= BATCH_DOCUMENTS || self.bytes >= BATCH_BYTES;
        if is_full { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), FindError> {
        let mut documents = std::mem::take(&mut self.documents).into_iter();
        self.bytes = 0;
        let added = add_documents::<String, Infallible>(self.index, self.add, |batch| {
            documents.by_ref().for_each(|document| batch.push(document));
            Ok(false)
        });
        let (added, result) = match added {
            Ok(added) => (added, Ok(())),
            Err(interrupted) => {
                let InterruptedAdd { before, error } = *interrupted;
                (before, Err(index_error(error)))
            }
        };
        self.counts.added += added.added;
        self.counts.existing += added.existing;
        self.counts.replaced += added.replaced;
        self.counts.without_shingles += added.without_shingles;
        result
    }
}

fn index_error(error: FeedError<Infallible>) -> FindError {
    let error: IndexError = match error {
        FeedError::Feed(never) => match never {},
        FeedError::Document { error, .. } | FeedError::Index(error) => error,
    };
    FindError::Index(error)
}

/// Returns the metadata of a document, with its file if it has one.
fn metadata(document: &Document<'_>, file: Option<&str>) -> Metadata {
    let mut metadata = Metadata::new();
    if let Some(file) = file {
        metadata.insert("source".to_owned(), Value::String(file.to_owned()));
    }
    for name in document.about.iter().flat_map(|_| Fields::NAMES) {
        if let Some(value) = document.about.and_then(|about| about.get(name)) {
            metadata.insert(name.to_owned(), Value::String(value.to_owned()));
        }
    }
    metadata
}
