//! Members of ZIP archives as documents, and their shares of the limits of the archive.

use crate::bytes::{Compression, read_exact_at};
use crate::error::{SkipReason, unreadable};
use crate::file::contents::{Contents, fill, kind};
use crate::file::system_files::refused_in_archive;
use crate::measure::MAX_DOCUMENT_BYTES;
use crate::options::SourceSettings;
use lookalike_extract::archive::ZipEntry;
use lookalike_extract::{ExtractError, FileKind, LimitKind, LimitUsage, Limits};
use std::fs::File;
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A file in a ZIP archive.
#[derive(Debug)]
pub(crate) struct ZipMember {
    pub(crate) entry: ZipEntry,
    pub(crate) archive: Arc<SharedTime>,
    /// Number of the preceding members, and the expanded size that they state.
    pub(crate) before: LimitUsage,
}

/// Nanoseconds that the members of an archive have taken so far.
#[derive(Debug, Default)]
pub(crate) struct SharedTime(AtomicU64);

/// Counts the usage of consecutive members. Each block has its own budget, so that the rejected
/// members do not depend on the order in which threads read the blocks of an archive. Only the time
/// is shared between blocks.
#[derive(Default)]
pub(crate) struct MemberBudget {
    archive: Option<Arc<SharedTime>>,
    /// Expanded bytes and members of nested archives.
    nested: LimitUsage,
}

impl MemberBudget {
    /// The usage of the archive before this member. Fails if a limit is exhausted.
    pub(crate) fn begin(
        &mut self,
        member: &ZipMember,
        limits: &Limits,
    ) -> Result<LimitUsage, ExtractError> {
        let is_same =
            self.archive.as_ref().is_some_and(|archive| Arc::ptr_eq(archive, &member.archive));
        if !is_same {
            self.archive = Some(Arc::clone(&member.archive));
            self.nested = LimitUsage::default();
        }
        let used = LimitUsage {
            time: Duration::from_nanos(member.archive.0.load(Ordering::Relaxed)),
            expanded: member.before.expanded.saturating_add(self.nested.expanded),
            members: member.before.members.saturating_add(self.nested.members),
        };
        let mut used = used.remaining_at(member.entry.data_offset, limits);
        used.expanded = used.expanded.saturating_add(member.entry.size);
        used.members = used.members.saturating_add(1);
        used.exhausted(limits).map_or(Ok(used), Err)
    }

    /// Adds the time that a member has taken since `started`, and the usage of its contents
    /// (`after` minus `before`).
    pub(crate) fn end(&mut self, started: Instant, before: LimitUsage, after: LimitUsage) {
        if let Some(archive) = &self.archive {
            let elapsed = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
            archive.0.fetch_add(elapsed, Ordering::Relaxed);
        }
        self.nested.add(before, after);
    }
}

/// Reads a file of a ZIP archive. Reads only the bytes of this file.
pub(crate) fn read_member<'a>(
    path: &Path,
    entry: &ZipEntry,
    (compression, name): (Compression, &str),
    settings: &SourceSettings,
    bytes: &'a mut Vec<u8>,
) -> Result<Contents<'a>, SkipReason> {
    let failed = |failure| SkipReason::NoText { failure, content: None };
    let limits = &settings.options.extract.limits;
    let most = MAX_DOCUMENT_BYTES as u64;
    if entry.compressed_size > most {
        return Err(SkipReason::TooLong);
    }
    let longest = settings.longest_record(false);
    if let Some(over) = longest.filter(|over| over.is_memory() && entry.size > over.limit) {
        return Err(over.reason());
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
    if let Some(failure) = refused_in_archive(&entry.name) {
        return Err(failed(failure));
    }
    let kind = kind(name, bytes, settings);
    if kind != FileKind::Text && bytes.len() as u64 > limits.bytes {
        return Err(failed(ExtractError::limited(LimitKind::Bytes, limits.bytes)));
    }
    Ok(Contents { kind, bytes, length: entry.size, name: name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_extract::archive::EntryKind;

    /// The time that one member takes reduces the time for the following members, also in other
    /// blocks.
    #[test]
    fn members_share_archive_time() {
        let limits = Limits { time: Duration::from_secs(60), ..Limits::default() };
        let archive = Arc::new(SharedTime::default());
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
        // A large archive gets more time.
        assert!(budget.begin(&member(16 << 20), &limits).is_ok());
    }
}
