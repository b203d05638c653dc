//! Parses the files of the crates and of the Python package, for checks and measurements.

mod cycles;
mod python;
mod rust;
mod source_file;

pub(crate) use cycles::cycles;
pub(crate) use source_file::SourceCrate;

use source_file::SourceFile;
use std::collections::BTreeMap;
use std::path::Path;

/// The folder of the Python package. Its tests are in another folder.
const PYTHON: &str = "python/lookalike";

/// The name of the group of files in other languages. Only their lines are counted.
const OTHER_LANGUAGES: &str = "JavaScript and SQL";

/// Reads the files of the crates, of the Python package and of other languages. `names` are paths
/// from `root`.
///
/// # Errors
/// If a file cannot be read or parsed.
pub(crate) fn crates(root: &Path, names: &[String]) -> Result<Vec<SourceCrate>, String> {
    let mut crates: BTreeMap<&str, Vec<SourceFile>> = BTreeMap::new();
    for name in names {
        let folder = match extension(name) {
            "rs" if !is_test(name) && !name.ends_with("_table.rs") => {
                name.split_once("/src/").map(|(folder, _)| folder)
            }
            "py" | "pyi" => name.starts_with(PYTHON).then_some(PYTHON),
            "js" | "sql" if name.contains("/src/") => Some(OTHER_LANGUAGES),
            _ => None,
        };
        let Some(folder) = folder else { continue };
        let text = std::fs::read_to_string(root.join(name));
        let text = text.map_err(|error| format!("cannot read {name}: {error}"))?;
        let file = match folder {
            PYTHON => {
                let path = name.strip_prefix("python/").unwrap_or(name);
                python::parse(name, module_of(path), &text)
            }
            OTHER_LANGUAGES => count_lines(name, &text),
            _ => parse_rust(name, &text)?,
        };
        crates.entry(folder).or_default().push(file);
    }
    let crates = crates.into_iter();
    Ok(crates.map(|(folder, files)| SourceCrate { folder: folder.to_owned(), files }).collect())
}

impl SourceCrate {
    /// Returns true for a crate, and false for the Python package and other languages.
    pub(crate) fn is_rust(&self) -> bool {
        self.folder != PYTHON && self.folder != OTHER_LANGUAGES
    }
}

/// Parses a Rust file. Derives its module from its path in `src`.
///
/// # Errors
/// If the text is not valid Rust.
pub(crate) fn parse_rust(name: &str, text: &str) -> Result<SourceFile, String> {
    let path = name.split_once("/src/").map_or(name, |(_, path)| path);
    rust::parse(name, module_of(path), text)
}

/// Counts the lines of a JavaScript or SQL file.
fn count_lines(name: &str, text: &str) -> SourceFile {
    let lines = text.lines().map(str::trim);
    let is_code = |line: &&str| {
        let comments = ["//", "/*", "*", "--"];
        !line.is_empty() && !comments.iter().any(|comment| line.starts_with(comment))
    };
    SourceFile {
        name: name.to_owned(),
        lines: lines.clone().count(),
        code_lines: lines.filter(is_code).count(),
        ..Default::default()
    }
}

/// Returns the extension of a file without its dot. Empty if the file has none.
pub(crate) fn extension(name: &str) -> &str {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    extension.unwrap_or_default()
}

/// Returns the module of a file with this path in the crate or the package.
fn module_of(path: &str) -> Vec<String> {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let mut module: Vec<String> = stem.split('/').map(str::to_owned).collect();
    module.pop_if(|last| ["mod", "lib", "main", "__init__"].contains(&last.as_str()));
    module
}

/// Returns true if a file contains only tests.
fn is_test(name: &str) -> bool {
    name.split('/').any(|folder| folder == "tests") || name.ends_with("/tests.rs")
}
