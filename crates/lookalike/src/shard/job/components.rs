//! The stage `components`: selects the documents of a share that are in components, and sorts them
//! into parts, so that each component is in one part.

use super::error::JobError;
use super::merge::ComponentNotes;
use super::section_file::{SectionFile, SectionKind, SectionWriter, damaged};
use super::{Job, JobStage};
use crate::engine::ids::{self, IdVec, RowIndex, SourceNumber};
use crate::engine::{BlockDocuments, FindError, FindOptions, ShareNotes};
use crate::read::{Collection, Spool};
use crate::shard::block::ShardBlock;
use crate::shard::{Node, node_of_hash, part_of};
use crate::spill::SpillError;
use crate::spill::codec::FieldReader;
use lookalike_core::hash::mix64;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::sync::Arc;

/// Bytes of documents to hold for all parts before writing.
const HELD_BYTES: usize = 256 << 20;
/// The minimum of bytes to hold for each part.
const LEAST_HELD: usize = 64 << 10;

/// The documents of a share that are in components.
#[derive(Default)]
struct ShareComponents {
    /// Nodes with the smallest nodes of their components, sorted by node.
    of: Vec<(Node, Node)>,
    /// Nodes of several documents, ascending.
    repeated: Vec<Node>,
}

impl ShareComponents {
    fn of(&self, node: Node) -> Option<Node> {
        let at = self.of.binary_search_by_key(&node, |(node, _)| *node).ok()?;
        Some(self.of[at].1)
    }
}

impl Job {
    /// Runs a task of the stage `components`. Takes 8 bytes of memory per document of the share,
    /// and 16 per document in a component.
    ///
    /// # Errors
    /// [`FindError::RepeatedId`] for documents with the same id, [`JobError::NotDone`] before the
    /// stage `label` is done, and errors of reading and writing files.
    pub fn components(
        &self,
        task: u32,
        collection: &Collection,
        options: &FindOptions,
    ) -> Result<(), JobError> {
        self.check_task(JobStage::Components, task)?;
        self.check_run(collection, options)?;
        self.require(JobStage::Label)?;
        let notes: ComponentNotes = self.open_file(JobStage::Label, 0)?.json()?;
        let components = self.share_components(task)?;
        if !components.repeated.is_empty() {
            self.refuse_repeated(task, &components.repeated, collection, &notes.texts)?;
        }
        let mut file = self.open_file(JobStage::Keys, task)?;
        let known: HashMap<_, SourceNumber> =
            notes.sources.iter().zip(ids::from(SourceNumber(0))).collect();
        let number = |name: &(String, bool)| known.get(name).copied().unwrap_or_default();
        let of_share = file.json::<ShareNotes>()?.sources.into_iter();
        let sources: IdVec<SourceNumber, SourceNumber> =
            of_share.map(|source| number(&(source.name, source.reference))).collect();
        let mut out = PartWriter::new(self, self.create_file(JobStage::Components, task)?);
        each_block(&mut file, &mut |block| out.push_block(&components, &block, &sources))?;
        out.finish()?.finish()
    }

    /// Reads the components of the documents of a share.
    fn share_components(&self, task: u32) -> Result<ShareComponents, JobError> {
        let mut nodes = Vec::new();
        each_block(&mut self.open_file(JobStage::Keys, task)?, &mut |block| {
            nodes.extend(block.rows().map(|row| node_of(&block, row)));
            Ok(())
        })?;
        nodes.sort_unstable();
        let mut file = self.open_file(JobStage::Label, 0)?;
        let path = file.path().to_owned();
        let mut components = ShareComponents::default();
        let is_here = |node: &Node| nodes.binary_search(node).is_ok();
        file.each(SectionKind::Rows, None, &mut |_, rows| {
            let mut block = ShardBlock::default();
            block.decode_into(rows).map_err(|problem| damaged(&path, problem.to_string()))?;
            let edges = block.edges.into_iter().filter(|edge| is_here(&edge.node));
            components.of.extend(edges.map(|edge| (edge.node, edge.component)));
            Ok(())
        })?;
        components.of.sort_unstable();
        file.each(SectionKind::Repeated, None, &mut |_, bytes| {
            let repeated = bytes.as_chunks().0.iter().map(|node| Node(u64::from_le_bytes(*node)));
            components.repeated.extend(repeated.filter(is_here));
            Ok(())
        })?;
        Ok(components)
    }

    /// Refuses documents of a share that have the id of an earlier document. Only nodes of several
    /// documents can have repeated ids. Such nodes are rare, so only their documents are collected
    /// from earlier shares.
    fn refuse_repeated(
        &self,
        task: u32,
        nodes: &[Node],
        collection: &Collection,
        texts: &[Option<String>],
    ) -> Result<(), JobError> {
        let mut repeated = RepeatedIds::default();
        for task in 0..=task {
            let mut file = self.open_file(JobStage::Keys, task)?;
            each_block(&mut file, &mut |block| repeated.collect(nodes, task, &block))?;
        }
        repeated.refuse(self, collection, texts)
    }

    /// Opens the file with the texts of a task of `keys`.
    pub(super) fn open_texts(&self, name: &str) -> Result<Arc<Spool>, JobError> {
        let path = self.folder.join(name);
        let file = File::open(&path);
        let file = file.map_err(|source| SpillError::Io { path: path.clone(), source })?;
        Ok(Arc::new(Spool::new(file, path)?))
    }
}

/// Passes the documents of each block of a task of `keys` to `take`.
fn each_block(
    file: &mut SectionFile,
    take: &mut dyn FnMut(BlockDocuments) -> Result<(), JobError>,
) -> Result<(), JobError> {
    let path = file.path().to_owned();
    file.each(SectionKind::Documents, None, &mut |_, bytes| {
        let block = BlockDocuments::decode(&mut FieldReader::new(bytes));
        take(block.ok_or_else(|| damaged(&path, "documents of a block were expected"))?)
    })
}

/// Returns the node of a document in a block.
fn node_of(block: &BlockDocuments, row: RowIndex) -> Node {
    node_of_hash(block.id_hash(row), block.reference)
}

/// Collects documents for each part.
struct PartWriter {
    file: SectionWriter,
    parts: std::num::NonZeroU32,
    /// Bytes of documents, by part.
    buffers: Vec<Vec<u8>>,
    most_buffered: usize,
}

impl PartWriter {
    fn new(job: &Job, file: SectionWriter) -> Self {
        let parts = job.plan.parts();
        let most_buffered = (HELD_BYTES / parts.get() as usize).max(LEAST_HELD);
        Self { file, parts, buffers: vec![Vec::new(); parts.get() as usize], most_buffered }
    }

    /// Adds each document of a block, if it is in a component, to the component's part.
    fn push_block(
        &mut self,
        components: &ShareComponents,
        block: &BlockDocuments,
        sources: &IdVec<SourceNumber, SourceNumber>,
    ) -> Result<(), JobError> {
        let mut rows_of: BTreeMap<u32, Vec<RowIndex>> = BTreeMap::new();
        for row in block.rows() {
            if let Some(component) = components.of(node_of(block, row)) {
                // Mix the bits, since the smallest of several hashes is not distributed evenly.
                let part = part_of(mix64(component.0), self.parts);
                rows_of.entry(part).or_default().push(row);
            }
        }
        for (part, rows) in rows_of {
            let source = |of_share| sources.get(of_share).copied().unwrap_or_default();
            let buffer = &mut self.buffers[part as usize];
            block.select(&rows, source)?.encode(buffer)?;
            if buffer.len() >= self.most_buffered {
                self.file.push(SectionKind::Documents, part, buffer)?;
                buffer.clear();
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<SectionWriter, JobError> {
        for (part, buffer) in (0..).zip(&self.buffers) {
            if !buffer.is_empty() {
                self.file.push(SectionKind::Documents, part, buffer)?;
            }
        }
        Ok(self.file)
    }
}

/// Documents that share their node with others, to compare their ids.
#[derive(Default)]
struct RepeatedIds {
    /// Single documents, each as a block with the number of its task.
    documents: Vec<(u32, BlockDocuments)>,
}

impl RepeatedIds {
    fn collect(
        &mut self,
        nodes: &[Node],
        task: u32,
        block: &BlockDocuments,
    ) -> Result<(), JobError> {
        for row in block.rows() {
            if nodes.binary_search(&node_of(block, row)).is_ok() {
                self.documents.push((task, block.select(&[row], |source| source)?));
            }
        }
        Ok(())
    }

    /// Refuses the first two documents, in reading order, that have the same id.
    fn refuse(
        &self,
        job: &Job,
        collection: &Collection,
        texts: &[Option<String>],
    ) -> Result<(), JobError> {
        let mut first_with: HashMap<(bool, String), usize> = HashMap::new();
        for (number, (_, document)) in self.documents.iter().enumerate() {
            let id = document.id(RowIndex(0))?;
            let Some(first) = first_with.insert((document.reference, id.clone()), number) else {
                continue;
            };
            let place = |number: usize| {
                let (task, document) = &self.documents[number];
                let name = texts.get(*task as usize).and_then(Option::as_deref);
                let spool = name.map(|name| job.open_texts(name)).transpose()?;
                Ok::<_, JobError>(document.location(RowIndex(0), collection, spool.as_ref())?)
            };
            let [first, second] = [place(first)?, place(number)?];
            return Err(FindError::RepeatedId { id, first, second }.into());
        }
        Ok(())
    }
}
