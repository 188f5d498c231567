//! The end of a search of a whole space: sizes of the last layers, antipodes and their solutions.

use crate::common;

use std::collections::HashSet;
use std::path::Path;

use common::{Finished, expect, refused, solve};
use serde_json::Value;
use tempfile::tempdir;

/// States of the last layer and their moves to the start.
fn antipodes(ran: &Finished) -> Vec<(String, Option<Vec<String>>)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let moves = |value: &Value| value.as_array().map(|moves| moves.iter().map(text).collect());
    let event = ran.event("antipodes");
    let found = event["antipodes"].as_array().unwrap().iter();
    found.map(|found| (text(&found["state"]), moves(&found["moves"]))).collect()
}

/// Turns over the pancakes that the moves name.
fn flipped(stack: &str, moves: &[String]) -> String {
    let mut stack: Vec<&str> = stack.split(' ').collect();
    for name in moves {
        let top: usize = name.strip_prefix('r').unwrap().parse().unwrap();
        stack[..top].reverse();
    }
    stack.join(" ")
}

fn solve_text(dir: &Path, line: &str) -> String {
    let mut command = common::strata(&format!("solve --progress none --threads 1 {line}"));
    expect(0, command.arg("--data-dir").arg(dir)).stdout
}

#[test]
fn antipodes_have_shortest_paths_to_the_start() {
    let dir = tempdir().unwrap();
    // The dense engine shows 20 without a flag.
    for flags in ["--exhaust --antipodes 20", "--engine dense"] {
        let ran = expect(0, &mut solve(dir.path(), &format!("pancake 7 {flags}")));
        let event = ran.event("antipodes");
        assert_eq!((&event["depth"], &event["states"]), (&8.into(), &35.into()));
        let found = antipodes(&ran);
        assert_eq!(found.len(), 20);
        assert_eq!(found.iter().map(|(state, _)| state).collect::<HashSet<_>>().len(), 20);
        for (state, moves) in &found {
            let moves = moves.as_ref().unwrap();
            assert_eq!(moves.len(), 8);
            assert_eq!(flipped(state, moves), "1 2 3 4 5 6 7");
        }
    }
    // All are printed if there are fewer than asked for, and none without the flag.
    let ran = expect(0, &mut solve(dir.path(), "pancake 6 --exhaust --antipodes 20"));
    assert_eq!(antipodes(&ran).len(), 2);
    let ran = expect(0, &mut solve(dir.path(), "pancake 6 --exhaust"));
    assert!(ran.events("antipodes").is_empty());
    // One of symmetric states is stored.
    let diamond = common::data("skewb-diamond.tws");
    let line = format!("{diamond} --symmetry on --engine dense --antipodes 5");
    let ran = expect(0, &mut solve(dir.path(), &line));
    let depth = ran.event("result")["layers"].as_u64().unwrap() as usize;
    let found = antipodes(&ran);
    assert!(!found.is_empty());
    assert!(found.iter().all(|(_, moves)| moves.as_ref().unwrap().len() == depth), "{found:?}");
}

#[test]
fn a_whole_space_ends_with_the_sizes_of_its_last_layers() {
    let dir = tempdir().unwrap();
    let text = solve_text(dir.path(), "pancake 7 --exhaust --engine explicit --antipodes 1");
    let sizes = "  last layers 149  543  1,357  1,903  1,016  35   (depth 3 to 8)\n  \
                 antipodes   1 of 35, with moves to the start\n";
    assert!(text.contains(sizes), "{text}");
}

#[test]
fn the_antipodes_of_hanoi_have_their_moves() {
    let dir = tempdir().unwrap();
    let ran = expect(0, &mut solve(dir.path(), "hanoi 4 --exhaust --antipodes 5"));
    // In 15 moves the tower reaches another peg.
    assert_eq!(ran.event("antipodes")["depth"], 15);
    let states = antipodes(&ran);
    assert_eq!(states.len(), 5);
    for (state, moves) in &states {
        let moves = moves.as_ref().unwrap();
        assert_eq!(moves.len(), 15, "{state}");
        // The last one takes the least disc to the first peg.
        assert!(moves[14].ends_with("-1"), "{state}: {moves:?}");
    }
}

#[test]
fn searches_that_cannot_have_antipodes_are_refused() {
    let dir = tempdir().unwrap();
    for (line, why) in [
        ("pancake 6 --goal r2 --antipodes 3", "--exhaust"),
        ("pancake 6 --exhaust --keep-layers last --antipodes 3", "need --keep-layers all"),
        (
            "panex 3 --exhaust --engine symbolic --antipodes 3",
            "does not support --antipodes: --engine explicit does",
        ),
    ] {
        refused(&mut solve(dir.path(), line), why);
        // A variable may be meant for other searches.
        let (line, flag) = line.split_once(" --antipodes ").unwrap();
        let ran = expect(0, solve(dir.path(), line).env("STRATA_ANTIPODES", flag));
        assert!(ran.events("antipodes").is_empty());
    }
    refused(&mut solve(dir.path(), "pancake 6 --exhaust --antipodes 1001"), "1001");
}
