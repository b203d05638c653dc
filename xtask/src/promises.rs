//! Checks that each promise of the documents has existing tests.
//!
//! [`FILE`] has a section `[DOCUMENT]` for each document, with a line for each promise. The
//! indented names of the tests for a promise follow its line. A name is `CRATE::FUNCTION`, without
//! the file, so that the list remains valid if a test moves. If several functions of a crate have
//! the same name, the entry is `CRATE::PART::FUNCTION` with a folder or file of the path.

use crate::source::extension;
use std::collections::BTreeMap;
use std::path::Path;

/// The list of promises.
const FILE: &str = "xtask/promises.txt";
/// The document whose list items must be in the list word for word.
const LISTED: &str = "docs/explanation/threat-model.md";
/// A line of [`LISTED`] that begins with this text starts items that are not promises.
const NOT_PROMISED: &str = "Not promised";

/// The files that define a test function. The key is the name of the crate and the
/// name of the function.
type TestFunctions<'a> = BTreeMap<(&'a str, &'a str), Vec<&'a str>>;

/// Reports promises without a test, tests that do not exist, and items of [`LISTED`] that are not
/// in the list. `files` are the names of the files of the repository.
///
/// # Errors
/// If a file cannot be read.
pub(crate) fn check(
    root: &Path,
    files: &[String],
    findings: &mut Vec<String>,
) -> Result<(), String> {
    let read = |name: &str| {
        let text = std::fs::read_to_string(root.join(name));
        text.map_err(|error| format!("cannot read {name}: {error}"))
    };
    let mut texts = Vec::new();
    for name in files.iter().filter(|name| has_tests(name)) {
        texts.push((name.as_str(), read(name)?));
    }
    let mut functions = TestFunctions::new();
    for (name, text) in &texts {
        for function in test_functions(name, text) {
            functions.entry((crate_of(name), function)).or_default().push(name);
        }
    }
    let list = read(FILE)?;
    for document in list.lines().filter_map(|line| line.strip_prefix('[')) {
        let names = document.trim_end_matches(']').split(", ");
        for name in names.filter(|name| extension(name) == "md") {
            if !root.join(name).is_file() {
                findings.push(format!("{FILE}: the document {name} does not exist"));
            }
        }
    }
    check_list(&list, &functions, &read(LISTED)?, findings);
    Ok(())
}

/// Checks the text of [`FILE`] against the tests and the text of [`LISTED`].
fn check_list(list: &str, functions: &TestFunctions, listed: &str, findings: &mut Vec<String>) {
    let mut document = "";
    let mut promises: BTreeMap<&str, usize> = BTreeMap::new();
    let mut untested = None;
    for (number, line) in (1..).zip(list.lines()) {
        let mut report = |problem: String| findings.push(format!("{FILE}:{number}: {problem}"));
        if let Some(test) = line.strip_prefix("    ") {
            untested = None;
            if let Err(problem) = find_test(test, functions) {
                report(problem);
            }
            continue;
        }
        if let Some(promise) = untested.take() {
            report(format!("no test follows the promise `{promise}`"));
        }
        if let Some(heading) = line.strip_prefix('[') {
            document = heading.trim_end_matches(']');
        } else if !line.is_empty() && !line.starts_with('#') {
            untested = Some(line);
            if document == LISTED {
                promises.insert(line, number);
            }
        }
    }
    if let Some(promise) = untested {
        findings.push(format!("{FILE}: no test follows the promise `{promise}`"));
    }
    let mut lines: Vec<(usize, String)> = Vec::new();
    for (number, line) in (1..).zip(listed.lines()) {
        match (line.strip_prefix("  "), lines.last_mut()) {
            (Some(rest), Some((_, item))) => *item = format!("{item} {rest}"),
            _ => lines.push((number, line.to_owned())),
        }
    }
    for (promise, number) in &promises {
        if !lines.iter().any(|(_, line)| line.contains(promise)) {
            findings.push(format!("{FILE}:{number}: {LISTED} has no such text"));
        }
    }
    let mut is_promised = false;
    for (number, line) in &lines {
        if [".rs::", ".py::"].iter().any(|test| line.contains(test)) {
            findings.push(format!("{LISTED}:{number}: names of tests belong to {FILE}"));
        } else if line.starts_with("## ") {
            is_promised = true;
        } else if line.starts_with(NOT_PROMISED) {
            is_promised = false;
        } else if let Some(item) = line.strip_prefix("* ")
            && is_promised
            && !promises.contains_key(item)
        {
            findings.push(format!("{LISTED}:{number}: {FILE} has no such promise with tests"));
        }
    }
}

/// Checks that a name in the list belongs to exactly one test.
fn find_test(name: &str, functions: &TestFunctions) -> Result<(), String> {
    let parts: Vec<&str> = name.split("::").collect();
    let (crate_name, part, function) = match parts[..] {
        [crate_name, function] => (crate_name, None, function),
        [crate_name, part, function] => (crate_name, Some(part), function),
        _ => return Err(format!("`{name}` is not CRATE::FUNCTION or CRATE::PART::FUNCTION")),
    };
    let files = functions.get(&(crate_name, function)).map_or(&[][..], Vec::as_slice);
    let is_meant = |file: &&&str| {
        let path = file.rsplit_once('.').map_or(**file, |(path, _)| path);
        part.is_none_or(|part| path.split('/').any(|folder| folder == part))
    };
    let files: Vec<&str> = files.iter().filter(is_meant).copied().collect();
    match files.len() {
        0 => Err(format!("unknown test `{name}`")),
        1 => Ok(()),
        _ => Err(format!("`{name}` is in {}; name a part of the path", files.join(", "))),
    }
}

/// Returns the folder of a file's crate. The folders of the Python package and of the tools are in
/// the root of the repository.
pub(crate) fn crate_of(path: &str) -> &str {
    let path = path.strip_prefix("crates/").unwrap_or(path);
    path.split('/').next().unwrap_or(path)
}

/// Returns true if a file may contain test functions.
fn has_tests(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    match extension(name) {
        "rs" => true,
        "py" => name.starts_with("test_") && !folder.starts_with("fixtures"),
        _ => false,
    }
}

/// Returns the names of the test functions that a file defines. A Rust test has the attribute
/// `#[test]`, is in a `proptest!` block, is in the list of a test program with its own `main`, or
/// is an argument of the macro `suite`, which creates tests from functions of other files.
fn test_functions<'a>(path: &str, text: &'a str) -> Vec<&'a str> {
    let keyword = if extension(path) == "py" { "def " } else { "fn " };
    let has_main = text.contains("\nfn main(");
    let is_identifier = |c: char| c.is_alphanumeric() || c == '_';
    let mut functions = Vec::new();
    let mut has_attribute = false;
    let mut proptest_indentation = None;
    let mut is_in_suite = false;
    for line in text.lines() {
        let code = line.trim_start();
        let indentation = line.len() - code.len();
        if code == "#[test]" {
            has_attribute = true;
        } else if code.starts_with("proptest! {") {
            proptest_indentation = Some(indentation);
        } else if code == "}" && proptest_indentation.is_some_and(|start| indentation <= start) {
            proptest_indentation = None;
        }
        if code.contains("suite!(") {
            is_in_suite = !code.ends_with(");");
        } else if code.starts_with(')') {
            is_in_suite = false;
        }
        if let Some(name) = code.strip_suffix(',')
            && is_in_suite
            && name.chars().all(is_identifier)
        {
            functions.push(name);
        }
        let Some(declaration) = declared(code, keyword) else { continue };
        let name = declaration.split(|c| !is_identifier(c)).next().unwrap_or(declaration);
        let is_test = if keyword == "def " {
            name.starts_with("test_")
        } else {
            has_attribute
                || proptest_indentation.is_some()
                || has_main && text.contains(&format!("(\"{name}\", {name})"))
        };
        if is_test {
            functions.push(name);
        }
        has_attribute = false;
    }
    functions
}

/// Returns the rest of a line after the keyword of a function, if the line declares a function.
fn declared<'a>(code: &'a str, keyword: &str) -> Option<&'a str> {
    const QUALIFIERS: [&str; 5] = ["pub", "async", "const", "unsafe", "extern"];
    let (before, declaration) = match code.strip_prefix(keyword) {
        Some(declaration) => ("", declaration),
        None => code.split_once(&format!(" {keyword}"))?,
    };
    let is_qualifier = |word: &str| {
        let word = word.split('(').next().unwrap_or(word);
        QUALIFIERS.contains(&word) || word.starts_with('"')
    };
    let in_path = before.starts_with("pub(in ");
    (in_path || before.split_whitespace().all(is_qualifier)).then_some(declaration)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(list: &str, listed: &str) -> Vec<String> {
        let files = [
            ("crates/a/src/b.rs", "#[test]\n#[cfg(unix)]\nfn same() {}\n"),
            ("crates/a/tests/c.rs", "    #[test]\n    pub fn same<P>() {}\n"),
            ("python/tests/test_d.py", "def test_good(x):\n    pass\n"),
        ];
        let mut functions = TestFunctions::new();
        for (name, text) in files {
            for function in test_functions(name, text) {
                functions.entry((crate_of(name), function)).or_default().push(name);
            }
        }
        let mut findings = Vec::new();
        check_list(list, &functions, listed, &mut findings);
        findings
    }

    #[test]
    fn test_names_identify_one_test() {
        let list = "# Comment.\n\n[a.md]\nPromise.\n    a::b::same\n    python::test_good\n";
        assert_eq!(found(list, ""), [""; 0]);
        assert_eq!(
            found("Promise.\n    a::same\n    a::other\n    b::same\n    same\n", ""),
            [
                "xtask/promises.txt:2: `a::same` is in crates/a/src/b.rs, crates/a/tests/c.rs; \
                 name a part of the path",
                "xtask/promises.txt:3: unknown test `a::other`",
                "xtask/promises.txt:4: unknown test `b::same`",
                "xtask/promises.txt:5: `same` is not CRATE::FUNCTION or CRATE::PART::FUNCTION",
            ]
        );
    }

    #[test]
    fn each_promise_has_a_test() {
        let list = "One.\nTwo.\n    a::b::same\nThree.\n";
        assert_eq!(
            found(list, ""),
            [
                "xtask/promises.txt:2: no test follows the promise `One.`",
                "xtask/promises.txt: no test follows the promise `Three.`",
            ]
        );
    }

    #[test]
    fn threat_model_items_are_listed() {
        let listed = "* Item.\n## Threat\n* One\n  item.\n* Two.\n| One. | a.rs::same |\n\n\
                      Not promised:\n\n* Three.\n";
        let list = format!("[{LISTED}]\nOne item.\n    a::b::same\nFour.\n    a::b::same\n");
        assert_eq!(
            found(&list, listed),
            [
                format!("xtask/promises.txt:4: {LISTED} has no such text"),
                format!("{LISTED}:5: xtask/promises.txt has no such promise with tests"),
                format!("{LISTED}:6: names of tests belong to xtask/promises.txt"),
            ]
        );
    }

    #[test]
    fn test_functions_of_each_form() {
        let text = "fn helper() {}\n// fn comment() {}\n\
                    proptest! {\n    fn drawn(x in 0..1) {\n    }\n}\nfn after() {}\n\
                    fn listed() {}\nfn main() { [(\"listed\", listed)] }\n";
        assert_eq!(test_functions("a.rs", text), ["drawn", "listed"]);
        let suite = "macro_rules! suite {\n    $crate::suite!(x, true);\n    not_a_test,\n    \
                     $crate::suite!(x;\n    ids_of_any_kind,\n    );\n}\n";
        assert_eq!(test_functions("a.rs", suite), ["ids_of_any_kind"]);
        let helpers = "#[test]\npub(crate) fn first() {}\nfn second() {}\n#[test]\n\
                       async fn third() {}\nfn fourth() {}\n";
        assert_eq!(test_functions("a.rs", helpers), ["first", "third"]);
        let python = "def test_a(): ...\ndef b(): ...\nasync def test_c(): ...\n";
        assert_eq!(test_functions("test_a.py", python), ["test_a", "test_c"]);
    }
}
