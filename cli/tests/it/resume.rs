//! `strata resume` of a folder, and folders that another process uses.

use crate::common;

use std::path::Path;

use common::{expect, only_job, refused, solve, strata};
use serde_json::Value;
use strata_store::{DataDir, RealFs};
use tempfile::tempdir;

fn resume(folder: &Path, flags: &str) -> std::process::Command {
    let mut command = strata("resume --json --progress none");
    command.arg(folder).args(flags.split_whitespace());
    command
}

/// The settings of the last run.
fn settings(job: &Path) -> Value {
    let manifest = std::fs::read(job.join("manifest.json")).unwrap();
    serde_json::from_slice::<Value>(&manifest).unwrap()["run"].clone()
}

#[test]
fn a_folder_is_resumed_without_other_arguments() {
    for engine in ["explicit", "dense"] {
        let whole = tempdir().unwrap();
        let line = format!("hanoi 5 --exhaust --engine {engine}");
        let all = expect(0, &mut solve(whole.path(), &line));
        let dir = tempdir().unwrap();
        let line = "hanoi 5 --exhaust --max-layers 9 --keep-layers every:4 --memory 64MiB";
        let stopped = solve(dir.path(), &format!("{line} --threads 2 --engine {engine}"));
        expect(4, &mut { stopped });
        let job = only_job(dir.path());
        let before = settings(&job);
        assert_eq!(before["threads"], 2);
        assert_eq!(before["memory"], 64 << 20);
        assert_eq!(before["keep_layers"], "every:4");
        // The data directory holds no other job.
        let stopped =
            expect(4, &mut resume(dir.path(), "--max-layers 12 --checkpoint-interval 7s"));
        let command = stopped.event("stopped")["resume_command"].as_str().unwrap().to_owned();
        assert_eq!(command, format!("strata resume {}", job.canonicalize().unwrap().display()));
        let after = settings(&job);
        assert_eq!(after["checkpoint_interval_ms"], 7000);
        assert_eq!((&after["threads"], &after["memory"]), (&before["threads"], &before["memory"]));
        let ran = expect(0, &mut resume(&job, ""));
        assert_eq!(ran.event("job")["engine"], engine);
        assert_eq!(ran.event("job")["threads"], 2);
        assert_eq!(ran.layers(), all.layers(), "{engine}");
        // The layers that the first run kept and the later ones kept are all there.
        expect(0, &mut common::verify(&job));
        let kept = std::fs::read_dir(&job).unwrap().map(|file| file.unwrap().file_name());
        let kept = kept.filter(|name| name.to_str().unwrap().starts_with("layer-")).count();
        assert!(kept >= 6, "{kept}");
        // A job that is done is shown again.
        let again = expect(0, &mut resume(&job, ""));
        assert_eq!(again.event("result")["states"], ran.event("result")["states"]);
    }
}

#[test]
fn a_job_of_an_older_program_has_the_defaults() {
    let dir = tempdir().unwrap();
    expect(4, &mut solve(dir.path(), "hanoi 5 --max-layers 9"));
    let job = only_job(dir.path());
    let (folder, mut manifest) =
        strata_store::JobDir::open(std::sync::Arc::new(strata_store::RealFs), &job).unwrap();
    manifest.run = None;
    folder.write_manifest(&manifest).unwrap();
    assert_eq!(settings(&job), Value::Null);
    let ran = expect(0, &mut resume(&job, "--threads 1"));
    assert_eq!(ran.event("job")["memory_bytes"], 1 << 30);
    assert_eq!(ran.event("result")["layers"], 31);
}

#[test]
fn flags_that_do_not_concern_the_job_are_refused() {
    let dir = tempdir().unwrap();
    expect(4, &mut solve(dir.path(), "hanoi 5 --max-layers 9"));
    refused(&mut resume(dir.path(), "--detach"), "--detach is for a job of a cluster");
    refused(&mut resume(dir.path(), "--workers 99"), "workers");
    refused(&mut resume(dir.path(), "--keep-layers some"), "use all, last or every:K");
    let ran = expect(11, &mut resume(&dir.path().join("none"), ""));
    assert!(ran.stderr.contains("no such job: there is no folder"), "{}", ran.stderr);
}

#[test]
fn a_second_process_names_the_one_that_uses_the_folder() {
    let dir = tempdir().unwrap();
    expect(4, &mut solve(dir.path(), "hanoi 5 --max-layers 9"));
    let lock = DataDir::lock(&RealFs, dir.path()).unwrap();
    for mut command in [resume(dir.path(), ""), solve(dir.path(), "hanoi 4")] {
        let pid = std::process::id();
        let line = refused(&mut command, &format!("another process (process {pid}, for "));
        assert!(line.contains(&format!("stop it with 'kill {pid}'")), "{line}");
    }
    drop(lock);
    assert_eq!(std::fs::read(dir.path().join(".lock")).unwrap(), b"");
    expect(0, &mut resume(dir.path(), ""));
}
