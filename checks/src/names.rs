//! Resolution of paths to the modules of a crate.
//!
//! [`Tree::resolve`] finds modules only: a path such as `crate::a::Item::new` leads to module
//! `a`, whether `a` defines `Item` or re-exports it.

use crate::modules::{ModuleId, Tree};
use crate::uses::Use;

/// Longest chain of imports that is followed, so that `use a::b; use b::a;` ends.
const MAX_IMPORTS: u32 = 16;

impl Tree {
    /// Finds the module that the longest prefix of a path leads to.
    ///
    /// The path is written in module `from`. Returns `None` if its first segment is not a module
    /// of this crate: a name of another crate, an item, a type parameter.
    pub fn resolve(&self, from: ModuleId, segments: &[String]) -> Option<ModuleId> {
        self.prefix(from, segments, MAX_IMPORTS).map(|(module, _)| module)
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
