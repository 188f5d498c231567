//! Which crate of the workspace may depend on which.
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but not in their helpers

use std::collections::BTreeSet;

use cargo_metadata::{Metadata, MetadataCommand, Package, TargetKind};

/// Every crate and all workspace crates that it may depend on, for tests and builds, too.
const MAY_USE: [(&str, &[&str]); 13] = [
    ("strata-space", &[]),
    ("strata-puzzles", &["strata-space"]),
    ("strata-store", &[]),
    ("strata-explicit", &["strata-space", "strata-store", "strata-puzzles"]),
    ("strata-symbolic", &["strata-space", "strata-puzzles"]),
    (
        "strata",
        &["strata-space", "strata-puzzles", "strata-store", "strata-explicit", "strata-symbolic"],
    ),
    ("strata-proto", &[]),
    ("strata-net", &["strata-proto", "strata-space", "strata-store"]),
    (
        "strata-worker",
        &[
            "strata",
            "strata-proto",
            "strata-net",
            "strata-space",
            "strata-store",
            "strata-explicit",
        ],
    ),
    (
        "strata-coordinator",
        &["strata", "strata-proto", "strata-net", "strata-space", "strata-store"],
    ),
    ("strata-panex", &[]),
    ("strata-tiles", &[]),
    (
        "strata-cli",
        &[
            "strata",
            "strata-proto",
            "strata-net",
            "strata-space",
            "strata-puzzles",
            "strata-panex",
            "strata-tiles",
            "strata-store",
            "strata-explicit",
            "strata-symbolic",
            "strata-worker",
            "strata-coordinator",
        ],
    ),
];

/// Crates whose work is synchronous, so that it can be tested and embedded without a runtime.
const SYNCHRONOUS: [&str; 8] = [
    "strata",
    "strata-puzzles",
    "strata-panex",
    "strata-tiles",
    "strata-space",
    "strata-store",
    "strata-explicit",
    "strata-symbolic",
];

/// Sources that may be asynchronous in crates that are mostly not.
const EDGES: [(&str, &[&str]); 2] =
    [("worker/src", &["node"]), ("coordinator/src", &["cluster", "server"])];

fn metadata() -> Metadata {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    MetadataCommand::new().manifest_path(manifest).no_deps().exec().unwrap()
}

fn package<'a>(metadata: &'a Metadata, name: &str) -> &'a Package {
    let mut packages = metadata.workspace_packages().into_iter();
    packages.find(|package| package.name == name).unwrap_or_else(|| panic!("no crate {name}"))
}

fn dependencies(package: &Package) -> impl Iterator<Item = &str> {
    package.dependencies.iter().map(|dependency| dependency.name.as_str())
}

#[test]
fn crates_depend_on_lower_ones_only() {
    let metadata = metadata();
    let packages = metadata.workspace_packages();
    let members: BTreeSet<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    let listed: BTreeSet<&str> = MAY_USE.iter().map(|(name, _)| *name).collect();
    assert_eq!(members, listed, "a crate is missing from the list or gone");
    for (name, allowed) in MAY_USE {
        let used = dependencies(package(&metadata, name)).filter(|used| members.contains(used));
        let refused: Vec<&str> = used.filter(|used| !allowed.contains(used)).collect();
        assert!(refused.is_empty(), "{name} must not depend on {refused:?}");
    }
}

#[test]
fn only_the_command_line_is_a_program() {
    let metadata = metadata();
    let packages = metadata.workspace_packages().into_iter();
    let programs = packages.filter(|package| {
        package.targets.iter().any(|target| target.kind.contains(&TargetKind::Bin))
    });
    let names: Vec<&str> = programs.map(|package| package.name.as_str()).collect();
    assert_eq!(names, ["strata-cli"]);
}

#[test]
fn the_search_needs_no_runtime_and_no_network() {
    let metadata = metadata();
    for name in SYNCHRONOUS {
        let found: Vec<&str> = dependencies(package(&metadata, name))
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
    let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    for (sources, edges) in EDGES {
        let mut folders = vec![root.join(sources)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let is_edge = edges.iter().any(|edge| path == root.join(sources).join(edge));
                if path.is_dir() && !is_edge {
                    folders.push(path);
                } else if path.is_file() {
                    let text = std::fs::read_to_string(&path).unwrap();
                    let found = ["tokio", "tonic", "async fn", "strata_proto"]
                        .into_iter()
                        .find(|word| text.contains(word));
                    assert_eq!(found, None, "in {}", path.display());
                }
            }
        }
    }
}
