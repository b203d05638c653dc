//! The stage `decide`: finds groups, pairs and counts in the components of a part.

use super::error::JobError;
use super::merge::ComponentNotes;
use super::section_file::{SectionKind, SectionWriter, damaged};
use super::{Job, JobStage};
use crate::engine::{
    BlockDocuments, FindOptions, Findings, PartCounts, PartDocuments, SourceDuplicates,
};
use crate::progress::Progress;
use crate::read::Collection;
use crate::spill::codec::{FieldReader, put_bytes};
use serde::{Deserialize, Serialize};

/// Bytes of records per section.
const SECTION_BYTES: usize = 4 << 20;

/// The contribution of a part to the counts of the run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DecidedNotes {
    pub(super) counts: PartCounts,
    pub(super) sources: Vec<SourceDuplicates>,
}

impl Job {
    /// Runs a task of the stage `decide`. `collection` must have the inputs of the plan, because
    /// the documents of the part's components are read again. Takes as much memory as
    /// [`find`](crate::find()) on these documents.
    ///
    /// # Errors
    /// [`JobError::NotDone`] before all tasks of `components` are done, and errors of
    /// [`in_collection`](crate::find::in_collection), such as a document that has changed.
    pub fn decide(
        &self,
        part: u32,
        collection: &Collection,
        options: &FindOptions,
        progress: &dyn Progress,
    ) -> Result<(), JobError> {
        self.check_task(JobStage::Decide, part)?;
        self.check_run(collection, options)?;
        self.require(JobStage::Components)?;
        let documents = self.documents(part, collection, options)?;
        let findings = documents.decide(options, progress)?;
        let mut out = self.create_file(JobStage::Decide, part)?;
        write_records(&mut out, &findings)?;
        let counts = findings.part_counts();
        let sources = findings.source_duplicates();
        out.push_json(&DecidedNotes { counts, sources })?;
        out.finish()
    }

    /// Returns the documents of a part.
    fn documents<'a>(
        &self,
        part: u32,
        collection: &'a Collection,
        options: &FindOptions,
    ) -> Result<PartDocuments<'a>, JobError> {
        let notes: ComponentNotes = self.open_file(JobStage::Label, 0)?.json()?;
        let sources = notes.sources.iter().map(|(name, reference)| (name.as_str(), *reference));
        let mut documents = PartDocuments::new(collection, options, sources)?;
        for task in 0..self.plan.tasks(JobStage::Components) {
            let mut file = self.open_file(JobStage::Components, task)?;
            let name = notes.texts.get(task as usize).and_then(Option::as_deref);
            let path = file.path().to_owned();
            let mut spool = None;
            file.each(SectionKind::Documents, Some(part), &mut |_, bytes| {
                if let (None, Some(name)) = (&spool, name) {
                    spool = Some(self.open_texts(name)?);
                }
                let mut reader = FieldReader::new(bytes);
                while !reader.is_empty() {
                    let block = BlockDocuments::decode(&mut reader);
                    let block = block
                        .ok_or_else(|| damaged(&path, "documents of components were expected"))?;
                    documents.add(block, spool.as_ref())?;
                }
                Ok(())
            })?;
        }
        Ok(documents)
    }
}

fn write_records(out: &mut SectionWriter, findings: &Findings) -> Result<(), JobError> {
    let mut section = RecordSection { out, kind: SectionKind::Groups, bytes: Vec::new() };
    findings.groups.each_record(&mut |key, payload| section.push(key, payload))?;
    section.flush()?;
    section.kind = SectionKind::Pairs;
    if let Some(pairs) = &findings.pairs {
        pairs.each_record(&mut |key, payload| section.push(key, payload))?;
    }
    section.flush()
}

/// Buffers records for sections.
struct RecordSection<'a> {
    out: &'a mut SectionWriter,
    kind: SectionKind,
    bytes: Vec<u8>,
}

impl RecordSection<'_> {
    fn push(&mut self, key: &[u8], payload: &[u8]) -> Result<(), JobError> {
        put_bytes(&mut self.bytes, key);
        put_bytes(&mut self.bytes, payload);
        if self.bytes.len() >= SECTION_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), JobError> {
        if !self.bytes.is_empty() {
            self.out.push(self.kind, 0, &self.bytes)?;
            self.bytes.clear();
        }
        Ok(())
    }
}
