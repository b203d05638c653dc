//! `lookalike index groups INDEX`: the near-duplicates among the documents of an index.

use super::open::PlaceArgs;
use crate::arguments::decision_args::DecisionArgs;
use crate::arguments::options::{KeepArgs, WorkArgs};
use crate::arguments::parameter_args::{recall, threshold};
use crate::cmd::find::FindOutputArgs;
use crate::cmd::find::targets::FindTargets;
use crate::cmd::{CommandError, CommandResult};
use crate::output::progress_bar::StageBar;
use lookalike::core::params::Measure;
use lookalike::decisions::{self, Decisions};
use lookalike::index::time;
use lookalike::index::{self, GroupingOptions, params_for};
use lookalike::store::Index;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

const EXAMPLE: &str = "\
Examples:
  lookalike index groups news
  lookalike index groups news --threshold 0.6 -o groups.csv
  lookalike index groups news --keep newest --report groups.html";

/// The help of `--keep`: an index does not record whether its ids are paths of files.
const KEEP: &str = "\
Which document of a group is kept [default: longest]. If ids are paths of files, `--keep name \
--keep longest` keeps the documents that `find` and `dedup` keep. Rules: name (of the id: final \
versions before copies, drafts and old versions), longest, shortest, first or last (put), newest, \
oldest, field:NAME (its highest value; field:NAME:asc the lowest), path:GLOB (an id that matches \
it). Repeat --keep: the first rule that distinguishes two documents decides";

/// Find groups of near-duplicates in an index
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
#[command(mut_arg("keep", |keep| keep.help(KEEP)))]
pub(super) struct GroupsArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// Report pairs with similarity J or more; J is above 0 and at most 1 [default: threshold of
    /// the index]
    #[arg(long, short, value_name = "J", value_parser = threshold)]
    #[arg(allow_negative_numbers = true)]
    #[arg(help_heading = "Similarity and recall")]
    threshold: Option<f64>,

    /// Minimum share of the pairs at the threshold that the run is predicted to find; above 0,
    /// below 1 [default: recall of the index]
    #[arg(long, value_name = "SHARE", value_parser = recall)]
    #[arg(allow_negative_numbers = true)]
    #[arg(help_heading = "Similarity and recall")]
    recall: Option<f64>,

    /// `jaccard`: shared shingles among all of both; `containment`: among the shingles of the
    /// shorter, which finds an excerpt inside a longer text [default: measure of the index]
    #[arg(long, value_name = "WHAT")]
    #[arg(help_heading = "Similarity and recall")]
    measure: Option<Measure>,

    /// Find every pair (slower, with more memory). Compares documents that share rare shingles
    /// instead of documents that share bands
    #[arg(long)]
    #[arg(help_heading = "Similarity and recall")]
    exact: bool,

    #[command(flatten)]
    keep: KeepArgs,

    #[command(flatten)]
    decisions: DecisionArgs,

    /// Do not apply the decisions of the index
    #[arg(long, conflicts_with = "decisions")]
    #[arg(help_heading = "Which documents are kept")]
    no_decisions: bool,

    #[command(flatten)]
    work: WorkArgs,

    #[command(flatten)]
    result: FindOutputArgs,
}

impl GroupsArgs {
    /// Returns the decisions of `--decisions`, or else the decisions stored in the index. Returns
    /// `None` with `--no-decisions`, or if the index has no decisions.
    fn decisions(&self, index: &Index) -> Result<Option<Arc<Decisions>>, CommandError> {
        let named = self.decisions.read()?;
        if named.is_some() || self.no_decisions {
            return Ok(named);
        }
        let own = decisions::of_index(index, 0)?;
        Ok((!own.is_empty()).then(|| Arc::new(Decisions::new(own))))
    }
}

/// Runs the command.
pub(super) fn run(args: &GroupsArgs) -> CommandResult {
    let start = Instant::now();
    let mut targets = FindTargets::new(&args.result)?;
    targets.refuse_taken(&[], &[])?;
    let index = args.place.read()?;
    let measure = args.measure;
    let exact = args.exact;
    let aim = GroupingOptions { threshold: args.threshold, recall: args.recall, measure, exact };
    let mut options = args.keep.options(params_for(index.params(), aim)?, &args.work)?;
    options.pairs = args.result.pair_list()?;
    options.decisions = args.decisions(&index)?;
    targets.check_writable(&[])?;
    let bar = StageBar::of_index(args.result.is_quiet());
    let findings = index::groups(&index, &options, time::now(), &bar)?;
    drop(bar);
    let inputs = [PathBuf::from(index.name())];
    args.result.finish(findings, &options, [&inputs, &[]], &targets, start)
}
