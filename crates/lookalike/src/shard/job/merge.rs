//! The stages `merge` and `label`: join the forests of all parts, and find the component of each
//! document that shares a bucket.

use super::error::JobError;
use super::node_components::{EdgeCollector, NodeComponents};
use super::section_file::{SectionKind, SectionWriter, damaged};
use super::{Job, JobStage};
use crate::engine::{FindOptions, ShareNotes};
use crate::read::Collection;
use crate::shard::block::ShardBlock;
use crate::shard::{Edge, Node, part_of};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Edges per section.
const SECTION_EDGES: usize = 1 << 20;

/// Properties of the inputs that all parts need.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ComponentNotes {
    /// The sources by number: name, and whether the source belongs to a reference collection.
    pub(super) sources: Vec<(String, bool)>,
    /// For each task of `keys`, the file with texts that cannot be read again.
    pub(super) texts: Vec<Option<String>>,
}

impl Job {
    /// Runs a task of the stage `merge`: joins the forests of some parts to one. Takes 4 bytes of
    /// memory per document of these parts, and 192 MiB for sorting. Sorts with a temporary file in
    /// the folder of `options`.
    ///
    /// # Errors
    /// [`JobError::NotDone`] before all tasks of `connect` are done, an error of too many
    /// documents, and errors of reading and writing files.
    pub fn merge(&self, task: u32, options: &FindOptions) -> Result<(), JobError> {
        self.check_task(JobStage::Merge, task)?;
        self.require(JobStage::Connect)?;
        let step = self.plan.tasks(JobStage::Merge) as usize;
        let parts = (task..self.plan.tasks(JobStage::Connect)).step_by(step);
        let (components, repeated) = self.node_components(JobStage::Connect, parts, options)?;
        let mut out = EdgeWriter::new(self.create_file(JobStage::Merge, task)?);
        components.each(&mut |edge| out.push(0, edge))?;
        let mut out = out.finish()?;
        push_repeated(&mut out, repeated)?;
        out.finish()
    }

    /// Runs the stage `label`: finds the component of each document. Takes memory like
    /// [`merge`](Self::merge).
    ///
    /// # Errors
    /// [`JobError::NotDone`] before all tasks of `merge` are done, an error of too many documents,
    /// and errors of reading and writing files.
    pub fn label(&self, collection: &Collection, options: &FindOptions) -> Result<(), JobError> {
        self.check_run(collection, options)?;
        self.require(JobStage::Merge)?;
        let tasks = 0..self.plan.tasks(JobStage::Merge);
        let (components, repeated) = self.node_components(JobStage::Merge, tasks, options)?;
        let mut out = EdgeWriter::new(self.create_file(JobStage::Label, 0)?);
        let parts = self.plan.parts();
        components.each_by_node(&mut |edge| out.push(part_of(edge.node.0, parts), edge))?;
        let mut out = out.finish()?;
        push_repeated(&mut out, repeated)?;
        out.push_json(&self.component_notes()?)?;
        out.finish()
    }

    fn component_notes(&self) -> Result<ComponentNotes, JobError> {
        let mut notes = ComponentNotes::default();
        let mut known = HashSet::new();
        for task in 0..self.plan.tasks(JobStage::Keys) {
            let mut file = self.open_file(JobStage::Keys, task)?;
            notes.texts.push(file.texts().map(str::to_owned));
            for source in file.json::<ShareNotes>()?.sources {
                let name = (source.name, source.reference);
                if known.insert(name.clone()) {
                    notes.sources.push(name);
                }
            }
        }
        Ok(notes)
    }

    /// Finds the components of the forests that some tasks of a stage wrote, and the nodes of
    /// several documents.
    fn node_components(
        &self,
        stage: JobStage,
        tasks: impl Iterator<Item = u32>,
        options: &FindOptions,
    ) -> Result<(NodeComponents, Vec<Node>), JobError> {
        let mut edges = EdgeCollector::new(&options.memory.temp_dir());
        let mut repeated = Vec::new();
        for task in tasks {
            let mut file = self.open_file(stage, task)?;
            let path = file.path().to_owned();
            file.each(SectionKind::Rows, None, &mut |_, rows| {
                let mut forest = ShardBlock::default();
                let read = forest.decode_into(rows);
                read.map_err(|problem| damaged(&path, problem.to_string()))?;
                forest.edges.into_iter().try_for_each(|edge| Ok(edges.push(edge)?))
            })?;
            file.each(SectionKind::Repeated, None, &mut |_, nodes| {
                let nodes = nodes.as_chunks().0.iter();
                repeated.extend(nodes.map(|node| Node(u64::from_le_bytes(*node))));
                Ok(())
            })?;
        }
        Ok((edges.finish()?, repeated))
    }
}

/// Writes edges in sections of one part each.
pub(super) struct EdgeWriter {
    file: SectionWriter,
    part: u32,
    edges: Vec<Edge>,
}

impl EdgeWriter {
    pub(super) fn new(file: SectionWriter) -> Self {
        Self { file, part: 0, edges: Vec::new() }
    }

    pub(super) fn push(&mut self, part: u32, edge: Edge) -> Result<(), JobError> {
        if part != self.part || self.edges.len() == SECTION_EDGES {
            self.flush()?;
            self.part = part;
        }
        self.edges.push(edge);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), JobError> {
        if self.edges.is_empty() {
            return Ok(());
        }
        let edges = std::mem::take(&mut self.edges);
        let block = ShardBlock { edges, ..ShardBlock::default() };
        self.file.push(SectionKind::Rows, self.part, &block.encode())
    }

    /// Returns the file after writing all edges.
    pub(super) fn finish(mut self) -> Result<SectionWriter, JobError> {
        self.flush()?;
        Ok(self.file)
    }
}

fn push_repeated(out: &mut SectionWriter, mut nodes: Vec<Node>) -> Result<(), JobError> {
    nodes.sort_unstable();
    let bytes: Vec<u8> = nodes.iter().flat_map(|node| node.0.to_le_bytes()).collect();
    out.push(SectionKind::Repeated, 0, &bytes)
}
