//! Sizes of pages, source files and functions.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use strata_checks::workspace::{members, root};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Block, ImplItemFn, ItemFn, Signature, TraitItemFn};

/// The most bytes that a page may have.
const PAGES: [(&str, usize); 2] = [("README.md", 6_144), ("ARCHITECTURE.md", 18_432)];

/// Pages that may be longer. Remove an entry once its page is within the limit.
const LONG_PAGES: &[&str] = &[];

/// Exclusive limit of the lines of a source file.
const FILE_LINES: usize = 600;

/// Files that may be longer. Remove an entry once its file is within the limit.
const LONG_FILES: &[&str] = &[];

/// Exclusive limit of the lines of a function, from its signature to its closing brace.
const FUNCTION_LINES: usize = 70;

/// Functions that may be longer. Remove an entry once its function is within the limit.
const LONG_FUNCTIONS: &[&str] = &["strata/tests/simulation.rs: session"];

/// Compares what is too long with the exceptions, both sorted.
#[track_caller]
fn assert_long(found: BTreeMap<String, usize>, exceptions: &[&str], limit: &str) {
    let new: Vec<_> =
        found.iter().filter(|(name, _)| !exceptions.contains(&name.as_str())).collect();
    assert!(new.is_empty(), "longer than {limit}: {new:#?}");
    let gone: Vec<_> = exceptions.iter().filter(|name| !found.contains_key(**name)).collect();
    assert!(gone.is_empty(), "exceptions that are not needed any more: {gone:#?}");
}

/// Exclusive limit of all lines of the verifier of the Panex proof.
const VERIFIER_LINES: usize = 800;

#[test]
fn the_verifier_of_the_panex_proof_is_short_and_stands_alone() {
    let folder = "workbench/panex-proof-verifier/";
    let files = sources().into_iter().filter(|(name, _)| name.starts_with(&format!("{folder}src")));
    let files: Vec<usize> = files.map(|(_, text)| text.lines().count()).collect();
    let lines: usize = files.iter().sum();
    assert!(files.len() > 5 && lines < VERIFIER_LINES, "{lines} lines in {} files", files.len());
    let manifest = std::fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
    assert!(!manifest.contains("dependencies]"), "{manifest}");
}

#[test]
fn pages_are_short() {
    let mut long = BTreeMap::new();
    for (page, most) in PAGES {
        let bytes = std::fs::read(root().join(page)).unwrap().len();
        if bytes > most {
            long.insert(page.to_owned(), bytes);
        }
    }
    assert_long(long, LONG_PAGES, "a page may be");
}

#[test]
fn source_files_are_short() {
    let mut long = BTreeMap::new();
    for (name, text) in sources() {
        let lines = text.lines().count();
        if lines >= FILE_LINES {
            long.insert(name, lines);
        }
    }
    assert_long(long, LONG_FILES, "a file may be");
}

#[test]
fn functions_are_short() {
    let mut long = BTreeMap::new();
    for (name, text) in sources() {
        let syntax = syn::parse_file(&text).unwrap();
        let mut functions = Functions { file: &name, long: &mut long };
        functions.visit_file(&syntax);
    }
    assert_long(long, LONG_FUNCTIONS, "a function may be");
}

/// Collects functions that are too long, as `file: name`.
struct Functions<'a> {
    file: &'a str,
    long: &'a mut BTreeMap<String, usize>,
}

impl Functions<'_> {
    fn check(&mut self, signature: &Signature, body: &Block) {
        let start = signature.fn_token.span().start().line;
        let lines = body.brace_token.span.close().end().line - start + 1;
        if lines >= FUNCTION_LINES {
            self.long.insert(format!("{}: {}", self.file, signature.ident), lines);
        }
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.check(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.check(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        if let Some(body) = &item.default {
            self.check(&item.sig, body);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

/// Every Rust file of the workspace's crates, by its path from the root.
fn sources() -> Vec<(String, String)> {
    let top = root().canonicalize().unwrap();
    let mut folders: Vec<PathBuf> = Vec::new();
    for member in members(root()).unwrap() {
        let folder = member.folder.canonicalize().unwrap();
        folders.extend(["src", "tests", "examples", "benches"].map(|part| folder.join(part)));
    }
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources.push((shown(&path, &top), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    sources.sort();
    sources
}

fn shown(path: &Path, top: &Path) -> String {
    path.strip_prefix(top).unwrap().display().to_string()
}
