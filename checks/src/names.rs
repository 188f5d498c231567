//! Resolution of paths to the modules of a crate.
//!
//! [`Tree::resolve`] finds modules only: a path such as `crate::a::Item::new` leads to module
//! `a`, whether `a` defines `Item` or re-exports it. [`Tree::definitions`] follows re-exports to
//! the items themselves.

use syn::Item;
use syn::ext::IdentExt;

use crate::modules::{ModuleId, Tree};
use crate::uses::Use;

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Definition {
    /// A module.
    Module(ModuleId),
    /// An item: the module that declares it, and its index there.
    Item(ModuleId, usize),
}

/// Longest chain of imports that is followed, so that `use a::b; use b::a;` ends.
const MAX_IMPORTS: u32 = 16;

impl Tree {
    /// Finds the module that the longest prefix of a path leads to.
    ///
    /// The path is written in module `from`. Returns `None` if its first segment is no module of
    /// this crate: a name of another crate, an item, a type parameter.
    pub fn resolve(&self, from: ModuleId, segments: &[String]) -> Option<ModuleId> {
        self.prefix(from, segments, MAX_IMPORTS).map(|(module, _)| module)
    }

    /// Finds what a path leads to, through re-exports; several items may share a name.
    ///
    /// The path is written in module `from`. Returns nothing if it leads out of the crate, or into
    /// an item such as an enum.
    pub fn definitions(&self, from: ModuleId, segments: &[String]) -> Vec<Definition> {
        self.defined(from, segments, MAX_IMPORTS)
    }

    fn defined(&self, from: ModuleId, segments: &[String], imports: u32) -> Vec<Definition> {
        let (module, rest) = match self.prefix(from, segments, imports) {
            Some((module, used)) => (module, &segments[used..]),
            None => (from, segments),
        };
        match rest {
            [] => vec![Definition::Module(module)],
            [name] => self.items(module, name, imports),
            _ => Vec::new(),
        }
    }

    /// The items of a name in a module: declared there or imported.
    fn items(&self, module: ModuleId, name: &str, imports: u32) -> Vec<Definition> {
        let items = self.modules[module].items.iter().enumerate();
        let declared = items.filter(|(_, item)| declared_name(item).as_deref() == Some(name));
        let declared: Vec<_> = declared.map(|(at, _)| Definition::Item(module, at)).collect();
        let Some(imports) = imports.checked_sub(1) else { return declared };
        if !declared.is_empty() {
            return declared;
        }
        let uses = self.modules[module].uses.iter().filter(|import| !import.is_external);
        let named = uses.clone().filter(|import| import.name.as_deref() == Some(name));
        let mut found = Vec::new();
        for import in named {
            // `use item::item` would look for itself.
            if import.segments.len() > 1 || import.segments[0] != name {
                found.extend(self.defined(module, &import.segments, imports));
            }
        }
        if found.is_empty() {
            for import in uses.filter(|import| import.is_glob) {
                if let Some(target) = self.whole(module, import, name, imports) {
                    found.extend(self.items(target, name, imports));
                }
            }
        }
        found
    }

    /// The module and the number of segments that led to it.
    fn prefix(
        &self,
        from: ModuleId,
        segments: &[String],
        imports: u32,
    ) -> Option<(ModuleId, usize)> {
        let mut used = 1;
        let mut module = match segments.first()?.as_str() {
            "crate" => self.root_of(from),
            "self" => from,
            "super" => self.modules[from].parent?,
            name => self.child(from, name, imports)?,
        };
        for segment in &segments[1..] {
            let next = match segment.as_str() {
                "super" => self.modules[module].parent,
                "self" => Some(module),
                name => self.child(module, name, imports),
            };
            let Some(next) = next else { break };
            module = next;
            used += 1;
        }
        Some((module, used))
    }

    /// The module that a name refers to inside another module: declared there or imported.
    fn child(&self, module: ModuleId, name: &str, imports: u32) -> Option<ModuleId> {
        if let Some(child) = self.modules[module].children.get(name) {
            return Some(*child);
        }
        let imports = imports.checked_sub(1)?;
        let uses = &self.modules[module].uses;
        let named = uses.iter().filter(|import| import.name.as_deref() == Some(name));
        let found = named.filter_map(|import| self.whole(module, import, name, imports)).next();
        found.or_else(|| {
            let globs = uses.iter().filter(|import| import.is_glob);
            globs
                .filter_map(|import| self.whole(module, import, name, imports))
                .find_map(|target| self.child(target, name, imports))
        })
    }

    /// The module that an import names, if it names one.
    fn whole(&self, from: ModuleId, import: &Use, name: &str, imports: u32) -> Option<ModuleId> {
        let names_itself = import.segments.first().is_some_and(|first| first == name)
            && import.name.as_deref() == Some(name);
        if import.is_external || names_itself {
            return None;
        }
        let (module, used) = self.prefix(from, &import.segments, imports)?;
        (used == import.segments.len()).then_some(module)
    }
}

/// The name that an item declares, other than that of a module.
fn declared_name(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.unraw().to_string())
}
