//! The arguments of `lookalike dedup`.

use super::action_args::ActionArgs;
use super::cut_args::CutArgs;
use crate::arguments::options::{CsvArgs, RunArgs};
use crate::arguments::parameter_args::{ParameterArgs, ShingleArgs};
use crate::arguments::read_args::ReadArgs;
use lookalike::dedup::DEFAULT_FIELD;
use lookalike::find::{DropList, FindError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const EXAMPLE: &str = "\
Examples:
  lookalike dedup corpus.jsonl -o unique.jsonl            records, unchanged
  lookalike dedup letters/ -o kept/                       copies of the files that stay
  lookalike dedup letters/ --move-to duplicates/          the files that go, moved
  zcat a.jsonl.gz | lookalike dedup - -o - | wc -l        from one program to another
  lookalike dedup a.csv b.csv --dry-run                   what would go from each
  lookalike dedup corpus.jsonl --passages -o cut.jsonl    repeated passages cut out
  lookalike dedup train.jsonl --reference test.jsonl -o clean.jsonl";

/// The inputs without their near-duplicates, in their own format
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
    pub(super) cut: CutArgs,

    #[command(flatten)]
    pub(super) run: RunArgs,

    #[command(flatten)]
    pub(super) drop: DropArgs,

    #[command(flatten)]
    pub(super) result: DedupOutputArgs,

    #[command(flatten)]
    pub(super) reading: ReadArgs,
}

/// Documents that go whatever they resemble.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Keep order and resources")]
pub(super) struct DropArgs {
    /// Leave out the documents that FILE names, as `contamination --drop` writes it: a JSON object
    /// with id and source per line; the others are compared as if these were not there
    #[arg(long, value_name = "FILE", conflicts_with_all = ["move_to", "link", "script"])]
    drop: Option<PathBuf>,
}

impl DropArgs {
    /// The list, if one is named.
    ///
    /// # Errors
    /// A file that cannot be read, or has lines that name no document.
    pub(super) fn read(&self) -> Result<Option<Arc<DropList>>, FindError> {
        self.drop.as_deref().map(|path| DropList::read(path).map(Arc::new)).transpose()
    }

    /// The file.
    pub(super) fn path(&self) -> Option<&Path> {
        self.drop.as_deref()
    }
}

/// What is made of it.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(super) struct DedupOutputArgs {
    /// Write the documents that stay to OUT, in the format of the input [also .gz, .zst]; - is
    /// standard output. A folder (it exists and is empty, or the name ends in /) gets a file for
    /// each input. Of text files: a folder gets copies, FILE.txt, .csv or .jsonl a list
    #[arg(long, short, value_name = "OUT")]
    #[arg(required_unless_present_any = ["dry_run", "move_to", "script", "link", "removed", "add"])]
    pub(super) output: Option<PathBuf>,

    /// Copy documents only to a folder OUT; everything else in the inputs is copied as well
    /// otherwise: pictures, scans, hidden files, links
    #[arg(long, requires = "output")]
    pub(super) documents_only: bool,

    #[command(flatten)]
    pub(super) actions: ActionArgs,

    /// Write all documents, each with its result in members of JSON objects or columns of tables;
    /// with --passages each with its repeated passages, and nothing is cut
    #[arg(long)]
    pub(super) annotate: bool,

    /// The beginning of the names of those members and columns: `NAME_kept`, `NAME_group`, …
    #[arg(long, value_name = "NAME", default_value = DEFAULT_FIELD, requires = "annotate")]
    pub(super) annotate_field: String,

    /// Write nothing; print how much of each source would go
    #[arg(long, conflicts_with_all = ["removed", "skipped"])]
    pub(super) dry_run: bool,

    /// Write the documents that go to FILE.csv or FILE.jsonl, with what stays for them and why;
    /// with --passages the parts of texts that go
    #[arg(long, value_name = "FILE")]
    pub(super) removed: Option<PathBuf>,

    /// Add the documents that stay to the index that is a --reference
    #[arg(long, requires = "reference", conflicts_with_all = ["dry_run", "passages"])]
    pub(super) add: bool,

    /// Write what was not read, and why, and the empty documents to FILE.csv
    #[arg(long, value_name = "FILE")]
    pub(super) skipped: Option<PathBuf>,

    #[command(flatten)]
    pub(super) csv: CsvArgs,

    /// End with 3 when duplicates were found
    #[arg(long)]
    pub(super) exit_code: bool,

    /// No summary and no progress; what was skipped, and warnings, are still printed
    #[arg(long, short)]
    pub(super) quiet: bool,

    /// Summary with candidates, comparisons, the time of each stage, and all parameters
    #[arg(long, short, conflicts_with = "quiet")]
    pub(super) verbose: bool,
}
