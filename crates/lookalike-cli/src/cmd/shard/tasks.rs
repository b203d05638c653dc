//! `lookalike shard keys FOLDER [TASK…]` and the other stages: runs their tasks.

use super::args::PlanArgs;
use crate::arguments::options::{TempArgs, WorkArgs};
use crate::cmd::error::{missing_in_task, of_job_components};
use crate::cmd::{CommandError, CommandResult};
use crate::exit_code::ExitCode;
use crate::extraction::WorkerOption;
use crate::output::progress_bar::StageBar;
use crate::output::terminal;
use lookalike::find::FindOptions;
use lookalike::progress::Progress;
use lookalike::read::Collection;
use lookalike::shard::job::{Job, JobStage};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Which tasks run.
#[derive(Debug, clap::Args)]
struct TaskArgs {
    /// The folder of the job
    folder: PathBuf,

    /// Numbers of tasks, from 0 [default: all that are not done, one after the other]
    #[arg(value_name = "TASK")]
    tasks: Vec<u32>,

    #[command(flatten)]
    output: QuietArgs,
}

/// Whether anything is printed.
#[derive(Debug, clap::Args)]
struct QuietArgs {
    /// Print errors only
    #[arg(long, short)]
    quiet: bool,
}

/// Count the shingles of a share of the inputs: --exact and containment
#[derive(Debug, clap::Args)]
pub(super) struct CountArgs {
    #[command(flatten)]
    tasks: TaskArgs,
}

/// Add up the counts of all shares
#[derive(Debug, clap::Args)]
pub(super) struct RarityArgs {
    /// The folder of the job
    folder: PathBuf,

    #[command(flatten)]
    output: QuietArgs,
}

/// Read a share of the inputs: leave its documents and their bucket keys
#[derive(Debug, clap::Args)]
pub(super) struct KeysArgs {
    #[command(flatten)]
    tasks: TaskArgs,

    #[command(flatten)]
    work: WorkArgs,
}

/// Connect the documents that share a bucket of a part
#[derive(Debug, clap::Args)]
pub(super) struct ConnectArgs {
    #[command(flatten)]
    tasks: TaskArgs,
}

/// Join the connected documents of some parts
#[derive(Debug, clap::Args)]
pub(super) struct MergeArgs {
    #[command(flatten)]
    tasks: TaskArgs,

    #[command(flatten)]
    temp: TempArgs,
}

/// Find the components of all connected documents
#[derive(Debug, clap::Args)]
pub(super) struct LabelArgs {
    /// The folder of the job
    folder: PathBuf,

    #[command(flatten)]
    output: QuietArgs,

    #[command(flatten)]
    temp: TempArgs,
}

/// Give the documents of components to parts; without TASK also runs what is left of `merge` and
/// `label`
#[derive(Debug, clap::Args)]
pub(super) struct ComponentsArgs {
    #[command(flatten)]
    tasks: TaskArgs,

    #[command(flatten)]
    temp: TempArgs,
}

/// Verify and group the components of a part, whose documents are read again
#[derive(Debug, clap::Args)]
pub(super) struct DecideArgs {
    #[command(flatten)]
    tasks: TaskArgs,

    #[command(flatten)]
    work: WorkArgs,
}

pub(super) fn count(args: &CountArgs, worker: WorkerOption<'_>) -> CommandResult {
    args.tasks.run(JobStage::Count, &|job, task, _| {
        let (collection, options) = open(job, &WorkArgs::default(), worker)?;
        Ok(job.count(task, collection, &options)?)
    })
}

pub(super) fn rarity(args: &RarityArgs) -> CommandResult {
    run_tasks(&args.folder, &[], &args.output, JobStage::Rarity, &|job, _, _| Ok(job.rarity()?))
}

pub(super) fn keys(args: &KeysArgs, worker: WorkerOption<'_>) -> CommandResult {
    args.tasks.run(JobStage::Keys, &|job, task, progress| {
        let (collection, options) = open(job, &args.work, worker)?;
        Ok(job.keys(task, collection, &options, progress)?)
    })
}

pub(super) fn connect(args: &ConnectArgs) -> CommandResult {
    args.tasks.run(JobStage::Connect, &|job, task, _| {
        Ok(job.connect(task, &plan_args(job)?.options(&WorkArgs::default())?)?)
    })
}

pub(super) fn merge(args: &MergeArgs) -> CommandResult {
    run_merge(&args.tasks, &args.temp)
}

fn run_merge(tasks: &TaskArgs, temp: &TempArgs) -> CommandResult {
    tasks.run(JobStage::Merge, &|job, task, _| {
        Ok(job.merge(task, &plan_args(job)?.options(&WorkArgs::with_temp(temp))?)?)
    })
}

pub(super) fn label(args: &LabelArgs, worker: WorkerOption<'_>) -> CommandResult {
    run_label(&args.folder, &args.output, &args.temp, worker)
}

fn run_label(
    folder: &Path,
    output: &QuietArgs,
    temp: &TempArgs,
    worker: WorkerOption<'_>,
) -> CommandResult {
    run_tasks(folder, &[], output, JobStage::Label, &|job, _, _| {
        let (collection, options) = open(job, &WorkArgs::with_temp(temp), worker)?;
        Ok(job.label(&collection, &options)?)
    })
}

pub(super) fn components(args: &ComponentsArgs, worker: WorkerOption<'_>) -> CommandResult {
    let tasks = &args.tasks;
    if tasks.tasks.is_empty() {
        run_merge(tasks, &args.temp)?;
        run_label(&tasks.folder, &tasks.output, &args.temp, worker)?;
    }
    tasks.run(JobStage::Components, &|job, task, _| {
        let (collection, options) = open(job, &WorkArgs::default(), worker)?;
        let has_ids_by_file = job.plan().has_ids_by_file();
        job.components(task, &collection, &options)
            .map_err(|error| of_job_components(error, has_ids_by_file))
    })
}

pub(super) fn decide(args: &DecideArgs, worker: WorkerOption<'_>) -> CommandResult {
    args.tasks.run(JobStage::Decide, &|job, task, progress| {
        let (collection, options) = open(job, &args.work, worker)?;
        Ok(job.decide(task, &collection, &options, progress)?)
    })
}

/// The work of one task.
type RunTask<'a> = dyn Fn(&Job, u32, &dyn Progress) -> Result<(), CommandError> + 'a;

impl TaskArgs {
    fn run(&self, stage: JobStage, task: &RunTask<'_>) -> CommandResult {
        run_tasks(&self.folder, &self.tasks, &self.output, stage, task)
    }
}

/// Runs the named tasks, or all unfinished tasks. Does not repeat finished tasks.
fn run_tasks(
    folder: &Path,
    named: &[u32],
    output: &QuietArgs,
    stage: JobStage,
    task: &RunTask<'_>,
) -> CommandResult {
    let job = Job::open(folder)?;
    let tasks = if named.is_empty() { job.missing(stage)? } else { named.to_vec() };
    let report = |line: &str| -> Result<(), CommandError> {
        if !output.quiet {
            writeln!(terminal::stderr(), "{line}")?;
        }
        Ok(())
    };
    if tasks.is_empty() {
        report(&format!("{stage}: all tasks are done"))?;
    }
    for number in tasks {
        if job.is_done(stage, number)? {
            report(&format!("{stage} {number}: was done before"))?;
            continue;
        }
        let bar = StageBar::new(output.quiet);
        task(&job, number, &bar)?;
        drop(bar);
        report(&format!("{stage} {number}: done"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The inputs and options of the plan, with the memory and threads of a task.
pub(super) fn open(
    job: &Job,
    work: &WorkArgs,
    worker: WorkerOption<'_>,
) -> Result<(Collection, FindOptions), CommandError> {
    let args = plan_args(job)?;
    let options = args.options(work)?;
    Ok((args.open(&options, worker)?, options))
}

/// The arguments that the plan was made with.
pub(super) fn plan_args(job: &Job) -> Result<PlanArgs, CommandError> {
    let mut args = PlanArgs::of_command_line(job.plan().arguments()).map_err(|error| {
        let folder = job.folder().display();
        CommandError::Data(format!(
            "{folder}/plan.json: its arguments cannot be read: {error}; make a new plan in another \
             folder"
        ))
    })?;
    if let Some(list) = args.list().filter(|list| !list.exists()) {
        return Err(missing_in_task(list));
    }
    args.read_list()?;
    Ok(args)
}
