//! Execution of the examples in README.md and docs: commands, and what they print.
//!
//! CONTRIBUTING.md describes how an example is written. `scripts/long-examples` runs those that take
//! too long for every run of the tests.

mod compare;
mod page;
mod shell;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;

use page::{Block, Mark};

/// The folder with the pages.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The blocks of a page.
fn blocks(page: &str) -> Vec<Block> {
    let text = std::fs::read_to_string(root().join(page)).unwrap();
    page::blocks(&text).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// Builds the program of `strata panex` and `strata tiles` beside this one, if it is missing: tests of the
/// workspace have built it, tests of this package alone have not.
fn build_panex() {
    static BUILT: Once = Once::new();
    let folder = Path::new(env!("CARGO_BIN_EXE_strata")).parent().unwrap();
    BUILT.call_once(|| {
        if folder.join("strata-panex").is_file() {
            return;
        }
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--locked", "-p", "strata-panex", "--target-dir"]);
        cargo.arg(folder.parent().unwrap()).current_dir(root());
        cargo.args(folder.ends_with("release").then_some("--release"));
        assert!(cargo.status().unwrap().success(), "{cargo:?}");
    });
}

/// Runs the blocks of a page with a mark, in one new folder.
fn run(page: &str, mark: &Mark) {
    build_panex();
    let folder = shell::Folder::new(&root());
    let blocks = blocks(page).into_iter().filter(|block| block.mark == *mark);
    let wrong: Vec<String> = blocks.flat_map(|block| folder.run(page, &block)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A test for each page, and the list of all of them.
macro_rules! pages {
    ($($name:ident: $page:literal),* $(,)?) => {
        const PAGES: &[&str] = &[$($page),*];

        $(#[test]
        fn $name() {
            run($page, &Mark::None);
        })*
    };
}

pages! {
    readme: "README.md",
    cli: "docs/cli.md",
    events: "docs/events.md",
    panex: "docs/panex.md",
    puzzles: "docs/puzzles.md",
    symbolic: "docs/symbolic.md",
    tiles: "docs/tiles.md",
}

/// The pages, by path from the root: those at the top and those in `docs`.
fn all_pages() -> Vec<String> {
    let mut pages = Vec::new();
    for folder in ["", "docs/"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".md") {
                pages.push(format!("{folder}{name}"));
            }
        }
    }
    pages.sort();
    pages
}

#[test]
fn every_page_with_examples_has_its_test() {
    for page in all_pages() {
        let has_examples = blocks(&page).iter().any(|block| block.mark == Mark::None);
        assert_eq!(has_examples, PAGES.contains(&&*page), "{page} in the list of pages");
    }
}

#[test]
fn scripts_that_run_examples_exist() {
    for page in all_pages() {
        for block in blocks(&page) {
            if let Mark::Script(script) = &block.mark {
                let at = format!("{page}:{}: {script}", block.line);
                assert!(root().join(script).is_file(), "{at} does not exist");
            }
        }
    }
}

#[test]
#[ignore = "takes minutes; run by scripts/long-examples"]
fn long() {
    all_pages().iter().for_each(|page| run(page, &Mark::Long));
}
