//! The stages `merge` and `label`: the forests of all parts in; a component for each document that
//! shares a bucket out.

use super::section_file::{SectionKind, SectionWriter, damaged};
use super::{Job, JobStage};
use crate::error::Error;
use crate::find::{FindOptions, ShareNotes};
use crate::read::Collection;
use crate::shard::block::ShardBlock;
use crate::shard::forest::{Edge, merge_with_roots};
use crate::shard::part_of;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Edges of the parts' forests that are held before they are merged, at least.
const LEAST_EDGES: usize = 1 << 22;
/// Edges of a section.
const SECTION_EDGES: usize = 1 << 20;

/// What all parts know of the inputs.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ComponentNotes {
    /// Sources by their numbers: name, and whether it is of a reference collection.
    pub(super) sources: Vec<(String, bool)>,
    /// The file of each task of `keys` with texts that cannot be read again.
    pub(super) texts: Vec<Option<String>>,
}

impl Job {
    /// Runs a task of the stage `merge`: joins the forests of some parts to one. Holds some 60
    /// bytes for each document of these.
    ///
    /// # Errors
    /// [`JobError::NotDone`](super::JobError::NotDone) before all tasks of `connect` are done;
    /// those of reading their files and of writing.
    pub fn merge(&self, task: u32) -> Result<(), Error> {
        self.check_task(JobStage::Merge, task)?;
        self.require(JobStage::Connect)?;
        let step = self.plan.tasks(JobStage::Merge) as usize;
        let parts = (task..self.plan.tasks(JobStage::Connect)).step_by(step);
        let (forest, repeated) = self.forest(JobStage::Connect, parts)?;
        let mut out = self.create_file(JobStage::Merge, task)?;
        push_edges(&mut out, 0, &forest)?;
        push_repeated(&mut out, repeated)?;
        out.finish()
    }

    /// Runs the stage `label`: finds the component of each document. Holds some 60 bytes for each
    /// document of a component.
    ///
    /// # Errors
    /// [`JobError::NotDone`](super::JobError::NotDone) before all tasks of `merge` are done; those
    /// of reading their files and of writing.
    pub fn label(&self, collection: &Collection, options: &FindOptions) -> Result<(), Error> {
        self.check_run(collection, options)?;
        self.require(JobStage::Merge)?;
        let tasks = 0..self.plan.tasks(JobStage::Merge);
        let (mut forest, repeated) = self.forest(JobStage::Merge, tasks)?;
        let mut out = self.create_file(JobStage::Label, 0)?;
        forest.sort_unstable_by_key(|edge| edge.node);
        let parts = self.plan.parts();
        for edges in forest.chunk_by(|a, b| part_of(a.node, parts) == part_of(b.node, parts)) {
            push_edges(&mut out, part_of(edges[0].node, parts), edges)?;
        }
        push_repeated(&mut out, repeated)?;
        out.push_json(&self.component_notes()?)?;
        out.finish()
    }

    fn component_notes(&self) -> Result<ComponentNotes, Error> {
        let (mut notes, mut known) = (ComponentNotes::default(), HashSet::new());
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

    /// One forest of those that some tasks of a stage left, with an edge from each component to
    /// itself; and the nodes of several documents.
    fn forest(
        &self,
        stage: JobStage,
        tasks: impl Iterator<Item = u32>,
    ) -> Result<(Vec<Edge>, Vec<u64>), Error> {
        let (mut edges, mut repeated) = (Vec::new(), Vec::new());
        let mut most = LEAST_EDGES;
        for task in tasks {
            let mut file = self.open_file(stage, task)?;
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
        Ok((merge_with_roots(edges), repeated))
    }
}

fn push_edges(out: &mut SectionWriter, part: u32, forest: &[Edge]) -> Result<(), Error> {
    for edges in forest.chunks(SECTION_EDGES) {
        let edges = edges.iter().map(|edge| (edge.component, edge.node)).collect();
        let block = ShardBlock { edges, ..ShardBlock::default() };
        out.push(SectionKind::Rows, part, &block.encode())?;
    }
    Ok(())
}

fn push_repeated(out: &mut SectionWriter, mut nodes: Vec<u64>) -> Result<(), Error> {
    nodes.sort_unstable();
    let bytes: Vec<u8> = nodes.iter().flat_map(|node| node.to_le_bytes()).collect();
    out.push(SectionKind::Repeated, 0, &bytes)
}
