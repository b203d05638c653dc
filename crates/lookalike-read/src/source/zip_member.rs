//! Members of ZIP archives as documents: which there are, and what each may still use of the
//! limits of its archive.

use crate::MAX_DOCUMENT_BYTES;
use crate::decompress::Compression;
use crate::positioned_io::read_exact_at;
use crate::recover::unreadable;
use crate::settings::Settings;
use crate::skipped::{SkipReason, Skipped};
use crate::source::files::{Contents, DocumentFile, fill, kind};
use crate::stamp::Stamp;
use crate::walk::name_of;
use lookalike_extract::archive::{EntryKind, ZipEntry, zip_entries_within};
use lookalike_extract::{ExtractError, FileKind, LimitUsage, Limits, UniqueNames};
use std::fs::File;
use std::io::{BufReader, Cursor};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A file in a ZIP archive.
#[derive(Debug)]
pub(crate) struct ZipMember {
    pub(crate) entry: ZipEntry,
    archive: Arc<Archive>,
    /// Members before it, and the bytes that they promise to expand to.
    before: LimitUsage,
}

/// What all members of an archive share.
#[derive(Debug, Default)]
struct Archive {
    /// Nanoseconds that its members have taken so far.
    nanoseconds: AtomicU64,
}

/// Counts what consecutive members use: one for each block, so that what is refused does not
/// depend on the order in which threads read the blocks of an archive. Only time does.
#[derive(Default)]
pub(crate) struct MemberBudget {
    archive: Option<Arc<Archive>>,
    /// Expanded bytes and members that are deeper than the members of the archive.
    nested: LimitUsage,
}

impl MemberBudget {
    /// What the archive has used before this member; an error where nothing is left.
    pub(crate) fn begin(
        &mut self,
        member: &ZipMember,
        limits: &Limits,
    ) -> Result<LimitUsage, ExtractError> {
        let same = self.archive.as_ref().is_some_and(|own| Arc::ptr_eq(own, &member.archive));
        if !same {
            self.archive = Some(Arc::clone(&member.archive));
            self.nested = LimitUsage::default();
        }
        let used = LimitUsage {
            time: Duration::from_nanos(member.archive.nanoseconds.load(Ordering::Relaxed)),
            expanded: member.before.expanded.saturating_add(self.nested.expanded),
            members: member.before.members.saturating_add(self.nested.members),
        };
        let mut used = used.remaining_at(member.entry.data_offset, limits);
        used.expanded = used.expanded.saturating_add(member.entry.size);
        used.members = used.members.saturating_add(1);
        used.exhausted(limits).map_or(Ok(used), Err)
    }

    /// Adds what a member took since `started`, and what was in it, the difference of `after` and
    /// `before`.
    pub(crate) fn end(&mut self, started: Instant, before: LimitUsage, after: LimitUsage) {
        if let Some(archive) = &self.archive {
            let taken = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
            archive.nanoseconds.fetch_add(taken, Ordering::Relaxed);
        }
        self.nested.add(before, after);
    }
}

/// Reads a file of a ZIP archive: its bytes there, and no others.
pub(crate) fn read_member<'a>(
    path: &Path,
    entry: &ZipEntry,
    (compression, name): (Compression, &str),
    settings: &Settings,
    bytes: &'a mut Vec<u8>,
) -> Result<Contents<'a>, SkipReason> {
    let failed = |failure| SkipReason::NoText { failure, content: None };
    let limits = &settings.extract.limits;
    let most = MAX_DOCUMENT_BYTES as u64;
    if entry.compressed_size > most {
        return Err(SkipReason::TooLong);
    }
    let mut compressed = vec![0; entry.compressed_size as usize];
    let archive = File::open(path).map_err(|e| unreadable(&e))?;
    read_exact_at(&archive, &mut compressed, entry.data_offset).map_err(|e| unreadable(&e))?;
    *bytes = entry.inflate(&compressed, limits.expanded.min(most)).map_err(failed)?;
    if compression != Compression::None {
        let inner = std::mem::take(bytes);
        let stream = settings.decode(compression, Cursor::new(inner));
        fill(stream.map_err(|e| unreadable(&e))?, name, true, settings, bytes)?;
    }
    if let Some(failure) = crate::format::embedded_files::records(&entry.name) {
        return Err(failed(failure));
    }
    let kind = kind(name, bytes, settings);
    if kind != FileKind::Text && bytes.len() as u64 > limits.bytes {
        return Err(failed(ExtractError::bytes(limits.bytes)));
    }
    Ok(Contents { kind, bytes, length: entry.size, name: name.to_owned() })
}

/// The files of a ZIP archive as documents, and what of it cannot be read. `id` is that of the
/// archive, which those of its files begin with.
pub(crate) fn zipped(
    path: &Path,
    id: &str,
    stamp: Stamp,
    limits: &Limits,
) -> Result<(Vec<DocumentFile>, Vec<Skipped>), SkipReason> {
    let failed = |failure| SkipReason::NoText { failure, content: None };
    let archive = BufReader::new(File::open(path).map_err(|e| unreadable(&e))?);
    let listed = zip_entries_within(archive, limits).map_err(failed)?;
    let (mut files, mut refused) = (Vec::new(), Vec::new());
    let shown = name_of(path);
    let refuse = |source: String, id: String, failure| Skipped {
        source,
        line: None,
        id: Some(id),
        reason: failed(failure),
    };
    let mut names = UniqueNames::default();
    let (archive, mut before) = (Arc::new(Archive::default()), LimitUsage::default());
    for entry in listed.entries {
        let inside = format!("{id}/{}", names.unique(&entry.name));
        match entry.failure.clone().or_else(|| entry.kind.failure()) {
            Some(failure) => {
                refused.push(refuse(format!("{shown}/{}", entry.name), inside, failure));
            }
            None if entry.kind == EntryKind::File => {
                let file = DocumentFile::new(path.to_owned(), inside, stamp, false);
                let size = entry.size;
                let member = ZipMember { entry, archive: Arc::clone(&archive), before };
                files.push(DocumentFile { member: Some(Box::new(member)), ..file });
                before.expanded = before.expanded.saturating_add(size);
                before.members = before.members.saturating_add(1);
            }
            None => {}
        }
    }
    refused.extend(listed.cut.map(|failure| refuse(shown, id.to_owned(), failure)));
    Ok((files, refused))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What one member takes is gone for those after it, whichever block they are in.
    #[test]
    fn members_share_the_time_of_their_archive() {
        let limits = Limits { time: Duration::from_secs(60), ..Limits::default() };
        let archive = Arc::new(Archive::default());
        let member = |data_offset: u64| ZipMember {
            entry: ZipEntry {
                name: "a".to_owned(),
                kind: EntryKind::File,
                method: 0,
                header_offset: data_offset,
                data_offset,
                compressed_size: 1,
                size: 1,
                crc32: 0,
                encrypted: false,
                modified: None,
                failure: None,
            },
            archive: Arc::clone(&archive),
            before: LimitUsage::default(),
        };
        let mut budget = MemberBudget::default();
        let used = budget.begin(&member(0), &limits).unwrap();
        assert_eq!((used.time, used.expanded, used.members), (Duration::ZERO, 1, 1));
        let long_ago = Instant::now().checked_sub(Duration::from_secs(61)).unwrap();
        budget.end(long_ago, used, used);
        let slow = ExtractError::TooSlow { seconds: 60 };
        assert_eq!(budget.begin(&member(9), &limits), Err(slow.clone()));
        assert_eq!(MemberBudget::default().begin(&member(9), &limits), Err(slow));
        // A large archive is granted more.
        assert!(budget.begin(&member(16 << 20), &limits).is_ok());
    }
}
