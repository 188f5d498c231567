//! Public items of a library, one per line.
//!
//! Items are listed under the shortest path that reaches them from outside; other paths to the same
//! item follow as `use` lines. Public fields, variants, methods and implemented traits follow the
//! type they belong to. Bodies, documentation and private parts are left out. Features and other
//! conditions follow an item in brackets.

use std::collections::{BTreeMap, BTreeSet};

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{
    Attribute, Fields, FnArg, Generics, ImplItem, Item, ItemImpl, Meta, Pat, Signature, TraitItem,
    Type, Visibility,
};

use crate::modules::{ModuleId, Tree, attributes, is_for_tests};
use crate::names::Definition;
use crate::tidy::tidy;

/// Lists the public items of a crate's library, sorted by path.
///
/// `name` is the name by which other crates call it. A crate without a library has none.
pub fn listing(tree: &Tree, name: &str) -> String {
    let mut surface = Surface { tree, found: BTreeMap::new(), lines: BTreeSet::new() };
    let library = tree.modules.iter().position(|module| {
        module.parent.is_none() && tree.files[module.file].ends_with("src/lib.rs")
    });
    if let Some(root) = library {
        surface.module(root, &Reached::root(name), &mut Vec::new());
    }
    surface.print();
    surface.lines.into_iter().map(|(_, line)| line + "\n").collect()
}

/// A path from outside, and the conditions under which it exists.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Reached {
    /// Number of segments: shorter paths come first.
    length: usize,
    path: String,
    conditions: Vec<String>,
}

impl Reached {
    fn root(name: &str) -> Self {
        Self { length: 1, path: name.to_owned(), conditions: Vec::new() }
    }

    fn below(&self, name: &str, attributes: &[Attribute]) -> Self {
        let mut conditions = self.conditions.clone();
        conditions.extend(conditions_of(attributes));
        conditions.sort();
        conditions.dedup();
        Self { length: self.length + 1, path: format!("{}::{name}", self.path), conditions }
    }

    fn suffix(&self) -> String {
        self.conditions.iter().map(|condition| format!(" [{condition}]")).collect()
    }
}

struct Surface<'a> {
    tree: &'a Tree,
    /// Every public path to each definition.
    found: BTreeMap<Definition, BTreeSet<Reached>>,
    /// Sorting key and line.
    lines: BTreeSet<(String, String)>,
}

impl Surface<'_> {
    fn line(&mut self, key: &str, line: String) {
        self.lines.insert((key.to_owned(), line));
    }

    /// Notes what is public in a module; `open` are the modules around it.
    fn module(&mut self, id: ModuleId, reached: &Reached, open: &mut Vec<ModuleId>) {
        if open.contains(&id) {
            return;
        }
        open.push(id);
        let tree = self.tree;
        for (index, item) in tree.modules[id].items.iter().enumerate() {
            if let Item::Use(declaration) = item {
                for import in crate::uses::flatten(declaration) {
                    if import.is_public {
                        self.reexport(id, &import, reached, &declaration.attrs, open);
                    }
                }
                continue;
            }
            let Some(name) = public_name(item) else { continue };
            let reached = reached.below(&name, attributes(item));
            match item {
                Item::Mod(_) => {
                    if let Some(child) = tree.modules[id].children.get(&name) {
                        self.line(
                            &reached.path,
                            format!("mod {}{}", reached.path, reached.suffix()),
                        );
                        self.module(*child, &reached, open);
                    }
                }
                _ => self.note(Definition::Item(id, index), reached),
            }
        }
        open.pop();
    }

    fn reexport(
        &mut self,
        from: ModuleId,
        import: &crate::uses::Use,
        reached: &Reached,
        attributes: &[Attribute],
        open: &mut Vec<ModuleId>,
    ) {
        let tree = self.tree;
        let defined = match import.is_external {
            true => Vec::new(),
            false => tree.definitions(from, &import.segments),
        };
        if import.is_glob {
            match defined.first() {
                Some(Definition::Module(target)) => self.module(*target, reached, open),
                _ => {
                    let source = import.segments.join("::");
                    let suffix = reached.suffix();
                    self.line(
                        &reached.path,
                        format!("use {}::* = {source}::*{suffix}", reached.path),
                    );
                }
            }
            return;
        }
        let Some(name) = &import.name else { return };
        let reached = reached.below(name, attributes);
        if defined.is_empty() {
            let source = import.segments.join("::");
            self.line(
                &reached.path,
                format!("use {} = {source}{}", reached.path, reached.suffix()),
            );
        }
        for definition in defined {
            match definition {
                Definition::Module(target) => {
                    self.line(&reached.path, format!("mod {}{}", reached.path, reached.suffix()));
                    self.module(target, &reached, open);
                }
                item @ Definition::Item(..) => self.note(item, reached.clone()),
            }
        }
    }

    fn note(&mut self, definition: Definition, reached: Reached) {
        self.found.entry(definition).or_default().insert(reached);
    }

    fn print(&mut self) {
        let found = std::mem::take(&mut self.found);
        for (definition, paths) in &found {
            let Definition::Item(module, index) = *definition else { continue };
            let mut paths = paths.iter();
            let Some(first) = paths.next() else { continue };
            self.item(&self.tree.modules[module].items[index], first);
            for other in paths {
                let line = format!("use {} = {}{}", other.path, first.path, other.suffix());
                self.line(&other.path, line);
            }
        }
        let tree = self.tree;
        for (id, module) in tree.modules.iter().enumerate() {
            for item in &module.items {
                if let Item::Impl(block) = item {
                    self.implementation(id, block, &found);
                }
            }
        }
    }

    fn item(&mut self, item: &Item, at: &Reached) {
        let Reached { path, .. } = at;
        let suffix = marks(attributes(item)) + &at.suffix();
        match item {
            Item::Fn(item) => self.line(path, signature(&item.sig, path) + &suffix),
            Item::Struct(item) => {
                let (generics, bounds) = generics(&item.generics);
                self.line(path, format!("struct {path}{generics}{bounds}{suffix}"));
                self.fields(&item.fields, at);
            }
            Item::Union(item) => {
                let (generics, bounds) = generics(&item.generics);
                self.line(path, format!("union {path}{generics}{bounds}{suffix}"));
            }
            Item::Enum(item) => {
                let (generics, bounds) = generics(&item.generics);
                self.line(path, format!("enum {path}{generics}{bounds}{suffix}"));
                for variant in &item.variants {
                    let at = at.below(&variant.ident.to_string(), &variant.attrs);
                    let fields = match &variant.fields {
                        Fields::Named(fields) => {
                            let fields = fields.named.iter().map(|field| {
                                let name = field.ident.as_ref().map(ToString::to_string);
                                format!("{}: {}", name.unwrap_or_default(), tidy(&field.ty))
                            });
                            format!(" {{ {} }}", fields.collect::<Vec<_>>().join(", "))
                        }
                        Fields::Unnamed(fields) => {
                            let types = fields.unnamed.iter().map(|field| tidy(&field.ty));
                            format!("({})", types.collect::<Vec<_>>().join(", "))
                        }
                        Fields::Unit => String::new(),
                    };
                    self.line(&at.path, format!("variant {}{fields}{}", at.path, at.suffix()));
                }
            }
            Item::Const(item) => {
                self.line(path, format!("const {path}: {}{suffix}", tidy(&item.ty)));
            }
            Item::Static(item) => {
                self.line(path, format!("static {path}: {}{suffix}", tidy(&item.ty)));
            }
            Item::Type(item) => {
                let (generics, bounds) = generics(&item.generics);
                let target = tidy(&item.ty);
                self.line(path, format!("type {path}{generics}{bounds} = {target}{suffix}"));
            }
            Item::Trait(item) => {
                let (generics, bounds) = generics(&item.generics);
                let above = match item.supertraits.is_empty() {
                    true => String::new(),
                    false => format!(": {}", tidy(&item.supertraits)),
                };
                let safety = if item.unsafety.is_some() { "unsafe " } else { "" };
                self.line(path, format!("{safety}trait {path}{generics}{above}{bounds}{suffix}"));
                item.items.iter().for_each(|item| self.trait_item(item, at));
            }
            Item::Macro(_) => self.line(path, format!("macro {path}!{suffix}")),
            _ => {}
        }
    }

    fn fields(&mut self, fields: &Fields, at: &Reached) {
        for (index, field) in fields.iter().enumerate() {
            if matches!(field.vis, Visibility::Public(_)) {
                let name = field.ident.as_ref().map_or(index.to_string(), |name| name.to_string());
                let at = at.below(&name, &field.attrs);
                let line = format!("field {}: {}{}", at.path, tidy(&field.ty), at.suffix());
                self.line(&at.path, line);
            }
        }
    }

    fn trait_item(&mut self, item: &TraitItem, at: &Reached) {
        let provided = |is_provided: bool| if is_provided { " (provided)" } else { "" };
        match item {
            TraitItem::Fn(item) => {
                let at = at.below(&item.sig.ident.to_string(), &item.attrs);
                let suffix = marks(&item.attrs) + &at.suffix();
                let provided = provided(item.default.is_some());
                self.line(&at.path, signature(&item.sig, &at.path) + provided + &suffix);
            }
            TraitItem::Const(item) => {
                let at = at.below(&item.ident.to_string(), &item.attrs);
                let provided = provided(item.default.is_some());
                let line =
                    format!("const {}: {}{provided}{}", at.path, tidy(&item.ty), at.suffix());
                self.line(&at.path, line);
            }
            TraitItem::Type(item) => {
                let at = at.below(&item.ident.to_string(), &item.attrs);
                let bounds = match item.bounds.is_empty() {
                    true => String::new(),
                    false => format!(": {}", tidy(&item.bounds)),
                };
                self.line(&at.path, format!("type {}{bounds}{}", at.path, at.suffix()));
            }
            _ => {}
        }
    }

    /// Lists an `impl` block under the public path of its type.
    fn implementation(
        &mut self,
        module: ModuleId,
        block: &ItemImpl,
        found: &BTreeMap<Definition, BTreeSet<Reached>>,
    ) {
        let Type::Path(target) = &*block.self_ty else { return };
        let segments = target.path.segments.iter();
        let segments: Vec<String> = segments.map(|part| part.ident.unraw().to_string()).collect();
        let definitions = self.tree.definitions(module, &segments);
        let at = definitions.iter().filter_map(|one| found.get(one)?.first()).next();
        let Some(at) = at else { return };
        let mut at = at.clone();
        at.conditions.extend(conditions_of(&block.attrs));
        let (generics, bounds) = generics(&block.generics);
        let target = tidy(&block.self_ty);
        if let Some((negative, path, _)) = &block.trait_ {
            let not = if negative.is_some() { "!" } else { "" };
            let line =
                format!("impl{generics} {not}{} for {target}{bounds}{}", tidy(path), at.suffix());
            self.line(&at.path, format!("{}: {line}", at.path));
            return;
        }
        let context = format!("impl{generics} {target}{bounds}");
        for item in &block.items {
            let (visibility, attributes) = match item {
                ImplItem::Fn(item) => (&item.vis, &item.attrs),
                ImplItem::Const(item) => (&item.vis, &item.attrs),
                _ => continue,
            };
            if !matches!(visibility, Visibility::Public(_)) || is_for_tests(attributes) {
                continue;
            }
            // The generics of the `impl` block are appended to each of its items.
            let context = match block.generics.params.is_empty() {
                true => String::new(),
                false => format!(" in {context}"),
            };
            match item {
                ImplItem::Fn(item) => {
                    let at = at.below(&item.sig.ident.to_string(), &item.attrs);
                    let suffix = marks(&item.attrs) + &at.suffix();
                    self.line(&at.path, signature(&item.sig, &at.path) + &context + &suffix);
                }
                ImplItem::Const(item) => {
                    let at = at.below(&item.ident.to_string(), &item.attrs);
                    let line =
                        format!("const {}: {}{context}{}", at.path, tidy(&item.ty), at.suffix());
                    self.line(&at.path, line);
                }
                _ => {}
            }
        }
    }
}

/// The name of an item that is public where it is declared.
fn public_name(item: &Item) -> Option<String> {
    let (visibility, name) = match item {
        Item::Const(item) => (&item.vis, &item.ident),
        Item::Enum(item) => (&item.vis, &item.ident),
        Item::Fn(item) => (&item.vis, &item.sig.ident),
        Item::Mod(item) => (&item.vis, &item.ident),
        Item::Static(item) => (&item.vis, &item.ident),
        Item::Struct(item) => (&item.vis, &item.ident),
        Item::Trait(item) => (&item.vis, &item.ident),
        Item::Type(item) => (&item.vis, &item.ident),
        Item::Union(item) => (&item.vis, &item.ident),
        Item::Macro(item) => {
            let is_exported = item.attrs.iter().any(|one| one.path().is_ident("macro_export"));
            return item.ident.as_ref().filter(|_| is_exported).map(ToString::to_string);
        }
        _ => return None,
    };
    matches!(visibility, Visibility::Public(_)).then(|| name.unraw().to_string())
}

/// The `cfg` attributes.
fn conditions_of(attributes: &[Attribute]) -> Vec<String> {
    let conditions = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    conditions.map(|attribute| tidy(&attribute.meta)).collect()
}

/// Attributes that belong to an item's surface, each in brackets.
fn marks(attributes: &[Attribute]) -> String {
    const LISTED: [&str; 5] = ["derive", "must_use", "non_exhaustive", "repr", "deprecated"];
    let mut text = String::new();
    for attribute in attributes {
        let is_hidden = attribute.path().is_ident("doc")
            && matches!(&attribute.meta, Meta::List(list) if list.tokens.to_string() == "hidden");
        if LISTED.iter().any(|name| attribute.path().is_ident(name)) || is_hidden {
            // A message is documentation; that there is one is not.
            let meta = match &attribute.meta {
                Meta::NameValue(pair) => tidy(&pair.path),
                meta => tidy(meta),
            };
            text += &format!(" [{meta}]");
        }
    }
    text
}

/// Parameters with their bounds, and the `where` clause.
fn generics(generics: &Generics) -> (String, String) {
    let parameters = match generics.params.is_empty() {
        true => String::new(),
        false => format!("<{}>", tidy(&generics.params)),
    };
    (parameters, bounds(generics))
}

fn bounds(generics: &Generics) -> String {
    let bounds = generics.where_clause.as_ref().map(|clause| tidy(&clause.predicates));
    bounds.map_or(String::new(), |bounds| format!(" where {}", bounds.trim_end_matches(',')))
}

/// A function's signature with a path as its name.
fn signature(signature: &Signature, path: &str) -> String {
    let mut words = String::new();
    for (is_set, word) in [
        (signature.constness.is_some(), "const "),
        (signature.asyncness.is_some(), "async "),
        (signature.unsafety.is_some(), "unsafe "),
    ] {
        words += if is_set { word } else { "" };
    }
    let inputs = signature.inputs.iter().map(|input| match input {
        FnArg::Receiver(receiver) => {
            let mut receiver = receiver.clone();
            receiver.attrs.clear();
            // `mut self` is no part of the surface, `&mut self` is.
            if receiver.reference.is_none() {
                receiver.mutability = None;
            }
            tidy(&receiver)
        }
        FnArg::Typed(typed) => {
            let name = match &*typed.pat {
                Pat::Ident(name) => name.ident.to_string(),
                pattern => tidy(&pattern.to_token_stream()),
            };
            format!("{name}: {}", tidy(&typed.ty))
        }
    });
    let inputs = inputs.collect::<Vec<_>>().join(", ");
    let (parameters, bounds) = generics(&signature.generics);
    let output = match &signature.output {
        syn::ReturnType::Default => String::new(),
        output => format!(" {}", tidy(output)),
    };
    format!("{words}fn {path}{parameters}({inputs}){output}{bounds}")
}
