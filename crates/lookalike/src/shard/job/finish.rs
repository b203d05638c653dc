//! Combines the files of all shares and parts into the findings of the run.

use super::decide::DecidedNotes;
use super::error::JobError;
use super::section_file::{SectionFile, SectionKind, damaged};
use super::{Job, JobStage};
use crate::engine::{FindOptions, Findings, FindingsAssembler};
use crate::read::Collection;
use crate::spill::TakeRecord;
use crate::spill::codec::FieldReader;

impl Job {
    /// Combines the findings of all tasks into the findings of [`find`](crate::find()) on the whole
    /// collection, without reading its documents again. The findings therefore return no texts, and
    /// the document numbers in groups have no meaning. Records are sorted within the memory of
    /// `options`. Skipped and empty items are held in memory.
    ///
    /// # Errors
    /// [`JobError::NotDone`] before all tasks of `decide` are done, and errors of
    /// reading their files and of temporary files.
    pub fn finish(
        &self,
        collection: &Collection,
        options: &FindOptions,
    ) -> Result<Findings, JobError> {
        self.check_run(collection, options)?;
        for stage in JobStage::ALL {
            self.require(stage)?;
        }
        let mut findings = FindingsAssembler::new(collection, options)?;
        for task in 0..self.plan.tasks(JobStage::Keys) {
            findings.add_share(self.open_file(JobStage::Keys, task)?.json()?)?;
        }
        for part in 0..self.plan.tasks(JobStage::Decide) {
            let mut file = self.open_file(JobStage::Decide, part)?;
            let DecidedNotes { counts, sources } = file.json()?;
            findings.add_counts(&counts, &sources);
            each_record(&mut file, SectionKind::Groups, &mut |key, payload| {
                findings.add_group(key, payload)
            })?;
            each_record(&mut file, SectionKind::Pairs, &mut |key, payload| {
                findings.add_pairs(key, payload)
            })?;
        }
        Ok(findings.finish()?)
    }
}

fn each_record(
    file: &mut SectionFile,
    kind: SectionKind,
    take: &mut TakeRecord<'_>,
) -> Result<(), JobError> {
    let path = file.path().to_owned();
    file.each(kind, None, &mut |_, bytes| {
        let mut reader = FieldReader::new(bytes);
        while !reader.is_empty() {
            let record = reader.bytes().zip(reader.bytes());
            let (key, payload) = record
                .ok_or_else(|| damaged(&path, "records of groups and pairs were expected"))?;
            take(key, payload)?;
        }
        Ok(())
    })
}
