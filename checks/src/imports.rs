//! Imports between the files of a crate.
//!
//! A file imports another if a path in it leads to a module of the other: in a `use` or
//! `pub use`, an expression, a type, a pattern or the tokens of a macro call. The target is
//! the file of the module that the path *names*: `crate::a::Item` imports `a/mod.rs`, also
//! where `a/mod.rs` re-exports `Item` from `a/item.rs`. `mod` lines, visibilities, attributes
//! and everything under `#[cfg(test)]` do not count as imports.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Field, FieldValue, ImplItem, Item, ItemUse, Macro, Path, Stmt, TraitItem, Variant,
    Visibility,
};

use crate::modules::{FileId, ModuleId, Tree, attributes, is_for_tests};
use crate::uses;

/// Imports of a crate: for each pair of importing and imported file, where and what.
pub type Imports = BTreeMap<(FileId, FileId), Vec<Import>>;

/// One path that imports another file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    /// Line of the path, from 1.
    pub line: usize,
    /// The path as it is written, without generic arguments.
    pub path: String,
}

/// Lists all imports between different files of a crate.
pub fn imports(tree: &Tree) -> Imports {
    let mut imports = Imports::new();
    for (id, module) in tree.modules.iter().enumerate() {
        let mut collector = Collector { tree, module: id, imports: &mut imports };
        for item in &module.items {
            collector.visit_item(item);
        }
    }
    for found in imports.values_mut() {
        found.sort();
        found.dedup();
    }
    imports
}

struct Collector<'a> {
    tree: &'a Tree,
    module: ModuleId,
    imports: &'a mut Imports,
}

impl Collector<'_> {
    fn path(&mut self, segments: &[String], line: usize) {
        if let Some(target) = self.tree.resolve(self.module, segments) {
            let file = self.tree.modules[target].file;
            self.import(file, segments, line);
        }
    }

    fn import(&mut self, target: FileId, segments: &[String], line: usize) {
        let from = self.tree.modules[self.module].file;
        if from != target {
            let import = Import { line, path: segments.join("::") };
            self.imports.entry((from, target)).or_default().push(import);
        }
    }

    /// A `macro_rules!` that is called by its bare name is imported from where it is defined.
    fn called(&mut self, path: &Path) {
        let Some(name) = path.segments.last() else { return };
        let is_short = path.segments.len() == 1
            || (path.segments.len() == 2 && path.segments[0].ident == "crate");
        let tree = self.tree;
        if let (true, Some(files)) = (is_short, tree.macros.get(&name.ident.to_string())) {
            let from = tree.modules[self.module].file;
            if !files.contains(&from) {
                let name = [format!("{}!", name.ident)];
                files.iter().for_each(|file| self.import(*file, &name, path.span().start().line));
            }
        }
    }

    /// Finds paths of two and more segments in the tokens of a macro call.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut segments: Vec<String> = Vec::new();
        let mut line = 0;
        // Colons since the last identifier; a path continues after exactly two.
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.end_of_path(&mut segments, line);
                        line = ident.span().start().line;
                        segments.push(ident.unraw().to_string());
                    } else if !segments.is_empty() {
                        segments.push(ident.unraw().to_string());
                    }
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                other => {
                    self.end_of_path(&mut segments, line);
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        self.end_of_path(&mut segments, line);
    }

    fn end_of_path(&mut self, segments: &mut Vec<String>, line: usize) {
        if segments.len() > 1 {
            self.path(segments, line);
        }
        segments.clear();
    }
}

impl<'ast> Visit<'ast> for Collector<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes = match item {
            ImplItem::Const(item) => &item.attrs,
            ImplItem::Fn(item) => &item.attrs,
            ImplItem::Type(item) => &item.attrs,
            ImplItem::Macro(item) => &item.attrs,
            _ => return,
        };
        if !is_for_tests(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        let attributes = match item {
            TraitItem::Const(item) => &item.attrs,
            TraitItem::Fn(item) => &item.attrs,
            TraitItem::Type(item) => &item.attrs,
            TraitItem::Macro(item) => &item.attrs,
            _ => return,
        };
        if !is_for_tests(attributes) {
            visit::visit_trait_item(self, item);
        }
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        let attributes: &[Attribute] = match statement {
            Stmt::Local(local) => &local.attrs,
            Stmt::Macro(call) => &call.attrs,
            _ => &[],
        };
        if !is_for_tests(attributes) {
            visit::visit_stmt(self, statement);
        }
    }

    fn visit_field(&mut self, field: &'ast Field) {
        if !is_for_tests(&field.attrs) {
            visit::visit_field(self, field);
        }
    }

    fn visit_field_value(&mut self, value: &'ast FieldValue) {
        if !is_for_tests(&value.attrs) {
            visit::visit_field_value(self, value);
        }
    }

    fn visit_variant(&mut self, variant: &'ast Variant) {
        if !is_for_tests(&variant.attrs) {
            visit::visit_variant(self, variant);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        for import in uses::flatten(item).iter().filter(|import| !import.is_external) {
            self.path(&import.segments, import.line);
        }
    }

    fn visit_path(&mut self, path: &'ast Path) {
        // A single segment is a local name, or one that a `use` has imported.
        if path.leading_colon.is_none() && path.segments.len() > 1 {
            let segments = path.segments.iter();
            let segments: Vec<String> =
                segments.map(|segment| segment.ident.unraw().to_string()).collect();
            self.path(&segments, path.span().start().line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.called(&call.path);
        visit::visit_macro(self, call);
        self.tokens(call.tokens.clone());
    }

    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_attribute(&mut self, _: &'ast Attribute) {}
}
