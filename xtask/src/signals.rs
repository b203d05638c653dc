//! Restores the default effect of signals that end a process. A shell makes commands in the
//! background ignore Ctrl-C, and their child processes inherit this. Tests that end a program by a
//! signal would then never finish.

#[cfg(unix)]
use std::os::unix::process::CommandExt;
#[cfg(unix)]
use std::process::Command;

/// The numbers and names of SIGINT, SIGQUIT and SIGTERM. SIGHUP remains ignored, because `nohup`
/// sets this on purpose.
#[cfg(unix)]
const ENDING: [(u32, &str); 3] = [(2, "INT"), (3, "QUIT"), (15, "TERM")];

/// If this process ignores a signal of [`ENDING`], starts this program again in the same process,
/// through `env`, with the default effect of the signal. If `env` cannot do this, the process
/// continues.
#[cfg(unix)]
pub(crate) fn restore_defaults() {
    let ignored = ignored(&std::fs::read_to_string("/proc/self/status").unwrap_or_default());
    if ignored.is_empty() {
        return;
    }
    let option = format!("--default-signal={}", ignored.join(","));
    let can = Command::new("env").args([&option, "true"]).status();
    if can.is_ok_and(|status| status.success())
        && let Ok(program) = std::env::current_exe()
    {
        let arguments = std::env::args_os().skip(1);
        // `exec` returns only if it fails.
        let _ = Command::new("env").arg(option).arg(program).args(arguments).exec();
    }
}

#[cfg(not(unix))]
pub(crate) fn restore_defaults() {}

/// Returns the names of the signals that a process ignores, from the text of its
/// `/proc/PID/status`.
#[cfg(unix)]
fn ignored(status: &str) -> Vec<&'static str> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let is_ignored = |(number, _): &(u32, _)| mask >> (number - 1) & 1 == 1;
    ENDING.into_iter().filter(is_ignored).map(|(_, name)| name).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_mask() {
        let status = "Name:\tx\nSigIgn:\t0000000080001007\nSigCgt:\t0000000100004440\n";
        assert_eq!(ignored(status), ["INT", "QUIT"]);
        assert_eq!(ignored("SigIgn:\t0000000000005000\n"), ["TERM"]);
        assert_eq!(ignored(""), [""; 0]);
    }
}
