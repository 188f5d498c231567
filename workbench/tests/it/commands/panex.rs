//! Operations, tables, choke points and drawings of Panex on the command line.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use strata_run::catalogue::Registry;
use strata_run::verify::verify;
use strata_store::{JobDir, RealFs};
use tempfile::tempdir;

use super::{expect, refused, strata};

#[test]
fn an_operation_has_its_moves_and_ends() {
    let there = expect(0, &mut strata("panex op X 5 --json")).event("operation");
    let back =
        expect(0, &mut strata("panex op X 5 --inverse --moves none --json")).event("operation");
    assert_eq!((&there["moves"], &back["moves"]), (&343.into(), &343.into()));
    assert_eq!((&there["start"], &there["goal"]), (&back["goal"], &back["start"]));
    assert_eq!(there["word"].as_str().unwrap().split(' ').count(), 343);
    assert!(back["word"].is_null());

    refused(&mut strata("panex op Q 3"), "unknown operation 'Q'");
    refused(&mut strata("panex op T 0"), "T_0 is not defined: T has the levels 1 to 99");
    refused(&mut strata("panex op Z 3"), "Z has no level");
    refused(&mut strata("panex op T 3 --variation larger"), "T_3 has no such variation");
    refused(&mut strata("panex op T 40"), "would be too long");
}

#[test]
fn a_search_shows_that_operations_are_shortest() {
    for (operation, length) in [
        ("T 5", 58),
        ("Tbar 4 --right", 23),
        ("S 4 --variation supported", 22),
        ("Sbar 5 --right --variation larger", 57),
    ] {
        let line = format!("panex op {operation} --search --json --progress none --threads 1");
        let found = expect(0, &mut strata(&line)).event("operation");
        let moves = Value::from(length);
        assert_eq!((&found["moves"], &found["searched"]), (&moves, &moves), "{line}");
    }
}

#[test]
fn operations_that_are_not_shortest_are_detected() {
    let ran = expect(6, &mut strata("panex op Baxter-T 5 --search --progress none"));
    assert!(ran.stdout.contains("  least  58, searched: "), "{}", ran.stdout);
    let message = "error: L Baxter-T_5 has 60 moves, searched: 58 moves\n";
    assert!(ran.stderr.ends_with(message), "{}", ran.stderr);
    refused(&mut strata("panex op 4 --search"), "4 has no start and goal of its own");
    refused(&mut strata("panex op T 15 --search --moves none"), "level must be between 1 and 14");
}

#[test]
fn the_search_of_an_operation_keeps_its_data_dir() {
    let dir = tempdir().unwrap();
    let mut searched = strata("panex op T 4 --inverse --star --search --json --progress none");
    let ran = expect(0, searched.arg("--data-dir").arg(dir.path()));
    assert_eq!(ran.event("operation")["searched"], 24);
    let jobs = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
    let jobs: Vec<_> = jobs.filter(|path| path.join("manifest.json").exists()).collect();
    assert_eq!(jobs.len(), 1);
    let (folder, manifest) = JobDir::open(Arc::new(RealFs), &jobs[0]).unwrap();
    let space = Registry::shipped().open(&manifest.spec.space, &manifest.spec.params).unwrap();
    let verified = verify(&folder, manifest, space).unwrap();
    let states = verified.history.totals().states;
    assert_eq!(ran.event("operation")["states"], states);
}

/// Starts a long search with `TMPDIR` set and interrupts it after its first log line about the job.
/// Returns that line and the last one.
fn interrupted(more: &[&str], temporary: &Path) -> [String; 2] {
    let mut command = strata("panex op T 9 --search --progress lines");
    command.args(more).env("TMPDIR", temporary);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let begun = lines.find(|line| line.contains(" INFO job ")).unwrap();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let last = lines.last().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{last}");
    [begun, last]
}

#[test]
fn an_interrupted_search_leaves_files_in_its_data_dir_only() {
    let (temporary, kept) = (tempdir().unwrap(), tempdir().unwrap());
    let [_, last] = interrupted(&[], temporary.path());
    assert!(last.contains("interrupted; it cannot be resumed without --data-dir"), "{last}");
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
    let flags = ["--data-dir", kept.path().to_str().unwrap()];
    for word in ["started", "resumed"] {
        let [begun, last] = interrupted(&flags, temporary.path());
        assert!(begun.contains(&format!("job {word}")), "{begun}");
        assert!(last.contains("interrupted; the same command resumes it"), "{last}");
    }
}

#[test]
fn tables_show_the_evidence_for_each_number() {
    let ran = expect(0, &mut strata("panex table --max 11"));
    let row = |start: &str| {
        let line = ran.stdout.lines().find(|line| line.starts_with(start)).unwrap();
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row(" 11"), "11 11769 c 11769 c 11768 c 11768 c 76245 Pckp 76245 c 66568");
    assert_eq!(row("  4"), "4 24 sc 23 sc 22 sc 22 sc 128 sckp - -");
    assert!(ran.stdout.contains("U': U' is not what remains of U"), "{}", ran.stdout);

    let ran = expect(0, &mut strata("panex table --max 3 --json"));
    let numbers = ran.events("number");
    let number = numbers.iter().find(|n| n["quantity"] == "Baxter U'" && n["n"] == 3).unwrap();
    assert_eq!((&number["value"], &number["evidence"][0]), (&43.into(), &"constructed".into()));
    let ran = expect(0, &mut strata("panex table --max 19 --json"));
    let numbers = ran.events("number");
    let proven = |n: u64| {
        let x = numbers.iter().find(|number| number["quantity"] == "X" && number["n"] == n);
        let evidence = x.unwrap()["evidence"].as_array().unwrap().iter();
        evidence.map(|word| word.as_str().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(proven(4), ["searched", "constructed", "choke-point", "published"]);
    assert_eq!(proven(5), ["proven", "constructed", "choke-point", "published"]);
    assert_eq!(proven(19), ["proven"]);
    refused(&mut strata("panex table --max 100"), "1 to 99 rows, not 100");
}

#[test]
fn choke_points_yield_a_list_of_moves() {
    let found = expect(0, &mut strata("panex choke 6 --threads 2 --path --json")).event("choke");
    assert_eq!((&found["level"], &found["moves"]), (&6.into(), &881.into()));
    assert_eq!(found["word"].as_str().unwrap().split(' ').count(), 881);
    let ran = expect(0, &mut strata("panex choke 3"));
    assert!(ran.stdout.starts_with("X(3) = 42\n"), "{}", ran.stdout);
    refused(&mut strata("panex choke 22"), "22 is not in 1..=21");
}

#[test]
fn independent_methods_agree() {
    let ran = expect(0, &mut strata("panex check 4 --threads 1 --progress none"));
    let rows: Vec<Vec<&str>> =
        ran.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[5], ["proof", "-", "none", "below", "5"]);
    assert_eq!(rows[6..], [["all", "agree", "on", "128"]]);
    let limits = "--explicit-max 7 --symbolic-max 6";
    let ran = expect(0, &mut strata(&format!("panex check 8 {limits} --json --progress none")));
    let check = ran.event("check");
    assert_eq!((&check["level"], &check["agree"]), (&8.into(), &true.into()));
    let moves = |row: usize| check["checks"][row]["moves"].clone();
    let found = [moves(0), moves(1), moves(2), moves(3), moves(4)];
    assert_eq!(found, [Value::Null, Value::Null, 5359.into(), 5359.into(), 5359.into()]);
    assert_eq!(check["checks"][4]["note"], "X(n) = U(n), docs/panex-proof.md");
    assert_eq!(check["checks"][0]["note"], "left out above 7 (--explicit-max)");
    assert_eq!(check["checks"][1]["note"], "left out above 6 (--symbolic-max)");
    refused(&mut strata("panex check 22"), "22 is not in 1..=21");
}

#[test]
fn positions_are_drawn() {
    let draw = |position: &str, flags: &str| {
        let mut command = strata(&format!("panex draw {flags}"));
        command.arg(position);
        command
    };
    let ran = expect(0, &mut draw("b2 / - / o1 b1 o2", ""));
    assert!(ran.stdout.ends_with("    L  C  R\n"), "{:?}", ran.stdout);
    let ran = expect(0, &mut draw("b2 / - / o1 b1 o2", "--as svg"));
    assert!(ran.stdout.starts_with("<svg"), "{}", ran.stdout);
    let ran = expect(0, &mut draw("b b b / - / o o o", "--gold --as words"));
    assert_eq!(ran.stdout, "b1 b2 b3 / - / o1 o2 o3\n");
    let ran = expect(0, &mut draw("b1 b2 b3 / - / o1 o2 o3", "--as gold"));
    assert_eq!(ran.stdout, "b b b / - / o o o\n");
    refused(&mut draw("b1 b1 / - / o2 o2", ""), "b1 is there twice");
}
