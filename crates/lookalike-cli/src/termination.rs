//! Removes the temporary files of a process that a signal ends, and of earlier interrupted runs.

use crate::output::terminal;
use lookalike::report::phrases::{count, one_line};
use lookalike::report::remove_leftovers;
use lookalike::temporary;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

/// Makes SIGINT, SIGTERM and SIGHUP remove the temporary files of outputs before they end the
/// process. The process still ends by that signal, as it would without a handler. Signals that the
/// process was started to ignore stay ignored. Has no effect on systems other than Unix, or if the
/// system cannot start a thread.
#[cfg(unix)]
pub(crate) fn remove_temporary_files_on_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    let ignored = ignored_signals();
    let caught = [SIGINT, SIGTERM, SIGHUP].into_iter();
    let caught: Vec<i32> = caught.filter(|signal| ignored & (1 << (signal - 1)) == 0).collect();
    let (registered, is_registered) = std::sync::mpsc::channel::<()>();
    let handle = move || {
        let signals = Signals::new(caught);
        drop(registered);
        if let Some(signal) = signals.ok().and_then(|mut signals| signals.forever().next()) {
            temporary::remove_all();
            // Ends the process; an error would mean that the signal ends no process.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    if std::thread::Builder::new().name("signals".to_owned()).spawn(handle).is_ok() {
        // Returns an error as soon as the thread drops its end.
        let _ = is_registered.recv();
    }
}

#[cfg(not(unix))]
pub(crate) fn remove_temporary_files_on_signals() {
    let _ = temporary::remove_all;
}

/// The signals that the process ignores, as a bit mask from SIGHUP (bit 0) up. `nohup` and shells
/// set this mask. Returns 0 on systems without `/proc`.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Removes the temporary files that interrupted runs left in the folders of these outputs, and
/// says so on standard error.
pub(crate) fn clean_up<'a>(outputs: impl Iterator<Item = &'a Path>) -> io::Result<()> {
    let mut removed = BTreeSet::new();
    let mut folders = BTreeSet::new();
    for output in outputs.filter(|output| *output != Path::new("-")) {
        let found = remove_leftovers(output);
        removed.extend(found.removed);
        folders.extend(found.folders);
    }
    let mut err = terminal::stderr();
    if let Some(first) = removed.first() {
        let files = count(removed.len() as u64, "temporary file");
        writeln!(err, "removed {files} of an interrupted run: {}", list(first, removed.len()))?;
    }
    if let Some(first) = folders.first() {
        let found = count(folders.len() as u64, "temporary folder");
        let first = list(first, folders.len());
        writeln!(err, "{found} of an interrupted run can be removed: {first}")?;
    }
    Ok(())
}

/// The first path, and how many follow.
fn list(first: &Path, all: usize) -> String {
    let first = first.to_string_lossy();
    let first = one_line(&first);
    if all > 1 { format!("{first} and {} more", all - 1) } else { first.into_owned() }
}
