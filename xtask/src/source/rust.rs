//! Reads the functions, types, imports and lines of a Rust file without its tests.

use super::source_file::SourceFile;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Parses `text`, the file `name` of the module `module`.
///
/// # Errors
/// If the text is not valid Rust.
pub(super) fn parse(name: &str, module: Vec<String>, text: &str) -> Result<SourceFile, String> {
    let parsed = syn::parse_file(text).map_err(|error| {
        let line = error.span().start().line;
        format!("{name}:{line}: cannot be parsed: {error}")
    })?;
    let file = SourceFile { name: name.to_owned(), module: module.clone(), ..Default::default() };
    let mut visitor = SourceVisitor { file, module, children: BTreeSet::new(), tests: Vec::new() };
    visitor.visit_file(&parsed);
    let SourceVisitor { mut file, tests, .. } = visitor;
    let product =
        (1..).zip(text.lines()).filter(|(line, _)| !tests.iter().any(|test| test.contains(line)));
    for (_, line) in product {
        let line = line.trim();
        file.lines += 1;
        file.code_lines += usize::from(!line.is_empty() && !line.starts_with("//"));
    }
    Ok(file)
}

struct SourceVisitor {
    file: SourceFile,
    /// The module of the visited item: the file's module, or a module within it.
    module: Vec<String>,
    /// The modules that the file declares.
    children: BTreeSet<String>,
    /// The lines of items that belong to tests.
    tests: Vec<RangeInclusive<usize>>,
}

impl SourceVisitor {
    /// Returns a path from the root of the crate. Returns `None` for a path that leads out of the
    /// crate or begins with a name in scope.
    fn absolute(&self, path: &[String]) -> Option<Vec<String>> {
        let (first, rest) = path.split_first()?;
        let mut module = match first.as_str() {
            "crate" => Vec::new(),
            "self" | "super" => self.module.clone(),
            child if self.children.contains(child) => {
                return Some([&self.module, path].concat());
            }
            _ => return None,
        };
        if first == "super" {
            module.pop();
        }
        let parents = rest.iter().take_while(|name| *name == "super").count();
        module.truncate(module.len().saturating_sub(parents));
        module.extend_from_slice(&rest[parents..]);
        Some(module)
    }

    fn function(&mut self, signature: &impl Spanned, body: &impl Spanned) {
        let lines = body.span().end().line + 1 - signature.span().start().line;
        self.file.functions.push(lines);
    }

    /// Adds the paths in the arguments of a macro. syn does not parse these arguments.
    fn paths_in_tokens(&mut self, tokens: TokenStream) {
        let mut path = Vec::new();
        let mut colons = 0;
        // The last token ends the last path.
        for token in tokens.into_iter().map(Some).chain([None]) {
            match token {
                Some(TokenTree::Punct(mark)) if mark.as_char() == ':' => colons += 1,
                Some(TokenTree::Ident(name)) if colons == 2 && !path.is_empty() => {
                    path.push(name.to_string());
                    colons = 0;
                }
                token => {
                    if path.len() > 1 {
                        self.file.paths.extend(self.absolute(&path));
                    }
                    path.clear();
                    colons = 0;
                    match token {
                        Some(TokenTree::Ident(name)) => path.push(name.to_string()),
                        Some(TokenTree::Group(group)) => self.paths_in_tokens(group.stream()),
                        _ => {}
                    }
                }
            }
        }
    }

    /// Collects the imports of a `use`: names with their paths.
    fn imports(
        tree: &syn::UseTree,
        path: &mut Vec<String>,
        found: &mut Vec<(String, Vec<String>)>,
    ) {
        match tree {
            syn::UseTree::Path(next) => {
                path.push(next.ident.to_string());
                Self::imports(&next.tree, path, found);
                path.pop();
            }
            syn::UseTree::Name(name) if name.ident == "self" => {
                found.push((path.last().cloned().unwrap_or_default(), path.clone()));
            }
            syn::UseTree::Name(name) => {
                let name = name.ident.to_string();
                found.push((name.clone(), [&path[..], &[name]].concat()));
            }
            syn::UseTree::Rename(name) => {
                let mut full_path = path.clone();
                if name.ident != "self" {
                    full_path.push(name.ident.to_string());
                }
                found.push((name.rename.to_string(), full_path));
            }
            syn::UseTree::Glob(_) => found.push(("*".to_owned(), path.clone())),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    Self::imports(tree, path, found);
                }
            }
        }
    }
}

impl<'a> Visit<'a> for SourceVisitor {
    fn visit_file(&mut self, file: &'a syn::File) {
        for item in &file.items {
            if let syn::Item::Mod(module) = item {
                self.children.insert(module.ident.to_string());
            }
        }
        visit::visit_file(self, file);
    }

    fn visit_item(&mut self, item: &'a syn::Item) {
        if attributes(item).iter().any(is_test) {
            self.tests.push(item.span().start().line..=item.span().end().line);
            return;
        }
        let types = match item {
            syn::Item::Struct(item) => Some(&item.ident),
            syn::Item::Enum(item) => Some(&item.ident),
            syn::Item::Union(item) => Some(&item.ident),
            syn::Item::Trait(item) => Some(&item.ident),
            syn::Item::Type(item) => Some(&item.ident),
            _ => None,
        };
        self.file.types.extend(types.map(ToString::to_string));
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        self.module.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        let mut found = Vec::new();
        Self::imports(&item.tree, &mut Vec::new(), &mut found);
        for (name, path) in found {
            let Some(path) = self.absolute(&path) else { continue };
            // An exported name does not count as used here, because other files use it.
            if matches!(item.vis, syn::Visibility::Inherited) {
                self.file.paths.insert(path.clone());
            }
            self.file.imports.insert(name, path);
        }
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        if names.len() > 1 && path.leading_colon.is_none() {
            self.file.paths.extend(self.absolute(&names));
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'a syn::Macro) {
        self.paths_in_tokens(item.tokens.clone());
        visit::visit_macro(self, item);
    }

    fn visit_local(&mut self, local: &'a syn::Local) {
        let pattern = match &local.pat {
            syn::Pat::Type(typed) => &typed.pat,
            pattern => pattern,
        };
        // A `let … else` with tuples compares several values, and Rust has no other form for it.
        if let (syn::Pat::Tuple(_), Some(init)) = (pattern, &local.init)
            && init.diverge.is_none()
            && let syn::Expr::Tuple(tuple) = &*init.expr
        {
            self.file.packed_tuples.push(tuple.span().start().line);
        }
        visit::visit_local(self, local);
    }

    fn visit_expr_assign(&mut self, assignment: &'a syn::ExprAssign) {
        if let (syn::Expr::Tuple(_), syn::Expr::Tuple(tuple)) =
            (&*assignment.left, &*assignment.right)
        {
            self.file.packed_tuples.push(tuple.span().start().line);
        }
        visit::visit_expr_assign(self, assignment);
    }

    /// Skips visibilities such as `pub(in path)`: they name a module without using it.
    fn visit_vis_restricted(&mut self, _: &'a syn::VisRestricted) {}

    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        if item.attrs.iter().any(is_test) {
            self.tests.push(item.span().start().line..=item.span().end().line);
            return;
        }
        self.function(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.function(&item.sig, body);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

/// Returns true for the attribute `#[cfg(test)]`, also with more conditions.
fn is_test(attribute: &syn::Attribute) -> bool {
    let syn::Meta::List(list) = &attribute.meta else { return false };
    let condition = list.tokens.to_string();
    list.path.is_ident("cfg") && (condition == "test" || condition.starts_with("all (test"))
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> SourceFile {
        parse("a.rs", vec!["a".to_owned(), "b".to_owned()], text).unwrap_or_default()
    }

    #[test]
    fn lines_functions_and_types() {
        let file = parsed(
            "//! Doc.\n\nstruct A;\nimpl A {\n    /// Doc.\n    fn f() {\n    }\n}\n\n\
             #[cfg(test)]\nmod tests {\n    struct B;\n    fn g() {}\n}\n",
        );
        assert_eq!((file.lines, file.code_lines), (9, 5));
        assert_eq!(file.functions, [2]);
        assert_eq!(file.types, ["A"]);
        assert!(parse("a.rs", Vec::new(), "fn {").is_err());
    }

    #[test]
    fn paths_start_at_the_crate_root() {
        let file = parsed(
            "mod c;\npub use c::D;\nuse super::{e::F, self as g};\nuse std::io;\n\
             fn f() -> crate::h::I { c::j(); self::k(); io::l() }\n\
             mod inner { use super::super::m; }\n\
             fn g() { use super::n; vec![0, crate::o::p(1), q::r(x::y)]; }\n",
        );
        let paths: Vec<String> = file.paths.iter().map(|path| path.join("::")).collect();
        assert_eq!(
            paths,
            ["a", "a::b::c::j", "a::b::k", "a::e::F", "a::m", "a::n", "h::I", "o::p"]
        );
        let exported = file.imports.get("D").map(|path| path.join("::"));
        assert_eq!(exported.as_deref(), Some("a::b::c::D"));
    }
    #[test]
    fn packed_tuples() {
        let file = parsed(
            "fn f() {\n    let (a, b) = (1, 2);\n    let (c, d): (u8, u8) = (3, 4);\n    \
             (a, b) = (b, a);\n    let (e, g) = f();\n    let h = (1, 2);\n    \
             let (Some(i), Ok(k)) = (j, l) else { return };\n}\n\
             #[cfg(test)]\nmod tests { fn f() { let (a, b) = (1, 2); } }\n",
        );
        assert_eq!(file.packed_tuples, [2, 3, 4]);
    }
}
