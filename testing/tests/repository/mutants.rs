//! Tests that the patches of `testing/mutants` fit the sources that they change.

use std::path::Path;

use strata_checks::workspace::root;

/// The lines that a hunk expects in a file.
#[derive(Debug, PartialEq, Eq)]
struct Expected {
    file: String,
    lines: String,
}

/// The hunks of a patch, each with its unchanged and its removed lines.
fn expected(patch: &str) -> Vec<Expected> {
    let mut hunks = Vec::new();
    let mut file = "";
    for line in patch.lines() {
        if let Some(name) = line.strip_prefix("--- a/") {
            file = name;
        } else if line.starts_with("@@ ") {
            hunks.push(Expected { file: file.to_owned(), lines: String::new() });
        } else if let (Some(hunk), Some(rest)) =
            (hunks.last_mut(), line.strip_prefix([' ', '-']).filter(|_| !line.starts_with("--- ")))
        {
            hunk.lines.push_str(rest);
            hunk.lines.push('\n');
        }
    }
    hunks
}

/// The hunks that do not occur exactly once in their files.
fn misfits(root: &Path, patch: &str) -> Vec<Expected> {
    let hunks = expected(patch);
    assert!(!hunks.is_empty(), "no hunks");
    let fits = |hunk: &Expected| {
        let source = std::fs::read_to_string(root.join(&hunk.file)).unwrap_or_default();
        format!("\n{source}").matches(&format!("\n{}", hunk.lines)).count() == 1
    };
    hunks.into_iter().filter(|hunk| !fits(hunk)).collect()
}

#[test]
fn mutants_fit_the_sources() {
    let root = root();
    let mut patches = 0;
    for entry in std::fs::read_dir(root.join("testing/mutants")).unwrap() {
        let path = entry.unwrap().path();
        let misfits = misfits(root, &std::fs::read_to_string(&path).unwrap());
        assert!(misfits.is_empty(), "{}: {misfits:#?}", path.display());
        patches += 1;
    }
    assert!(patches > 0);
}

#[test]
fn a_patch_with_other_lines_is_detected() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("lib.rs"), "one\ntwo\nthree\n").unwrap();
    let patch = |removed: &str| {
        format!("--- a/lib.rs\n+++ b/lib.rs\n@@ -1,3 +1,3 @@\n one\n-{removed}\n+2\n three\n")
    };
    assert_eq!(misfits(folder.path(), &patch("two")), []);
    let lines = "one\nfour\nthree\n".to_owned();
    let misfit = Expected { file: "lib.rs".to_owned(), lines };
    assert_eq!(misfits(folder.path(), &patch("four")), [misfit]);
    assert_eq!(misfits(folder.path(), &patch("two").replace("lib.rs", "main.rs")).len(), 1);
}
