//! The tests that a document names as evidence: each exists under the name given.
//!
//! A name is written in code marks as the path of a file from the root of the repository, `::`, and
//! the name of a function in it.

use std::path::Path;

/// The documents whose promises name tests.
const DOCUMENTS: &[&str] = &["docs/threat-model.md"];

/// Checks the tests that every document names.
pub(crate) fn check(root: &Path, findings: &mut Vec<String>) {
    let read = |name: &str| std::fs::read_to_string(root.join(name)).ok();
    for name in DOCUMENTS {
        match read(name) {
            Some(text) => document(name, &text, read, findings),
            None => findings.push(format!("{name}: the file does not exist")),
        }
    }
}

fn document(
    name: &str,
    text: &str,
    read: impl Fn(&str) -> Option<String>,
    findings: &mut Vec<String>,
) {
    let before = findings.len();
    let mut count = 0;
    for (number, line) in (1..).zip(text.lines()) {
        for (file, test) in named(line) {
            count += 1;
            let problem = match read(file) {
                None => format!("the file {file} does not exist"),
                Some(source) if !defines(file, &source, test) => {
                    format!("{file} has no test `{test}`")
                }
                Some(_) => continue,
            };
            findings.push(format!("{name}:{number}: {problem}"));
        }
    }
    if count == 0 && findings.len() == before {
        findings.push(format!("{name}: names no test, expected `path/to/file.rs::name_of_test`"));
    }
}

/// The files and tests named in a line of Markdown.
fn named(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.split('`').skip(1).step_by(2).filter_map(|code| {
        let (file, test) = code.split_once("::")?;
        let extension = Path::new(file).extension()?;
        (extension == "rs" || extension == "py").then_some((file, test))
    })
}

/// Whether a file of Rust or Python defines a function.
fn defines(file: &str, source: &str, function: &str) -> bool {
    let is_python = Path::new(file).extension().is_some_and(|extension| extension == "py");
    let keyword = if is_python { "def" } else { "fn" };
    let is_name = |rest: &str| {
        rest.strip_prefix(function).is_some_and(|rest| rest.starts_with(['(', '<', '[']))
    };
    source.lines().any(|line| {
        let line = line.trim_start();
        let line = line.strip_prefix("pub ").unwrap_or(line);
        line.strip_prefix(keyword).and_then(|rest| rest.strip_prefix(' ')).is_some_and(is_name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let files = [
            ("a/b.rs", "#[test]\nfn good() {}\n// fn comment() {}\n    pub fn inner<P>() {}\n"),
            ("c.py", "def test_good(x):\n    pass\n"),
        ];
        let read = |name: &str| {
            let file = files.iter().find(|(file, _)| *file == name)?;
            Some(file.1.to_owned())
        };
        let mut findings = Vec::new();
        document("d.md", text, read, &mut findings);
        findings
    }

    #[test]
    fn tests_that_exist_are_accepted() {
        let text =
            "Text, `code::of_no_file`.\n`a/b.rs::good` and `a/b.rs::inner`, `c.py::test_good`\n";
        assert_eq!(found(text), [""; 0]);
    }

    #[test]
    fn tests_that_do_not_exist_are_findings() {
        assert_eq!(found("\n`a/b.rs::goo`"), ["d.md:2: a/b.rs has no test `goo`"]);
        assert_eq!(found("`a/b.rs::comment`"), ["d.md:1: a/b.rs has no test `comment`"]);
        assert_eq!(found("`c.py::good`, `a/c.rs::good`").len(), 2);
        assert_eq!(found("`a/b.rs`").len(), 1);
    }
}
