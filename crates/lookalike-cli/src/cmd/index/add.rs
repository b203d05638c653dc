//! `lookalike index add INDEX INPUT…` and `index update INDEX INPUT…`: adds documents to an index.

use super::open::{PlaceArgs, WaitArgs};
#[cfg(feature = "serve")]
use super::remote::{self, RemoteAdd};
use crate::arguments::duration::lifetime;
use crate::arguments::options::ThreadArgs;
use crate::arguments::read_args::{InputArgs, UnitArgs};
use crate::cmd::error::of_index_add;
use crate::cmd::{CommandError, CommandResult};
use crate::extraction::WorkerOption;
use crate::output::progress_bar::StageBar;
use crate::output::summary::{exit_code, seconds, write_as_text, write_reasons};
use crate::output::terminal;
use crate::output::waiting::WaitingNote;
#[cfg(feature = "serve")]
use crate::service::service_client::ServiceClient;
use lookalike::core::parameter::NamesParameters;
use lookalike::index::time;
use lookalike::index::{self, AddCounts, AddOptions, Existing, InterruptedAdd};
use lookalike::read::{Collection, Normalization, ReadOptions, SkippedItem};
use lookalike::report::notes;
use lookalike::report::option_name;
use lookalike::report::phrases::{count, thousands};
use lookalike::store::Index;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How documents are added.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Stored documents")]
#[expect(clippy::struct_excessive_bools, reason = "independent options")]
pub(super) struct HowArgs {
    /// A field or column to keep as metadata; may be given again (a comma in its name is `\,`).
    /// The file, and what mail, pages and office files say about themselves, are kept anyway
    #[arg(long, value_name = "FIELD", value_parser = field)]
    pub(super) metadata: Vec<String>,

    /// Count the documents as removed after so long, such as 12h, 30d or 8w [default: never]
    #[arg(long, value_name = "TIME", value_parser = lifetime)]
    ttl: Option<Duration>,

    /// Skip documents whose ids exist, and count them
    #[arg(long)]
    pub(super) skip_existing: bool,

    /// The inputs are JSON lines of `index export`: keep their members metadata, added, modified
    /// and expires, and add only --metadata and --ttl
    #[arg(long)]
    exported: bool,

    /// Print the result as JSON
    #[arg(long)]
    pub(super) json: bool,

    /// Print no summary and no progress; skipped files are still listed
    #[arg(long, short)]
    pub(super) quiet: bool,

    #[command(flatten)]
    threads: ThreadArgs,
}

/// Add documents to an index; their ids must be new
#[derive(Debug, clap::Args)]
pub(super) struct AddArgs {
    #[command(flatten)]
    common: CommonArgs,
}

/// Put documents into an index; equal ids replace documents
#[derive(Debug, clap::Args)]
pub(super) struct UpdateArgs {
    #[command(flatten)]
    common: CommonArgs,
}

#[derive(Debug, clap::Args)]
struct CommonArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// Files, folders, or - for standard input
    #[arg(required_unless_present = "files_from", value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    #[command(flatten)]
    wait: WaitArgs,

    #[command(flatten)]
    how: HowArgs,

    #[command(flatten)]
    unit: UnitArgs,

    #[command(flatten)]
    reading: InputArgs,
}

/// Parses one name, in which `\,` is a comma.
fn field(text: &str) -> Result<String, String> {
    const COMMA: &str = "\0";
    let name = text.replace("\\,", COMMA);
    if name.contains(',') {
        let options: Vec<String> =
            text.split(',').map(|name| format!("--metadata {}", name.trim())).collect();
        return Err(format!(
            "expected one name; several are {}, a comma within a name is \\,",
            options.join(" ")
        ));
    }
    Ok(name.replace(COMMA, ","))
}

/// Runs `add`.
pub(super) fn run(args: &mut AddArgs, worker: WorkerOption<'_>) -> CommandResult {
    let keep = args.common.how.skip_existing;
    put(&mut args.common, if keep { Existing::Keep } else { Existing::Refuse }, worker)
}

/// Runs `update`.
pub(super) fn run_update(args: &mut UpdateArgs, worker: WorkerOption<'_>) -> CommandResult {
    if args.common.how.skip_existing {
        return Err(CommandError::Usage(
            "--skip-existing keeps existing documents, but `index update` replaces them; use \
             `index add --skip-existing`"
                .to_owned(),
        ));
    }
    put(&mut args.common, Existing::Replace, worker)
}

fn put(args: &mut CommonArgs, existing: Existing, worker: WorkerOption<'_>) -> CommandResult {
    let reading = &args.reading;
    reading.read_list(&mut args.inputs)?;
    let options = ReadOptions { unit: args.unit.unit, ..reading.options(worker) };
    let inputs = collection(&args.inputs, options, &args.how, &args.place)?;
    let skip_bad = reading.skip_bad();
    #[cfg(feature = "serve")]
    if let Some(service) = args.place.service()? {
        return send(&service, &inputs, &args.how, (existing, skip_bad));
    }
    let index = args.place.write(&args.wait)?;
    add(&IndexAdd { index: &index, inputs: &inputs, how: &args.how, existing, skip_bad })
}

/// Opens inputs for an index: unchanged texts, and the metadata fields to keep.
pub(super) fn collection(
    inputs: &[PathBuf],
    reading: ReadOptions,
    how: &HowArgs,
    place: &PlaceArgs,
) -> Result<Collection, CommandError> {
    place.refuse_as_input(inputs)?;
    let options = ReadOptions {
        fields: how.metadata.clone(),
        // The index normalizes texts itself.
        normalization: Normalization::default(),
        leave_out: place.folder().into_iter().collect(),
        ..reading
    };
    let _waiting = WaitingNote::new(inputs, false);
    Ok(Collection::open(inputs, &options)?)
}

/// Documents on their way into an index.
pub(super) struct IndexAdd<'a> {
    pub(super) index: &'a Index,
    pub(super) inputs: &'a Collection,
    pub(super) how: &'a HowArgs,
    pub(super) existing: Existing,
    pub(super) skip_bad: bool,
}

/// Adds, and reports what was done.
pub(super) fn add(adding: &IndexAdd<'_>) -> CommandResult {
    let IndexAdd { index, inputs, how, existing, skip_bad } = *adding;
    let start = Instant::now();
    let options = add_options(how, existing, skip_bad);
    let bar = StageBar::new(how.quiet);
    let outcome = index::add(index, inputs, &options, &bar);
    drop(bar);
    let name = index.name();
    let has_shingle_counts = true;
    let print = |added: &AddCounts| {
        let summary = AddSummary { name, added, inputs, how, existing, has_shingle_counts };
        summary.print(start.elapsed())
    };
    report(skip_bad, outcome, print)
}

/// Sends documents to a service, and reports what was done.
#[cfg(feature = "serve")]
fn send(
    service: &ServiceClient,
    inputs: &Collection,
    how: &HowArgs,
    (existing, skip_bad): (Existing, bool),
) -> CommandResult {
    let start = Instant::now();
    let options = add_options(how, existing, skip_bad);
    let bar = StageBar::new(how.quiet);
    let adding = RemoteAdd { service, inputs, options: &options };
    let outcome = remote::add(&adding, &bar);
    drop(bar);
    let name = service.address();
    let has_shingle_counts = false;
    let print = |added: &AddCounts| {
        let summary = AddSummary { name, added, inputs, how, existing, has_shingle_counts };
        summary.print(start.elapsed())
    };
    report(skip_bad, outcome, print)
}

/// Prints the counts of a run, or the number of documents that an interrupted run stored.
fn report<E: Into<CommandError>>(
    skip_bad: bool,
    outcome: Result<AddCounts, Box<InterruptedAdd<E>>>,
    print: impl FnOnce(&AddCounts) -> io::Result<()>,
) -> CommandResult {
    match outcome {
        Ok(added) => {
            print(&added)?;
            Ok(exit_code(added.skipped.iter().cloned().map(Ok), skip_bad, false)?)
        }
        Err(broken) => {
            let InterruptedAdd { before, error } = *broken;
            print_stored(&before)?;
            Err(of_index_add(error.into()))
        }
    }
}

fn print_stored(before: &AddCounts) -> io::Result<()> {
    if before.added + before.replaced > 0 {
        let stored = count(before.added + before.replaced, "document");
        writeln!(terminal::stderr(), "{stored} before the error are stored")?;
    }
    Ok(())
}

/// The options of the library.
fn add_options(how: &HowArgs, existing: Existing, skip_bad: bool) -> AddOptions {
    let now = time::now();
    let ttl = how.ttl.map(|ttl| i64::try_from(ttl.as_nanos()).unwrap_or(i64::MAX));
    let mut options = AddOptions::new(now);
    options.existing = existing;
    options.metadata.clone_from(&how.metadata);
    options.expires = ttl.map(|ttl| now.saturating_add(ttl));
    options.exported = how.exported;
    options.skip_bad = skip_bad;
    if let Some(threads) = how.threads.threads {
        options.threads = threads;
    }
    options
}

/// The counts of a run, with its inputs and options.
struct AddSummary<'a> {
    name: &'a str,
    added: &'a AddCounts,
    inputs: &'a Collection,
    how: &'a HowArgs,
    existing: Existing,
    /// Whether documents without shingles were counted.
    has_shingle_counts: bool,
}

impl AddSummary<'_> {
    /// Prints the summary.
    fn print(&self, elapsed: Duration) -> io::Result<()> {
        let Self { name, added, inputs, how, existing, has_shingle_counts } = *self;
        if how.json {
            let value = json!({
                "index": name,
                "added": added.added,
                "replaced": added.replaced,
                "existing": added.existing,
                "metadata_not_found": added.not_found,
                "without_shingles": has_shingle_counts.then_some(added.without_shingles),
                "skipped": added.skipped.iter().map(skipped).collect::<Vec<Value>>(),
            });
            return writeln!(terminal::stdout().json(), "{value}");
        }
        let mut err = terminal::stderr();
        if !how.quiet {
            let mut parts = vec![format!("{} added", count(added.added, "document"))];
            if existing == Existing::Replace {
                parts.push(format!("{} replaced", thousands(added.replaced)));
            }
            if added.existing > 0 {
                parts.push(format!("{} already in the index", thousands(added.existing)));
            }
            if added.without_shingles > 0 {
                parts.push(format!("{} without a word", thousands(added.without_shingles)));
            }
            err.message(&format!("{name}: {}, {}", parts.join(", "), seconds(elapsed)))?;
        }
        for name in &added.not_found {
            err.message(&format!("warning: --metadata {name}: no document has it"))?;
        }
        if !added.skipped.is_empty() {
            writeln!(err, "{} skipped; --json lists them", thousands(added.skipped.len() as u64))?;
            write_reasons(&mut err, added.skipped.iter().cloned().map(Ok))?;
        }
        if let Some(note) = notes::line_ids(&inputs.line_ids()) {
            err.message(&note)?;
        }
        write_as_text(&mut err, inputs.read_as_text())
    }
}

fn skipped(skipped: &SkippedItem) -> Value {
    let SkippedItem { source, line, id, reason } = skipped;
    json!({ "source": source, "line": line, "id": id, "reason": reason.spelled(option_name) })
}
