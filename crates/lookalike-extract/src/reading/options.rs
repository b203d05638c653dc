//! Options and resource limits of extraction.

use crate::reading::error::{ExtractError, LimitKind};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Which text of a web page to extract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum HtmlText {
    /// The main text, without navigation, banners and footers.
    #[default]
    Main,
    /// All visible text.
    All,
}

/// Options of extraction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtractOptions {
    /// Text of web pages.
    pub html: HtmlText,
    /// Keeps the text that a message quotes. Off by default: a reply that quotes a whole message
    /// would resemble that message.
    pub quotes: bool,
    /// Keeps the signatures of a message and the footers of mailing lists. Off by default: short
    /// messages of one list would resemble each other.
    pub signatures: bool,
    /// Extracts the attachments of a message as documents of their own.
    pub attachments: bool,
    /// Resource limits of one file.
    pub limits: Limits,
    /// The worker process for formats whose parsers are not trusted (PDF). Without a worker, these
    /// formats are read in the current process, and a parser that does not terminate cannot be
    /// stopped.
    pub worker: Option<WorkerCommand>,
}

/// The command of a process that calls [`serve`](crate::serve). Each
/// [`Extractor`](crate::Extractor) starts its own process when first needed, and again after a
/// crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

/// Resource limits of one file. Exceeding a limit is an [`ExtractError`] that names the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of a file, other than plain text.
    pub bytes: u64,
    /// Decompressed bytes and bytes of text, in total.
    pub expanded: u64,
    /// Decompressed bytes and bytes of text in memory at a time: a file, the files around it, and
    /// its text. Limits the caller's memory. No limit by default.
    pub held: u64,
    /// Nesting depth of files: an archive in an attachment is at depth 2.
    pub depth: u32,
    /// Files in a file.
    pub members: u32,
    /// Pages of a PDF.
    pub pages: u32,
    /// Time for one file, nested files included.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 256 << 20,
            expanded: 1 << 30,
            held: u64::MAX,
            depth: 8,
            members: 100_000,
            pages: 20_000,
            time: Duration::from_secs(60),
        }
    }
}

/// Bytes of a container, such as an archive, after which the limits of its [`LimitUsage`] are added
/// once more.
const GRANT_BYTES: u64 = 16 << 20;

/// The resource usage of a file, nested files included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LimitUsage {
    /// Time spent reading.
    pub time: Duration,
    /// Expanded bytes, as in [`Limits::expanded`].
    pub expanded: u64,
    /// Files in the file.
    pub members: u32,
}

impl LimitUsage {
    /// The usage that counts at byte `offset` of a container. The limits of time, expanded bytes
    /// and members are added once more for every 16 MiB before `offset`. They therefore bound the
    /// cost of a small file, but not the size of an archive.
    #[must_use]
    pub fn remaining_at(self, offset: u64, limits: &Limits) -> Self {
        let grants = u32::try_from(offset / GRANT_BYTES).unwrap_or(u32::MAX);
        let expanded = limits.expanded.saturating_mul(grants.into());
        Self {
            time: self.time.saturating_sub(limits.time.saturating_mul(grants)),
            expanded: self.expanded.saturating_sub(expanded),
            members: self.members.saturating_sub(limits.members.saturating_mul(grants)),
        }
    }

    /// Adds the difference of two states.
    pub fn add(&mut self, before: Self, after: Self) {
        self.time += after.time.saturating_sub(before.time);
        self.expanded += after.expanded.saturating_sub(before.expanded);
        self.members += after.members.saturating_sub(before.members);
    }

    /// The error for the first limit that is exceeded; `None` if no limit is exceeded.
    pub fn exhausted(&self, limits: &Limits) -> Option<ExtractError> {
        if self.time >= limits.time {
            Some(ExtractError::TooSlow { seconds: limits.time.as_secs() })
        } else if self.expanded > limits.expanded {
            Some(ExtractError::limited(LimitKind::Expanded, limits.expanded))
        } else if self.members > limits.members {
            Some(ExtractError::limited(LimitKind::Members, limits.members))
        } else {
            None
        }
    }
}

impl Limits {
    /// Maximum members of a container of `bytes` bytes.
    pub(crate) fn members_of(&self, bytes: u64) -> u32 {
        let grants = u32::try_from(bytes / GRANT_BYTES).unwrap_or(u32::MAX).saturating_add(1);
        self.members.saturating_mul(grants)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn container_progress_renews_limits() {
        let limits = Limits { expanded: 100, members: 10, ..Limits::default() };
        let used = LimitUsage { time: Duration::from_secs(61), expanded: 101, members: 11 };
        let slow = Some(ExtractError::TooSlow { seconds: 60 });
        assert_eq!(used.remaining_at(GRANT_BYTES - 1, &limits).exhausted(&limits), slow);
        assert_eq!(used.remaining_at(GRANT_BYTES, &limits).exhausted(&limits), None);
        assert_eq!(used.remaining_at(u64::MAX, &limits), LimitUsage::default());
        let bytes = LimitUsage { time: Duration::ZERO, ..used };
        assert_eq!(
            bytes.exhausted(&limits),
            Some(ExtractError::limited(LimitKind::Expanded, 100_u64))
        );
        let members = LimitUsage { members: 11, ..LimitUsage::default() };
        assert_eq!(
            members.exhausted(&limits),
            Some(ExtractError::limited(LimitKind::Members, 10_u64))
        );
    }
}
