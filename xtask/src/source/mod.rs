//! The Rust files of a crate, parsed: what the checks and the measurements of the source need.

mod cycles;
mod parse;
mod source_file;

pub(crate) use cycles::cycles;
pub(crate) use source_file::SourceCrate;

use source_file::SourceFile;
use std::collections::BTreeMap;
use std::path::Path;

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
    is_rust && !is_test(name) && !name.ends_with("_table.rs")
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

/// Whether a file has nothing but tests.
pub(crate) fn is_test(name: &str) -> bool {
    name.split('/').any(|folder| folder == "tests") || name.ends_with("/tests.rs")
}
