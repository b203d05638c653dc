//! Options for web pages, mail, PDF and office files: the texts to extract, and resource limits.

use crate::cmd::{self, CommandResult};
use crate::exit_code::ExitCode;
use clap::{Args, ValueEnum};
use lookalike::core::parameter::NamesParameters;
use lookalike::extract::{self, ExtractOptions, HtmlText, Limits, WorkerCommand};
use lookalike::find::parse_memory;
use lookalike::report::option_name;
use std::time::Duration;

/// The hidden command with which this program starts itself to read files in another process.
pub const WORKER: &str = "extract-worker";

/// The command that starts the process [`WORKER`]. Without it, this process reads the files.
pub(crate) type WorkerOption<'a> = Option<&'a WorkerCommand>;

/// How files that are not plain text are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Web pages, mail, PDF and office files")]
pub(crate) struct ExtractArgs {
    /// Web pages: `main` leaves out navigation, banners and footers; `all` keeps all visible text
    #[arg(long, value_enum, value_name = "TEXT", default_value = "main")]
    html: Html,

    /// Mail: whether the text of a message includes the text that it quotes. With `keep`, a short
    /// reply resembles the message that it quotes in full
    #[arg(long, value_enum, value_name = "WHAT", default_value = "cut")]
    quotes: Keep,

    /// Mail: whether signatures and footers of mailing lists belong to the text; `cut` leaves out
    /// short ones. With `keep`, short messages of one list resemble each other
    #[arg(long, value_enum, value_name = "WHAT", default_value = "cut")]
    mail_signatures: Keep,

    /// Mail: attachments are documents of their own
    #[arg(long)]
    attachments: bool,

    /// Limits on one file, such as `--max pages=500`; may be repeated. Names and defaults:
    /// file-size=256MiB (not for plain text), expanded=1GiB (decompressed content and its text; in
    /// files of records, for each record), depth=8 (files in files), members=100000 (files in a
    /// file), pages=20000 (of a PDF), seconds=60 (to decompress a file, and again to extract its
    /// texts). In archives, mailboxes and crawls, `members` and `seconds` apply to each 16 MiB
    #[arg(long = "max", value_name = "NAME=VALUE", value_parser = limit)]
    limits: Vec<FileLimit>,
}

/// A limit on the resources that one file may take.
#[derive(Debug, Clone, Copy)]
enum FileLimit {
    Size(u64),
    Expanded(u64),
    Depth(u32),
    Members(u32),
    Pages(u32),
    Seconds(u64),
}

/// The value of `--max`.
fn limit(text: &str) -> Result<FileLimit, String> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let wrong = |_| format!("expected a whole number after {name}=, got {value:?}");
    let number = || value.parse().map_err(wrong);
    match name {
        "file-size" => size(value).map(FileLimit::Size),
        "expanded" => size(value).map(FileLimit::Expanded),
        "depth" => number().map(FileLimit::Depth),
        "members" => number().map(FileLimit::Members),
        "pages" => number().map(FileLimit::Pages),
        "seconds" => value.parse().map(FileLimit::Seconds).map_err(wrong),
        _ => Err("expected file-size, expanded, depth, members, pages or seconds, with =VALUE \
                  after it"
            .to_owned()),
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Html {
    Main,
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Keep {
    Keep,
    Cut,
}

impl ExtractArgs {
    /// The maximum size of a decompressed file of records.
    pub(crate) fn max_expanded(&self) -> Option<u64> {
        self.limits.iter().rev().find_map(|limit| match limit {
            FileLimit::Expanded(bytes) => Some(*bytes),
            _ => None,
        })
    }

    fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        for limit in &self.limits {
            match *limit {
                FileLimit::Size(bytes) => limits.bytes = bytes,
                FileLimit::Expanded(bytes) => limits.expanded = bytes,
                FileLimit::Depth(levels) => limits.depth = levels,
                FileLimit::Members(members) => limits.members = members,
                FileLimit::Pages(pages) => limits.pages = pages,
                FileLimit::Seconds(seconds) => limits.time = Duration::from_secs(seconds),
            }
        }
        limits
    }

    /// Returns the options of the readers.
    pub(crate) fn options(&self, worker: WorkerOption<'_>) -> ExtractOptions {
        ExtractOptions {
            html: match self.html {
                Html::Main => HtmlText::Main,
                Html::All => HtmlText::All,
            },
            quotes: self.quotes == Keep::Keep,
            signatures: self.mail_signatures == Keep::Keep,
            attachments: self.attachments,
            limits: self.limits(),
            worker: worker.cloned(),
        }
    }
}

/// Reads the files that the parent process sends.
pub(crate) fn serve() -> CommandResult {
    extract::serve().map_err(cmd::CommandError::Print)?;
    Ok(ExitCode::SUCCESS)
}

/// A number of bytes, such as 512MiB.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    parse_memory(text).map_err(|error| error.spelled(option_name))
}
