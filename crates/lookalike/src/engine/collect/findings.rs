//! The findings of a run, and how its documents are read again.

use crate::digest::InputsDigest;
use crate::engine::collect::empty_copies::EmptyCopies;
use crate::engine::collect::group_concentration::GroupConcentration;
use crate::engine::collect::groups::Groups;
use crate::engine::collect::pairs::Pairs;
use crate::engine::collect::related::RelatedDocuments;
use crate::engine::collect::results::{RunResults, SortedResults};
use crate::engine::collect::textless_copies::TextlessCopies;
use crate::engine::error::FindError;
use crate::engine::ids::DocumentNumber;
use crate::engine::link::drop_list::DropCounts;
use crate::engine::link::excluded_documents::ExcludedDocuments;
use crate::engine::link::judged_documents::DecisionCounts;
use crate::engine::memory::Budget;
use crate::engine::prepare::documents::{DocumentState, RunDocuments};
use crate::engine::prepare::keep_keys::IdleRules;
use crate::engine::prepare::mail_removals::MailRemovals;
use crate::engine::prepare::skipped::SkippedRecords;
use crate::engine::prepare::sources::SourceCounts;
use crate::engine::setting::SettingProfile;
use crate::folding::FoldingEffect;
use crate::progress::Stage;
use crate::read::Collection;
use crate::read::{
    Description, Document, DocumentSink, Location, Normalization, ReadBuffers, SinkError,
    SkippedItem, TextUnit,
};
use crate::spill::{SortedRecords, Sorter, SpillError, TempSpace};
use serde::Serialize;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// The setting of a run that found few documents, and a setting that finds more.
#[derive(Debug, Clone)]
pub struct BetterSetting {
    /// The findings of the run's setting, with all pairs compared.
    pub used: SettingProfile,
    /// The findings of the other setting.
    pub better: SettingProfile,
}

/// How many documents, candidates and groups there were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RunCounts {
    /// Documents read, including empty documents and reference collections, but not skipped ones.
    pub documents: u64,
    /// How many of them belong to a reference collection.
    pub reference: u64,
    /// Documents without a token; they match nothing.
    pub empty: u64,
    /// Records and files that could not be read as documents.
    pub skipped: u64,
    /// Documents whose shingles equal the shingles of an earlier document, found without comparing.
    pub copies: u64,
    /// Documents, except copies, that share a bucket with another document.
    pub candidates: u64,
    /// Pairs of documents whose shingle sets were compared, whatever the result.
    pub verified: u64,
    /// Groups of two documents or more.
    pub groups: u64,
    /// Documents that are in a group and not kept.
    pub duplicates: u64,
}

/// The findings of a run.
pub struct Findings {
    /// Largest group first, then by the keeper's id.
    pub groups: Groups,
    /// All verified pairs, sorted by both ids, if they are listed.
    pub pairs: Option<Pairs>,
    /// Kept documents without a group that resemble duplicates of other keepers, if requested
    /// ([`FindOptions::related`](crate::find::FindOptions::related)).
    pub related: RelatedDocuments,
    /// How the pairs within groups are spread over the groups.
    pub concentration: GroupConcentration,
    /// The effect of the decisions, if the run had some.
    pub decisions: Option<DecisionCounts>,
    /// The effect of the list of documents to leave out, if the run had one.
    pub dropped: Option<DropCounts>,
    /// Records and files that are not documents.
    pub skipped: SkippedRecords,
    /// Files in folders that are named like files of records, but were read as texts because they
    /// lack the columns. Each has its reason.
    pub read_as_text: Vec<SkippedItem>,
    /// The folder that the ids of files are relative to, if it is the only input.
    pub id_folder: Option<String>,
    /// JSON files whose records have no id. Their ids are made of file and line.
    pub line_ids: Vec<String>,
    /// Fields of the keep policy for which no document has a value.
    pub missing_fields: Vec<String>,
    /// Patterns of the keep policy that no document matches; empty if this is unknown, as in
    /// divided runs.
    pub unmatched_patterns: Vec<String>,
    /// Whether the keep policy ranks file names but no document has one; false in divided runs.
    pub lacks_file_names: bool,
    /// Whether ids of records found in folders begin with the name of their file, because records
    /// of two files have the same id.
    pub ids_by_file: bool,
    /// Files without text that are copies of each other.
    pub textless_copies: TextlessCopies,
    /// Ids of the empty documents, ascending.
    pub empty: IdList,
    /// Counts of text that was removed from messages.
    pub cut_from_mail: MailRemovals,
    /// The normalization of the texts before they were cut into shingles.
    pub normalization: Normalization,
    /// The unit of comparison.
    pub unit: TextUnit,
    /// How many documents of a sample the normal form `fold` changes.
    pub folding: FoldingEffect,
    /// A setting that finds more, if the run found few documents.
    pub better_setting: Option<BetterSetting>,
    /// Counts of documents, candidates and groups.
    pub counts: RunCounts,
    /// Documents and duplicates of each source, in reading order.
    pub sources: Vec<SourceCounts>,
    /// The digest of all documents read, reference collections included. It shows whether a later
    /// reading saw the same documents.
    pub inputs: InputsDigest,
    /// Wall-clock time of each stage, in order.
    pub times: Vec<(Stage, Duration)>,
    pub(crate) documents: RunDocuments,
    pub(crate) temp: Arc<TempSpace>,
}

/// The status of a document, in addition to its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentStatus {
    /// The number of its source in the collection.
    pub source: u32,
    /// Whether it has no token.
    pub empty: bool,
    /// Whether an earlier document has the same id, so that the run left it out.
    pub repeated_id: bool,
    /// Whether a list leaves it out ([`FindOptions::drop`](crate::find::FindOptions::drop)).
    pub dropped: bool,
}

/// Builds the findings of a run, and counts its duplicates under their sources.
pub(crate) fn findings(
    mut documents: RunDocuments,
    found: RunResults,
    excluded: ExcludedDocuments,
    budget: &Budget,
    times: Vec<(Stage, Duration)>,
    temp: Arc<TempSpace>,
) -> Result<Findings, FindError> {
    let mut empty = Sorter::new(Some(Arc::clone(&temp)), budget.results());
    for document in documents.in_state(DocumentState::EMPTY) {
        documents.with_row(document, |_, row| empty.push(row.id.as_bytes(), &[]))??;
    }
    let empty_copies = EmptyCopies::of(&documents, budget, &temp)?;
    for (source, (duplicates, bytes)) in documents.sources.iter_mut().zip(&found.duplicates) {
        source.duplicates = *duplicates;
        source.duplicate_bytes = *bytes;
    }
    let counts = RunCounts {
        documents: (documents.len() - excluded.documents) as u64,
        copies: documents.in_state(DocumentState::COPY).count() as u64,
        candidates: found.candidates,
        verified: found.compared,
        ..RunCounts::default()
    };
    let empty = empty.finish()?;
    let found = Findings::new(documents, found.sorted, empty, empty_copies, counts, temp)?;
    Ok(Findings { times, dropped: excluded.dropped, ..found })
}

impl Findings {
    /// Creates the findings from documents and results, and completes the counts. The caller adds
    /// the times and the data that depend on the collection.
    pub(crate) fn new(
        mut documents: RunDocuments,
        results: SortedResults,
        empty: SortedRecords,
        empty_copies: EmptyCopies,
        counts: RunCounts,
        temp: Arc<TempSpace>,
    ) -> Result<Self, FindError> {
        let skipped = documents.take_skipped()?;
        let mut textless_copies = TextlessCopies::of(&skipped).map_err(FindError::of_io)?;
        textless_copies.empty = empty_copies;
        let sources = std::mem::take(&mut documents.sources);
        let SortedResults { groups, pairs, related, concentration } = results;
        let reference = sources.iter().filter(|source| source.reference);
        let counts = RunCounts {
            reference: reference.map(|source| source.documents).sum(),
            empty: empty.len(),
            skipped: skipped.len(),
            groups: groups.len() as u64,
            duplicates: sources.iter().map(|source| source.duplicates).sum(),
            ..counts
        };
        Ok(Self {
            groups,
            pairs,
            related,
            concentration,
            decisions: None,
            dropped: None,
            skipped,
            read_as_text: Vec::new(),
            id_folder: None,
            line_ids: Vec::new(),
            missing_fields: Vec::new(),
            unmatched_patterns: Vec::new(),
            lacks_file_names: false,
            ids_by_file: false,
            textless_copies,
            empty: IdList { sorted: empty },
            cut_from_mail: documents.cut_from_mail,
            normalization: Normalization::default(),
            unit: TextUnit::Document,
            folding: FoldingEffect::of(std::mem::take(&mut documents.drawn)),
            better_setting: None,
            counts,
            sources,
            inputs: documents.inputs,
            times: Vec::new(),
            documents,
            temp,
        })
    }

    /// Notes how the inputs were read, and the keep rules that put no document before another.
    pub(crate) fn note_inputs(&mut self, collection: &Collection, idle: IdleRules) {
        self.read_as_text = collection.read_as_text().to_vec();
        self.id_folder = collection.id_folder().map(str::to_owned);
        self.line_ids = collection.line_ids();
        self.normalization = collection.normalization();
        self.ids_by_file = collection.has_ids_by_file();
        self.missing_fields = idle.fields;
        self.unmatched_patterns = idle.patterns;
        self.lacks_file_names = idle.names;
    }

    /// Sets the unit of comparison.
    pub(crate) fn set_unit(&mut self, unit: TextUnit) {
        let is_part = unit != TextUnit::Document;
        self.unit = unit;
        self.groups.set_units(is_part);
        if let Some(pairs) = &mut self.pairs {
            pairs.set_units(is_part);
        }
    }

    /// Releases everything, and removes the stored steps of a resumable run. Call it after the
    /// results are written.
    ///
    /// # Errors
    /// [`FindError::Spill`] if the folder of a resumable run cannot be removed.
    pub fn finish(self) -> Result<(), FindError> {
        let Self { temp, groups, pairs, skipped, empty, documents, .. } = self;
        drop((groups, pairs, skipped, empty, documents));
        Ok(temp.finish()?)
    }

    /// Reads a document again and returns its text; `document` is its number in reading order.
    ///
    /// # Errors
    /// [`FindError::Read`] if the document has changed, [`FindError::NoDocument`] for a number that
    /// is not below the number of documents read.
    pub fn text(&self, document: DocumentNumber) -> Result<String, FindError> {
        self.documents.with_row(document, |block, row| {
            let mut scratch = ReadBuffers::default();
            Ok(block.retained.fetch(row.place, row.id, &mut scratch, str::to_owned)?)
        })?
    }

    /// Reads a document again and returns its text as written, without normalization.
    ///
    /// # Errors
    /// As [`text`](Self::text).
    pub(crate) fn written_text(&self, document: DocumentNumber) -> Result<String, FindError> {
        self.documents.with_row(document, |block, row| {
            let mut scratch = ReadBuffers::default();
            Ok(block.retained.fetch_written(row.place, row.id, &mut scratch, str::to_owned)?)
        })?
    }

    /// The id of a document, by its number in reading order.
    ///
    /// # Errors
    /// [`FindError::Spill`] if the temporary file with the id cannot be read,
    /// [`FindError::NoDocument`] for a number that is not below the number of documents read.
    pub fn id(&self, document: DocumentNumber) -> Result<String, FindError> {
        self.documents.with_row(document, |_, row| row.id.to_owned())
    }

    /// The number of the first document whose id is wanted; documents of reference collections come
    /// last. Takes one pass over the ids.
    ///
    /// # Errors
    /// As [`id`](Self::id).
    pub fn document_with(
        &self,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Option<DocumentNumber>, FindError> {
        let store = &self.documents.store;
        let mut of_reference = None;
        for (i, block) in store.blocks.iter().enumerate() {
            for (document, row) in self.documents.in_block(i).zip(store.rows(i)?.iter()) {
                let takes_part = self.documents.state(document).takes_part();
                if !takes_part || !is_wanted(row?.id) {
                    continue;
                }
                if !block.notes.reference {
                    return Ok(Some(document));
                }
                of_reference = of_reference.or(Some(document));
            }
        }
        Ok(of_reference)
    }

    /// The location at which a document was read.
    ///
    /// # Errors
    /// As [`id`](Self::id).
    pub fn location(&self, document: DocumentNumber) -> Result<Location, FindError> {
        self.documents.location(document)
    }

    /// Reads a document again for its title or first words, source and date; `document` is its
    /// number in reading order.
    ///
    /// # Errors
    /// As [`text`](Self::text).
    pub fn describe(&self, document: DocumentNumber) -> Result<Description, FindError> {
        self.documents.with_row(document, |block, row| {
            Ok(block.retained.describe(row.place, row.id, &mut ReadBuffers::default())?)
        })?
    }

    /// Returns true if [`text`](Self::text) can return texts. An index may keep none.
    pub fn has_texts(&self) -> bool {
        self.documents.store.blocks.iter().all(|block| block.retained.has_texts())
    }

    /// The source of a document, and its state in the run; `document` is its number in reading
    /// order.
    ///
    /// # Errors
    /// [`FindError::NoDocument`] for a number that is not below the number of documents read.
    pub fn status(&self, document: DocumentNumber) -> Result<DocumentStatus, FindError> {
        self.documents.check(document)?;
        let state = self.documents.state(document);
        let block = &self.documents.store.blocks[self.documents.block_of(document)];
        Ok(DocumentStatus {
            source: block.retained.number().source,
            empty: state == DocumentState::EMPTY,
            repeated_id: state == DocumentState::REPEATED_ID,
            dropped: state == DocumentState::DROPPED,
        })
    }

    /// Passes the id and the shingle fingerprint of every document to `take`, in reading order.
    pub(crate) fn each_fingerprint<E: From<SpillError>>(
        &self,
        take: &mut dyn FnMut(&str, u128) -> Result<(), E>,
    ) -> Result<(), E> {
        for i in 0..self.documents.store.blocks.len() {
            for row in self.documents.store.rows(i)?.iter() {
                let row = row?;
                take(row.id, row.fingerprint)?;
            }
        }
        Ok(())
    }

    /// The space for temporary files of the run.
    pub(crate) fn temporary(&self) -> Arc<TempSpace> {
        Arc::clone(&self.temp)
    }

    /// Reads the inputs again, except reference collections. Passes each document with its number
    /// to `take`, in reading order. Omits skipped records, but includes documents whose id repeats
    /// an earlier id.
    ///
    /// # Errors
    /// [`FindError::Read`] or [`FindError::Changed`] if the input has changed, and the errors of
    /// `take`.
    pub fn replay<E: From<FindError> + SinkError>(
        &self,
        take: &mut dyn FnMut(DocumentNumber, &Document<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut scratch = ReadBuffers::default();
        (0..self.blocks()).try_for_each(|i| self.replay_block(i, &mut scratch, take))
    }

    /// The number of blocks that were read.
    pub(super) fn blocks(&self) -> usize {
        self.documents.store.blocks.len()
    }

    /// Like [`replay`](Self::replay), for the i-th block.
    pub(super) fn replay_block<E: From<FindError> + SinkError>(
        &self,
        i: usize,
        scratch: &mut ReadBuffers,
        take: &mut dyn FnMut(DocumentNumber, &Document<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let block = &self.documents.store.blocks[i];
        let range = self.documents.whole_range(i).filter(|_| !block.notes.reference);
        let Some(range) = range else { return Ok(()) };
        let mut replay = Replay { next: range.start, take };
        block.retained.replay(scratch, &mut replay)?;
        if replay.next != range.end {
            return Err(self.documents.changed(i)?.into());
        }
        Ok(())
    }
}

/// Numbers the documents that are read again.
struct Replay<'a, E> {
    next: DocumentNumber,
    take: &'a mut dyn FnMut(DocumentNumber, &Document<'_>) -> Result<(), E>,
}

impl<E: SinkError> DocumentSink for Replay<'_, E> {
    type Error = E;

    fn document(&mut self, document: &Document<'_>) -> Result<(), E> {
        (self.take)(self.next, document)?;
        self.next.0 += 1;
        Ok(())
    }

    fn skipped(&mut self, _: SkippedItem) -> Result<(), E> {
        Ok(())
    }
}

/// Many ids in order, held in memory or on the disk.
#[derive(Debug, Default)]
pub struct IdList {
    pub(crate) sorted: SortedRecords,
}

impl IdList {
    /// The number of ids.
    pub fn len(&self) -> usize {
        self.sorted.len() as usize
    }

    /// Returns true if the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Creates a list from ids in any order.
    ///
    /// # Errors
    /// None: the ids are in memory.
    pub fn of<'a>(ids: impl IntoIterator<Item = &'a str>) -> Result<Self, FindError> {
        let mut sorter = Sorter::new(None, usize::MAX);
        for id in ids {
            sorter.push(id.as_bytes(), &[])?;
        }
        Ok(Self { sorted: sorter.finish()? })
    }

    /// Iterates over the ids in order.
    ///
    /// # Errors
    /// If a temporary file cannot be read, the item is an error ([`FindError::of_io`]) and the last
    /// one.
    pub fn iter(&self) -> impl Iterator<Item = io::Result<String>> + '_ {
        let text = |id: &[u8]| Some(std::str::from_utf8(id).ok()?.to_owned());
        self.sorted.decoded("an id", move |id, _| text(id))
    }
}
