//! Tests that the files and the folders of a crate have no import cycles.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use strata_checks::cycles::{components, cycles, describe};
use strata_checks::imports::{Imports, imports};
use strata_checks::modules::Tree;
use strata_checks::workspace;

struct Checked {
    tree: Tree,
    imports: Imports,
    cycles: Vec<Vec<usize>>,
}

fn check(folder: &Path) -> Checked {
    let tree = Tree::read(folder).unwrap();
    let imports = imports(&tree);
    let cycles = cycles(&tree, &imports);
    Checked { tree, imports, cycles }
}

#[test]
fn files_of_a_crate_do_not_import_each_other() {
    let members = workspace::members(workspace::root()).unwrap();
    assert!(members.iter().any(|member| member.name == "strata-cli"), "all crates are read");
    let mut report = String::new();
    for member in members {
        let Checked { tree, imports, cycles } = check(&member.folder);
        if !cycles.is_empty() {
            report += &format!("{}\n{}", member.name, describe(&tree, &imports, &cycles));
        }
    }
    assert!(report.is_empty(), "import cycles:\n{report}");
}

/// The folder or file in `src` that a file belongs to; `None` for the roots.
fn part(file: &Path) -> Option<String> {
    let name = file.strip_prefix("src").ok()?.components().next()?.as_os_str().to_str()?;
    let name = name.strip_suffix(".rs").unwrap_or(name);
    (!["lib", "main"].contains(&name)).then(|| name.to_owned())
}

#[test]
fn folders_of_a_crate_do_not_import_each_other() {
    let mut report = String::new();
    let members = workspace::members(workspace::root()).unwrap();
    for member in members {
        let Checked { tree, imports, .. } = check(&member.folder);
        let mut between: BTreeMap<(String, String), String> = BTreeMap::new();
        for ((from, to), found) in &imports {
            let (source, target) = (&tree.files[*from], &tree.files[*to]);
            if let (Some(a), Some(b)) = (part(source), part(target))
                && a != b
            {
                let line = format!("{}:{} {}", source.display(), found[0].line, found[0].path);
                between.entry((a, b)).or_insert(line);
            }
        }
        let names: BTreeSet<&String> = between.keys().flat_map(|(a, b)| [a, b]).collect();
        let number = |name: &String| names.iter().position(|other| *other == name).unwrap();
        let targets = names.iter().map(|name| {
            between.keys().filter(|(from, _)| from == *name).map(|(_, to)| number(to)).collect()
        });
        for cycle in components(&targets.collect::<Vec<Vec<usize>>>()) {
            let is_in = |name: &String| cycle.contains(&number(name));
            let lines = between.iter().filter(|((a, b), _)| is_in(a) && is_in(b));
            for ((a, b), line) in lines {
                report += &format!("{}: {a} -> {b}: {line}\n", member.name);
            }
        }
    }
    assert!(report.is_empty(), "import cycles of folders:\n{report}");
}

/// Prints a line for each crate of the workspace in `STRATA_CHECKS_ROOT`, or of this one.
#[test]
#[ignore = "prints figures"]
fn print_import_statistics() {
    let root = std::env::var("STRATA_CHECKS_ROOT").ok();
    let root = root.as_ref().map_or(workspace::root(), Path::new);
    let mut sums = [0; 3];
    println!("{:<20} {:>5} {:>8} {:>6} {:>7}", "crate", "files", "imports", "cycles", "largest");
    let print = |name: &str, [files, imports, cycles]: [usize; 3], largest: usize| {
        println!("{name:<20} {files:>5} {imports:>8} {cycles:>6} {largest:>7}");
    };
    let mut largest_of_all = 0;
    for member in workspace::members(root).unwrap() {
        let Checked { tree, imports, cycles } = check(&member.folder);
        let figures = [tree.files.len(), imports.len(), cycles.len()];
        let largest = cycles.first().map_or(0, Vec::len);
        print(&member.name, figures, largest);
        largest_of_all = largest_of_all.max(largest);
        for (sum, figure) in sums.iter_mut().zip(figures) {
            *sum += figure;
        }
        if std::env::var_os("STRATA_CHECKS_CYCLES").is_some() {
            print!("{}", describe(&tree, &imports, &cycles));
        }
    }
    print("all", sums, largest_of_all);
}

/// Writes a crate of the given files; returns it checked.
fn made_up(files: &[(&str, &str)]) -> Checked {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join("src").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    check(folder.path())
}

/// The names of the files in each cycle.
fn names(checked: &Checked) -> Vec<BTreeSet<String>> {
    let name = |file: &usize| {
        let path = checked.tree.files[*file].strip_prefix("src").unwrap();
        path.display().to_string()
    };
    checked.cycles.iter().map(|cycle| cycle.iter().map(name).collect()).collect()
}

#[track_caller]
fn assert_cycle(files: &[(&str, &str)], expected: &[&str]) {
    let expected = expected.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(names(&made_up(files)), [expected]);
}

#[track_caller]
fn assert_clean(files: &[(&str, &str)]) {
    let checked = made_up(files);
    let described = describe(&checked.tree, &checked.imports, &checked.cycles);
    assert_eq!(described, "");
}

#[test]
fn a_cycle_through_crate_paths_is_found() {
    assert_cycle(
        &[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use crate::b::B; pub struct A(B);"),
            ("b.rs", "use crate::{a::{self as other, A}}; pub struct B(Box<A>);"),
        ],
        &["a.rs", "b.rs"],
    );
}

#[test]
fn a_cycle_through_super_is_found() {
    assert_cycle(
        &[
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod b; pub struct A(b::B);"),
            ("a/b.rs", "mod c; use c::C; pub struct B(C);"),
            ("a/b/c.rs", "pub struct C(Box<super::super::A>);"),
        ],
        &["a/mod.rs", "a/b.rs", "a/b/c.rs"],
    );
}

#[test]
fn a_cycle_through_an_expression_is_found() {
    assert_cycle(
        &[
            ("main.rs", "mod a; mod b; fn main() { a::run(); }"),
            ("a.rs", "pub fn run() { let _ = crate::b::Kind::One; }"),
            ("b.rs", "pub enum Kind { One } fn f() { if true { super::a::run() } }"),
        ],
        &["a.rs", "b.rs"],
    );
}

#[test]
fn a_cycle_through_a_reexport_is_found() {
    assert_cycle(
        &[
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod item; mod other; pub use item::Item; pub struct Kind;"),
            ("a/item.rs", "pub struct Item(super::Kind);"),
            ("a/other.rs", "use crate::a::Item;"),
        ],
        &["a/mod.rs", "a/item.rs"],
    );
    // The path names the alias of a module: it leads to the file of that module.
    assert_cycle(
        &[
            ("lib.rs", "mod a; mod b; pub use a::deep as alias;"),
            ("a/mod.rs", "pub mod deep;"),
            ("a/deep.rs", "pub fn f() { crate::b::f() }"),
            ("b.rs", "pub fn f() { crate::alias::f() }"),
        ],
        &["a/deep.rs", "b.rs"],
    );
}

#[test]
fn a_cycle_through_types_patterns_globs_and_macro_tokens_is_found() {
    let b = ("b.rs", "pub mod names { pub enum Kind { One } } pub struct B(crate::a::A);");
    let forms = [
        "pub struct A(Vec<crate::b::B>);",
        "pub struct A; fn f(x: u8) { matches!(x, 1); assert!(crate::b::is_odd(x)); }",
        "pub struct A; fn f(x: u8) -> bool { match x { crate::b::names::ONE => true, _ => false } }",
        "use super::*; pub struct A(b::B);",
        "use crate::b as other; pub struct A; impl A { fn f() { other::names::f() } }",
        "pub struct A; fn f() { use crate::b::names::*; let _ = Kind::One; }",
        "pub struct A; impl Clone for A { fn clone(&self) -> Self { self::super::b::f() } }",
        "pub struct A; macro_rules! make { () => { $crate::b::B } }",
    ];
    for form in forms {
        assert_cycle(&[("lib.rs", "mod a; mod b;"), ("a.rs", form), b], &["a.rs", "b.rs"]);
    }
}

#[test]
fn a_cycle_through_a_path_attribute_and_inline_modules_is_found() {
    assert_cycle(
        &[
            ("lib.rs", "mod outer { pub mod a; #[path = \"named.rs\"] pub mod b; }"),
            ("outer/a.rs", "mod inner { use crate::outer::b::B; } pub struct A;"),
            ("outer/named.rs", "pub struct B(super::a::A);"),
        ],
        &["outer/a.rs", "outer/named.rs"],
    );
}

#[test]
fn a_cycle_through_a_macro_is_found() {
    assert_cycle(
        &[
            ("lib.rs", "#[macro_use] mod a; mod b;"),
            ("a.rs", "macro_rules! call { () => {} } fn f() { crate::b::f() }"),
            ("b.rs", "pub fn f() { call!(); }"),
        ],
        &["a.rs", "b.rs"],
    );
}

#[test]
fn mod_lines_and_visibilities_are_no_imports() {
    assert_clean(&[
        ("lib.rs", "pub mod a; pub struct Kind;"),
        ("a.rs", "pub(in crate::a) mod b; use crate::Kind;"),
        ("a/b.rs", "pub(in super::super::a) fn f() { super::g() }"),
    ]);
}

#[test]
fn code_of_tests_is_no_import() {
    assert_clean(&[
        ("lib.rs", "mod a; mod b; #[cfg(all(test, unix))] use a::A;"),
        ("a.rs", "#[cfg(test)] use crate::b::B; #[cfg(test)] mod tests; pub struct A;"),
        ("a/tests.rs", "use crate::b::B;"),
        ("b.rs", "use crate::a::A; use crate::Root; impl B { #[cfg(test)] fn f() { crate::c() } }"),
    ]);
}

#[test]
fn names_of_other_crates_are_no_imports() {
    assert_clean(&[
        ("lib.rs", "mod a; mod b; use ::a::A; use c::{self, b::C}; fn f() { std::mem::drop(0) }"),
        ("a.rs", "use crate::f; use b::B;"),
        ("b.rs", "use crate::f; fn g<T: Tr>(a: T::A) { a::b(); let b = a; }"),
    ]);
}

#[test]
fn a_program_and_its_library_are_trees_of_their_own() {
    let checked = made_up(&[
        ("lib.rs", "pub mod a; use a::A;"),
        ("main.rs", "mod b; fn main() { b::f() } fn g() {}"),
        ("a.rs", "pub struct A;"),
        ("b.rs", "pub fn f() { crate::g() }"),
    ]);
    let expected = ["b.rs", "main.rs"].into_iter().map(str::to_owned).collect();
    assert_eq!(names(&checked), [expected]);
}

#[test]
fn a_cycle_is_described_by_the_lines_of_its_imports() {
    let checked = made_up(&[
        ("lib.rs", "mod a;\nmod b;\n"),
        ("a.rs", "\nuse crate::{\n    b::B,\n};\n"),
        ("b.rs", "pub struct B;\nfn f() {\n    crate::a::f();\n}\n"),
    ]);
    let expected = "cycle of 2 files:\n  src/a.rs:3 crate::b::B -> src/b.rs\n  \
                    src/b.rs:3 crate::a::f -> src/a.rs\n";
    assert_eq!(describe(&checked.tree, &checked.imports, &checked.cycles), expected);
}
