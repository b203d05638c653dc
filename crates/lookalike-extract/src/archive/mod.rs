//! ZIP and tar archives.

mod entry_kind;
mod inflate;
mod names;
mod tar;
mod zip;

pub use entry_kind::EntryKind;
pub use tar::{TarEntry, TarNext, lone_zeros, next_entry, zero_blocks};
pub use zip::{ZipEntries, ZipEntry, zip_entries};

pub(crate) use zip::list;

use tar::BLOCK;

use crate::reading::{ExtractError, LimitTracker};
use std::io::Cursor;

/// Receives the path of a file in an archive, and its content or error.
pub(crate) type EntrySink<'a, E> =
    &'a mut dyn FnMut(&str, Result<&[u8], ExtractError>) -> Result<(), E>;

/// Sends every file of a ZIP archive, folders excluded, to the sink.
///
/// # Errors
/// The error of the sink. [`ExtractError`] if files may be missing: the archive is truncated or
/// damaged, or a limit is exceeded.
pub(crate) fn walk_zip<E: From<ExtractError>>(
    bytes: &[u8],
    tracker: &LimitTracker<'_>,
    sink: EntrySink<'_, E>,
) -> Result<(), E> {
    let listed = list(Cursor::new(bytes), tracker)?;
    let mut inflated = Vec::new();
    for entry in listed.entries.iter().filter(|entry| entry.kind != EntryKind::Folder) {
        tracker.charge_member()?;
        tracker.check_time()?;
        let compressed = entry.slice(bytes);
        match compressed.and_then(|c| entry.content(c, tracker, &mut inflated)) {
            Ok(Some(stored)) => sink(&entry.name, Ok(stored))?,
            Ok(None) => sink(&entry.name, Ok(&inflated))?,
            // An exceeded limit also rejects all following files.
            Err(failure) if failure.is_limit() => return Err(failure.into()),
            Err(failure) => sink(&entry.name, Err(failure))?,
        }
    }
    listed.cut.map_or(Ok(()), |cut| Err(cut.into()))
}

/// As [`walk_zip`], for a tar archive.
pub(crate) fn walk_tar<E: From<ExtractError>>(
    bytes: &[u8],
    tracker: &LimitTracker<'_>,
    sink: EntrySink<'_, E>,
) -> Result<(), E> {
    let mut rest = bytes;
    let mut damage = None;
    loop {
        match next_entry(rest)? {
            TarNext::End => {
                let zeros = zero_blocks(rest);
                if rest[zeros..].iter().all(|byte| *byte == 0) {
                    return damage.map_or(Ok(()), |damage: ExtractError| Err(damage.into()));
                }
                // Still reads later entries. The error at the end reports that files may be
                // missing.
                if zeros == BLOCK {
                    damage = Some(lone_zeros());
                }
                rest = &rest[zeros..];
            }
            TarNext::More { .. } => {
                let at = bytes.len() - rest.len();
                let message = if rest.is_empty() {
                    "the archive ends without its mark: files may be missing".to_owned()
                } else {
                    format!("the archive ends in the entry at byte {at}")
                };
                return Err(ExtractError::damaged(message).into());
            }
            TarNext::Entry { entry, bytes } => {
                rest = &rest[bytes..];
                if entry.kind != EntryKind::Folder {
                    tracker.charge_member()?;
                    tracker.check_time()?;
                    sink(&entry.name, entry.kind.failure().map_or(Ok(entry.content), Err))?;
                }
            }
        }
    }
}
