//! `lookalike shard status FOLDER`: which tasks are done.

use crate::cmd::CommandResult;
use crate::exit_code::ExitCode;
use crate::output::terminal;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use lookalike::report::phrases::count;
use lookalike::shard::job::{Job, JobStage};
use std::io::Write;
use std::path::PathBuf;

/// Which tasks of each stage are done
#[derive(Debug, clap::Args)]
pub(super) struct StatusArgs {
    /// The folder of the job
    folder: PathBuf,

    /// Print only the numbers of the tasks of a stage that are not done, with commas between them,
    /// as `sbatch --array` takes them
    #[arg(long, value_parser = stage(), value_name = "STAGE")]
    missing: Option<JobStage>,
}

/// Parses the name of a stage.
fn stage() -> impl TypedValueParser<Value = JobStage> {
    PossibleValuesParser::new(JobStage::ALL.map(JobStage::name)).try_map(|name| {
        let mut stages = JobStage::ALL.into_iter();
        stages.find(|stage| stage.name() == name).ok_or("unknown stage")
    })
}

pub(super) fn run(args: &StatusArgs) -> CommandResult {
    let job = Job::open(&args.folder)?;
    let mut out = terminal::stdout();
    let numbers =
        |missing: &[u32]| missing.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    if let Some(stage) = args.missing {
        let mut missing = [job.missing(stage)?, job.cut_short(stage)?].concat();
        missing.sort_unstable();
        writeln!(out, "{}", numbers(&missing))?;
        return Ok(ExitCode::SUCCESS);
    }
    for stage in job.plan().stages() {
        let tasks = job.plan().tasks(stage);
        let missing = job.missing(stage)?;
        let cut = job.cut_short(stage)?;
        let finished = tasks.saturating_sub((missing.len() + cut.len()) as u32);
        write!(out, "{stage}: {finished} of {} done", count(tasks.into(), "task"))?;
        if !missing.is_empty() {
            write!(out, "; missing: {}", numbers(&missing))?;
        }
        if !cut.is_empty() {
            write!(out, "; cut short, remove their files: {}", numbers(&cut))?;
        }
        writeln!(out)?;
    }
    Ok(ExitCode::SUCCESS)
}
