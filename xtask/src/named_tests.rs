//! The tests that a document names as evidence: each exists under the name given.
//!
//! A name is written in code marks as the path of a file from the root of the repository, `::`, and
//! the name of a test function in it. A table whose last column is headed `test` has such a name in
//! every row.

use std::path::Path;

/// The documents whose promises name tests.
const DOCUMENTS: &[&str] = &["docs/promises.md", "docs/threat-model.md"];

/// The heading of a last column whose cells name tests.
const TEST_COLUMN: &str = "test";

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
    tables(name, text, findings);
    if count == 0 && findings.len() == before {
        findings.push(format!("{name}: names no test, expected `path/to/file.rs::name_of_test`"));
    }
}

/// Checks that every table has a heading, and that the last cells of a column of tests name some.
fn tables(name: &str, text: &str, findings: &mut Vec<String>) {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_row = |line: &&str| line.starts_with('|');
    let mut start = 0;
    while start < lines.len() {
        let length = lines[start..].iter().take_while(|line| is_row(line)).count();
        let table = &lines[start..start + length];
        if length > 0 && !table.get(1).is_some_and(|line| is_separator(line)) {
            let number = start + 1;
            findings.push(format!(
                "{name}:{number}: a row outside of a table, expected a heading and a line of dashes"
            ));
        } else if length > 0 && last_cell(table[0]) == TEST_COLUMN {
            for (number, row) in (start + 3..).zip(&table[2..]) {
                if named(last_cell(row)).next().is_none() {
                    findings.push(format!(
                        "{name}:{number}: the last column names no test, expected \
                         `path/to/file.rs::name_of_test`"
                    ));
                }
            }
        }
        start += length.max(1);
    }
}

/// Whether a line of a table separates the heading from the rows.
fn is_separator(line: &str) -> bool {
    line.contains("--") && line.chars().all(|character| "|-: ".contains(character))
}

/// The last cell of a row.
fn last_cell(row: &str) -> &str {
    let row = row.strip_suffix('|').unwrap_or(row);
    row.rsplit_once('|').map_or(row, |(_, cell)| cell).trim()
}

/// The files and tests named in a line of Markdown.
fn named(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.split('`').skip(1).step_by(2).filter_map(|code| {
        let (file, test) = code.split_once("::")?;
        let extension = Path::new(file).extension()?;
        (extension == "rs" || extension == "py").then_some((file, test))
    })
}

/// Whether a file of Rust or Python defines a test function of this name.
fn defines(file: &str, source: &str, function: &str) -> bool {
    let path = Path::new(file);
    let is_python = path.extension().is_some_and(|extension| extension == "py");
    let keyword = if is_python { "def" } else { "fn" };
    let is_name = |rest: &str| {
        rest.strip_prefix(function).is_some_and(|rest| rest.starts_with(['(', '<', '[']))
    };
    let is_test_file = path
        .file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.starts_with("test_"));
    let lines: Vec<&str> = source.lines().collect();
    (0..lines.len()).any(|at| {
        let line = lines[at].trim_start();
        let line = line.strip_prefix("pub ").unwrap_or(line);
        let line = line.strip_prefix("async ").unwrap_or(line);
        line.strip_prefix(keyword).and_then(|rest| rest.strip_prefix(' ')).is_some_and(is_name)
            && if is_python {
                is_test_file && function.starts_with("test_")
            } else {
                has_test_attribute(&lines[..at])
                    || is_in_proptest(&lines[..at])
                    || is_listed(source, function)
            }
    })
}

/// Whether the attributes that end these lines include `#[test]`.
fn has_test_attribute(before: &[&str]) -> bool {
    before
        .iter()
        .rev()
        .map(|line| line.trim())
        .take_while(|line| !line.is_empty() && !line.ends_with(['}', ';', '{']))
        .any(|line| line == "#[test]")
}

/// Whether a test program with a `main` of its own lists the function among its tests.
fn is_listed(source: &str, function: &str) -> bool {
    source.contains("\nfn main(") && source.contains(&format!("(\"{function}\", {function})"))
}

/// Whether these lines end within a block `proptest! {`, by its indentation.
fn is_in_proptest(before: &[&str]) -> bool {
    let Some(start) = before.iter().rposition(|line| line.trim_start().starts_with("proptest! {"))
    else {
        return false;
    };
    let indentation = before[start].len() - before[start].trim_start().len();
    !before[start + 1..]
        .iter()
        .any(|line| line.trim() == "}" && line.len() - line.trim_start().len() <= indentation)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let files = [
            (
                "a/b.rs",
                "#[test]\nfn good() {}\n// fn comment() {}\nfn helper() {}\n\
                 #[test]\n#[cfg(unix)]\n    pub fn inner<P>() {}\n\
                 proptest! {\n    fn drawn(x in 0..1) {\n    }\n}\nfn behind() {}\n",
            ),
            (
                "own.rs",
                "fn listed() {}\nfn unlisted() {}\nfn main() {\n    \
                 for (_, test) in [(\"listed\", listed)] {}\n}\n",
            ),
            ("test_c.py", "def test_good(x):\n    pass\ndef good():\n    pass\n"),
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
        let text = "Text, `code::of_no_file`.\n`a/b.rs::good` and `a/b.rs::inner`,\n\
             `test_c.py::test_good`,\n\
             `a/b.rs::drawn`";
        assert_eq!(found(text), [""; 0]);
    }

    #[test]
    fn tests_that_do_not_exist_are_findings() {
        assert_eq!(found("\n`a/b.rs::goo`"), ["d.md:2: a/b.rs has no test `goo`"]);
        assert_eq!(found("`a/b.rs::comment`"), ["d.md:1: a/b.rs has no test `comment`"]);
        assert_eq!(found("`c.py::good`, `a/c.rs::good`").len(), 2);
        assert_eq!(found("`a/b.rs`").len(), 1);
    }
    #[test]
    fn functions_that_are_no_tests_are_findings() {
        assert_eq!(found("`a/b.rs::helper`"), ["d.md:1: a/b.rs has no test `helper`"]);
        assert_eq!(found("`a/b.rs::behind`"), ["d.md:1: a/b.rs has no test `behind`"]);
        assert_eq!(found("`test_c.py::good`"), ["d.md:1: test_c.py has no test `good`"]);
        assert_eq!(found("`c.py::test_good`"), ["d.md:1: c.py has no test `test_good`"]);
    }

    #[test]
    fn a_program_of_tests_lists_them() {
        assert_eq!(found("`own.rs::listed`"), [""; 0]);
        assert_eq!(found("`own.rs::unlisted`"), ["d.md:1: own.rs has no test `unlisted`"]);
    }

    #[test]
    fn rows_of_a_column_of_tests_name_one() {
        let table = "| promise | test |\n|---|---|\n| a | `a/b.rs::good` |\n";
        assert_eq!(found(table), [""; 0]);
        let problem = "the last column names no test, expected `path/to/file.rs::name_of_test`";
        assert_eq!(found(&format!("{table}| `a/b.rs::good` | |")), [format!("d.md:4: {problem}")]);
        assert_eq!(found(&format!("{table}| b | good |")), [format!("d.md:4: {problem}")]);
        let other = "| what | where |\n|---|---|\n| a | b |\n\n";
        assert_eq!(found(&format!("{other}{table}")), [""; 0]);
    }

    #[test]
    fn a_blank_line_in_a_table_is_a_finding() {
        let text = "| promise | test |\n|---|---|\n| a | `a/b.rs::good` |\n\n\
                    | b | `a/b.rs::good` |\n| c | `a/b.rs::good` |\n";
        assert_eq!(
            found(text),
            ["d.md:5: a row outside of a table, expected a heading and a line of dashes"]
        );
    }
}
