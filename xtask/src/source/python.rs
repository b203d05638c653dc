//! Reads the classes, functions and imports of a Python file, line by line.

use super::source_file::SourceFile;

/// The marks that begin and end a string of several lines.
const TEXT_MARKS: [&str; 2] = ["\"\"\"", "'''"];

/// Parses `text`, the file `name` of the module `module`.
///
/// Imports within functions and for type checkers count. A package exports the names that its
/// `__init__.py` imports. They also count as imports of `__init__.py`, because Python runs the
/// imported files with it, in order.
pub(super) fn parse(name: &str, module: Vec<String>, text: &str) -> SourceFile {
    let mut package = module.clone();
    if !name.ends_with("/__init__.py") {
        package.pop();
    }
    let mut file = SourceFile { name: name.to_owned(), module, ..Default::default() };
    let mut is_in_text = false;
    let mut lines = text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        file.lines += 1;
        file.code_lines += usize::from(!line.is_empty() && !line.starts_with('#'));
        let marks: usize = TEXT_MARKS.iter().map(|mark| line.matches(mark).count()).sum();
        let was_in_text = is_in_text;
        is_in_text ^= marks % 2 == 1;
        if was_in_text {
            continue;
        }
        if line.starts_with("def ") || line.starts_with("async def ") {
            file.functions.push(0);
        } else if let Some(class) = line.strip_prefix("class ") {
            file.types.extend(class.split(['(', ':', '[']).next().map(str::to_owned));
        } else if line.starts_with("import ") || line.starts_with("from ") {
            let mut statement = line.to_owned();
            while statement.contains('(') && !statement.contains(')') {
                let Some(next) = lines.next() else { break };
                file.lines += 1;
                file.code_lines += 1;
                statement.push(' ');
                statement.push_str(next);
            }
            for (name, path) in imports(&package, &statement) {
                file.paths.insert(path.clone());
                file.imports.insert(name, path);
            }
        }
    }
    file
}

/// Returns the names that a statement imports, with their paths.
fn imports(package: &[String], statement: &str) -> Vec<(String, Vec<String>)> {
    let statement = statement.split('#').next().unwrap_or(statement);
    let (module, names) = match statement.strip_prefix("from ") {
        Some(statement) => statement.split_once(" import ").unwrap_or((statement, "")),
        None => ("", statement.trim_start_matches("import ")),
    };
    let base = absolute(package, module);
    let mut found = Vec::new();
    for item in names.split([',', '(', ')']).map(str::trim).filter(|item| !item.is_empty()) {
        let (path, name) = item.split_once(" as ").unwrap_or((item, item));
        let path = path.split('.').map(str::to_owned);
        found.push((name.to_owned(), base.iter().cloned().chain(path).collect()));
    }
    found
}

/// Returns the path of a module from the root. Each leading dot of the name after the first dot
/// leads to the enclosing package.
fn absolute(package: &[String], module: &str) -> Vec<String> {
    let name = module.trim_start_matches('.');
    let dots = module.len() - name.len();
    let mut path =
        if dots == 0 { &[][..] } else { &package[..(package.len() + 1).saturating_sub(dots)] }
            .to_vec();
    path.extend(name.split('.').filter(|part| !part.is_empty()).map(str::to_owned));
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_classes_and_functions() {
        let text = "'''Text.\nimport x\n'''\nfrom . import a\n\
                    from ..b.c import (\n    D,\n    E as F,\n)\n\
                    import json, p.q as r\n\nclass Found(Base):\n    def f(self):\n        \
                    from p import g  # why\n";
        let module = ["p", "q", "m"].map(str::to_owned).to_vec();
        let file = parse("p/q/m.py", module.clone(), text);
        let paths: Vec<String> = file.paths.iter().map(|path| path.join(".")).collect();
        assert_eq!(paths, ["json", "p.b.c.D", "p.b.c.E", "p.g", "p.q", "p.q.a"]);
        assert_eq!(file.imports["F"].join("."), "p.b.c.E");
        assert_eq!(file.types, ["Found"]);
        assert_eq!((file.lines, file.functions.len()), (13, 1));
        let package = parse("p/q/m/__init__.py", module, "from .a import b\n");
        assert_eq!(package.imports["b"].join("."), "p.q.m.a.b");
    }
}
