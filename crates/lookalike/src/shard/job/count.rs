//! The stages `count` and `rarity` of exact runs, whose keys are rare shingles. They count how
//! often shingles occur in each share and in all shares.

use super::error::JobError;
use super::section_file::{SectionKind, damaged};
use super::{Job, JobStage};
use crate::engine::FindOptions;
use crate::read::{Collection, ReadBuffers};
use crate::shard::keys::RarityCounter;
use crate::shard::rarity::RarityCounters;
use std::sync::Arc;

/// Base-2 logarithm of the number of counters. A counter takes 4 bytes.
const LOG2_COUNTERS: u32 = 20;

impl Job {
    /// Runs a task of the stage `count`. `collection` must have the inputs of the plan.
    ///
    /// # Errors
    /// [`JobError::Inputs`], and errors of reading documents and of writing.
    pub fn count(
        &self,
        task: u32,
        collection: Collection,
        options: &FindOptions,
    ) -> Result<(), JobError> {
        self.check_task(JobStage::Count, task)?;
        self.check_run(&collection, options)?;
        let collection = collection.restrict(self.plan.share(task))?;
        let mut counter = RarityCounter::new(options, LOG2_COUNTERS);
        let mut buffers = ReadBuffers::default();
        while let Some(block) = collection.next_block()? {
            block.read(&mut buffers, &mut counter)?;
        }
        collection.check_unchanged()?;
        self.write_counters(JobStage::Count, task, counter.counters())
    }

    /// Runs the stage `rarity`: adds up the counters of all tasks of `count`.
    ///
    /// # Errors
    /// [`JobError::NotDone`] before these tasks are done, and errors of reading their files
    /// and of writing.
    pub fn rarity(&self) -> Result<(), JobError> {
        self.check_task(JobStage::Rarity, 0)?;
        self.require(JobStage::Count)?;
        let mut sums = RarityCounters::new(LOG2_COUNTERS);
        for task in 0..self.plan.tasks(JobStage::Count) {
            self.add_counters(JobStage::Count, task, &mut sums)?;
        }
        self.write_counters(JobStage::Rarity, 0, &sums)
    }

    /// Reads the counters of all documents; `None` if keys are buckets of signatures.
    pub(super) fn counters(&self) -> Result<Option<Arc<RarityCounters>>, JobError> {
        if self.plan.tasks(JobStage::Rarity) == 0 {
            return Ok(None);
        }
        self.require(JobStage::Rarity)?;
        let mut sums = RarityCounters::new(LOG2_COUNTERS);
        self.add_counters(JobStage::Rarity, 0, &mut sums)?;
        Ok(Some(Arc::new(sums)))
    }

    fn write_counters(
        &self,
        stage: JobStage,
        task: u32,
        counters: &RarityCounters,
    ) -> Result<(), JobError> {
        let mut out = self.create_file(stage, task)?;
        out.push(SectionKind::Counters, 0, &counters.encode())?;
        out.finish()
    }

    fn add_counters(
        &self,
        stage: JobStage,
        task: u32,
        sums: &mut RarityCounters,
    ) -> Result<(), JobError> {
        let mut file = self.open_file(stage, task)?;
        let path = file.path().to_owned();
        file.each(SectionKind::Counters, None, &mut |_, bytes| {
            let counters = RarityCounters::decode(bytes);
            let added = counters.and_then(|counters| sums.merge(&counters));
            added.map_err(|problem| damaged(&path, problem.to_string()))
        })
    }
}
