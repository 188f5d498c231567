//! The public items of the library crates are those of the listings in `docs/api`.
//!
//! `STRATA_UPDATE_SURFACE=1 cargo test -p strata-checks --test surface` writes the listings.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

use std::path::Path;

use strata_checks::modules::Tree;
use strata_checks::surface::listing;
use strata_checks::workspace::{members, root};

/// Crates whose public items are listed.
const LIBRARIES: [&str; 11] = [
    "strata",
    "strata-space",
    "strata-memory",
    "strata-group",
    "strata-store",
    "strata-explicit",
    "strata-symbolic",
    "strata-dense",
    "strata-plot",
    "strata-puzzles",
    "strata-cli",
];

const UPDATE: &str = "STRATA_UPDATE_SURFACE";

#[test]
fn public_items_are_those_listed() {
    let folder = root().join("docs/api");
    let update = std::env::var_os(UPDATE).is_some();
    if update {
        std::fs::create_dir_all(&folder).unwrap();
    }
    let mut changed = Vec::new();
    for member in members(root()).unwrap() {
        if !LIBRARIES.contains(&member.name.as_str()) {
            continue;
        }
        let tree = Tree::read(&member.folder).unwrap();
        let found = listing(&tree, &member.name.replace('-', "_"));
        let path = folder.join(format!("{}.txt", member.name));
        let listed = std::fs::read_to_string(&path).unwrap_or_default();
        if update {
            std::fs::write(&path, found).unwrap();
        } else if let Some(line) = difference(&listed, &found) {
            changed.push(format!("{}: {line}", member.name));
        }
    }
    let changed = changed.join("\n");
    assert!(changed.is_empty(), "{changed}\nset {UPDATE}=1 to write the listings again");
}

/// The first line that only one of two sorted listings has.
fn difference(listed: &str, found: &str) -> Option<String> {
    let missing = |line: &&str, other: &str| !other.lines().any(|one| one == *line);
    let gone = listed.lines().find(|line| missing(line, found));
    let new = found.lines().find(|line| missing(line, listed));
    gone.map(|line| format!("gone: {line}"))
        .or_else(|| new.map(|line| format!("new: {line}")))
        .or_else(|| (listed != found).then(|| "another order".to_owned()))
}

/// The listing of a crate whose library is the given files.
fn listed(files: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join("src").join(Path::new(name)), text).unwrap();
    }
    listing(&Tree::read(folder.path()).unwrap(), "made")
}

#[test]
fn functions_types_and_traits_are_listed_with_their_public_parts() {
    let found = listed(&[(
        "lib.rs",
        "#[must_use] pub const fn f<'a, T: Clone>(mut a: &'a mut [T; 2], _: Vec<u8>,) -> Option<&'a T>
         where T: Into<Vec<u8>>, { a; None }
         #[derive(Clone, Debug)] pub struct S<T> { pub a: T, b: u8 }
         impl<T: Copy> S<T> { pub fn get(&self) -> T { self.a } fn private(&self) {} }
         impl<T> Default for S<T> { fn default() -> Self { todo!() } }
         pub struct Pair(pub u8, u8);
         pub enum E { A, B(u8, u16), C { c: Box<dyn Fn(u8) -> u8 + Send> } }
         pub trait T: Send + 'static { type Item: Copy; const N: usize; fn a(&self); fn b(self) {} }
         pub(crate) struct Hidden; fn hidden() {}
         #[cfg(feature = \"x\")] pub type Alias = [u8; 4];
         #[cfg(test)] pub fn for_tests() {}",
    )]);
    let expected = "\
enum made::E
variant made::E::A
variant made::E::B(u8, u16)
variant made::E::C { c: Box<dyn Fn(u8) -> u8 + Send> }
struct made::Pair
field made::Pair::0: u8
made::S: impl<T> Default for S<T>
struct made::S<T> [derive(Clone, Debug)]
field made::S::a: T
fn made::S::get(&self) -> T in impl<T: Copy> S<T>
trait made::T: Send + 'static
type made::T::Item: Copy
const made::T::N: usize
fn made::T::a(&self)
fn made::T::b(self) (provided)
type made::Alias = [u8; 4] [cfg(feature = \"x\")]
const fn made::f<'a, T: Clone>(a: &'a mut [T; 2], _: Vec<u8>) -> Option<&'a T> where T: Into<Vec<u8>> [must_use]
";
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&found), sorted(expected));
}

#[test]
fn items_are_listed_under_the_shortest_public_path() {
    let found = listed(&[
        ("lib.rs", "mod a; pub mod b; pub use a::{A, Deep as Other}; pub use std::fmt as text;"),
        ("a.rs", "pub struct A; pub struct Deep; pub struct Unreachable; impl A { pub fn f() {} }"),
        ("b.rs", "pub use crate::a::*; pub(crate) use std::io; pub use crate::a as again;"),
    ]);
    let expected = "\
struct made::A
fn made::A::f()
struct made::Other
mod made::b
use made::b::A = made::A
use made::b::Deep = made::Other
struct made::b::Unreachable
mod made::b::again
use made::b::again::A = made::A
use made::b::again::Deep = made::Other
use made::b::again::Unreachable = made::b::Unreachable
use made::text = std::fmt
";
    assert_eq!(found, expected);
}
