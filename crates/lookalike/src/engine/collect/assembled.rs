//! The findings of a divided run, assembled from its shares and parts.

use crate::engine::collect::empty_copies::EmptyCopies;
use crate::engine::collect::findings::{Findings, RunCounts};
use crate::engine::collect::pairs::MAX_PAIRS;
use crate::engine::collect::results::{RecordKind, ResultSorters};
use crate::engine::decide::decided_part::{PartCounts, SourceDuplicates};
use crate::engine::error::FindError;
use crate::engine::memory::Budget;
use crate::engine::options::FindOptions;
use crate::engine::prepare::block_store::BlockStore;
use crate::engine::prepare::documents::RunDocuments;
use crate::engine::prepare::keep_keys::IdleRules;
use crate::engine::prepare::share::{EmptyDocument, ShareNotes};
use crate::engine::prepare::skipped::SkippedLog;
use crate::engine::prepare::sources::{SourceCounts, Sources};
use crate::read::Collection;
use crate::spill::{Sorter, SpillError, TempSpace};
use std::collections::HashMap;
use std::sync::Arc;

/// Takes the notes of all shares in reading order, and the records of all parts in any order.
pub(crate) struct FindingsAssembler<'a> {
    collection: &'a Collection,
    temp: Arc<TempSpace>,
    results: ResultSorters,
    empty: Sorter,
    empty_copies: Sorter,
    /// The first document of each text without a token.
    first_of_text: HashMap<[u8; 32], String>,
    /// Data about all documents. The documents themselves are with the tasks that decided about
    /// them, so none can be read again.
    notes: RunDocuments,
    /// Indices in the table of sources, by the source's name and whether it belongs to a reference
    /// collection.
    source_indices: HashMap<(String, bool), usize>,
    /// Fields that no document has had so far; `None` before the first share with documents.
    missing_fields: Option<Vec<String>>,
    documents: u64,
    counts: PartCounts,
}

impl<'a> FindingsAssembler<'a> {
    pub(crate) fn new(
        collection: &'a Collection,
        options: &FindOptions,
    ) -> Result<Self, FindError> {
        let budget = Budget::new(&options.memory, options.threads.get())?;
        let temp = Arc::new(TempSpace::new(options.memory.temp_dir()));
        let sorter = || Sorter::new(Some(Arc::clone(&temp)), budget.results());
        let skipped = SkippedLog::open(&temp, &budget, 0)?;
        let sources = Arc::new(Sources::new(options.source_field.as_ref(), &budget));
        let blocks = BlockStore::new(skipped, sources);
        Ok(Self {
            collection,
            results: ResultSorters::new(options, &budget, &temp),
            empty: sorter(),
            empty_copies: sorter(),
            first_of_text: HashMap::new(),
            notes: RunDocuments::new(blocks, collection.listed())?,
            source_indices: HashMap::new(),
            missing_fields: None,
            documents: 0,
            counts: PartCounts::default(),
            temp,
        })
    }

    /// Adds the notes of the next share.
    pub(crate) fn add_share(&mut self, notes: ShareNotes) -> Result<(), FindError> {
        self.notes.skipped.extend(&notes.skipped)?;
        for EmptyDocument { id, content } in notes.empty {
            self.empty.push(id.as_bytes(), &[])?;
            let Some(content) = content else { continue };
            match self.first_of_text.get(&content) {
                Some(first) => self.empty_copies.push(id.as_bytes(), first.as_bytes())?,
                None => drop(self.first_of_text.insert(content, id)),
            }
        }
        for source in notes.sources {
            let index = self.index_of(&source.name, source.reference);
            self.notes.sources[index].documents += source.documents;
            self.notes.sources[index].bytes += source.bytes;
        }
        if notes.documents > 0 {
            let before = self.missing_fields.take();
            let still =
                |field: &String| before.as_ref().is_none_or(|before| before.contains(field));
            self.missing_fields = Some(notes.missing_fields.into_iter().filter(still).collect());
        }
        self.notes.inputs.merge(notes.inputs);
        self.notes.cut_from_mail.merge(notes.cut_from_mail);
        self.notes.drawn.extend(notes.drawn);
        self.documents += notes.documents;
        Ok(())
    }

    /// Returns the index of a source in the table. Adds the source if it is new.
    fn index_of(&mut self, name: &str, reference: bool) -> usize {
        let sources = &mut self.notes.sources;
        *self.source_indices.entry((name.to_owned(), reference)).or_insert_with(|| {
            sources.push(SourceCounts {
                name: name.to_owned(),
                documents: 0,
                bytes: 0,
                duplicates: 0,
                duplicate_bytes: 0,
                reference,
            });
            sources.len() - 1
        })
    }

    /// Adds the counts of a part.
    pub(crate) fn add_counts(&mut self, counts: &PartCounts, duplicates: &[SourceDuplicates]) {
        for SourceDuplicates { name, reference, duplicates, bytes } in duplicates {
            let index = self.index_of(name, *reference);
            self.notes.sources[index].duplicates += duplicates;
            self.notes.sources[index].duplicate_bytes += bytes;
        }
        self.counts.documents += counts.documents;
        self.counts.copies += counts.copies;
        self.counts.candidates += counts.candidates;
        self.counts.verified += counts.verified;
        self.counts.pairs += counts.pairs;
    }

    /// Adds a group of a part, in the encoding of [`Groups::each_record`].
    pub(crate) fn add_group(&mut self, key: &[u8], payload: &[u8]) -> Result<(), SpillError> {
        self.results.push(RecordKind::Group, key, payload)
    }

    /// Adds pairs of a part, in the encoding of [`Pairs::each_record`].
    pub(crate) fn add_pairs(&mut self, key: &[u8], payload: &[u8]) -> Result<(), SpillError> {
        self.results.push(RecordKind::Pairs, key, payload)
    }

    /// Sorts everything and returns the findings.
    pub(crate) fn finish(self) -> Result<Findings, FindError> {
        let PartCounts { copies, candidates, verified, pairs, .. } = self.counts;
        if pairs > MAX_PAIRS {
            return Err(FindError::TooManyPairs { got: pairs, most: MAX_PAIRS });
        }
        let results = self.results.finish(pairs)?;
        let empty = self.empty.finish()?;
        let empty_copies = EmptyCopies::new(self.empty_copies.finish()?);
        let documents = self.documents;
        let counts = RunCounts { documents, copies, candidates, verified, ..RunCounts::default() };
        // The tasks have read the files. Only headers are read here, to determine how ids are made.
        self.collection.read_headers()?;
        let mut found = Findings::new(self.notes, results, empty, empty_copies, counts, self.temp)?;
        let fields = self.missing_fields.unwrap_or_default();
        found.note_inputs(self.collection, IdleRules { fields, ..IdleRules::default() });
        Ok(found)
    }
}
