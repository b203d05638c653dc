//! A parsed file of Rust or Python, and a crate of such files.

use std::collections::{BTreeMap, BTreeSet};

/// A file without its tests.
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
    /// The lengths of functions in lines, signature included.
    pub(crate) functions: Vec<usize>,
    /// The lines of tuples that are only packed to be unpacked: `let (a, b) = (c, d)`.
    pub(crate) packed_tuples: Vec<usize>,
    /// Names of the structs, enums, traits, unions, type aliases and classes it defines.
    pub(crate) types: Vec<String>,
    /// Paths that it uses, from the root of the crate.
    pub(crate) paths: BTreeSet<Vec<String>>,
    /// Names that it imports or exports, with their paths from the root of the crate.
    pub(crate) imports: BTreeMap<String, Vec<String>>,
}

/// A crate of the workspace, the Python package, or the files of other languages.
pub(crate) struct SourceCrate {
    /// Its folder from the root of the repository, or the names of the languages.
    pub(crate) folder: String,
    /// Its files in the order of their names.
    pub(crate) files: Vec<SourceFile>,
}
