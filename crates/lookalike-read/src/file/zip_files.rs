//! ZIP archives: their members as files with documents.

use crate::error::{SkipReason, SkippedItem, unreadable};
use crate::file::document_file::DocumentFile;
use crate::file::path_name::name_of;
use crate::file::zip_member::{SharedTime, ZipMember};
use crate::measure::Stamp;
use lookalike_extract::archive::{EntryKind, zip_entries};
use lookalike_extract::{LimitUsage, Limits, UniqueNames};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

/// The files of a ZIP archive as documents, and the members that cannot be read. Ids of the files
/// begin with `id`, the id of the archive.
pub(crate) fn zip_files(
    path: &Path,
    id: &str,
    stamp: Stamp,
    limits: &Limits,
) -> Result<(Vec<DocumentFile>, Vec<SkippedItem>), SkipReason> {
    let failed = |failure| SkipReason::NoText { failure, content: None };
    let archive = BufReader::new(File::open(path).map_err(|e| unreadable(&e))?);
    let listed = zip_entries(archive, limits).map_err(failed)?;
    let mut files = Vec::new();
    let mut refused = Vec::new();
    let archive_name = name_of(path);
    let refuse = |source: String, id: String, failure| {
        SkippedItem::whole(source, failed(failure)).with_id(id)
    };
    let mut names = UniqueNames::default();
    let time = Arc::new(SharedTime::default());
    let mut before = LimitUsage::default();
    for entry in listed.entries {
        let inside = format!("{id}/{}", names.unique(&entry.name));
        match entry.failure.clone().or_else(|| entry.kind.failure()) {
            Some(failure) => {
                refused.push(refuse(format!("{archive_name}/{}", entry.name), inside, failure));
            }
            None if entry.kind == EntryKind::File => {
                let file = DocumentFile::new(path.to_owned(), inside, stamp, false);
                let size = entry.size;
                let member = ZipMember { entry, archive: Arc::clone(&time), before };
                files.push(DocumentFile { member: Some(Box::new(member)), ..file });
                before.expanded = before.expanded.saturating_add(size);
                before.members = before.members.saturating_add(1);
            }
            None => {}
        }
    }
    refused.extend(listed.cut.map(|failure| refuse(archive_name, id.to_owned(), failure)));
    Ok((files, refused))
}
