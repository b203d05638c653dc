//! Checks prose: `xtask/prose.py` counts constructions that make sentences hard to read.

use crate::budgets::Measurement;
use crate::stages::TestCounts;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The script. It needs only the standard library of Python.
const SCRIPT: &str = "xtask/prose.py";

/// A check of prose that runs in another process.
pub(crate) struct ProseCheck(Option<Child>);

impl ProseCheck {
    /// Starts the check. Counts it as skipped if Python does not start.
    pub(crate) fn start(root: &Path, skips: &mut TestCounts) -> Self {
        let mut command = Command::new("python3");
        let command = command.args([SCRIPT, "--count"]).current_dir(root).stdout(Stdio::piped());
        let child = command.spawn();
        if let Err(error) = &child {
            skips.say_skipped(&format!("prose is not checked: python3 did not start: {error}"));
        }
        Self(child.ok())
    }

    /// Waits for the script. Returns the number of matches in each file, or `None` without Python.
    ///
    /// # Errors
    /// If the script fails.
    pub(crate) fn finish(self) -> Result<Option<Measurement>, String> {
        let Some(child) = self.0 else { return Ok(None) };
        let output = child.wait_with_output().map_err(|error| format!("{SCRIPT}: {error}"))?;
        if !output.status.success() {
            return Err(format!("`python3 {SCRIPT} --count` failed: {}", output.status));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let counted = |line: &str| {
            let (count, name) = line.split_once(' ')?;
            Some((name.to_owned(), count.parse().ok()?))
        };
        let counts = text.lines().map(|line| {
            counted(line).ok_or_else(|| format!("{SCRIPT}: expected COUNT FILE, found `{line}`"))
        });
        Ok(Some(Measurement {
            title: "sentences that are hard to read",
            remedy: "rewrite those that `xtask/prose.py FILE` lists",
            counts: counts.collect::<Result<_, _>>()?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_counted_by_file() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tmp/prose");
        std::fs::create_dir_all(root.join("xtask")).expect("a folder");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/prose.py");
        // In pieces, so that this file has no match itself.
        let that_of = ["that", "of"].join(" ");
        let asks_for = ["who", "asks", "for"].join(" ");
        let text = format!(
            "// The length is {that_of} the text\n// {} {} `x` and the width.\nfn f() {{}}\n\
             /// Plain.\nfn g() {{ fail(\"{asks_for} it has {that_of} b\") }}\n",
            ", too.", "So are"
        );
        std::fs::write(root.join("a.rs"), text).expect("a file");
        let output = Command::new("python3").args([script, "a.rs"]).current_dir(&root).output();
        let Ok(output) = output else {
            return crate::commands::say("SKIPPED: python3 did not start");
        };
        let lines = String::from_utf8_lossy(&output.stdout);
        let places: Vec<_> = lines.lines().filter_map(|line| line.split(": …").next()).collect();
        assert_eq!(
            places,
            [
                "a.rs:1: that-of",
                "a.rs:1: opens-of",
                "a.rs:1: too-end",
                "a.rs:5: that-of",
                "a.rs:5: whoever",
                "a.rs:5: ask-verb",
            ]
        );
    }
}
