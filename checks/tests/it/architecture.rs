//! Tests of the dependencies between the crates of the workspace, and of the names in engines.

use std::collections::BTreeSet;

use cargo_metadata::{DependencyKind, MetadataCommand, Package, Target, TargetKind};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use strata_checks::modules::Tree;
use strata_checks::workspace::{metadata, root};

const SPACE: &str = "strata-space";
const STORE: &str = "strata-store";
const PUZZLES: &str = "strata-puzzles";
const ENGINE: &str = "strata-engine";
const RUN: &str = "strata-run";
const LIBRARY: &str = "strata-bfs";
const PROTO: &str = "strata-proto";
const PLOT: &str = "strata-plot";
const WORKER: &str = "strata-worker";
const COORDINATOR: &str = "strata-coordinator";
const REPLAY: &str = "strata-replay";
const PANEX: &str = "strata-panex";
const VERIFIER: &str = "strata-panex-proof-verifier";
const CLI: &str = "strata-cli";
const TESTING: &str = "strata-testing";
const CHECKS: &str = "strata-checks";

/// A crate and the crates of the workspace that it may use.
struct CrateRule {
    name: &'static str,
    /// For building and running.
    uses: &'static [&'static str],
    /// Additional crates for its own tests, examples and benchmarks.
    tests_use: &'static [&'static str],
}

const CRATE_RULES: [CrateRule; 16] = [
    CrateRule { name: SPACE, uses: &[], tests_use: &[] },
    CrateRule { name: STORE, uses: &[SPACE], tests_use: &[] },
    CrateRule { name: PUZZLES, uses: &[SPACE], tests_use: &[] },
    CrateRule { name: ENGINE, uses: &[SPACE, STORE], tests_use: &[PUZZLES] },
    CrateRule { name: RUN, uses: &[SPACE, STORE, PUZZLES, ENGINE], tests_use: &[] },
    CrateRule { name: LIBRARY, uses: &[SPACE, STORE, PUZZLES, RUN], tests_use: &[ENGINE] },
    CrateRule { name: PROTO, uses: &[SPACE, STORE], tests_use: &[] },
    CrateRule { name: PLOT, uses: &[], tests_use: &[] },
    CrateRule { name: WORKER, uses: &[RUN, PROTO, SPACE, STORE, ENGINE], tests_use: &[PUZZLES] },
    CrateRule { name: COORDINATOR, uses: &[RUN, PROTO, PLOT, SPACE, STORE], tests_use: &[PUZZLES] },
    CrateRule { name: REPLAY, uses: &[], tests_use: &[] },
    CrateRule {
        name: CLI,
        uses: &[SPACE, STORE, PUZZLES, ENGINE, RUN, PROTO, PLOT, WORKER, COORDINATOR, REPLAY],
        tests_use: &[LIBRARY],
    },
    CrateRule { name: VERIFIER, uses: &[], tests_use: &[] },
    CrateRule { name: PANEX, uses: &[REPLAY, VERIFIER, CLI, RUN, STORE], tests_use: &[] },
    CrateRule { name: CHECKS, uses: &[], tests_use: &[] },
    CrateRule {
        name: TESTING,
        uses: &[SPACE, STORE, PUZZLES, ENGINE, RUN, LIBRARY, PROTO, WORKER, COORDINATOR, REPLAY],
        tests_use: &[CHECKS],
    },
];

/// The puzzles that ship.
const SHIPPED: [&str; 6] = ["panex", "hanoi", "tiles", "pancake", "topspin", "lrx"];

/// Crates whose work is synchronous, so that it can be tested and embedded without a runtime.
const SYNCHRONOUS: [&str; 10] =
    [SPACE, STORE, PUZZLES, ENGINE, RUN, LIBRARY, PLOT, VERIFIER, REPLAY, PANEX];

/// Sources that may be asynchronous in crates that are mostly not.
const EDGES: [(&str, &[&str]); 1] = [("coordinator/src", &["cluster", "dashboard", "server"])];

fn dependencies(package: &Package, kinds: &[DependencyKind]) -> Vec<String> {
    let dependencies = package.dependencies.iter();
    let of_kind = dependencies.filter(|dependency| kinds.contains(&dependency.kind));
    of_kind.map(|dependency| dependency.name.clone()).collect()
}

#[test]
fn crates_use_only_lower_crates() {
    let metadata = metadata(root()).unwrap();
    let packages = metadata.workspace_packages();
    let members: BTreeSet<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    let listed: BTreeSet<&str> = CRATE_RULES.iter().map(|rule| rule.name).collect();
    assert_eq!(members, listed, "a crate is missing from the list or gone");
    for rule in CRATE_RULES {
        let package = packages.iter().find(|package| package.name == rule.name).unwrap();
        let built = dependencies(package, &[DependencyKind::Normal, DependencyKind::Build]);
        let tested = dependencies(package, &[DependencyKind::Development]);
        let refused = |used: &String, allowed: &[&[&str]]| {
            members.contains(used.as_str())
                && !allowed.iter().any(|names| names.contains(&used.as_str()))
        };
        let built: Vec<String> =
            built.into_iter().filter(|used| refused(used, &[rule.uses])).collect();
        assert!(built.is_empty(), "{} must not depend on {built:?}", rule.name);
        let allowed = [rule.uses, rule.tests_use];
        let tested: Vec<String> =
            tested.into_iter().filter(|used| refused(used, &allowed)).collect();
        assert!(tested.is_empty(), "tests of {} must not depend on {tested:?}", rule.name);
    }
}

#[test]
fn crates_are_listed_from_the_lowest_up() {
    for (position, rule) in CRATE_RULES.iter().enumerate() {
        for used in rule.uses.iter().chain(rule.tests_use) {
            let is_lower = CRATE_RULES[..position].iter().any(|lower| lower.name == *used);
            assert!(is_lower, "{} is listed before {used}", rule.name);
        }
    }
}

/// A user's program needs no crate but the library and the command line.
#[test]
fn a_users_puzzle_uses_only_the_library_and_the_command_line() {
    let manifest = root().join("examples/own-puzzle/Cargo.toml");
    if !manifest.is_file() {
        return;
    }
    let metadata = MetadataCommand::new().manifest_path(manifest).no_deps().exec().unwrap();
    let package = metadata.root_package().unwrap();
    let kinds = [DependencyKind::Normal, DependencyKind::Build, DependencyKind::Development];
    let used = dependencies(package, &kinds);
    let ours: Vec<&String> = used.iter().filter(|name| name.starts_with("strata")).collect();
    assert!(ours.iter().all(|name| [LIBRARY, CLI].contains(&name.as_str())), "{ours:?}");
}

#[test]
fn engines_name_no_puzzle() {
    let tree = Tree::read(&root().join("engine")).unwrap();
    let mut naming = BTreeSet::new();
    for module in &tree.modules {
        for item in &module.items {
            if let Some(word) = puzzle_in(item.to_token_stream()) {
                naming.insert((tree.files[module.file].display().to_string(), word));
            }
        }
    }
    assert!(naming.is_empty(), "{naming:?}");
}

/// The first puzzle that is named in tokens: as an identifier, a part of one, or in a string.
/// Documentation and comments may name puzzles that something was measured on.
fn puzzle_in(tokens: TokenStream) -> Option<String> {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                tokens.next_if(|next| match next {
                    TokenTree::Group(group) => group.stream().into_iter().next().is_some_and(
                        |first| matches!(first, TokenTree::Ident(name) if name == "doc"),
                    ),
                    _ => false,
                });
            }
            TokenTree::Group(group) => {
                if let Some(found) = puzzle_in(group.stream()) {
                    return Some(found);
                }
            }
            TokenTree::Ident(_) | TokenTree::Literal(_) => {
                let text = token.to_string();
                let mut words = text.split(|symbol: char| !symbol.is_ascii_alphanumeric());
                if words.any(|word| SHIPPED.iter().any(|name| is_named(word, name))) {
                    return Some(text);
                }
            }
            TokenTree::Punct(_) => {}
        }
    }
    None
}

/// Whether a word is a puzzle's name, or contains it in camel case such as `NestedPanex`.
fn is_named(word: &str, name: &str) -> bool {
    let capitalised = name[..1].to_uppercase() + &name[1..];
    word.eq_ignore_ascii_case(name) || word.contains(&capitalised)
}

#[test]
fn a_puzzle_is_found_in_names_and_strings_but_not_in_documentation() {
    let found = |code: &str| puzzle_in(code.parse().unwrap());
    assert_eq!(found("fn f() { strata_puzzles::panex::new() }").as_deref(), Some("panex"));
    assert_eq!(found("use a::NestedPanex;").as_deref(), Some("NestedPanex"));
    assert_eq!(found("const A: &str = \"the tiles\";").as_deref(), Some("\"the tiles\""));
    assert_eq!(found("/// Measured on Panex 7.\nfn f() { tile() } // hanoi"), None);
}

#[test]
fn only_the_command_line_the_workbench_and_the_verifier_are_programs() {
    let metadata = metadata(root()).unwrap();
    let packages = metadata.workspace_packages().into_iter();
    let programs = packages.filter(|package| {
        // A program that needs a feature is a tool of this repository.
        let is_shipped = |target: &Target| {
            target.kind.contains(&TargetKind::Bin) && target.required_features.is_empty()
        };
        package.targets.iter().any(is_shipped)
    });
    let names: BTreeSet<&str> = programs.map(|package| package.name.as_str()).collect();
    assert_eq!(names, BTreeSet::from([CLI, PANEX, VERIFIER]));
}

#[test]
fn the_search_needs_no_runtime_and_no_network() {
    let metadata = metadata(root()).unwrap();
    let kinds = [DependencyKind::Normal, DependencyKind::Build, DependencyKind::Development];
    for name in SYNCHRONOUS {
        let packages = metadata.workspace_packages();
        let package = packages.iter().find(|package| package.name == name).unwrap();
        let found: Vec<String> = dependencies(package, &kinds)
            .into_iter()
            .filter(|used| {
                ["tokio", "tonic", "prost", "hyper", "futures"]
                    .iter()
                    .any(|word| used.split('-').next() == Some(*word))
            })
            .collect();
        assert!(found.is_empty(), "{name} depends on {found:?}");
    }
}

#[test]
fn in_nodes_only_the_edges_have_a_runtime_and_a_network() {
    let root = root();
    for (sources, edges) in EDGES {
        let mut folders = vec![root.join(sources)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if edges.iter().any(|edge| path == root.join(sources).join(edge)) {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let text = std::fs::read_to_string(&path).unwrap();
                    let found = ["tokio", "tonic", "async fn", "strata_proto::v1"]
                        .into_iter()
                        .find(|word| text.contains(word));
                    assert_eq!(found, None, "in {}", path.display());
                }
            }
        }
    }
}
