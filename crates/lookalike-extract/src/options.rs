//! What text is wanted, and how much a file may cost.

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
    /// Whether the text that a message quotes belongs to it.
    pub quotes: bool,
    /// Whether the signature below a message belongs to it.
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
            quotes: true,
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
