//! The arguments of `lookalike find`.

use super::audit::AuditSampleArgs;
use crate::arguments::options::{CsvArgs, RunArgs, WholeRunArgs};
use crate::arguments::parameter_args::{ParameterArgs, ShingleArgs};
use crate::arguments::read_args::ReadArgs;
use std::path::PathBuf;

const EXAMPLE: &str = "\
Examples:
  lookalike find letters/              groups of similar files in a folder
  lookalike find corpus.jsonl -o groups.jsonl --pairs pairs.csv
  lookalike find corpus.jsonl --report report.html --audit 2000
  zcat posts.gz | lookalike find - --format lines --threshold 0.6";

/// Find groups of near-duplicates
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct FindArgs {
    /// Files, folders, or - for standard input
    #[arg(required_unless_present = "files_from", value_name = "INPUT")]
    pub(super) inputs: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) parameters: ParameterArgs,

    #[command(flatten)]
    pub(super) shingle: ShingleArgs,

    #[command(flatten)]
    pub(super) run: RunArgs,

    #[command(flatten)]
    pub(super) result: FindOutputArgs,

    /// Write only the pairs with a document of --reference to the file of --pairs
    #[arg(long, requires = "pairs", requires = "reference", help_heading = "Output")]
    pub(super) reference_pairs: bool,

    #[command(flatten)]
    pub(super) audit: AuditSampleArgs,

    #[command(flatten)]
    pub(super) reading: ReadArgs,
}

/// Output options of `find`, `index groups` and `shard finish`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(in crate::cmd) struct FindOutputArgs {
    /// Write groups to FILE.jsonl, FILE.csv or FILE.parquet; without it, a table is printed. JSONL
    /// and CSV also as .gz or .zst
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    #[arg(long, value_name = "FILE")]
    #[arg(help = "Write all verified pairs to FILE.csv or FILE.parquet instead of the table; \
               columns: id_a,id_b,jaccard")]
    pub(super) pairs: Option<PathBuf>,

    /// Add to the pairs what the MinHash signatures estimate, the error of the estimate, and its
    /// standard error
    #[arg(long, requires = "pairs")]
    pub(super) estimates: bool,

    /// List files that were not read, with reasons, and empty documents in FILE.csv
    #[arg(long, value_name = "FILE")]
    pub(super) skipped: Option<PathBuf>,

    #[command(flatten)]
    pub(super) csv: CsvArgs,

    #[command(flatten)]
    pub(super) whole_run: WholeRunArgs,

    /// Show at most N groups, 0 shows all [default: 50 on a terminal, else all]
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<usize>,

    /// Exit with code 3 if duplicates were found
    #[arg(long)]
    pub(super) exit_code: bool,

    /// Print no summary and no progress; skipped files are still listed
    #[arg(long, short)]
    pub(super) quiet: bool,

    /// Summary with candidates, comparisons, the time of each stage, and all parameters
    #[arg(long, short, conflicts_with = "quiet")]
    pub(super) verbose: bool,
}
