//! Reports that a test was skipped.

use std::io::Write as _;

/// Prints that the current test is skipped, with its name. Bypasses the output capture of passing
/// tests. `cargo x test` counts these lines, and `cargo x test --skipped` runs the named tests
/// again.
///
/// Call it on the thread of the test: the test runner names that thread after the test.
pub fn print_skipped(reason: &str) {
    let thread = std::thread::current();
    let name = thread.name().map(|name| format!(" ({name})")).unwrap_or_default();
    // One write, so that the output of other tests does not divide the line.
    let line = format!("SKIPPED{name}: {reason}\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}
