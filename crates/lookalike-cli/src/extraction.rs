//! What is taken from web pages, mail, PDF and office files, and what they may cost.

use crate::cmd::{self, CommandResult};
use crate::exit_code::ExitCode;
use clap::{Args, ValueEnum};
use lookalike::core::parameter::NamesParameters;
use lookalike::extract::{self, ExtractOptions, HtmlText, Limits, WorkerCommand};
use lookalike::find::parse_memory;
use lookalike::report::option_name;
use std::time::Duration;

/// The hidden command by which this program reads files for itself, in a process of its own.
pub const WORKER: &str = "extract-worker";

/// How that process is started; without it, files are read in this one.
pub(crate) type WorkerOption<'a> = Option<&'a WorkerCommand>;

/// How files that are not plain text are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is taken from web pages, mail, PDF and office files")]
pub(crate) struct ExtractArgs {
    /// Web pages: `main` leaves out navigation, banners and footers; `all` is all that is shown
    #[arg(long, value_enum, value_name = "TEXT", default_value = "main")]
    html: Html,

    /// Mail: whether the text of other messages that one quotes belongs to it; with `keep`, a reply
    /// that quotes all of a message makes that a duplicate
    #[arg(long, value_enum, value_name = "WHAT", default_value = "cut")]
    quotes: Keep,

    /// Mail: whether the signature below belongs to the text; `cut` leaves out short tails only
    #[arg(
        long,
        visible_alias = "mail-signatures",
        value_enum,
        value_name = "WHAT",
        default_value = "keep"
    )]
    signatures: Keep,

    /// Mail: attachments are documents of their own
    #[arg(long)]
    attachments: bool,

    /// The largest file that is not plain text
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = size)]
    max_file_size: u64,

    /// Maximum size of a file's decompressed content, and of its text [default: 1GiB; of compressed
    /// files of records, of each record]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_expanded: Option<u64>,

    /// Levels of files in files: an archive in an attachment is at the second
    #[arg(long, value_name = "N", default_value_t = Limits::default().depth)]
    max_depth: u32,

    /// Files in a file: members of archives, messages of mailboxes, pages of crawls, attachments;
    /// again for every 16 MiB of it
    #[arg(long, value_name = "N", default_value_t = Limits::default().members)]
    max_members: u32,

    /// Pages of a PDF
    #[arg(long, value_name = "N", default_value_t = Limits::default().pages)]
    max_pages: u32,

    /// Seconds to decompress one file, and to extract texts from the web pages, mail, PDF, office
    /// files and archives in it; again for every 16 MiB of it
    #[arg(long, value_name = "N", default_value_t = Limits::default().time.as_secs())]
    max_seconds: u64,
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
        self.max_expanded
    }

    /// What the readers take.
    pub(crate) fn options(&self, worker: WorkerOption<'_>) -> ExtractOptions {
        ExtractOptions {
            html: match self.html {
                Html::Main => HtmlText::Main,
                Html::All => HtmlText::All,
            },
            quotes: self.quotes == Keep::Keep,
            signatures: self.signatures == Keep::Keep,
            attachments: self.attachments,
            limits: Limits {
                bytes: self.max_file_size,
                expanded: self.max_expanded.unwrap_or(Limits::default().expanded),
                depth: self.max_depth,
                members: self.max_members,
                pages: self.max_pages,
                time: Duration::from_secs(self.max_seconds),
                ..Limits::default()
            },
            worker: worker.cloned(),
        }
    }
}

/// Reads what the process that started this one sends.
pub(crate) fn serve() -> CommandResult {
    extract::serve().map_err(cmd::CommandError::Print)?;
    Ok(ExitCode::SUCCESS)
}

/// A number of bytes, such as 512MiB.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    parse_memory(text).map_err(|error| error.spelled(option_name))
}
