//! The findings of a divided run, put together from those of its shares and parts.

use super::block_store::BlockStore;
use super::clustering::Clustering;
use super::cut_from_mail::CutFromMail;
use super::decided_part::{PartCounts, SourceDuplicates};
use super::documents::RunDocuments;
use super::empty_copies::EmptyCopies;
use super::findings::{Findings, IdList, RunCounts};
use super::groups::{self, Groups};
use super::identical::IdenticalDocuments;
use super::memory::Budget;
use super::options::{FindOptions, PairList};
use super::pairs::{MAX_PAIRS, Pairs};
use super::related::RelatedDocuments;
use super::share::{EmptyDocument, ShareNotes};
use super::skipped::{SkippedFile, SkippedRecords};
use super::sources::{SourceCounts, Sources};
use crate::digest::InputsDigest;
use crate::error::Error;
use crate::folding::{FoldingEffect, SampledText};
use crate::read::Collection;
use crate::spill::{Sorter, TempSpace};
use std::collections::HashMap;
use std::sync::Arc;

/// Takes the notes of all shares in reading order, and the records of all parts in any order.
pub(crate) struct FindingsAssembler<'a> {
    collection: &'a Collection,
    budget: Budget,
    temp: Arc<TempSpace>,
    groups: Sorter,
    pairs: Option<Sorter>,
    empty: Sorter,
    empty_copies: Sorter,
    /// The first document of each text without a token.
    first_of_text: HashMap<[u8; 32], String>,
    clustering: Clustering,
    skipped: SkippedRecords,
    sources: Vec<SourceCounts>,
    /// Places in `sources`, by name and whether it is of a reference collection.
    source_places: HashMap<(String, bool), usize>,
    /// Fields that no document of any share so far has; `None` before the first share with one.
    missing_fields: Option<Vec<String>>,
    inputs: InputsDigest,
    cut_from_mail: CutFromMail,
    drawn: Vec<SampledText>,
    documents: u64,
    counts: PartCounts,
}

impl<'a> FindingsAssembler<'a> {
    pub(crate) fn new(collection: &'a Collection, options: &FindOptions) -> Result<Self, Error> {
        let budget = Budget::new(&options.memory, options.threads.get())?;
        let temp = Arc::new(TempSpace::new(options.memory.temp_dir()));
        let sorter = || Sorter::new(Some(Arc::clone(&temp)), budget.results());
        let file = SkippedFile::new(&temp, 0, false)?;
        let mut skipped = SkippedRecords::new(Arc::new(file));
        skipped.extend(collection.listed())?;
        Ok(Self {
            collection,
            budget,
            groups: sorter(),
            pairs: options.pairs.is_listed().then(sorter),
            empty: sorter(),
            empty_copies: sorter(),
            first_of_text: HashMap::new(),
            clustering: Clustering::default(),
            skipped,
            sources: Vec::new(),
            source_places: HashMap::new(),
            missing_fields: None,
            inputs: InputsDigest::default(),
            cut_from_mail: CutFromMail::default(),
            drawn: Vec::new(),
            documents: 0,
            counts: PartCounts::default(),
            temp,
        })
    }

    /// Adds what is known of the next share.
    pub(crate) fn add_share(&mut self, notes: ShareNotes) -> Result<(), Error> {
        self.skipped.extend(&notes.skipped)?;
        for EmptyDocument { id, content } in notes.empty {
            self.empty.push(id.as_bytes(), &[])?;
            let Some(content) = content else { continue };
            match self.first_of_text.get(&content) {
                Some(first) => self.empty_copies.push(id.as_bytes(), first.as_bytes())?,
                None => drop(self.first_of_text.insert(content, id)),
            }
        }
        for source in notes.sources {
            let place = self.place_of(&source.name, source.reference);
            self.sources[place].documents += source.documents;
            self.sources[place].bytes += source.bytes;
        }
        if notes.documents > 0 {
            let before = self.missing_fields.take();
            let still =
                |field: &String| before.as_ref().is_none_or(|before| before.contains(field));
            self.missing_fields = Some(notes.missing_fields.into_iter().filter(still).collect());
        }
        self.inputs.merge(notes.inputs);
        self.cut_from_mail.merge(notes.cut_from_mail);
        self.drawn.extend(notes.drawn);
        self.documents += notes.documents;
        Ok(())
    }

    /// The place of a source in the table, where it is added when it is new.
    fn place_of(&mut self, name: &str, reference: bool) -> usize {
        let sources = &mut self.sources;
        *self.source_places.entry((name.to_owned(), reference)).or_insert_with(|| {
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
            let place = self.place_of(name, *reference);
            self.sources[place].duplicates += duplicates;
            self.sources[place].duplicate_bytes += bytes;
        }
        self.counts.documents += counts.documents;
        self.counts.copies += counts.copies;
        self.counts.candidates += counts.candidates;
        self.counts.verified += counts.verified;
        self.counts.pairs += counts.pairs;
    }

    /// Adds a group of a part, as [`Groups::each_record`] gives it.
    pub(crate) fn add_group(&mut self, key: &[u8], payload: &[u8]) -> Result<(), Error> {
        let duplicates = groups::duplicates_of_key(key);
        let damaged = || Error::TemporaryFile { what: "a group".to_owned() };
        self.clustering.add(duplicates.ok_or_else(damaged)?);
        self.groups.push(key, payload)
    }

    /// Adds pairs of a part, as [`Pairs::each_record`] gives them.
    pub(crate) fn add_pairs(&mut self, key: &[u8], payload: &[u8]) -> Result<(), Error> {
        self.pairs.as_mut().map_or(Ok(()), |pairs| pairs.push(key, payload))
    }

    /// Puts everything in order.
    pub(crate) fn finish(self, options: &FindOptions) -> Result<Findings, Error> {
        let pair_count = self.counts.pairs;
        if pair_count > MAX_PAIRS {
            return Err(Error::TooManyPairs { got: pair_count, most: MAX_PAIRS });
        }
        let (groups, empty) = (Groups::new(self.groups.finish()?), self.empty.finish()?);
        let estimates = options.pairs == PairList::WithEstimates;
        let pairs = self.pairs.map(Sorter::finish).transpose()?;
        let mut identical = IdenticalDocuments::of(&self.skipped)
            .map_err(|_| Error::TemporaryFile { what: "a skipped record".to_owned() })?;
        identical.empty = EmptyCopies::new(self.empty_copies.finish()?);
        let reference = self.sources.iter().filter(|source| source.reference);
        let counts = RunCounts {
            documents: self.documents,
            reference: reference.map(|source| source.documents).sum(),
            empty: empty.len(),
            skipped: self.skipped.len(),
            copies: self.counts.copies,
            candidates: self.counts.candidates,
            verified: self.counts.verified,
            groups: groups.len() as u64,
            duplicates: self.sources.iter().map(|source| source.duplicates).sum(),
        };
        Ok(Findings {
            groups,
            pairs: pairs.map(|sorted| Pairs::new(sorted, pair_count, estimates)),
            related: RelatedDocuments::default(),
            clustering: self.clustering,
            skipped: self.skipped,
            read_as_text: self.collection.read_as_text().to_vec(),
            missing_fields: self.missing_fields.unwrap_or_default(),
            ids_by_file: self.collection.has_ids_by_file(),
            identical,
            empty: IdList { sorted: empty },
            cut_from_mail: self.cut_from_mail,
            wording: self.collection.wording(),
            folding: FoldingEffect::of(self.drawn),
            better_setting: None,
            counts,
            sources: self.sources,
            inputs: self.inputs,
            times: Vec::new(),
            documents: no_documents(options, &self.budget, &self.temp)?,
            temp: self.temp,
        })
    }
}

/// Nothing to read again: the documents are with the tasks that decided about them.
fn no_documents(
    options: &FindOptions,
    budget: &Budget,
    temp: &Arc<TempSpace>,
) -> Result<RunDocuments, Error> {
    let blocks = BlockStore {
        all: Vec::new(),
        chunks: Vec::new(),
        files: None,
        skipped: Arc::new(SkippedFile::new(temp, 0, false)?),
        sources: Arc::new(Sources::new(options.source_field.as_ref(), budget)),
    };
    RunDocuments::new(blocks, &[])
}
