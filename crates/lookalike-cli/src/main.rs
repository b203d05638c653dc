//! The program `lookalike`: the library with the arguments of this process.

use lookalike::extract::WorkerCommand;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Where the system does not tell what this program is, files are read in this process.
    let worker = std::env::current_exe().ok().map(|program| WorkerCommand {
        program,
        arguments: vec![lookalike_cli::EXTRACT_WORKER.into()],
    });
    lookalike_cli::main(std::env::args_os(), worker.as_ref()).into()
}
