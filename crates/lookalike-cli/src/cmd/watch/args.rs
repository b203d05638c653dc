//! The options of `watch`.

use crate::arguments::duration::patience;
use crate::arguments::parameter_args::threshold;
use crate::arguments::read_args::{InputArgs, UnitArgs};
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLE: &str = "\
Examples:
  lookalike index create news --store originals
  lookalike watch inbox/ --index news
  lookalike watch inbox/ --index news --feed matches.xml
  lookalike watch inbox/ --index news --once --json    only the present files

docs/guides/watch.md describes reports, webhooks and feeds.

The command first adds the present files, except documents that the index already has. The index \
keeps the documents of deleted files: `lookalike index remove` removes them. If the folder itself \
disappears, a message says so, and the command continues when the folder is back. Ctrl-C ends it \
with exit code 0.";

/// Add new files of a folder to an index, and report their matches
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct WatchArgs {
    /// The folder
    #[arg(value_name = "FOLDER")]
    pub(super) folder: PathBuf,

    /// The index: a folder, or postgres://… if `lookalike --version` lists PostgreSQL
    #[arg(long, short, value_name = "INDEX")]
    pub(super) index: String,

    /// Least reported similarity: above 0, at most 1 [default: threshold of the index]
    #[arg(long, short, value_name = "J", value_parser = threshold)]
    #[arg(allow_negative_numbers = true)]
    pub(super) threshold: Option<f64>,

    /// Report at most N similar documents for each new one, the most similar first
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(super) top: usize,

    /// Add the present files, and exit
    #[arg(long)]
    pub(super) once: bool,

    /// How long a file must be unchanged before it is read, such as 500ms or 5s
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = patience)]
    pub(super) settle: Duration,

    /// How long to wait for another process that writes to the index before printing a message
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = patience)]
    pub(super) wait: Duration,

    #[command(flatten)]
    pub(super) output: OutputArgs,

    #[command(flatten)]
    pub(super) unit: UnitArgs,

    #[command(flatten)]
    pub(super) reading: InputArgs,
}

/// Where reports go.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputArgs {
    /// Print each document as a JSON object on a line
    #[arg(long)]
    pub(super) json: bool,

    /// No messages about the work itself; reports and errors are printed
    #[arg(long, short)]
    pub(super) quiet: bool,

    /// Send each document that resembles another one to this address, as a POST of JSON
    #[arg(long, value_name = "URL")]
    pub(super) webhook: Option<String>,

    /// Keep an Atom feed in FILE, with an entry for each document that resembles another one
    #[arg(long, value_name = "FILE")]
    pub(super) feed: Option<PathBuf>,
}
