//! The arguments of `lookalike query`.

use crate::arguments::parameter_args::threshold;
use crate::arguments::read_args::InputArgs;
use crate::cmd::index::PlaceArgs;
use lookalike::store::filter::MetadataFilter;
use std::num::NonZeroUsize;
use std::path::PathBuf;

const EXAMPLE: &str = "\
Examples:
  lookalike query news draft.txt                   documents that resemble it
  lookalike query news draft.txt --nearest 5       the five most similar ones
  lookalike query news --id 4711 --threshold 0.5   for a document of the index
  pbpaste | lookalike query news -                 for a text on standard input
  lookalike query news new.jsonl --json --filter language=en";

/// Find the documents of an index that resemble a text
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the command line")]
pub(crate) struct QueryArgs {
    #[command(flatten)]
    pub(super) place: PlaceArgs,

    /// Query documents: files or folders, a document in a file by its id (a.zip/x.txt), or - for a
    /// text on standard input
    #[arg(value_name = "DOC")]
    pub(super) documents: Vec<PathBuf>,

    /// Use the document of the index with this id as a query; may be repeated
    #[arg(long, value_name = "ID")]
    pub(super) id: Vec<String>,

    /// Least similarity of a match: above 0, at most 1 [default: threshold of the index]
    #[arg(long, short, value_name = "J", value_parser = threshold)]
    #[arg(allow_negative_numbers = true)]
    pub(super) threshold: Option<f64>,

    /// Show the N most similar matches of each document, 0 for all
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(super) top: usize,

    /// Find the N most similar documents at any similarity; reads all signatures
    #[arg(long, value_name = "N", conflicts_with_all = ["threshold", "top"])]
    #[arg(value_parser = nearest)]
    pub(super) nearest: Option<NonZeroUsize>,

    /// Condition on the metadata of matches, such as language=en, year>=2020 or title~budget; may
    /// be repeated
    #[arg(long, value_name = "CONDITION")]
    pub(super) filter: Vec<MetadataFilter>,

    /// Show the texts of matches, if the index stores them
    #[arg(long)]
    pub(super) text: bool,

    /// Print JSON: one line with one object for each query document
    #[arg(long)]
    pub(super) json: bool,

    /// Exit with code 3 if a match was found and no bad record was left out
    #[arg(long)]
    pub(super) exit_code: bool,

    /// Print matches only
    #[arg(long, short)]
    pub(super) quiet: bool,

    #[command(flatten)]
    pub(super) reading: InputArgs,
}

fn nearest(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "expected a whole number from 1, such as 5".to_owned())
}
