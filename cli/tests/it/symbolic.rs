//! Symbolic jobs: memory, damage and paths.

use std::fs;

use crate::common::{expect, only_job, solve, verify};
use tempfile::tempdir;

const SYMBOLIC: &str = "--engine symbolic";

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
