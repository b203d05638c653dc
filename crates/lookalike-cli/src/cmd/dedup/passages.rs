//! `lookalike dedup --passages`: the inputs without repeated words, in their own format.

use super::args::DedupArgs;
use crate::cmd::{CommandError, CommandResult};
use crate::exit_code::ExitCode;
use crate::extraction::WorkerOption;
use crate::progress_bar::StageBar;
use crate::summary::{self, percent, seconds};
use crate::terminal::{self, Style};
use crate::termination;
use crate::waiting::WaitingNote;
use lookalike::core::parameter::NamesParameters;
use lookalike::dedup::{Destination, Others, SurvivorCounts, Survivors, apply_cuts};
use lookalike::passages::{
    CutOptions, CutRule, DEFAULT_WORDS, PassageCuts, PassageOptions, SourceCuts,
};
use lookalike::progress::NoProgress;
use lookalike::read::{Collection, TextUnit};
use lookalike::report::phrases::{count, one_line, thousands};
use lookalike::report::{self, option_name};
use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;
use std::time::Instant;

const HEADER: Style = Style::DIMMED;

/// Which words go.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Repeated passages")]
pub(super) struct CutArgs {
    /// Cut repeated passages out of the documents in place of whole near-duplicates: of each the
    /// first place stays, by --keep
    #[arg(long, conflicts_with_all = ["annotate", "removed", "skipped"])]
    #[arg(conflicts_with_all = ["move_to", "link", "script"])]
    pub(super) passages: bool,

    /// Words of the shortest passage, 2 or more
    #[arg(long, value_name = "N", default_value_t = DEFAULT_WORDS, requires = "passages")]
    min_words: usize,

    /// Cut words, or whole lines, paragraphs or sentences all of whose words are repeated: word,
    /// line, paragraph, sentence
    #[arg(long, value_name = "UNIT", default_value = "word", requires = "passages")]
    at: CutLimit,

    /// Leave out documents that lose words and keep fewer than N
    #[arg(long, value_name = "N", default_value_t = 1, requires = "passages")]
    min_left: u64,

    /// Boilerplate: cut passages that are in N documents or more, in all of them
    #[arg(long, value_name = "N", requires = "passages")]
    min_documents: Option<u64>,

    /// Boilerplate: cut passages that are in this share of the documents or more, in all of them
    #[arg(long, value_name = "SHARE", requires = "passages", value_parser = share)]
    min_share: Option<f64>,

    /// Boilerplate: count the documents of each source by themselves (--source-field)
    #[arg(long, requires = "passages")]
    per_source: bool,
}

/// At which limits words are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CutLimit(Option<TextUnit>);

impl FromStr for CutLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "word" => Ok(Self(None)),
            "line" => Ok(Self(Some(TextUnit::Line))),
            "paragraph" => Ok(Self(Some(TextUnit::Paragraph))),
            "sentence" if TextUnit::Sentence.is_supported() => Ok(Self(Some(TextUnit::Sentence))),
            "sentence" => Err("this build has no sentences; expected word, line or \
                               paragraph"
                .to_owned()),
            _ => Err("expected word, line, paragraph or sentence".to_owned()),
        }
    }
}

fn share(text: &str) -> Result<f64, String> {
    let share: Option<f64> = text.parse().ok();
    share
        .filter(|share| *share > 0.0 && *share <= 1.0)
        .ok_or_else(|| "expected a number above 0 and at most 1, such as 0.3".to_owned())
}

impl CutArgs {
    fn options(&self) -> Result<CutOptions, CommandError> {
        let is_boilerplate = self.min_documents.is_some() || self.min_share.is_some();
        if self.per_source && !is_boilerplate {
            let message = "--per-source counts the documents of boilerplate: add --min-documents N \
                           or --min-share SHARE";
            return Err(CommandError::Usage(message.to_owned()));
        }
        if self.min_documents.is_some_and(|least| least < 2) {
            let message = "--min-documents: a passage is repeated in 2 documents or more; expected \
                           a number from 2 on";
            return Err(CommandError::Usage(message.to_owned()));
        }
        let rule = if is_boilerplate {
            CutRule::Boilerplate {
                min_documents: self.min_documents.unwrap_or(2),
                min_share: self.min_share.unwrap_or(0.0),
                per_source: self.per_source,
            }
        } else {
            CutRule::Copies
        };
        Ok(CutOptions { rule, unit: self.at.0, min_left: self.min_left })
    }
}

/// Runs the command.
pub(super) fn run(args: &DedupArgs, worker: WorkerOption<'_>) -> CommandResult {
    let start = Instant::now();
    let cut = args.cut.options()?;
    let (tokens, case) = args.shingle.words().rule();
    args.reading.refuse_units("compares parts of documents: leave out --unit or --passages")?;
    args.reading.refuse_other_words()?;
    args.run.refuse_resume("--passages")?;
    let options = PassageOptions::new(args.cut.min_words, tokens, case)?;
    let options = options.with_skip_duplicate_ids(args.reading.skip_bad());
    let options = args.run.apply(options)?;
    let reference = args.run.reference();
    let output = args.result.output.as_deref().filter(|output| *output != Path::new("-"));
    report::check_places(std::iter::empty(), output, &args.inputs, reference)
        .map_err(|taken| CommandError::Usage(taken.to_string()))?;
    let mut reading = args.reading.options(worker);
    reading.fields = options.fields();
    let waiting = WaitingNote::new(args.inputs.iter().chain(reference), args.result.quiet);
    let collection = Collection::open_with_reference(&args.inputs, reference, &reading)?;
    drop(waiting);
    let destination = super::destination(args, &collection, None)?;
    if let Some(destination) = &destination {
        let refused = |error: lookalike::error::Error| {
            CommandError::Usage(error.spelled(option_name).replace("--unit", "--passages"))
        };
        destination.takes_cuts().map_err(refused)?;
    }
    termination::clean_up(output.into_iter())?;
    let others = (!args.result.documents_only).then(|| Others {
        follow_links: reading.follow_links,
        leave_out: reading.leave_out.clone(),
    });
    let survivors = |place: Destination| -> Result<Survivors, CommandError> {
        let survivors = Survivors::create(place, None)?.with_cells(args.result.csv.cells());
        Ok(match &others {
            Some(others) => survivors.with_others(others.clone()),
            None => survivors,
        })
    };
    let destination = destination.filter(|_| !args.result.dry_run);
    if let Some(place) = &destination {
        survivors(place.clone())?.rehearse(&collection)?;
    }
    let bar = StageBar::new(args.result.quiet);
    let cuts = PassageCuts::find(&collection, &options, &cut, &bar)?;
    drop(bar);
    let written = match destination {
        Some(place) => Some(apply_cuts(&cuts, &collection, survivors(place)?, &NoProgress)?),
        None => None,
    };
    print(args, &cuts, written.as_ref())?;
    if !args.result.quiet {
        writeln!(terminal::stderr(), "{} s", seconds(start.elapsed()))?;
    }
    let is_changed = cuts.sources.iter().any(|source| source.cut_words > 0);
    Ok(ExitCode::found_if(args.result.exit_code && is_changed))
}

fn print(args: &DedupArgs, cuts: &PassageCuts, written: Option<&SurvivorCounts>) -> io::Result<()> {
    let mut err = terminal::stderr();
    if args.result.dry_run {
        let mut out = terminal::stdout();
        table(&mut out, &cuts.sources)?;
        out.flush()?;
    } else if !args.result.quiet {
        table(&mut err, &cuts.sources)?;
    }
    if let (Some(written), Some(out), false) = (written, &args.result.output, args.result.quiet) {
        writeln!(
            err,
            "written: {}: {}, {} of them without repeated words; {} left out",
            one_line(&out.to_string_lossy()),
            count(written.kept, "document"),
            thousands(written.changed),
            thousands(written.removed)
        )?;
    }
    summary::write_skipped(&mut err, &cuts.run, false)
}

fn table(out: &mut impl Write, sources: &[SourceCuts]) -> io::Result<()> {
    let mut sources: Vec<&SourceCuts> = sources.iter().collect();
    sources.sort_by(|a, b| b.cut_words.cmp(&a.cut_words).then_with(|| a.name.cmp(&b.name)));
    writeln!(
        out,
        "{HEADER}{:>11}  {:>11}  {:>11}  {:>13}  {:>13}  {:>8}  source{HEADER:#}",
        "documents", "changed", "go", "words", "cut", "share"
    )?;
    for source in sources {
        let share =
            if source.words == 0 { 0.0 } else { source.cut_words as f64 / source.words as f64 };
        writeln!(
            out,
            "{:>11}  {:>11}  {:>11}  {:>13}  {:>13}  {:>6} %  {}",
            thousands(source.documents),
            thousands(source.changed),
            thousands(source.removed),
            thousands(source.words),
            thousands(source.cut_words),
            percent(share),
            one_line(&source.name)
        )?;
    }
    Ok(())
}
