//! Properties that all kinds of sources share: name, position among the inputs, settings.

use crate::error::{ReadError, SkipReason, SkippedItem};
use crate::measure::Stamp;
use crate::options::settings::SourceSettings;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Properties that all kinds of sources share.
pub(crate) struct SourceInfo {
    /// Number among the sources of the collection.
    pub(crate) number: u32,
    /// The path of the file or stream. A source of several files has the path of their folder, or
    /// of the first file if the files were named. Empty for an index and for documents in memory.
    pub(crate) path: PathBuf,
    /// The name in ids that lookalike forms, such as `name:7` for a line.
    pub(crate) name: String,
    /// The name in messages.
    pub(crate) display_name: String,
    /// Size and modification time of a file of records.
    pub(crate) stamp: Option<Stamp>,
    /// Whether the source was found in a folder. If such a source cannot be read, the run lists it
    /// as skipped and continues.
    pub(crate) in_folder: bool,
    /// Whether the ids of its files are paths relative to the folder.
    pub(crate) relative: bool,
    pub(crate) settings: Arc<SourceSettings>,
}

impl SourceInfo {
    /// The modification time of a file of records, in ns since 1970.
    pub(crate) fn modified(&self) -> Option<u64> {
        self.stamp.and_then(|stamp| stamp.modified)
    }

    /// Whether the run continues if the source cannot be read.
    pub(crate) fn is_lenient(&self) -> bool {
        self.in_folder || self.settings.options.skip_bad
    }

    /// Whether the ids of records begin with the name of the file.
    pub(crate) fn has_ids_by_file(&self) -> bool {
        self.in_folder && self.settings.ids_by_file.load(Ordering::Relaxed)
    }

    /// Returns true if `id` is the id of a record whose own id is `found`.
    pub(crate) fn is_id(&self, found: &str, id: &str) -> bool {
        if !self.has_ids_by_file() {
            return found == id;
        }
        let relative = id.strip_prefix(self.name.as_str()).and_then(|rest| rest.strip_prefix('/'));
        relative == Some(found)
    }

    /// The error of reading the file or stream.
    pub(crate) fn io(&self, error: io::Error) -> ReadError {
        ReadError::Io { source_name: self.display_name.clone(), error }
    }

    /// Handles a bad record: returns an error, or an entry for the list of skipped records if bad
    /// records are skipped or if the file was found in a folder.
    pub(crate) fn reject_record(
        &self,
        line: u64,
        id: Option<String>,
        reason: SkipReason,
    ) -> Result<SkippedItem, ReadError> {
        let skipped =
            SkippedItem { source: self.display_name.clone(), line: Some(line), id, reason };
        if self.is_lenient() { Ok(skipped) } else { Err(ReadError::BadRecord(skipped.into())) }
    }

    /// Returns an entry for the list of skipped files, which stands for the whole source.
    pub(crate) fn skipped(&self, reason: SkipReason) -> SkippedItem {
        SkippedItem::whole(&self.display_name, reason).with_id(&self.name)
    }
}
