//! Module tree of a crate, read from its sources.
//!
//! The tree starts at `src/lib.rs` and `src/main.rs` and follows `mod` lines, `#[path]`
//! included. An inline module belongs to the file it is written in. Items and modules under
//! `#[cfg(test)]` are left out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use syn::ext::IdentExt;
use syn::visit::Visit;
use syn::{Attribute, Expr, Item, ItemMod, ItemUse, Lit, Meta};

use crate::uses::{self, Use};

/// Index of a module in [`Tree::modules`].
pub type ModuleId = usize;

/// Index of a file in [`Tree::files`].
pub type FileId = usize;

/// The modules of a crate. A package with a library and a program has two roots.
#[derive(Default)]
pub struct Tree {
    /// Source files, relative to the crate's folder.
    pub files: Vec<PathBuf>,
    /// All modules, the roots included.
    pub modules: Vec<Module>,
    /// The files in which a `macro_rules!` of a name is defined.
    pub macros: BTreeMap<String, Vec<FileId>>,
}

/// One module, inline or a file.
pub struct Module {
    /// The module it is declared in; `None` for a root.
    pub parent: Option<ModuleId>,
    /// The file its items are written in.
    pub file: FileId,
    /// Modules declared in it.
    pub children: BTreeMap<String, ModuleId>,
    /// Its `use` declarations, those inside functions last.
    pub uses: Vec<Use>,
    /// Its items; those that declare a module have no content here.
    pub items: Vec<Item>,
}

impl Tree {
    /// Reads the crate in a folder.
    ///
    /// # Errors
    ///
    /// Fails if there is no root, if a file cannot be read or parsed, or if the file of a `mod`
    /// line is missing.
    pub fn read(folder: &Path) -> Result<Self> {
        let mut tree = Self::default();
        for root in ["src/lib.rs", "src/main.rs"] {
            if folder.join(root).is_file() {
                tree.add_file(folder, Path::new(root), None, true)?;
            }
        }
        ensure!(!tree.modules.is_empty(), "no src/lib.rs or src/main.rs in {}", folder.display());
        Ok(tree)
    }

    /// The root of the tree that a module belongs to.
    pub fn root_of(&self, module: ModuleId) -> ModuleId {
        let mut root = module;
        while let Some(parent) = self.modules[root].parent {
            root = parent;
        }
        root
    }

    /// Adds a file's module and those below it; `None` if the whole file is for tests.
    fn add_file(
        &mut self,
        folder: &Path,
        path: &Path,
        parent: Option<ModuleId>,
        owns_folder: bool,
    ) -> Result<Option<ModuleId>> {
        let text = std::fs::read_to_string(folder.join(path))
            .with_context(|| format!("reading {}", path.display()))?;
        let syntax = syn::parse_file(&text)
            .with_context(|| format!("parsing {}", folder.join(path).display()))?;
        if is_for_tests(&syntax.attrs) {
            return Ok(None);
        }
        self.files.push(path.to_path_buf());
        let file = self.files.len() - 1;
        let beside = path.parent().context("a source file without a folder")?;
        let below = match path.file_stem() {
            Some(stem) if !owns_folder => beside.join(stem),
            _ => beside.to_path_buf(),
        };
        let place = Place { folder, file, beside: beside.to_path_buf(), below, is_inline: false };
        self.add_module(&place, syntax.items, parent).map(Some)
    }

    fn add_module(
        &mut self,
        place: &Place<'_>,
        items: Vec<Item>,
        parent: Option<ModuleId>,
    ) -> Result<ModuleId> {
        let id = self.modules.len();
        let mut module = Module {
            parent,
            file: place.file,
            children: BTreeMap::new(),
            uses: Vec::new(),
            items: Vec::new(),
        };
        let mut declared = Vec::new();
        let mut inner = Vec::new();
        for item in items {
            if is_for_tests(attributes(&item)) {
                continue;
            }
            match item {
                Item::Mod(mut declaration) => {
                    let content = declaration.content.take().map(|(_, items)| items);
                    declared.push((declaration.clone(), content));
                    module.items.push(Item::Mod(declaration));
                }
                Item::Use(declaration) => {
                    module.uses.extend(uses::flatten(&declaration));
                    module.items.push(Item::Use(declaration));
                }
                Item::Macro(definition) => {
                    if let Some(name) = &definition.ident {
                        self.macros.entry(name.to_string()).or_default().push(place.file);
                    }
                    module.items.push(Item::Macro(definition));
                }
                item => {
                    let mut nested = NestedUses(Vec::new());
                    nested.visit_item(&item);
                    inner.extend(nested.0);
                    module.items.push(item);
                }
            }
        }
        module.uses.extend(inner);
        self.modules.push(module);
        for (declaration, content) in declared {
            if let Some(child) = self.add_child(place, id, &declaration, content)? {
                let name = declaration.ident.unraw().to_string();
                self.modules[id].children.insert(name, child);
            }
        }
        Ok(id)
    }

    fn add_child(
        &mut self,
        place: &Place<'_>,
        parent: ModuleId,
        declaration: &ItemMod,
        content: Option<Vec<Item>>,
    ) -> Result<Option<ModuleId>> {
        let name = declaration.ident.unraw().to_string();
        if let Some(items) = content {
            let below = place.below.join(&name);
            let inline = Place { beside: below.clone(), below, is_inline: true, ..place.clone() };
            return self.add_module(&inline, items, Some(parent)).map(Some);
        }
        if let Some(path) = path_attribute(&declaration.attrs) {
            let path = place.beside_of_path().join(path);
            return self.add_file(place.folder, &path, Some(parent), true);
        }
        let flat = place.below.join(format!("{name}.rs"));
        if place.folder.join(&flat).is_file() {
            return self.add_file(place.folder, &flat, Some(parent), false);
        }
        let nested = place.below.join(name).join("mod.rs");
        self.add_file(place.folder, &nested, Some(parent), true)
    }
}

/// Folders in which a module's child modules are looked for.
#[derive(Clone)]
struct Place<'a> {
    folder: &'a Path,
    file: FileId,
    /// The folder the file is in.
    beside: PathBuf,
    /// The folder that holds the files of child modules.
    below: PathBuf,
    is_inline: bool,
}

impl Place<'_> {
    /// The folder that a `#[path]` starts from.
    fn beside_of_path(&self) -> &Path {
        if self.is_inline { &self.below } else { &self.beside }
    }
}

/// Collects `use` declarations inside function bodies.
struct NestedUses(Vec<Use>);

impl<'ast> Visit<'ast> for NestedUses {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_for_tests(attributes(item)) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.0.extend(uses::flatten(item));
    }
}

/// Whether attributes restrict an item to test builds.
pub fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let Meta::List(list) = &attribute.meta else { return attribute.path().is_ident("test") };
        list.path.is_ident("cfg")
            && list.parse_args::<Meta>().is_ok_and(|condition| requires_test(&condition))
    })
}

fn requires_test(condition: &Meta) -> bool {
    match condition {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => {
            let parser = syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated;
            list.parse_args_with(parser).is_ok_and(|all| all.iter().any(requires_test))
        }
        _ => false,
    }
}

fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    })
}

/// The attributes of an item, whatever its kind.
pub fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
