//! `lookalike index create INDEX [INPUT…]`: a new index, with documents in it.

use super::add::{HowArgs, IndexAdd, add, collection};
use super::open::PlaceArgs;
use super::settings::{self, StoreArg};
use crate::arguments::parameter_args::{AimArgs, ShingleArgs, SignatureArgs};
use crate::arguments::read_args::ReadArgs;
use crate::cmd::CommandResult;
use crate::exit_code::ExitCode;
use crate::extraction::{WorkerOption, size};
use crate::output::terminal;
use lookalike::core::params::Measure;
use lookalike::index::Existing;
use lookalike::store::index::create;
use lookalike::store::settings::StoredContent;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

const EXAMPLE: &str = "\
Examples:
  lookalike index create letters.lookalike letters/
  lookalike index create news articles.jsonl --threshold 0.7 --metadata date
  lookalike index create held texts/ --measure containment --threshold 0.5
  lookalike index create notes                       empty, for `index add`
  lookalike index create archive pages/ --store originals";

/// Create an index, and add documents
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct CreateArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// Files, folders, or - for standard input [default: none, the index is empty]
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    /// Stored content of each document, besides its signature
    #[arg(long, value_enum, value_name = "WHAT", default_value = "texts")]
    store: StoreArg,

    /// Maximum size of an original with `--store originals`, up to 512MiB. A larger document is an
    /// error; --skip-bad leaves it out and lists it [default: 256MiB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_original: Option<u64>,

    #[command(flatten)]
    how: HowArgs,

    #[command(flatten)]
    aim: AimArgs,

    /// `jaccard`, or `containment`, which finds excerpts in longer texts. `jaccard` divides the
    /// shared shingles by all shingles of both documents, `containment` by the shingles of the
    /// shorter one. An index for `containment` is larger: it has a posting for each shingle
    #[arg(long, value_name = "WHAT", default_value = "jaccard")]
    #[arg(help_heading = "Similarity and recall")]
    measure: Measure,

    #[command(flatten)]
    shingle: ShingleArgs,

    #[command(flatten)]
    signature: SignatureArgs,

    #[command(flatten)]
    reading: ReadArgs,
}

/// Runs the command.
pub(super) fn run(args: &mut CreateArgs, worker: WorkerOption<'_>) -> CommandResult {
    args.reading.read_list(&mut args.inputs)?;
    let CreateArgs { aim, shingle, signature, reading, store, .. } = args;
    let settings = settings::new(aim, args.measure, shingle, signature, reading, *store)?;
    let settings = match args.max_original {
        None => settings,
        Some(most) => settings.with_max_original(most)?,
    };
    // Opens the inputs first, so that an unreadable input does not leave an empty index.
    let inputs = match args.inputs.as_slice() {
        [] => None,
        inputs => Some(collection(inputs, reading.options(worker), &args.how, &args.place)?),
    };
    let index = create(&args.place.place()?, &settings)?;
    if let Some(caveat) = index.params().recall_caveat() {
        terminal::stderr().message(&format!("warning: {caveat}"))?;
    }
    let store = index.settings().store;
    if !store.has_texts() && !args.how.quiet {
        terminal::stderr().message(without_texts(store))?;
    }
    let Some(inputs) = inputs else {
        if args.how.json {
            let value = json!({ "index": index.name(), "documents": 0 });
            writeln!(terminal::stdout().json(), "{value}")?;
        } else if !args.how.quiet {
            terminal::stderr().message(&format!("{}: created, without documents", index.name()))?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    let existing = if args.how.skip_existing { Existing::Keep } else { Existing::Refuse };
    let skip_bad = reading.skip_bad();
    add(&IndexAdd { index: &index, inputs: &inputs, how: &args.how, existing, skip_bad })
}

/// The features that an index without texts lacks.
fn without_texts(store: StoredContent) -> &'static str {
    match store {
        StoredContent::Signatures => {
            "--store signatures: similarities are estimates. These need --store texts and will \
             not work: `index groups`, `index categorise`, `query --text`, `contamination`, and \
             texts on the page of `serve`"
        }
        _ => {
            "--store sets: these need --store texts and will not work: `index categorise`, \
             `query --text`, `contamination`, and texts on the page of `serve`"
        }
    }
}
