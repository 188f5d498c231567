//! Tests that links and paths in the pages point to existing targets.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use strata_checks::workspace::root;

/// The pages: those at the top and those in `docs`, by path from the root.
fn pages() -> Vec<(PathBuf, String)> {
    let mut pages = Vec::new();
    for folder in ["", "docs"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let name = Path::new(folder).join(path.file_name().unwrap());
                pages.push((name, std::fs::read_to_string(path).unwrap()));
            }
        }
    }
    pages.sort();
    pages
}

/// The text of a page without its fenced blocks.
fn prose(text: &str) -> String {
    let mut is_fenced = false;
    let mut prose = String::new();
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        if !is_fenced && !is_fence {
            prose += line;
            prose.push('\n');
        }
    }
    prose
}

/// The anchors by which the headings of a page can be linked.
fn anchors(text: &str) -> BTreeSet<String> {
    let prose = prose(text);
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let title = heading.trim_start_matches('#').trim().to_lowercase();
        let title =
            title.chars().filter(|symbol| symbol.is_alphanumeric() || " -_".contains(*symbol));
        title.collect::<String>().replace(' ', "-")
    };
    headings.map(anchor).collect()
}

/// The targets of a page's links, except links that leave the repository.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let targets = targets.map(|(target, _)| target.to_owned());
    targets.filter(|target| !target.contains("://")).collect()
}

/// The quoted texts that are paths of the repository: they have a slash, and end in a slash or in
/// the extension of a source.
fn paths(text: &str) -> Vec<String> {
    let prose = prose(text);
    let quoted = prose.split('`').skip(1).step_by(2);
    let is_path = |word: &&str| {
        let first = word.split('/').next().unwrap_or_default();
        let is_source =
            [".rs", ".md", ".toml", ".yml", ".yaml"].iter().any(|end| word.ends_with(end));
        word.contains('/')
            && (is_source || word.ends_with('/'))
            && !word.contains(char::is_whitespace)
            && !first.is_empty()
            && root().join(first).is_dir()
    };
    quoted.filter(is_path).map(str::to_owned).collect()
}

#[test]
fn links_point_to_pages_and_headings() {
    let mut broken = Vec::new();
    for (page, text) in pages() {
        for link in links(&text) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => page.clone(),
                file => page.parent().unwrap().join(file),
            };
            let found = root().join(&target);
            let has_anchor = anchor.is_empty()
                || std::fs::read_to_string(&found)
                    .is_ok_and(|text| anchors(&text).contains(anchor));
            if !found.exists() || !has_anchor {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn paths_exist() {
    let mut missing = Vec::new();
    for (page, text) in pages() {
        for path in paths(&text) {
            if !root().join(&path).exists() {
                missing.push(format!("{}: {path}", page.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn links_anchors_and_paths_are_read_from_prose() {
    let text = "# A page: `x`\n[a](b.md#c-d) [out](https://x.y)\n```\n[no](no.md) `checks/no.rs`\n```\n\
                ## C d\n`checks/src/lib.rs` `cargo x` `docs/` `a/b`\n";
    assert_eq!(links(text), ["b.md#c-d"]);
    assert_eq!(anchors(text), ["a-page-x", "c-d"].map(str::to_owned).into());
    assert_eq!(paths(text), ["checks/src/lib.rs", "docs/"]);
}
