//! Flags that several commands share, and what they mean.

use crate::cmd::CommandError;
use crate::extraction::{ExtractArgs, WorkerOption, size};
use crate::normalization_args::NormalizationArgs;
use crate::streams::refuse_streams;
use clap::{Args, ValueEnum};
use lookalike::core::error::ParamsError;
use lookalike::core::keep::{KeepPolicy, KeepRule};
use lookalike::core::kernel::Kernel;
use lookalike::core::parameter::Parameter;
use lookalike::core::params::{
    Case, DEFAULT_SEED, Measure, Params, ParamsBuilder, Scheme, ShingleRule, TokenRule,
};
use lookalike::find::{FindOptions, Grouping, MAX_THREADS, Memory};
use lookalike::read::{Format, Normalization, ReadError, ReadOptions};
use lookalike::report::csv::CellRule;
use lookalike::stop_words::stop_words;
use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

/// What a shingle is.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is compared")]
pub(crate) struct ShingleArgs {
    /// Shingles: words:N, chars:N or bytes:N with N from 1 to 256, or bag (single words)
    #[arg(long, value_name = "UNIT:N", default_value = "words:5")]
    shingle: ShingleRule,

    /// Words: `words` are runs of letters and digits, and single characters where a script has no
    /// spaces; `word-runs` leaves those as runs; `whitespace` splits at white space only
    /// [default: words; word-runs with --segment]
    #[arg(long, value_name = "RULE")]
    tokens: Option<TokenRule>,

    /// `fold` reads upper case as lower case, `keep` distinguishes them
    #[arg(long, value_name = "CASE", default_value = "fold")]
    case: Case,

    /// Let repeats count: the second use of a shingle is another one
    #[arg(long)]
    frequencies: bool,

    /// Leave out the stop words of a language before forming shingles: en, de, fr, zh, …
    #[arg(long, value_name = "LANG", conflicts_with = "language")]
    stop_words: Option<String>,
}

impl ShingleArgs {
    /// The rule they describe.
    pub(crate) fn rule(&self, normalization: Normalization) -> Result<ShingleRule, ParamsError> {
        let list = self.stop_words.as_deref().map(stop_words).transpose()?;
        let tokens = if normalization.segment { TokenRule::WordRuns } else { TokenRule::Words };
        Ok(self
            .shingle
            .clone()
            .with_tokens(self.tokens.unwrap_or(tokens))
            .with_case(self.case)
            .with_frequencies(self.frequencies)
            .with_stop_words(list))
    }
}

/// How alike documents must be, and how surely they are found.
#[derive(Debug, Args)]
#[command(next_help_heading = "How alike, and how surely found")]
pub(crate) struct AimArgs {
    /// Least exact similarity of a reported pair: above 0, at most 1
    #[arg(long, short, value_name = "J", default_value = "0.8", value_parser = threshold)]
    #[arg(allow_negative_numbers = true)]
    threshold: f64,

    /// Least predicted share of the pairs at the threshold that are found: above 0, below 1
    #[arg(long, value_name = "SHARE", default_value = "0.99", value_parser = recall)]
    #[arg(allow_negative_numbers = true)]
    recall: f64,
}

/// What is similar.
#[derive(Debug, Args)]
#[command(next_help_heading = "How alike, and how surely found")]
pub(crate) struct MeasureArgs {
    /// `jaccard`: shared shingles among all of both; `containment`: among those of the shorter,
    /// which finds an excerpt inside a longer text
    #[arg(long, value_name = "WHAT", default_value = "jaccard")]
    pub(crate) measure: Measure,

    /// Miss no pair: candidates by shared rare shingles instead of signatures; slower, more memory
    #[arg(long)]
    pub(crate) exact: bool,
}

/// What signatures are.
#[derive(Debug, Args)]
#[command(next_help_heading = "How alike, and how surely found")]
pub(crate) struct SignatureArgs {
    /// Values in a signature, 1 to 8192 [default: chosen for threshold and recall]
    #[arg(long, value_name = "N")]
    num_hashes: Option<usize>,

    /// Bands of a signature; `find`, `dedup` and `tune` take `auto`, too: values, bands and rows
    /// that take the least time for 2,000 of the documents, which are read twice [default: chosen
    /// for threshold and recall]
    #[arg(long, value_name = "N")]
    bands: Option<BandsArg>,

    /// Rows of a band; bands × rows is at most the signature's length [default: chosen]
    #[arg(long, value_name = "N")]
    rows: Option<usize>,

    /// Signatures: fss, or classic MinHash by multiply-shift, mod-prime, xor or xor-multiply
    #[arg(long, value_name = "SCHEME", default_value = "fss")]
    scheme: Scheme,

    /// Random seed of the hash functions; the same seed gives the same ones in every version
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED, value_parser = seed)]
    #[arg(allow_negative_numbers = true)]
    seed: u64,
}

/// The value of `--bands`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BandsArg {
    Auto,
    Number(usize),
}

impl FromStr for BandsArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            number => {
                let number = number.parse().map(Self::Number);
                number.map_err(|_| "expected a whole number from 1 on, or auto".to_owned())
            }
        }
    }
}

impl SignatureArgs {
    /// Whether bands and rows are chosen for a sample of the documents.
    ///
    /// # Errors
    /// Rows that are named, too.
    pub(crate) fn bands_auto(&self) -> Result<bool, CommandError> {
        let auto = self.bands == Some(BandsArg::Auto);
        if auto && self.rows.is_some() {
            let why = "--bands auto chooses the rows, too: leave out --rows";
            return Err(CommandError::Usage(why.to_owned()));
        }
        Ok(auto)
    }

    /// Refuses `--bands auto`; `why` continues the message, with the remedy.
    pub(crate) fn refuse_auto(&self, why: &str) -> Result<(), CommandError> {
        if self.bands == Some(BandsArg::Auto) {
            let message = format!("--bands auto is for `find`, `dedup` and `tune`: {why}");
            return Err(CommandError::Usage(message));
        }
        Ok(())
    }

    /// Parameters for Jaccard similarity start from these.
    pub(crate) fn builder(&self, shingle: ShingleRule, aim: &AimArgs) -> ParamsBuilder {
        ParamsBuilder {
            shingle,
            threshold: aim.threshold,
            measure: Measure::Jaccard,
            exact: false,
            recall: aim.recall,
            num_hashes: self.num_hashes,
            bands: match self.bands {
                Some(BandsArg::Number(bands)) => Some(bands),
                Some(BandsArg::Auto) | None => None,
            },
            rows: self.rows,
            scheme: self.scheme,
            seed: self.seed,
        }
    }

    /// The same with the aim of parameters that are there.
    pub(crate) fn wishes_like(&self, shingle: ShingleRule, params: &Params) -> ParamsBuilder {
        let aim = AimArgs { threshold: params.threshold(), recall: params.recall() };
        self.builder(shingle, &aim)
    }
}

/// What is similar, and how candidates are found.
#[derive(Debug, Args)]
pub(crate) struct ParameterArgs {
    #[command(flatten)]
    aim: AimArgs,

    #[command(flatten)]
    measure: MeasureArgs,

    #[command(flatten)]
    signature: SignatureArgs,
}

impl ParameterArgs {
    /// Whether bands and rows are chosen for a sample of the documents.
    ///
    /// # Errors
    /// Options that leave nothing to choose, and inputs that cannot be read twice.
    pub(crate) fn bands_auto<'a>(
        &self,
        mut inputs: impl Iterator<Item = &'a PathBuf>,
    ) -> Result<bool, CommandError> {
        let auto = self.signature.bands_auto()?;
        if auto && (self.measure.exact || self.measure.measure == Measure::Containment) {
            return Err(CommandError::Usage(
                "--bands auto has nothing to choose: --exact and --measure containment find all \
                 pairs without bands; leave it out"
                    .to_owned(),
            ));
        }
        if auto {
            inputs.try_for_each(|input| refuse_streams(input, "--bands auto"))?;
        }
        Ok(auto)
    }

    /// As [`SignatureArgs::refuse_auto`].
    pub(crate) fn refuse_auto(&self, why: &str) -> Result<(), CommandError> {
        self.signature.refuse_auto(why)
    }

    /// What [`Params`](lookalike::core::params::Params) start from.
    pub(crate) fn builder(&self, shingle: ShingleRule) -> ParamsBuilder {
        let MeasureArgs { measure, exact } = self.measure;
        ParamsBuilder { measure, exact, ..self.signature.builder(shingle, &self.aim) }
    }
}

/// A similarity as it is typed. Its range is checked where all ranges are, by `Params`.
pub(crate) fn threshold(text: &str) -> Result<f64, ParamsError> {
    number(text, Parameter::Threshold, "a number above 0 and at most 1, such as 0.8")
}

fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

pub(crate) fn recall(text: &str) -> Result<f64, ParamsError> {
    number(text, Parameter::Recall, "a number above 0 and below 1, such as 0.99")
}

fn number(text: &str, parameter: Parameter, expected: &'static str) -> Result<f64, ParamsError> {
    let refused = |_| ParamsError::Parse { parameter, got: text.to_owned(), expected };
    text.trim().parse().map_err(refused)
}

/// Who is kept.
#[derive(Debug, Args)]
#[command(next_help_heading = "What stays, and how the work is done")]
pub(crate) struct KeepArgs {
    /// Which document of a group stays: longest, shortest, first or last (read), newest, oldest,
    /// field:NAME (its highest value; field:NAME:asc the lowest), path:GLOB (what matches it).
    /// Several in a row decide in turn [default: longest]
    #[arg(long, value_name = "RULE")]
    keep: Vec<KeepRule>,

    /// `stars`: every duplicate resembles the kept document; `components`: chains are followed
    #[arg(long, value_enum, value_name = "HOW", default_value = "stars")]
    group: GroupArg,

    /// The field or column whose value says which source a document is counted under [default: its
    /// file, or its folder directly below INPUT]
    #[arg(long, value_name = "NAME")]
    source_field: Option<String>,
}

/// How the work is done.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "What stays, and how the work is done")]
pub(crate) struct WorkArgs {
    /// The most memory to use, such as 512MiB or 4GiB; what does not fit goes through temporary
    /// files [default: no limit]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,

    /// Folder for temporary files [default: that of the system]
    #[arg(long, value_name = "FOLDER")]
    temp_dir: Option<PathBuf>,

    #[command(flatten)]
    threads: ThreadArgs,

    /// Inner loops: scalar, portable, avx2 or avx512; all give the same
    #[arg(long, value_name = "NAME", hide = true)]
    kernel: Option<String>,
}

/// How many work at a time.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "What stays, and how the work is done")]
pub(crate) struct ThreadArgs {
    /// Threads [default: one per processor]
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<NonZeroUsize>,
}

/// Who is kept, and how the work is done.
#[derive(Debug, Args)]
#[command(next_help_heading = "What stays, and how the work is done")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    keep: KeepArgs,

    /// Files or folders whose documents are always kept; documents of INPUT that resemble one of
    /// them are its duplicates
    #[arg(long, value_name = "INPUT")]
    reference: Vec<PathBuf>,

    #[command(flatten)]
    work: WorkArgs,

    /// Keep finished stages in --temp-dir, and go on from them when the same run was interrupted
    #[arg(long, requires = "temp_dir")]
    resume: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum GroupArg {
    Stars,
    Components,
}

impl KeepArgs {
    /// What to do with the documents.
    pub(crate) fn options(
        &self,
        params: Params,
        work: &WorkArgs,
    ) -> Result<FindOptions, CommandError> {
        let mut options = FindOptions::new(params);
        if !self.keep.is_empty() {
            options.keep = KeepPolicy::new(self.keep.clone());
        }
        options.grouping = match self.group {
            GroupArg::Stars => Grouping::Stars,
            GroupArg::Components => Grouping::Components,
        };
        options.source_field.clone_from(&self.source_field);
        options.memory = Memory {
            limit: work.memory,
            temp_dir: Some(work.temp_dir.clone().unwrap_or_else(std::env::temp_dir)),
            resume: false,
        };
        if let Some(threads) = work.threads.threads {
            options.threads = threads;
        }
        if let Some(name) = &work.kernel {
            options.kernel = Kernel::named(name)?;
        }
        Ok(options)
    }
}

impl RunArgs {
    /// What to do with the documents.
    pub(crate) fn options(&self, params: Params) -> Result<FindOptions, CommandError> {
        let mut options = self.keep.options(params, &self.work)?;
        options.memory.resume = self.resume;
        Ok(options)
    }

    /// Collections whose documents are always kept.
    pub(crate) fn reference(&self) -> &[PathBuf] {
        &self.reference
    }
}

/// How CSV files are written.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct CsvArgs {
    /// CSV files: put ' before texts that a spreadsheet would run as a formula, those that begin
    /// with = + - @ or a tab or line end
    #[arg(long)]
    csv_safe: bool,
}

impl CsvArgs {
    /// How values are written.
    pub(crate) fn cells(&self) -> CellRule {
        if self.csv_safe { CellRule::FormulaSafe } else { CellRule::Exact }
    }
}

fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let threads: Option<NonZeroUsize> = text.parse().ok();
    threads
        .filter(|threads| threads.get() <= MAX_THREADS)
        .ok_or_else(|| format!("expected a whole number from 1 to {MAX_THREADS}, such as 4"))
}

/// The path that bytes are.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have bytes that are no path")]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(std::ffi::OsStr::from_bytes(bytes).into())
}

/// The path that bytes are.
#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}

/// How inputs are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "How inputs are read")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct ReadArgs {
    /// Format of all inputs: file (by what each is), text (as it is, whatever it is), lines
    /// (id, blank, text), jsonl, csv, tsv, mbox, warc or tar, each also .gz or .zst, or parquet
    /// [default: by name and first bytes]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// Field or column with the id; in JSONL `meta.id` is a field inside a field
    #[arg(long, value_name = "NAME", default_value = "id")]
    id_field: String,

    /// Field or column with the text
    #[arg(long, value_name = "NAME", default_value = "text")]
    text_field: String,

    #[arg(long, help = "Ids are FILE:LINE, whatever the record says")]
    line_ids: bool,

    /// Leave out bad records and repeated ids, count them and go on
    #[arg(long)]
    skip_bad: bool,

    /// Folders: read what begins with a dot, too
    #[arg(long)]
    hidden: bool,

    /// Folders: read what .gitignore and .ignore leave out, too
    #[arg(long)]
    no_ignore: bool,

    /// Folders: follow symbolic links
    #[arg(long)]
    follow: bool,

    /// Folders: read only files that match GLOB, such as '*.txt' or '/drafts/**'; may be repeated
    #[arg(long, value_name = "GLOB")]
    include: Vec<String>,

    /// Folders: leave out files and folders that match GLOB; may be repeated
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,

    /// Folders: read only files of a type, by the names of ripgrep: txt, md, html, pdf, …; may be
    /// repeated
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,

    /// Read the names of further inputs from FILE, one a line, or from standard input (-)
    #[arg(long, value_name = "FILE")]
    files_from: Option<PathBuf>,

    /// The names in --files-from end with a NUL byte, as those of find -print0
    #[arg(long, short = '0', requires = "files_from")]
    null: bool,

    #[arg(long, value_name = "LABEL")]
    #[arg(help = "Encoding of all files: windows-1252, shift_jis, … [default: found for each]")]
    encoding: Option<String>,

    #[command(flatten)]
    normalization: NormalizationArgs,

    #[command(flatten)]
    extract: ExtractArgs,
}

impl ReadArgs {
    /// What the readers take.
    pub(crate) fn options(&self, worker: WorkerOption<'_>) -> ReadOptions {
        ReadOptions {
            format: self.format,
            id_field: self.id_field.clone(),
            text_field: self.text_field.clone(),
            line_ids: self.line_ids,
            skip_bad: self.skip_bad,
            hidden: self.hidden,
            ignore_files: !self.no_ignore,
            follow_links: self.follow,
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            types: self.types.clone(),
            leave_out: Vec::new(),
            fields: Vec::new(),
            encoding: self.encoding.clone(),
            extract: self.extract.options(worker),
            max_expanded: self.extract.max_expanded(),
            normalization: self.normalization(),
        }
    }

    /// Adds the inputs that `--files-from` lists to those that are named.
    pub(crate) fn read_list(&self, inputs: &mut Vec<PathBuf>) -> Result<(), CommandError> {
        let Some(list) = &self.files_from else { return Ok(()) };
        let shown = list.display();
        let mut bytes = Vec::new();
        let read = if list.as_os_str() == "-" {
            if inputs.iter().any(|input| input.as_os_str() == "-") {
                return Err(ReadError::StdinTwice.into());
            }
            io::stdin().read_to_end(&mut bytes)
        } else {
            File::open(list).and_then(|mut file| file.read_to_end(&mut bytes))
        };
        read.map_err(|error| CommandError::Data(format!("--files-from {shown}: {error}")))?;
        let end = if self.null { 0 } else { b'\n' };
        for name in bytes.split(|byte| *byte == end) {
            let name = if self.null { name } else { name.strip_suffix(b"\r").unwrap_or(name) };
            if !name.is_empty() {
                inputs.push(path_of(name).ok_or_else(|| {
                    let name = String::from_utf8_lossy(name);
                    CommandError::Data(format!("--files-from {shown}: {name:?} is no file name"))
                })?);
            }
        }
        if inputs.is_empty() {
            return Err(CommandError::Data(format!("--files-from {shown}: it names no input")));
        }
        Ok(())
    }

    /// Whether the names of inputs come on standard input.
    pub(crate) fn lists_on_stdin(&self) -> bool {
        self.files_from.as_ref().is_some_and(|list| list.as_os_str() == "-")
    }

    /// What is done to every text.
    pub(crate) fn normalization(&self) -> Normalization {
        self.normalization.normalization()
    }

    /// Whether bad records are left out rather than an error.
    pub(crate) fn skip_bad(&self) -> bool {
        self.skip_bad
    }
}
