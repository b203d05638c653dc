//! The stage `keys`: reads a share of the inputs and writes documents, rows for each part, and
//! notes.

use super::error::JobError;
use super::section_file::SectionKind;
use super::{Job, JobStage};
use crate::engine::{FindOptions, PreparedShare};
use crate::progress::Progress;
use crate::read::{Collection, ReadBuffers, Spool};
use crate::report::OutputError;
use crate::report::part_file::PartFile;
use crate::shard::block::NodeIdentity;
use crate::shard::keys::{BucketRule, MembershipCollector, RareKeys};
use crate::shard::node_of_hash;
use std::path::PathBuf;
use std::sync::Arc;

impl Job {
    /// Runs a task of the stage `keys`. `collection` must have the inputs of the plan.
    ///
    /// # Errors
    /// [`JobError::Inputs`], and errors of reading documents and of writing.
    pub fn keys(
        &self,
        task: u32,
        collection: Collection,
        options: &FindOptions,
        progress: &dyn Progress,
    ) -> Result<(), JobError> {
        self.check_task(JobStage::Keys, task)?;
        self.check_run(&collection, options)?;
        let collection = collection.restrict(self.plan.share(task))?;
        let mut rare = self.counters()?.map(|counters| RareKeys::new(options, counters));
        let texts = TextFile::create(self.folder.join(format!("texts-{task:05}")))?;
        let share = PreparedShare::new(&collection, options, &texts.spool, progress)?;
        let mut out = self.create_file(JobStage::Keys, task)?;
        let rule = BucketRule::of_measure(options.params.measure());
        let mut rows = MembershipCollector::new(self.plan.parts(), rule);
        let mut scratch = ReadBuffers::default();
        let mut bytes = Vec::new();
        for number in 0..share.blocks() {
            let block = share.block(number)?;
            for row in block.rows() {
                let node = node_of_hash(block.id_hash(row), block.reference);
                let bytes = block.text_bytes(row)?;
                rows.add(NodeIdentity { node, check: block.check(row), bytes });
                if !share.is_empty_document(number, row) {
                    rows.add_keys(node, block.keys(row));
                }
            }
            if let Some(rare) = &mut rare {
                share.read_again(number, options, &mut scratch, &mut |row, document| {
                    let node = node_of_hash(block.id_hash(row), block.reference);
                    rows.add_keys(node, rare.of(document).iter().copied());
                })?;
            }
            bytes.clear();
            block.encode(&mut bytes)?;
            out.push(SectionKind::Documents, number as u32, &bytes)?;
            if rows.is_full() {
                for block in rows.flush() {
                    out.push(SectionKind::Rows, block.part, &block.rows)?;
                }
            }
        }
        for block in rows.flush() {
            out.push(SectionKind::Rows, block.part, &block.rows)?;
        }
        out.push_json(&share.into_notes()?)?;
        collection.check_unchanged()?;
        if let Some(name) = texts.finish()? {
            out.set_texts(name);
        }
        out.finish()
    }
}

/// The file for texts that cannot be read again, from compressed files and row groups.
struct TextFile {
    path: PathBuf,
    file: PartFile,
    spool: Arc<Spool>,
}

impl TextFile {
    fn create(path: PathBuf) -> Result<Self, JobError> {
        let failed = |source| OutputError::Write { path: path.clone(), source };
        let file = PartFile::create(&path).map_err(failed)?;
        let spool = Spool::new(file.as_file().try_clone().map_err(failed)?, path.clone())?;
        Ok(Self { path, file, spool: Arc::new(spool) })
    }

    /// Renames the file unless it is empty. The name has a random suffix, because threads of
    /// another attempt of the task write the texts in another order.
    fn finish(self) -> Result<Option<String>, JobError> {
        if self.spool.is_empty() {
            return Ok(None);
        }
        let failed = |source| OutputError::Write { path: self.path.clone(), source };
        self.spool.sync().map_err(failed)?;
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{name}-{}", self.file.random_chars());
        self.file.persist_new(&self.path.with_file_name(&name)).map_err(failed)?;
        Ok(Some(name))
    }
}
