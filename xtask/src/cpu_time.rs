//! Measures the CPU seconds of the processes that this process starts.

/// Ticks per second in `/proc`, the same on every Linux.
const TICKS: f64 = 100.0;

/// Returns the user and system seconds of child processes and their children. A process counts
/// after it has ended and its parent has waited for it. `None` without `/proc`.
pub(crate) fn of_children() -> Option<f64> {
    parse(&std::fs::read_to_string("/proc/self/stat").ok()?)
}

/// Adds the columns 16 and 17 of a line of `stat`. The name of the program, in column 2, may
/// contain blanks and brackets.
fn parse(line: &str) -> Option<f64> {
    let (_, columns) = line.rsplit_once(')')?;
    let mut columns = columns.split_whitespace().skip(13).map(str::parse::<f64>);
    let user = columns.next()?.ok()?;
    let system = columns.next()?.ok()?;
    Some((user + system) / TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_counted() {
        let line = "7 (a (b) c) S 1 7 7 0 -1 4 5 6 7 8 11 12 150 25 20 0 1 0 9\n";
        assert_eq!(parse(line), Some(1.75));
        assert_eq!(parse("7 (a) S 1"), None);
        assert_eq!(parse(""), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_takes_time() {
        let before = of_children().expect("/proc");
        let count = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
        let status = std::process::Command::new("sh").args(["-c", count]).status();
        assert!(status.is_ok_and(|status| status.success()));
        assert!(of_children() > Some(before));
    }
}
