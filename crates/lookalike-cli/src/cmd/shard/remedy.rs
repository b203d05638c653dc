//! Errors of reading whose remedy is another one in a job than in `find`.

use crate::cmd::CommandError;
use lookalike::error::Error;
use lookalike::find::FindError;
use lookalike::read::ReadError;
use lookalike::shard::job::JobError;
use std::path::Path;

/// The error of a stage: `plan` where `is_plan`, otherwise of one that opens the inputs of a plan.
pub(super) fn of_stage(error: CommandError, is_plan: bool) -> CommandError {
    let CommandError::Run(Error::Find(FindError::Read(error))) = error else { return error };
    match error {
        ReadError::NotAgain { source_name } => CommandError::Usage(format!(
            "{source_name} is a stream or an index, and each task reads the inputs from files; \
             write its documents to a file (`lookalike index export` for an index), and name \
             that"
        )),
        ReadError::Missing { path } if is_plan => {
            CommandError::Data(format!("{path}: no such file or folder; check the name"))
        }
        ReadError::Missing { path } => missing_in_task(Path::new(&path)),
        error => CommandError::Run(error.into()),
    }
}

/// The error of a task for a file of the plan that is not there.
pub(super) fn missing_in_task(path: &Path) -> CommandError {
    let remedy = if path.is_relative() {
        "names in the plan are relative to the folder in which `lookalike shard plan` ran: run \
         tasks there, or make a new plan with absolute names"
    } else {
        "the plan names it: tasks need it under this name on all machines"
    };
    CommandError::Data(format!("{}: no such file or folder; {remedy}", path.display()))
}

/// The error of the stage `components`, which refuses repeated ids with `--skip-bad`, too.
pub(super) fn of_components(error: JobError, has_ids_by_file: bool) -> CommandError {
    match error {
        JobError::Find(FindError::RepeatedId { id, first, second }) if first != second => {
            let helps = !has_ids_by_file && first.source() != second.source();
            let by_file = if helps {
                "--ids-by-file puts the names of files before the ids of records in folders, "
            } else {
                ""
            };
            CommandError::Data(format!(
                "the id {id:?} occurs at {first} and again at {second}; ids must be unique in a \
                 job, with --skip-bad, too. Give each document an id of its own, and make a new \
                 plan: {by_file}--id-field names another field, --line-ids makes ids of file \
                 names and line numbers"
            ))
        }
        error => error.into(),
    }
}
