//! How a test says that it shows nothing.

use std::io::Write as _;

/// Prints that a test is skipped, past the capture of what passes.
pub(crate) fn print_skipped(reason: &str) {
    writeln!(std::io::stderr(), "SKIPPED: {reason}").unwrap();
}
