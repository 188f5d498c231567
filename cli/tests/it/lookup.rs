//! The command `lookup`: its outputs, and what it refuses.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::tempdir;

use crate::common::{expect, refused, solve, strata};

fn lookup(dir: &Path, words: &[&str]) -> Command {
    let mut command = strata("lookup");
    command.arg(dir).args(words);
    command
}

#[test]
fn each_form_of_output_has_all_fields() {
    let dir = tempdir().unwrap();
    for engine in ["explicit", "dense"] {
        let data = dir.path().join(engine);
        expect(0, &mut solve(&data, &format!("pancake 6 --engine {engine} --keep-layers all")));
        let states = dir.path().join("states");
        fs::write(&states, "# two states, the second as moves\n2 1 4 3 6 5\n\n  r3 r4\n").unwrap();
        let found = |flags: &str| {
            let mut command = lookup(&data, &flags.split(' ').collect::<Vec<_>>());
            expect(0, command.arg("--states").arg(&states)).stdout
        };
        let text = found("--count --paths");
        let lines: Vec<&str> = text.lines().collect();
        let [flipped, given] = &*lines else { panic!("{text}") };
        assert!(flipped.starts_with("2 1 4 3 6 5: depth 5, "), "{text}");
        assert_eq!(*given, "r3 r4: depth 2, 1 way, r3 r4");
        assert_eq!(found("--format text").lines().nth(1), Some("r3 r4: depth 2"));
        let csv = "state,depth,ways,moves\n2 1 4 3 6 5,5,,\nr3 r4,2,,\n";
        assert_eq!(found("--format csv"), csv);
        let line =
            |text: &str| serde_json::from_str::<Value>(text.lines().nth(1).unwrap()).unwrap();
        let fields = json!({"state": "r3 r4", "depth": 2, "ways": "1", "moves": "r3 r4"});
        assert_eq!(line(&found("--format jsonl --count --paths")), fields);
        let mut event = json!({"v": 1, "event": "looked_up"});
        event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        assert_eq!(line(&found("--json --count --paths")), event);
    }
}

#[test]
fn a_state_that_is_not_reached_has_no_depth() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("even.txt");
    fs::write(&file, "a = (1,2,3)\nb = (2,3,4)\n").unwrap();
    let line = format!("puzzle {} --inverses --keep-layers all --engine explicit", file.display());
    let data = dir.path().join("data");
    expect(0, &mut solve(&data, &line));
    let ran = expect(0, &mut lookup(&data, &["2 1 3 4", "a b", "--count", "--format", "csv"]));
    assert_eq!(ran.stdout, "state,depth,ways,moves\n2 1 3 4,,,\na b,2,2,\n");
    let ran = expect(0, &mut lookup(&data, &["2 1 3 4"]));
    assert_eq!(ran.stdout, "2 1 3 4: not reached\n");
    // A search that has not ended, and one that has ended at its goal.
    for (name, flags, code) in [("stopped", "--max-layers 2", 4), ("goal", "--goal r5", 0)] {
        let data = dir.path().join(name);
        let line = format!("pancake 5 --engine explicit --keep-layers all {flags}");
        expect(code, &mut solve(&data, &line));
        let ran = expect(0, &mut lookup(&data, &["5 1 4 2 3"]));
        assert!(ran.stdout.contains("not reached up to depth "), "{}", ran.stdout);
    }
}

#[test]
fn what_is_not_a_state_is_named_with_its_place() {
    let dir = tempdir().unwrap();
    expect(0, &mut solve(dir.path(), "hanoi 3 --engine explicit --keep-layers all --exhaust"));
    refused(&mut lookup(dir.path(), &["1 2 3 / - / -", "1 2 / - / -"]), "state 2: state");
    let file = dir.path().join("states");
    fs::write(&file, "1 2 3 / - / -\n\n1 2 3\n").unwrap();
    let mut command = lookup(dir.path(), &["--states"]);
    refused(command.arg(&file), "states, line 3: state");
    fs::write(&file, [0xff, 0xfe]).unwrap();
    let mut command = lookup(dir.path(), &["--states"]);
    refused(command.arg(&file), "byte 1 is not UTF-8");
    refused(&mut lookup(dir.path(), &["--states", "missing"]), "cannot read missing");
    refused(&mut lookup(dir.path(), &[]), "<STATE>");
}

#[test]
fn jobs_without_layers_are_refused() {
    let dir = tempdir().unwrap();
    for (name, line, why) in [
        ("last", "hanoi 3 --engine explicit --keep-layers last", "need --keep-layers all"),
        ("symbolic", "hanoi 3 --engine symbolic", "is symbolic"),
    ] {
        let data = dir.path().join(name);
        expect(0, &mut solve(&data, line));
        // The states are not read.
        refused(&mut lookup(&data, &["wrong"]), why);
    }
}
