//! `lookalike compare A B`: how alike two documents are, and where they differ.

use super::{CommandError, CommandResult};
use crate::arguments::normalization_args::NormalizationArgs;
use crate::arguments::parameter_args::{ParameterArgs, ShingleArgs};
use crate::exit_code::ExitCode;
use crate::extraction::{ExtractArgs, WorkerOption};
use crate::member::FileMember;
use crate::output::difference::{self, DifferenceLayout};
use crate::output::terminal::{self, Style};
use anstyle::AnsiColor;
use lookalike::core::curve;
use lookalike::core::parameter::NamesParameters;
use lookalike::core::params::Params;
use lookalike::difference::Differences;
use lookalike::find::FindError;
use lookalike::pair_similarity::PairSimilarity;
use lookalike::progress::NoProgress;
use lookalike::read::{
    Collection, Document, DocumentSink, Format, ReadBuffers, ReadError, ReadOptions, SkippedItem,
};
use lookalike::report::comparison::{ComparisonReport, percent, same_words};
use lookalike::report::option_name;
use lookalike::report::phrases::{count, one_line, thousands};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

const EXAMPLE: &str = "\
Examples:
  lookalike compare draft.txt final.txt             similarity and differences
  lookalike compare old.txt new.txt --shingle bag   as sets of single words
  git show HEAD:a.txt | lookalike compare - a.txt   one text from a pipe";

/// Compare two texts: exact similarity and differences
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = EXAMPLE)]
pub(crate) struct CompareArgs {
    /// The first text: a file (plain, .gz or .zst), a document inside a file (a.zip/x.txt), or -
    /// for standard input
    a: PathBuf,

    /// The second text, in the same way
    b: PathBuf,

    /// Show the figures only
    #[arg(long)]
    no_diff: bool,

    /// Show all differences in full; by default, the first hundred, and long ones shortened
    #[arg(long)]
    all: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Exit with code 3 if the similarity reaches the threshold
    #[arg(long)]
    exit_code: bool,

    /// Character encoding of both files: windows-1252, gbk, … [default: detected for each]
    #[arg(long, value_name = "LABEL")]
    encoding: Option<String>,

    #[command(flatten)]
    normalization: NormalizationArgs,

    #[command(flatten)]
    extract: ExtractArgs,

    #[command(flatten)]
    shingle: ShingleArgs,

    #[command(flatten)]
    parameters: ParameterArgs,
}

/// Compares and prints.
pub(crate) fn run(args: &CompareArgs, worker: WorkerOption<'_>) -> CommandResult {
    args.parameters.refuse_auto("compare does not search; leave it out")?;
    let params = Params::new(
        &args.parameters.builder(args.shingle.rule(args.normalization.normalization())?),
    )?;
    if args.a == Path::new("-") && args.b == Path::new("-") {
        return Err(ReadError::StdinTwice.into());
    }
    let a = read(&args.a, args, worker)?;
    let b = read(&args.b, args, worker)?;
    let similarity = PairSimilarity::of(&a, &b, &params, &NoProgress).map_err(FindError::from)?;
    let differences =
        (!args.no_diff).then(|| Differences::between(&a, &b, params.shingle(), Some(PATIENCE)));
    let names = [&args.a, &args.b].map(|path| match path.to_string_lossy() {
        name if name == "-" => "standard input".to_owned(),
        name => name.into_owned(),
    });
    let stream = terminal::stdout().json_if(args.json);
    let layout = DifferenceLayout {
        width: width(stream.is_terminal()),
        marks: !stream.has_colors(),
        all: args.all,
    };
    let report = ComparisonReport { similarity: &similarity, names: &names, params: &params };
    let mut out = io::BufWriter::new(stream);
    if args.json {
        writeln!(out, "{:#}", report.json(differences.as_ref()))?;
    } else {
        write_figures(&report, &mut out)?;
        if let Some(differences) = &differences {
            write_differences(&mut out, differences, similarity.same_text, layout)?;
        }
    }
    out.flush()?;
    Ok(ExitCode::found_if(args.exit_code && similarity.similar))
}

/// The text of a file or of standard input.
fn read(path: &Path, args: &CompareArgs, worker: WorkerOption<'_>) -> Result<String, CommandError> {
    /// Keeps the first text, and counts the texts.
    #[derive(Default)]
    struct CapturedText(String, u64);

    impl DocumentSink for CapturedText {
        type Error = ReadError;

        fn document(&mut self, document: &Document<'_>) -> Result<(), ReadError> {
            if self.1 == 0 {
                document.text.clone_into(&mut self.0);
            }
            self.1 += 1;
            Ok(())
        }

        fn skipped(&mut self, _: SkippedItem) -> Result<(), ReadError> {
            Ok(())
        }
    }

    if path.is_dir() {
        return Err(CommandError::Usage(format!(
            "{} is a folder; compare takes two files, `lookalike find` takes folders",
            path.display()
        )));
    }
    let options = ReadOptions {
        format: Some(Format::File),
        extract: args.extract.options(worker),
        normalization: args.normalization.normalization(),
        encoding: args.encoding.clone(),
        ..ReadOptions::default()
    };
    if let Some(member) = FileMember::of(path) {
        let mut text = String::new();
        let options = ReadOptions { format: None, ..options };
        member.read(&options, &mut |document| {
            document.text.clone_into(&mut text);
            Ok(())
        })?;
        return Ok(text);
    }
    let collection = Collection::open(&[path.to_owned()], &options)?;
    let mut text = CapturedText::default();
    let mut scratch = ReadBuffers::default();
    while let Some(block) = collection.next_block()? {
        block.read(&mut scratch, &mut text).map_err(|error| match error {
            ReadError::BadRecord(bad) => CommandError::from(FindError::Table {
                path: path.to_owned(),
                line: 0,
                problem: format!("{}; compare needs two texts", bad.reason.spelled(option_name)),
            }),
            error => error.into(),
        })?;
    }
    if text.1 == 1 {
        return Ok(text.0);
    }
    Err(CommandError::Usage(format!(
        "{} contains {} documents, and compare needs one: add the name of a document, as in \
         a.zip/x.txt",
        path.display(),
        text.1
    )))
}

/// Prints the figures, the verdict and any remark.
fn write_figures(report: &ComparisonReport<'_>, out: &mut impl Write) -> io::Result<()> {
    let ComparisonReport { similarity, names, params } = report;
    let bold = Style::BOLD;
    let overlap = &similarity.overlap;
    for (letter, name, shingles) in
        [("A", &names[0], overlap.left), ("B", &names[1], overlap.right)]
    {
        let shingles = count(shingles, "shingle");
        writeln!(out, "{bold}{letter}{bold:#}  {}  {}", one_line(name), Quiet(&shingles))?;
    }
    writeln!(out)?;
    let part = thousands(overlap.intersection);
    let total = thousands(overlap.union());
    let jaccard = percent(overlap.intersection, overlap.union());
    let shared = format!("{part} of {total} shingles are shared ({})", params.shingle());
    let exact = overlap.six_decimals();
    writeln!(out, "Exact Jaccard     {bold}{exact}{bold:#}  {jaccard}; {shared}")?;
    for (from, into, size) in [("A", "B", overlap.left), ("B", "A", overlap.right)] {
        let share = percent(overlap.intersection, size);
        writeln!(out, "Containment       {share} of {from} is in {into}")?;
    }
    if let Some(estimate) = similarity.estimate {
        writeln!(
            out,
            "Estimate          {:.4} ± {:.4}  from {} hashes ({})",
            estimate.jaccard,
            report.standard_error(),
            params.num_hashes(),
            params.scheme()
        )?;
        let shared = estimate.bands_shared;
        let bands = params.bands();
        let chance = curve::candidate_probability(overlap.jaccard(), bands, params.rows());
        write!(out, "Bands shared      {shared} of {bands}; ")?;
        match params.recall_caveat() {
            Some(caveat) => writeln!(out, "warning: {caveat}")?,
            None => {
                writeln!(out, "pairs this alike are candidates with probability {chance:.4}")?;
            }
        }
    }
    let color = if similarity.similar { AnsiColor::Green } else { AnsiColor::Yellow };
    let style = Style::new(color.on_default().bold());
    writeln!(out, "\n{style}{}{style:#}", report.verdict())?;
    if let Some(remark) = report.remark() {
        writeln!(out, "{remark}")?;
    }
    Ok(())
}

fn write_differences(
    out: &mut impl Write,
    found: &Differences,
    same_text: bool,
    layout: DifferenceLayout,
) -> io::Result<()> {
    if same_text {
        return Ok(());
    }
    writeln!(out)?;
    let same_words = same_words(&found.places);
    if found.places.words == 0 {
        // `words` and `same_words` are both zero only if the search was cut short. The last message
        // reports that.
        if let Some(same_words) = same_words {
            let key = if layout.marks { "(-A-)(+B+)" } else { "dim: A, then B" };
            writeln!(out, "No word differs; {same_words}  {}\n", Quiet(key))?;
        }
    } else {
        let [shared, only_a, only_b] = found.counts;
        let key = if layout.marks {
            "[-only in A-] {+only in B+}"
        } else {
            "struck out: only A, underlined: only B"
        };
        writeln!(
            out,
            "{}, {} shared, {} only in A, {} only in B  {}",
            count(found.places.words as u64, "difference"),
            count(shared as u64, "word"),
            thousands(only_a as u64),
            thousands(only_b as u64),
            Quiet(key)
        )?;
        if let Some(same_words) = same_words {
            let key = if layout.marks { "(-A-)(+B+)" } else { "dim: A, then B" };
            writeln!(out, "{same_words}  {}", Quiet(key))?;
        }
        writeln!(out)?;
    }
    difference::write(found, out, layout)?;
    if found.cut_short {
        writeln!(
            out,
            "\nThe texts are long and unlike: the search for the fewest differences was cut short, \
             so shared stretches may be shown and counted as different. The similarity is exact."
        )?;
    }
    Ok(())
}

/// Time limit of the search for the shortest differences. After it, the differences are still
/// correct, but longer.
const PATIENCE: Duration = Duration::from_secs(3);

/// Columns of a line of differences outside a terminal.
const WIDTH: usize = 80;
/// Maximum on a terminal: longer lines are hard to read.
const WIDEST: usize = 100;

fn width(is_terminal: bool) -> usize {
    if is_terminal { terminal::columns().min(WIDEST) } else { WIDTH }
}

/// Dimmed text.
struct Quiet<'a>(&'a str);

impl std::fmt::Display for Quiet<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let style = Style::DIMMED;
        write!(f, "{style}{}{style:#}", self.0)
    }
}
