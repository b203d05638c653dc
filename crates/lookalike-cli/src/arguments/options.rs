//! Flags that several commands share: which documents are kept, how the work is done, how results
//! are written.

use crate::arguments::decision_args::DecisionArgs;
use crate::arguments::named_values::one_of;
use crate::cmd::CommandError;
use crate::extraction::size;
use crate::index_place;
use clap::Args;
use lookalike::core::error::ParamsError;
use lookalike::core::keep::{KeepPolicy, KeepRule};
use lookalike::core::kernel::Kernel;
use lookalike::core::params::Params;
use lookalike::find::{FindOptions, Grouping, MAX_THREADS, Memory};
use lookalike::passages::PassageOptions;
use lookalike::report::csv::CellRule;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Options for groups, their kept documents and the sources of documents.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which documents are kept")]
pub(crate) struct KeepArgs {
    /// Which document of a group is kept, such as newest [default: longest, for files by name
    /// first]. Rules: name (only files: final versions before copies, drafts and old versions),
    /// longest, shortest, first or last (read), newest, oldest, field:NAME (its highest value;
    /// field:NAME:asc the lowest), path:GLOB (a path that matches it). Repeat --keep: the first
    /// rule that distinguishes two documents decides
    #[arg(long, value_name = "RULE")]
    keep: Vec<KeepRule>,

    /// `stars`: every duplicate resembles the kept document; `components`: a group also has
    /// documents that resemble the kept one only through other documents
    #[arg(
        long,
        value_name = "HOW",
        default_value = Grouping::Stars.name(),
        value_parser = one_of::<Grouping, _>(Grouping::ALL.map(Grouping::name))
    )]
    group: Grouping,

    /// Field or column that names the source of a document in the counts [default: its file, or its
    /// folder directly below INPUT]
    #[arg(long, value_name = "NAME")]
    source_field: Option<String>,
}

/// Options for the resources of a run.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Resources")]
pub(crate) struct WorkArgs {
    /// The most memory to use, such as 512MiB or 4GiB; temporary files hold the rest
    /// [default: no limit]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,

    #[command(flatten)]
    temp: TempArgs,

    #[command(flatten)]
    threads: ThreadArgs,

    /// Inner loops: scalar, portable, neon, avx2 or avx512; results are equal
    #[arg(long, value_name = "NAME", hide = true)]
    kernel: Option<String>,
}

/// The folder for temporary files.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Resources")]
pub(crate) struct TempArgs {
    /// Folder for temporary files [default: the system's]
    #[arg(long, value_name = "FOLDER")]
    temp_dir: Option<PathBuf>,
}

/// The number of threads.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Resources")]
pub(crate) struct ThreadArgs {
    /// Threads [default: one per processor]
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<NonZeroUsize>,
}

/// Options of a run: kept documents, reference inputs, decisions, resources, resumption.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which documents are kept")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    keep: KeepArgs,

    /// Also compare with these files, folders or indexes, and keep all of their documents.
    /// Documents of INPUT that resemble one of them are its duplicates
    #[arg(long, value_name = "INPUT")]
    reference: Vec<PathBuf>,

    #[command(flatten)]
    decisions: DecisionArgs,

    #[command(flatten)]
    work: WorkArgs,

    #[command(flatten)]
    resume: ResumeArgs,
}

/// The option to resume an interrupted run.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Resources")]
pub(crate) struct ResumeArgs {
    /// Keep finished stages in --temp-dir, and resume from them after an interruption
    #[arg(long, requires = "temp_dir")]
    resume: bool,
}

/// Options for the keep order of documents, and for the field that names their source.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which documents are kept")]
pub(crate) struct OrderArgs {
    /// Which document with a passage comes first, such as newest [default: longest]. Rules:
    /// longest, shortest, first or last (read), newest, oldest, name (of files), field:NAME (its
    /// highest value; field:NAME:asc the lowest), path:GLOB (a path that matches it). Repeat
    /// --keep: the first rule that distinguishes two documents decides
    #[arg(long, value_name = "RULE")]
    keep: Vec<KeepRule>,

    /// Field or column that names the source of a document in the counts [default: its file, or its
    /// folder directly below INPUT]
    #[arg(long, value_name = "NAME")]
    source_field: Option<String>,
}

impl OrderArgs {
    /// Adds the keep order and the source field to `options`.
    pub(crate) fn apply(&self, options: PassageOptions) -> PassageOptions {
        let options = options.with_source_field(self.source_field.clone());
        if self.keep.is_empty() {
            return options;
        }
        options.with_keep(KeepPolicy::new(self.keep.clone()))
    }
}

impl WorkArgs {
    /// Returns options with a folder for temporary files, and defaults for everything else.
    pub(crate) fn with_temp(temp: &TempArgs) -> Self {
        Self { temp: temp.clone(), ..Self::default() }
    }

    /// The memory limit of the run, and the folder for its temporary files.
    pub(crate) fn memory(&self) -> Memory {
        Memory {
            limit: self.memory,
            temp_dir: Some(self.temp.temp_dir.clone().unwrap_or_else(std::env::temp_dir)),
            ..Memory::default()
        }
    }

    /// The number of threads, if the user set it.
    pub(crate) fn threads(&self) -> Option<NonZeroUsize> {
        self.threads.threads
    }

    /// The kernel (the instruction set of the inner loops), if the user chose one.
    pub(crate) fn kernel(&self) -> Result<Option<Kernel>, ParamsError> {
        self.kernel.as_deref().map(Kernel::named).transpose()
    }

    /// Adds the memory limit, the temporary folder, `--resume`, the threads and the kernel to
    /// `options`.
    pub(crate) fn apply(
        &self,
        options: PassageOptions,
        resume: ResumeArgs,
    ) -> Result<PassageOptions, CommandError> {
        let memory = Memory { resume: resume.resume, ..self.memory() };
        let mut options = options.with_memory(memory);
        if let Some(threads) = self.threads() {
            options = options.with_threads(threads);
        }
        Ok(match self.kernel()? {
            Some(kernel) => options.with_kernel(kernel),
            None => options,
        })
    }
}

impl KeepArgs {
    /// Returns the options of a run, without reference inputs and decisions.
    pub(crate) fn options(
        &self,
        params: Params,
        work: &WorkArgs,
    ) -> Result<FindOptions, CommandError> {
        let mut options = FindOptions::new(params);
        options.keep_by_inputs = self.keep.is_empty();
        if !self.keep.is_empty() {
            options.keep = KeepPolicy::new(self.keep.clone());
        }
        options.grouping = self.group;
        options.source_field.clone_from(&self.source_field);
        options.memory = work.memory();
        options.threads = work.threads().unwrap_or(options.threads);
        options.kernel = work.kernel()?.unwrap_or(options.kernel);
        Ok(options)
    }
}

impl RunArgs {
    /// Returns the options of the run. They do not contain the reference inputs.
    pub(crate) fn options(&self, params: Params) -> Result<FindOptions, CommandError> {
        let mut options = self.keep.options(params, &self.work)?;
        options.memory.resume = self.resume.resume;
        options.decisions = self.decisions.read()?;
        Ok(options)
    }

    /// Collections whose documents are always kept.
    pub(crate) fn reference(&self) -> &[PathBuf] {
        &self.reference
    }

    /// Like `reference`. Completes the addresses of indexes in PostgreSQL from the environment.
    ///
    /// # Errors
    /// Errors of [`index_place::with_environment`].
    pub(crate) fn opened_reference(&self) -> Result<Vec<PathBuf>, CommandError> {
        index_place::with_environment(&self.reference)
    }
}

/// Outputs that contain the whole run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct WholeRunArgs {
    /// Write the results to FILE.html, a page to read, or FILE.json. The JSON is the output of
    /// --json. May be repeated [also .gz, .zst]
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Vec<PathBuf>,

    /// Print JSON instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

/// How CSV files are written.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct CsvArgs {
    /// CSV files: put ' before texts that begin with = + - @, a tab or a line end, because a
    /// spreadsheet would run them as formulas
    #[arg(long)]
    csv_safe: bool,
}

impl CsvArgs {
    /// Returns the rule for the cells of CSV files.
    pub(crate) fn cells(&self) -> CellRule {
        if self.csv_safe { CellRule::FormulaSafe } else { CellRule::Exact }
    }
}

/// Output options that `dedup` and `cut` share.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct SurvivorArgs {
    /// Copy only documents to a folder OUT. By default, pictures, scans, hidden files and links in
    /// the inputs are copied too
    #[arg(long, requires = "output")]
    pub(crate) documents_only: bool,

    /// Write a list to FILE.csv: files that were not read, with reasons, and empty documents
    #[arg(long, value_name = "FILE")]
    pub(crate) skipped: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) csv: CsvArgs,

    /// Print no summary and no progress; warnings and skipped files are still printed
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let threads: Option<NonZeroUsize> = text.parse().ok();
    threads
        .filter(|threads| threads.get() <= MAX_THREADS)
        .ok_or_else(|| format!("expected a whole number from 1 to {MAX_THREADS}, such as 4"))
}
