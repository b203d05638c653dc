//! The arguments of `lookalike dedup`.

use super::action_args::ActionArgs;
use crate::arguments::options::{RunArgs, SurvivorArgs};
use crate::arguments::parameter_args::{ParameterArgs, ShingleArgs};
use crate::arguments::read_args::ReadArgs;
use lookalike::dedup::DEFAULT_FIELD;
use lookalike::find::{DropList, FindError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const EXAMPLE: &str = "\
Examples:
  lookalike dedup letters/ --dry-run                  lists the changes
  lookalike dedup letters/ --move-to duplicates/      moves the duplicates
  lookalike dedup corpus.jsonl -o unique.jsonl        writes the kept records
  lookalike dedup letters/ -o kept/                   copies the kept files
  zcat a.jsonl.gz | lookalike dedup - -o - | wc -l    reads and writes pipes
  lookalike dedup train.jsonl --reference test.jsonl -o clean.jsonl";

/// Remove near-duplicates: write the rest, or move or link files
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct DedupArgs {
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
    pub(super) drop: DropArgs,

    #[command(flatten)]
    pub(super) result: DedupOutputArgs,

    #[command(flatten)]
    pub(super) reading: ReadArgs,
}

/// The list of documents to leave out, whether or not they resemble others.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Which documents are kept")]
pub(in crate::cmd) struct DropArgs {
    /// Leave out the documents that FILE lists, and compare the others without them. Each line is a
    /// JSON object with id and source, as `contamination --drop` writes it
    #[arg(long, value_name = "FILE")]
    drop: Option<PathBuf>,
}

impl DropArgs {
    /// Reads the list, if the user named one.
    ///
    /// # Errors
    /// The file cannot be read, or a line does not name a document.
    pub(in crate::cmd) fn read(&self) -> Result<Option<Arc<DropList>>, FindError> {
        self.drop.as_deref().map(|path| DropList::read(path).map(Arc::new)).transpose()
    }

    /// Returns the path of the list.
    pub(in crate::cmd) fn path(&self) -> Option<&Path> {
        self.drop.as_deref()
    }
}

/// Output options of `dedup`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(super) struct DedupOutputArgs {
    /// Write the kept documents to OUT, in the format of the input; - is standard output [also .gz,
    /// .zst]. A folder (it exists and is empty, or the name ends in /) gets a file for
    /// each input. Of text files: a folder gets copies, FILE.txt, .csv or .jsonl a list
    #[arg(long, short, value_name = "OUT")]
    pub(super) output: Option<PathBuf>,

    #[command(flatten)]
    pub(super) actions: ActionArgs,

    /// Write all documents, each with its result in members of JSON objects or columns of tables:
    /// `NAME_kept`, `NAME_group`, …. NAME is `lookalike` if it is omitted
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = DEFAULT_FIELD)]
    pub(super) annotate: Option<String>,

    /// List the changes and make none. --removed and --skipped write their files
    #[arg(long)]
    pub(super) dry_run: bool,

    /// List the removed documents in FILE.csv or FILE.jsonl, with keeper and reason
    #[arg(long, value_name = "FILE")]
    pub(super) removed: Option<PathBuf>,

    /// Add the kept documents to the index that is a --reference
    #[arg(long, requires = "reference", conflicts_with = "dry_run")]
    pub(super) add: bool,

    /// Exit with code 3 if duplicates were found
    #[arg(long)]
    pub(super) exit_code: bool,

    #[command(flatten)]
    pub(super) common: SurvivorArgs,

    /// Summary with candidates, comparisons, the time of each stage, and all parameters
    #[arg(long, short, conflicts_with = "quiet")]
    pub(super) verbose: bool,
}
