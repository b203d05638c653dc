//! The arguments of `lookalike shard plan`, which all tasks read again from the plan.

use crate::arguments::options::{KeepArgs, WorkArgs};
use crate::arguments::parameter_args::{ParameterArgs, ShingleArgs};
use crate::arguments::read_args::ReadArgs;
use crate::cmd::CommandError;
use crate::extraction::WorkerOption;
use crate::output::terminal::ColorArgs;
use clap::{Parser, Subcommand};
use lookalike::core::params::Params;
use lookalike::find::{FindOptions, PairList};
use lookalike::read::Collection;
use lookalike::request::RunInputs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

/// Divide the inputs: write FOLDER/plan.json, which all tasks read
#[derive(Debug, clap::Args)]
#[command(mut_arg("skip_bad", |skip_bad| {
    let help = "Leave out and count bad records; repeated ids remain an error";
    skip_bad.help(help).long_help(help)
}))]
pub(crate) struct PlanArgs {
    /// The folder of the job, which all tasks see; made if it is not there
    pub(super) folder: PathBuf,

    /// Files and folders, as for `find`
    #[arg(required_unless_present = "files_from", value_name = "INPUT")]
    pub(super) inputs: Vec<PathBuf>,

    /// Tasks of the stage `keys`, each with a share of the inputs [default: one per GiB]
    #[arg(long, value_name = "N", value_parser = tasks, help_heading = "How the work is divided")]
    pub(super) tasks: Option<NonZeroU32>,

    /// Tasks of the stages `connect` and `decide` [default: as many as --tasks]
    #[arg(long, value_name = "N", value_parser = tasks, help_heading = "How the work is divided")]
    pub(super) parts: Option<NonZeroU32>,

    /// Ids of records found in folders begin with the name of their file; `find` does that by
    /// itself where two files share an id
    #[arg(long, help_heading = "How inputs are read")]
    pub(super) ids_by_file: bool,

    /// List all verified pairs, for `finish --pairs`
    #[arg(long, help_heading = "Output")]
    pairs: bool,

    #[command(flatten)]
    parameters: ParameterArgs,

    #[command(flatten)]
    shingle: ShingleArgs,

    #[command(flatten)]
    keep: KeepArgs,

    /// Files or folders whose documents are always kept; documents of INPUT that resemble one of
    /// them are its duplicates
    #[arg(long, value_name = "INPUT", help_heading = "Which documents are kept")]
    pub(super) reference: Vec<PathBuf>,

    #[command(flatten)]
    reading: ReadArgs,
}

fn tasks(text: &str) -> Result<NonZeroU32, String> {
    text.parse().map_err(|_| "expected a whole number from 1, such as 8".to_owned())
}

/// The command line of `shard plan`, which a plan keeps.
#[derive(Debug, Parser)]
#[command(name = "lookalike")]
struct PlanCommandLine {
    #[command(flatten)]
    _color: ColorArgs,

    #[command(subcommand)]
    command: PlanCommand,
}

#[derive(Debug, Subcommand)]
enum PlanCommand {
    #[command(subcommand)]
    Shard(PlanSubcommand),
}

#[derive(Debug, Subcommand)]
enum PlanSubcommand {
    Plan(PlanArgs),
}

impl PlanArgs {
    /// Parses the arguments of a command line that a plan keeps.
    ///
    /// # Errors
    /// The error of clap if they are not the arguments of `shard plan`.
    pub(super) fn of_command_line(arguments: &[String]) -> Result<Self, clap::Error> {
        let PlanCommand::Shard(PlanSubcommand::Plan(args)) =
            PlanCommandLine::try_parse_from(arguments)?.command;
        Ok(args)
    }

    /// Whether bad records are accepted, so that they do not change the exit code.
    pub(super) fn skips_bad(&self) -> bool {
        self.reading.skip_bad()
    }

    /// Adds the inputs of `--files-from`. Refuses standard input, because every task reads the
    /// list.
    pub(crate) fn read_list(&mut self) -> Result<(), CommandError> {
        if self.reading.lists_on_stdin() {
            return Err(CommandError::Usage(
                "--files-from -: every task reads the list, but standard input can be read only \
                 once; write the list to a file"
                    .to_owned(),
            ));
        }
        self.reading.read_list(&mut self.inputs)
    }

    /// The list of `--files-from`.
    pub(super) fn list(&self) -> Option<&Path> {
        self.reading.list()
    }

    /// Builds the options for the work of a task.
    pub(super) fn options(&self, work: &WorkArgs) -> Result<FindOptions, CommandError> {
        self.parameters
            .refuse_auto("`lookalike tune INPUT` chooses them, --bands and --rows say")?;
        self.reading.refuse_units(
            "is not supported in jobs that are divided over tasks; use `lookalike find` with \
             --memory, or split the documents before",
        )?;
        let builder = self.parameters.builder(self.shingle.rule(self.reading.normalization())?);
        let mut options = self.keep.options(Params::new(&builder)?, work)?;
        options.pairs = PairList::new(self.pairs, false)?;
        options.skip_repeated_ids = false;
        Ok(options)
    }

    /// Opens the inputs of the plan.
    pub(super) fn open(
        &self,
        options: &FindOptions,
        worker: WorkerOption<'_>,
    ) -> Result<Collection, CommandError> {
        let reading = self.reading.options(worker);
        let inputs = RunInputs::of_paths(&self.inputs, &self.reference, reading);
        let collection = inputs.open_for(options)?;
        if self.ids_by_file {
            collection.name_ids_by_file();
        }
        Ok(collection)
    }
}
