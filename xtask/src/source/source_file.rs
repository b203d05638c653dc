//! The data of a parsed Rust or Python file, and of a crate of such files.

use std::collections::{BTreeMap, BTreeSet};

/// A source file without its tests.
#[derive(Debug, Default)]
pub(crate) struct SourceFile {
    /// Path from the root of the repository.
    pub(crate) name: String,
    /// Path of its module in the crate. Empty for the root of the crate.
    pub(crate) module: Vec<String>,
    /// The number of lines that are neither blank nor a comment.
    pub(crate) code_lines: usize,
    /// The number of all lines.
    pub(crate) lines: usize,
    /// The lengths of functions in lines, with their signatures. 0 for functions of Python.
    pub(crate) functions: Vec<usize>,
    /// The line numbers of tuples that are packed only to be unpacked, such as
    /// `let (a, b) = (c, d)`.
    pub(crate) packed_tuples: Vec<usize>,
    /// Names of the structs, enums, traits, unions, type aliases and classes that the file defines.
    pub(crate) types: Vec<String>,
    /// Paths that the file uses, from the root of the crate.
    pub(crate) paths: BTreeSet<Vec<String>>,
    /// Names that the file imports or exports, with their paths from the root of the crate.
    pub(crate) imports: BTreeMap<String, Vec<String>>,
}

/// A crate of the workspace, the Python package, or the files of other languages.
pub(crate) struct SourceCrate {
    /// Its folder from the root of the repository, or the names of the languages.
    pub(crate) folder: String,
    /// Its files in the order of their names.
    pub(crate) files: Vec<SourceFile>,
}
