//! The parsed files of the crates and of the Python package, for checks and measurements.

mod cycles;
mod python;
mod rust;
mod source_file;

pub(crate) use cycles::cycles;
pub(crate) use source_file::SourceCrate;

use source_file::SourceFile;
use std::collections::BTreeMap;
use std::path::Path;

/// The folder of the Python package; its tests are elsewhere.
pub(crate) const PYTHON: &str = "python/lookalike";

/// Reads the files of the crates and of the Python package. `names` are paths from `root`.
///
/// # Errors
/// A file cannot be read or parsed.
pub(crate) fn crates(root: &Path, names: &[String]) -> Result<Vec<SourceCrate>, String> {
    let mut crates: BTreeMap<&str, Vec<SourceFile>> = BTreeMap::new();
    for name in names {
        let folder = match extension(name) {
            "rs" if !is_test(name) && !name.ends_with("_table.rs") => {
                name.split_once("/src/").map(|(folder, _)| folder)
            }
            "py" | "pyi" => name.starts_with(PYTHON).then_some(PYTHON),
            _ => None,
        };
        let Some(folder) = folder else { continue };
        let text = std::fs::read_to_string(root.join(name));
        let text = text.map_err(|error| format!("cannot read {name}: {error}"))?;
        let file = if folder == PYTHON {
            let path = name.strip_prefix("python/").unwrap_or(name);
            python::parse(name, module_of(path), &text)
        } else {
            parse_rust(name, &text)?
        };
        crates.entry(folder).or_default().push(file);
    }
    let crates = crates.into_iter();
    Ok(crates.map(|(folder, files)| SourceCrate { folder: folder.to_owned(), files }).collect())
}

/// Parses a file of Rust, whose module follows from its path below `src`.
///
/// # Errors
/// The text is not Rust.
pub(crate) fn parse_rust(name: &str, text: &str) -> Result<SourceFile, String> {
    let path = name.split_once("/src/").map_or(name, |(_, path)| path);
    rust::parse(name, module_of(path), text)
}

/// The extension of a file, without its dot; empty if it has none.
pub(crate) fn extension(name: &str) -> &str {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    extension.unwrap_or_default()
}

/// The module of a file, by its path in the crate or the package.
fn module_of(path: &str) -> Vec<String> {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let mut module: Vec<String> = stem.split('/').map(str::to_owned).collect();
    module.pop_if(|last| ["mod", "lib", "main", "__init__"].contains(&last.as_str()));
    module
}

/// Whether a file has nothing but tests.
fn is_test(name: &str) -> bool {
    name.split('/').any(|folder| folder == "tests") || name.ends_with("/tests.rs")
}
