//! The arguments of `lookalike passages`.

use crate::arguments::options::{CsvArgs, OrderArgs, ResumeArgs, WholeRunArgs, WorkArgs};
use crate::arguments::parameter_args::WordArgs;
use crate::arguments::read_args::ReadArgs;
use lookalike::passages::DEFAULT_WORDS;
use std::path::PathBuf;

const EXAMPLE: &str = "\
Examples:
  lookalike passages corpus.jsonl                   a table of passages
  lookalike passages corpus.jsonl -o places.jsonl   every place, with offsets
  lookalike passages mail/ --min-words 15 --report repeated.html";

/// Find passages that documents repeat
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct PassagesArgs {
    /// Files, folders, or - for standard input
    #[arg(required_unless_present = "files_from", value_name = "INPUT")]
    pub(super) inputs: Vec<PathBuf>,

    /// Words of the shortest passage, 2 or more
    #[arg(long, value_name = "N", default_value_t = DEFAULT_WORDS)]
    #[arg(help_heading = "Comparison")]
    pub(super) min_words: usize,

    #[command(flatten)]
    pub(super) words: WordArgs,

    #[command(flatten)]
    pub(super) order: OrderArgs,

    #[command(flatten)]
    pub(super) work: WorkArgs,

    #[command(flatten)]
    pub(super) resume: ResumeArgs,

    #[command(flatten)]
    pub(super) result: PassagesOutputArgs,

    #[command(flatten)]
    pub(super) reading: ReadArgs,
}

/// Output options of `passages`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(super) struct PassagesOutputArgs {
    /// Write all places to FILE.jsonl, FILE.csv or FILE.parquet; without it, a table is printed.
    /// JSONL and CSV also as .gz or .zst
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    #[command(flatten)]
    pub(super) csv: CsvArgs,

    #[command(flatten)]
    pub(super) whole_run: WholeRunArgs,

    /// Show at most N passages, 0 for all [default: 50 on a terminal, else all]
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<usize>,

    /// Exit with code 3 if passages were found
    #[arg(long)]
    pub(super) exit_code: bool,

    /// Print no summary and no progress; skipped files are still listed
    #[arg(long, short)]
    pub(super) quiet: bool,
}
