//! The tests that the last `cargo x test` skipped. `cargo x test --skipped` runs them again.

use crate::commands;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The name of the thread that runs all tests if the test runner uses only one thread. It is not
/// the name of a test.
const MAIN_THREAD: &str = "main";

/// Skipped tests, by the runner that reported them.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SkippedTests {
    /// Test programs with the names of their skipped tests. An empty set means all tests.
    pub(crate) programs: BTreeMap<PathBuf, BTreeSet<String>>,
    /// Node ids of pytest: `FILE` or `FILE::TEST`, relative to the root of the repository.
    pub(crate) python: BTreeSet<String>,
}

impl SkippedTests {
    /// Adds the skipped tests of a program. `None` and the name of the main thread
    /// represent all of its tests.
    pub(crate) fn add_program(&mut self, program: &Path, tests: Vec<Option<String>>) {
        if tests.is_empty() {
            return;
        }
        let names: Option<BTreeSet<String>> =
            tests.into_iter().map(|name| name.filter(|name| name != MAIN_THREAD)).collect();
        self.programs.insert(program.to_owned(), names.unwrap_or_default());
    }

    /// Reads the list of skipped tests that an earlier command wrote.
    ///
    /// # Errors
    /// If no command wrote the list, or the file is damaged.
    pub(crate) fn read() -> Result<Self, String> {
        let file = file()?;
        let remedy = "run `cargo x test` first";
        let text = std::fs::read_to_string(&file)
            .map_err(|error| format!("cannot read {}: {error}; {remedy}", file.display()))?;
        serde_json::from_str(&text)
            .map_err(|error| format!("{} is damaged: {error}; {remedy}", file.display()))
    }

    /// Writes the list for a later command.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn write(&self) -> Result<(), String> {
        let file = file()?;
        let text = serde_json::to_string(self).map_err(|error| error.to_string())?;
        std::fs::write(&file, text)
            .map_err(|error| format!("cannot write {}: {error}", file.display()))
    }
}

fn file() -> Result<PathBuf, String> {
    Ok(commands::target()?.join("skipped-tests.json"))
}

/// The reasons for which continuous integration may skip a test. Each line of a file, except empty
/// lines and comments, is a part of a reason.
pub(crate) struct AllowedSkips(Vec<String>);

impl AllowedSkips {
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn read(file: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(file)
            .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        Ok(Self::parse(&text))
    }

    fn parse(text: &str) -> Self {
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        Self(lines.map(str::to_owned).collect())
    }

    /// # Errors
    /// If a reason contains no allowed part. The message lists these reasons.
    pub(crate) fn check<'a>(&self, reasons: impl Iterator<Item = &'a str>) -> Result<(), String> {
        let is_allowed = |reason: &str| self.0.iter().any(|part| reason.contains(part.as_str()));
        let rejected: Vec<&str> = reasons.filter(|reason| !is_allowed(reason)).collect();
        if rejected.is_empty() {
            return Ok(());
        }
        Err(format!(
            "tests were skipped for reasons that are not allowed here: {}; install the missing \
             part, or add a line to the list of allowed skips",
            rejected.join("; ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_tests_are_kept_by_name() {
        let mut skipped = SkippedTests::default();
        let name = |name: &str| Some(name.to_owned());
        skipped.add_program(Path::new("a"), vec![name("x"), name("y::z"), name("x")]);
        skipped.add_program(Path::new("b"), vec![name("x"), None]);
        skipped.add_program(Path::new("c"), vec![name("main")]);
        skipped.add_program(Path::new("d"), vec![]);
        let names: Vec<_> = skipped.programs.iter().map(|(p, n)| (p.clone(), n.len())).collect();
        assert_eq!(names, [("a".into(), 2), ("b".into(), 0), ("c".into(), 0)]);
        let text = serde_json::to_string(&skipped).expect("JSON");
        assert_eq!(serde_json::from_str::<SkippedTests>(&text).expect("JSON"), skipped);
    }

    #[test]
    fn unexpected_skips_fail() {
        let allowed = AllowedSkips::parse("# sets\nthe document sets\n\n");
        assert!(allowed.check(["the document sets are absent"].into_iter()).is_ok());
        let error = allowed.check(["no Redis", "the document sets"].into_iter()).expect_err("new");
        assert!(error.contains("no Redis;") && !error.contains("document sets"), "{error}");
    }
}
