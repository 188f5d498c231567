//! Symbolic jobs: same layers as explicit ones, also after kills and damage.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use crate::common::{expect, only_job, refused, solve, strata, verify};
use serde_json::Value;
use tempfile::tempdir;

const SYMBOLIC: &str = "--engine symbolic";

/// What does not depend on the engine.
const FIELDS: [&str; 8] =
    ["moves", "layers", "states", "positions", "generated", "widest", "widest_depth", "digest"];

#[test]
fn both_engines_count_the_same() {
    for line in [
        "panex 1",
        "panex 1 --exhaust --centre-top allow",
        "panex 2",
        "panex 3 --exhaust",
        "panex 4 --centre-top allow",
        "panex 4 --symmetry off",
        "panex 4 --exhaust --centre-top allow --symmetry off",
        "panex 6",
        "hanoi 7",
        "hanoi 8 --pegs 4 --exhaust",
        "hanoi 5 --pegs 5",
    ] {
        let dir = tempdir().unwrap();
        let explicit = expect(0, &mut solve(dir.path(), line));
        let symbolic = expect(0, &mut solve(dir.path(), &format!("{line} {SYMBOLIC}")));
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
fn layers_do_not_depend_on_threads() {
    for engine in ["symbolic", "symbolic --verify", "symbolic-lean"] {
        let [one, two] = [1, 2].map(|threads| {
            let dir = tempdir().unwrap();
            let line = format!("panex 5 --engine {engine} --threads {threads}");
            expect(0, &mut solve(dir.path(), &line))
        });
        assert_eq!(one.layers(), two.layers(), "{engine}");
        for field in FIELDS {
            let [a, b] = [&one, &two].map(|ran| ran.event("result")[field].clone());
            assert_eq!(a, b, "{engine}: {field}");
        }
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
}

#[test]
fn auto_chooses_an_engine() {
    let chosen = |line: &str| {
        let dir = tempdir().unwrap();
        let line = format!("solve --json --progress none {line}");
        expect(0, strata(&line).arg("--data-dir").arg(dir.path())).event("job")["engine"].clone()
    };
    for line in
        ["panex 3", "hanoi 4", "panex 3 --exhaust", "panex 3 --symmetry off", "panex 3 --path"]
    {
        assert_eq!(chosen(line), "symbolic", "{line}");
    }
    for line in
        ["panex 3 --workers 2", "panex 3 --keep-layers all --path", "panex 3 -k 2", "tiles 2x3"]
    {
        assert_eq!(chosen(line), "explicit", "{line}");
    }
    assert_eq!(chosen("hanoi 3 --pegs 6"), "dense");
    assert_eq!(
        expect(
            0,
            strata("solve panex 3 --goal towers --json --progress none --data-dir")
                .arg(tempdir().unwrap().path())
        )
        .event("job")["engine"],
        "explicit"
    );
}

#[test]
fn unsupported_flags_are_refused() {
    let dir = tempdir().unwrap();
    for (line, reason) in [
        ("hanoi 4 --pegs 6", "the symbolic engine takes up to 5"),
        ("panex 3 --workers 2", "it does not support --workers"),
        ("panex 3 --keep-layers all", "it does not support --keep-layers"),
        ("panex 3 --goal towers", "without symmetry"),
        (
            "panex 6 --memory 512KiB",
            "512 KiB is too small: the symbolic engine takes at least 1 MiB",
        ),
    ] {
        refused(&mut solve(dir.path(), &format!("{line} {SYMBOLIC}")), reason);
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    refused(
        &mut solve(dir.path(), "panex 3 --verify"),
        "--engine explicit does not support --verify",
    );
    // The engine is part of a job's identity.
    expect(4, &mut solve(dir.path(), &format!("panex 4 --max-layers 9 {SYMBOLIC}")));
    refused(&mut solve(dir.path(), "panex 4 --resume"), "engine is symbolic in job panex-4-");
}

#[test]
fn layers_are_the_same_after_kills_at_random_moments() {
    let line = format!("panex 6 {SYMBOLIC} --threads 2 --checkpoint-interval 5ms");
    let expected = expect(0, &mut solve(tempdir().unwrap().path(), &line));
    let dir = tempdir().unwrap();
    let mut kills = 0;
    for pause in (20..).step_by(35) {
        let begun = fs::read_dir(dir.path()).unwrap().flatten();
        let begun = begun.into_iter().any(|job| job.path().join("manifest.json").exists());
        let resume = if begun { "--resume" } else { "" };
        let mut command = solve(dir.path(), &format!("{line} {resume}"));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(pause));
        child.kill().unwrap();
        if child.wait().unwrap().success() {
            break;
        }
        kills += 1;
    }
    assert!(kills >= 3, "{kills} kills are too few");
    let again = expect(0, &mut solve(dir.path(), &format!("{line} --resume")));
    assert_eq!(again.layers(), expected.layers());
    expect(0, &mut verify(dir.path()));
    let files = fs::read_dir(only_job(dir.path())).unwrap();
    let names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "manifest, history and one diagram: {names:?}");
}

#[test]
fn memory_is_a_hard_budget() {
    const MIB: u64 = 1 << 20;
    let dir = tempdir().unwrap();
    let line = format!("panex 7 {SYMBOLIC} --memory 16MiB --threads 2");
    let result = expect(0, &mut solve(dir.path(), &line)).event("result");
    assert_eq!((&result["moves"], &result["states"]), (&2189.into(), &76_119_619.into()));
    let peak = result["peak_rss_bytes"].as_u64().unwrap();
    assert!(peak <= (16 + 64) * MIB, "{} MiB", peak / MIB);

    // A layer that does not fit the budget stops the job; it resumes with more memory.
    let dir = tempdir().unwrap();
    let line = format!("panex 7 {SYMBOLIC} --max-layers 900");
    let ran = expect(4, &mut solve(dir.path(), &format!("{line} --memory 1MiB")));
    let stopped = ran.event("stopped");
    assert_eq!(stopped["reason"], "memory_full");
    let command = stopped["resume_command"].as_str().unwrap();
    assert!(!command.contains("--memory"), "{command}");
    expect(0, &mut verify(dir.path()));
    let ran = expect(4, &mut solve(dir.path(), &format!("{line} --resume")));
    assert_eq!(ran.event("stopped")["reason"], "max_layers");
    assert_eq!(ran.layers().len(), 901);
    // Nothing is lost if not even the checkpoint fits the budget.
    let ran = expect(4, &mut solve(dir.path(), &format!("{line}0 --resume --memory 1MiB")));
    assert_eq!(ran.event("stopped")["depth"], 900);
    expect(0, &mut verify(dir.path()));
}

#[test]
fn damage_is_detected() {
    let dir = tempdir().unwrap();
    let line = format!("panex 5 {SYMBOLIC}");
    expect(4, &mut solve(dir.path(), &format!("{line} --max-layers 100")));
    let job = only_job(dir.path());
    let file = job.join("frontier-000100-000.strata");
    let whole = fs::read(&file).unwrap();
    for at in (0..whole.len()).step_by(whole.len() / 40) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        fs::write(&file, &damaged).unwrap();
        for command in [&mut verify(&job), &mut solve(dir.path(), &format!("{line} --resume"))] {
            let ran = expect(12, command);
            assert!(ran.stderr.contains("frontier-000100-000.strata"), "{}", ran.stderr);
        }
    }
    fs::remove_file(&file).unwrap();
    expect(12, &mut verify(&job));
    fs::write(&file, &whole).unwrap();
    expect(0, &mut solve(dir.path(), &format!("{line} --resume")));
}

#[test]
fn the_path_is_traced_back_in_memory() {
    let dir = tempdir().unwrap();
    let ran = expect(0, &mut solve(dir.path(), &format!("panex 6 {SYMBOLIC} --path")));
    // The path was replayed by separate code.
    assert_eq!(ran.event("path")["moves"].as_array().unwrap().len(), 881);
    let ran = expect(0, &mut solve(dir.path(), &format!("panex 6 {SYMBOLIC} --path --resume")));
    assert_eq!(ran.event("path")["moves"].as_array().unwrap().len(), 881);
    let dir = tempdir().unwrap();
    let line = format!("panex 3 --symmetry off --goal towers --start 'X' {SYMBOLIC} --path");
    let mut command = solve(dir.path(), &line.replace(" --start 'X'", ""));
    command.args(["--start", "b2 b3 / b1 / o1 o2 o3"]);
    assert_eq!(expect(0, &mut command).event("path")["moves"].as_array().unwrap().len(), 1);
    let dir = tempdir().unwrap();
    let line = format!("panex 7 {SYMBOLIC} --path --memory 4MiB");
    let ran = expect(4, &mut solve(dir.path(), &line));
    assert!(ran.stderr.contains("--path holds all layers in memory"), "{}", ran.stderr);
}

#[test]
fn a_layer_is_the_same_list_from_both_engines() {
    for (line, depth) in [("panex 4", 40), ("panex 3 --symmetry off", 20), ("hanoi 5 --pegs 4", 6)]
    {
        let lists = ["explicit --keep-layers all", "symbolic"].map(|engine| {
            let dir = tempdir().unwrap();
            let states = expect(0, &mut solve(dir.path(), &format!("{line} --engine {engine}")))
                .layers()[depth]
                .1;
            let layer = |how: &str| {
                let mut command = strata("layer");
                command.arg(dir.path()).arg(depth.to_string()).args(how.split_whitespace());
                expect(0, &mut command).stdout
            };
            assert_eq!(layer(""), format!("depth {depth}: {states} states\n"));
            let counted: Value = serde_json::from_str(&layer("--json")).unwrap();
            assert_eq!(
                (&counted["event"], &counted["states"]),
                (&"layer_states".into(), &states.into())
            );
            let mut list: Vec<String> = layer("--list").lines().map(str::to_owned).collect();
            assert_eq!(list.len() as u64, states, "{line}");
            let sample = layer("--sample 5");
            assert!((3..=5).contains(&sample.lines().count()), "{sample}");
            list.sort();
            list
        });
        assert_eq!(lists[0], lists[1], "{line}");
        assert!(lists[0].windows(2).all(|pair| pair[0] != pair[1]));
    }
    let dir = tempdir().unwrap();
    expect(0, &mut solve(dir.path(), "panex 3"));
    refused(
        strata("layer").arg(dir.path()).args(["5", "--list"]),
        "does not hold layer 5: it holds layers 20 and 21",
    );
    let dir = tempdir().unwrap();
    expect(0, &mut solve(dir.path(), "panex 2 --engine symbolic --exhaust"));
    refused(strata("layer").arg(dir.path()).arg("99"), "there is no layer 99: the last is");
}
