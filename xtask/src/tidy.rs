//! Checks rules that neither the compiler nor clippy checks: sizes of files and folders, the order
//! of the stages, import cycles, names, prose, links, and contents that must not be committed.

use crate::budgets::{Budgets, Counts, Measurement};
use crate::prose::ProseCheck;
use crate::source::{self, SourceCrate};
use crate::stages::TestCounts;
use crate::{links, promises, type_names};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Maximum number of lines in a Rust file, without its tests.
const MAX_LINES: usize = 600;
/// Maximum number of columns of a Rust line. rustfmt does not wrap comments and strings.
const MAX_COLUMNS: usize = 100;
/// Maximum number of files in a folder.
const MAX_FILES: usize = 25;
/// Maximum number of bytes of a file in the repository. Larger inputs must be generated.
const MAX_BYTES: usize = 1 << 20;

/// The crate with the stages.
const CORE: &str = "crates/lookalike-core";

/// The modules of the core that all stages may use. They may use each other. They may use stages
/// only as [`EXTRA_EDGES`] allows.
const BELOW: &[&str] =
    &["parameter", "error", "named", "params", "shingle_rule", "hash", "kernel", "unicode_table"];

/// The stages of the core, in the order in which a document passes them. Each stage
/// may use earlier stages.
const STAGES: &[&str] = &[
    "text",
    "shingle",
    "signature",
    "compact",
    "band",
    "curve",
    "disjoint_sets",
    "candidate",
    "verify",
    "prefix",
    "group",
    "keep",
    "passage",
    "naive",
];

/// Allowed exceptions to this order: the module that uses another one, and the used module.
const EXTRA_EDGES: &[(&str, &str)] = &[
    ("params", "curve"), // the curve chooses parameters that the user leaves open
    ("kernel", "text"),  // the scanner splits text by the classes of characters
];

/// Texts that no file may contain. They are divided into pieces, so that this file
/// does not contain them.
const FORBIDDEN: &[(&[&str], &str)] = &[
    (&["/", "work/"], "a path of one machine"),
    (&["/", "home/"], "a path of one machine"),
    (&["/", "Users/"], "a path of one machine"),
    (&["/", "root/"], "a path of one machine"),
    (&["<<<", "<<<<"], "a merge conflict"),
    (&[">>>", ">>>>"], "a merge conflict"),
];

/// Texts that no Rust file may contain. Other files may contain them, because the first is also a
/// Spanish word.
const FORBIDDEN_IN_RUST: &[(&[&str], &str)] = &[
    (&["TO", "DO"], "an open task; finish it, or write it down where work is planned"),
    (&["FIX", "ME"], "an open task; finish it, or write it down where work is planned"),
];

/// Code that opens a standard stream and so bypasses the filter of control characters.
const STREAMS: &[&[&str]] = &[&["io::", "stdout()"], &["io::", "stderr()"], &["anstream::", "std"]];
/// A folder, and the only file in it that may contain [`STREAMS`].
const PRINTING: (&str, &str) = ("crates/lookalike-cli/src/", "output/terminal.rs");

/// Checks every file that git tracks or does not ignore. If `lowers` is true, first lowers the
/// budgets to the current numbers.
///
/// # Errors
/// All findings, with a line for each.
pub(crate) fn run(root: &Path, lowers: bool, skips: &mut TestCounts) -> Result<(), String> {
    let mut findings = Vec::new();
    let files = files(root)?;
    let address = address(root)?;
    // Python checks the prose while this process checks the sources.
    let prose = ProseCheck::start(root, skips);
    for name in &files {
        let bytes = std::fs::read(root.join(name));
        let bytes = bytes.map_err(|error| format!("cannot read {name}: {error}"))?;
        file(name, &bytes, &mut findings);
        repository_address(name, &bytes, &address, &mut findings);
    }
    promises::check(root, &files, &mut findings)?;
    links::check(root, &files, &mut findings)?;
    let crates = source::crates(root, &files)?;
    long_files(&crates, &mut findings);
    for core in crates.iter().filter(|source| source.folder == CORE) {
        stage_order(core, &mut findings);
    }
    type_names::check(&crates, &mut findings);
    let mut measurements = vec![
        full_folders(&files),
        import_cycles(&crates),
        packed_tuples(&crates),
        type_names::participles(&crates),
    ];
    measurements.extend(prose.finish()?);
    let mut budgets = Budgets::read(root)?;
    if lowers {
        for measurement in &measurements {
            budgets.lower(root, measurement);
        }
        budgets.write(root)?;
    }
    for measurement in &measurements {
        budgets.check(measurement, &mut findings);
    }
    if findings.is_empty() {
        crate::commands::say(&format!("tidy: {} files in order", files.len()));
        return Ok(());
    }
    Err(format!("tidy found {} things:\n{}", findings.len(), findings.join("\n")))
}

/// Reads the address of the repository from `Cargo.toml`, without its scheme.
fn address(root: &Path) -> Result<String, String> {
    let manifest = std::fs::read_to_string(root.join("Cargo.toml"));
    let manifest = manifest.map_err(|error| format!("cannot read Cargo.toml: {error}"))?;
    let found = manifest.lines().find_map(|line| line.strip_prefix("repository = \"https://"));
    let found = found.and_then(|rest| rest.strip_suffix('"'));
    found.map(str::to_owned).ok_or_else(|| "Cargo.toml has no repository".to_owned())
}

/// Reports a file other than `Cargo.toml` that contains the address of the repository.
fn repository_address(name: &str, bytes: &[u8], address: &str, findings: &mut Vec<String>) {
    let holds = bytes.windows(address.len()).any(|part| part == address.as_bytes());
    if holds && name != "Cargo.toml" {
        findings.push(format!("{name} repeats the address of the repository in Cargo.toml"));
    }
}

/// Lists the files that git tracks, and untracked files that git does not ignore.
///
/// # Errors
/// If git does not start or finds no repository.
pub(crate) fn files(root: &Path) -> Result<Vec<String>, String> {
    let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").args(list).current_dir(root).output();
    let output = output.map_err(|e| format!("tidy needs git, which did not start: {e}"))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("tidy needs a git repository: {}", message.trim()));
    }
    let names = String::from_utf8_lossy(&output.stdout);
    // Git also lists links, and files that were deleted and not yet committed.
    let is_file = |name: &&str| root.join(name).symlink_metadata().is_ok_and(|data| data.is_file());
    Ok(names.split('\0').filter(is_file).map(str::to_owned).collect())
}

fn file(name: &str, bytes: &[u8], findings: &mut Vec<String>) {
    if bytes.len() > MAX_BYTES {
        findings.push(format!(
            "{name}: {} bytes, more than {MAX_BYTES}; generate it instead",
            bytes.len()
        ));
    }
    let is_rust = source::extension(name) == "rs";
    let is_table = name.ends_with("_table.rs");
    let Ok(text) = str::from_utf8(bytes) else { return };
    forbidden(name, text, FORBIDDEN, findings);
    if is_rust {
        forbidden(name, text, FORBIDDEN_IN_RUST, findings);
    }
    if is_rust && !is_table {
        columns(name, text, findings);
    }
    if name.strip_prefix(PRINTING.0).is_some_and(|file| file != PRINTING.1) {
        let why = "printing past the filter of control characters; use `terminal`";
        let words: Vec<_> = STREAMS.iter().map(|word| (*word, why)).collect();
        forbidden(name, text, &words, findings);
    }
}

/// Counts the files of folders with more than [`MAX_FILES`] files.
fn full_folders(files: &[String]) -> Measurement {
    let mut counts = Counts::new();
    for name in files {
        let folder = name.rsplit_once('/').map_or(".", |(folder, _)| folder);
        *counts.entry(folder.to_owned()).or_default() += 1;
    }
    counts.retain(|_, count| *count > MAX_FILES);
    Measurement {
        title: "files of a folder, if more than 25",
        remedy: "divide the folder by subject",
        counts,
    }
}

/// Counts, for each file, the other files of its import cycle.
fn import_cycles(crates: &[SourceCrate]) -> Measurement {
    let mut counts = Counts::new();
    for cycle in crates.iter().flat_map(source::cycles) {
        counts.extend(cycle.iter().map(|name| ((*name).to_owned(), cycle.len() - 1)));
    }
    Measurement {
        title: "other files in the same import cycle",
        remedy: "`cargo x measure` lists the cycles; move what both files need",
        counts,
    }
}

/// Counts tuples that are packed only to be unpacked.
fn packed_tuples(crates: &[SourceCrate]) -> Measurement {
    let files = crates.iter().flat_map(|source| &source.files);
    let count: usize = files.map(|file| file.packed_tuples.len()).sum();
    Measurement {
        title: "packed tuples",
        remedy: "`cargo x measure` lists them; write one statement for each value",
        counts: Counts::from([("all crates".to_owned(), count)]),
    }
}

fn forbidden(name: &str, text: &str, words: &[(&[&str], &str)], findings: &mut Vec<String>) {
    for (pieces, reason) in words {
        let word = pieces.concat();
        if !text.contains(&word) {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            if line.contains(&word) {
                findings.push(format!("{name}:{}: `{word}` is {reason}", number + 1));
            }
        }
    }
}

fn columns(name: &str, text: &str, findings: &mut Vec<String>) {
    for (number, line) in (1..).zip(text.lines()) {
        let columns = line.chars().count();
        if columns > MAX_COLUMNS && !line.contains("://") {
            findings.push(format!("{name}:{number}: {columns} columns, more than {MAX_COLUMNS}"));
        }
    }
}

/// Reports Rust files with more than [`MAX_LINES`] lines.
fn long_files(crates: &[SourceCrate], findings: &mut Vec<String>) {
    let rust = crates.iter().filter(|source| source.is_rust());
    for file in rust.flat_map(|source| &source.files).filter(|file| file.lines > MAX_LINES) {
        findings.push(format!(
            "{}: {} lines of product code, more than {MAX_LINES}; divide the file",
            file.name, file.lines
        ));
    }
}

/// Reports modules of the core that use a module against the order of [`STAGES`].
fn stage_order(core: &SourceCrate, findings: &mut Vec<String>) {
    for file in &core.files {
        let Some(from) = file.module.first() else { continue };
        if !STAGES.contains(&from.as_str()) && !BELOW.contains(&from.as_str()) {
            findings.push(format!(
                "{}: the module `{from}` has no stage; add it to a list in xtask/src/tidy.rs",
                file.name
            ));
            continue;
        }
        let used = file.paths.iter().chain(file.imports.values()).filter_map(|path| path.first());
        let used: BTreeSet<&String> = used.filter(|to| !allowed(from, to)).collect();
        for to in used {
            findings.push(format!(
                "{}: `{from}` uses `{to}`, which comes later; see xtask/src/tidy.rs",
                file.name
            ));
        }
    }
}

fn allowed(from: &str, to: &str) -> bool {
    let place = |module: &str| STAGES.iter().position(|stage| *stage == module);
    match (place(from), place(to)) {
        (_, None) => true,
        (Some(from), Some(to)) if to <= from => true,
        _ => EXTRA_EDGES.contains(&(from, to)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, text: &str) -> Vec<String> {
        let mut findings = Vec::new();
        file(name, text.as_bytes(), &mut findings);
        findings
    }

    fn core(module: &str, text: &str) -> SourceCrate {
        let file = source::parse_rust(&format!("{CORE}/src/{module}"), text).expect("Rust");
        SourceCrate { folder: CORE.to_owned(), files: vec![file] }
    }

    #[test]
    fn stages_depend_on_earlier_ones_only() {
        let found = |module: &str, text| {
            let mut findings = Vec::new();
            stage_order(&core(module, text), &mut findings);
            findings.len()
        };
        assert_eq!(found("band.rs", "use crate::signature::Signer; // crate::keep\n"), 0);
        assert_eq!(found("naive.rs", "use crate::{group::stars, verify};\n"), 0);
        assert_eq!(found("params.rs", "use crate::curve;\n"), 0);
        assert_eq!(found("kernel/scalar.rs", "use crate::text;\n"), 0);
        assert_eq!(found("band.rs", "#[cfg(test)]\nuse crate::naive;\n"), 0);
        assert_eq!(found("band.rs", "use crate::{hash, keep, naive::x};\n"), 2);
        assert_eq!(found("hash.rs", "fn f() { crate::text::class('a') }\n"), 1);
        assert_eq!(found("utils.rs", "\n"), 1);
    }

    #[test]
    fn long_files_and_lines() {
        let found_lines = |text: &str| {
            let mut findings = Vec::new();
            long_files(&[core("band.rs", text)], &mut findings);
            findings.len()
        };
        assert_eq!(found_lines(&"\n".repeat(MAX_LINES + 1)), 1);
        let tests = "\n".repeat(MAX_LINES) + "#[cfg(test)]\nmod tests {}\n";
        assert_eq!(found_lines(&tests), 0);
        assert_eq!(found("a/b.rs", &"é".repeat(MAX_COLUMNS + 1)).len(), 1);
        assert!(found("a/b.rs", &"é".repeat(MAX_COLUMNS)).is_empty());
        assert!(found("a/b_table.rs", &"é".repeat(MAX_COLUMNS + 1)).is_empty());
    }

    #[test]
    fn uncommittable_files_are_reported() {
        assert_eq!(found("a.md", &["see /", "home/x"].concat()).len(), 1);
        assert_eq!(found("a.bin", &"x".repeat(MAX_BYTES + 1)).len(), 1);
        assert!(found("a.md", "see https://example.org").is_empty());
    }

    #[test]
    fn repository_address_belongs_in_one_place() {
        let found = |name: &str, text: &str| {
            let mut findings = Vec::new();
            repository_address(name, text.as_bytes(), "example.org/a", &mut findings);
            findings.len()
        };
        assert_eq!(found("README.md", "see https://example.org/a/issues"), 1);
        assert_eq!(found("Cargo.toml", "https://example.org/a"), 0);
        assert_eq!(found("README.md", "see https://example.org/b"), 0);
    }

    #[test]
    fn folders_with_many_files() {
        let files = |folder: &str, count: usize| -> Vec<String> {
            (0..count).map(|number| format!("{folder}/{number}.rs")).collect()
        };
        let files = [files("a", MAX_FILES), files("a/b", MAX_FILES + 1)].concat();
        assert_eq!(full_folders(&files).counts, Counts::from([("a/b".to_owned(), 26)]));
    }
}
