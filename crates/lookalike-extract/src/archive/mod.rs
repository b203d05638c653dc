//! ZIP and tar archives.

mod entry_kind;
mod inflate;
mod names;
#[cfg(feature = "archive")]
mod tar;
mod zip;

pub use entry_kind::EntryKind;
#[cfg(feature = "archive")]
pub use tar::{TarEntry, TarNext, next_entry};
pub use zip::{ZipEntries, ZipEntry, zip_entries, zip_entries_within};

pub(crate) use inflate::InflateBudget;
pub(crate) use zip::{ListLimits, list};

use crate::error::ExtractError;
#[cfg(feature = "archive")]
use crate::{kind::FileKind, limits::LimitTracker};
#[cfg(feature = "archive")]
use std::io::Cursor;

/// Receives the path of a file in an archive, and its content or error. `false` ends the walk.
#[cfg(feature = "archive")]
pub(crate) type EntrySink<'a> = &'a mut dyn FnMut(&str, Result<&[u8], ExtractError>) -> bool;

/// Sends every file of an archive, folders excluded, to the sink. After an error there may be more
/// files: the archive is truncated or damaged, or a limit is exceeded.
#[cfg(feature = "archive")]
pub(crate) fn walk(
    kind: FileKind,
    bytes: &[u8],
    tracker: &LimitTracker<'_>,
    sink: EntrySink<'_>,
) -> Result<(), ExtractError> {
    match kind {
        FileKind::Zip => walk_zip(bytes, tracker, sink),
        FileKind::Tar => walk_tar(bytes, tracker, sink),
        other => Err(ExtractError::Unsupported { kind: other.name().to_owned() }),
    }
}

#[cfg(feature = "archive")]
fn walk_zip(
    bytes: &[u8],
    tracker: &LimitTracker<'_>,
    sink: EntrySink<'_>,
) -> Result<(), ExtractError> {
    let bounds = ListLimits {
        members: tracker.options.limits.members,
        check_time: &|| tracker.check_time(),
    };
    let listed = list(Cursor::new(bytes), &bounds)?;
    let mut inflated = Vec::new();
    let mut budget = InflateBudget::Shared(tracker);
    for entry in &listed.entries {
        if entry.kind == EntryKind::Folder {
            continue;
        }
        tracker.charge_member()?;
        tracker.check_time()?;
        let compressed = entry.slice(bytes);
        let content = compressed.and_then(|c| entry.content(c, &mut budget, &mut inflated));
        let go_on = match content {
            Ok(Some(stored)) => sink(&entry.name, Ok(stored)),
            Ok(None) => sink(&entry.name, Ok(&inflated)),
            // Exceeded limits apply to all following files.
            Err(failure @ (ExtractError::Limit { .. } | ExtractError::TooSlow { .. })) => {
                return Err(failure);
            }
            Err(failure) => sink(&entry.name, Err(failure)),
        };
        if !go_on {
            return Ok(());
        }
    }
    listed.cut.map_or(Ok(()), Err)
}

#[cfg(feature = "archive")]
fn walk_tar(
    bytes: &[u8],
    tracker: &LimitTracker<'_>,
    sink: EntrySink<'_>,
) -> Result<(), ExtractError> {
    let mut rest = bytes;
    loop {
        match next_entry(rest)? {
            TarNext::End => return Ok(()),
            TarNext::More { .. } => {
                let at = bytes.len() - rest.len();
                let what = if rest.is_empty() {
                    "the archive ends without its mark: files may be missing".to_owned()
                } else {
                    format!("the archive ends in the entry at byte {at}")
                };
                return Err(ExtractError::damaged(what));
            }
            TarNext::Entry { entry, bytes } => {
                rest = &rest[bytes..];
                if entry.kind == EntryKind::Folder {
                    continue;
                }
                tracker.charge_member()?;
                tracker.check_time()?;
                let content = entry.kind.failure().map_or(Ok(entry.content), Err);
                if !sink(&entry.name, content) {
                    return Ok(());
                }
            }
        }
    }
}
