//! What text is wanted, and how much a file may cost.

use crate::failure::Failure;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Which text of a web page is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum HtmlText {
    /// The main text, without navigation, banners and footers.
    #[default]
    Main,
    /// All that a reader would see.
    All,
}

/// What text is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Of a web page.
    pub html: HtmlText,
    /// Whether the text that a message quotes belongs to it. By default it does not, since a reply
    /// that quotes all of a message resembles that.
    pub quotes: bool,
    /// Whether the signatures of a message belong to it. Only short tails are cut.
    pub signatures: bool,
    /// Whether the attachments of a message are documents of their own.
    pub attachments: bool,
    /// What a file may cost.
    pub limits: Limits,
    /// Reads formats whose parsers are not trusted (PDF) in a process of its own. Without it they
    /// are read in this one, where no limit holds against a parser that does not end.
    pub worker: Option<WorkerCommand>,
}

/// How to start a process that calls [`serve`](crate::serve): one for each
/// [`Extractor`](crate::Extractor), when the first file needs it, and again when it has died.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerCommand {
    /// The program.
    pub program: PathBuf,
    /// What makes it call `serve`.
    pub arguments: Vec<OsString>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            html: HtmlText::default(),
            quotes: false,
            signatures: true,
            attachments: false,
            limits: Limits::default(),
            worker: None,
        }
    }
}

/// What one file may cost. Beyond it there is a [`Failure`](crate::Failure) that names the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a file that is not plain text.
    pub bytes: u64,
    /// Bytes that all that is compressed in a file may become, and of the text that comes out.
    pub expanded: u64,
    /// How deep files may lie in files: an archive in an attachment is at depth 2.
    pub depth: u32,
    /// Files in a file.
    pub members: u32,
    /// Pages of a PDF.
    pub pages: u32,
    /// Time for one file, with all that is in it.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 256 << 20,
            expanded: 1 << 30,
            depth: 8,
            members: 100_000,
            pages: 20_000,
            time: Duration::from_secs(60),
        }
    }
}

/// Bytes of a container, such as an archive, for which it is granted [`Limits`] once.
const GRANT_BYTES: u64 = 16 << 20;

/// What a file with all that is in it has used of its [`Limits`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Used {
    /// Time spent reading.
    pub time: Duration,
    /// Bytes that were expanded, as [`Limits::expanded`] counts them.
    pub expanded: u64,
    /// Files in the file.
    pub members: u32,
}

impl Used {
    /// What counts of it at byte `offset` of a container. A container is granted its limits once,
    /// and again for every 16 MiB of it, so that they bound what a small file costs and no archive
    /// is too large to be read.
    #[must_use]
    pub fn at(self, offset: u64, limits: &Limits) -> Self {
        let grants = u32::try_from(offset / GRANT_BYTES).unwrap_or(u32::MAX);
        let expanded = limits.expanded.saturating_mul(grants.into());
        Self {
            time: self.time.saturating_sub(limits.time.saturating_mul(grants)),
            expanded: self.expanded.saturating_sub(expanded),
            members: self.members.saturating_sub(limits.members.saturating_mul(grants)),
        }
    }

    /// Adds what was used between two states of another count.
    pub fn add(&mut self, before: Self, after: Self) {
        self.time += after.time.saturating_sub(before.time);
        self.expanded += after.expanded.saturating_sub(before.expanded);
        self.members += after.members.saturating_sub(before.members);
    }

    /// Why there is nothing left of the limits; `None` while there is.
    pub fn exhausted(&self, limits: &Limits) -> Option<Failure> {
        if self.time >= limits.time {
            Some(Failure::TooSlow { seconds: limits.time.as_secs() })
        } else if self.expanded > limits.expanded {
            Some(Failure::expanded(limits.expanded))
        } else if self.members > limits.members {
            Some(Failure::members(limits.members))
        } else {
            None
        }
    }
}

#[cfg(any(feature = "archive", feature = "office"))]
impl Limits {
    /// Members that a container of `bytes` bytes may have.
    pub(crate) fn members_of(&self, bytes: u64) -> u32 {
        let grants = u32::try_from(bytes / GRANT_BYTES).unwrap_or(u32::MAX).saturating_add(1);
        self.members.saturating_mul(grants)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_granted_again_along_a_container() {
        let limits = Limits { expanded: 100, members: 10, ..Limits::default() };
        let used = Used { time: Duration::from_secs(61), expanded: 101, members: 11 };
        let slow = Some(Failure::TooSlow { seconds: 60 });
        assert_eq!(used.at(GRANT_BYTES - 1, &limits).exhausted(&limits), slow);
        assert_eq!(used.at(GRANT_BYTES, &limits).exhausted(&limits), None);
        assert_eq!(used.at(u64::MAX, &limits), Used::default());
        let bytes = Used { time: Duration::ZERO, ..used };
        assert_eq!(bytes.exhausted(&limits), Some(Failure::expanded(100)));
        let members = Used { members: 11, ..Used::default() };
        assert_eq!(members.exhausted(&limits), Some(Failure::members(10)));
    }
}
