//! The Rust files of a crate, parsed: what the checks and the measurements of the source need.

mod cycles;
mod parse;

pub(crate) use cycles::cycles;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A Rust file without its tests.
#[derive(Debug, Default)]
pub(crate) struct SourceFile {
    /// Path from the root of the repository.
    pub(crate) name: String,
    /// Path of its module in the crate; empty for the root of the crate.
    pub(crate) module: Vec<String>,
    /// Lines of code: neither blank nor a comment.
    pub(crate) code_lines: usize,
    /// All lines.
    pub(crate) lines: usize,
    /// Functions with their lengths in lines, signature included.
    pub(crate) functions: Vec<(String, usize)>,
    /// Names of the structs, enums, traits, unions and type aliases it defines.
    pub(crate) types: Vec<String>,
    /// Paths that it uses, from the root of the crate.
    paths: BTreeSet<Vec<String>>,
    /// Names that it imports or exports, with their paths from the root of the crate.
    imports: BTreeMap<String, Vec<String>>,
}

/// A crate of the workspace.
pub(crate) struct SourceCrate {
    /// Its folder from the root of the repository.
    pub(crate) folder: String,
    /// Its files in the order of their names.
    pub(crate) files: Vec<SourceFile>,
}

/// Reads the files of the crates that `names`, paths from `root`, are in.
///
/// # Errors
/// A file cannot be read or parsed.
pub(crate) fn crates(root: &Path, names: &[String]) -> Result<Vec<SourceCrate>, String> {
    let mut crates: BTreeMap<&str, Vec<SourceFile>> = BTreeMap::new();
    for name in names.iter().filter(|name| is_product(name)) {
        let Some((folder, path)) = name.split_once("/src/") else { continue };
        let text = std::fs::read_to_string(root.join(name));
        let text = text.map_err(|error| format!("cannot read {name}: {error}"))?;
        let file = parse::parse(name, module_of(path), &text)?;
        crates.entry(folder).or_default().push(file);
    }
    let crates = crates.into_iter();
    Ok(crates.map(|(folder, files)| SourceCrate { folder: folder.to_owned(), files }).collect())
}

/// Whether a file is Rust and neither a test nor a generated table.
fn is_product(name: &str) -> bool {
    let is_rust = Path::new(name).extension().is_some_and(|extension| extension == "rs");
    is_rust && !crate::tidy::is_test(name) && !name.ends_with("_table.rs")
}

/// The module of a file, by its path below `src`.
fn module_of(path: &str) -> Vec<String> {
    let stem = path.strip_suffix(".rs").unwrap_or(path);
    let mut module: Vec<String> = stem.split('/').map(str::to_owned).collect();
    if module.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        module.pop();
    }
    module
}
