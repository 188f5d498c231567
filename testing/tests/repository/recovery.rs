//! Tests that every fault of the page on recovery names tests, and that these tests exist.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use strata_checks::workspace::{members, root};

/// The tables of faults: the last cell of each row.
fn last_cells(page: &str) -> Vec<(&str, &str)> {
    let rows = page.lines().filter(|line| line.starts_with('|') && line.ends_with('|'));
    let cells = rows.map(|line| line[1..line.len() - 1].split('|').map(str::trim).collect());
    let is_fault =
        |row: &Vec<&str>| row.len() == 4 && row[0] != "fault" && !row[0].starts_with('-');
    cells.filter(is_fault).map(|row: Vec<&str>| (row[0], row[3])).collect()
}

/// The quoted names of a cell.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Names of the tests in a source. Other attributes or comments may stand between the test
/// attribute and the function.
fn test_functions(source: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_test = false;
    for line in source.lines().map(str::trim) {
        if line.starts_with("#[") {
            is_test |= line == "#[test]" || line.starts_with("#[tokio::test");
        } else if let Some((before, after)) = line.split_once("fn ") {
            if is_test && ["", "async "].contains(&before) {
                names.extend(after.split_once('(').map(|(name, _)| name.to_owned()));
            }
            is_test = false;
        } else if !line.starts_with("//") && !line.is_empty() {
            is_test = false;
        }
    }
    names
}

/// Module path of a source: the names of its folders and of the file, without `lib`, `mod` and
/// `main`, and without a last `tests`, which holds the tests of its parent.
fn module(path: &Path) -> Vec<String> {
    let names = path.with_extension("");
    let names = names.components().filter_map(|component| match component {
        Component::Normal(name) => name.to_str().map(str::to_owned),
        _ => None,
    });
    let mut names: Vec<String> = names.collect();
    if names.last().is_some_and(|last| ["lib", "mod", "main", "tests"].contains(&&**last)) {
        names.pop();
    }
    names
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// All tests of the workspace: `file::module::name` in `tests/it/`, `crate::module::name` in `src/`.
fn all_tests() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for member in members(root()).unwrap() {
        for (folder, first) in [("tests", None), ("src", Some(member.name.replace('-', "_")))] {
            let mut folder = member.folder.join(folder);
            if folder.join("it").is_dir() {
                folder.push("it");
            }
            let mut files = Vec::new();
            sources(&folder, &mut files);
            for file in files {
                let module = module(file.strip_prefix(&folder).unwrap());
                let text = std::fs::read_to_string(&file).unwrap();
                for name in test_functions(&text) {
                    let words = first.iter().chain(&module).map(String::as_str);
                    let words: Vec<&str> = words.chain([&*name]).collect();
                    all.insert(words.join("::"));
                }
            }
        }
    }
    all
}

/// Names of the checks of `scripts/compose-test`.
fn compose_checks() -> BTreeSet<String> {
    let script = std::fs::read_to_string(root().join("scripts/compose-test")).unwrap();
    let checks =
        script.lines().filter_map(|line| line.strip_prefix("check_")?.strip_suffix("() {"));
    checks.map(|name| format!("compose-test {name}")).collect()
}

#[test]
fn every_fault_names_tests_that_exist() {
    let page = std::fs::read_to_string(root().join("docs/recovery.md")).unwrap();
    let rows = last_cells(&page);
    assert!(rows.len() > 30, "{} rows", rows.len());
    let mut all = all_tests();
    all.extend(compose_checks());
    let mut missing = Vec::new();
    for (fault, cell) in rows {
        let tests = quoted(cell);
        if tests.is_empty() {
            missing.push(format!("{fault}: no test"));
        }
        let unknown = tests.into_iter().filter(|test| !all.contains(*test));
        missing.extend(unknown.map(|test| format!("{fault}: there is no {test}")));
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn every_fault_of_the_containers_is_on_the_page() {
    let page = std::fs::read_to_string(root().join("docs/recovery.md")).unwrap();
    // These checks inject no fault.
    let without =
        ["access", "backup", "certificates", "more_workers", "path", "submit", "undisturbed"];
    let faults = compose_checks().into_iter();
    let faults = faults.filter(|check| !without.iter().any(|name| check.ends_with(name)));
    let missing: Vec<String> =
        faults.filter(|check| !page.contains(&format!("`{check}`"))).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn tests_are_found_in_sources_and_rows_in_tables() {
    let source = "#[test]\nfn a() {}\nfn b() {}\n    #[tokio::test]\n    /// c\n    async fn c() {}\n\
                  #[test]\n#[ignore]\nfn d() {}\n";
    assert_eq!(test_functions(source), ["a", "c", "d"]);
    assert_eq!(module(Path::new("cluster/faults.rs")), ["cluster", "faults"]);
    assert_eq!(module(Path::new("jobs/tests.rs")), ["jobs"]);
    let page =
        "| fault | x | y | tests |\n|---|---|---|---|\n| f | e | n | `a::b`, `c d` |\n| a | b |\n";
    assert_eq!(last_cells(page), [("f", "`a::b`, `c d`")]);
    assert_eq!(quoted("`a::b`, `c d`"), ["a::b", "c d"]);
}
