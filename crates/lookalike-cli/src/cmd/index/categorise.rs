//! `lookalike index categorise INDEX`: a tree of categories over the documents of an index.

use super::open::{PlaceArgs, ReadingArgs, WaitArgs};
use crate::arguments::options::{CsvArgs, ThreadArgs};
use crate::cmd::{CommandError, CommandResult};
use crate::exit_code::ExitCode;
use crate::output::progress_bar::StageBar;
use crate::output::terminal::{self, Style};
use crate::termination;
use lookalike::categories::{Category, MAX_TOPICS, NO_CATEGORY};
use lookalike::find::FindError;
use lookalike::index::{CategoriseOptions, IndexCategories, categorise, category_rows, time};
use lookalike::report::csv::CellRule;
use lookalike::report::phrases::{count, one_line, thousands};
use lookalike::report::{Output, OutputFormat, Target};
use lookalike::store::backend::Snapshot;
use lookalike::store::{Index, IndexError};
use serde_json::{Value, json};
use std::io::{self, BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

const EXAMPLE: &str = "\
Examples:
  lookalike index categorise news                  makes and prints categories
  lookalike index categorise news --topics 6
  lookalike index categorise news --show --json    prints the existing ones";

/// Divide the documents of an index into a tree of categories
///
/// Topics are documents with a common vocabulary; below them are documents that share half of their
/// words with one another, and four of five. A document that is added later has its category at
/// once, and none changes its own, until categories are made again. The index keeps texts.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct CategoriseArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// The most topics, 1 to 1000 [default: an eighth of the square root of the documents, 2 to 17]
    #[arg(long, value_name = "K", value_parser = topics, conflicts_with = "show")]
    topics: Option<NonZeroUsize>,

    /// Make nothing; print the categories that there are
    #[arg(long)]
    show: bool,

    /// Write the category of each document to FILE.csv [also .gz, .zst]: the columns id, cluster
    /// (its topic), category (its path) and label, which `evaluate` reads
    #[arg(long, value_name = "FILE")]
    members: Option<PathBuf>,

    /// No progress bar
    #[arg(long, short)]
    quiet: bool,

    #[command(flatten)]
    wait: WaitArgs,

    #[command(flatten)]
    output: ReadingArgs,

    #[command(flatten)]
    csv: CsvArgs,

    #[command(flatten)]
    threads: ThreadArgs,
}

fn topics(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.parse().ok().filter(|number: &NonZeroUsize| number.get() <= MAX_TOPICS);
    number.ok_or_else(|| format!("expected a number from 1 to {MAX_TOPICS}"))
}

/// Runs the command.
pub(super) fn run(args: &CategoriseArgs) -> CommandResult {
    let target = args.members.as_deref().map(members_target).transpose()?;
    let index = if args.show { args.place.read()? } else { make(args)? };
    let mut snapshot = index.snapshot()?;
    let Some(categories) = IndexCategories::read(&mut *snapshot, None)? else {
        return Err(CommandError::Data(format!(
            "{} has no categories: `lookalike index categorise` without --show makes them",
            index.name()
        )));
    };
    if let Some(target) = &target {
        write_members(target, &categories, &mut *snapshot, args.csv.cells())?;
    }
    let counts = categories.counts(&mut *snapshot)?;
    let mut out = BufWriter::new(terminal::stdout().json_if(args.output.json));
    if args.output.json {
        writeln!(out, "{:#}", value(&index, &categories, &counts))?;
    } else {
        write(&mut out, &index, &categories, &counts)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the output of `--members`, a CSV file.
fn members_target(path: &Path) -> Result<Target, CommandError> {
    let target = Target::new(path, &[OutputFormat::Csv]);
    target.map_err(|error| CommandError::Usage(format!("--members: {error}")))
}

fn write_members(
    target: &Target,
    categories: &IndexCategories,
    snapshot: &mut dyn Snapshot,
    cells: CellRule,
) -> Result<(), CommandError> {
    termination::clean_up(std::iter::once(target.path()))?;
    Output::create(target)?.finish(|out| {
        // The file does not appear if the index cannot be read.
        let written = category_rows(categories, snapshot, time::now(), cells, out)?;
        written.map(drop).map_err(io::Error::other)
    })?;
    Ok(())
}

/// Makes categories. Returns the index, which is open for writing.
fn make(args: &CategoriseArgs) -> Result<Index, CommandError> {
    let index = args.place.write(&args.wait)?;
    let single_thread = || available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let threads = args.threads.threads.unwrap_or_else(single_thread);
    let options = CategoriseOptions { topics: args.topics, threads };
    let bar = StageBar::of_index(args.quiet || args.output.json);
    let result = categorise(&index, options, time::now(), &bar);
    drop(bar);
    match result {
        Ok(_) => Ok(index),
        Err(FindError::Index(IndexError::NoTexts { index })) => Err(CommandError::Usage(format!(
            "{index} keeps no texts, which categories need; create it again with --store texts or \
             --store originals"
        ))),
        Err(error) => Err(error.into()),
    }
}

/// Writes the tree for people: a category per line, with the categories below it indented.
fn write(
    out: &mut impl Write,
    index: &Index,
    categories: &IndexCategories,
    counts: &[u64],
) -> io::Result<()> {
    const LESS: Style = Style::DIMMED;
    let all = categories.model().categories();
    let topics = all.iter().filter(|category| category.parent.is_none()).count() as u64;
    let tops = (1..).zip(all).filter(|(_, category)| category.parent.is_none());
    let documents = tops.map(|(number, _): (usize, _)| counts[number]).sum::<u64>() + counts[0];
    let name = one_line(index.name());
    let documents = count(documents, "document");
    writeln!(out, "{name}: {documents} in {}", count(topics, "topic"))?;
    writeln!(out, "{LESS}documents  category{LESS:#}")?;
    for (category, documents) in all.iter().zip(&counts[1..]) {
        let Category { path, label, .. } = category;
        let indent = 2 * path.matches('.').count();
        let documents = thousands(*documents);
        let label = label.join(" ");
        writeln!(out, "{documents:>9}  {:indent$}{path}  {}", "", one_line(&label))?;
    }
    if counts[0] > 0 {
        writeln!(out, "{:>9}  none: no word of theirs is in the vocabulary", thousands(counts[0]))?;
    }
    Ok(())
}

fn value(index: &Index, categories: &IndexCategories, counts: &[u64]) -> Value {
    let model = categories.model();
    let of_category = |(category, documents): (&Category, &u64)| {
        let parent = category.parent.and_then(|parent| model.get(parent));
        json!({
            "path": category.path,
            "parent": parent.map(|parent| &parent.path),
            "level": category.level.similarity(),
            "label": category.label,
            "documents": documents,
        })
    };
    let all = model.categories().iter().zip(&counts[1..]).map(of_category);
    json!({
        "index": index.name(),
        "model": categories.number(),
        "without_category": counts[NO_CATEGORY as usize],
        "categories": all.collect::<Vec<Value>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::topics;

    #[test]
    fn numbers_of_topics_have_a_range() {
        assert_eq!(topics("6").unwrap().get(), 6);
        assert_eq!(topics("1000").unwrap().get(), 1000);
        for wrong in ["0", "1001", "-1", "x", ""] {
            assert!(topics(wrong).is_err(), "{wrong}");
        }
    }
}
