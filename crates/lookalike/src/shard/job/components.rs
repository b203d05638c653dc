//! The stage `components`: all forests and documents in; the documents of components out, those of
//! one component in one part.

use super::section_file::{SectionFile, SectionKind, SectionWriter, damaged};
use super::{Job, JobStage};
use crate::error::Error;
use crate::find::{BlockDocuments, FindOptions, ShareNotes, SourceCounts};
use crate::read::{Collection, Spool};
use crate::shard::block::ShardBlock;
use crate::shard::forest::merge_with_roots;
use crate::shard::{node_of_hash, part_of};
use crate::spill::codec::{FieldReader, put_u32};
use lookalike_core::hash::mix64;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::sync::Arc;

/// Bytes of documents that are held for all parts before they are written.
const HELD_BYTES: usize = 256 << 20;
/// The least bytes that are held for a part.
const LEAST_HELD: usize = 64 << 10;

/// Edges of the parts' forests that are held before they are merged, at least.
const LEAST_EDGES: usize = 1 << 22;

/// What all parts know of the inputs.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ComponentNotes {
    /// Sources by their numbers: name, and whether it is of a reference collection.
    pub(super) sources: Vec<(String, bool)>,
    /// The file of each task of `keys` with texts that cannot be read again.
    pub(super) texts: Vec<Option<String>>,
}

/// Documents that share buckets.
struct Components {
    /// The component of each node, the least of its nodes.
    of: HashMap<u64, u64>,
    /// Nodes of several documents.
    repeated: HashSet<u64>,
}

impl Job {
    /// Runs the stage `components`. Holds some 150 bytes for each document of a component.
    ///
    /// # Errors
    /// [`Error::RepeatedId`] for documents with one id;
    /// [`JobError::NotDone`](super::JobError::NotDone) before all tasks of `connect` are done;
    /// those of reading their files and of writing.
    pub fn components(&self, collection: &Collection, options: &FindOptions) -> Result<(), Error> {
        self.check_run(collection, options)?;
        self.require(JobStage::Connect)?;
        let components = self.forests()?;
        let mut repeated = RepeatedIds::default();
        let mut out = PartWriter::new(self, self.create_file(JobStage::Components, 0)?);
        let mut notes = ComponentNotes::default();
        let mut numbers = HashMap::new();
        for task in 0..self.plan.tasks(JobStage::Keys) {
            let mut file = self.open_file(JobStage::Keys, task)?;
            notes.texts.push(file.texts().map(str::to_owned));
            let sources = file.json::<ShareNotes>()?.sources;
            let labels = number_sources(sources, &mut numbers, &mut notes.sources);
            each_block(&mut file, &mut |block| {
                repeated.collect(&components, task, &block)?;
                out.push_block(&components, task, &block, &labels)
            })?;
        }
        repeated.refuse(self, collection, &notes.texts)?;
        let mut out = out.finish()?;
        out.push_json(&notes)?;
        out.finish()
    }

    fn forests(&self) -> Result<Components, Error> {
        let (mut edges, mut repeated) = (Vec::new(), HashSet::new());
        let mut most = LEAST_EDGES;
        for part in 0..self.plan.tasks(JobStage::Connect) {
            let mut file = self.open_file(JobStage::Connect, part)?;
            let (path, mut forest) = (file.path().to_owned(), ShardBlock::default());
            file.each(SectionKind::Rows, None, &mut |_, rows| {
                forest.decode_into(rows).map_err(|problem| damaged(&path, problem.to_string()))
            })?;
            edges.append(&mut forest.edges);
            if edges.len() > most {
                // The forest of all has one edge for a node, those of the parts have many.
                let forest = merge_with_roots(std::mem::take(&mut edges));
                edges.extend(forest.iter().map(|edge| (edge.component, edge.node)));
                most = LEAST_EDGES.max(2 * edges.len());
            }
            file.each(SectionKind::Repeated, None, &mut |_, nodes| {
                repeated.extend(nodes.as_chunks().0.iter().map(|node| u64::from_le_bytes(*node)));
                Ok(())
            })?;
        }
        let forest = merge_with_roots(edges);
        let of = forest.iter().map(|edge| (edge.node, edge.component)).collect();
        Ok(Components { of, repeated })
    }

    /// Opens the file with the texts of a task of `keys`.
    pub(super) fn open_texts(&self, name: &str) -> Result<Arc<Spool>, Error> {
        let path = self.folder.join(name);
        let file = File::open(&path);
        let file = file.map_err(|source| Error::Spill { path: path.clone(), source })?;
        Ok(Arc::new(Spool::new(file, path)?))
    }
}

/// Gives the documents of each block of a task of `keys` to `take`.
fn each_block(
    file: &mut SectionFile,
    take: &mut dyn FnMut(BlockDocuments) -> Result<(), Error>,
) -> Result<(), Error> {
    let path = file.path().to_owned();
    file.each(SectionKind::Documents, None, &mut |_, bytes| {
        let block = BlockDocuments::decode(&mut FieldReader::new(bytes));
        take(block.ok_or_else(|| damaged(&path, "documents of a block were expected"))?)
    })
}

/// The numbers of the sources of a share among those of all.
fn number_sources(
    of_share: Vec<SourceCounts>,
    numbers: &mut HashMap<(String, bool), u32>,
    all: &mut Vec<(String, bool)>,
) -> Vec<u32> {
    let number = |source: SourceCounts| {
        let name = (source.name, source.reference);
        *numbers.entry(name).or_insert_with_key(|name| {
            all.push(name.clone());
            all.len() as u32 - 1
        })
    };
    of_share.into_iter().map(number).collect()
}

/// Gathers documents for each part.
struct PartWriter {
    file: SectionWriter,
    parts: std::num::NonZeroU32,
    /// Bytes of documents by part.
    held: Vec<Vec<u8>>,
    most_held: usize,
}

impl PartWriter {
    fn new(job: &Job, file: SectionWriter) -> Self {
        let parts = job.plan.parts();
        let most_held = (HELD_BYTES / parts.get() as usize).max(LEAST_HELD);
        Self { file, parts, held: vec![Vec::new(); parts.get() as usize], most_held }
    }

    /// Adds the documents of a block that are in components, each to the part of its component:
    /// the number of the task, then the documents.
    fn push_block(
        &mut self,
        components: &Components,
        task: u32,
        block: &BlockDocuments,
        labels: &[u32],
    ) -> Result<(), Error> {
        let mut places: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for place in 0..block.len() {
            let node = node_of_hash(block.id_hash(place), block.reference);
            if let Some(component) = components.of.get(&node) {
                // The least of several hashes is no longer spread evenly.
                let part = part_of(mix64(*component), self.parts);
                places.entry(part).or_default().push(place);
            }
        }
        for (part, places) in places {
            let label = |label: u32| labels.get(label as usize).copied().unwrap_or(0);
            let held = &mut self.held[part as usize];
            put_u32(held, task);
            block.select(&places, label)?.encode(held)?;
            if held.len() >= self.most_held {
                self.file.push(SectionKind::Documents, part, held)?;
                held.clear();
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<SectionWriter, Error> {
        for (part, held) in (0..).zip(&self.held) {
            if !held.is_empty() {
                self.file.push(SectionKind::Documents, part, held)?;
            }
        }
        Ok(self.file)
    }
}

/// Documents whose nodes are those of several, to be compared by their ids.
#[derive(Default)]
struct RepeatedIds {
    /// The task and the block of each, which has that one document.
    documents: Vec<(u32, BlockDocuments)>,
}

impl RepeatedIds {
    fn collect(
        &mut self,
        components: &Components,
        task: u32,
        block: &BlockDocuments,
    ) -> Result<(), Error> {
        if components.repeated.is_empty() {
            return Ok(());
        }
        for place in 0..block.len() {
            let node = node_of_hash(block.id_hash(place), block.reference);
            if components.repeated.contains(&node) {
                self.documents.push((task, block.select(&[place], |label| label)?));
            }
        }
        Ok(())
    }

    /// Refuses the first two, in reading order, that have one id.
    fn refuse(
        &self,
        job: &Job,
        collection: &Collection,
        texts: &[Option<String>],
    ) -> Result<(), Error> {
        let mut first_with: HashMap<(bool, String), usize> = HashMap::new();
        for (number, (_, document)) in self.documents.iter().enumerate() {
            let id = document.id(0)?;
            let Some(first) = first_with.insert((document.reference, id.clone()), number) else {
                continue;
            };
            let place = |number: usize| {
                let (task, document) = &self.documents[number];
                let name = texts.get(*task as usize).and_then(Option::as_deref);
                let spool = name.map(|name| job.open_texts(name)).transpose()?;
                document.place_name(0, collection, spool.as_ref())
            };
            return Err(Error::RepeatedId { id, first: place(first)?, second: place(number)? });
        }
        Ok(())
    }
}
