//! The stage `connect`: reduces the rows of a part to a forest of its documents.

use super::error::JobError;
use super::merge::EdgeWriter;
use super::section_file::{SectionKind, damaged};
use super::{Job, JobStage};
use crate::engine::FindOptions;
use crate::shard::connect::Connector;
use crate::shard::keys::BucketRule;

impl Job {
    /// Runs a task of the stage `connect`. `options` must equal the options of the plan. Takes 16
    /// bytes of memory for each bucket of each document of the part, and 24 bytes per document.
    ///
    /// # Errors
    /// [`JobError::NotDone`] before all tasks of `keys` are done, and errors of
    /// reading their files and of writing.
    pub fn connect(&self, part: u32, options: &FindOptions) -> Result<(), JobError> {
        self.check_task(JobStage::Connect, part)?;
        self.require(JobStage::Keys)?;
        let mut connector = Connector::new(BucketRule::of_measure(options.params.measure()));
        for task in 0..self.plan.tasks(JobStage::Keys) {
            let mut file = self.open_file(JobStage::Keys, task)?;
            let path = file.path().to_owned();
            file.each(SectionKind::Rows, Some(part), &mut |_, rows| {
                connector.add(rows).map_err(|problem| damaged(&path, problem.to_string()))
            })?;
        }
        let connected = connector.finish();
        let repeated = connected.repeated.iter().flat_map(|node| node.0.to_le_bytes());
        let mut out = EdgeWriter::new(self.create_file(JobStage::Connect, part)?);
        connected.forest.into_iter().try_for_each(|edge| out.push(part, edge))?;
        let mut out = out.finish()?;
        out.push(SectionKind::Repeated, part, &repeated.collect::<Vec<u8>>())?;
        out.finish()
    }
}
