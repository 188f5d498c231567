//! Choice of the engine, what an engine refuses, and what all engines print alike.

use std::fs;
use std::path::Path;

use crate::common::{expect, refused, run, solve, strata, verify};
use serde_json::Value;
use tempfile::tempdir;

/// Fields of the result that do not depend on the engine.
const FIELDS: [&str; 8] =
    ["moves", "layers", "states", "positions", "generated", "widest", "widest_depth", "digest"];

/// `strata/tests/it/kinds` compares the engines on more spaces, but not with an open centre top.
#[test]
fn two_engines_print_the_same_layers_and_result() {
    for (line, flags) in [
        ("panex 4 --centre-top allow", ""),
        ("panex 4 --exhaust --centre-top allow --symmetry off", "--verify --threads 2"),
    ] {
        let dir = tempdir().unwrap();
        let explicit = expect(0, &mut solve(dir.path(), line));
        let line = format!("{line} --engine symbolic {flags}");
        let symbolic = expect(0, &mut solve(dir.path(), &line));
        assert_eq!(explicit.layers(), symbolic.layers(), "{line}");
        for field in FIELDS {
            let [a, b] = [&explicit, &symbolic].map(|ran| ran.event("result")[field].clone());
            assert_eq!(a, b, "{line}: {field}");
        }
        assert_eq!(symbolic.event("result")["bytes_per_state"], Value::Null);
        assert_eq!(symbolic.event("job")["engine"], "symbolic");
    }
}

#[test]
fn without_digests_the_states_are_the_same() {
    let dir = tempdir().unwrap();
    let result =
        expect(0, &mut solve(dir.path(), "panex 5 --engine symbolic-lean")).event("result");
    assert_eq!((&result["moves"], &result["states"]), (&343.into(), &218_855.into()));
    assert_eq!((&result["generated"], &result["digest"]), (&0.into(), &"0".repeat(32).into()));
    expect(0, &mut verify(dir.path()));
    let dir = tempdir().unwrap();
    let line = "hanoi 7 --pegs 4 --exhaust --engine dense --no-digest";
    let ran = expect(0, &mut solve(dir.path(), line));
    assert_eq!(ran.event("job")["engine"], "dense-lean");
    assert_eq!(ran.event("result")["states"], 4_u64.pow(7));
    assert!(ran.layers().iter().all(|(.., digest, _)| digest.bytes().all(|c| c == b'0')));
    expect(0, &mut verify(dir.path()));
}

#[test]
fn a_layer_is_the_same_list_from_all_engines() {
    let symbolic = ["explicit", "symbolic"];
    // With the fewest states of a sample of five.
    for (line, depths, engines, fewest) in [
        ("panex 4", &[40][..], symbolic, 3),
        ("panex 3 --symmetry off", &[20], symbolic, 3),
        ("hanoi 5 --pegs 4", &[6], symbolic, 3),
        ("hanoi 5 --pegs 4 --exhaust", &[0, 1, 5, 9], ["explicit", "dense"], 1),
    ] {
        let lists = engines.map(|engine| {
            let dir = tempdir().unwrap();
            let keep = if engine == "symbolic" { "" } else { "--keep-layers all" };
            let line = format!("{line} --engine {engine} {keep}");
            let layers = expect(0, &mut solve(dir.path(), &line)).layers();
            depths
                .iter()
                .map(|depth| listed(dir.path(), *depth, layers[*depth].1, fewest))
                .collect()
        });
        let [one, other]: [Vec<Vec<String>>; 2] = lists;
        assert_eq!(one, other, "{line}");
    }
}

/// The states of a layer, sorted. They are counted in all forms of the command; a sample has at
/// least `fewest`.
fn listed(dir: &Path, depth: usize, states: u64, fewest: usize) -> Vec<String> {
    let layer = |how: &str| {
        let mut command = strata("layer");
        command.arg(dir).arg(depth.to_string()).args(how.split_whitespace());
        expect(0, &mut command).stdout
    };
    assert_eq!(layer(""), format!("depth {depth}: {states} states\n"));
    let counted: Value = serde_json::from_str(&layer("--json")).unwrap();
    assert_eq!((&counted["event"], &counted["states"]), (&"layer_states".into(), &states.into()));
    let sample = layer("--sample 5");
    assert!((fewest..=5).contains(&sample.lines().count()), "{sample}");
    let mut list: Vec<String> = layer("--list").lines().map(str::to_owned).collect();
    assert_eq!(list.len() as u64, states, "layer {depth}");
    list.sort();
    assert!(list.windows(2).all(|pair| pair[0] != pair[1]));
    list
}

#[test]
fn what_an_engine_does_not_support_is_refused() {
    let dir = tempdir().unwrap();
    for (line, why) in [
        ("hanoi 4 --pegs 6 --engine symbolic", "the symbolic engine takes up to 5"),
        (
            "panex 3 --workers 2 --engine symbolic",
            "the symbolic engine does not support --workers: --engine explicit does",
        ),
        (
            "panex 3 --keep-layers all --engine symbolic",
            "the symbolic engine does not support --keep-layers",
        ),
        ("panex 3 --goal towers --engine symbolic", "without symmetry"),
        (
            "panex 6 --memory 512KiB --engine symbolic",
            "512 KiB is too small: the symbolic engine takes at least 1 MiB",
        ),
        ("hanoi 5 --engine symbolic --no-digest", "needs the dense engine"),
        (
            "panex 3 --verify",
            "the explicit engine does not support --verify: --engine symbolic does",
        ),
        ("panex 3 --engine dense", "panex has no dense form"),
        ("hanoi 5 --engine dense --workers 9", "9 workers cannot share"),
        ("hanoi 5 --engine dense --verify", "the dense engine does not support --verify"),
        ("hanoi 5 --engine dense --shards 9", "9 shards are more than"),
        ("hanoi 9 --pegs 4 --engine dense --memory 1MiB", "the dense engine takes at least"),
        ("hanoi 13 --pegs 8 --engine dense", "too large"),
    ] {
        refused(&mut solve(dir.path(), line), why);
        if line.ends_with("--engine symbolic") {
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{line}");
        }
    }
    // The engine is part of a job's identity.
    expect(4, &mut solve(dir.path(), "panex 4 --max-layers 9 --engine symbolic"));
    refused(&mut solve(dir.path(), "panex 4 --resume"), "engine is symbolic in job panex-4-");
}

#[test]
fn auto_says_what_it_chose_and_why() {
    let dir = tempdir().unwrap();
    for (line, engine, reason) in [
        ("hanoi 5", "symbolic", "the space is nested"),
        ("panex 3 --path", "symbolic", ""),
        ("panex 3 --symmetry off", "symbolic", ""),
        ("hanoi 3 --pegs 6", "dense", ""),
        ("hanoi 5 --keep-layers all", "dense", "243 states take"),
        ("pancake 7", "dense", "5040 states take"),
        ("hanoi 5 --workers 2", "explicit", "--workers needs it"),
        ("pancake 7 --shards 4", "explicit", "--shards needs it"),
        ("panex 3 --keep-layers all --path", "explicit", ""),
        ("panex 3 -k 2", "explicit", ""),
        ("panex 3 --goal towers", "explicit", ""),
        ("tiles 2x3 --exhaust", "explicit", "no other engine searches this space"),
    ] {
        let ran = run(&mut solve(dir.path(), &format!("{line} --engine auto")));
        let job = ran.event("job");
        let (found, why) =
            (job["engine"].as_str().unwrap(), job["engine_reason"].as_str().unwrap());
        assert!(found == engine && why.contains(reason), "{line}: {found}: {why}");
        let first = ran.stderr.lines().next().unwrap();
        assert!(first.contains(&format!("engine {engine}: {why}")), "{first}");
    }
}
