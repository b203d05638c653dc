//! Reads the documents of a collection one by one, in reading order, to send them to an index on a
//! server.

use super::add_options::AddOptions;
use super::block_reader::{BlockReader, ReadOutput, UnpreparedDocument};
use super::original::OwnedOriginal;
use super::prepare::DocumentFields;
use crate::index::error::AddError;
use crate::progress::{Progress, Stage};
use crate::read::{Collection, Location, ReadBuffers, SinkError, SkippedItem};
use crate::read_progress::ReadProgress;
use lookalike_index::IndexError;
use lookalike_index::entry::shortened_id;
use lookalike_index::settings::OriginalSettings;
use std::time::Instant;

/// A document of a collection.
#[derive(Debug)]
pub struct IncomingDocument<'a> {
    /// Its id, which is valid in an index.
    pub id: &'a str,
    /// Its text, unchanged.
    pub text: &'a str,
    /// Metadata and times.
    pub fields: DocumentFields,
    /// Its source bytes, if originals are requested and it has some.
    pub original: Option<OwnedOriginal>,
    /// The file that contains it.
    pub source: &'a str,
    /// Its line in the file, from 1, if it has one.
    pub line: Option<u64>,
}

/// Results of reading besides documents.
#[derive(Debug, Default)]
pub struct ReadSummary {
    /// Names of [`AddOptions::metadata`] that no document has; empty if no document was read.
    pub not_found: Vec<String>,
    /// Skipped items, including those found when the collection walked folders.
    pub skipped: Vec<SkippedItem>,
}

/// Reads a collection in the current thread and passes each document to `each`, with all values
/// that [`add`](super::add()) would store. These include originals if requested. Options about
/// existing documents and threads have no effect. Lines of an export with previous versions are
/// errors.
///
/// # Errors
/// The error of the first record, in reading order, that cannot be read or that no index can store,
/// with the place of the record. Otherwise the first error of `each`.
pub fn read_documents<E: From<AddError> + SinkError>(
    collection: &Collection,
    options: &AddOptions,
    originals: Option<OriginalSettings>,
    progress: &dyn Progress,
    each: &mut dyn FnMut(IncomingDocument<'_>) -> Result<(), E>,
) -> Result<ReadSummary, E> {
    let start = Instant::now();
    progress.begin(Stage::Add, collection.bytes());
    let skipped = collection.listed().to_vec();
    let mut output = DocumentForwarder { each, originals, count: 0, skipped };
    let read = read_blocks(collection, options, progress, &mut output);
    progress.end(Stage::Add, start.elapsed());
    let found = read?;
    let missing = options.metadata.iter().zip(&found).filter(|(_, found)| !**found);
    let not_found = missing.filter(|_| output.count > 0).map(|(name, _)| name.clone()).collect();
    Ok(ReadSummary { not_found, skipped: output.skipped })
}

/// Reads all blocks. Returns for each chosen field whether any document has it.
fn read_blocks<E: From<AddError> + SinkError>(
    collection: &Collection,
    options: &AddOptions,
    progress: &dyn Progress,
    output: &mut DocumentForwarder<'_, E>,
) -> Result<Vec<bool>, E> {
    let mut found = vec![false; options.metadata.len()];
    let mut buffers = ReadBuffers::default();
    let read_progress = ReadProgress::new(collection, progress);
    while let Some(block) = collection.next_block_in_order()? {
        let mut reader = BlockReader::new(collection, &block, options, output);
        block.read(&mut buffers, &mut reader)?;
        found.iter_mut().zip(&reader.found).for_each(|(found, in_block)| *found |= *in_block);
        read_progress.report().map_err(AddError::from)?;
    }
    Ok(found)
}

struct DocumentForwarder<'a, E> {
    each: &'a mut dyn FnMut(IncomingDocument<'_>) -> Result<(), E>,
    originals: Option<OriginalSettings>,
    count: u64,
    skipped: Vec<SkippedItem>,
}

impl<E: From<AddError> + SinkError> ReadOutput for DocumentForwarder<'_, E> {
    type Error = E;

    fn originals(&self) -> Option<OriginalSettings> {
        self.originals
    }

    fn document(&mut self, document: UnpreparedDocument<'_>, _: usize) -> Result<(), E> {
        let UnpreparedDocument { id, text, extra, original, former, source, line } = document;
        if !former.is_empty() {
            let place = Box::new(Location::in_source(&**source, line));
            let id = shortened_id(id);
            let why = "its line has former versions, which are not sent: restore a backup, or \
                       export without originals"
                .to_owned();
            return Err(
                AddError::NotAdded { place, error: IndexError::Document { id, why } }.into()
            );
        }
        self.count += 1;
        (self.each)(IncomingDocument { id, text, fields: extra, original, source, line })
    }

    fn skipped(&mut self, skipped: SkippedItem) {
        self.skipped.push(skipped);
    }
}
