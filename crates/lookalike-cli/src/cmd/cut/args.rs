//! The arguments of `lookalike cut`.

use super::rule_args::CutRuleArgs;
use crate::arguments::options::{OrderArgs, ResumeArgs, SurvivorArgs, WorkArgs};
use crate::arguments::parameter_args::WordArgs;
use crate::arguments::read_args::ReadArgs;
use crate::cmd::CommandError;
use crate::cmd::dedup::{DropArgs, survivor_outputs};
use lookalike::dedup::DEFAULT_FIELD;
use lookalike::request::DedupOutputs;
use std::path::{Path, PathBuf};

const EXAMPLE: &str = "\
Examples:
  lookalike cut corpus.jsonl --dry-run                  lists how much is cut
  lookalike cut corpus.jsonl -o cut.jsonl               the first place stays
  lookalike cut corpus.jsonl --at line -o cut.jsonl     whole lines
  lookalike cut pages.jsonl --min-words 8 --per-source -o cut.jsonl";

/// Cut repeated passages out of documents
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct CutArgs {
    /// Files, folders, or - for standard input
    #[arg(required_unless_present = "files_from", value_name = "INPUT")]
    pub(super) inputs: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) rule: CutRuleArgs,

    #[command(flatten)]
    pub(super) words: WordArgs,

    #[command(flatten)]
    pub(super) order: OrderArgs,

    /// Files, folders or indexes whose documents always stay whole
    #[arg(long, value_name = "INPUT", help_heading = "Which documents are kept")]
    pub(super) reference: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) drop: DropArgs,

    #[command(flatten)]
    pub(super) work: WorkArgs,

    #[command(flatten)]
    pub(super) resume: ResumeArgs,

    #[command(flatten)]
    pub(super) result: CutOutputArgs,

    #[command(flatten)]
    pub(super) reading: ReadArgs,
}

/// The outputs of the command.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(super) struct CutOutputArgs {
    /// Write the documents to OUT, in the format of the input; - is standard output [also .gz,
    /// .zst]. A folder (it exists and is empty, or the name ends in /) gets a file for each input
    #[arg(long, short, value_name = "OUT")]
    #[arg(required_unless_present_any = ["dry_run", "removed"])]
    pub(super) output: Option<PathBuf>,

    /// Write all documents uncut, each with its repeated passages in members of JSON objects or
    /// columns of tables: `NAME_kept`, `NAME_passages`, …. NAME is `lookalike` if it is omitted
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = DEFAULT_FIELD)]
    pub(super) annotate: Option<String>,

    /// Show how many words of each source would be cut, and write no document
    #[arg(long)]
    pub(super) dry_run: bool,

    /// List the cut parts of texts in FILE.csv or FILE.jsonl
    #[arg(long, value_name = "FILE")]
    pub(super) removed: Option<PathBuf>,

    /// Exit with code 3 if words were cut
    #[arg(long)]
    pub(super) exit_code: bool,

    #[command(flatten)]
    pub(super) common: SurvivorArgs,
}

impl CutOutputArgs {
    /// Returns the outputs, and checks the formats of the lists.
    pub(super) fn outputs(&self) -> Result<DedupOutputs, CommandError> {
        let outputs = survivor_outputs(&self.common, self.removed.as_deref())?;
        let survivors = self.output.clone();
        Ok(DedupOutputs { survivors, annotate: self.annotate.clone(), ..outputs })
    }

    /// Returns the paths of all output files and folders.
    pub(super) fn written_paths(&self) -> impl Iterator<Item = &Path> {
        [&self.removed, &self.common.skipped, &self.output]
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
    }
}
