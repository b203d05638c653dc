//! `lookalike shard plan FOLDER INPUT…`: writes the plan for all tasks.

use super::args::PlanArgs;
use crate::arguments::options::WorkArgs;
use crate::cmd::{CommandError, CommandResult};
use crate::exit_code::ExitCode;
use crate::extraction::WorkerOption;
use crate::output::terminal;
use lookalike::report::phrases::{count, one_line};
use lookalike::shard::job::{Division, Job, JobStage};
use std::ffi::OsString;
use std::io::Write;
use std::num::NonZeroU32;
use std::path::Path;

/// Bytes of input for each task, unless `--tasks` sets the number of tasks.
const TASK_BYTES: u64 = 1 << 30;

/// Writes the plan, and prints the commands to run.
pub(super) fn run(
    args: &mut PlanArgs,
    arguments: &[OsString],
    worker: WorkerOption<'_>,
) -> CommandResult {
    args.read_list()?;
    refuse_inside(&args.folder, args.inputs.iter().chain(&args.reference))?;
    let mut options = args.options(&WorkArgs::default())?;
    let collection = args.open(&options, worker)?;
    let mut arguments = texts(arguments)?;
    if options.keep_by_inputs {
        options.resolve_keep(&collection);
        // Tasks that read no documents cannot detect which inputs are files, so the plan states the
        // keep rules.
        let after_command = arguments.iter().position(|word| word == "plan").map_or(1, |at| at + 1);
        let rules = options.keep.rules().iter().map(|rule| format!("--keep={rule}"));
        arguments.splice(after_command..after_command, rules);
    }
    let needed = collection.bytes().unwrap_or(0).div_ceil(TASK_BYTES);
    let needed = u32::try_from(needed).ok().and_then(NonZeroU32::new);
    let shares = args.tasks.or(needed).unwrap_or(NonZeroU32::MIN);
    let division = Division { shares, parts: args.parts.unwrap_or(shares) };
    let job = Job::create(&args.folder, &collection, &options, division, arguments)?;
    let mut err = terminal::stderr();
    let folder = args.folder.to_string_lossy();
    let folder = one_line(&folder);
    writeln!(err, "plan: {folder}/plan.json")?;
    for stage in job.plan().stages() {
        let tasks = job.plan().tasks(stage);
        let (task, numbers) = match stage {
            JobStage::Rarity | JobStage::Label => ("", String::new()),
            _ if tasks == 1 => (" 0", String::new()),
            _ => (" TASK", format!(" for TASK from 0 to {}", tasks - 1)),
        };
        let tasks = count(tasks.into(), "task");
        writeln!(err, "{stage}: {tasks}, `lookalike shard {stage} {folder}{task}`{numbers}")?;
    }
    writeln!(err, "finish: `lookalike shard finish {folder} -o groups.csv`")?;
    Ok(ExitCode::SUCCESS)
}

/// The arguments as texts for the plan. The first is always `lookalike`, so that the plan does not
/// depend on the path of the program.
fn texts(arguments: &[OsString]) -> Result<Vec<String>, CommandError> {
    let text = |argument: &OsString| {
        argument.to_str().map(str::to_owned).ok_or_else(|| {
            CommandError::Usage(format!(
                "{} is not valid UTF-8, which a plan requires; name a parent folder, or list the \
                 inputs with --files-from",
                argument.display()
            ))
        })
    };
    let program = std::iter::once(Ok("lookalike".to_owned()));
    program.chain(arguments.iter().skip(1).map(text)).collect()
}

/// Refuses a folder whose files would be read as documents.
fn refuse_inside<'a>(
    folder: &Path,
    inputs: impl Iterator<Item = &'a std::path::PathBuf>,
) -> Result<(), CommandError> {
    let Ok(folder) = std::path::absolute(folder) else { return Ok(()) };
    for input in inputs {
        let inside = std::path::absolute(input).is_ok_and(|input| folder.starts_with(input));
        if inside && input.is_dir() {
            return Err(CommandError::Usage(format!(
                "the folder of the job, {}, is in the input {}, and its files would be read as \
                 documents; name a folder outside",
                folder.display(),
                input.display()
            )));
        }
    }
    Ok(())
}
