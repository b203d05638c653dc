//! The crates of the workspace and their features, read from the manifests.

use std::path::Path;

/// A crate of the workspace.
pub(crate) struct WorkspaceCrate {
    /// Its name.
    pub(crate) name: String,
    /// The features it declares.
    pub(crate) features: Vec<String>,
}

/// All members, in the order of their folders.
///
/// # Errors
/// A folder or a manifest cannot be read.
pub(crate) fn of(root: &Path) -> Result<Vec<WorkspaceCrate>, String> {
    let crates = root.join("crates");
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(&crates).map_err(|e| format!("cannot read crates/: {e}"))? {
        folders.push(entry.map_err(|e| format!("cannot read crates/: {e}"))?.path());
    }
    folders.sort();
    folders.extend([root.join("python"), root.join("xtask"), root.join("bench")]);
    let manifests = folders.iter().map(|folder| folder.join("Cargo.toml"));
    manifests.filter(|manifest| manifest.exists()).map(|manifest| member(&manifest)).collect()
}

/// The value of a key of `[workspace.package]`.
///
/// # Errors
/// The manifest cannot be read, or it has no such key.
pub(crate) fn workspace_value(root: &Path, key: &str) -> Result<String, String> {
    let manifest = root.join("Cargo.toml");
    value(&read(&manifest)?, "[workspace.package]", key, &manifest)
}

fn member(manifest: &Path) -> Result<WorkspaceCrate, String> {
    let text = read(manifest)?;
    let name = value(&text, "[package]", "name", manifest)?;
    let features = keys(&text, "[features]").map(|(key, _)| key.trim_matches('"').to_owned());
    Ok(WorkspaceCrate { name, features: features.collect() })
}

fn read(manifest: &Path) -> Result<String, String> {
    std::fs::read_to_string(manifest)
        .map_err(|e| format!("cannot read {}: {e}", manifest.display()))
}

/// The text of a key under a heading.
fn value(text: &str, heading: &str, key: &str, manifest: &Path) -> Result<String, String> {
    keys(text, heading)
        .find(|(name, _)| *name == key)
        .map(|(_, value)| value.trim_matches('"').to_owned())
        .ok_or_else(|| format!("{} has no {key} under {heading}", manifest.display()))
}

/// The `key = value` lines under a heading; a value's further lines have no key of their own.
fn keys<'a>(text: &'a str, heading: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let section = text.lines().skip_while(move |line| line.trim() != heading).skip(1);
    let section = section.take_while(|line| !line.starts_with('['));
    section
        .filter(|line| !line.starts_with([' ', '#', ']']))
        .filter_map(|line| line.split_once('='))
        .map(|(key, value)| (key.trim(), value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_a_section() {
        let text = "[package]\nname = \"a\"\n\n\
                    [features]\n# why\ndefault = [\n  \"x\",\n]\nx = []\n[z]\ny = 1\n";
        let names = |heading| keys(text, heading).map(|(key, _)| key).collect::<Vec<_>>();
        assert_eq!(names("[features]"), ["default", "x"]);
        assert_eq!(names("[package]"), ["name"]);
        assert!(names("[none]").is_empty());
    }

    #[test]
    fn members_of_this_workspace() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let members = of(root).unwrap_or_default();
        assert!(members.iter().any(|member| member.name == "xtask"));
    }
}
