//! The program `lookalike`: the library with the arguments of this process.

use lookalike::extract::WorkerCommand;
use std::process::ExitCode;

fn main() -> ExitCode {
    // If the system does not report the path of this program, this process reads the files.
    let worker = std::env::current_exe().ok().map(|program| WorkerCommand {
        program,
        arguments: vec![lookalike_cli::EXTRACT_WORKER.into()],
    });
    lookalike_cli::main(std::env::args_os(), worker.as_ref()).into()
}
