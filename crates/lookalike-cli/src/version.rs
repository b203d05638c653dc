//! `lookalike --version --json`: the identity of this build, for reports of defects.

use crate::exit_code::ExitCode;
use crate::output::terminal;
use lookalike::core::kernel::Kernel;
use serde_json::json;
use std::ffi::OsString;
use std::io::Write;

/// Returns true if the arguments after the program are `--version` and `--json`, in any order.
pub(crate) fn is_json_requested(arguments: &[OsString]) -> bool {
    let has = |names: &[&str]| arguments.iter().skip(1).any(|a| names.iter().any(|n| a == n));
    arguments.len() == 3 && has(&["--version", "-V"]) && has(&["--json"])
}

/// Prints version, commit, Cargo features, and the kernels of this processor, fastest first.
pub(crate) fn print_json() -> ExitCode {
    let features = [
        ("archive", cfg!(feature = "archive")),
        ("html", cfg!(feature = "html")),
        ("mail", cfg!(feature = "mail")),
        ("office", cfg!(feature = "office")),
        ("parquet", cfg!(feature = "parquet")),
        ("pdf", cfg!(feature = "pdf")),
        ("postgres", cfg!(feature = "postgres")),
        ("scripts", cfg!(feature = "scripts")),
        ("serve", cfg!(feature = "serve")),
        ("sqlite", cfg!(feature = "sqlite")),
    ];
    let features = features.iter().filter(|(_, enabled)| *enabled).map(|(name, _)| *name);
    let kernels = Kernel::available().into_iter().rev().map(|kernel| kernel.to_string());
    let version = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "commit": option_env!("BUILD_COMMIT"),
        "features": features.collect::<Vec<_>>(),
        "kernels": kernels.collect::<Vec<_>>(),
    });
    let printed = writeln!(terminal::stdout(), "{version:#}");
    terminal::flush();
    if printed.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(1) }
}
