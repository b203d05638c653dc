//! Lists the crates of the workspace, as cargo reports them.

use crate::commands::output;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A crate of the workspace.
#[derive(Debug, Deserialize)]
pub(crate) struct WorkspaceCrate {
    /// The name of its package.
    pub(crate) name: String,
    manifest_path: PathBuf,
    /// The features that the crate declares, with the features that each of them turns on.
    pub(crate) features: BTreeMap<String, Vec<String>>,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    /// `dev` or `build`. `None` for a dependency of the crate itself.
    kind: Option<String>,
}

#[derive(Deserialize)]
struct WorkspaceMetadata {
    packages: Vec<WorkspaceCrate>,
}

impl WorkspaceCrate {
    /// The folder with the manifest.
    pub(crate) fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(&self.manifest_path)
    }

    /// Returns true if the crate depends directly on one of these packages. Dependencies of its
    /// tests and of its build script do not count.
    pub(crate) fn depends_on(&self, packages: &[&str]) -> bool {
        let mut dependencies = self.dependencies.iter().filter(|other| other.kind.is_none());
        dependencies.any(|dependency| packages.contains(&dependency.name.as_str()))
    }
}

/// Returns all crates of the workspace.
///
/// # Errors
/// If cargo fails.
pub(crate) fn of(root: &Path) -> Result<Vec<WorkspaceCrate>, String> {
    let metadata = output(root, "cargo", &["metadata", "--no-deps", "--format-version", "1"])?;
    let metadata: WorkspaceMetadata = serde_json::from_str(&metadata)
        .map_err(|error| format!("cannot read the metadata of cargo: {error}"))?;
    Ok(metadata.packages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_this_workspace() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let members = of(root).expect("members");
        let read = members.iter().find(|member| member.name == "lookalike-read").expect("read");
        assert!(read.folder().ends_with("crates/lookalike-read"));
        assert!(read.features.contains_key("parquet"));
        assert!(read.depends_on(&["lookalike-core"]));
        assert!(!read.depends_on(&["lookalike-test-support", "lookalike-cli"]));
    }
}
