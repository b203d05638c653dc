//! `lookalike compare A B`: how alike two documents are, and where they differ.

use super::{CommandError, CommandResult};
use crate::difference::{self, DifferenceLayout};
use crate::exit_code::ExitCode;
use crate::extraction::{ExtractArgs, WorkerOption};
use crate::member::FileMember;
use crate::normalization_args::NormalizationArgs;
use crate::options::{ParameterArgs, ShingleArgs};
use crate::terminal::{self, Style};
use anstyle::AnsiColor;
use lookalike::core::curve;
use lookalike::core::parameter::NamesParameters;
use lookalike::core::params::{Measure, Params};
use lookalike::core::verify::Overlap;
use lookalike::difference::{DifferencePart, Differences, Places};
use lookalike::error::Error;
use lookalike::pair_similarity::PairSimilarity;
use lookalike::progress::NoProgress;
use lookalike::read::{
    Collection, Document, DocumentSink, Format, ReadBuffers, ReadError, ReadOptions, SkippedItem,
};
use lookalike::report::option_name;
use lookalike::report::phrases::{count, one_line, thousands};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

const EXAMPLE: &str = "\
Examples:
  lookalike compare draft.txt final.txt             how alike, and the differences by words
  lookalike compare old.txt new.txt --shingle bag   as sets of single words
  git show HEAD:a.txt | lookalike compare - a.txt   one text from standard input";

/// How alike two texts are: exact similarity, containment, estimate, and the differences
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = EXAMPLE)]
pub(crate) struct CompareArgs {
    /// The first text: a file, also .gz or .zst, a document in a file by its id (a.zip/x.txt), or -
    /// for standard input
    a: PathBuf,

    /// The second text, in the same way
    b: PathBuf,

    /// Show the figures only
    #[arg(long)]
    no_diff: bool,

    /// Show all differences in full, not the first hundred with long ones shortened
    #[arg(long)]
    all: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// End with 3 where the texts are similar at the threshold
    #[arg(long)]
    exit_code: bool,

    /// Character encoding of both files: windows-1252, gbk, … [default: found for each]
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
    args.parameters.refuse_auto("two texts are compared without bands; leave it out")?;
    let params = Params::new(
        &args.parameters.builder(args.shingle.rule(args.normalization.normalization())?),
    )?;
    if args.a == Path::new("-") && args.b == Path::new("-") {
        return Err(ReadError::StdinTwice.into());
    }
    let (a, b) = (read(&args.a, args, worker)?, read(&args.b, args, worker)?);
    let likeness = PairSimilarity::of(&a, &b, &params, &NoProgress).map_err(Error::from)?;
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
    let output = CompareOutput { likeness: &likeness, names: &names, params: &params };
    let mut out = io::BufWriter::new(stream);
    if args.json {
        writeln!(out, "{:#}", output.json(differences.as_ref()))?;
    } else {
        output.write(&mut out)?;
        if let Some(differences) = &differences {
            write_differences(&mut out, differences, likeness.same_text, layout)?;
        }
    }
    out.flush()?;
    Ok(ExitCode::found_if(args.exit_code && likeness.similar))
}

/// The text of a file or of standard input.
fn read(path: &Path, args: &CompareArgs, worker: WorkerOption<'_>) -> Result<String, CommandError> {
    /// Keeps what it is given first, and counts.
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
    let (mut text, mut scratch) = (CapturedText::default(), ReadBuffers::default());
    while let Some(block) = collection.next_block()? {
        block.read(&mut scratch, &mut text).map_err(|error| match error {
            ReadError::BadRecord(bad) => CommandError::Run(Error::Table {
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
        "{} holds {} documents; compare takes two texts: name one of them by its id, as \
         `lookalike find {}` prints it",
        path.display(),
        text.1,
        path.display()
    )))
}

/// What is printed of two texts.
struct CompareOutput<'a> {
    likeness: &'a PairSimilarity,
    names: &'a [String; 2],
    params: &'a Params,
}

impl CompareOutput<'_> {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { names, params, .. } = self;
        let bold = Style::BOLD;
        let overlap = &self.likeness.overlap;
        for (letter, name, shingles) in
            [("A", &names[0], overlap.left), ("B", &names[1], overlap.right)]
        {
            let shingles = count(shingles, "shingle");
            writeln!(out, "{bold}{letter}{bold:#}  {}  {}", one_line(name), Quiet(&shingles))?;
        }
        writeln!(out)?;
        let (part, whole) = (thousands(overlap.intersection), thousands(overlap.union()));
        let jaccard = percent(overlap.intersection, overlap.union());
        let shared = format!("{part} of {whole} shingles are shared ({})", params.shingle());
        let exact = overlap.six_decimals();
        writeln!(out, "Exact Jaccard     {bold}{exact}{bold:#}  {jaccard}; {shared}")?;
        for (from, into, size) in [("A", "B", overlap.left), ("B", "A", overlap.right)] {
            let share = percent(overlap.intersection, size);
            writeln!(out, "Containment       {share} of {from} is in {into}")?;
        }
        if let Some(estimate) = self.likeness.estimate {
            writeln!(
                out,
                "Estimate          {:.4} ± {:.4}  from {} hashes ({})",
                estimate.jaccard,
                standard_error(overlap.jaccard(), params.num_hashes()),
                params.num_hashes(),
                params.scheme()
            )?;
            let (shared, bands) = (estimate.bands_shared, params.bands());
            let chance = curve::candidate_probability(overlap.jaccard(), bands, params.rows());
            write!(out, "Bands shared      {shared} of {bands}; ")?;
            match params.recall_caveat() {
                Some(caveat) => writeln!(out, "warning: {caveat}")?,
                None => {
                    writeln!(out, "pairs this alike are candidates with probability {chance:.4}")?;
                }
            }
        }
        let color = if self.likeness.similar { AnsiColor::Green } else { AnsiColor::Yellow };
        let style = Style::new(color.on_default().bold());
        writeln!(out, "\n{style}{}{style:#}", self.verdict())?;
        if let Some(remark) = self.remark() {
            writeln!(out, "{remark}")?;
        }
        Ok(())
    }

    /// One sentence.
    fn verdict(&self) -> String {
        let (measure, threshold) = (self.params.measure(), self.params.threshold());
        let exact = match measure {
            Measure::Jaccard => self.likeness.overlap.six_decimals(),
            Measure::Containment => {
                format!("containment {}", self.likeness.overlap.six_decimals_of(measure))
            }
        };
        if self.likeness.similar {
            format!("Similar: {exact} reaches the threshold of {threshold}.")
        } else {
            format!("Not similar: {exact} is below the threshold of {threshold}.")
        }
    }

    /// What the figures alone do not say.
    fn remark(&self) -> Option<String> {
        let Self { names, params, .. } = self;
        let Overlap { intersection, left, right } = self.likeness.overlap;
        let rule = params.shingle();
        if left == 0 || right == 0 {
            let who = match (left, right) {
                (0, 0) => "Both texts have".to_owned(),
                (0, _) => format!("{} has", one_line(&names[0])),
                _ => format!("{} has", one_line(&names[1])),
            };
            return Some(format!("{who} no token; an empty document resembles nothing."));
        }
        if self.likeness.same_text {
            return Some("The texts are equal.".to_owned());
        }
        if intersection == left && left == right {
            return Some(
                "Both have the same shingles; the texts differ in what these leave out.".into(),
            );
        }
        let similar = self.likeness.similar;
        let missed = self.likeness.estimate.is_some_and(|estimate| estimate.bands_shared == 0);
        if similar && missed {
            return Some("They share no band, so `find` with these parameters misses them.".into());
        }
        if !similar && intersection == left.min(right) {
            let (a, b) = if left <= right { ("A", "B") } else { ("B", "A") };
            return Some(format!("All of {a} is in {b}, which has more text."));
        }
        if !similar && intersection as f64 >= 0.9 * left.min(right) as f64 {
            let (a, b) = if left <= right { ("A", "B") } else { ("B", "A") };
            return Some(format!("Nearly all of {a} is in {b}, which has more text."));
        }
        let size = rule.size();
        (!similar && size > 1 && left.min(right) < SHORT).then(|| {
            format!(
                "These texts are short, and one changed token changes up to {size} shingles; \
                 a shorter --shingle is milder."
            )
        })
    }

    fn json(&self, differences: Option<&Differences>) -> Value {
        let Self { names, params, .. } = self;
        let overlap = &self.likeness.overlap;
        let six = |value: f64| (value * 1e6).round() / 1e6;
        let number = overlap.six_decimals().parse::<f64>().unwrap_or_default();
        let mut value = json!({
            "a": names[0],
            "b": names[1],
            "shingle": params.shingle().to_string(),
            "jaccard": number,
            "shared": overlap.intersection,
            "union": overlap.union(),
            "shingles_a": overlap.left,
            "shingles_b": overlap.right,
            "containment_a": six(overlap.containment_left()),
            "containment_b": six(overlap.containment_right()),
            "measure": params.measure().to_string(),
            "threshold": params.threshold(),
            "similar": self.likeness.similar,
            "equal_texts": self.likeness.same_text,
            "num_hashes": params.num_hashes(),
            "bands": params.bands(),
            "rows": params.rows(),
            "estimate": Value::Null,
        });
        if let Some(estimate) = self.likeness.estimate {
            value["estimate"] = json!({
                "jaccard": six(estimate.jaccard),
                "standard_error": six(standard_error(overlap.jaccard(), params.num_hashes())),
                "bands_shared": estimate.bands_shared,
            });
        }
        if let Some(found) = differences {
            let place = |stretch: &DifferencePart, [a, b]: [&str; 2]| {
                json!({
                    "word_a": found.a.word_from(stretch.a.start),
                    "word_b": found.b.word_from(stretch.b.start),
                    "a": a,
                    "b": b,
                })
            };
            let change = |stretch| place(stretch, found.texts(stretch).map(str::trim));
            let variation = |stretch| place(stretch, found.texts(stretch));
            let [shared, only_a, only_b] = found.counts;
            value["words"] = json!({ "shared": shared, "only_a": only_a, "only_b": only_b });
            value["differences"] = found.changes().map(change).collect();
            value["same_words_differences"] = found.variations().map(variation).collect();
            value["difference_counts"] = counts(&found.places);
            value["differences_cut_short"] = found.cut_short.into();
        }
        value
    }
}

fn counts(places: &Places) -> Value {
    let Places { words, same_words, case, punctuation, white_space } = *places;
    json!({
        "words": words,
        "same_words": same_words,
        "case": case,
        "punctuation": punctuation,
        "white_space": white_space,
    })
}

/// `4 places with the same words written differently (case 3, punctuation 2)`; nothing for none.
fn same_words(places: &Places) -> Option<String> {
    let Places { same_words, case, punctuation, white_space, .. } = *places;
    let kinds = [(case, "case"), (punctuation, "punctuation"), (white_space, "white space")];
    let kinds = kinds.iter().filter(|kind| kind.0 > 0);
    let kinds: Vec<_> =
        kinds.map(|(count, kind)| format!("{kind} {}", thousands(*count as u64))).collect();
    (same_words > 0).then(|| {
        let place = count(same_words as u64, "place");
        format!("{place} with the same words written differently ({})", kinds.join(", "))
    })
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
        // Both counts are zero only where the search was cut short, which is said below.
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
             so stretches they share may be shown as different. The figures above are exact."
        )?;
    }
    Ok(())
}

/// How long to look for the shortest differences; what is found then is right, but longer.
const PATIENCE: Duration = Duration::from_secs(3);

/// Fewer shingles than this make a short text: one changed word among 40 leaves 0.78 of five-word
/// shingles.
const SHORT: u64 = 40;

/// Columns of a line of differences where there is no terminal, and the most where there is one:
/// longer lines are hard to read.
const WIDTH: usize = 80;
const WIDEST: usize = 100;

fn width(is_terminal: bool) -> usize {
    if is_terminal { terminal::columns().min(WIDEST) } else { WIDTH }
}

/// √(J(1 − J)/k), the standard error of an estimate from k independent values.
fn standard_error(jaccard: f64, num_hashes: usize) -> f64 {
    (jaccard * (1.0 - jaccard) / num_hashes.max(1) as f64).sqrt()
}

/// A share in percent, rounded to one decimal; 100.0 % is all of it.
fn percent(part: u64, whole: u64) -> String {
    let (part, whole) = (u128::from(part), u128::from(whole.max(1)));
    let tenths = (part * 2000 + whole) / (2 * whole);
    let tenths = if part < whole { tenths.min(999) } else { tenths };
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// Dimmed text.
struct Quiet<'a>(&'a str);

impl std::fmt::Display for Quiet<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let style = Style::DIMMED;
        write!(f, "{style}{}{style:#}", self.0)
    }
}
