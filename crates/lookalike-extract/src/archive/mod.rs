//! ZIP and tar archives: their files one after the other, held in memory or read piece by piece.

mod inflate;
mod names;
#[cfg(feature = "archive")]
mod tar;
mod zip;

#[cfg(feature = "archive")]
pub use tar::{TarEntry, TarNext, next_entry};
pub use zip::{ZipEntries, ZipEntry, zip_entries, zip_entries_within};

pub(crate) use inflate::Budget;
pub(crate) use zip::{Bounds, list};

use crate::failure::Failure;
#[cfg(feature = "archive")]
use crate::{job::Job, kind::Kind};
#[cfg(feature = "archive")]
use std::io::Cursor;

/// What an entry of an archive is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// Has content.
    File,
    /// Holds others.
    Folder,
    /// Stands for another one.
    Link,
    /// A device, a pipe or a socket.
    Device,
    /// A file of which only the parts that are not zero were stored.
    Sparse,
    /// Something that only some programs know.
    Other,
}

impl EntryKind {
    /// Why there is no content. Folders are no failures.
    pub fn failure(self) -> Option<Failure> {
        let kind = match self {
            Self::File | Self::Folder => return None,
            Self::Link => "a link",
            Self::Device => "a device",
            Self::Sparse => "a sparse file in a tar archive",
            Self::Other => "an entry of an unknown type in a tar archive",
        };
        Some(Failure::Unsupported { kind: kind.to_owned() })
    }
}

/// Takes the name of a file of an archive, and its content or why that cannot be had. `false`
/// ends the walk.
#[cfg(feature = "archive")]
pub(crate) type Give<'a> = &'a mut dyn FnMut(&str, Result<&[u8], Failure>) -> bool;

/// Gives every file of an archive: its name in it, with `/` between, and its content or why that
/// cannot be had. Folders are left out. An error means that there may be more files than given:
/// the archive is cut off or damaged there, or a limit was reached.
#[cfg(feature = "archive")]
pub(crate) fn walk(kind: Kind, bytes: &[u8], job: &Job<'_>, give: Give<'_>) -> Result<(), Failure> {
    match kind {
        Kind::Zip => walk_zip(bytes, job, give),
        Kind::Tar => walk_tar(bytes, job, give),
        other => Err(Failure::Unsupported { kind: other.name().to_owned() }),
    }
}

#[cfg(feature = "archive")]
fn walk_zip(bytes: &[u8], job: &Job<'_>, give: Give<'_>) -> Result<(), Failure> {
    let bounds = Bounds { members: job.options.limits.members, in_time: &|| job.in_time() };
    let listed = list(Cursor::new(bytes), &bounds)?;
    let mut inflated = Vec::new();
    let mut budget = Budget::Job(job);
    for entry in &listed.entries {
        if entry.kind == EntryKind::Folder {
            continue;
        }
        job.member()?;
        job.in_time()?;
        let compressed = entry.slice(bytes);
        let content = compressed.and_then(|c| entry.content(c, &mut budget, &mut inflated));
        let go_on = match content {
            Ok(Some(stored)) => give(&entry.name, Ok(stored)),
            Ok(None) => give(&entry.name, Ok(&inflated)),
            // Nothing else can come out, either.
            Err(failure @ (Failure::Limit { .. } | Failure::TooSlow { .. })) => {
                return Err(failure);
            }
            Err(failure) => give(&entry.name, Err(failure)),
        };
        if !go_on {
            return Ok(());
        }
    }
    listed.cut.map_or(Ok(()), Err)
}

#[cfg(feature = "archive")]
fn walk_tar(bytes: &[u8], job: &Job<'_>, give: Give<'_>) -> Result<(), Failure> {
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
                return Err(Failure::damaged(what));
            }
            TarNext::Entry { entry, bytes } => {
                rest = &rest[bytes..];
                if entry.kind == EntryKind::Folder {
                    continue;
                }
                job.member()?;
                job.in_time()?;
                let content = entry.kind.failure().map_or(Ok(entry.content), Err);
                if !give(&entry.name, content) {
                    return Ok(());
                }
            }
        }
    }
}
