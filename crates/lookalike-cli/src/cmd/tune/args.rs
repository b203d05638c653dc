//! The arguments of `lookalike tune`.

use crate::arguments::parameter_args::{ParameterArgs, ShingleArgs};
use crate::arguments::read_args::ReadArgs;
use lookalike::core::params::ShingleRule;
use lookalike::tune::SAMPLE_DOCUMENTS;
use std::path::PathBuf;

const EXAMPLE: &str = "\
Examples:
  lookalike tune --threshold 0.7 --recall 0.95    what `find` would choose
  lookalike tune corpus.jsonl --svg curve.svg     for these documents";

/// Choose shingles, bands and rows, by a sample of the documents
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct TuneArgs {
    /// Documents to measure, as for `find`; without any, the cost is for newswire articles
    pub(super) inputs: Vec<PathBuf>,

    /// Documents to draw from the input
    #[arg(long, value_name = "N", default_value_t = SAMPLE_DOCUMENTS as u64)]
    #[arg(value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    pub(super) sample: u64,

    /// Documents of the collection to plan for [default: the number of the input, or a million]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..))]
    pub(super) documents: Option<u64>,

    /// Shingles to measure, such as words:3,words:5,chars:9 [default: ten usual ones]
    #[arg(long = "try", value_name = "UNIT:N", value_delimiter = ',')]
    pub(super) tried: Vec<ShingleRule>,

    /// Write the S-curve as a picture
    #[arg(long, value_name = "FILE")]
    pub(super) svg: Option<PathBuf>,

    /// Draw with ASCII characters only
    #[arg(long)]
    pub(super) ascii: bool,

    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,

    #[command(flatten)]
    pub(super) parameters: ParameterArgs,

    #[command(flatten)]
    pub(super) shingle: ShingleArgs,

    #[command(flatten)]
    pub(super) reading: ReadArgs,
}
