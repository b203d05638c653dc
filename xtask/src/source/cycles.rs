//! Files of a crate that import each other.

use super::source_file::{SourceCrate, SourceFile};
use std::collections::{BTreeMap, BTreeSet};

/// How many exports in a row are followed to the file that defines a name.
const MAX_EXPORTS: usize = 16;

/// The sets of files, by name, of which each file imports every other one directly or through
/// others. A name that a module only exports is taken from the file that defines it.
pub(crate) fn cycles(source: &SourceCrate) -> Vec<Vec<&str>> {
    let modules: BTreeMap<&[String], &SourceFile> =
        source.files.iter().map(|file| (file.module.as_slice(), file)).collect();
    let edges: BTreeMap<&str, BTreeSet<&str>> = source
        .files
        .iter()
        .map(|file| {
            let used = file.paths.iter().filter_map(|path| definition(&modules, path));
            let used = used.map(|other| other.name.as_str()).filter(|name| *name != file.name);
            (file.name.as_str(), used.collect())
        })
        .collect();
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        edges.keys().map(|name| (*name, reachable(&edges, name))).collect();
    let mut cycles = BTreeSet::new();
    for (name, others) in &reached {
        let mutual = others.iter().filter(|other| reached[**other].contains(name));
        let cycle: Vec<&str> = mutual.copied().collect();
        if cycle.len() > 1 {
            cycles.insert(cycle);
        }
    }
    cycles.into_iter().collect()
}

/// The file that defines what `path` names.
fn definition<'a>(
    modules: &BTreeMap<&[String], &'a SourceFile>,
    path: &[String],
) -> Option<&'a SourceFile> {
    let mut path = path.to_vec();
    for _ in 0..MAX_EXPORTS {
        let length =
            (0..=path.len()).rev().find(|length| modules.contains_key(&path[..*length]))?;
        let file = modules.get(&path[..length])?;
        let exported = path.get(length).and_then(|name| file.imports.get(name));
        let Some(exported) = exported else { return Some(file) };
        let next = [exported, &path[length + 1..]].concat();
        if next == path {
            return Some(file);
        }
        path = next;
    }
    None
}

/// What is reached from `start` in one step or more.
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
    use super::super::{module_of, parse};
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let files = files
            .iter()
            .map(|(name, text)| parse::parse(name, module_of(name), text).unwrap_or_default());
        let source = SourceCrate { folder: "c".to_owned(), files: files.collect() };
        let cycles = cycles(&source).into_iter();
        cycles.map(|cycle| cycle.into_iter().map(str::to_owned).collect()).collect()
    }

    #[test]
    fn files_that_import_each_other() {
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
}
