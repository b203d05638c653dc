//! Finds files of a crate that import each other.

use super::source_file::{SourceCrate, SourceFile};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of exports to follow from an import to the file that defines the name.
const MAX_EXPORTS: usize = 16;

/// Returns the sets of files in which each file imports every other file, directly or through
/// others. If a file uses a name that a module only exports, it imports both the module and the
/// file that defines the name.
pub(crate) fn cycles(source: &SourceCrate) -> Vec<Vec<&str>> {
    let modules: BTreeMap<&[String], &SourceFile> =
        // In reverse order, so that `module.py` replaces its stub `module.pyi`, which is after it.
        source.files.iter().rev().map(|file| (file.module.as_slice(), file)).collect();
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in &source.files {
        let used = file.paths.iter().flat_map(|path| imported(&modules, path));
        let used = used.map(|other| other.name.as_str()).filter(|name| *name != file.name);
        edges.insert(&file.name, used.collect());
    }
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        edges.keys().map(|name| (*name, reachable(&edges, name))).collect();
    let mut cycles = BTreeSet::new();
    for (name, names) in &reached {
        let mutual = names.iter().filter(|other| reached[**other].contains(name));
        let cycle: Vec<&str> = mutual.copied().collect();
        if cycle.len() > 1 {
            cycles.insert(cycle);
        }
    }
    cycles.into_iter().collect()
}

/// Returns the files that a use of `path` imports: modules that export the name, and the
/// file that defines it.
fn imported<'a>(
    modules: &BTreeMap<&[String], &'a SourceFile>,
    path: &[String],
) -> Vec<&'a SourceFile> {
    let mut path = path.to_vec();
    let mut files = Vec::new();
    for _ in 0..MAX_EXPORTS {
        let prefixes = (0..=path.len()).rev().map(|length| &path[..length]);
        let Some(module) = prefixes.into_iter().find(|prefix| modules.contains_key(prefix)) else {
            break;
        };
        let length = module.len();
        let file = modules[module];
        files.push(file);
        let exported = path.get(length).and_then(|name| file.imports.get(name));
        let Some(exported) = exported else { break };
        let next = [exported, &path[length + 1..]].concat();
        if next == path {
            break;
        }
        path = next;
    }
    files
}

/// Returns the files that `start` imports, directly or through others.
fn reachable<'a>(edges: &BTreeMap<&'a str, BTreeSet<&'a str>>, start: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut waiting = vec![start];
    while let Some(name) = waiting.pop() {
        for next in edges.get(name).into_iter().flatten() {
            if reached.insert(*next) {
                waiting.push(next);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::super::parse_rust;
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let files = files.iter().map(|(name, text)| parse_rust(name, text).unwrap_or_default());
        let source = SourceCrate { folder: "c".to_owned(), files: files.collect() };
        let cycles = cycles(&source).into_iter();
        cycles.map(|cycle| cycle.into_iter().map(str::to_owned).collect()).collect()
    }

    #[test]
    fn import_cycles_are_found() {
        let a = ("a.rs", "use crate::b::B;\npub struct A;\n");
        let b = ("b.rs", "pub struct B(crate::c::C);\n");
        let c = ("c.rs", "use super::a;\npub struct C;\n");
        assert_eq!(found(&[a, b, c]), [["a.rs", "b.rs", "c.rs"]]);
        assert!(found(&[a, b]).is_empty());
    }

    #[test]
    fn exports_are_followed_to_the_definition() {
        let parent = ("m/mod.rs", "mod a;\nmod b;\npub use a::A;\n");
        let b = ("m/b.rs", "use super::A;\npub struct B;\n");
        let a = ("m/a.rs", "pub struct A;\n");
        assert!(found(&[parent, a, b]).is_empty());
        let a = ("m/a.rs", "use super::b::B;\npub struct A(B);\n");
        assert_eq!(found(&[parent, a, b]), [["m/a.rs", "m/b.rs"]]);
    }

    #[test]
    fn reexported_names_count_as_imports() {
        let parent = ("m/mod.rs", "mod a;\npub use a::A;\nuse crate::kind::Kind;\n");
        let a = ("m/a.rs", "pub struct A;\n");
        let kind = ("kind.rs", "pub struct Kind;\nfn f() { crate::m::A::new() }\n");
        assert_eq!(found(&[parent, a, kind]), [["kind.rs", "m/mod.rs"]]);
    }

    #[test]
    fn imports_within_functions_and_macros() {
        let a = ("a.rs", "pub fn f() { use crate::b; b::g() }\n");
        let b = ("b.rs", "pub fn g() { print!(\"{}\", crate::a::f()) }\n");
        assert_eq!(found(&[a, b]), [["a.rs", "b.rs"]]);
    }
}
